"""Settings of the program: defaults < refold.toml < environment REFOLD_* < flags.

A setting is a row: name, default, help. Its default gives its type. Each part keeps a tuple of its
own rows and whoever starts the program joins them; there is no global registry:

    settings = load(agentpedia.SETTINGS, Path("refold.toml"), os.environ, flags)
    settings[agentpedia.GENESIS]

The row `genesis` is `genesis` in the file and REFOLD_GENESIS in the environment; a list is
written with commas there, a boolean as true or false. A secret x comes from REFOLD_X or from the
file that REFOLD_X_FILE names: the settings file and the command line are read by others. Source:
architecture.md, Conventions.
"""

import difflib
import re
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Generic, TypeGuard, TypeVar, cast

import msgspec

from refold.kernel.errors import Problem, UsageError, one_line

__all__ = [
    "DEFAULT_FILE",
    "Described",
    "Setting",
    "Settings",
    "Value",
    "load",
    "resolve",
]

DEFAULT_FILE = "refold.toml"
_PREFIX = "REFOLD_"
_DEFAULT = "default"
_COMMAND_LINE = "command line"
# Fits a signed 64-bit integer, and keeps int() away from its limit on digits.
_UNFIT = re.compile("[\0\ud800-\udfff]")
_INTEGER = re.compile("-?[0-9]{1,18}")

Value = bool | int | str | Path | tuple[str, ...]
_V_co = TypeVar("_V_co", bound=Value, covariant=True)


class Setting(msgspec.Struct, Generic[_V_co], frozen=True):
    """One row. `choices`, if any, are all values allowed; a secret's default means "not set"."""

    name: str
    default: _V_co
    help: str
    secret: bool = False
    choices: tuple[_V_co, ...] = ()

    @property
    def variable(self) -> str:
        """The name in the environment."""
        return _PREFIX + self.name.upper()

    @property
    def file_variable(self) -> str:
        """The name in the environment of a file that holds this secret."""
        return f"{self.variable}_FILE"


class Described(msgspec.Struct, frozen=True):
    """One setting for people to read; of a secret only whether it is set."""

    name: str
    value: str
    source: str
    help: str


class _Given(msgspec.Struct, frozen=True):
    """What a source gave for a row, not checked yet."""

    row: Setting[Value]
    raw: object
    source: str


class Settings:
    """The value of each row and its source: "default", a file, a variable, or "command line".

    `ignored` names the variables that begin with REFOLD_ and are no setting. They are no error:
    container platforms make such names of their own.
    """

    def __init__(
        self, found: Mapping[str, tuple[Setting[Value], Value, str]], ignored: Sequence[str]
    ) -> None:
        self._found = dict(found)
        self.ignored = tuple(ignored)

    def __getitem__(self, row: Setting[_V_co]) -> _V_co:
        return cast("_V_co", self._found[row.name][1])

    def source(self, row: Setting[Value]) -> str:
        """Give where the value of `row` comes from."""
        return self._found[row.name][2]

    def describe(self) -> tuple[Described, ...]:
        """Give every setting in the order of the rows, without the value of any secret."""
        return tuple(
            Described(row.name, _shown(row, value, source), source, row.help)
            for row, value, source in self._found.values()
        )


def load(
    rows: Sequence[Setting[Value]],
    toml_path: Path | None,
    environ: Mapping[str, str],
    flags: Mapping[str, object],
) -> Settings:
    """Read the settings file (none if `toml_path` is None) and give what `resolve` gives.

    Raises UsageError `setting-file` if the file cannot be read, and what `resolve` raises.
    """
    if toml_path is None:
        return resolve(rows, "", environ, flags)
    try:
        toml = _read_text(toml_path)
    except (OSError, ValueError) as error:
        raise UsageError.of([_unreadable(str(toml_path), error)]) from error
    return resolve(rows, toml, environ, flags, toml_name=str(toml_path))


def _read_text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def resolve(
    rows: Sequence[Setting[Value]],
    toml: str,
    environ: Mapping[str, str],
    flags: Mapping[str, object],
    *,
    toml_name: str = DEFAULT_FILE,
    read_text: Callable[[Path], str] = _read_text,
) -> Settings:
    """Give the value of each row, a later source before an earlier; a flag of None was not given.

    Raises UsageError with all problems of all sources: `setting-toml`, `setting-unknown`,
    `setting-type`, `setting-choice`, `setting-secret`, `setting-file`; `setting-twice` if two rows
    share a name. Files are read for secrets only, by `read_text`.
    """
    _check_names(rows)
    by_name = {row.name: row for row in rows}
    given_flags = {name: raw for name, raw in flags.items() if raw is not None}
    found = {row.name: (row, row.default, _DEFAULT) for row in rows}
    problems: list[Problem] = []
    for given in chain(
        _from_toml(by_name, toml, toml_name),
        _from_environ(rows, environ, read_text),
        _from_members(by_name, given_flags, _COMMAND_LINE),
    ):
        value = given if isinstance(given, Problem) else _typed(given)
        if isinstance(value, Problem):
            problems.append(value)
        elif isinstance(given, _Given):
            found[given.row.name] = (given.row, value, given.source)
    if problems:
        raise UsageError.of(problems)
    return Settings(found, _ignored(rows, environ))


def _check_names(rows: Sequence[Setting[Value]]) -> None:
    """Refuse rows of which two would read the same variable."""
    counts = Counter(variable for row in rows for variable in _variables(row))
    twice = [variable for variable, count in counts.items() if count > 1]
    if twice:
        raise UsageError(
            "setting-twice", f"two settings read {', '.join(twice)}", "give each its own name"
        )


def _variables(row: Setting[Value]) -> tuple[str, ...]:
    return (row.variable, row.file_variable) if row.secret else (row.variable,)


def _ignored(rows: Sequence[Setting[Value]], environ: Mapping[str, str]) -> list[str]:
    known = {variable for row in rows for variable in _variables(row)}
    return sorted(name for name in environ if name.startswith(_PREFIX) and name not in known)


def _from_toml(
    by_name: Mapping[str, Setting[Value]], toml: str, toml_name: str
) -> Iterator[_Given | Problem]:
    """Give what the settings file says, or the one problem that it is not TOML."""
    try:
        members = tomllib.loads(toml)
    except (ValueError, RecursionError) as error:
        # Not only TOMLDecodeError: a huge number is a plain ValueError, deep nesting the other.
        yield Problem("setting-toml", f"{toml_name} is not TOML: {error}", "mend the file")
        return
    yield from _from_members(by_name, members, toml_name)


def _from_members(
    by_name: Mapping[str, Setting[Value]], members: Mapping[str, object], source: str
) -> Iterator[_Given | Problem]:
    """Give the members of the file or of the flags: unknown names and secrets are problems."""
    for name, raw in members.items():
        row = by_name.get(name)
        if row is None:
            near = difflib.get_close_matches(name, by_name, n=1)
            hint = f"did you mean {near[0]}?" if near else "`refold settings` lists all of them"
            yield Problem("setting-unknown", f"{source}: there is no setting {name}", hint)
        elif row.secret:
            yield Problem(
                "setting-secret",
                f"{source}: {name} is a secret and may not stand here",
                f"set {row.variable}, or {row.file_variable} to the path of a file",
            )
        else:
            yield _Given(row, raw, source)


def _from_environ(
    rows: Sequence[Setting[Value]], environ: Mapping[str, str], read_text: Callable[[Path], str]
) -> Iterator[_Given | Problem]:
    """Give what the environment says, secrets in files included."""
    for row in rows:
        text = environ.get(row.variable)
        path = environ.get(row.file_variable) if row.secret else None
        if text is not None and path is not None:
            yield Problem(
                "setting-secret",
                f"{row.variable} and {row.file_variable} are both set",
                "unset one of them",
            )
        elif path is not None:
            yield _from_secret_file(row, path, read_text)
        elif text is not None:
            yield _Given(row, _from_text(row, text), row.variable)


def _from_secret_file(
    row: Setting[Value], path: str, read_text: Callable[[Path], str]
) -> _Given | Problem:
    """Give the secret that a file holds, without the line end that editors add."""
    try:
        text = read_text(Path(path))
    except (OSError, ValueError) as error:
        return _unreadable(f"{row.file_variable}: {path}", error)
    secret = text.removesuffix("\n").removesuffix("\r")
    return _Given(row, _from_text(row, secret), row.file_variable)


def _unreadable(what: str, error: Exception) -> Problem:
    """Give the problem of a file; of a wrong encoding only that, as the error quotes the bytes."""
    reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
    return Problem("setting-file", f"{what} cannot be read: {reason}", "check path and permissions")


def _from_text(row: Setting[Value], text: str) -> object:
    """Give the value that `text` stands for in the row's type, or `text` itself if it fits none."""
    if isinstance(row.default, bool):
        return {"true": True, "false": False}.get(text, text)
    if isinstance(row.default, int):
        return int(text) if _INTEGER.fullmatch(text) else text
    if isinstance(row.default, tuple):
        return [part.strip() for part in text.split(",") if part.strip()]
    return text


def _typed(given: _Given) -> Value | Problem:
    """Give the value in the type of the row's default, or the problem, which does not show it."""
    row = given.row
    kind, value = _converted(row.default, given.raw)
    if value is None:
        return Problem("setting-type", f"{given.source}: {row.name} is not {kind}", f"give {kind}")
    if row.choices and value not in row.choices:
        choices = ", ".join(map(_text_of, row.choices))
        return Problem(
            "setting-choice", f"{given.source}: {row.name} is none of its choices", f"use {choices}"
        )
    if row.secret and not value:
        return Problem("setting-secret", f"{given.source}: {row.name} is empty", "fill or unset it")
    return value


def _converted(default: Value, raw: object) -> tuple[str, Value | None]:
    """Give the kind of value that `default` is, and `raw` as such a value or None if it is none."""
    if isinstance(default, bool):
        return "true or false", raw if isinstance(raw, bool) else None
    if isinstance(default, int):
        return "an integer", raw if isinstance(raw, int) and not isinstance(raw, bool) else None
    if isinstance(default, tuple):
        texts = raw if isinstance(raw, list | tuple) and all(map(_is_text, raw)) else None
        return "a list of texts", None if texts is None else tuple(texts)
    if isinstance(default, Path):
        text = str(raw) if isinstance(raw, Path) else raw
        return "a path", Path(text) if text and _is_text(text) else None
    return "text", raw if _is_text(raw) else None


def _is_text(raw: object) -> TypeGuard[str]:
    """Tell whether `raw` is text that calls of the system take: no NUL, no lone surrogate."""
    return isinstance(raw, str) and _UNFIT.search(raw) is None


def _shown(row: Setting[Value], value: Value, source: str) -> str:
    if row.secret:
        return "(not set)" if source == _DEFAULT else "(set)"
    return one_line(_text_of(value))


def _text_of(value: Value) -> str:
    """Give `value` as one would write it in the environment."""
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(value) if isinstance(value, tuple) else str(value)

"""The documentation says what the code does: its tables and outputs are made again and compared.

    UPDATE_DOCS=1 python -m pytest -n 0 tests/test_docs.py

writes them anew. What is made: every `console` block (each `$ …` line is run by a shell at the root
of the repository, and what it prints stands below it; `console exit=1` names the exit code of the
commands in a block), every table between `<!-- table: NAME -->` and `<!-- end -->`, the picture and
the example. Python blocks are run, links are followed, and commands named in passing must exist.
"""

import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

import click
import pytest

from cli.terminal import COMMAND, MINUTE, environment
from refold import coverage
from refold.agentpedia import REASONS
from refold.agentpedia.event import MAX_INTEGER
from refold.agentpedia.intake import MAX_PROBLEMS
from refold.agentpedia.payload import MAX_DEPTH, MAX_DIGITS
from refold.agentpedia.rules import FLAGS, INLINE_MAX_BYTES
from refold.cli.coverage_walks import _BUDGETS
from refold.cli.main import root
from refold.cli.settings import SETTINGS
from refold.coverage import CODES
from refold.kernel.errors import Exit
from trials.shown import SHOWN

ROOT = Path(__file__).parents[1]
PAGES = sorted((*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")))
MADE = {
    "docs/pictures/summary.svg": "docs/pictures/make.py",
    "docs/examples/edit-war.json": "docs/examples/make.py",
}
"""Files that a script of the documentation makes."""
UPDATE = bool(os.environ.get("UPDATE_DOCS"))

_CONSOLE = re.compile(r"^```console(?: exit=(\d+))?\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_TABLE = re.compile(r"(<!-- table: ([\w-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_NAMED = re.compile(r"(?:`|^    )(refold(?: [^`\n]+)?)(?:`|$)", re.MULTILINE)
_EXIT_CODES = {
    Exit.DONE: "done",
    Exit.NO: "the command ran, and its answer is no: a vector is not met, the profiles differ",
    Exit.USAGE: "wrong usage: an option, a setting, a file that cannot be read or written",
    Exit.INPUT: "invalid input; every problem is a line, with its place and the remedy",
    Exit.SOURCE: "a source cannot be read; trying again may help",
    Exit.INTERNAL: "a defect of refold",
    Exit.INTERRUPTED: "interrupted",
}


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """Give a Markdown table."""
    lines = [head, ["---"] * len(head), *rows]
    cells = ([cell.replace("|", "\\|") for cell in line] for line in lines)
    return "".join(f"| {' | '.join(line)} |\n" for line in cells)


def flags() -> str:
    return table(("flag", "under `prd`"), ((f"`{name}`", says) for name, says in FLAGS.items()))


def reasons() -> str:
    return table(
        ("code", "what it says", "what would pass", "source"),
        ((f"`{code}`", r.says, r.remedy, r.source) for code, r in REASONS.items()),
    )


def settings() -> str:
    return table(
        ("setting", "variable", "default", "what it is"),
        (
            (f"`{s.name}`", f"`{s.variable}`", f"`{s.default}`" if s.default else "–", s.help)
            for s in SETTINGS
        ),
    )


def exit_codes() -> str:
    return table(("code", "meaning"), ((str(int(code)), _EXIT_CODES[code]) for code in Exit))


def limits() -> str:
    rows = (
        ("arrays and objects inside each other in a payload", f"{MAX_DEPTH}", "`malformed-json`"),
        ("inline text of a rev, in bytes of UTF-8", f"{INLINE_MAX_BYTES:,}", "`content-too-large`"),
        ("integers", f"±{MAX_INTEGER:,}", "not an integer"),
        ("digits of a number", f"{MAX_DIGITS:,}", "infinite, so not an integer"),
        ("problems listed of one input", f"{MAX_PROBLEMS}", "the others are left out"),
    )
    return table(("what", "limit", "beyond it"), iter(rows))


def coverage_codes() -> str:
    return table(
        ("code", "rules", "what it says", "what to do"),
        ((f"`{c.id}`", ", ".join(c.rules), c.says, c.remedy) for c in CODES.values()),
    )


def coverage_reasons() -> str:
    return table(
        ("reason", "effect", "what it says", "what to do"),
        ((f"`{r.id}`", r.effect, r.says, r.remedy) for r in coverage.REASONS.values()),
    )


def coverage_budgets() -> str:
    return table(
        ("option", "what", "limit"),
        ((f"`--budget-{name}`", text, f"{limit:,}") for name, limit, text in _BUDGETS),
    )


def trials(name: str) -> str:
    head, rows = SHOWN[name]
    return table(head, iter(rows))


TABLES: dict[str, Callable[[], str]] = {
    **{name: partial(trials, name) for name in SHOWN},
    "coverage-codes": coverage_codes,
    "coverage-reasons": coverage_reasons,
    "coverage-budgets": coverage_budgets,
    "flags": flags,
    "reasons": reasons,
    "settings": settings,
    "exit-codes": exit_codes,
    "limits": limits,
}


def shell(command: str, expected: int) -> str:
    """Run a command as the documentation's reader would and give what it prints, errors as well."""
    path = os.pathsep.join((str(Path(COMMAND).parent), os.environ["PATH"]))
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        cwd=ROOT,
        env=environment(PATH=path),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        timeout=MINUTE,
        check=False,
    )
    printed = done.stdout.decode()
    assert done.returncode == expected, f"{command}\n{printed}"
    return "".join(line.rstrip() + "\n" for line in printed.splitlines())


def run_console(found: re.Match[str]) -> str:
    """Give a console block with the outputs of today."""
    code = int(found[1] or 0)
    commands = [line for line in found[2].splitlines() if line.startswith("$ ")]
    told = "".join(f"{command}\n{shell(command[2:], code)}" for command in commands)
    info = f"console exit={code}" if found[1] else "console"
    return f"```{info}\n{told}```"


def made_anew(page: str) -> str:
    """Give the text of a page with all that is generated in it made anew."""
    page = _TABLE.sub(lambda found: found[1] + TABLES[found[2]]() + found[3], page)
    return _CONSOLE.sub(run_console, page)


def page_id(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


every_page = pytest.mark.parametrize("path", PAGES, ids=page_id)


@every_page
def test_tables_and_outputs_are_those_of_today(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    fresh = made_anew(text)
    if UPDATE:
        path.write_text(fresh, encoding="utf-8")
    else:
        assert text == fresh, "stale: run UPDATE_DOCS=1 python -m pytest -n 0 tests/test_docs.py"


@pytest.mark.parametrize("made", MADE)
def test_made_files_are_those_of_today(made: str, tmp_path: Path) -> None:
    target = ROOT / made if UPDATE else tmp_path / Path(made).name
    command = [sys.executable, str(ROOT / MADE[made]), str(target)]
    subprocess.run(command, cwd=tmp_path, env=environment(), check=True, timeout=MINUTE)
    assert target.read_bytes() == (ROOT / made).read_bytes()


def test_every_generated_table_stands_on_some_page() -> None:
    shown = {found[2] for path in PAGES for found in _TABLE.finditer(path.read_text("utf-8"))}
    assert shown == set(TABLES)


def _python_blocks() -> Iterator[tuple[str, str]]:
    for path in PAGES:
        for number, found in enumerate(_PYTHON.finditer(path.read_text("utf-8")), 1):
            yield f"{page_id(path)}-{number}", found[1]


@pytest.mark.parametrize("code", [pytest.param(code, id=name) for name, code in _python_blocks()])
def test_python_shown_runs(code: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    exec(compile(code, "<documentation>", "exec"), {})  # noqa: S102 - it is our own


def _links() -> Iterator[tuple[Path, str]]:
    for path in PAGES:
        for found in _LINK.finditer(_BLOCK.sub("", path.read_text("utf-8"))):
            if "://" not in found[1]:
                yield path, found[1]


@pytest.mark.parametrize(
    ("path", "link"), [pytest.param(p, t, id=f"{page_id(p)}-{t}") for p, t in _links()]
)
def test_links_lead_somewhere(path: Path, link: str) -> None:
    file, _, anchor = link.partition("#")
    target = path.parent / file if file else path
    assert target.exists()
    if anchor:
        headings = re.findall(r"^#+ (.+)$", target.read_text("utf-8"), re.MULTILINE)
        names = {re.sub(r"[^\w\- ]", "", h.lower()).replace(" ", "-") for h in headings}
        assert anchor in names


def _named_commands() -> Iterator[tuple[str, str]]:
    for path in PAGES:
        text = _BLOCK.sub("", path.read_text("utf-8"))
        for named in dict.fromkeys(found[1] for found in _NAMED.finditer(text)):
            yield page_id(path), named


@pytest.mark.parametrize(
    "named", [pytest.param(named, id=f"{page}-{named}") for page, named in _named_commands()]
)
def test_commands_named_in_passing_exist(named: str) -> None:
    """Words up to a placeholder name a command, and all that begins with -- is an option of it."""
    command: click.Command = root
    context = click.Context(root, info_name="refold")
    words = named.split("|", maxsplit=1)[0].split()[1:]
    while words and isinstance(command, click.Group) and re.fullmatch("[a-z][a-z-]*", words[0]):
        found = command.get_command(context, words.pop(0))
        assert found is not None
        command = found
    options = {name for parameter in command.params for name in parameter.opts} | {"--help"}
    given = {word.split("=")[0].rstrip("],") for word in words if word.startswith("--")}
    assert given - options == set()

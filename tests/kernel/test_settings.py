from collections.abc import Mapping
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.kernel.errors import UsageError
from refold.kernel.settings import (
    Setting,
    Settings,
    Value,
    load,
    resolve,
)

PORT = Setting("port", 8000, "port to listen on")
PUBLIC = Setting("public", False, "whether strangers may read")
PARTS = Setting[tuple[str, ...]]("parts", (), "parts to run")
TOKEN = Setting("token", "", "token for the indexer", secret=True)
DATA_DIR = Setting("data_dir", Path("var"), "where things are kept")
LOG_LEVEL = Setting(
    "log_level", "info", "least level", choices=("debug", "info", "warning", "error")
)
GENERAL: tuple[Setting[Value], ...] = (DATA_DIR, LOG_LEVEL)
ROWS: tuple[Setting[Value], ...] = (*GENERAL, PORT, PUBLIC, PARTS, TOKEN)
SECRET = "hunter-2"  # noqa: S105 - made up


def resolved(
    toml: str = "",
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
    files: Mapping[str, str] | None = None,
) -> Settings:
    """Resolve ROWS with files that exist in `files` only."""

    def read_text(path: Path) -> str:
        if str(path) not in (files or {}):
            raise FileNotFoundError(2, "No such file or directory")
        return (files or {})[str(path)]

    return resolve(ROWS, toml, environ or {}, flags or {}, read_text=read_text)


def problems_of(
    toml: str = "",
    environ: Mapping[str, str] | None = None,
    flags: Mapping[str, object] | None = None,
) -> list[tuple[str, str, str]]:
    with pytest.raises(UsageError) as caught:
        resolved(toml, environ, flags)
    return [(problem.code, problem.message, problem.hint) for problem in caught.value.errors]


def test_with_no_source_everything_is_at_its_default() -> None:
    found = resolved()
    assert found[DATA_DIR] == Path("var")
    assert found[LOG_LEVEL] == "info"
    assert (found[PORT], found[PUBLIC], found[PARTS], found[TOKEN]) == (8000, False, (), "")
    assert {found.source(row) for row in ROWS} == {"default"}
    assert found.ignored == ()


@settings(deadline=None)
@given(st.booleans(), st.booleans(), st.booleans())
def test_a_later_source_wins(in_file: bool, in_environment: bool, in_flags: bool) -> None:
    found = resolved(
        "port = 1" if in_file else "",
        {"REFOLD_PORT": "2"} if in_environment else {},
        {"port": 3 if in_flags else None},
    )
    expected = (8000, "default")
    if in_file:
        expected = (1, "refold.toml")
    if in_environment:
        expected = (2, "REFOLD_PORT")
    if in_flags:
        expected = (3, "command line")
    assert (found[PORT], found.source(PORT)) == expected


def test_each_type_is_read_from_each_source() -> None:
    toml = 'data_dir = "/srv/x"\nport = 80\npublic = true\nparts = ["a", "b"]\nlog_level = "error"'
    environ = {
        "REFOLD_DATA_DIR": "/srv/x",
        "REFOLD_PORT": "80",
        "REFOLD_PUBLIC": "true",
        "REFOLD_PARTS": "a, b,",
        "REFOLD_LOG_LEVEL": "error",
    }
    flags = {
        "data_dir": Path("/srv/x"),
        "port": 80,
        "public": True,
        "parts": ("a", "b"),
        "log_level": "error",
    }
    for found in (resolved(toml), resolved(environ=environ), resolved(flags=flags)):
        assert found[DATA_DIR] == Path("/srv/x")
        assert (found[PORT], found[PUBLIC], found[PARTS]) == (80, True, ("a", "b"))
        assert found[LOG_LEVEL] == "error"


def test_an_empty_list_and_false_can_be_said_in_the_environment() -> None:
    found = resolved('parts = ["a"]\npublic = true', {"REFOLD_PARTS": "", "REFOLD_PUBLIC": "false"})
    assert (found[PARTS], found[PUBLIC]) == ((), False)


def test_all_problems_of_all_sources_come_at_once() -> None:
    problems = problems_of(
        'prot = 1\nport = "80"\nlog_level = "loud"\ntoken = "t"\n[parts]\nx = 1',
        {"REFOLD_PORT": "eighty", "REFOLD_PUBLIC": "yes"},
        {"token": "t", "nothing_like_it": 1, "data_dir": ""},
    )
    assert problems == [
        ("setting-unknown", "refold.toml: there is no setting prot", "did you mean port?"),
        ("setting-type", "refold.toml: port is not an integer", "give an integer"),
        (
            "setting-choice",
            "refold.toml: log_level is none of its choices",
            "use debug, info, warning, error",
        ),
        (
            "setting-secret",
            "refold.toml: token is a secret and may not stand here",
            "set REFOLD_TOKEN, or REFOLD_TOKEN_FILE to the path of a file",
        ),
        ("setting-type", "refold.toml: parts is not a list of texts", "give a list of texts"),
        ("setting-type", "REFOLD_PORT: port is not an integer", "give an integer"),
        ("setting-type", "REFOLD_PUBLIC: public is not true or false", "give true or false"),
        (
            "setting-secret",
            "command line: token is a secret and may not stand here",
            "set REFOLD_TOKEN, or REFOLD_TOKEN_FILE to the path of a file",
        ),
        (
            "setting-unknown",
            "command line: there is no setting nothing_like_it",
            "`refold settings` lists all of them",
        ),
        ("setting-type", "command line: data_dir is not a path", "give a path"),
    ]


@pytest.mark.parametrize(
    ("toml", "name"),
    [
        ("port = true", "port"),
        ("port = 8000.0", "port"),
        ("public = 1", "public"),
        ("log_level = 1", "log_level"),
        ('parts = "a"', "parts"),
        ("parts = [1]", "parts"),
        ('data_dir = "a\\u0000b"', "data_dir"),
        ("data_dir = 2031-05-09", "data_dir"),
    ],
)
def test_a_value_of_another_type_is_refused(toml: str, name: str) -> None:
    [(code, message, _)] = problems_of(toml)
    assert code == "setting-type"
    assert message.startswith(f"refold.toml: {name} is not ")


@pytest.mark.parametrize(
    "text", ["", " 1", "1_000", "0x10", "1.0", "\u0661", "9" * 5000, "True", "--1"]
)
def test_a_number_in_the_environment_is_plain_digits(text: str) -> None:
    assert [problem[0] for problem in problems_of(environ={"REFOLD_PORT": text})] == [
        "setting-type"
    ]


@pytest.mark.parametrize(
    "toml",
    ["port =", "port = 1\nport = 2", "port = " + "9" * 5000, "x = " + "[" * 10_000, "\0", "{}"],
)
def test_a_file_that_is_no_toml_is_one_problem(toml: str) -> None:
    [(code, message, _)] = problems_of(toml, {"REFOLD_PUBLIC": "true"})
    assert code == "setting-toml"
    assert message.startswith("refold.toml is not TOML: ")


def test_a_wrong_value_is_reported_although_a_later_source_overrides_it() -> None:
    assert len(problems_of("port = false", flags={"port": 1})) == 1


def test_a_secret_comes_from_its_variable() -> None:
    found = resolved(environ={"REFOLD_TOKEN": SECRET})
    assert (found[TOKEN], found.source(TOKEN)) == (SECRET, "REFOLD_TOKEN")


@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_a_secret_comes_from_the_file_that_its_variable_names(end: str) -> None:
    found = resolved(
        environ={"REFOLD_TOKEN_FILE": "/run/token"}, files={"/run/token": SECRET + end}
    )
    assert (found[TOKEN], found.source(TOKEN)) == (SECRET, "REFOLD_TOKEN_FILE")


@pytest.mark.parametrize(
    ("environ", "code"),
    [
        ({"REFOLD_TOKEN": SECRET, "REFOLD_TOKEN_FILE": "/run/token"}, "setting-secret"),
        ({"REFOLD_TOKEN": ""}, "setting-secret"),
        ({"REFOLD_TOKEN": f"{SECRET}\0"}, "setting-type"),
        ({"REFOLD_TOKEN_FILE": "/run/none"}, "setting-file"),
        ({"REFOLD_TOKEN_FILE": ""}, "setting-file"),
    ],
)
def test_a_secret_that_cannot_be_had_is_a_problem_that_does_not_show_it(
    environ: dict[str, str], code: str
) -> None:
    [problem] = problems_of(environ=environ)
    assert problem[0] == code
    assert SECRET not in str(problem)


def test_secrets_are_shown_nowhere() -> None:
    found = resolved(environ={"REFOLD_TOKEN": SECRET})
    assert SECRET not in f"{found}{found!r}{found.describe()}"
    [(_, message, hint)] = problems_of(f'token = "{SECRET}"')
    assert SECRET not in message + hint
    [(_, message, hint)] = problems_of(flags={"token": SECRET})
    assert SECRET not in message + hint


def test_the_description_has_each_row_in_order() -> None:
    found = resolved('parts = ["a", "b"]', {"REFOLD_PUBLIC": "true", "REFOLD_TOKEN": SECRET})
    assert [(row.name, row.value, row.source) for row in found.describe()] == [
        ("data_dir", "var", "default"),
        ("log_level", "info", "default"),
        ("port", "8000", "default"),
        ("public", "true", "REFOLD_PUBLIC"),
        ("parts", "a,b", "refold.toml"),
        ("token", "(set)", "REFOLD_TOKEN"),
    ]
    assert [row.help for row in found.describe()] == [row.help for row in ROWS]
    assert resolved().describe()[-1].value == "(not set)"


def test_a_described_value_stays_on_its_line() -> None:
    assert resolved('data_dir = "a\\nb"').describe()[0].value == "a\\nb"


def test_variables_that_are_no_setting_are_named_and_not_refused() -> None:
    environ = {"REFOLD_PROT": "1", "REFOLD_PORT_FILE": "x", "REFOLD_PORT": "1", "PATH": "/bin"}
    assert resolved(environ=environ).ignored == ("REFOLD_PORT_FILE", "REFOLD_PROT")


@pytest.mark.parametrize(
    "other", [Setting("port", 1, "again"), Setting("token_file", "", "what TOKEN's file is")]
)
def test_two_rows_may_not_read_one_variable(other: Setting[Value]) -> None:
    with pytest.raises(UsageError) as caught:
        resolve((*ROWS, other), "", {}, {})
    assert caught.value.code == "setting-twice"


def test_the_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "other.toml"
    file.write_text('log_level = "debug" # 声', encoding="utf-8")
    found = load(GENERAL, file, {}, {})
    assert (found[LOG_LEVEL], found.source(LOG_LEVEL)) == ("debug", str(file))
    assert load(GENERAL, None, {}, {})[LOG_LEVEL] == "info"


def test_a_secret_file_is_read(tmp_path: Path) -> None:
    file = tmp_path / "token"
    file.write_text(SECRET + "\n", encoding="utf-8")
    assert load(ROWS, None, {"REFOLD_TOKEN_FILE": str(file)}, {})[TOKEN] == SECRET


def test_a_file_that_cannot_be_read_is_a_problem(tmp_path: Path) -> None:
    latin = tmp_path / "latin.toml"
    latin.write_bytes(b'log_level = "\xff"')
    for path in (tmp_path / "none.toml", tmp_path, latin):
        with pytest.raises(UsageError, match="cannot be read: ") as caught:
            load(GENERAL, path, {}, {})
        assert caught.value.code == "setting-file"
        assert str(path) in caught.value.message

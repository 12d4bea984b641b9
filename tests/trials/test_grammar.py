"""Lines and characters: the trap lists D1 and D2 of the facts, where the spec says nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.trials.grammar import OUTER_WHITESPACE, near, read_sheet
from refold.trials.intake import read_content
from refold.trials.posts import Message, Run
from refold.trials.tables import FORMATS, MAX_CONTENT, MAX_HEADERS, MAX_STEPS, MAX_VALUE
from trials.examples import ALL, RUN, TRIAL, altered, codes, content, warned

AWKWARD = st.sampled_from(
    [
        *("\n", "\r", "\t", "\0", "\x1b", "\x7f", "\x85", "\u2028", "\u202e", "\u200b", "\ufeff"),
        *(":", "：", "-", "---", "\n---\n", " ", "\ud800", "\U0001f468", "\u212a", "ſ"),
        *(line for lines in ALL.values() for line in lines),
        *(f"\n{field.name}: " for form in FORMATS.values() for field in form.fields),
    ]
)
NEARLY = st.lists(AWKWARD | st.text(max_size=5), max_size=30).map("".join)


@given(st.binary() | NEARLY | st.text() | NEARLY.map(lambda t: t.encode("utf-8", "surrogatepass")))
def test_any_content_is_a_post_or_has_problems(given_: bytes | str) -> None:
    reading = read_content(given_)
    assert (reading.post is None) == bool(reading.problems)
    for fault in reading.faults:
        assert fault.detail
        assert fault.hint
        assert fault.line is None or fault.line >= 1
    if isinstance(given_, str) and reading.post:
        assert read_content(given_.encode()) == reading


@pytest.mark.parametrize("kind", ALL)
def test_the_examples_are_right(kind: str) -> None:
    reading = read_content(content(*ALL[kind]))
    assert (reading.kind, reading.faults) == (kind, ())


# D1

CHARACTERS = {
    "crlf": "\r",
    "nul": "\0",
    "control": "\x01\x08\x0b\x0c\x0e\x1f",
    "delete": "\x7f",
    "c1_control": "\x80\x85\x9f",
    "bom": "\ufeff",
    "surrogate": "\ud800\udfff",
}


@pytest.mark.parametrize(("code", "char"), [(k, c) for k, v in CHARACTERS.items() for c in v])
def test_characters_that_no_content_has(code: str, char: str) -> None:
    for text in (f"a{char}b", f"{content(*RUN)}\n---\nfree {char} text", f"x\n{char}y"):
        assert codes(text) == [code]
        assert codes(text.encode("utf-8", "surrogatepass")) == [code]


def test_a_character_is_told_once_with_its_place_and_number() -> None:
    (fault,) = read_content("one\ntw\0o\n\0\0").problems
    assert (fault.code, fault.line) == ("nul", 2)
    assert fault.detail == "U+0000 stands in line 2, column 3, and 2 more follow."


@pytest.mark.parametrize("data", [b"\xff", b"a\xc3", b"\xc0\x80", b"\xf4\x90\x80\x80"])
def test_bytes_that_are_no_utf8(data: bytes) -> None:
    assert codes(data) == ["not_utf8"]


def test_crlf_is_not_repaired_and_hides_no_other_problem() -> None:
    assert codes("\r\n".join((*RUN, "requests: +7"))) == ["crlf", "integer_form"]


@pytest.mark.parametrize("char", ["\u2028", "\u2029", "\x0b", "\x0c", "\x1c", "\x85"])
def test_only_lf_ends_a_line(char: str) -> None:
    text = f"{content(*RUN)}\n---\nhello{char}blocker-class: nonsense"
    assert len(read_sheet(text)[0].lines) == 3


@pytest.mark.parametrize("char", OUTER_WHITESPACE)
@pytest.mark.parametrize("place", ["{}a", "a{}", "{}", "a\n{}", "{}trial"])
def test_outer_whitespace(char: str, place: str) -> None:
    found = codes(place.format(char))
    assert found
    if char != "\ufeff":  # which says so itself
        assert found[0] == "outer_whitespace" or place == "a\n{}"


def test_content_has_an_end_and_is_not_empty() -> None:
    assert codes("") == ["empty"]
    assert codes("𝄞" * MAX_CONTENT) == []
    (fault,) = read_content("𝄞" * (MAX_CONTENT + 1)).problems
    assert (fault.code, fault.detail) == ("too_long", "The content has 8001 of 8000 code points.")


@pytest.mark.parametrize(
    "first",
    [
        *("Run-v1", "RUN-V1", "run-v1 ", "run-v1\t", "run-v1\u3000", "run-v1\u200b", "run-v1\xa0"),
        # What nobody sees does not make a message of it either.
        *(
            "run-v1\u2060",
            "\u202erun-v1",
            "run\xad-v1",
            "run-v1\u200b \u200d",
            "\u200eRun-v1\u200f",
        ),
    ],
)
def test_a_near_miss_is_never_chat(first: str) -> None:
    reading = read_content(content(first, *RUN[1:]))
    assert [each.code for each in reading.problems] == ["marker_spelling"]
    assert reading.kind == "run"
    assert "run-v1" in reading.problems[0].hint


@pytest.mark.parametrize(
    "first", ["run-v2", "trial-v0", "run-v01", "Run-v10", "diſpoſition-v2", "revoke-v3"]
)
def test_an_unknown_version_is_refused_with_the_markers(first: str) -> None:
    (fault,) = read_content(content(first, *RUN[1:])).problems
    assert fault.code == "marker_unknown"
    assert all(marker in fault.hint for marker in FORMATS)


@pytest.mark.parametrize(
    "first", ["run_v1", "run-v1: hi", "run-v1.", "hello", "runs-v1", "run-v", "run-v٢", "> run-v1"]
)
def test_what_is_not_nearly_a_marker_is_chat(first: str) -> None:
    text = content(first, *RUN[1:])
    assert read_content(text).post == Message(text)


def test_a_marker_below_the_first_line_means_nothing() -> None:
    text = f"Look at this:\n{content(*TRIAL)}"
    assert read_content(text).post == Message(text)


def test_after_the_end_all_is_free_text() -> None:
    free = "trial-v1\n---\n\nbudget: 1\n\ttab \u202eturned\u200b."
    post = read_content(f"{content(*RUN)}\n---\n{free}").post
    assert isinstance(post, Run)
    assert post.text == free


@pytest.mark.parametrize("end", ["---", "---\n\nx"])
def test_the_end_may_be_the_end_of_the_post(end: str) -> None:
    assert codes(f"{content(*RUN)}\n{end}") == []


# The seed ends the header at a line of three hyphens, not at an empty line (D1, 6 to 8).
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("", "blank_line"),
        (" ", "blank_line"),
        ("\u3000", "blank_line"),
        ("some words", "no_colon"),
        ("--- ", "no_colon"),
        ("----", "no_colon"),
        ("———", "no_colon"),
        ("model：gpt", "fullwidth_colon"),
        ("model：https://x.io", "fullwidth_colon"),
        (" model: gpt", "header_indent"),
        ("\tmodel: gpt", "header_indent"),
        ("model : gpt", "header_space"),
        ("model\t: gpt", "header_space"),
        ("recheck_of: 5", "header_name"),
        ("mo del: gpt", "header_name"),
        ("-model: gpt", "header_name"),
        ("1model: gpt", "header_name"),
        ("bloc\u212aer: no", "header_name"),  # a Kelvin sign is not a k
        (": x", "header_name"),
        ("**Note**: x", "header_name"),
        ("model: a\tb", "tab"),
        ("unknown: a\tb", "tab"),
        ("model: a\u202eb", "bidi_control"),
        ("model: a\u200fb", "bidi_control"),
        ("model: a\u200bb", "zero_width"),
        ("model: a\xadb", "zero_width"),
        ("model: a\u2060b", "zero_width"),
        ("model: a\U000e0041b", "zero_width"),
        ("model: a\u2028b", "unicode_break"),
        ("model: a\u2029b", "unicode_break"),
        ("unknown\u200b: b", "zero_width"),
    ],
)
def test_lines_that_no_header_has(line: str, code: str) -> None:
    reading = read_content(content(*RUN, line, "---", "text"))
    found = reading.problems[0]
    assert (found.code, found.line) == (code, 5)
    assert "---" in found.hint or code not in {"blank_line", "no_colon"}
    assert codes(content(*RUN, "---", f"a{line}b")) == []


def test_names_that_were_meant_are_told() -> None:
    (fault,) = read_content(content(*RUN, "recheck_of: 5")).problems
    assert fault.hint == "Did you mean recheck-of?"


@pytest.mark.parametrize("line", ["goal：x", " goal: x", "goal : x", "Goal ：x"])
def test_a_field_in_a_wrong_line_is_not_missing_as_well(line: str) -> None:
    lines = [line if each.startswith("goal") else each for each in TRIAL]
    assert len(codes(content(*lines))) == 1


def test_problems_are_told_from_top_to_bottom() -> None:
    text = content(" run-v1", "outcome: x", "requests: -1", "started: now", "model : y")
    faults = read_content(text).problems
    places = [each.line for each in faults if each.line]
    assert places == sorted(places)
    assert places[-1] == 5
    assert [each.field for each in faults[-2:]] == ["runtime", "owner-proof"]


def test_lines_without_colon_in_a_row_are_one_problem() -> None:
    text = content(*RUN, "", "I tried.", "It worked.", "model: x", "again", "---", "text")
    assert [(each.code, each.line) for each in read_content(text).problems] == [
        ("blank_line", 5),
        ("no_colon", 9),
    ]


def test_a_missing_end_hides_no_field() -> None:
    lines = list(TRIAL)
    lines.insert(2, "")
    assert codes(content(*lines)) == ["blank_line"]


# D2


@pytest.mark.parametrize("line", ["MODEL: x", "Model:x", "model: x ", "model:\tx\t", "model:  x"])
def test_spellings_of_a_line_that_count(line: str) -> None:
    post = read_content(content(*RUN, line, "---", "t")).post
    assert isinstance(post, Run)
    assert post.model == "x"


# The seed says that the first counts and unknown fields are ignored (D2, 15, 17 and 21).
def test_the_first_occurrence_counts_and_the_next_is_warned_of() -> None:
    text = content(*RUN, "model: one", "Model: two")
    post = read_content(text).post
    assert isinstance(post, Run)
    assert post.model == "one"
    assert warned(text) == ["field_repeated"]


@pytest.mark.parametrize(
    ("line", "hint"),
    [
        ("colour: red", "drop"),
        ("blockers: x", "mean blocker?"),
        ("modle: x", "mean model?"),
        ("rechek-of: x", "mean recheck-of?"),
        ("target: x", "trial-v1"),
        ("nodes: x", "mean node?"),
    ],
)
def test_unknown_names_are_ignored_with_a_warning(line: str, hint: str) -> None:
    reading = read_content(content(*RUN, line))
    assert reading.post == read_content(content(*RUN)).post
    (fault,) = reading.warnings
    assert fault.code == "field_unknown"
    assert hint in fault.hint


def test_an_empty_first_occurrence_makes_the_field_absent() -> None:
    text = content(*RUN, "model:", "model: two", "step: ", "x: y")
    post = read_content(text).post
    assert isinstance(post, Run)
    assert (post.model, post.steps) == (None, ())
    assert warned(text) == ["field_empty", "field_repeated", "field_empty", "field_unknown"]
    (fault,) = read_content(altered(RUN, runtime="")).problems
    assert (fault.code, fault.field, fault.line) == ("field_missing", "runtime", 4)


def test_steps_repeat_in_runs_only() -> None:
    post = read_content(content(*RUN, "step: a", "STEP: b")).post
    assert isinstance(post, Run)
    assert post.steps == ("a", "b")
    assert warned(content(*TRIAL, "step: a", "step: b")) == ["field_unknown"] * 2


@pytest.mark.parametrize("lines", [TRIAL, RUN])
def test_values_of_trials_and_runs_have_600_code_points(lines: tuple[str, ...]) -> None:
    name = {TRIAL: "goal", RUN: "runtime"}[lines]
    assert codes(altered(lines, **{name: "𝄞" * MAX_VALUE})) == []
    (fault,) = read_content(altered(lines, **{name: "𝄞" * 612})).problems
    assert (fault.code, fault.field) == ("value_long", name)
    assert "612 of 600 code points" in fault.detail


def test_the_limit_is_for_steps_too_and_not_for_other_posts() -> None:
    long = "x" * (MAX_VALUE + 1)
    assert codes(content(*RUN, f"step: {long}", f"step: {long}")) == ["value_long"] * 2
    assert codes(content(*ALL["disposition"], f"note: {long}")) == []
    assert codes(content(*RUN, "---", long)) == []


def test_headers_and_steps_have_a_number() -> None:
    extra = [f"x{number}: y" for number in range(MAX_HEADERS - len(RUN) + 1)]
    assert codes(content(*RUN, *extra)) == []
    assert codes(content(*RUN, *extra, "z: y", "z: y")) == ["header_lines"]
    steps = ["step: s"] * MAX_STEPS
    assert codes(content(*RUN, *extra, *steps)) == []
    assert codes(content(*RUN, *steps, "step: s", "step: s")) == ["steps"]
    assert codes(content(*TRIAL, *steps)) == ["header_lines"]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("model", "model"),
        ("MODEL", "model"),
        ("mdoel", "model"),
        ("modl", "model"),
        ("models", "model"),
        ("nodel", "model"),
        ("modem", "model"),
        ("mo", ""),
        ("", ""),
        ("xodex", ""),
        ("omdle", ""),
    ],
)
def test_one_edit(word: str, meant: str) -> None:
    assert near(word, ("target", "model")) == meant

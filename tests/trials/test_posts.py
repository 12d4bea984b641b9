"""Typed posts: the tables make them, and their text gives them again. Traps D2 (values) and D3."""

from typing import Any, get_args, get_type_hints

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.trials.codes import CODES
from refold.trials.grammar import OUTER_WHITESPACE
from refold.trials.intake import read_content
from refold.trials.posts import POSTS, Message, Post, Review, Run, render
from refold.trials.rules import BLOCKERS
from refold.trials.tables import (
    FORMATS,
    MAX_INTEGER,
    MAX_VALUE,
    NODE,
    Field,
    Format,
)
from trials.examples import DISPOSITION, ORIGIN, PROOF, REVIEW, RUN, TRIAL, altered, codes, content

SAFE = st.characters(
    blacklist_categories=("Cs", "Cc", "Cf", "Cn", "Zl", "Zp"), blacklist_characters="\u034f"
)
FREE = st.characters(blacklist_categories=("Cs", "Cc"), blacklist_characters="\ufeff") | st.just(
    "\n"
)
VALUES = (
    st.text(SAFE, min_size=1, max_size=40).map(lambda v: v.strip(OUTER_WHITESPACE)).filter(bool)
)
TEXTS = st.text(FREE | st.sampled_from(["\n", "\t", "-", ":"]), max_size=60).map(
    lambda text: text.rstrip(OUTER_WHITESPACE)
)
TIMES = st.datetimes().map(lambda t: t.replace(microsecond=0).isoformat() + "Z")
CLASSES = st.lists(st.sampled_from([c for c in BLOCKERS if c != "other"]), unique=True).map(tuple)


def values_of(field: Field) -> st.SearchStrategy[object]:
    """Give values of the form of a field; None and empty ones are absent."""
    of_form: dict[str, st.SearchStrategy[object]] = {
        "text": VALUES,
        "word": st.sampled_from(field.values or ("",)),
        "classes": CLASSES,
        "time": TIMES,
        "integer": st.integers(0, MAX_INTEGER),
        "id": st.integers(1, MAX_INTEGER),
        "url": st.just(PROOF),
        "tool": st.sampled_from(["httpx", "@scope/pkg", "npm:left-pad", "https://tool.io/x"]),
        "origin": st.just(ORIGIN),
    }
    values = of_form[field.form]
    if field.repeats:
        return st.lists(values, max_size=3).map(tuple)
    return values if field.required or field.form == "classes" else st.none() | values


def posts_of(form: Format) -> st.SearchStrategy[Post]:
    fields = {field.attribute: values_of(field) for field in (*form.fields, NODE)}
    built: st.SearchStrategy[Any] = st.builds(POSTS[form.kind], text=TEXTS, **fields)
    return built.filter(agrees)


def agrees(post: Post) -> bool:
    """Tell whether the values of a post fit together."""
    outcome, seen = getattr(post, "outcome", ""), getattr(post, "owner_proof", "")
    if isinstance(post, Run):
        fits = outcome != "blocked" or post.blocker is not None
        return fits and (seen != "missing" or outcome == "abandoned")
    if isinstance(post, Review):
        return post.verdict != "blocked" or post.observed is not None
    return getattr(post, "status", "") != "fixed" or getattr(post, "version", "") is not None


@given(st.one_of(*map(posts_of, FORMATS.values())))
def test_a_typed_post_becomes_text_and_is_read_again(post: Post) -> None:
    text = render(post)
    reading = read_content(text.encode())
    assert reading.faults == ()
    assert reading.post == post
    assert render(reading.post) == text


@given(TEXTS.map(lambda text: text.strip(OUTER_WHITESPACE)).filter(bool))
def test_a_message_is_its_text(text: str) -> None:
    reading = read_content(text)
    if reading.kind == "message" and not reading.problems:
        assert reading.post == Message(text)
        assert render(reading.post) == text


def test_the_types_have_the_fields_of_the_tables() -> None:
    for form in FORMATS.values():
        post = POSTS[form.kind]
        wanted = {field.attribute: field for field in (*form.fields, NODE)}
        there = {field.name: field for field in msgspec.structs.fields(post)}
        assert set(there) - {"text"} == set(wanted)
        for name, field in wanted.items():
            assert (there[name].required, name) == (field.required, name)
            if field.values:
                assert get_args(get_type_hints(post)[name]) == field.values


def test_every_code_can_be_told_and_no_other_is() -> None:
    assert all(row.says and row.remedy for row in CODES.values())


# D2


@pytest.mark.parametrize("name", ["target", "goal", "done-when", "budget", "owner-proof"])
def test_a_trial_needs_its_fields(name: str) -> None:
    lines = [line for line in TRIAL if not line.startswith(name)]
    (fault,) = read_content(content(*lines)).problems
    assert (fault.code, fault.field) == ("field_missing", name)


def test_all_that_is_wrong_is_told_at_once() -> None:
    text = content("run-v1", "outcome: blocked", "requests: 1e3", "blocker-class: nope", "x")
    assert sorted(codes(text)) == sorted(
        [
            *("no_colon", "field_missing", "field_missing", "integer_form", "value_unknown"),
            "blocker_missing",
        ]
    )


@pytest.mark.parametrize(
    ("value", "code"),
    [
        *((text, "") for text in ("0", "1", "10", "9223372036854775807")),
        *((text, "integer_range") for text in ("9223372036854775808", "9" * 100)),
        *(
            (text, "integer_form")
            for text in ("٣٤", "1_000", "+7", "-1", "007", "00", "1.0", "1e3")
        ),
        *((text, "integer_form") for text in ("1 000", "0x10", "１２", "1,000", "many")),
    ],
)
def test_integers_are_plain(value: str, code: str) -> None:
    assert codes(altered(RUN, requests=value)) == [code] * bool(code)
    if value != "0":
        assert codes(altered(RUN, recheck_of=value)) == [code] * bool(code)


def test_an_id_is_not_zero() -> None:
    assert codes(altered(RUN, recheck_of="0")) == ["integer_range"]


@pytest.mark.parametrize(
    ("lines", "name", "value", "hint"),
    [
        (RUN, "outcome", "Completed", "Did you mean completed?"),
        (RUN, "outcome", "complete", "Did you mean completed?"),
        (RUN, "outcome", "passed", "completed, blocked, abandoned"),
        (RUN, "owner_proof", "yes", "verified, missing"),
        (RUN, "blocker_class", "rate-limited", "Did you mean rate_limited?"),
        (RUN, "blocker_class", "Other", "Did you mean other?"),
        (DISPOSITION, "status", "resolved", "confirmed, fixed"),
        (REVIEW, "verdict", "ｗｏｒｋｓ", "works, partly"),
    ],
)
def test_words_are_spelled_as_they_are(
    lines: tuple[str, ...], name: str, value: str, hint: str
) -> None:
    faults = read_content(altered(lines, **{name: value})).problems
    assert faults[0].code == "value_unknown"
    assert hint in faults[0].hint


# The spec takes any spaces around commas (D2, 27: one).
@pytest.mark.parametrize(
    ("value", "found"),
    [
        ("rate_limited", ("rate_limited",)),
        ("rate_limited,docs_wrong", ("rate_limited", "docs_wrong")),
        ("docs_wrong  ,   rate_limited", ("docs_wrong", "rate_limited")),
        (", ".join(c for c in BLOCKERS if c != "other"), tuple(BLOCKERS)[:-1]),
    ],
)
def test_blocker_classes_are_a_list(value: str, found: tuple[str, ...]) -> None:
    post = read_content(altered(RUN, blocker_class=value)).post
    assert isinstance(post, Run)
    assert post.blocker_class == found


@pytest.mark.parametrize(
    ("value", "code"),
    [
        ("rate_limited,", "list_item_empty"),
        (",rate_limited", "list_item_empty"),
        ("rate_limited,,docs_wrong", "list_item_empty"),
        ("rate_limited, rate_limited", "list_item_repeated"),
        ("rate_limited docs_wrong", "value_unknown"),
        ("rate_limited;docs_wrong", "value_unknown"),
    ],
)
def test_blocker_classes_that_are_none(value: str, code: str) -> None:
    assert codes(altered(RUN, blocker_class=value)) == [code]


def test_there_are_the_fourteen_classes() -> None:
    assert len(BLOCKERS) == 14


# The seed lets a class stand with any outcome, so a blocker too (D2, 28 would refuse it).
@pytest.mark.parametrize("outcome", ["completed", "abandoned"])
def test_a_blocker_may_stand_with_any_outcome(outcome: str) -> None:
    text = altered(RUN, outcome=outcome, blocker="slow", blocker_class="rate_limited")
    assert codes(text) == []


# `step` is free text in the seed, not a number (D2, 29).
def test_a_step_is_text() -> None:
    assert codes(content(*RUN, "step: GET https://shop.io/ -> 200, sha256 0123456789abcdef")) == []


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (altered(RUN, outcome="blocked"), "blocker_missing"),
        (altered(RUN, outcome="blocked", blocker=""), "blocker_missing"),
        (altered(RUN, outcome="blocked", blocker="429"), ""),
        (altered(RUN, owner_proof="missing"), "not_abandoned"),
        (altered(RUN, owner_proof="missing", outcome="blocked", blocker="x"), "not_abandoned"),
        (altered(RUN, owner_proof="missing", outcome="abandoned"), ""),
        (altered(RUN, outcome="abandoned"), ""),
        (altered(RUN, blocker_class="docs_wrong,other"), "other_unexplained"),
        (altered(RUN, blocker_class="other", blocker="odd"), ""),
        (altered(DISPOSITION, status="fixed"), "version_missing"),
        (altered(DISPOSITION, status="fixed", version="v2"), ""),
        (altered(DISPOSITION, status="wontfix"), ""),
        (altered(REVIEW, verdict="blocked"), "observed_missing"),
        (altered(REVIEW, verdict="blocked", observed="404"), ""),
        (altered(REVIEW, blocker_class="other"), "other_unexplained"),
        (altered(REVIEW, blocker_class="other", observed="odd"), ""),
    ],
)
def test_values_agree_with_each_other(text: str, code: str) -> None:
    assert codes(text) == [code] * bool(code)


@pytest.mark.parametrize(
    ("tool", "code"),
    [
        ("httpx", ""),
        ("@scope/pkg", ""),
        ("https://tool.io/page?x=1", ""),
        ("a tool", "tool_form"),
        ("工具", "tool_form"),
        ("x" * 300, "tool_form"),
        ("https://127.0.0.1/", "host_private"),
        ("ftp://tool.io/", "url_scheme"),
    ],
)
def test_a_tool_is_a_url_or_a_package(tool: str, code: str) -> None:
    assert codes(altered(REVIEW, tool=tool)) == [code] * bool(code)


@pytest.mark.parametrize(
    ("node", "code"),
    [
        (ORIGIN, ""),
        ("https://other.example", "wrong_node"),
        ("http://node.example", "wrong_node"),
        ("https://node.example:8443", "wrong_node"),
        ("https://node.example/", "origin_form"),
        ("https://node.example:443", "origin_form"),
        ("https://NODE.example", "origin_form"),
        ("node.example", "origin_form"),
    ],
)
def test_a_post_may_name_its_node(node: str, code: str) -> None:
    for lines in (TRIAL, RUN, DISPOSITION):
        found = [each.code for each in read_content(altered(lines, node=node), ORIGIN).problems]
        assert found == [code] * bool(code)
        elsewhere = read_content(altered(lines, node=node))
        assert (elsewhere.post is None) == (code == "origin_form")


def test_text_stays_in_the_unicode_form_that_was_signed() -> None:
    post = read_content(altered(RUN, model="cafe\u0301 \ufb01")).post
    assert isinstance(post, Run)
    assert post.model == "cafe\u0301 \ufb01"


# D3


@pytest.mark.parametrize(
    "time",
    [
        *("20261009", "2026-W41-5", "2026-10-09", "2026-10-09T10", "2026-10-09T10:00:00"),
        *("2026-10-09T10:00:00+00:00", "2026-10-09T10:00:00.5Z", "2026-10-09T10:00:00z"),
        *("2026-10-09 10:00:00Z", "2026-10-9T10:00:00Z", "２026-10-09T10:00:00Z", "tomorrow"),
        *("+2026-10-09T10:00:00Z", "2026-10-09T10:00Z", "٢٠٢٦-10-09T10:00:00Z"),
    ],
)
def test_times_have_one_form(time: str) -> None:
    assert codes(altered(TRIAL, closes=time)) == ["time_form"]
    assert codes(altered(RUN, started=time)) == ["time_form"]


@pytest.mark.parametrize(
    "time",
    [
        *("2026-02-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-10-09T24:00:00Z"),
        *("2026-12-31T23:59:60Z", "0000-01-01T00:00:00Z", "2027-02-29T00:00:00Z"),
    ],
)
def test_times_exist(time: str) -> None:
    assert codes(altered(TRIAL, closes=time)) == ["time_range"]


def test_a_leap_day_exists() -> None:
    assert codes(altered(TRIAL, closes="2028-02-29T00:00:00Z")) == []


def test_the_limit_of_a_value_comes_before_its_form() -> None:
    assert codes(altered(RUN, requests="9" * (MAX_VALUE + 1))) == ["value_long"]

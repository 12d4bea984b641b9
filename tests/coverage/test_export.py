"""A receipt in other forms: nothing in it can become anything but text."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import Phase, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from coverage.receipts import NOW, VALID, check, http_unit, manual, manual_unit, pins_unit
from coverage.receipts import example as appendix
from refold.coverage import Report, report_unreplayed
from refold.coverage.demo import demo_receipts, demo_sources
from refold.coverage.export import MEDIA_TYPES, export
from refold.coverage.markdown import MAX_LISTED, code_span, markdown
from refold.coverage.report import Finding
from refold.coverage.statement import PREDICATE, STATEMENT, statement
from refold.coverage.verify import verify
from refold.kernel.errors import InputError, one_line

PARSER = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
ATTACKS = (
    *(
        "`",
        "``",
        "` `` `",
        " ` ",
        "```\nx",
        "<script>alert(1)</script>",
        "![x](https://evil.test/a)",
    ),
    *("[x](javascript:alert(1))", "\n# big", "\n\n- list\n", "| a | b |\n|---|---|", "@everyone"),
    *("</code>", "\\`", "`\\", "&lt;b&gt;", "https://evil.test", "\u202e`", "~~x~~", "*a* _b_", ""),
    *("\r\n\r\n> quote", "`<b>`<i>", "[a]: https://evil.test", "    ", "\t# x", "\x00"),
)
TEXT = st.one_of(
    st.sampled_from(ATTACKS),
    st.text(st.sampled_from("`` \\<>[]()!*_#|~\n\r\t&;:@ab"), max_size=40),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
)
SHOWN = {"text", "code_inline"}
QUICK = settings(max_examples=150, phases=[Phase.explicit, Phase.reuse, Phase.generate])


def flat(tokens: list[Token] | None) -> Iterator[Token]:
    for token in tokens or ():
        yield token
        yield from flat(token.children)


def hostile(text: str, unit_id: str) -> Any:
    """Give a record with a text wherever a writer may put one."""
    record = manual()
    desk = manual_unit(unit_id)
    desk["replay"]["instructions"] = text
    record["corpus"]["units"] = [desk]
    record["corpus"]["kind"] = text
    record["question"] = text
    record["note"] = text
    record["blindspots"] = [{"what": text, "why": text}]
    return record


@QUICK
@given(TEXT)
@example("`" * 30)
def test_a_code_span_is_one_span_that_shows_the_text(text: str) -> None:
    (paragraph,) = [t for t in PARSER.parse(f"- a: {code_span(text)}: b") if t.type == "inline"]
    kinds = [child.type for child in paragraph.children or ()]
    if one_line(text).strip(" "):
        assert kinds == ["text", "code_inline", "text"]
        assert (paragraph.children or [])[1].content == one_line(text)
    else:
        assert kinds == ["text"]


@QUICK
@given(TEXT)
def test_nothing_in_a_receipt_becomes_markup(text: str) -> None:
    unit_id = one_line(text)[:64] or "desk"
    validation = check(hostile(text, unit_id))
    assert validation.is_valid
    plain = check(hostile("words", "desk"))
    told = [list(flat(PARSER.parse(markdown(one)))) for one in (validation, plain)]
    shapes = [[token.type for token in one if token.type not in SHOWN] for one in told]
    assert shapes[0] == shapes[1]
    words = [[token.content for token in one if token.type == "text"] for one in told]
    if one_line(text).strip(" "):  # else it is said in words that there is none
        assert words[0] == words[1]


@pytest.mark.parametrize("make", VALID.values(), ids=VALID)
def test_the_text_has_what_is_needed_to_check(make: Callable[[], Any]) -> None:
    validation = check(make())
    told = markdown(validation)
    record = make()
    assert validation.receipt_hash in told
    assert record["query"]["queryHash"] in told
    assert record["result"]["resultHash"] in told
    assert record["corpus"]["asOf"] in told
    assert "refold coverage verify" in told
    for unit in record["corpus"]["units"]:
        assert f"`{unit['id']}`" in told
        assert unit["boundary"]["termination"] in told
    assert len(told) < 4_000


def test_long_receipts_stay_short() -> None:
    record = appendix()
    record["corpus"]["units"] = [http_unit(f"list-{number}") for number in range(40)]
    told = markdown(check(record))
    assert f"and {40 - MAX_LISTED} more sources" in told
    assert "list-39" not in told


@pytest.mark.parametrize("shown", demo_receipts(), ids=lambda shown: shown.scene.name)
def test_a_verdict_goes_along_and_only_with_its_own_record(shown: Any) -> None:
    now = "2026-12-01T00:00:00Z"
    validation = check(json.loads(shown.data), now)
    report = verify(shown.data, demo_sources(), now)
    if not validation.is_valid:
        for form in ("intoto", "markdown"):
            with pytest.raises(InputError):
                export(form, validation, now)
        log = json.loads(export("sarif", validation, now))
        assert log["runs"][0]["properties"]["judgement"] == "INVALID"
        return
    assert f"judged {shown.scene.judgement}" in markdown(validation, report)
    told = statement(validation, "a", report)
    assert told["predicate"]["replay"]["judgement"] == shown.scene.judgement
    log = json.loads(export("sarif", validation, now, report=report))
    assert log["runs"][0]["properties"]["judgement"] == shown.scene.judgement
    other = verify(demo_receipts()[0].data, demo_sources(), now)
    other = msgspec.structs.replace(other, receipt_hash="00" * 32)
    for form in MEDIA_TYPES:
        with pytest.raises(InputError, match="the report is on 0000"):
            export(form, validation, now, report=other)  # type: ignore[arg-type]


def test_a_report_in_unknown_words_is_refused() -> None:
    validation = check(appendix())
    report = report_unreplayed(validation, NOW)
    for strange in (
        msgspec.structs.replace(report, reasons=("<b>",)),
        msgspec.structs.replace(report, warnings=(Finding("W_NOTHING", "", "", ""),)),
    ):
        with pytest.raises(InputError, match="which is no code"):
            markdown(validation, strange)
    spread = msgspec.structs.replace(report, now="`x` <b>")
    assert "<b>" not in PARSER.render(markdown(validation, spread)).replace("&lt;b&gt;", "")


def test_a_statement_names_the_receipt_by_its_hash() -> None:
    validation = check(appendix())
    told = statement(validation, "acme")
    assert told["_type"] == STATEMENT
    assert told["predicateType"] == PREDICATE
    assert told["subject"] == [{"name": "acme", "digest": {"sha256": validation.receipt_hash}}]
    assert told["predicate"]["claim"] == "ABSENT"
    assert "replay" not in told["predicate"]


def test_forms_are_deterministic_and_end_with_a_newline() -> None:
    record = appendix()
    record["corpus"]["units"].append(pins_unit())
    for form in MEDIA_TYPES:
        one, two = (export(form, check(record), NOW) for _ in range(2))  # type: ignore[arg-type]
        assert one == two
        assert one.endswith(b"\n")


def test_reports_can_be_read_back() -> None:
    shown = demo_receipts()[0]
    report = verify(shown.data, demo_sources(), "2026-12-01T00:00:00Z")
    assert msgspec.json.decode(msgspec.json.encode(report), type=Report) == report

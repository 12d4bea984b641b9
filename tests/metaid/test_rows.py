"""Rows of indexers: three generations, modified and cut ones, and what none of them says."""

import json
from base64 import b64encode
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid.samples import load
from refold.kernel.errors import InputError
from refold.metaid.pin import MODIFIED, REVOKED, FullRow, Pin, Row, ShortRow, pin_of_row

VARIANTS = load("list_row_variants.json")
PAGE = load("pins_path_list.json")["data"]["list"]
DETAILS = {
    name: load(f"{name}.json")["data"]
    for name in (
        "pin_detail",
        "pin_detail_long",
        "pin_detail_modified",
        "pin_detail_modify_pin",
    )
}
MEMPOOL, PLAIN, CUT, CHANGED, REVOKED_ROW = PAGE


def pin_of(row: dict[str, Any]) -> Pin:
    return pin_of_row(msgspec.convert(row, Row))


def code_of(row: dict[str, Any]) -> str:
    with pytest.raises(InputError) as caught:
        pin_of(row)
    assert row["id"] in caught.value.message
    return caught.value.code


def short(**members: Any) -> dict[str, Any]:
    """Give a row with a body of five bytes."""
    body = {"contentBody": "aGVsbG8=", "contentLength": 5}
    place = {"id": "p1", "path": "/protocols/x", "genesisHeight": 5, "txIndex": 0}
    return place | {"globalMetaId": "idq1x"} | body | members


def listed(summary: str, length: int) -> dict[str, Any]:
    return short(contentBody="", contentSummary=summary, contentLength=length)


# --- three generations ---------------------------------------------------------------------


def test_one_pin_in_three_generations() -> None:
    # Only the first generation lists a body as long as this one; it has no globalMetaId.
    oldest = pin_of(VARIANTS["v1_man_indexer"])
    whole = pin_of(DETAILS["pin_detail_long"])
    assert pin_of(VARIANTS["april_to_september_2026"]) == whole
    assert oldest == whole
    assert len(whole.body) == VARIANTS["v1_man_indexer"]["contentLength"]
    assert code_of(VARIANTS["since_2026_09_29"]) == "body-cut"
    assert "globalMetaId" not in VARIANTS["v1_man_indexer"]
    assert oldest.sender == VARIANTS["since_2026_09_29"]["globalMetaId"]


def test_a_row_and_its_detail_give_the_same_pin() -> None:
    assert pin_of(PLAIN) == pin_of(DETAILS["pin_detail"])
    assert pin_of(CHANGED) == pin_of(DETAILS["pin_detail_modified"])


def test_every_member_of_every_sample_is_in_the_model() -> None:
    shown = {member for row in (*PAGE, *DETAILS.values()) for member in row}
    assert shown <= {field.encode_name for field in msgspec.structs.fields(FullRow)}
    for row in (*PAGE, *DETAILS.values(), *(VARIANTS[name] for name in VARIANTS if name[0] != "_")):
        found = msgspec.to_builtins(msgspec.convert(row, FullRow))
        assert {member: found[member] for member in row} == row


def test_an_unknown_pin_is_an_empty_one() -> None:
    answers = load("pin_not_found.json")
    empty = answers["production_man_http_200"]["data"]
    with pytest.raises(InputError) as caught:
        pin_of(empty)
    assert caught.value.code == "pin-empty"


def test_a_surprise_in_a_member_that_no_pin_needs_costs_no_pin() -> None:
    surprised = PLAIN | {"pop": None, "popScore": {"s": 1}, "mrc20MintId": 5, "preview": None}
    assert pin_of(surprised) == pin_of(PLAIN)
    with pytest.raises(msgspec.ValidationError):
        msgspec.convert(surprised, FullRow)


@pytest.mark.parametrize("score", ["0", 0, 0.5])
def test_scores_come_as_text_or_number(score: object) -> None:
    assert msgspec.convert(short(popScore=score), FullRow).pop_score == score


# --- place and author ----------------------------------------------------------------------


def test_a_mempool_row_has_no_height() -> None:
    assert pin_of(MEMPOOL).height is None
    assert pin_of(PLAIN).height == PLAIN["genesisHeight"]
    assert pin_of(short(genesisHeight=0)).height == 0


ADDRESS = PLAIN["creator"]


@pytest.mark.parametrize(
    ("named", "sender"),
    [
        ({"globalMetaId": "idq1x", "creator": ADDRESS}, "idq1x"),
        ({"creator": ADDRESS, "address": "no"}, PLAIN["globalMetaId"]),
        ({"address": ADDRESS}, PLAIN["globalMetaId"]),
        ({"address": ADDRESS, "isTransfered": True}, None),
        ({"creator": ADDRESS, "address": "x", "isTransfered": True}, PLAIN["globalMetaId"]),
        ({"creator": "errorAddr", "address": ADDRESS}, None),
        ({"creator": "", "address": ""}, None),
        ({}, None),
    ],
)
def test_the_sender_is_named_or_follows_from_the_address(
    named: dict[str, Any], sender: str | None
) -> None:
    row = short(globalMetaId="") | named
    if sender is None:
        assert code_of(row) == "sender-missing"
    else:
        assert pin_of(row).sender == sender


# --- bodies --------------------------------------------------------------------------------


@given(st.binary(max_size=300))
def test_a_body_in_base64_comes_back(body: bytes) -> None:
    row = short(contentBody=b64encode(body).decode(), contentLength=len(body))
    assert pin_of(row).body == body
    for length in (len(body) - 1, len(body) + 1):
        assert code_of(row | {"contentLength": length}) == "body-cut"


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=200))
def test_a_body_as_text_comes_back_or_is_refused(text: str) -> None:
    row = listed(text, len(text.encode()))
    if "\ufffd" in text:
        assert code_of(row) == "body-cut"
    else:
        assert pin_of(row).body == text.encode()


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=80), st.integers(0, 200))
def test_a_text_that_was_cut_anywhere_is_never_taken_for_the_body(text: str, cut: int) -> None:
    body = text.encode()
    # As the indexers cut: by bytes; the JSON encoder writes U+FFFD for what is left of a letter.
    shown = body[:cut].decode(errors="replace")
    row = listed(shown, len(body))
    if cut < len(body):
        assert code_of(row) == "body-cut"
    elif "\ufffd" not in text:
        assert pin_of(row).body == body


def test_a_cut_inside_the_last_letter_can_make_the_lengths_equal() -> None:
    body = ("x" * 4_095 + "灯").encode()
    shown = body[:4_096].decode(errors="replace")
    assert len(shown.encode()) == len(body)
    assert code_of(listed(shown, len(body))) == "body-cut"


def test_a_link_is_no_body() -> None:
    assert code_of(listed("/content/p1", len("/content/p1"))) == "body-cut"
    assert pin_of(listed("/content/p2", len("/content/p2"))).body == b"/content/p2"


def test_an_empty_body_is_a_body() -> None:
    assert pin_of(listed("", 0)).body == b""
    assert pin_of(short(contentBody=None, contentLength=0)).body == b""


@pytest.mark.parametrize("body", ["%", "aGVsbG8", "aGVs bG8=", "äöü=", "aGVsbG8=\n"])
def test_a_body_that_is_no_base64_is_refused(body: str) -> None:
    assert code_of(short(contentBody=body)) == "body-unreadable"


def test_a_summary_that_is_no_text_is_refused() -> None:
    row = msgspec.convert(listed("", 3), Row)  # as a lenient JSON reader would leave it
    with pytest.raises(InputError) as caught:
        pin_of_row(msgspec.structs.replace(row, content_summary="\ud800"))
    assert caught.value.code == "body-unreadable"


# --- modified and revoked ------------------------------------------------------------------


def test_a_modified_row_gives_the_first_body() -> None:
    pin = pin_of(CHANGED)
    assert (pin.status, pin.content_type) == (MODIFIED, None)
    assert pin.body != pin_of(DETAILS["pin_detail_modify_pin"]).body
    assert json.loads(pin.body)["content"].endswith("thru port.")
    assert pin.history == (CHANGED["id"], DETAILS["pin_detail_modify_pin"]["id"])


def test_the_modify_pin_itself_was_not_modified() -> None:
    pin = pin_of(DETAILS["pin_detail_modify_pin"])
    assert (pin.status, pin.operation, pin.content_type) == (0, "modify", "application/json")
    assert (pin.target, pin.path) == (CHANGED["id"], f"@{CHANGED['id']}")
    # What the row of the target can't say: somebody else changed it.
    assert pin.sender != pin_of(CHANGED).sender


@pytest.mark.parametrize(
    "marks",
    [
        {"status": 1},
        {"status": -1, "modify_history": ["p1", "p2"]},
        {"status": 0, "modify_history": ["p1", "p2", "p3"]},
    ],
)
@pytest.mark.parametrize("original", [None, ""])
def test_the_modifiers_body_is_never_taken_for_the_first(
    marks: dict[str, Any], original: str | None
) -> None:
    assert code_of(short(originalContentBody=original, **marks)) == "body-replaced"
    pin = pin_of(short(originalContentBody="Zmlyc3Q=", **marks))
    assert (pin.body, pin.content_type) == (b"first", None)


@pytest.mark.parametrize("history", [None, [], ["p1"], ["p0", "p1"]])
def test_other_histories_are_no_modification(history: list[str] | None) -> None:
    pin = pin_of(short(modify_history=history, contentType="a/b"))
    assert (pin.body, pin.content_type) == (b"hello", "a/b")
    assert pin.history == tuple(history or ())


def test_a_revoked_row_keeps_its_body() -> None:
    pin = pin_of(REVOKED_ROW)
    assert pin.status == REVOKED
    assert json.loads(pin.body)["slug"] == "sandbar"


# --- short rows ----------------------------------------------------------------------------


def test_a_short_row_is_a_hint() -> None:
    row = msgspec.json.decode(
        b'{"content":"x","number":-1,"operation":"create","height":-1,"id":"p1i0","type":"a/b",'
        b'"path":"/protocols/x","metaid":"","pop":"","popLv":-1,"chainName":"","address":"",'
        b'"creator":"","initialOwner":"","timestamp":5,"seenTime":5}',
        type=ShortRow,
    )
    assert (row.id, row.height, row.type, row.seen_time) == ("p1i0", -1, "a/b", 5)
    assert (row.address, row.pop_lv, row.initial_owner, row.chain_name) == ("", -1, "", "")

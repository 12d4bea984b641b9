"""First bodies: never cut, never a modifier's, and never guessed."""

from collections.abc import Mapping
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metaid import samples
from metaid.mans import (
    AUTHOR,
    BASE,
    HTML,
    NO_PIN,
    NO_ROUTE,
    PATH,
    ZERO_PIN,
    Answer,
    Scripted,
    client,
    one,
    page,
    pin_id,
    row,
    transport_of,
    whole,
)
from metaid.samples import REV, VICTIM, coin
from refold.kernel.errors import SourceError
from refold.metaid.envelope import new_tuple
from refold.metaid.man.bodies import MAX_MODIFIES, Bodies, Missing
from refold.metaid.pin import Pin, Row
from refold.metaid.rawtx import RawTxs
from refold.metaid.wallet import build_pin_tx

ID = pin_id(1)
MODIFY, SECOND = pin_id(2), pin_id(3)
LISTED, CUT = samples.load("pins_path_list.json")["data"]["list"][1:3]


def row_of(members: dict[str, Any]) -> Row:
    return msgspec.convert(members, Row)


class Details:
    """Answers details and versions by their route."""

    def __init__(self, answers: Mapping[str, Answer]) -> None:
        self.answers = answers

    def __call__(self, path: str, _query: Mapping[str, str]) -> Answer:
        if not path.startswith("/api/pin/"):
            return NO_ROUTE
        return self.answers.get(path.removeprefix("/api/pin/"), ZERO_PIN)


def bodies(answers: Mapping[str, Answer], txs: RawTxs | None = None) -> Bodies:
    return Bodies(client(Details(answers)), txs)


def got(answer: Pin | Missing) -> Pin:
    assert isinstance(answer, Pin), answer
    return answer


def lost(answer: Pin | Missing) -> Missing:
    assert isinstance(answer, Missing), answer
    return answer


def modified(number: int, *modifies: str, **members: Any) -> dict[str, Any]:
    """Give the detail of a pin that says something else today."""
    shown = whole(row(number, 5) | {"status": 1}, b"what somebody else says")
    return shown | {"modify_history": [pin_id(number), *modifies]} | members


# --- rows and details --------------------------------------------------------------------------


def test_a_whole_row_needs_no_detail() -> None:
    read = bodies({})
    pin = read.of_row(row_of(LISTED))
    assert pin is not None
    assert pin.id == LISTED["id"]


def test_a_cut_row_is_read_by_its_detail() -> None:
    detail = samples.load("pin_detail_long.json")
    read = bodies({CUT["id"]: detail})
    assert read.of_row(row_of(CUT)) is None
    pin = got(read.fetch(CUT["id"], row_of(CUT)))
    assert len(pin.body) == CUT["contentLength"] > len(CUT["contentSummary"])


def test_a_modified_row_is_never_believed() -> None:
    """A list may cut the first body as well, and says nowhere how long it is."""
    detail = samples.load("pin_detail_modified.json")["data"]
    read = bodies({})
    assert read.of_row(row_of(detail)) is None
    assert read.of_row(row_of(detail | {"status": 0})) is None


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (ZERO_PIN, "pin-unknown"),
        ((404, NO_PIN), "pin-unknown"),
        (NO_PIN, "pin-unknown"),
        ((200, HTML), "man-unreadable"),
        ((500, HTML), "man-status"),
        (NO_ROUTE, "man-no-route"),
        (one(row(2, 5)), "man-other-pin"),
        (one(row(1, 5) | {"contentLength": 900}), "body-cut"),
        (one(row(1, 5) | {"contentSummary": "", "contentBody": None}), "body-cut"),
        (one(row(1, 5) | {"contentBody": "%"}), "body-unreadable"),
        (one(whole(row(1, 5)) | {"creator": "", "address": ""}), "sender-missing"),
        (one(whole(row(1, 5)) | {"path": "/protocols/other"}), "copies-differ"),
        (
            one(whole(row(1, 5)) | {"creator": "1BgGZ9tcN4rm9KBzDn7KprQz87SZ26SAMH"}),
            "copies-differ",
        ),
    ],
)
def test_what_cannot_be_got_is_named(answer: Answer, code: str) -> None:
    listed = row(1, 5) | {"contentLength": 900}
    missing = lost(bodies({ID: answer}).fetch(ID, row_of(listed)))
    assert (missing.id, missing.height, missing.code) == (ID, 5, code)
    assert missing.message


def test_what_is_known_of_a_missing_pin() -> None:
    read = bodies({})
    assert lost(read.fetch(ID)).height is None
    assert lost(read.fetch(ID, row_of(row(1)))).height is None


def test_an_older_list_may_lack_the_creator() -> None:
    listed = row(1, 5) | {"creator": "", "contentLength": 900}
    detail = whole(row(1, 5), b"x" * 900)
    assert got(bodies({ID: one(detail)}).fetch(ID, row_of(listed))).body == b"x" * 900


# --- modified pins -----------------------------------------------------------------------------


def test_the_first_body_is_in_the_detail() -> None:
    detail = samples.load("pin_detail_modified.json")
    modify = samples.load("pin_detail_modify_pin.json")
    first = detail["data"]["id"]
    read = bodies({first: detail, modify["data"]["id"]: modify})
    pin = got(read.fetch(first))
    assert b"thru port" in pin.body
    assert pin.content_type is None
    assert not read.doubtful


def test_version_0_has_the_first_body_where_the_detail_lacks_it() -> None:
    version = modified(1, MODIFY) | {"contentBody": "Zmlyc3Q="}
    answers = {ID: one(modified(1, MODIFY)), f"ver/{ID}/0": one(version)}
    read = bodies(answers | {MODIFY: one(whole(row(2, 6), b"what somebody else says"))})
    pin = got(read.fetch(ID))
    assert (pin.body, pin.status, pin.height) == (b"first", 1, 5)
    assert not read.doubtful


@pytest.mark.parametrize(
    ("version", "code"),
    [
        (ZERO_PIN, "body-replaced"),
        (one(modified(1, MODIFY) | {"contentBody": ""}), "body-replaced"),
        (one(modified(1, MODIFY) | {"contentBody": "%"}), "body-unreadable"),
        ((404, b"404 page not found"), "body-replaced"),
        ((500, HTML), "man-status"),
    ],
)
def test_a_first_body_that_nobody_has_is_missing(version: Answer, code: str) -> None:
    answers = {ID: one(modified(1, MODIFY)), f"ver/{ID}/0": version}
    assert lost(bodies(answers).fetch(ID)).code == code


@given(st.binary(min_size=1, max_size=40), st.integers(1, 3))
def test_foreign_modifies_never_change_what_a_pin_said_first(first: bytes, modifies: int) -> None:
    ids = [pin_id(100 + n) for n in range(modifies)]
    others = [b"modify %d " % n + first for n in range(modifies)]
    detail = modified(1, *ids) | {"originalContentBody": whole(row(1), first)["contentBody"]}
    answers: dict[str, Answer] = {ID: one(detail)}
    answers |= {modify: one(whole(row(100 + n, 6), others[n])) for n, modify in enumerate(ids)}
    read = bodies(answers)
    assert got(read.fetch(ID)).body == first
    assert not read.doubtful


def test_older_rows_that_were_revoked_may_have_been_modified_before() -> None:
    """The first generation has neither history nor first body in its rows."""
    listed = whole(row(1, 5) | {"status": -1}, b"anybody's")

    def script(path: str, _query: Mapping[str, str]) -> Answer:
        if path == "/api/getAllPinByPath":
            return page([listed])
        return one(listed) if path == f"/api/pin/{ID}" else NO_ROUTE

    man = client(script)
    man.page(PATH)
    read = Bodies(man)
    assert read.of_row(row_of(listed)) is None
    assert lost(read.fetch(ID)).code == "body-replaced"


# --- the doubt about first bodies ----------------------------------------------------------------


def doubtful_answers(said: bytes = b"said later") -> dict[str, Answer]:
    """Give the detail of a pin that was empty, and of the modify whose body was kept as the first.

    The indexers keep what stands there at the second time a modify is applied.
    """
    original = {"originalContentBody": whole(row(1), said)["contentBody"]}
    return {
        ID: one(modified(1, MODIFY) | original),
        MODIFY: one(whole(row(2, 6), said)),
    }


def test_a_first_body_that_is_also_a_modifys_is_doubtful() -> None:
    read = bodies(doubtful_answers())
    assert got(read.fetch(ID)).body == b"said later"
    assert read.doubtful == {ID}


@pytest.mark.parametrize("modify", [ZERO_PIN, (500, HTML), one(row(2, 6) | {"contentLength": 9})])
def test_so_is_one_whose_modifies_cannot_be_read(modify: Answer) -> None:
    read = bodies(doubtful_answers() | {MODIFY: modify})
    assert got(read.fetch(ID)).body == b"said later"
    assert read.doubtful == {ID}


def test_so_is_one_of_too_many_modifies() -> None:
    ids = [pin_id(100 + n) for n in range(MAX_MODIFIES + 1)]
    detail = modified(1, *ids) | {"originalContentBody": "Zmlyc3Q="}
    read = bodies(
        {ID: one(detail)} | {name: one(whole(row(100 + n))) for n, name in enumerate(ids)}
    )
    assert got(read.fetch(ID)).body == b"first"
    assert read.doubtful == {ID}
    assert transport_of(read._man).requests == 1


PINNED = build_pin_tx(VICTIM, new_tuple("create", PATH, b""), [coin(VICTIM)])


def chain_source(answer: Answer | None = None) -> RawTxs:
    raw = {"hex": PINNED.raw.hex()} if answer is None else answer
    return RawTxs(Scripted(lambda _path, _query: raw), BASE)


def renamed(answers: Mapping[str, Answer]) -> dict[str, Answer]:
    """Let the pin be the one of the transaction."""
    text = msgspec.json.encode(dict(answers)).decode().replace(ID, PINNED.pin.id)
    renamed_answers: dict[str, Answer] = msgspec.json.decode(text)
    return renamed_answers


def test_the_transaction_settles_it() -> None:
    read = bodies(renamed(doubtful_answers()), chain_source())
    pin = got(read.fetch(PINNED.pin.id))
    assert (pin.body, pin.content_type) == (b"", "application/json")
    assert not read.doubtful


def test_the_transaction_has_a_body_that_the_indexer_lacks() -> None:
    for answers in (
        {ID: one(row(1, 5) | {"contentBody": "", "contentSummary": "", "contentLength": 9})},
        {ID: one(modified(1, MODIFY))},
    ):
        pin = got(bodies(renamed(answers), chain_source()).fetch(PINNED.pin.id))
        assert (pin.body, pin.path, pin.height) == (b"", PATH, 5)


def test_the_transaction_must_carry_that_very_pin() -> None:
    other = PINNED.pin.id.replace("i0", "i1")
    answers = {other: one(modified(1, MODIFY) | {"id": other, "modify_history": [other, MODIFY]})}
    assert lost(bodies(answers, chain_source()).fetch(other)).code == "body-replaced"


@pytest.mark.parametrize(
    "answer",
    [
        (404, HTML),
        (500, HTML),
        {"hex": build_pin_tx(VICTIM, REV, [coin(VICTIM)]).raw.hex()},
        SourceError("connection-lost", "gone"),
    ],
)
def test_without_the_right_transaction_the_doubt_stays(answer: Answer) -> None:
    read = bodies(renamed(doubtful_answers()), chain_source(answer))
    assert got(read.fetch(PINNED.pin.id)).body == b"said later"
    assert read.doubtful == {PINNED.pin.id}
    replaced = bodies(renamed({ID: one(modified(1, MODIFY))}), chain_source(answer))
    assert lost(replaced.fetch(PINNED.pin.id)).code != ""


def test_the_author_of_the_rows_is_a_real_address() -> None:
    assert got(bodies({ID: one(whole(row(1, 5)))}).fetch(ID)).sender.startswith("idq1")
    assert AUTHOR

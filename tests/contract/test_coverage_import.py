"""Receipts from a chain into each database: what stands there, in the chain's own order."""

import json
from base64 import b64decode, b64encode
from collections.abc import Iterator, Mapping
from typing import Any, Literal

import msgspec
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from contract.databases import wipe
from coverage.receipts import changed, check
from coverage.receipts import example as appendix
from metaid.worlds import World, world
from refold.coverage.chainpin import BLOCK_TIME_SECONDS, PATH, draft
from refold.coverage.indexer import Imported, import_receipts
from refold.coverage.record import SKEW_SECONDS
from refold.coverage.store import Origin, open_store
from refold.coverage.store.model import PinOf
from refold.coverage.store.onchain import OnChain
from refold.db import Database
from refold.kernel.fetch import Fetched
from refold.kernel.utc import later
from refold.metaid.devnet.clock import BLOCK_SECONDS
from refold.metaid.man.client import ManClient

NOW = "2027-01-01T00:00:00Z"
AS_OF = "2022-01-01T00:00:00Z"
"""The blocks of these small chains are of 2023."""
UNTIL = "2031-01-01T00:00:00Z"


def record(number: int, as_of: str = AS_OF) -> dict[str, Any]:
    told = changed(appendix(), "/corpus/asOf", as_of) | {"validUntil": UNTIL}
    return told | {"question": f"Question {number}?"}


def payload(number: int, as_of: str = AS_OF) -> bytes:
    return draft(check(record(number, as_of), NOW)).payload.encode()


def pin(here: World, author: int, body: bytes, **options: Any) -> str:
    return here.net.pin(here.keys[author], PATH, body, **options)


def imported(database: Database, here: World, **options: Any) -> Imported:
    return import_receipts(database, here.man(), NOW, **options)


def on_chain(database: Database) -> list[PinOf]:
    """Give what the store has, a page of two at a time."""
    found: list[PinOf] = []
    with database.read() as connection:
        while True:
            last = (found[-1].height or 0, found[-1].pin) if found else None
            page = OnChain(connection).confirmed(2, last)
            found += page
            if not page:
                return found


def truth(here: World) -> list[tuple[int | None, str]]:
    """Give the valid receipts in blocks, in the order of P0-9, from the blocks themselves."""
    valid = [one for one in here.net.pins(PATH) if one.body != b"{}"]
    return sorted((one.height or 0, one.id) for one in valid)


def places(database: Database) -> list[tuple[int | None, str]]:
    return [(one.height, one.pin) for one in on_chain(database)]


@pytest.fixture
def here() -> Iterator[World]:
    with world() as found:
        yield found


def test_what_is_pinned_is_stored_in_the_order_of_the_chain(
    database: Database, here: World
) -> None:
    late, early = "2022-08-01T00:00:00Z", "2021-01-01T00:00:00Z"
    for block in range(3):
        for number in range(4):
            as_of = (late, early)[number % 2]
            pin(here, number % 3, payload(10 * block + number, as_of))
        here.net.mine(order="shuffled")
    again = pin(here, 2, payload(0, late))
    here.net.mine()
    first = imported(database, here)
    assert (first.new, first.again, first.refused, first.is_complete) == (12, 1, 0, True)
    assert places(database) == truth(here)
    with database.read() as connection:
        receipts = open_store(connection).receipts
        # Newest first, so as they stand on the chain from its end.
        listed = [one.hash for one in receipts.page(100)][::-1]
        order = list(dict.fromkeys(one.receipt for one in on_chain(database)))
        assert listed == order
        pins = receipts.pins(check(record(0, late), NOW).receipt_hash, 10)
        assert [one.pin for one in pins][-1] == again
        assert {one.writer for one in pins} == {here.keys[n].globalmetaid for n in (0, 2)}
        assert {one.origin for one in receipts.page(100)} == {"chain"}
    second = imported(database, here)
    assert (second.new, second.again, second.moved, second.known) == (0, 0, 0, 13)


def test_what_is_no_receipt_is_told_with_its_codes(database: Database, here: World) -> None:
    bad = {
        pin(here, 0, b"{}"): "E_MISSING_FIELD",
        pin(here, 0, b"\xff"): "E_ENCODING",
        pin(here, 1, payload(1), encryption="1"): "pin-encrypted",
        pin(here, 1, payload(2, "2024-12-31T00:00:00Z")): "E_ASOF_FUTURE",
    }
    good = pin(here, 2, payload(3))
    here.net.mine()
    found = imported(database, here)
    told = {one.pin_id: {problem.code for problem in one.errors} for one in found.refusals}
    assert {name: code for name, code in bad.items() if code in told[name]} == bad
    assert found.refused == len(bad)
    assert [one.pin for one in on_chain(database)] == [good]
    assert found.is_complete


def test_spam_is_read_once(database: Database, here: World) -> None:
    """To prove its bytes takes a request for each pin."""
    spam = [pin(here, 0, f"no receipt {number}".encode()) for number in range(5)]
    good = pin(here, 1, payload(1))
    here.net.mine()
    first = imported(database, here, txs=here.txs())
    assert (first.refused, first.refused_before) == (len(spam), 0)
    second = imported(database, here, txs=here.txs())
    assert (second.refused, second.refused_before, second.known) == (0, len(spam), 1)
    assert second.is_complete
    assert second.walk.requests <= first.walk.requests - len(spam)
    here.net.reorg(1, shift=1)  # where it stands may be what was wrong with it
    third = imported(database, here, txs=here.txs())
    assert (third.refused, third.refused_before) == (len(spam), 0)
    assert [one.pin for one in on_chain(database)] == [good]


def test_whoever_imports_at_once_takes_what_another_takes_later(
    database: Database, here: World
) -> None:
    """Its asOf is not too late for the block, and in the future of the one who reads."""
    here.net.mine(3)
    block = later("1970-01-01T00:00:00Z", here.net.tip.time + BLOCK_SECONDS)
    as_of = later(block, BLOCK_TIME_SECONDS)
    pin(here, 0, payload(1, as_of))
    here.net.mine()
    assert import_receipts(database, here.man(), block).new == 1
    with database.read() as connection:
        assert [one.due_at for one in open_store(connection).receipts.page(9)] == [as_of]
    assert imported(database, here).known == 1


def test_a_receipt_waits_moves_and_vanishes_with_its_pin(database: Database, here: World) -> None:
    here.net.quirks("clean", mempool_rows=True)
    ids = [pin(here, number, payload(number)) for number in range(3)]
    assert imported(database, here).new == 3
    assert on_chain(database) == []  # nothing is in a block
    here.net.mine()
    assert imported(database, here).moved == 3
    assert places(database) == truth(here)
    here.net.mine(2)
    here.net.reorg(3, drop=[ids[0]], fate="gone", shift=1)
    after = imported(database, here)
    assert (after.new, after.vanished, after.moved) == (0, 1, 2)
    assert places(database) == truth(here)
    assert len(truth(here)) == 2
    here.net.reorg(4, drop=[ids[1]])
    imported(database, here)
    assert places(database) == truth(here)
    with database.read() as connection:
        assert open_store(connection).receipts.totals().receipts == 3  # content stays
        assert {one.pin: one.height for one in OnChain(connection).of(ids).values()}.keys() == set(
            ids[1:]
        )


def test_a_list_that_fails_takes_nothing_away(database: Database, here: World) -> None:
    for number in range(3):
        pin(here, number, payload(number))
    here.net.mine()
    imported(database, here)
    here.net.reorg(1, drop=[here.net.pins(PATH)[0].id], fate="gone")
    here.net.faults(error_500=1.0, only="/api/pin/path/list")
    failed = imported(database, here)
    assert (failed.is_complete, failed.vanished) == (False, 0)
    assert len(on_chain(database)) == 3
    here.net.faults()
    assert imported(database, here).vanished == 1
    assert places(database) == truth(here)


def test_a_pin_that_moves_to_where_it_is_no_receipt_is_one_no_more(
    database: Database, here: World
) -> None:
    """Its asOf is just not too late for the block, and too late for the one before."""
    here.net.mine(3)
    block_time = here.net.tip.time + BLOCK_SECONDS
    as_of = later("1970-01-01T00:00:00Z", block_time + BLOCK_TIME_SECONDS + SKEW_SECONDS)
    pin(here, 0, payload(1, as_of))
    here.net.mine()
    assert imported(database, here).new == 1
    here.net.reorg(2, shift=-1)
    moved = imported(database, here)
    assert [[p.code for p in one.errors] for one in moved.refusals] == [["E_ASOF_FUTURE"]]
    assert moved.vanished == 1
    assert on_chain(database) == []


def test_a_pin_that_somebody_modified_is_what_was_pinned_first(
    database: Database, here: World
) -> None:
    first = pin(here, 0, payload(1))
    here.net.mine()
    here.net.pin(here.keys[1], f"@{first}", payload(2), "modify")
    here.net.pin(here.keys[1], f"@{first}", b"", "revoke")
    here.net.mine()
    assert imported(database, here, txs=here.txs()).new == 1
    (only,) = on_chain(database)
    assert only.receipt == check(record(1), NOW).receipt_hash


class Lying:
    """A transport behind which an indexer changes one word of the bodies that it lists."""

    def __init__(self, here: World, old: bytes, new: bytes) -> None:
        self._inner = here.transport
        self._words = (old, new)

    @property
    def requests(self) -> int:
        return self._inner.requests

    @property
    def bytes_received(self) -> int:
        return self._inner.bytes_received

    def get(
        self, url: str, *, headers: Mapping[str, str] = {}, max_bytes: int | None = None
    ) -> Fetched:
        fetched = self._inner.get(url, headers=headers, max_bytes=max_bytes)
        if "/pin/path/list" not in url:
            return fetched
        answer = json.loads(fetched.body)
        for row in answer["data"]["list"] or ():
            body = b64decode(row["contentBody"]).replace(*self._words)
            row["contentBody"] = b64encode(body).decode()
        return msgspec.structs.replace(fetched, body=json.dumps(answer).encode())


def test_an_indexer_that_changes_a_word_is_found_out_by_the_transaction(
    database: Database, here: World
) -> None:
    pin(here, 0, payload(1))
    here.net.mine()
    lying = Lying(here, b"Question 1", b"Question 2")
    man = ManClient(lying, here.url, sleep=lambda _seconds: None)
    found = import_receipts(database, man, NOW, txs=here.txs())
    assert [[p.code for p in one.errors] for one in found.refusals] == [["pin-altered"]]
    assert on_chain(database) == []
    # Without transactions nobody could tell: it comes under a name of its own.
    assert import_receipts(database, man, NOW).new == 1
    assert on_chain(database)[0].receipt == check(record(2), NOW).receipt_hash


def test_a_receipt_that_was_sent_and_is_pinned_later_gets_its_pin(
    database: Database, here: World
) -> None:
    with database.write() as connection:
        open_store(connection).receipts.put(payload(7), NOW, Origin("posted"))
    pin(here, 0, payload(7))
    here.net.mine()
    assert (imported(database, here).new, imported(database, here).known) == (0, 1)
    assert places(database) == truth(here)


STEPS = st.lists(
    st.sampled_from(["pin", "same", "bad", "mine", "shift", "drop", "gone", "import"]),
    min_size=4,
    max_size=12,
)


@settings(
    max_examples=8,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
    deadline=None,
)
@given(STEPS)
def test_whatever_happened_on_the_chain_the_store_says_what_stands_there(
    database: Database, steps: list[str]
) -> None:
    wipe(database)
    with world() as here:
        here.net.mine(4)
        for number, step in enumerate(steps):
            if step == "import":
                imported(database, here)
            elif step in {"pin", "same", "bad"}:
                body = {"pin": payload(number), "same": payload(0), "bad": b"{}"}[step]
                pin(here, number % 3, body)
            elif step == "mine":
                here.net.mine(order="shuffled")
            else:
                ids = [one.id for one in here.net.pins(PATH) if one.height]
                lost = ids[-1:] if step in {"drop", "gone"} else []
                fate: Literal["gone", "mempool"] = "gone" if step == "gone" else "mempool"
                height = here.net.height - 2
                if not lost or any(
                    (one.height or 0) > height for one in here.net.pins(PATH) if one.id in lost
                ):
                    here.net.reorg(2, drop=lost, fate=fate, shift=int(step == "shift"))
        imported(database, here)
        assert places(database) == truth(here)

"""Laws of `refold.metaid.store.merge`, without any database."""

from hashlib import sha256

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from contract.samples import A, B, pin, pin_id
from refold.metaid.pin import Pin
from refold.metaid.store import NOWHERE, Held, State, Written
from refold.metaid.store.merge import Batch

VARIED: list[tuple[str, list[object]]] = [
    ("height", [None, 1, 2]),
    ("tx_index", [0, 1]),
    ("sender", ["", "idq1x", "idq1y"]),
    ("body", [b"one", b"another"]),
    ("version", ["", "1.0", "2.0"]),
    ("status", [0, 1, -1]),
    ("history", [(), (pin_id(1), pin_id(2))]),
]
copies = st.fixed_dictionaries({name: st.sampled_from(values) for name, values in VARIED}).map(
    lambda varied: msgspec.structs.replace(pin(1), **varied)
)
"""Copies of one pin."""


def take(batch: Batch, copy: Pin) -> Written:
    return batch.take(copy, sha256(copy.body).hexdigest())


def held(copy: Pin) -> dict[str, Held]:
    """Give a copy as a store would, without its body."""
    bare = msgspec.structs.replace(copy, body=b"")
    state: State = "mempool" if copy.height is None else "confirmed"
    return {copy.id: Held(bare, sha256(copy.body).hexdigest(), len(copy.body), A, state)}


def batch_with(first: Pin) -> Batch:
    return Batch({}, held(first), B) if first.height is None else Batch(held(first), {}, B)


@given(copies)
def test_a_copy_taken_again_changes_nothing(copy: Pin) -> None:
    batch = batch_with(copy)
    assert take(batch, copy).outcome == "same"
    written = (batch.added, batch.changed, batch.waiting_put, batch.waiting_gone)
    assert [bool(part) for part in (*written, batch.moves, batch.conflicts)] == [False] * 6


@given(copies, st.lists(copies, min_size=1))
def test_a_pin_stands_where_the_last_word_of_a_block_says(first: Pin, others: list[Pin]) -> None:
    batch = batch_with(first)
    words = [take(batch, copy) for copy in others]
    placed = [copy for copy in (first, *others) if copy.height is not None]
    last = (placed[-1].height, placed[-1].tx_index) if placed else NOWHERE
    assert words[-1].after == last


@given(copies, st.lists(copies, min_size=1))
def test_what_was_said_of_what_never_changes_is_never_unsaid(first: Pin, others: list[Pin]) -> None:
    """Unless it was said in the mempool, and a block says otherwise."""
    if first.height is None:
        first = msgspec.structs.replace(first, height=0)
    batch = batch_with(first)
    for copy in others:
        take(batch, copy)
    kept = batch.changed.get(first.id, held(first)[first.id])
    assert kept.sha256 == sha256(first.body).hexdigest()
    for name in ("path", "sender", "version"):
        said = getattr(first, name)
        assert not said or getattr(kept.pin, name) == said


@given(copies, copies)
def test_every_contradiction_is_noted_with_both_sources(first: Pin, other: Pin) -> None:
    batch = batch_with(first)
    word = take(batch, other)
    contradicts = first.body != other.body or any(
        getattr(first, name)
        and getattr(other, name)
        and getattr(first, name) != getattr(other, name)
        for name in ("sender", "version")
    )
    replaces = first.height is None and other.height is not None
    assert bool(word.differs) == bool(batch.conflicts) == (contradicts and not replaces)
    for met in batch.conflicts:
        assert (met.kept_source, met.source, met.differs) == (A, B, word.differs)

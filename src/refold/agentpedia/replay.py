"""Replay: from the bytes of a document, or of indexer rows, to a view."""

from collections.abc import Callable

import msgspec

from refold.agentpedia.fold import Fold
from refold.agentpedia.intake import Stream, check_payloads, read_stream
from refold.agentpedia.rules import PRD, Rules
from refold.agentpedia.view import View

STEP = 10_000
"""Events between two calls of a progress function: often for an eye, rare for the fold."""


def prepare(
    data: bytes, rules: Rules = PRD, *, schema: bool = True, genesis_pin: str | None = None
) -> Stream:
    """Read and check a stream: a document `{events, options}`, or indexer rows as JSON lines.

    `schema`: whether envelope, schema and content gates are on; under `deployed` they are off in
    any case (spec §3). `genesis_pin` goes before the document's own. Raises `InputError`.
    """
    gates = schema and rules.gates
    stream = read_stream(data, gates=gates)
    if gates:
        check_payloads(stream)
    if genesis_pin is not None:
        stream.options = msgspec.structs.replace(stream.options, genesis_pin=genesis_pin)
    return stream


def fold_stream(
    stream: Stream, rules: Rules = PRD, progress: Callable[[int, int], None] | None = None
) -> Fold:
    """Fold a whole stream; `progress(done, all)` is called every `STEP` events."""
    fold = Fold(rules, stream.options)
    events = stream.events
    for start in range(0, len(events), STEP):
        fold.apply_many(events[start : start + STEP], stream.faults)
        if progress is not None:
            progress(min(start + STEP, len(events)), len(events))
    return fold


def replay(
    data: bytes,
    rules: Rules = PRD,
    *,
    schema: bool = True,
    genesis_pin: str | None = None,
    tip: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> View:
    """Read, check and fold, and give the view at `tip`, by default one above the last event.

    The other arguments are those of `prepare` and `fold_stream`. Raises `InputError` with every
    problem of the input.
    """
    stream = prepare(data, rules, schema=schema, genesis_pin=genesis_pin)
    fold = fold_stream(stream, rules, progress)
    tip = fold.tip if tip is None else tip
    fold.advance(tip)  # in place: nobody folds on from here, so no copy is needed
    return fold.view(tip, stream.pending)

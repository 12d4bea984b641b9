"""Pins that are listed and could not be read: asked for again, one by one, below every window."""

from concurrent.futures import ThreadPoolExecutor

from refold.metaid.man.bodies import Missing
from refold.metaid.man.overlap import Place
from refold.metaid.pin import Pin
from refold.metaid.store import Gap, open_store
from refold.metaid.sync.plan import is_due
from refold.metaid.sync.walker import Context, refused

BATCH = 100
"""Pins that are asked for before the answers are stored."""


def close(context: Context, gaps: list[Gap]) -> int:
    """Ask for the pins that are due; store those that come, and the others as tried; give both."""
    due = [gap for gap in gaps if is_due(gap, context.now)]
    with ThreadPoolExecutor(context.settings.parallel) as pool:
        for start in range(0, len(due), BATCH):
            batch = due[start : start + BATCH]
            answers = list(pool.map(context.bodies.fetch, [gap.pin for gap in batch]))
            for path in sorted({gap.path for gap in batch}):
                told = [
                    _of_path(gap, answer)
                    for gap, answer in zip(batch, answers, strict=True)
                    if gap.path == path
                ]
                _store(context, path, told)
    return len(due)


def _of_path(gap: Gap, answer: Pin | Missing) -> Pin | Missing:
    """Take no pin of another path than the list had it at."""
    if isinstance(answer, Pin):
        if answer.path == gap.path:
            return answer
        return Missing(gap.pin, gap.height, "other-path", f"pin {gap.pin} is of another path")
    return Missing(gap.pin, gap.height, answer.code, answer.message)


def _store(context: Context, path: str, told: list[Pin | Missing]) -> None:
    pins = [one for one in told if isinstance(one, Pin)]
    missing = [one for one in told if isinstance(one, Missing)]
    with context.database.write() as connection:
        store = open_store(connection)
        standings = store.pins.standing([pin.id for pin in pins])
        written = store.pins.write(pins, context.name, context.rivals)
        missing += refused(written)
        store.marks.put_gaps(context.name, path, missing, context.now)
        # What is in the mempool again was read, though the list had it in a block.
        read = {pin.id for pin in pins} - {entry.id for entry in missing}
        store.marks.close_gaps(context.name, sorted(read))
    context.gaps.difference_update(read)
    said = {pin.id: Place(pin.height, pin.tx_index) for pin in pins}
    context.took(path, written, said, standings)

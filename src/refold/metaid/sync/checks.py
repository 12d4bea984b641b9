"""What became of pins that a walk should have listed and did not: each is asked for by itself.

"Success, empty" is no proof of absence. A pin counts as gone when the indexer answers that it does
not know it, has come to the height where the pin stood, and knows others; and then it is kept, and
comes back when anybody lists it.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from refold.kernel.errors import RefoldError
from refold.metaid.man.bodies import Missing
from refold.metaid.man.overlap import Place, place_of
from refold.metaid.pin import Pin
from refold.metaid.store import NOWHERE, Standing, open_store
from refold.metaid.sync.compare import is_to_be_asked, unlisted
from refold.metaid.sync.walker import Context, Walker, refused


class Checked(msgspec.Struct, frozen=True):
    """How many pins were asked for, and those that could not be; `lowest` height that changed."""

    asked: int = 0
    unchecked: tuple[Missing, ...] = ()


class _Answers(msgspec.Struct):
    """What details said."""

    unknown: list[str] = []
    moves: list[tuple[str, Place]] = []
    pins: list[Pin] = []
    unchecked: list[Missing] = []
    known: int = 0


def check(
    context: Context, path: str, walker: Walker, height: int | None, *, knows_pins: bool
) -> Checked:
    """Ask what became of pins that a walk from the front should have listed; store the answers.

    `height` is the one that the indexer said before the walk, `knows_pins` whether it counts any.
    """
    floor = walker.leg.floor or 0
    if walker.lowest is not None:
        floor = min(floor, walker.lowest)  # a change that deep may have taken more with it
    with context.database.read() as connection:
        pins = open_store(connection).pins
        lacking = unlisted(pins.places_from(floor, path), walker.listed, floor)
        standings = pins.standing([pin_id for pin_id, _ in lacking])
    to_ask: list[str] = []
    for pin_id, place in lacking:
        standing = standings[pin_id]
        is_reached = place.height is None or height is None or place.height <= height
        if is_to_be_asked(standing, context.name, context.rivals):
            if is_reached:
                to_ask.append(pin_id)
        elif is_reached and place.height is not None:
            context.disagreements.note(
                context.name,
                pin_id,
                standing,
                path=path,
                about=("unlisted",),
                said=NOWHERE if pin_id in walker.listed else None,
            )
    limit = context.settings.checks
    answers = _ask(context, to_ask[:limit], standings)
    answers.unchecked += [
        Missing(pin_id, standings[pin_id].place.height, "check-limit", f"over {limit} to ask for")
        for pin_id in to_ask[limit:]
    ]
    if not (knows_pins or answers.known or walker.listed):
        # It knows none of the pins that it gave before: it has lost them, and not the chain.
        answers.unchecked += [
            Missing(pin_id, standings[pin_id].place.height, "indexer-empty", "it knows no pin")
            for pin_id in answers.unknown
        ]
        answers.unknown = []
    _store(context, path, answers, standings)
    _close_gaps(context, path, walker, floor)
    return Checked(min(len(to_ask), limit), tuple(answers.unchecked))


def _ask(context: Context, pin_ids: Sequence[str], standings: dict[str, Standing]) -> _Answers:
    answers = _Answers()

    def ask(pin_id: str) -> Place | Pin | Missing | None:
        standing = standings[pin_id]
        try:
            row = context.source.man.pin(pin_id)
            if row is None:
                return None
            place = place_of(row)
            if standing.state == "mempool" and place.height is not None:
                return context.bodies.of_detail(row)  # confirmed: its copy out of the block
        except RefoldError as error:
            return Missing(pin_id, standing.place.height, error.code, error.message)
        return place

    with ThreadPoolExecutor(context.settings.parallel) as pool:
        for pin_id, answer in zip(pin_ids, pool.map(ask, pin_ids), strict=True):
            match answer:
                case None:
                    answers.unknown.append(pin_id)
                case Missing():
                    answers.unchecked.append(answer)
                case Pin():
                    answers.known += 1
                    answers.pins.append(answer)
                case _:
                    answers.known += 1
                    if answer != standings[pin_id].place:
                        answers.moves.append((pin_id, answer))
    return answers


def _store(context: Context, path: str, answers: _Answers, standings: dict[str, Standing]) -> None:
    if not (answers.unknown or answers.moves or answers.pins):
        return
    name, rivals = context.name, context.rivals
    with context.database.write() as connection:
        store = open_store(connection)
        written = store.pins.move(answers.moves, name, rivals)
        written += store.pins.write(answers.pins, name, rivals)
        written += store.pins.vanish(answers.unknown, name, rivals)
        store.marks.put_gaps(name, path, refused(written), context.now)
    said = {pin.id: Place(pin.height, pin.tx_index) for pin in answers.pins}
    context.took(path, written, said | dict(answers.moves), standings)


def _close_gaps(context: Context, path: str, walker: Walker, floor: int) -> None:
    """Forget unread pins that the walk should have listed, and that their details do not know."""
    with context.database.write() as connection:
        marks = open_store(connection).marks
        gone = [
            gap.pin
            for gap in marks.gaps(context.name)
            if gap.path == path
            and gap.code == "pin-unknown"
            and gap.pin not in walker.listed
            and (gap.height is None or gap.height >= floor)
        ]
        marks.close_gaps(context.name, gone)
    context.gaps.difference_update(gone)

"""A writer to be killed, and what must be there afterwards. Run by `test_crash`.

    python crashing.py write URL    takes step after step, and prints the number of each
    python crashing.py each URL     dies before each statement and each commit of the first opening
                                    and of some steps, and looks after each death

Step k is the same whoever takes it: pins that are new, move, wait, are confirmed, vanish, are
rolled back, with anchors, facts and cursor. The cursor says which step was the last.
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from sqlalchemy import Connection, Engine, event

from contract.model import Model
from contract.samples import REV, A, pin, pin_id
from refold.db import Database
from refold.metaid.man.overlap import Place
from refold.metaid.pin import Pin
from refold.metaid.store import Anchor, ContentFact, Cursor, Moved, Store, open_store

CLEAN = 0

LAST = 5
"""The step that `each` ends with."""


def copies(step: int) -> list[Pin]:
    """Give what a step writes."""
    return [
        *(pin(step * 5 + number, step, number) for number in range(5)),
        pin(step * 5 - 5, step, 9),
        pin(1_000_000 + step, None),
        pin(1_000_000 + step - 1, step, 10),
        pin(step * 5, step, 0, body=b"a conflict"),
    ]


def take(store: Store, step: int) -> None:
    """Take one step."""
    store.pins.write(copies(step), A)
    if step % 3 == 0:
        store.pins.roll_back(step - 2, A)
    if step % 4 == 0:
        store.pins.vanish([pin_id(step * 5 + 1)], A)
        store.pins.move([(pin_id(step * 5 + 2), Place(step, 77))], A)
    store.marks.put_anchors([Anchor(A, step, "block", f"{step}")])
    store.facts.put_content(
        [ContentFact(pin=pin_id(step), uri="", expected="", state="verified", tries=step)]
    )
    store.marks.put_cursor(Cursor(A, REV, str(step)))


def model_of(last: int) -> Model:
    """Give what must be there after a step."""
    model = Model()
    for step in range(1, last + 1):
        for copy in copies(step):
            model.write(copy, A)
        if step % 3 == 0:
            model.roll_back(step - 2, A)
        if step % 4 == 0:
            model.vanish(pin_id(step * 5 + 1), A)
            model.move(pin_id(step * 5 + 2), Place(step, 77), A)
    return model


def last_step(store: Store) -> int:
    """Give the number of the last step that was committed."""
    cursor = store.marks.cursor(A, REV)
    return int(cursor.cursor) if cursor else 0


def take_next(connection: Connection) -> int:
    """Take the step after the last one; give its number."""
    store = open_store(connection)
    step = last_step(store) + 1
    take(store, step)
    return step


def check(url: str) -> int:
    """Open a database as after a crash; compare all with the step that it says; give the step."""
    with Database.open(url) as database, database.read() as connection:
        store = open_store(connection)
        last = last_step(store)
        model = model_of(last)
        compare("confirmed", list(store.pins.confirmed()), model.confirmed())
        compare("pending", list(store.pins.pending()), model.pending())
        compare("conflicts", len(store.pins.conflicts()), len(model.conflicts))
        for pin_id_, moves in model.moves.items():
            compare("moves", store.pins.moves(pin_id_), [Moved(*move) for move in moves])
        bodies: set[object] = {copy.pin.body for copy in model.blocks.values()}
        bodies |= {copy.pin.body for copy in model.mempool.values()}
        bodies |= {told[-1] for told, _, _ in model.conflicts}
        compare("bodies", store.pins.counts().bodies, len(bodies))
        facts = [pin_id(step) for step in range(1, last + 1)]
        compare("facts", sorted(store.facts.content_states()), sorted(facts))
        anchored = {step for step in range(1, last + 1) if not is_rolled_back(step, last)}
        compare("anchors", {anchor.height for anchor in store.marks.anchors(A)}, anchored)
        if connection.dialect.name == "sqlite":
            for pragma, right in (("integrity_check", [("ok",)]), ("foreign_key_check", [])):
                found = [tuple(row) for row in connection.exec_driver_sql(f"PRAGMA {pragma}")]
                compare(pragma, found, right)
    return last


def is_rolled_back(step: int, last: int) -> bool:
    """Tell whether a later step takes a height back: the anchor of its own step comes after."""
    return any(later - 2 < step < later for later in range(3, last + 1, 3))


def compare(what: str, found: object, right: object) -> None:
    """Stop with what differs."""
    if found != right:
        sys.exit(f"{what}: {found!r} instead of {right!r}")


def write(url: str) -> None:
    """Write step after step, until killed."""
    with Database.open(url) as database:
        print("open", flush=True)
        while True:
            with database.write() as connection:
                step = take_next(connection)
            print(step, flush=True)


def die() -> None:
    """End as `kill -9` ends a process."""
    os.kill(os.getpid(), signal.SIGKILL)


def dies_at(count: int, job: Callable[[], None]) -> bool:
    """Do a job in a process that dies before its n-th statement or commit; tell whether it died."""
    child = os.fork()
    if child == 0:
        left = count

        def tick(*_: object) -> None:
            nonlocal left
            left -= 1
            if left == 0:
                die()

        event.listen(Engine, "before_cursor_execute", tick)
        event.listen(Engine, "commit", tick)
        job()
        os._exit(CLEAN)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return True
    if os.WEXITSTATUS(status) != CLEAN:
        sys.exit(f"the child failed: {status}")
    return False


def one_step(url: str) -> None:
    """Take the next step."""
    with Database.open(url) as database, database.write() as connection:
        take_next(connection)


def each(url: str) -> None:
    """Die everywhere: first while the tables are made, then in steps of every kind."""
    at = 1
    # Each opening begins where the one before died: with nothing, or it would fail.
    while dies_at(at, lambda: Database.open(url).close()):
        at += 1
    print("opening", at - 1, flush=True)
    for step in range(1, LAST + 1):
        if step in {3, 4}:  # one rolls back, the other moves pins and lets one vanish
            at = 1
            while dies_at(at, lambda: one_step(url)):
                at += 1
                compare("step", check(url), step - 1)
            print("step", step, at - 1, flush=True)
        else:
            one_step(url)
        compare("step", check(url), step)


if __name__ == "__main__":
    {"write": write, "each": each}[sys.argv[1]](sys.argv[2])

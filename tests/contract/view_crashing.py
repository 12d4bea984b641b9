"""A writer of pins and views to be killed, and what must be there then. Run by `test_views_crash`.

    python view_crashing.py URL    dies before each statement and each commit of some steps

A step is two transactions: pins first, then the view, which catches up with them. Step k brings the
k-th block of one random stream; a process that begins folds what was folded before once more.
"""

import sys
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from contract import crashing
from contract.crashing import compare, dies_at
from contract.viewed import Followed, blocks_of, digest_in, world
from refold.agentpedia.digest import LiveDigest
from refold.agentpedia.store import Folded, KeptDigest, Snapshot, open_views, pack, writer
from refold.db import Database
from refold.metaid.store import Position, open_store

SOURCE = world(7, "transfer")
BLOCKS = blocks_of(SOURCE)
FORMAT, OPTIONS = 1, "options"
LAST = 6
"""The step in which the writer dies; those before it are there."""
writer.BATCH_ROWS = 40


def followed_to(step: int) -> Followed:
    """Give the fold after a step."""
    followed = Followed(SOURCE)
    for height, block in BLOCKS[:step]:
        followed.take(height, block)
    return followed


def step_of(folded: Folded | None) -> int:
    """Give the last step of which the view was committed."""
    tips = [height + 1 for height, _ in BLOCKS]
    return 0 if folded is None else tips.index(folded.height) + 1


def take_pins(database: Database) -> int:
    """Take the pins of the next step, unless they are ahead already; give its number."""
    with database.write() as connection:
        step = step_of(open_views(connection).marks.folded()) + 1
        if crashing.last_step(open_store(connection)) < step:
            crashing.take(open_store(connection), step)
    return step


def take_view(database: Database, step: int) -> None:
    """Let the view catch up with a step."""
    followed = followed_to(step - 1)
    with database.write() as connection:
        views = open_views(connection)
        if step > 1:
            lines = views.values.lines()
            followed.fold.advance(followed.tip)
            followed.live = LiveDigest.resume(followed.fold, lines, followed.tip)
        followed.take(*BLOCKS[step - 1])
        with views.writing() as sink:
            digest = followed.tell(sink)
            for key in followed.fold.state.keys:
                sink.put_links(key, str(step), [key])
        height, last = followed.tip, Position(*followed.fold.state.last)
        views.marks.put_folded(Folded("prd", OPTIONS, height, last, digest))
        views.marks.put_digest(KeptDigest(height, digest, step, followed.live.line_count))
        views.snapshots.drop(height - 1)
        views.snapshots.put(pack(Snapshot(height, FORMAT, OPTIONS, followed.fold.snapshot())))


def one_step(url: str) -> None:
    """Take the next step."""
    with Database.open(url) as database:
        take_view(database, take_pins(database))


def check(url: str) -> tuple[int, int]:
    """Compare all with the steps that were committed; give that of the pins and of the view."""
    with Database.open(url) as database, database.read() as connection:
        pins = crashing.last_step(open_store(connection))
        views = open_views(connection)
        folded = views.marks.folded()
        step = step_of(folded)
        compare("pins are ahead by", pins - step in {0, 1}, right=True)
        compare("wrong", list(views.values.wrong()), [])
        if folded is None:
            compare("lines", list(views.values.lines()), [])
            return pins, step
        followed = followed_to(step)
        right = followed.fold.view(followed.tip).digest()
        compare("digest", (digest_in(views), folded.digest), (right, right))
        noted = views.marks.digest(folded.height)
        compare("digest of the height", noted and (noted.digest, noted.events), (right, step))
        found = views.snapshots.newest(folded.height, FORMAT, OPTIONS)
        compare("damaged", found.damaged, [])
        compare("snapshot", found.snapshot and found.snapshot.height, folded.height)
        for key in followed.fold.state.keys:
            links = views.reading.backlinks(key, 9).items
            compare("links", list(links), [(key, str(step))])
    return pins, step


def each(url: str) -> None:
    """Die everywhere in the last step."""
    Database.open(url).close()
    for step in range(1, LAST + 1):
        if step == LAST:
            at = 1
            while dies_at(at, partial(one_step, url)):
                at += 1
                pins, view = check(url)
                compare("steps", (pins in {step - 1, step}, view), (True, step - 1))
            print("step", step, at - 1, flush=True)
        else:
            one_step(url)
        compare("steps", check(url), (step, step))


if __name__ == "__main__":
    each(sys.argv[1])

"""The sync on SQLite and on PostgreSQL: the same rounds, killed at any moment."""

import signal
import subprocess
import sys
from pathlib import Path
from random import Random
from time import sleep

from cli.terminal import MINUTE, environment
from contract import syncing
from metaid.syncs import Node, source, truth_of
from metaid.worlds import OTHER, PATH, populate, world
from refold.db import Database

PROGRAM = str(Path(syncing.__file__))
KILLS = 6


def test_a_sync_follows_blocks_reorganisations_and_the_mempool(database: Database) -> None:
    with world() as here:
        here.net.quirks("man-p2p", ignores_reorgs=False)
        here.ids = populate(here, blocks=5)
        node = Node(database, [source(here)], (PATH, OTHER))
        assert node.round().pins.new == len(truth_of(here, node.paths))
        node.changed_from()
        here.net.mine()
        report = node.round()
        assert report.pins.confirmed == 5
        assert node.changed_from() == report.height == here.net.height
        top = [pin.id for pin in here.net.pins(PATH) if pin.height == here.net.height]
        done = here.net.reorg(2, order="reversed", drop=top[:1], fate="gone")
        report = node.round()
        assert node.confirmed() == truth_of(here, node.paths)
        assert node.changed_from() == report.reorganised_from == done.fork + 1
        assert node.round().reorganised_from is None


def test_kill_9_at_random_moments_loses_nothing_and_goes_on(database_url: str) -> None:
    random = Random(9)
    with world() as here:
        here.net.quirks("man-p2p", ignores_reorgs=False)
        here.ids = populate(here)
        for number in range(KILLS):
            child = subprocess.Popen(
                [sys.executable, PROGRAM, database_url, here.url, PATH, OTHER],
                env=environment(),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            assert child.stdout
            for _ in range(random.randrange(2, 12)):
                child.stdout.readline()
            sleep(random.random() / 50)
            child.kill()
            rest, said = child.communicate(timeout=MINUTE)
            assert (child.returncode, said) == (-signal.SIGKILL, ""), rest
            if number % 2:
                here.write(4, start=1_000 + 10 * number)
                here.net.mine()
            else:
                here.net.reorg(1, order="shuffled")
        with Database.open(database_url) as database:
            node = Node(database, [source(here)], (PATH, OTHER))
            report = node.round()
            assert report.is_covered
            assert report.gaps == ()
            assert report.height == here.net.height
            assert node.confirmed() == truth_of(here, node.paths)
            waiting = {pin.id for pin in here.net.waiting(PATH)}
            assert {pin.id for pin in node.pending()} == waiting

"""`refold agentpedia sync` and `check` as real processes against a served chain: killed, stopped,
sent astray, and what they say and end with."""

import json
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import text

from cli.terminal import COMMAND, MINUTE, Answer, environment, is_plain, refold, refold_process
from contract.chainwiki import Bots, folded
from metaid.worlds import World, world
from refold.agentpedia.indexer import check_view
from refold.agentpedia.rules import PRD
from refold.agentpedia.state import Options
from refold.db import Database
from refold.kernel.errors import Exit
from refold.metaid.devnet.net import Devnet
from refold.metaid.store import open_store

LOOPBACK = ("--allow", "127.0.0.0/8")
NOWHERE = "http://127.0.0.1:9"
KILLS = 5


class Wiki:
    """A small wiki on a served chain, perhaps with a twin, and a database for it."""

    def __init__(self, worlds: list[World], url: str) -> None:
        self.worlds = worlds
        self.net: Devnet = worlds[0].net
        self.url = url
        for here in worlds:
            here.net.quirks("man-p2p", ignores_reorgs=False)
        self.bots = Bots([here.net for here in worlds], Random(5))
        for _ in range(12):
            self.bots.write(5)
            self.bots.mine()
        self.bots.write(3)

    def options(self, *more: str, database: str = "", indexers: int = 1) -> list[str]:
        asked = [part for here in self.worlds[:indexers] for part in ("--indexer", here.url)]
        given = ["--database", database or self.url, "--genesis", self.bots.genesis]
        return ["agentpedia", "sync", *asked, *LOOPBACK, *given, *more]

    def check(self, *more: str) -> Answer:
        given = ["--database", self.url, "--genesis", self.bots.genesis]
        return refold("agentpedia", "check", *given, *more)

    def digest(self) -> str:
        """Give the digest of the chain, as a node knows it who has no transactions.

        With texts from one server alone nothing is proven to be wrong.
        """
        options = Options(genesis_pin=self.bots.genesis)
        tip = self.net.height + 1
        return folded(self.net, options, tip).view(tip).digest()

    def is_right(self, answer: Answer) -> bool:
        view = answer.json["view"]
        return bool((view["digest"], view["height"]) == (self.digest(), self.net.height + 1))

    def started(self, *more: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [COMMAND, *self.options(*more)],
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def pins(self) -> int:
        """Count the pins that are stored so far."""
        try:
            with (
                Database.open(self.url, readonly=True) as database,
                database.read() as connection,
            ):
                return sum(open_store(connection).pins.counts().confirmed.values())
        except Exception:  # noqa: BLE001 - not made yet
            return 0


@pytest.fixture
def wiki(tmp_path: Path) -> Iterator[Wiki]:
    with world() as here:
        yield Wiki([here], f"sqlite:///{tmp_path}/refold.db")


@pytest.fixture
def twins(tmp_path: Path) -> Iterator[Wiki]:
    with world() as here, world() as other:
        yield Wiki([here, other], f"sqlite:///{tmp_path}/refold.db")


def test_kill_9_at_random_moments_and_in_the_end_the_view_is_the_chains(wiki: Wiki) -> None:
    random = Random(7)
    wiki.net.faults(delay=1.0, delay_seconds=0.02)
    started = time.monotonic()
    other = wiki.url.replace("refold.db", "other.db")
    answer = refold_process(*wiki.options("--format", "json", database=other))
    whole = time.monotonic() - started
    assert (answer.code, answer.err) == (Exit.DONE, "")
    assert wiki.is_right(answer)
    for number in range(KILLS):
        child = wiki.started()
        time.sleep(random.uniform(0.3, 1.0) * whole)
        child.kill()
        _, said = child.communicate(timeout=MINUTE)
        assert said == ""
        if wiki.pins():
            with Database.open(wiki.url, readonly=True) as database:
                options = Options(genesis_pin=wiki.bots.genesis)
                checked = check_view(database, PRD, options)
            assert checked is None or checked.is_behind or checked.is_right
        if number % 2:
            wiki.net.reorg(random.randint(1, 6), order="shuffled")
        else:
            wiki.bots.write(4)
            wiki.bots.mine()
    answer = refold_process(*wiki.options("--format", "json"))
    assert (answer.code, answer.err) == (Exit.DONE, "")
    assert wiki.is_right(answer)
    assert wiki.check().code == Exit.DONE


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_in_the_first_walk_ends_it_and_the_next_one_goes_on(
    wiki: Wiki, number: signal.Signals
) -> None:
    wiki.net.faults(delay=1.0, delay_seconds=0.5)
    child = wiki.started("--format", "json")
    while child.poll() is None and not wiki.pins():
        time.sleep(0.01)
    child.send_signal(number)
    out, said = child.communicate(timeout=MINUTE)
    assert (child.returncode, said) == (Exit.INTERRUPTED, "")
    turn = json.loads(out)
    assert (turn["view"], turn["report"]["height"]) == (None, None)
    before = wiki.pins()
    assert before > 0
    assert refold("agentpedia", "check", "--database", wiki.url).code == Exit.USAGE
    wiki.net.faults()
    answer = refold(*wiki.options("--format", "json"))
    assert answer.code == Exit.DONE
    assert wiki.is_right(answer)
    assert answer.json["report"]["pins"]["new"] == wiki.pins() - before > 0


def test_following_goes_on_until_a_signal_and_ends_cleanly(wiki: Wiki) -> None:
    child = wiki.started("--follow", "--format", "json")
    assert child.stdout
    turn = json.loads(child.stdout.readline())
    assert turn["view"]["digest"] == wiki.digest()
    assert turn["lag"] == 0
    second = refold(*wiki.options())
    assert (second.code, second.out) == (Exit.SOURCE, "")
    assert second.err.startswith("refold: database-held: ")
    assert wiki.check().code == Exit.DONE
    child.send_signal(signal.SIGTERM)
    rest, said = child.communicate(timeout=MINUTE)
    assert (child.returncode, rest, said) == (Exit.DONE, "", "")


def test_the_file_is_whole_when_nobody_has_it_open(wiki: Wiki, tmp_path: Path) -> None:
    assert refold_process(*wiki.options()).code == Exit.DONE
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["refold.db", "refold.db.indexer.lock"]


def test_what_an_operator_reads(wiki: Wiki) -> None:
    answer = refold_process(*wiki.options("--measure"))
    assert (answer.code, answer.err) == (Exit.DONE, "")
    first, *_ = answer.out.splitlines()
    assert first.startswith(f"height {wiki.net.height:,}  lag 0  digest {wiki.digest()}  ")
    assert "D-1 a whole rebuild: " in answer.out
    assert "D-1 an incremental" not in answer.out
    assert "no genesis is named" not in answer.out
    assert is_plain(answer.out)
    again = refold(*wiki.options("--measure")).out
    assert again.splitlines()[0].split("  ")[:3] == first.split("  ")[:3]
    assert ", 0 of them now" in again
    assert "D-1 an incremental round: " in again
    assert "whole rebuild" not in again
    wiki.bots.write(4)
    wiki.net.mine()
    wiki.net.reorg(2, order="shuffled")
    assert ", folded again from " in refold(*wiki.options()).out


def test_an_indexer_that_is_not_there(wiki: Wiki) -> None:
    """One line where none answers; where another one does, its pins are folded all the same."""
    away = ["agentpedia", "sync", "--indexer", NOWHERE, *LOOPBACK, "--database", wiki.url]
    answer = refold_process(*away)
    assert (answer.code, answer.out) == (Exit.SOURCE, "")
    assert answer.err.startswith(f"refold: connect-failed: {NOWHERE}")
    assert len(answer.err.splitlines()) == 1

    answer = refold(*wiki.options("--indexer", NOWHERE))
    assert (answer.code, answer.err) == (Exit.SOURCE, "")
    assert f"digest {wiki.digest()}" in answer.out
    assert f"{NOWHERE}: connect-failed: " in answer.out


def test_two_indexers_that_agree_and_that_do_not(twins: Wiki) -> None:
    answer = refold(*twins.options("--format", "json", indexers=2))
    assert answer.code == Exit.DONE
    assert twins.is_right(answer)
    assert answer.json["report"]["disagreements"] == []
    other = twins.worlds[1].net
    other.reorg(3, order="reversed")
    twins.net.mine()
    text_said = refold(*twins.options(indexers=2)).out
    first, second = (here.url for here in twins.worlds)
    assert f"{second} against {first}: place" in text_said
    answer = refold(*twins.options("--format", "json", indexers=2))
    assert {one["indexer"] for one in answer.json["report"]["disagreements"]} == {second}
    assert answer.json["view"]["digest"] == twins.digest()
    assert twins.check().code == Exit.DONE


def test_wrong_usage_is_one_line(wiki: Wiki) -> None:
    url = wiki.worlds[0].url
    for given, code, exit_code in (
        (["--verify-authors"], "sync-transactions", Exit.USAGE),
        (["--indexer", url], "sync-sources", Exit.USAGE),
        (["--indexer", "nonsense"], "url-invalid", Exit.INPUT),
        (["--daily-lists", "0"], "usage", Exit.USAGE),
        (["--rules", "mine"], "usage", Exit.USAGE),
        (["--database", "mysql://a/b"], "database-url", Exit.USAGE),
    ):
        answer = refold(*wiki.options(*given))
        assert (answer.code, answer.out) == (exit_code, ""), code
        assert answer.err.startswith(f"refold: {code}: ")
        assert len(answer.err.splitlines()) == 1
    forbidden = refold("agentpedia", "sync", "--indexer", url, "--database", wiki.url)
    assert "address-forbidden" in forbidden.err


def test_authors_and_stakes_with_transactions(wiki: Wiki) -> None:
    """Stakes that are looked up make another view; `check` knows by itself which one is stored."""
    txs = ["--transactions", f"{wiki.worlds[0].url}/open-api-mvc"]
    answer = refold(*wiki.options("--format", "json", *txs, "--verify-authors"))
    assert answer.code == Exit.DONE
    authors: dict[str, Any] = answer.json["report"]["authors"]
    assert (authors["unproven"], authors["unchecked"], authors["left"]) == (0, 0, False)
    assert authors["proven"] >= wiki.pins() > 0
    checked = wiki.check()
    assert checked.code == Exit.DONE, checked.out
    assert refold(*wiki.options()).code == Exit.DONE
    assert wiki.check().code == Exit.DONE


def test_check_names_what_differs(wiki: Wiki) -> None:
    assert wiki.check().code == Exit.SOURCE
    assert wiki.check().err.startswith("refold: database-missing: ")
    Database.open(wiki.url).close()
    assert wiki.check().code == Exit.USAGE
    assert wiki.check().err.startswith("refold: view-empty: ")
    refold(*wiki.options())
    answer = wiki.check("--format", "json")
    assert (answer.code, answer.json["isRight"]) == (Exit.DONE, True)
    assert answer.json["stored"] == answer.json["folded"] == wiki.digest()

    with Database.open(wiki.url) as database, database.write() as connection:
        changed = "UPDATE agentpedia_editors SET value = '{}' WHERE key = :key"
        dropped = (
            "DELETE FROM agentpedia_reviews WHERE key = (SELECT min(key) FROM agentpedia_reviews)"
        )
        name = wiki.bots.founders[0].globalmetaid
        assert connection.execute(text(changed), {"key": name}).rowcount == 1
        assert connection.execute(text(dropped)).rowcount == 1
    answer = wiki.check()
    assert answer.code == Exit.NO
    assert answer.out.startswith("DIFFERS: ")
    assert f"  editor {name}: is damaged\n" in answer.out
    (lost,) = [line for line in answer.out.splitlines() if line.startswith("  review ")]
    assert ": stored None, folded " in lost
    found = wiki.check("--format", "json").json
    assert found["isRight"] is False
    assert [one["section"] for one in found["differences"]] == ["review", "editor"]
    # Nothing says so to a sync. Other rules make everything anew, and then the right ones.
    assert refold(*wiki.options()).code == Exit.DONE
    assert wiki.check().code == Exit.NO
    for rules in ("deployed", "prd"):
        assert refold(*wiki.options("--rules", rules)).code == Exit.DONE
    assert wiki.check().code == Exit.DONE


def test_check_with_other_rules_says_so(wiki: Wiki) -> None:
    refold(*wiki.options())
    answer = wiki.check("--rules", "deployed")
    assert answer.code == Exit.NO
    assert "made with another --rules or --genesis" in answer.out
    assert len(answer.out.splitlines()) < 40
    answer = wiki.check("--rules", "deployed", "--format", "json")
    assert answer.json["isSameKind"] is False


def test_pins_that_were_imported_since_are_told(wiki: Wiki, tmp_path: Path) -> None:
    refold(*wiki.options())
    file = tmp_path / "pins.jsonl"
    exported = refold("agentpedia", "export", "--database", wiki.url, "--confirmed").out
    row = json.loads(exported.splitlines()[-1])
    row["txIndex"] = row.get("txIndex", 0) + 500
    file.write_text(json.dumps(row), encoding="utf-8")
    assert refold("agentpedia", "import", str(file), "--database", wiki.url).code == Exit.DONE
    answer = wiki.check()
    assert "pins changed since: refold agentpedia sync folds them" in answer.out
    answer = refold(*wiki.options("--format", "json"))
    assert wiki.is_right(answer)

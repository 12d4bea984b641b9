"""Walks over every list as a coverage walk does it: by Link and id, to where the list says."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby

import msgspec
import pytest

from agentpedia.api.served import ORIGIN, Served, Stored, demo_pins, served
from cases.servers import BASE
from cases.walking import live
from refold.agentpedia.indexer import Indexer, indexing
from refold.coverage.match import compile_criterion
from refold.coverage.record import Replay
from refold.coverage.walk.drive import walk_source
from refold.coverage.walk.walked import Listed
from refold.db import Database
from refold.metaid.store import open_store

V1 = "/v1/agentpedia"
KEY = "en:anchor"


def paths_of(stored: Stored) -> dict[str, str]:
    """Give the path of every list, each with something in it if the demo has anything."""
    state = stored.fold.state
    editor = max(state.editors.values(), key=lambda one: len(one.endorsed_by)).id
    proposal = max(state.proposals.values(), key=lambda one: len(one.votes)).pin
    params = max(state.param_proposals.values(), key=lambda one: len(one.votes)).pin
    reviewed = max(state.reviews_of, key=lambda name: len(state.reviews_of[name]))
    disputed = state.records[state.versions[next(iter(state.challenges.values())).target].record]
    return {
        "entries": f"{V1}/entries?",
        "by title": f"{V1}/entries?sort=title&",
        "featured": f"{V1}/entries?sort=featured&",
        "in zh": f"{V1}/entries?lang=zh&",
        "history": f"{V1}/entries/{KEY}/history?",
        "from the oldest": f"{V1}/entries/{KEY}/history?order=oldest&",
        "backlinks": f"{V1}/entries/en:tide/backlinks?",
        "contests": f"{V1}/entries/{KEY}/contests?",
        "challenges": f"{V1}/entries/{disputed.keys[0]}/challenges?",
        "signals": f"{V1}/entries/{KEY}/signals?",
        "reviews": f"{V1}/versions/{reviewed}/reviews?",
        "search": f"{V1}/search?q=tide&",
        "editors": f"{V1}/editors?",
        "revs": f"{V1}/editors/{editor}/revs?",
        "proposals": f"{V1}/proposals?",
        "votes": f"{V1}/proposals/{proposal}/votes?",
        "param proposals": f"{V1}/param-proposals?",
        "votes on params": f"{V1}/param-proposals/{params}/votes?",
        "constitutions": f"{V1}/constitutions?",
        "graveyard": f"{V1}/graveyard?",
    }


def test_every_list_walks_to_its_end_with_every_size(server: Served, stored: Stored) -> None:
    for name, path in paths_of(stored).items():
        whole = server.walk(f"{path}limit=100")
        assert whole, name
        ids = [item["id"] for item in whole]
        assert len(set(ids)) == len(ids), name
        for size in (1, 7):
            some = [
                page
                for _, page in zip(range(40), server.pages(f"{path}limit={size}"), strict=False)
            ]
            found = [item for page in some for item in page]
            assert found == whole[: len(found)], name
            assert len(some) == 40 or len(found) == len(whole), name
            assert all(len(page) == size for page in some[:-1]), name


def test_the_coverage_walker_finds_every_list_whole(demo_url: str, stored: Stored) -> None:
    """The walker of the other protocol, pointed at us: it knows nothing of this API."""
    criterion = compile_criterion({"match": {"field": "", "op": "exists", "value": True}})
    with (
        Database.open(demo_url, readonly=True) as reader,
        served(reader, origin=BASE) as server,
        live(server.url) as transport,
    ):
        for name, path in paths_of(stored).items():
            recipe = {"kind": "HTTP_JSON", "url": f"{BASE}{path}limit=37", "arrayPath": "items"}
            listed = Listed(name, msgspec.convert(recipe, Replay), "")
            seen = walk_source(listed, criterion, transport).traversal
            whole = server.json(f"{path}limit=100")
            assert seen.reasons == (), name
            assert set(seen.ends) <= {"CURSOR_END", "SINGLE_PAGE"}, name
            assert seen.distinct == seen.rows, name
            assert seen.distinct >= len(whole["items"]), name
            if whole["nextCursor"] is None:
                assert seen.distinct == len(whole["items"]), name


@contextmanager
def growing(database: Database) -> Iterator[tuple[Indexer, Iterator[int]]]:
    """Give an indexer of half of the demo, and an iterator that lets a day more happen."""
    pins = [pin for pin in demo_pins() if pin.height is not None]
    days = [list(day) for _, day in groupby(pins, key=lambda pin: (pin.height or 0) // 144)]
    half = len(days) // 2

    with indexing(database) as indexer:

        def grow() -> Iterator[int]:
            for day in ([pin for some in days[:half] for pin in some], *days[half:]):
                with database.write() as connection:
                    open_store(connection).pins.write(day, "test")
                indexer.catch_up()
                yield len(day)

        growth = grow()
        next(growth)
        yield indexer, growth


@pytest.mark.parametrize("sort", ["featured", "title"])
def test_lists_walk_with_limit_1_while_others_write(
    sqlite_url: str, database: Database, sort: str
) -> None:
    """What is there all the time and keeps its place is met once."""
    with (
        growing(database) as (_, growth),
        Database.open(sqlite_url, readonly=True) as reader,
        served(reader) as server,
    ):
        path = f"{V1}/entries?sort={sort}&limit="
        before = server.walk(f"{path}100")
        met = []
        for page in server.pages(f"{path}1"):
            met += page
            if len(met) % 9 == 1:
                next(growth, None)
        after = server.walk(f"{path}100")
        kept = [item for item in before if item in after]
        assert kept
        assert [item["id"] for item in kept if met.count(item) != 1] == []
        assert len({msgspec.json.encode(item) for item in met}) == len(met)


def test_an_answer_that_is_known_costs_no_body(server: Served, stored: Stored) -> None:
    for path in paths_of(stored).values():
        first = server.get(f"{path}limit=3")
        again = server.get(f"{path}limit=3", if_none_match=first.headers["etag"])
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == first.headers["etag"]
    entry = server.get(f"{V1}/entries/{KEY}")
    assert server.get(f"{V1}/entries/{KEY}", if_none_match=entry.headers["etag"]).status_code == 304


def test_links_lead_to_the_public_origin(server: Served) -> None:
    answer = server.get(f"{V1}/entries?limit=1&lang=zh")
    url = answer.links["next"]["url"]
    assert url.startswith(f"{ORIGIN}{V1}/entries?limit=1&lang=zh&cursor=")


def test_no_answer_changes_the_etag_of_what_did_not_change(
    sqlite_url: str, database: Database
) -> None:
    with (
        growing(database) as (_, growth),
        Database.open(sqlite_url, readonly=True) as reader,
        served(reader) as server,
    ):
        one, two = (server.get(f"{V1}/proposals").headers["etag"] for _ in range(2))
        assert one == two
        next(growth)
        assert server.get(f"{V1}/proposals").headers["etag"] != one

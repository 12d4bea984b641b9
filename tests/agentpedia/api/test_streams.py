"""Random streams under both profiles: every route answers for all that is there."""

from itertools import count
from urllib.parse import quote

import pytest

from agentpedia.api.served import Served, Stored, served, store
from contract.databases import wipe
from contract.test_indexer import UNGATED, pins_of
from reference.streams import MODES
from refold.agentpedia import DEPLOYED, Rules
from refold.db import Database

V1 = "/v1/agentpedia"


@pytest.mark.parametrize("rules", [UNGATED, DEPLOYED], ids=["prd", "deployed"])
@pytest.mark.parametrize("mode", MODES)
def test_every_route_answers_for_all_that_is_there(
    database: Database, mode: str, rules: Rules
) -> None:
    """The first stream of a mode that has entries, with all that the view says crawled."""
    seeds = count()
    stored = store(database, *pins_of(next(seeds), mode), rules)
    while not stored.fold.state.keys:
        wipe(database)
        stored = store(database, *pins_of(next(seeds), mode), rules)
    with served(database) as server:
        crawl(server, stored)


def crawl(server: Served, stored: Stored) -> None:
    state = stored.fold.state
    for path in ("status", "rule-pack", "digest", "constitution"):
        server.json(f"{V1}/{path}")
    for path in ("entries", "editors", "proposals", "param-proposals", "constitutions"):
        assert server.walk(f"{V1}/{path}?limit=5") or path.endswith("proposals")
    for key in stored.names():
        at = f"{V1}/entries/{quote(key, safe='')}"
        entry = server.json(at)
        assert entry["displayHead"] == stored.view["entry", key]["displayHead"]
        for part in ("graph", "composition"):
            server.json(f"{at}/{part}")
        for part in ("history", "backlinks", "contests", "challenges", "signals"):
            server.walk(f"{at}/{part}?limit=4")
        lang, _, slug = key.partition(":")
        server.json(f"/api/agentpedia/entry?lang={quote(lang)}&slug={quote(slug)}")
    for name in list(state.versions)[::3]:
        assert server.json(f"{V1}/versions/{quote(name)}")["id"] == name
    for name in list(state.editors)[::2]:
        quoted = quote(name, safe="")
        assert server.json(f"{V1}/editors/{quoted}")["id"] == name
        server.walk(f"{V1}/editors/{quoted}/revs?limit=9")
    for pin in state.proposals:
        assert server.json(f"{V1}/proposals/{quote(pin)}")["id"] == pin
        server.walk(f"{V1}/proposals/{quote(pin)}/votes?limit=2")
    for grave in state.graveyard[::3]:
        assert server.json(f"{V1}/pins/{quote(grave.pin)}")["outcome"] == grave.reason
    assert len(server.get(f"{V1}/audit.jsonl").content.splitlines()) == len(stored.view) + 1
    assert server.json("/api/agentpedia/entry_list")["total"] == len(stored.names())

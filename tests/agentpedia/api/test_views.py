"""What the API says is what the fold says, on both databases, and nothing can be written."""

from hashlib import sha256
from itertools import pairwise
from typing import Any

import msgspec
import pytest

from agentpedia.api.served import Served, Stored, demo, demo_pins
from refold.agentpedia.common import shown
from refold.agentpedia.full import digest_of_lines
from refold.agentpedia.links import links_of
from refold.agentpedia.queries.people import RECENT_REVS
from refold.agentpedia.reasons import REASONS
from refold.agentpedia.signals import signals
from refold.agentpedia.store.rows import encode

V1 = "/v1/agentpedia"
ENTRY_MEMBERS = (
    "head",
    "displayHead",
    "displayMode",
    "status",
    "quality",
    "frozenAt",
    "baselineRev",
)


def text_behind(stored: Stored, name: str) -> str | None:
    """Give the inline text of a version."""
    version = stored.fold.state.versions[name]
    payloads = {event.pin: event.payload for event in demo().events}
    text = payloads[version.text_pin].get("content")
    return text if isinstance(text, str) else None


def test_every_entry_is_that_of_the_view(server: Served, stored: Stored) -> None:
    view, state = stored.view, stored.fold.state
    with_text = 0
    for key in stored.names():
        value = view["entry", key]
        entry = server.json(f"{V1}/entries/{key}")
        assert {name: entry[name] for name in ENTRY_MEMBERS} == {
            name: value[name] for name in ENTRY_MEMBERS
        }
        assert entry["id"] == key == f"{entry['lang']}:{entry['slug']}"
        assert entry["disputed"] == value["disputed"][:100]
        assert entry["disputedCount"] == len(value["disputed"])
        assert entry["contestCount"] == len(value["contests"])
        assert entry["awaitingReview"] == value["awaitingReview"]
        assert {one["editor"]: one["versions"] for one in entry["composition"]} == {
            one["editor"]: one["versions"] for one in value["authors"]
        }
        assert entry["versionCount"] == len(value["versions"])
        assert (entry["redirect"] or {}).get("to") == value["redirect"]
        assert (entry["height"], entry["digest"]) == (
            stored.tip - 1,
            stored.fold.view(stored.tip).digest(),
        )
        if value["displayHead"] not in state.versions:
            assert entry["version"] is None
            continue
        said = next(v for v in value["versions"] if v["id"] == value["displayHead"])
        version = entry["version"]
        assert {name: version[name] for name in said} == said
        assert version["text"] == text_behind(stored, value["displayHead"])
        assert version["isUnverified"] == (version["contentRef"] is not None)
        assert ("unverified" in entry["warnings"]) == version["isUnverified"]
        assert ("disputed" in entry["warnings"]) == bool(value["disputed"])
        assert ("frozen" in entry["warnings"]) == (value["status"] == "frozen")
        if with_text % 10 == 0:
            assert version == server.json(f"{V1}/versions/{value['displayHead']}")
        with_text += version["text"] is not None
        if version["text"] is not None:
            assert sha256(version["text"].encode()).hexdigest() == version["contentHash"]
    assert with_text > 50


def test_a_redirect_is_followed_to_its_end(server: Served, stored: Stored) -> None:
    view = stored.view
    plates = {key: view["entry", key]["redirect"] for key in stored.names()}
    led = {key: slug for key, slug in plates.items() if slug is not None}
    assert led
    for key, slug in led.items():
        redirect = server.json(f"{V1}/entries/{key}")["redirect"]
        assert redirect["to"] == slug
        assert redirect["chain"][0] == f"{key.partition(':')[0]}:{slug}"
        for one, other in pairwise(redirect["chain"]):
            assert plates[one] == other.partition(":")[2]
        if redirect["end"] is not None:
            assert redirect["end"] == redirect["chain"][-1]
            assert plates[redirect["end"]] is None


def test_titles_name_entries_as_links_do(server: Served) -> None:
    by_slug = server.json(f"{V1}/entry?lang=en&slug=arch_bridge")
    assert server.json(f"{V1}/entry?lang=en&slug=Arch%20Bridge") == by_slug
    assert server.json(f"{V1}/entries/en:arch_bridge") == by_slug


def test_lists_of_entries_are_sorted_and_whole(server: Served, stored: Stored) -> None:
    view = stored.view

    def updated(key: str) -> int:
        return int(view["entry", key]["versions"][-1]["height"])

    def featured(key: str) -> bool:
        return bool(view["entry", key]["quality"] == "featured")

    orders: dict[str, Any] = {
        "updated": lambda key: (updated(key), key),
        "featured": lambda key: (featured(key), updated(key), key),
    }
    for lang in ("", "en", "zh"):
        keys = [key for key in stored.names() if key.startswith(lang)]
        query = f"&lang={lang}" if lang else ""
        for sort, order in orders.items():
            found = server.walk(f"{V1}/entries?limit=7&sort={sort}{query}")
            assert [item["id"] for item in found] == sorted(keys, key=order, reverse=True)
        found = server.walk(f"{V1}/entries?limit=7&sort=title{query}")
        assert sorted(item["id"] for item in found) == sorted(keys)
        titles = [(item["title"], item["id"]) for item in found]
        assert titles == sorted(titles)
        assert all(item["updatedAt"] == updated(item["id"]) for item in found)


def test_histories_are_those_of_the_view(server: Served, stored: Stored) -> None:
    view = stored.view
    payloads = {event.pin: event.payload for event in demo().events}
    for key in stored.names()[:25]:
        value = view["entry", key]
        versions = {version["id"]: version for version in value["versions"]}
        steps = server.walk(f"{V1}/entries/{key}/history?order=oldest&limit=6")
        assert [step["id"] for step in steps] == value["history"]
        assert steps[::-1] == server.walk(f"{V1}/entries/{key}/history?limit=100")
        for step in steps:
            said = versions.get(step["id"])
            assert (step["version"] is None) == (said is None)
            if said is not None:
                assert {name: step["version"][name] for name in said} == said
            pin, _, made_by = step["id"].partition("::")
            if made_by != "rev":
                assert step["type"] == payloads[pin]["type"]
                assert step["summary"] == payloads[pin].get("summary")
        contests = server.walk(f"{V1}/entries/{key}/contests?limit=2")
        assert [one["id"] for one in contests] == [one["pin"] for one in value["contests"]]


def test_graphs_hold_what_histories_do(server: Served, stored: Stored) -> None:
    view, state = stored.view, stored.fold.state
    payloads = {event.pin: event.payload for event in demo().events}
    kinds = set()
    for key in stored.names():
        value = view["entry", key]
        graph = server.json(f"{V1}/entries/{key}/graph")
        assert [node["id"] for node in graph["nodes"]] == value["history"]
        assert graph["earlier"] is None
        assert [node["id"] for node in graph["nodes"] if node["isHead"]] == [value["head"]]
        displayed = [node["id"] for node in graph["nodes"] if node["isDisplayed"]]
        assert displayed == [value["displayHead"]]
        edges = {(edge["source"], edge["target"], edge["kind"]) for edge in graph["edges"]}
        kinds |= {kind for _, _, kind in edges}
        parents = {(v["id"], v["parentRev"], "parent") for v in value["versions"] if v["parentRev"]}
        assert {edge for edge in edges if edge[2] == "parent"} == parents
        reverts = {source: target for source, target, kind in edges if kind == "revert"}
        for name in value["history"]:
            pin, _, made_by = name.partition("::")
            if made_by == "eq":
                wanted = str(payloads[pin]["revertTo"])
                assert reverts[name] == (
                    wanted if wanted in state.versions else state.aliases[wanted]
                )
            else:
                assert (name in reverts) == (made_by == "rev")
    assert kinds == {"parent", "revert", "contest"}


def test_compositions_share_out_the_displayed_text(server: Served, stored: Stored) -> None:
    for key in stored.names()[:30]:
        entry = server.json(f"{V1}/entries/{key}")
        said = server.json(f"{V1}/entries/{key}/composition")
        assert said["displayHead"] == entry["displayHead"]
        versions = {one["editor"]: one["versions"] for one in entry["composition"]}
        assert {one["editor"]: one["versions"] for one in said["authors"]} == versions
        if entry["version"] is not None and entry["version"]["text"] is not None:
            letters = sum(not char.isspace() for char in entry["version"]["text"])
            assert said["characters"] == letters
            assert sum(one["characters"] for one in said["authors"]) + said["unknown"] == letters


def test_differences_lead_from_one_text_to_the_other(server: Served, stored: Stored) -> None:
    compared = 0
    for key in stored.names()[:40]:
        names = [version["id"] for version in stored.view["entry", key]["versions"]]
        for before, after in pairwise(names[:4]):
            texts = text_behind(stored, before), text_behind(stored, after)
            if None in texts:
                continue
            said = server.json(f"{V1}/diff?before={before}&after={after}")
            assert (said["before"]["id"], said["after"]["id"]) == (before, after)
            pieces = [(piece["op"], piece["text"]) for piece in said["pieces"]]
            assert "".join(text for op, text in pieces if op != "new") == texts[0]
            assert "".join(text for op, text in pieces if op != "gone") == texts[1]
            compared += 1
    assert compared > 20


def test_backlinks_are_those_of_displayed_texts(server: Served, stored: Stored) -> None:
    view = stored.view
    links: dict[str, set[tuple[str, str]]] = {}
    for key in stored.names():
        shown_now = view["entry", key]["displayHead"]
        text = text_behind(stored, shown_now) if shown_now in stored.fold.state.versions else None
        for target in links_of(text or "", key.partition(":")[0]):
            links.setdefault(target, set()).add((key, shown_now))
    assert len(links) > 10
    for target, sources in links.items():
        found = server.walk(f"{V1}/entries/{target}/backlinks?limit=2")
        assert {(one["id"], one["fromRev"]) for one in found} == sources
        old = server.json("/api/agentpedia/backlinks?lang={}&slug={}".format(*target.split(":")))
        assert {(one["fromEntry"], one["fromRev"]) for one in old["backlinks"]} == sources


def test_editors_and_their_liabilities(server: Served, stored: Stored) -> None:
    view, state = stored.view, stored.fold.state
    found = server.walk(f"{V1}/editors?limit=9")
    values = {key: value for (section, key), value in view.items() if section == "editor"}
    assert {item["id"]: item for item in found} == {
        key: {name: value[name] for name in found[0]} for key, value in values.items()
    }
    order = [(item["reputation"], item["id"]) for item in found]
    assert order == sorted(order, reverse=True)
    stood_for = 0
    for name in sorted(values)[:40]:
        said = server.json(f"{V1}/editors/{name}")
        assert said["endorsedBy"] == values[name]["endorsedBy"]
        registers = [one for one in state.registers.values() if name in one.endorsers]
        assert [(one["register"], one["editor"]) for one in said["endorsed"]] == sorted(
            (one.pin, one.editor) for one in registers
        )
        stood_for += len(registers)
        mine = [v for v in state.versions.values() if v.author == name]
        newest = [v.id for v in sorted(mine, key=lambda v: (v.seq, v.record), reverse=True)]
        assert [one["id"] for one in said["recentRevs"]] == newest[:RECENT_REVS]
        assert [one["id"] for one in server.walk(f"{V1}/editors/{name}/revs?limit=50")] == newest
        tiers = [rung["tier"] for rung in said["ladder"] if rung["isReached"]]
        registered = values[name]["registeredAt"] is not None
        assert bool(tiers) == registered
        if values[name]["tier"] is not None and not values[name]["founder"]:
            assert max(tiers, key=["T0", "T0+", "T1", "T2"].index) == values[name]["tier"]
    assert stood_for


def test_the_docket_has_snapshots_votes_and_clocks(server: Served, stored: Stored) -> None:
    view = stored.view
    for section, path in (("proposal", "proposals"), ("param-proposal", "param-proposals")):
        values = {key: value for (name, key), value in view.items() if name == section}
        found = server.walk(f"{V1}/{path}?limit=3")
        assert {item["id"] for item in found} == set(values)
        opened = [(item["openedAt"], item["id"]) for item in found]
        assert opened == sorted(opened, reverse=True)
        for item in found:
            value = values[item["id"]]
            assert item == server.json(f"{V1}/{path}/{item['id']}")
            assert item["voteCount"] == len(value["votes"])
            left = value["expiresAt"] - stored.tip if value["state"] == "open" else None
            assert item["blocksLeft"] == left
            votes = server.walk(f"{V1}/{path}/{item['id']}/votes?limit=2")
            assert [(one["id"], one["approve"]) for one in votes] == [
                (one["editor"], one["approve"]) for one in value["votes"]
            ]
            assert sum(one["counts"] for one in votes) == value["approveCount"]
        for state in {item["state"] for item in found}:
            some = server.walk(f"{V1}/{path}?limit=3&state={state}")
            assert some == [item for item in found if item["state"] == state]
    proposals = server.walk(f"{V1}/proposals")
    assert all(
        [one["editor"] for one in item["arbiters"]] == view["proposal", item["id"]]["arbiters"]
        for item in proposals
    )
    key = proposals[0]["entryKey"]
    of_entry = server.walk(f"{V1}/proposals?entry={key}&limit=1")
    assert of_entry == [item for item in proposals if item["entryKey"] == key]


def test_challenges_and_reviews(server: Served, stored: Stored) -> None:
    state = stored.fold.state
    for key in stored.names():
        record = state.keys[key]
        names = set(state.records[record].history)
        found = server.walk(f"{V1}/entries/{key}/challenges?limit=2")
        wanted = {c.pin for c in state.challenges.values() if c.target in names}
        assert {one["id"] for one in found} == wanted
    reviewed = list({r.target for r in state.reviews.values()})[:10]
    for target in reviewed:
        found = server.walk(f"{V1}/versions/{target}/reviews?limit=1")
        wanted = {r.pin for r in state.reviews.values() if r.target == target}
        assert {one["id"] for one in found} == wanted


def test_constitutions_and_the_one_in_force(server: Served, stored: Stored) -> None:
    found = server.walk(f"{V1}/constitutions?limit=1")
    assert [(one["id"], one["revision"], one["params"]) for one in found] == [
        (one.pin, one.revision, one.params) for one in stored.fold.state.constitutions
    ]
    assert [one["isInForce"] for one in found] == [False] * (len(found) - 1) + [True]
    assert server.json(f"{V1}/constitution") == found[-1]


def test_refused_pins_say_why(server: Served, stored: Stored) -> None:
    graves = stored.fold.state.graveyard
    found = server.walk(f"{V1}/graveyard?limit=11")
    assert [(one["id"], one["reason"]) for one in found] == [
        (grave.pin, grave.reason) for grave in reversed(graves)
    ]
    reason = graves[-1].reason
    assert server.walk(f"{V1}/graveyard?limit=2&reason={reason}") == [
        one for one in found if one["reason"] == reason
    ]
    lines = server.get(f"{V1}/graveyard.jsonl")
    assert lines.headers["content-type"] == "application/jsonl"
    assert [msgspec.json.decode(line) for line in lines.content.splitlines()] == found
    for grave in graves[:20]:
        fate = server.json(f"{V1}/pins/{grave.pin}")
        assert fate["outcome"] == grave.reason
        assert fate["remedy"] == REASONS[grave.reason].remedy


def test_pins_of_every_kind_have_a_fate(server: Served, stored: Stored) -> None:
    graves = {grave.pin for grave in stored.fold.state.graveyard}
    for pin in demo_pins()[::40] + [pin for pin in demo_pins() if pin.height is None]:
        fate = server.json(f"{V1}/pins/{pin.id}")
        assert (fate["path"], fate["sender"], fate["height"]) == (pin.path, pin.sender, pin.height)
        if pin.height is None:
            assert fate["outcome"] == "pending"
        elif pin.id not in graves:
            assert fate["outcome"] == "applied"


def test_the_audit_is_what_the_digest_is_made_of(server: Served, stored: Stored) -> None:
    answer = server.get(f"{V1}/audit.jsonl")
    head, *lines = [msgspec.json.decode(line) for line in answer.content.splitlines()]
    assert head["digest"] == server.json(f"{V1}/digest")["digest"]
    told = {(line["section"], line["key"]): line for line in lines}
    assert {name: line["value"] for name, line in told.items()} == stored.view
    hashed = {name: sha256(encode(line["value"])).hexdigest() for name, line in told.items()}
    assert hashed == {name: line["sha256"] for name, line in told.items()}
    made = sorted(f"{section}\t{key}\t{one}\n".encode() for (section, key), one in hashed.items())
    assert digest_of_lines(made) == head["digest"]


def test_signals_are_those_of_the_whole_stream(server: Served, stored: Stored) -> None:
    events = [event for event in demo().events if event.height >= 0]
    report = signals(stored.fold.view(stored.tip), events)
    said = {one.pin: msgspec.to_builtins(one) for one in report.revs}
    found: dict[str, Any] = {}
    for key in stored.names()[::8]:
        for one in server.walk(f"{V1}/entries/{key}/signals?limit=40"):
            pin = one.pop("id")
            found[pin] = {"pin": pin, **one}
    assert len(found) > 100
    assert {pin: said[pin] for pin in found} == found
    pin = next(pin for pin, one in found.items() if one["level"] != "log")
    alone = server.json(f"{V1}/versions/{pin}/signal")
    assert alone["score"] == found[pin]["score"]
    pack = server.json(f"{V1}/rule-pack")
    assert {name: pack[name] for name in ("version", "digest", "named", "agrees", "note")} == {
        name: getattr(report.pack, name)
        for name in ("version", "digest", "named", "agrees", "note")
    }


def test_the_status_counts_what_is_there(server: Served, stored: Stored) -> None:
    status = server.json(f"{V1}/status")
    view = stored.view
    assert status["height"] == stored.tip - 1
    assert status["digest"] == stored.fold.view(stored.tip).digest()
    assert (status["isBehind"], status["isTextBehind"]) == (False, False)
    assert status["counts"]["entries"] == len(stored.names())
    sections = {"editors": "editor", "refused": "grave", "reviews": "review"}
    for name, section in sections.items():
        assert status["counts"][name] == sum(one == section for one, _ in view)


def test_digests_are_kept_by_height(server: Served, stored: Stored) -> None:
    last = server.json(f"{V1}/digest")
    assert last == server.json(f"{V1}/digest?height={stored.tip - 1}")
    assert server.json(f"{V1}/digest?height={stored.tip - 2}")["height"] == stored.tip - 2
    assert server.problem(f"{V1}/digest?height=1", 404)["code"] == "digest-unknown"


@pytest.mark.parametrize("word", ["harbour", "tide", "茶", '"fishing net"'])
def test_what_is_searched_stands_in_the_text(server: Served, stored: Stored, word: str) -> None:
    bare = word.strip('"')
    found = server.walk(f"{V1}/search?q={word}&limit=3")
    assert found
    for one in found:
        entry = server.json(f"{V1}/entries/{one['id']}")
        whole = f"{entry['version']['title']} {entry['version']['text']}".lower()
        assert bare in whole
        for snippet in one["snippets"]:
            for start, end in snippet["hits"]:
                assert snippet["text"][start:end].lower() in bare
    scores = [one["score"] for one in found]
    assert scores == sorted(scores, reverse=True)
    del stored


def test_the_old_routes_say_the_same(server: Served, stored: Stored) -> None:
    view = stored.view
    for key in stored.names()[:40]:
        value = view["entry", key]
        lang, slug = key.split(":")
        old = server.json(f"/api/agentpedia/entry?lang={lang}&slug={slug}")
        assert old["entryKey"] == key
        assert old["head"]["pin"] == value["head"]
        if value["head"] in stored.fold.state.versions:
            assert old["head"]["content"] == text_behind(stored, value["head"])
        assert [step["pin"] for step in old["history"]] == value["history"]
        assert old["contests"] == value["contests"]
        assert old["disputed"] == value["disputed"]
        assert {one["editor"]: one["revisions"] for one in old["editorBreakdown"]} == {
            one["editor"]: one["versions"] for one in value["authors"]
        }
        assert old["redirect"] == (value["redirect"] and {"to": value["redirect"]})
    for name in list(stored.fold.state.editors)[:10]:
        old = server.json(f"/api/agentpedia/editor?metaid={name}")
        value = view["editor", name]
        assert old["reputation"] == shown(value["reputation"])
        assert old["endorsedBy"] == value["endorsedBy"]
        assert (old["tier"], old["status"]) == (value["tier"], value["status"])

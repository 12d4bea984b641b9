"""The pages of the records, served from both kinds of database: what each must say."""

import html
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import msgspec
import pytest

from agentpedia.api.reading import with_pages
from agentpedia.api.served import Served, Stored, demo_pins, served, store
from agentpedia.wiki import Wiki
from refold.agentpedia.changes import History, Step, Value
from refold.agentpedia.event import Event
from refold.agentpedia.fold import Fold
from refold.agentpedia.full import records
from refold.agentpedia.intake import read_pin
from refold.agentpedia.queries import history
from refold.agentpedia.queries.cases import cases_of
from refold.agentpedia.queries.look import Hidings, Look
from refold.agentpedia.queries.reputation import reputation_of
from refold.agentpedia.reasons import REASONS
from refold.agentpedia.rules import DEPLOYED
from refold.agentpedia.store import open_views
from refold.agentpedia.store.hidden import SqlHidden
from refold.db import Database
from refold.metaid.pin import Pin
from refold.metaid.store import open_store

WHY = "a court of Someland"
STATES = {"open": "open", "effective": "effective", "voided": "voided"}
LIVE = re.compile(r"<script|<style|\sstyle=|\son\w+\s*=|javascript:", re.IGNORECASE)


@pytest.fixture(scope="module")
def pages(demo_url: str, stored: Stored) -> Iterator[Served]:
    """Give a server with pages that cannot write."""
    del stored
    with (
        Database.open(demo_url, readonly=True) as opened,
        served(opened, make=with_pages) as found,
    ):
        yield found


def text_of(server: Served, path: str, lang: str = "en") -> str:
    """Give the words of a page, with one space between them."""
    return words_in(body_of(server, path, lang))


def body_of(server: Served, path: str, lang: str = "en") -> str:
    answer = server.get(f"{path}{'&' if '?' in path else '?'}lang={lang}")
    assert answer.status_code == 200, (path, answer.text[-500:], server.log_lines()[-1:])
    return answer.text


def words_in(body: str) -> str:
    main = body.partition("<main")[2].partition("</main>")[0]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", main)).split())


def data_of(server: Served, path: str) -> Any:
    return server.json(f"{path}{'&' if '?' in path else '?'}format=json")


def some_pages(stored: Stored) -> list[str]:
    """Give an address of each kind of page."""
    view = stored.view
    proposal = next(key for section, key in view if section == "proposal")
    params = next(key for section, key in view if section == "param-proposal")
    editor = next(key for section, key in view if section == "editor")
    names = view["entry", "en:tide"]["history"]
    return [
        *(f"/agentpedia/entries/en:tide/{page}" for page in ("history", "challenges", "signals")),
        *("/agentpedia/proposals", f"/agentpedia/proposals/{proposal}"),
        *("/agentpedia/param-proposals", f"/agentpedia/param-proposals/{params}"),
        "/agentpedia/challenges",
        f"/agentpedia/challenges/{view['proposal', proposal]['challengePin']}",
        *("/agentpedia/editors", f"/agentpedia/editors/{editor}"),
        f"/agentpedia/editors/{editor}/revs",
        *("/agentpedia/graveyard", "/agentpedia/graveyard?reason=unregistered"),
        "/agentpedia/rule-pack",
        f"/agentpedia/diff?before={names[0]}&after={names[-1]}",
        f"/agentpedia/diff?before={names[0]}&after={names[-1]}&view=side",
    ]


def test_every_page_is_whole_in_both_languages_and_as_data(pages: Served, stored: Stored) -> None:
    for path in some_pages(stored):
        for lang, tag in (("en", "en"), ("zh", "zh-Hans")):
            body = body_of(pages, path, lang)
            assert f'<html lang="{tag}">' in body
            assert not LIVE.search(body), (path, LIVE.search(body))
            assert "<h1" in body
        assert msgspec.json.encode(data_of(pages, path)) != b"{}"


def test_a_history_shows_each_step_once_page_by_page(pages: Served, stored: Stored) -> None:
    wanted = stored.view["entry", "en:tide"]["history"]
    path = "/agentpedia/entries/en:tide/history?limit=7"
    seen: list[str] = []
    before = ""
    while True:
        found = data_of(pages, path + before)
        body = body_of(pages, path + before)
        places = [step["place"] for step in found["steps"]]
        assert re.findall(r'<li id="p(\d+)"', body) == [str(place) for place in places]
        assert body.count('class="node ') >= len(places)
        seen += [step["id"] for step in found["steps"]]
        if found["earlier"] is None:
            break
        before = f"&before={found['earlier']}"
        assert html.escape(before) in body
    assert seen == wanted[::-1]


def test_a_history_tells_reverts_contests_and_what_is_displayed(
    pages: Served, stored: Stored
) -> None:
    value = stored.view["entry", "en:tide"]
    words = text_of(pages, "/agentpedia/entries/en:tide/history?limit=100")
    assert words.count("contested It was based on") == len(value["contests"]) > 0
    war = stored.view["entry", "en:harbour"]
    assert war["status"] == "frozen"
    body = body_of(pages, "/agentpedia/entries/en:harbour/history?limit=100")
    words = words_in(body)
    assert words.count("Went back to") == sum(name.endswith("::eq") for name in war["history"])
    assert "With this revert the entry froze." in words
    assert "until a ruling lifts it or runs out" in words
    row = body.partition(f'<li id="p{war["history"].index(war["baselineRev"])}"')[2]
    assert "displayed" in row.partition("</li>")[0]
    rows = re.findall(r'<li id="p(\d+)" class="step in-freeze"', body)
    assert rows == [str(war["history"].index(f"{war['frozenAt']}::eq"))]


def test_a_text_that_nobody_has_seen_verified_is_marked(pages: Served, stored: Stored) -> None:
    version = next(v for v in stored.fold.state.versions.values() if v.content_ref is not None)
    path = f"/agentpedia/entries/{quote(version.entry_key)}/history?limit=100"
    assert version.id in data_of(pages, path)["unverified"]
    assert "text in a file not verified" in text_of(pages, path)


def test_a_freeze_that_is_over_is_told_with_its_end(pages: Served, stored: Stored) -> None:
    ruled = {
        value["entryKey"]: value
        for (section, _), value in stored.view.items()
        if section == "proposal" and value["duringFreeze"] and value["state"] != "open"
    }
    assert {value["state"] for value in ruled.values()} == {"effective", "voided"}
    for key, value in ruled.items():
        found = data_of(pages, f"/agentpedia/entries/{quote(key)}/history")
        (freeze,) = found["freezes"]
        assert freeze["id"] == value["duringFreeze"]
        assert freeze["endedBy"] == value["pin"]
        assert freeze["fromHeight"] < freeze["untilHeight"] <= value["expiresAt"]
        words = text_of(pages, f"/agentpedia/entries/{quote(key)}/history")
        assert f"to block {freeze['untilHeight']:,}" in words


def test_a_difference_shows_both_texts(pages: Served, stored: Stored) -> None:
    names = stored.view["entry", "zh:豆腐脑"]["history"]
    before, after = names[-1], names[0]
    found = data_of(pages, f"/agentpedia/diff?before={before}&after={after}")
    gone = [p["text"] for p in found["difference"]["pieces"] if p["op"] == "gone"]
    assert gone
    for view in ("inline", "side"):
        path = f"/agentpedia/diff?before={before}&after={after}&view={view}"
        body = body_of(pages, path)
        told = "".join(html.unescape(text) for text in re.findall(r"<del>([^<]*)</del>", body))
        assert told.replace("\n", "") == "".join(gone).replace("\n", "")
    same = text_of(pages, f"/agentpedia/diff?before={after}&after={after}")
    assert "Not one character differs." in same


def test_texts_too_long_to_compare_are_named(
    pages: Served, stored: Stored, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(history, "MAX_DIFF", 10)
    names = stored.view["entry", "en:tide"]["history"]
    path = f"/agentpedia/diff?before={names[0]}&after={names[1]}"
    assert "Too long to compare" in text_of(pages, path)
    assert data_of(pages, path)["leftOut"] == "long"
    assert f"/v1/agentpedia/versions/{names[0]}/text" in body_of(pages, path)


def decisions(events: list[Pin]) -> dict[str, int]:
    """Give the height at which each proposal took effect, by folding anew."""
    fold = Fold()
    found: dict[str, int] = {}
    for pin in events:
        event, fault = read_pin(pin, gates=True)
        fold.apply(event, fault)
        for kind in (fold.state.proposals, fold.state.param_proposals):
            for name, proposal in kind.items():
                if proposal.state == "effective":
                    found.setdefault(name, event.height)
    return found


def in_order() -> list[Pin]:
    confirmed = [pin for pin in demo_pins() if pin.height is not None]
    return sorted(confirmed, key=lambda pin: (pin.height, pin.tx_index, pin.id))


def test_a_proposal_says_who_voted_and_who_was_absent(pages: Served, stored: Stored) -> None:
    took_effect = decisions(in_order())
    told = set()
    for (section, pin), value in stored.view.items():
        if section not in {"proposal", "param-proposal"}:
            continue
        found = data_of(pages, f"/agentpedia/{section}s/{pin}")
        votes = {vote["editor"]: vote["approve"] for vote in found["votes"]}
        assert list(votes.items()) == [(v["editor"], v["approve"]) for v in value["votes"]]
        assert found["decidedAt"] == took_effect.get(pin)
        words = text_of(pages, f"/agentpedia/{section}s/{pin}")
        if section == "proposal":
            absent = sum(name not in votes for name in value["arbiters"])
            word = {"voided": "absent", "open": "not yet", "effective": " none "}[value["state"]]
            assert words.count(word) >= absent
            if value["state"] == "open":
                left = value["expiresAt"] - stored.tip
                assert f"Left: {left} blocks (about {(left + 3) // 6} hours)" in words
            told.add(value["state"])
    assert told == set(STATES)


def test_the_docket_can_be_narrowed_down(pages: Served, stored: Stored) -> None:
    values = [value for (section, _), value in stored.view.items() if section == "proposal"]
    for state in STATES:
        found = data_of(pages, f"/agentpedia/proposals?limit=100&state={state}")["items"]
        assert {one["id"] for one in found} == {v["pin"] for v in values if v["state"] == state}
    pins = {key for section, key in stored.view if section == "challenge"}
    walked = {one["id"] for one in pages.walk("/agentpedia/challenges?limit=3&format=json")}
    assert walked == pins


def test_a_challenge_says_what_it_is_about(pages: Served, stored: Stored) -> None:
    for (section, pin), value in stored.view.items():
        if section != "challenge":
            continue
        found = data_of(pages, f"/agentpedia/challenges/{pin}")
        assert found["challenge"]["target"] == value["target"]
        assert found["challenge"]["detail"]["text"] in text_of(
            pages, f"/agentpedia/challenges/{pin}"
        )
    assert pages.problem("/agentpedia/challenges/nothing", 404)["code"] == "challenge-unknown"


def test_the_line_of_reputation_is_that_of_the_fold(
    demo_url: str, stored: Stored, pages: Served
) -> None:
    del pages
    told = {key: value for (section, key), value in stored.view.items() if section == "editor"}
    with Database.open(demo_url, readonly=True) as opened, opened.read() as connection:
        look = Look(connection, Hidings())
        lines = {
            name: reputation_of(look, value, cases_of(look, name)) for name, value in told.items()
        }
    assert all(line.is_whole for line in lines.values())
    assert {g.cause for line in lines.values() for g in line.gains} >= {
        *("stood", "reviews", "overturned", "absence"),
        *("warn-editor", "confirm-goodfaith", "ban-editor"),
    }
    fold = Fold()
    events = [read_pin(pin, gates=True) for pin in in_order()]
    checked = 0
    for (event, fault), number in zip(events, range(len(events)), strict=True):
        if number % 150 == 0:
            fold.advance(event.height)
            checked += compared(fold, lines, event)
        fold.apply(event, fault)
    assert checked > 100


def compared(fold: Fold, lines: dict[str, Any], event: Event) -> int:
    """Compare reputations before anything happens at the height of an event."""
    count = 0
    for name, line in lines.items():
        editor = fold.state.editors.get(name)
        if editor is None or any(gain.height == event.height for gain in line.gains):
            continue
        said = line.start + sum(gain.tenths for gain in line.gains if gain.height < event.height)
        assert said == editor.reputation, (name, event.height)
        count += said != 0
    return count


def test_an_editor_page_says_what_is_missing_and_who_stood_for_whom(
    pages: Served, stored: Stored
) -> None:
    seen = set()
    for (section, name), value in stored.view.items():
        if section != "editor" or value["registeredAt"] is None or value["tier"] in seen:
            continue
        found = data_of(pages, f"/agentpedia/editors/{name}")
        missing = [need for need in found["needs"] if need["blocks"] or need["revs"]]
        reached = {rung["tier"]: rung["isReached"] for rung in found["editor"]["ladder"]}
        assert {need["tier"] for need in missing} == {t for t, done in reached.items() if not done}
        words = text_of(pages, f"/agentpedia/editors/{name}")
        for need in missing:
            assert f"{need['revs']} valid revs" in words or need["revs"] < 2
        for other in value["endorsedBy"]:
            assert other[:10] in words
        seen.add(value["tier"])
    assert seen >= {"T0", "T0+", "T1", "T2"}


def test_the_graveyard_explains_every_reason_in_both_languages(
    pages: Served, stored: Stored
) -> None:
    english = text_of(pages, "/agentpedia/graveyard")
    chinese = text_of(pages, "/agentpedia/graveyard", "zh")
    for code, reason in REASONS.items():
        assert code in english
        assert code in chinese
        assert reason.says in english
        assert reason.says not in chinese
    graves = {key: value for (section, key), value in stored.view.items() if section == "grave"}
    walked = {one["id"] for one in pages.walk("/agentpedia/graveyard?limit=40&format=json")}
    assert walked == set(graves)
    only = data_of(pages, "/agentpedia/graveyard?reason=t0-no-rev&limit=100")["items"]
    assert {one["id"] for one in only} == {
        pin for pin, value in graves.items() if value["reason"] == "t0-no-rev"
    }


def test_signals_are_those_of_the_api_with_their_rules_in_words(pages: Served) -> None:
    path = "/agentpedia/entries/en:ink/signals?limit=10"
    found = data_of(pages, path)["items"]
    assert found == pages.json(f"/v1{path}")["items"]
    words = text_of(pages, path)
    fired = [rule for one in found for rule in one["fired"]]
    assert all(f"{one['rule']}, +{one['score']}" in words for one in fired)
    overview = data_of(pages, "/agentpedia/rule-pack")
    scores = [one["score"] for one in overview["newest"]]
    assert scores == sorted(scores, reverse=True)
    assert all(
        rule["says"] in text_of(pages, "/agentpedia/rule-pack") for rule in overview["rules"]
    )


def test_what_is_hidden_is_told_and_not_shown(demo_url: str, stored: Stored, pages: Served) -> None:
    pin, value = next(
        (key, value) for (section, key), value in stored.view.items() if section == "proposal"
    )
    shown = data_of(pages, f"/agentpedia/proposals/{pin}")
    rationale = shown["rationale"]["text"]
    version = stored.view["entry", "en:tide"]["history"][-1]
    with Database.open(demo_url, durability="normal") as opened:
        with opened.write() as connection:
            SqlHidden(connection).hide("pin", pin, WHY, 1_800_000_000)
            SqlHidden(connection).hide("pin", version, WHY, 1_800_000_000)
        try:
            words = text_of(pages, f"/agentpedia/proposals/{pin}")
            assert rationale not in words
            assert WHY in words
            words = text_of(pages, "/agentpedia/entries/en:tide/history")
            assert f"title and summary withheld by the operator: {WHY}" in words
            first = stored.view["entry", "en:tide"]["history"][0]
            words = text_of(pages, f"/agentpedia/diff?before={first}&after={version}")
            assert "Withheld by the operator" in words
        finally:
            with opened.write() as connection:
                SqlHidden(connection).unhide("pin", pin)
                SqlHidden(connection).unhide("pin", version)
    assert value["pin"] == pin


HOSTILE = "\"><script>alert(1)</script>'{{7*7}}<img src=x onerror=alert(1)>"


def hostile_wiki() -> Wiki:
    """Give a wiki in which every field says what a browser would run."""
    wiki = Wiki(DEPLOYED, {"revertWarThreshold": 2})
    first = wiki.create("E1", "a", HOSTILE, title=HOSTILE, summary=HOSTILE)
    second = wiki.write("E2", "a", f"{HOSTILE} more", title=HOSTILE, summary=HOSTILE)
    wiki.revert("E3", "a", first, summary=HOSTILE, title=HOSTILE)
    wiki.write("E4", "a", HOSTILE, title=HOSTILE, basedOn=second, type=HOSTILE)
    wiki.create("E5", "a", "again", title=HOSTILE)
    by, on = "E3", {"targetRev": second, "reason": HOSTILE, "detail": HOSTILE}
    challenge = wiki.pin("/protocols/agentpedia/challenge", by, on)
    said = {"action": "proposal", "challengePin": challenge, "seed": challenge}
    proposal = wiki.pin(
        "/protocols/agentpedia/ruling", by,
        {**said, "outcome": "warn-editor", "params": {"editor": HOSTILE}, "rationale": HOSTILE},
    )  # fmt: skip
    wiki.pin("/protocols/agentpedia/editor", "E1", {"action": "challenge", "editor": HOSTILE})
    vote = {"action": "vote", "proposalPin": proposal, "approve": False, "comment": HOSTILE}
    wiki.pin("/protocols/agentpedia/ruling", "E4", vote)
    return wiki


def test_the_words_of_strangers_are_shown_and_never_run(database: Database) -> None:
    wiki = hostile_wiki()
    pins = [
        Pin(
            *(event.pin, event.path, event.height, event.tx_index, event.sender),
            *("create", "0", "1.0", "application/json", 1_700_000_000),
            body=msgspec.json.encode(event.payload),
        )
        for event in wiki.events
    ]
    stored = store(database, pins, rules=DEPLOYED)
    versions = [n for n in stored.view["entry", "en:a"]["history"] if n in wiki.fold.state.versions]
    proposal = next(key for section, key in stored.view if section == "proposal")
    challenge = next(key for section, key in stored.view if section == "challenge")
    paths = [
        *("/agentpedia/entries/en:a/history", "/agentpedia/entries/en:a/challenges"),
        *("/agentpedia/entries/en:a/signals", "/agentpedia/proposals", "/agentpedia/challenges"),
        *(f"/agentpedia/proposals/{proposal}", f"/agentpedia/challenges/{challenge}"),
        *("/agentpedia/editors", "/agentpedia/graveyard", "/agentpedia/rule-pack"),
        f"/agentpedia/editors/{quote(HOSTILE, safe='')}",
        *("/agentpedia/editors/E1", "/agentpedia/editors/E1/revs"),
        f"/agentpedia/diff?before={versions[0]}&after={versions[1]}",
        f"/agentpedia/diff?before={versions[0]}&after={versions[1]}&view=side",
    ]
    with database.write() as connection:
        open_store(connection).pins.put_authors({versions[0]: "unproven", challenge: "proven"})
    shown = 0
    with served(database, make=with_pages) as server:
        assert "author not proven" in text_of(server, paths[0])
        assert "author proven" in text_of(server, f"/agentpedia/challenges/{challenge}")
        for path in paths:
            body = body_of(server, path)
            assert not LIVE.search(re.sub(r"&lt;[^<]*", "", body)), path
            assert "<img" not in body
            assert "49" not in re.findall(r"'(\d+)&lt;img", html.unescape(body))
            shown += HOSTILE[2:20] in html.unescape(body)
    assert shown > 8


LONG = 10_000
"""Versions in one history."""


def test_the_page_of_a_long_history_is_no_larger_than_of_a_short_one(database: Database) -> None:
    wiki = Wiki(DEPLOYED, {"revertWarThreshold": 10_000})
    first = wiki.create("E1", "long", "text")
    for number in range(LONG - 1):
        wiki.wait(1)
        wiki.write(f"E{1 + number % 6}", "long", "text", parentRev=first, basedOn=first)
    state = wiki.fold.state
    short = wiki.create("E1", "short", "text")
    for number in range(100):
        wiki.write(f"E{1 + number % 6}", "short", "text", parentRev=short, basedOn=short)
    with database.write() as connection, open_views(connection).writing() as writer:
        for section, key, value in records(state, wiki.height + 1):
            index = state.keys.get(key) if section == "entry" else None
            writer.put(Value(section, key, value, "0" * 64, index))
        for index, entry in enumerate(state.records):
            steps = [Step(name, state.versions.get(name)) for name in entry.history]
            writer.history(History(index, 0, steps))
    with served(database, make=with_pages) as server:
        sizes = [
            len(body_of(server, f"/agentpedia/entries/en:{slug}{page}"))
            for page in ("/history", "/challenges", "")
            for slug in ("short", "long")
        ]
        assert sizes[1] < 1.1 * sizes[0] < 60_000
        assert sizes[3] < 1.1 * sizes[2] < 36_000
        assert sizes[5] < 1.1 * sizes[4] < 36_000
        for page in ("", "/revs"):
            assert len(body_of(server, f"/agentpedia/editors/E1{page}")) < 36_000
        found = data_of(server, "/agentpedia/entries/en:long/history?limit=100&before=5000")
        assert [step["place"] for step in found["steps"]] == list(range(4999, 4899, -1))
        assert found["earlier"] == 4900
        assert server.problem("/agentpedia/entries/en:long/history?limit=101", 400)

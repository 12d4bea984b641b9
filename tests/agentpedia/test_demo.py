"""The demo wiki: the same bytes everywhere, and every scene there to be seen at the tip."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import Counter
from functools import cache
from hashlib import sha256
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.agentpedia import DEPLOYED, REASONS, replay
from refold.agentpedia.demo import DEMO_NAMES, demo_document, demo_events
from refold.agentpedia.demo.articles import Article, Draft, articles
from refold.agentpedia.demo.cast import id_of, key_of
from refold.agentpedia.demo.dice import Dice
from refold.agentpedia.demo.edits import better, first_draft, grow, mend, slip
from refold.agentpedia.demo.story import SCENES, tell
from refold.agentpedia.intake import check_payload
from refold.agentpedia.links import refs_found
from refold.agentpedia.schemas import PATHS, PREFIX
from refold.metaid.globalmetaid import decode_globalmetaid

if TYPE_CHECKING:
    from refold.agentpedia import View

PIN = re.compile(r"[0-9a-f]{64}i0")
LINK = re.compile(r"\[\[([^\]]+)\]\]")
CITED_PIN = re.compile(r"pin://([0-9a-f]{64}i0)")


class Told(NamedTuple):
    """The story of one seed, as bytes and folded again from them."""

    seed: int
    document: dict[str, Any]
    data: bytes
    view: View
    full: dict[str, Any]


@cache
def document_of(seed: int) -> dict[str, Any]:
    return demo_document(seed)


@pytest.fixture(scope="module", params=[1, 2])
def told(request: pytest.FixtureRequest) -> Told:
    document = document_of(request.param)
    data = json.dumps(document, ensure_ascii=False).encode()
    view = replay(data)
    return Told(request.param, document, data, view, view.full())


def reasons(told: Told) -> Counter[str]:
    return Counter(grave["reason"] for grave in told.full["grave"].values())


def editors(told: Told) -> dict[str, dict[str, Any]]:
    return {DEMO_NAMES[name]: editor for name, editor in told.full["editor"].items()}


def events_of(told: Told, path: str) -> list[dict[str, Any]]:
    return [event for event in told.document["events"] if event["path"] == PREFIX + path]


# the stream


def test_same_bytes_in_every_process_and_hash_seed() -> None:
    program = (
        "import json, hashlib; from refold.agentpedia.demo import demo_document;"
        "print(hashlib.sha256(json.dumps(demo_document()).encode()).hexdigest())"
    )
    here = sha256(json.dumps(document_of(1)).encode()).hexdigest()
    for hash_seed in ("0", "4711"):
        run = subprocess.run(
            [sys.executable, "-c", program],
            env={"PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        )
        assert run.stdout.strip() == here


def test_another_seed_is_another_story() -> None:
    assert document_of(1) != document_of(2)


def test_document_is_json_and_of_a_size_to_look_at(told: Told) -> None:
    assert json.loads(told.data) == told.document
    assert 3_000 <= len(told.document["events"]) <= 5_000


def test_events_stand_in_chain_order_and_mempool_pins_last(told: Told) -> None:
    heights = [event["height"] for event in told.document["events"]]
    confirmed = [height for height in heights if height is not None]
    assert heights == confirmed + [None] * 3
    places = [
        (event["height"], event["txIndex"]) for event in told.document["events"][: len(confirmed)]
    ]
    assert places == sorted(set(places))
    pins = [event["pin"] for event in told.document["events"]]
    assert len(set(pins)) == len(pins)
    assert all(map(PIN.fullmatch, pins))


def test_events_and_document_say_the_same() -> None:
    events, records = demo_events(), document_of(1)["events"]
    assert [event.pin for event in events] == [record["pin"] for record in records]
    assert [event.height for event in events] == [
        -1 if record["height"] is None else record["height"] for record in records
    ]


def test_document_folds_to_what_the_story_saw_while_it_was_told(told: Told) -> None:
    """Every applied pin passes schema and content gates again, every refused one fails again."""
    world = tell(told.seed)
    assert told.view.tip == world.fold.tip
    end = world.height  # a scene may have looked, and not pinned, after the last pin
    assert replay(told.data, tip=end).digest() == world.fold.view(end).digest()


def test_sixty_days_each_with_something_in_it(told: Told) -> None:
    heights = [e["height"] for e in told.document["events"] if e["height"] is not None]
    genesis = told.full["constitution"][told.document["options"]["genesisPin"]]["height"]
    days = Counter((height - genesis) // 144 for height in heights if height >= genesis)
    assert all(days[day] for day in range(60))
    assert max(days) <= 60


def test_it_folds_under_the_rules_of_the_network_too(told: Told) -> None:
    view = replay(told.data, DEPLOYED)
    assert view.summary().events == len(told.document["events"]) - 3
    assert len(view.summary().entries) >= 100
    assert view.digest() == replay(told.data, DEPLOYED).digest()


# the bots


def test_every_id_holds_its_checksum() -> None:
    for global_meta_id, name in DEMO_NAMES.items():
        address = decode_globalmetaid(global_meta_id)
        assert address.payload == key_of(name).key_hash


def test_every_sender_and_editor_has_a_name_of_its_own(told: Told) -> None:
    assert {event["sender"] for event in told.document["events"]} <= set(DEMO_NAMES)
    assert set(told.full["editor"]) <= set(DEMO_NAMES)
    assert len(set(DEMO_NAMES.values())) == len(DEMO_NAMES)
    assert all(id_of(name) == number for number, name in DEMO_NAMES.items())


def test_every_step_of_the_ladder_is_taken_at_the_tip(told: Told) -> None:
    tiers = Counter(editor["tier"] for editor in told.full["editor"].values())
    assert set(tiers) == {"T0", "T0+", "T1", "T2", None}
    assert tiers["T2"] >= 10


def test_founders_have_to_earn_their_tier_after_the_first_weeks(told: Told) -> None:
    founders = [e["tier"] for e in told.full["editor"].values() if e["founder"]]
    assert len(founders) == 13
    assert {"T1", "T2"} <= set(founders)


def test_newcomers_registered_others_wait_or_failed(told: Told) -> None:
    statuses = Counter(e["status"] for e in told.full["editor"].values() if not e["founder"])
    assert statuses["active"] >= 20
    assert statuses["pending"] == 1
    assert statuses["none"] >= 3
    assert editors(told)["Lonely Buoy"]["endorsedBy"]
    assert {len(r["endorsers"]) for r in told.full["register"].values()} >= {1, 2, 4}


def test_registration_fails_at_each_of_its_steps(told: Told) -> None:
    assert set(reasons(told)) >= {
        "poc-challenge-mismatch",
        "poc-window-exceeded",
        "poc-response-missing",
        "poc-review-too-early",
        "register-invalid",
        "stake-insufficient",
        "stake-reused",
        "endorser-not-t2",
        "endorse-no-register",
        "duplicate-endorse",
        "self-endorse",
    }


def test_sanctions_last_to_the_tip(told: Told) -> None:
    by_name = editors(told)
    assert by_name["Bargain Bay"]["banned"]
    assert by_name["Echoform"]["revoked"]
    assert by_name["Overprint"]["suspendedUntil"] > told.view.tip
    assert by_name["Gullwing"]["tier"] is not None, "the warned one is still there"


def test_an_absent_arbiter_is_out_of_the_pool(told: Told) -> None:
    absent = [e for e in told.full["editor"].values() if e["poolSuspendedUntil"]]
    assert any(editor["poolSuspendedUntil"] > told.view.tip for editor in absent)


# entries


def test_entries_in_two_languages_with_every_quality(told: Told) -> None:
    entries = told.full["entry"]
    langs = Counter(key.partition(":")[0] for key in entries)
    assert langs["en"] >= 50
    assert langs["zh"] >= 40
    qualities = Counter(entry["quality"] for entry in entries.values())
    assert qualities["protected"] == 2
    assert qualities["featured"] >= 8
    assert qualities["stub"] >= 8
    assert qualities["normal"] >= 60


def test_an_edit_war_each_is_released_expired_and_still_frozen(told: Told) -> None:
    entries, proposals = told.full["entry"], told.full["proposal"].values()
    of_freezes = {(p["entryKey"], p["outcome"], p["state"]) for p in proposals if p["duringFreeze"]}
    assert of_freezes == {
        ("en:milk_in_tea", "unfreeze", "effective"),
        ("zh:豆腐脑", "protect", "voided"),
        ("en:harbour", "unfreeze", "open"),
    }
    assert entries["en:milk_in_tea"]["status"] == "normal"
    assert entries["zh:豆腐脑"]["status"] == "normal"
    frozen = entries["en:harbour"]
    assert frozen["status"] == "frozen"
    assert frozen["displayHead"] == frozen["baselineRev"] != frozen["head"]
    assert frozen["writers"]


def test_the_war_that_nobody_settled_went_back_to_its_baseline(told: Told) -> None:
    voided = next(
        p for p in told.full["proposal"].values() if p["duringFreeze"] and p["state"] == "voided"
    )
    entry = told.full["entry"]["zh:豆腐脑"]
    after = [v for v in entry["versions"] if v["height"] > voided["expiresAt"]]
    assert after[0]["parentRev"] == voided["baselineRev"].partition("::")[0] or (
        after[0]["parentRev"] == voided["baselineRev"]
    )


def test_a_reviewed_entry_has_a_passed_version_and_one_that_waits(told: Told) -> None:
    entry = told.full["entry"]["zh:二十四节气"]
    assert (entry["status"], entry["displayMode"]) == ("protected", "reviewed")
    assert entry["awaitingReview"] == [entry["head"]]
    passed = [r for r in told.full["review"].values() if r["target"] == entry["displayHead"]]
    assert any(review["byT2"] and review["score"] >= 4 for review in passed)


def test_redirects_a_lifted_one_and_a_moved_record(told: Told) -> None:
    entries = told.full["entry"]
    plates = {key: entry["redirect"] for key, entry in entries.items() if entry["redirect"]}
    assert plates == {
        "en:harbor": "harbour",
        "zh:月历": "历法",
        "en:suspension_bridges": "suspension_bridge",
    }
    assert len(entries["en:haar"]["history"]) == 3
    assert entries["en:suspension_bridge"]["head"] == entries["en:suspension_bridges"]["head"]
    assert len(told.full["displaced"]) == 1


def test_contests_open_disputes_and_reverts(told: Told) -> None:
    entries = told.full["entry"]
    assert sum(len(entry["contests"]) for entry in entries.values()) >= 10
    assert sum(1 for entry in entries.values() if entry["disputed"]) >= 4
    made = [v["equivalentOf"] for e in entries.values() for v in e["versions"]]
    assert sum(pin is not None for pin in made) >= 20


def test_logs_keep_long_histories(told: Told) -> None:
    entries = told.full["entry"]
    for key in ("en:tide_log", "en:night_log", "zh:潮位日志"):
        assert len(entries[key]["versions"]) >= 50


def test_texts_cite_pins_of_the_stream_and_claim_what_they_hold(told: Told) -> None:
    pins = {event["pin"] for event in told.document["events"]}
    graves = told.full["grave"]
    cited = 0
    for event in events_of(told, "rev"):
        payload = event["payload"]
        if event["pin"] in graves or not payload["content"]:
            continue
        found = CITED_PIN.findall(payload["content"])
        cited += len(found)
        assert set(found) <= pins
        assert payload["claim"]["refs"] == refs_found(payload["content"])
        assert payload["content"].endswith("\n")
    assert cited > 20


def test_the_text_that_nobody_could_fetch_is_one_of_the_stream(told: Told) -> None:
    facts = told.document["options"]["contentFacts"]
    by_file = [e["pin"] for e in events_of(told, "rev") if e["payload"].get("contentRef")]
    assert facts == dict.fromkeys(by_file, "unavailable")
    assert by_file


# rulings and rules


def test_every_outcome_has_been_ruled(told: Told) -> None:
    ruled = {p["outcome"] for p in told.full["proposal"].values() if p["state"] == "effective"}
    assert ruled == {
        "dismiss",
        "revert-to",
        "protect",
        "unprotect",
        "unfreeze",
        "transfer-slug",
        "warn-editor",
        "slash-stake-half",
        "slash-stake-full",
        "ban-editor",
        "confirm-goodfaith",
    }


def test_proposals_are_effective_voided_and_open(told: Told) -> None:
    states = Counter(p["state"] for p in told.full["proposal"].values())
    assert states["effective"] >= 11
    assert states["voided"] == 2
    assert states["open"] == 1


def test_rejections_and_a_vote_without_a_seat_are_on_record(told: Told) -> None:
    proposals = list(told.full["proposal"].values())
    assert any(not vote["approve"] for p in proposals for vote in p["votes"])
    assert any(vote["editor"] not in p["arbiters"] for p in proposals for vote in p["votes"])


def test_challenges_are_open_and_decided(told: Told) -> None:
    outcomes = Counter(c["outcome"] is None for c in told.full["challenge"].values())
    assert outcomes[True] >= 4
    assert outcomes[False] >= 11


def test_the_constitution_was_revised_once(told: Told) -> None:
    revisions = {c["revision"]: c for c in told.full["constitution"].values()}
    assert set(revisions) == {0, 1}
    before, after = revisions[0]["params"], revisions[1]["params"]
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {"ratePerSlugDaily", "thetaFeatured"}
    states = Counter(p["state"] for p in told.full["param-proposal"].values())
    assert states == {"effective": 2, "voided": 1, "open": 1}
    assert told.full["fold"]["fold"]["notAuthoritativeFrom"] is None


# what is refused or waits


def test_the_graveyard_shows_nearly_every_reason(told: Told) -> None:
    found = reasons(told)
    assert set(found) <= set(REASONS)
    assert len(found) >= 50
    assert sum(found.values()) < len(told.document["events"]) // 20, "a sprinkling, no more"


def test_only_pins_meant_to_be_malformed_break_a_schema_or_hash(told: Told) -> None:
    graves = told.full["grave"]
    for event in told.document["events"]:
        name = event["path"].removeprefix(PREFIX)
        if name in PATHS:
            fault = check_payload(name, event["payload"])
            if fault is not None:
                assert graves[event["pin"]]["reason"] == fault.reason


def test_three_pins_wait_in_the_mempool(told: Told) -> None:
    waiting = [e for e in told.document["events"] if e["height"] is None]
    assert told.full["pending"] == sorted(event["pin"] for event in waiting)
    assert [event["path"].removeprefix(PREFIX) for event in waiting] == ["rev", "review", "ruling"]
    still_open = next(p for p in told.full["proposal"].values() if p["state"] == "open")
    assert waiting[2]["payload"]["proposalPin"] == still_open["pin"]
    assert waiting[2]["sender"] in still_open["arbiters"]


def test_scenes_are_told_once_each() -> None:
    assert len(set(SCENES)) == len(SCENES)


# the parts


@given(st.integers(), st.integers(-50, 50), st.integers(0, 50))
def test_dice_stay_between_their_bounds(seed: int, low: int, width: int) -> None:
    dice = Dice(seed)
    assert all(low <= dice.between(low, low + width) <= low + width for _ in range(20))


@given(st.integers(), st.lists(st.integers()))
def test_shuffling_loses_nothing(seed: int, items: list[int]) -> None:
    assert sorted(Dice(seed).shuffled(items)) == sorted(items)


class Everywhere(dict[str, str]):
    """First pins of every entry there could be."""

    def __missing__(self, key: str) -> str:
        return sha256(key.encode()).hexdigest() + "i0"

    def __contains__(self, key: object) -> bool:
        return True


def finished(article: Article, dice: Dice) -> list[Draft]:
    """Give the drafts on the way from the first one to the finished article."""
    drafts = [first_draft(article, 2)]
    while True:
        grown = grow(article, drafts[-1], Everywhere(), dice)
        change = grown or better(article, drafts[-1], dice)
        if change is None:
            return drafts
        drafts.append(change.draft)


@pytest.mark.parametrize("article", articles().values(), ids=lambda article: article.key)
def test_an_article_grows_to_clean_markdown(article: Article) -> None:
    texts = [article.render(draft, Everywhere()) for draft in finished(article, Dice(1))]
    assert len(set(texts)) == len(texts), "every edit changes the text"
    for text in texts:
        assert not re.search(r"[{}]|=>|  | \.|\n\n\n", text)
        assert len(text.encode()) < 4096
    known = articles()
    for link in LINK.findall(texts[-1]):
        key = link if ":" in link else f"{article.lang}:{link}"
        assert key in known, f"{article.key} links to {key}"


@given(st.sampled_from(sorted(articles())), st.integers())
def test_a_slip_is_one_that_mending_takes_away(key: str, seed: int) -> None:
    article, dice = articles()[key], Dice(seed)
    change = grow(article, first_draft(article, 1), Everywhere(), dice)
    if change is None:
        return
    spoiled = slip(article, change, dice)
    mended = mend(spoiled.draft)
    assert (change.draft if mended is None else mended.draft) == change.draft
    if spoiled.draft != change.draft:
        assert article.render(spoiled.draft, Everywhere()) != article.render(
            change.draft, Everywhere()
        )
        assert msgspec.structs.asdict(spoiled) != msgspec.structs.asdict(change)

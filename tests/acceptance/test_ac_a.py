"""AC-A: the form of records (PRD §9.1)."""

from __future__ import annotations

from typing import Any

import msgspec

from agentpedia.scenario import PARAMS, Scenario, hash_of
from refold.agentpedia.rules import PRD

CONTENT_LIMIT = PARAMS["inlineContentMaxBytes"]

REQUIRED = {
    "rev": ("v", "slug", "lang", "title", "type"),
    "challenge": ("v", "targetRev", "reason", "detail"),
    "ruling": ("v", "action"),
    "review": ("v", "targetRev", "score", "dimensions"),
    "editor": ("v", "action", "editor"),
    "constitution": ("v", "revision", "prevConstitution", "params", "algoVersions", "founders"),
    "param-proposal": ("v", "kind", "targetConstitution"),
}
"""The members that each path requires (spec §3)."""
BEYOND_ENUM: dict[str, dict[str, Any]] = {
    "rev": {"type": "merge", "claim": {"changeType": "other", "refs": 0}},
    "challenge": {"reason": "taste", "proposed": {"outcome": "ban", "revertTo": None}},
    "ruling": {"action": "veto", "outcome": "forgive"},
    "review": {"score": 6, "dimensions": {"accuracy": 0, "citation": 1, "neutrality": 1}},
    "editor": {"action": "promote"},
    "constitution": {"v": 2},
    "param-proposal": {"kind": "amendment", "v": 0},
}


def story_of_all_kinds() -> Scenario:
    """Tell one legal event of every path, type, action and kind."""
    world = Scenario(valid=True)
    first = world.create("E1", "a")
    second = world.edit("E2", "a", contentRef=f"metafile://{world.genesis}", basedOn=first)
    world.create("E1", "b")
    back = world.revert("E3", first, "a", fix=True)
    world.redirect("E1", "b", "a")
    world.review("E2", first)
    verdict = world.rule(second, "slash-stake-full", editor=world.who("E2"))
    world.rule(back, "revert-to", revertTo=second)
    world.admit("N1", first)
    world.suspend("J1", "E2", verdict)
    world.revoke("J2", "E2", verdict)
    amendment = world.amend("E1", rulingQuorum=3)
    for name in ("E1", "E3", "E4", "E5", "J1"):
        world.amend_vote(name, amendment)
    world.revise(amendment, rulingQuorum=3)
    return world


EXCLUDED = (
    ("create", {"parentRev": f"{'a' * 64}i0"}),
    ("create", {"revertTo": f"{'a' * 64}i0"}),
    ("create", {"redirectTo": "b"}),
    ("edit", {"parentRev": None}),
    ("edit", {"content": "both", "contentRef": f"metafile://{'a' * 64}i0"}),
    ("edit", {"content": None, "contentRef": None}),
    ("edit", {"contentHash": None}),
    ("revert", {"content": "a revert carries no text"}),
    ("revert", {"revertTo": None}),
    ("redirect", {"redirectTo": None}),
    ("redirect", {"contentHash": "a" * 64}),
    ("proposal", {"approve": True}),
    ("proposal", {"challengePin": None}),
    ("vote", {"outcome": "dismiss"}),
    ("vote", {"proposalPin": None}),
    ("genesis", {"founders": None}),
    ("revision", {"founders": ["idq1" + "a" * 38, "idq1" + "b" * 38]}),
)
"""What one kind of record must not have, or lack, though another kind must (PRD §4.4, spec §3)."""


def kind_of(payload: dict[str, Any]) -> str:
    if "revision" in payload:
        return "genesis" if payload["revision"] == 0 else "revision"
    word = payload.get("type") or payload.get("action") or payload.get("kind")
    return word if isinstance(word, str) else ""


def test_ac_a1_schemas_pass_every_legal_event_and_refuse_every_defect() -> None:
    world = story_of_all_kinds()
    seen = world.checked()
    assert seen.full.get("grave", {}) == {}

    legal = [(event.path.rpartition("/")[2], event.payload) for event in world.events]
    assert {path for path, _ in legal} == set(REQUIRED)
    defects: list[str] = []
    for path, payload in legal:
        for member in REQUIRED[path]:
            without = {name: value for name, value in payload.items() if name != member}
            defects.append(tell_raw(world, path, without))
        defects.append(tell_raw(world, path, payload | {"extra": None}))
        defects += [
            tell_raw(world, path, payload | {name: value})
            for name, value in BEYOND_ENUM[path].items()
        ]
        defects += [
            tell_raw(world, path, payload | change)
            for kind, change in EXCLUDED
            if kind == kind_of(payload)
        ]
    assert {kind for kind, _ in EXCLUDED} <= {kind_of(payload) for _, payload in legal}
    after = world.checked()
    assert after.reasons(defects) == ["schema-invalid"] * len(defects)
    assert len(after.full["grave"]) == len(defects)


def tell_raw(world: Scenario, path: str, payload: dict[str, Any]) -> str:
    """Tell a payload just as it is."""
    pin = world.tell(path, "E1")
    world.events[-1] = msgspec.structs.replace(world.events[-1], payload=payload)
    return pin


def test_ac_a2_entry_key_comes_from_a_plain_lang_and_slug_and_nothing_is_converted() -> None:
    world = Scenario(valid=True)
    world.create("E1", "a", lang="zh")
    world.create("E1", "a", lang="en")
    world.create("E1", "x" * 96, lang="en")
    world.create("E1", "词条_no-1", lang="zh")
    bad = [world.create("E1", "b", lang=lang) for lang in ("zh-Hans", "zh-hant", "EN", "e", "")]
    bad += [
        world.create("E1", slug)
        for slug in ("zh:b", "x" * 97, "", "Upper", "two words", "a/b", "a.b", "\U00020000")
    ]
    seen = world.checked()
    assert seen.reasons(bad) == ["schema-invalid"] * len(bad)
    assert set(seen.full["entry"]) == {"zh:a", "en:a", "en:" + "x" * 96, "zh:词条_no-1"}
    assert seen.entry("zh:a")["head"] != seen.entry("en:a")["head"]


def test_ac_a3_a_cross_language_link_is_text_and_only_a_redirect_inside_a_language_redirects() -> (
    None
):
    world = Scenario(valid=True)
    world.create("E1", "b", lang="zh")
    world.create("E1", "c", lang="en")
    linking = world.create("E1", "a", content="see [[zh:b]] and [[c]]")
    world.create("E1", "d", lang="en")
    inside = world.redirect("E1", "d", "c")
    across = world.redirect("E1", "a", "b")
    spelled = world.redirect("E1", "a", "zh:b")
    seen = world.checked()
    assert (seen.entry("en:a")["head"], seen.entry("en:a")["redirect"]) == (linking, None)
    assert (seen.entry("en:d")["head"], seen.entry("en:d")["redirect"]) == (inside, "c")
    assert seen.reason(across) == "redirect-target-missing"
    assert seen.reason(spelled) == "schema-invalid"


def test_ac_a4_only_chain_uris_count_as_references_and_web_addresses_never_block() -> None:
    world = Scenario(valid=True)
    one, two = "a" * 64 + "i0", "b" * 64 + "i0"
    text = f"pin://{one} pin://{one} [x](metafile://{two}) https://e.org/pin/{two} http://e.org"
    chain = world.create("E1", "a", content=text, claim={"changeType": "create", "refs": 7})
    web = world.create(
        "E1", "b", content="https://e.org", claim={"changeType": "create", "refs": 0}
    )
    seen = world.checked()
    assert seen.version(chain)["refsFound"] == 2
    assert seen.version(web)["refsFound"] == 0
    assert seen.entry("en:b")["head"] == web


def test_ac_a5_one_text_that_hashes_to_its_hash_and_fits_the_inline_limit() -> None:
    world = Scenario(valid=True)
    full = world.create("E1", "full", content="x" * CONTENT_LIMIT)
    wide = world.create("E1", "wide", content="词" * (CONTENT_LIMIT // 3))
    afar = world.create("E1", "afar", contentRef=f"metafile://{world.genesis}")
    both = world.create("E1", "b", content="b", contentRef=f"metafile://{world.genesis}")
    neither = world.rev("E1", "create", "b", contentHash=hash_of("b"))
    over = world.create("E1", "b", content="x" * (CONTENT_LIMIT + 1))
    wide_over = world.create("E1", "b", content="词" * (CONTENT_LIMIT // 3 + 1))
    other = world.create("E1", "b", content="b", contentHash=hash_of("not b"))
    seen = world.checked()
    assert seen.reasons([full, wide, afar]) == [None] * 3
    assert seen.reasons([both, neither]) == ["schema-invalid"] * 2
    assert seen.reason(over) == "schema-invalid"  # the schema counts characters, and comes first
    assert seen.reason(wide_over) == "content-too-large"
    assert seen.reason(other) == "content-hash-mismatch"


def test_ac_a6_a_fetched_text_that_does_not_hash_to_its_hash_sends_its_rev_to_the_graveyard() -> (
    None
):
    world = Scenario(valid=True)
    revs = {
        fact: world.create("E1", fact, contentRef=f"metafile://{world.genesis}")
        for fact in ("verified", "mismatch", "unavailable")
    }
    untold = world.create("E1", "untold", contentRef=f"metafile://{world.genesis}")
    world.options["contentFacts"] = {pin: fact for fact, pin in revs.items()}
    seen = world.checked(PRD)
    assert seen.reason(revs["mismatch"]) == "content-hash-mismatch"
    assert set(seen.full["entry"]) == {"en:verified", "en:unavailable", "en:untold"}
    assert seen.editor("E1")["validRevs"] == 3
    assert seen.reasons([revs["verified"], revs["unavailable"], untold]) == [None] * 3

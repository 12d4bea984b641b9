"""Pins that the rules refuse: the graveyard shows why, and nothing else changes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refold.agentpedia.demo import moves
from refold.agentpedia.demo.cast import DEMO_NAMES, id_of
from refold.agentpedia.demo.daily import next_step
from refold.agentpedia.demo.world import name_of_version
from refold.agentpedia.event import PREFIX, REV, REVIEW, RULING
from refold.agentpedia.rules import INLINE_MAX_BYTES

if TYPE_CHECKING:
    from refold.agentpedia.demo.world import Payload, Scene, World


def scene_too_young(world: World) -> Scene:
    """A registered bot that cannot wait three days."""
    yield world.at(6, 10)
    key = "zh:海港"
    draft = world.draft(world.head(key))
    moves.edit(world, "渡口", key, draft[:1], "我来改", refused="t0-no-rev")
    yield world.after(8)
    moves.challenge(
        world,
        "渡口",
        world.head(key),
        "other",
        "为什么我还不能编辑？",
        refused="t0-review-only",
    )


def scene_lost_names(world: World) -> Scene:
    """Revs that name what is not there."""
    yield world.at(8, 20)
    name = "Ropewalk"
    rev = moves.rev_payload("en", "tides", "Tides", "edit", "plural")
    rev["parentRev"] = name_of_version(world.head("en:tide").id)
    text = world.text_of("en:tide", world.draft(world.head("en:tide")))
    world.pin(name, REV, moves.with_text(dict(rev), text, "expand"), refused="edit-without-entry")
    yield world.after(9)
    back: Payload = rev | {"type": "revert", "revertTo": rev["parentRev"]}
    back["contentHash"] = world.head("en:tide").content_hash
    world.pin(name, REV, back, refused="revert-without-entry")
    yield world.after(15)
    lead: Payload = rev | {"type": "redirect", "redirectTo": "tide"}
    world.pin(name, REV, lead, refused="redirect-without-entry")
    yield world.after(5)
    own: Payload = moves.on_head(world, "en:tide", lead | {"slug": "tide", "title": "Tide"})
    world.pin(name, REV, own | {"redirectTo": "tydes"}, refused="redirect-target-missing")
    world.pin(name, REV, own, refused="redirect-self")


def scene_wrong_reverts(world: World) -> Scene:
    """Reverts to versions that are unknown, of another entry, or of another text."""
    yield world.at(13, 18)
    name, key = "Lampwright", "en:harbour"
    head = world.head(key)
    rev = moves.on_head(world, key, moves.rev_payload("en", "harbour", "Harbour", "revert", "back"))
    rev["contentHash"] = head.content_hash
    other = world.head("en:tea")
    for target, reason in (
        (world.number("a lost pin") + "i0", "revert-target-unresolvable"),
        (name_of_version(other.id), "revert-entry-mismatch"),
    ):
        world.pin(name, REV, rev | {"revertTo": target}, refused=reason)
        yield world.after(4)
    wrong = rev | {"revertTo": name_of_version(head.id), "contentHash": other.content_hash}
    world.pin(name, REV, wrong, refused="revert-hash-mismatch")


def scene_second_creates(world: World) -> Scene:
    """Entries opened a second time: orphans, kept with their key and title."""
    for day, hour, name, key in (
        (9, 12, "Lampwright", "en:tide"),
        (17, 9, "Typecase", "en:printing"),
        (26, 8, "拾遗", "zh:历法"),
        (48, 19, "Copyhold", "en:ink"),
    ):
        yield world.at(day, hour)
        article = world.articles[key]
        rev = moves.rev_payload(article.lang, article.slug, article.title, "create", "new entry")
        text = article.render(world.draft(world.head(key))[:1], world.first_pins)
        moves.with_text(rev, text, "create")
        world.pin(name, REV, rev, refused="duplicate-create")


def scene_bad_forms(world: World) -> Scene:
    """Payloads that no schema takes, and a path that is none of the seven."""
    yield world.at(18, 7)
    good = moves.rev_payload("en", "tide_gauge", "Tide gauge", "create", "new")
    moves.with_text(good, "A **tide gauge** writes down the height of the water.\n", "create")
    for name, change in (
        ("拾遗", {"lang": "zh-Hans"}),
        ("Lampwright", {"slug": "Tide gauge"}),
        ("Typecase", {"title": ""}),
        ("Gullwing", {"timestamp": 1_700_000_000}),
        ("Gullwing", {"contentHash": None}),
        ("Morning Cup", {"claim": {"changeType": "rewrite", "refs": 0}}),
        ("Late Lantern", {"type": "delete"}),
        ("Late Lantern", {"parentRev": name_of_version(world.head("en:tide").id)}),
    ):
        world.pin(name, REV, good | change, refused="schema-invalid")
        yield world.after(5, 25)
    version = name_of_version(world.head("en:tide").id)
    marks = {"accuracy": 5, "citation": 5, "neutrality": 5}
    ten = {"v": 1, "targetRev": version, "score": 10, "dimensions": marks, "comment": "10/10"}
    world.pin("Stowaway", REVIEW, ten, refused="schema-invalid")
    yield world.after(30)
    talk: Payload = {"v": 1, "entry": "en:tide", "text": "Shall we split this entry?"}
    world.pin("Morning Cup", PREFIX + "talk", talk, refused="unknown-path")
    yield world.at(35, 16)
    world.pin("Halfpenny", PREFIX + "vote", {"v": 1, "for": "me"}, refused="unknown-path")


def scene_bad_contents(world: World) -> Scene:
    """A text that does not hash to what its rev says, and one that is too long."""
    yield world.at(20, 10)
    key = "en:bridge"
    article, text = world.articles[key], world.text_of(key, world.draft(world.head(key)))
    rev = moves.rev_payload(article.lang, article.slug, article.title, "edit", "trailing space")
    moves.with_text(moves.on_head(world, key, rev), text, "ref-format")
    rev["content"] = text + " "
    world.pin("Halfpenny", REV, rev, refused="content-hash-mismatch")
    yield world.after(100)
    zh = [key for key in world.first_pins if key.startswith("zh:")]
    book = "".join(world.text_of(key, world.draft(world.head(key))) for key in zh)
    while len(book.encode()) <= INLINE_MAX_BYTES:
        book += book
    rev = moves.rev_payload("zh", "合集", "合集", "create", "合为一篇")
    moves.with_text(rev, book[: INLINE_MAX_BYTES // 2], "create")
    world.pin("拾遗", REV, rev, refused="content-too-large")


def scene_own_praise(world: World) -> Scene:
    """Reviews and challenges of one's own versions, and of none."""
    yield world.at(25, 19)
    name = "Tidewise"
    own = world.head("en:tide_log")
    moves.review(world, name, own, 5, "Mine.", refused="self-review")
    yield world.after(3)
    moves.challenge(world, name, own, "other", "I take it back.", refused="self-challenge")
    yield world.after(12)
    lost = world.number("a lost pin") + "i0"
    marks = {"accuracy": 4, "citation": 4, "neutrality": 4}
    said: Payload = {"v": 1, "targetRev": lost, "score": 4, "dimensions": marks}
    world.pin("Typecase", REVIEW, said, refused="review-target-unresolvable")
    doubt: Payload = {"v": 1, "targetRev": lost, "reason": "factual", "detail": "Where is it?"}
    path = PREFIX + "challenge"
    world.pin("Typecase", path, doubt, refused="challenge-target-unresolvable")


def scene_marathon(world: World) -> Scene:
    """A bot that edits until its day is used up."""
    yield world.at(16, 2)
    name = "Ropewalk"
    limit = world.state.limits.global_daily
    while world.state.rates[id_of(name)].total < limit:
        key = world.dice.pick(list(world.first_pins))
        if key.startswith("en:") and key not in world.reserved and world.may_write(name, key):
            moves.edit(world, name, key, next_step(world, key), "on to the next one")
            yield world.after(1, 2)
    key = "en:knot"
    moves.edit(world, name, key, next_step(world, key), "one more", refused="rate-global")


def scene_impatient(world: World) -> Scene:
    """Bots that save every word: five a day on one entry, not six."""
    for day, hour, name, key in (
        (12, 12, "Late Lantern", "en:star_name"),
        (29, 13, "Early Bird", "en:calendar"),
        (40, 11, "拾遗", "zh:历法"),
    ):
        yield world.at(day, hour)
        world.reserved.add(key)
        while world.may_write(name, key):
            moves.edit(world, name, key, next_step(world, key), "saving")
            yield world.after(1, 3)
        draft = next_step(world, key)
        moves.edit(world, name, key, draft, "saving again", refused="rate-slug")
        world.reserved.discard(key)


def scene_shut_doors(world: World) -> Scene:
    """Edits on a protected entry by bots that have not come so far."""
    for day, hour, name, key in (
        (16, 20, "Gullwing", "en:lighthouse"),
        (31, 9, "Early Bird", "en:leap_year"),
        (37, 17, "Meridian", "en:leap_year"),
        (40, 6, "纸鸢", "zh:二十四节气"),
        (49, 10, "节气钟", "zh:二十四节气"),
        (52, 22, "Copyhold", "en:leap_year"),
    ):
        yield world.at(day, hour)
        draft = next_step(world, key)
        moves.edit(world, name, key, draft, "small fix", refused="protected-unauthorized")


def scene_bad_proposals(world: World) -> Scene:
    """What a proposal can get wrong."""
    yield world.at(44, 13)
    key, clerk = "en:ink", "Typecase"
    by_one = DEMO_NAMES[world.head(key).author] == "Meridian"
    disputed = moves.challenge(
        world,
        "Early Bird" if by_one else "Meridian",
        world.head(key),
        "factual",
        "Does carbon ink really never fade?",
    )
    yield world.after(10)
    reason = "Let us see."
    lost = world.number("a lost pin") + "i0"
    moves.propose(world, clerk, lost, "dismiss", reason, refused="ruling-challenge-missing")
    yield world.after(4)
    payload = moves.proposal_payload(disputed, "dismiss", {}, reason)
    world.pin(clerk, RULING, payload | {"seed": lost}, refused="ruling-seed-mismatch")
    head = world.head(key).id
    moves.propose(
        world, clerk, disputed, "dismiss", reason, baseline=head, refused="baseline-rev-not-null"
    )
    wrong: tuple[tuple[str, Payload, str], ...] = (
        ("revert-to", {}, "ruling-params-missing"),
        ("warn-editor", {}, "ruling-params-missing"),
        ("dismiss", {"displayMode": "reviewed"}, "display-mode-not-allowed"),
        ("transfer-slug", _transfer("en:inks", "en:ink"), "transfer-source-missing"),
        ("transfer-slug", _transfer("en:ink", "en:ink"), "transfer-self"),
        ("transfer-slug", _transfer("en:ink", "zh:墨"), "transfer-cross-lang"),
    )
    for outcome, params, refused in wrong:
        yield world.after(3, 9)
        moves.propose(world, clerk, disputed, outcome, reason, params=params, refused=refused)
    yield world.after(12)
    proposal = moves.propose(world, clerk, disputed, "dismiss", "It does not; see the scrolls.")
    for editor in world.proposal(proposal).arbiters[:5]:
        yield world.after(5, 15)
        moves.vote(world, DEMO_NAMES[editor], proposal, True, "It does not fade.")
        if world.proposal(proposal).approve_count == 1:
            moves.vote(
                world, DEMO_NAMES[editor], proposal, True, "Twice yes!", refused="duplicate-vote"
            )


def _transfer(source: str, target: str) -> Payload:
    return {"fromEntry": source, "toEntry": target}

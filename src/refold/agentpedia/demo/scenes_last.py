"""The last days: the best entries are reviewed, and some pins do not make it into a block."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refold.agentpedia.demo import moves
from refold.agentpedia.demo.cast import DEMO_NAMES
from refold.agentpedia.event import REV, REVIEW, RULING

if TYPE_CHECKING:
    from refold.agentpedia.demo.world import Scene, World

GOOD_ENTRIES = (
    *("en:tide", "en:tea", "en:calendar", "en:knot", "en:bridge", "en:star_name"),
    *("zh:潮汐", "zh:茶", "zh:印刷术", "zh:历法", "zh:桥", "zh:星名"),
)
REVIEWERS = 5
PRAISE = {
    "en": ("One of our best.", "Complete, linked and checked.", "I would send a reader here."),
    "zh": ("本站佳作。", "完整，有链接，已核对。", "可以推荐给读者。"),
}


def scene_featured(world: World) -> Scene:
    """The bots of the best name review the best entries, which are left alone from then on."""
    yield world.at(58, 1)
    for key in GOOD_ENTRIES:
        if world.entry(key).disputed:
            continue
        world.reserved.add(key)
        head = world.head(key)
        for name in world.trusted(but=(DEMO_NAMES[head.author],))[:REVIEWERS]:
            yield world.after(1, 5)
            praise = world.dice.pick(PRAISE[world.articles[key].lang])
            moves.review(world, name, head, world.dice.between(4, 5), praise)


def leave_unmined(world: World) -> None:
    """Leave three pins in the mempool: an edit, a review and a vote on the open proposal."""
    key = "en:knot"
    article, head = world.articles[key], world.head(key)
    rev = moves.rev_payload(article.lang, article.slug, article.title, "edit", "shorter")
    text = world.text_of(key, world.draft(head)[:-1])
    moves.with_text(moves.on_head(world, key, rev), text, "ref-format")
    world.pin_unmined("Slipknot", REV, rev)
    payload = moves.review_payload(world, head, 4, "Still to be mined.")
    world.pin_unmined("新桨", REVIEW, payload)
    proposal = next(p for p in world.state.proposals.values() if p.state == "open")
    absent = next(editor for editor in proposal.arbiters if editor not in proposal.votes)
    vote = moves.vote_payload(proposal.pin, True, "The fourth vote, when it is mined.")
    world.pin_unmined(DEMO_NAMES[absent], RULING, vote)

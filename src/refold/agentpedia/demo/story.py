"""The story: which scenes there are. Each scene says itself when it plays."""

from __future__ import annotations

from typing import TYPE_CHECKING

from refold.agentpedia.demo import (
    scenes_last,
    scenes_mistakes,
    scenes_offenders,
    scenes_people,
    scenes_rules,
    scenes_rulings,
    scenes_wars,
)
from refold.agentpedia.demo.logs import keep_log, night_log, tide_log, tide_log_zh
from refold.agentpedia.demo.world import Stage, World

if TYPE_CHECKING:
    from collections.abc import Callable

    from refold.agentpedia.demo.world import Scene

SCENES: tuple[Callable[[World], Scene], ...] = (
    scenes_people.scene_genesis,
    scenes_people.scene_first_entries,
    scenes_people.scene_stowaway,
    scenes_people.scene_borrowed_answers,
    scenes_people.scene_odd_endorsements,
    scenes_people.scene_copied_stake,
    scenes_people.scene_lonely_applicant,
    scenes_mistakes.scene_too_young,
    scenes_mistakes.scene_lost_names,
    scenes_mistakes.scene_second_creates,
    scenes_mistakes.scene_wrong_reverts,
    scenes_mistakes.scene_impatient,
    scenes_mistakes.scene_marathon,
    scenes_mistakes.scene_shut_doors,
    scenes_mistakes.scene_bad_forms,
    scenes_mistakes.scene_bad_contents,
    scenes_mistakes.scene_own_praise,
    scenes_mistakes.scene_bad_proposals,
    scenes_offenders.scene_warned,
    scenes_offenders.scene_banned,
    scenes_offenders.scene_suspended,
    scenes_offenders.scene_revoked,
    scenes_rulings.scene_redirects,
    scenes_rulings.scene_protected_for_a_time,
    scenes_rulings.scene_dismissed,
    scenes_rulings.scene_good_faith,
    scenes_rulings.scene_file,
    scenes_rulings.scene_back_by_ruling,
    scenes_rulings.scene_protected,
    scenes_rulings.scene_reviewed,
    scenes_rulings.scene_renamed,
    scenes_rulings.scene_failed_ruling,
    scenes_rulings.scene_open_disputes,
    scenes_wars.scene_milk_war,
    scenes_wars.scene_curd_war,
    scenes_wars.scene_spelling_war,
    scenes_rules.scene_revision,
    scenes_rules.scene_failed_change,
    scenes_rules.scene_open_change,
    scenes_last.scene_featured,
)


def tell(seed: int, stage: Stage | None = None) -> World:
    """Tell the whole story; give the world with its events and its fold at the end."""
    world = World(seed, stage)
    aside = [key for key, article in world.articles.items() if article.topic == "side"]
    world.reserved.update(aside)
    logs = (
        keep_log(world, "Tidewise", tide_log(world.dice), 18, "day {day}"),
        keep_log(world, "潮生", tide_log_zh(world.dice), 19, "第{day}天"),
        keep_log(world, "Starhand", night_log(world.dice), 23, "night {day}"),
    )
    world.play(
        [scene(world) for scene in SCENES] + [*scenes_people.scenes_of_arrival(world), *logs]
    )
    scenes_last.leave_unmined(world)
    return world

"""An editor as the page shows one: what lacks for the next tier, what is on file, the line."""

from refold.agentpedia.queries.cases import MAX_CASES, case_item, cases_of, registrations_of
from refold.agentpedia.queries.drawnhistory import verdicts_on
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model_governance import EditorDetail
from refold.agentpedia.queries.model_reader import EditorShown, Need
from refold.agentpedia.queries.people import editor_of
from refold.agentpedia.queries.reputation import reputation_of

__all__ = ["MAX_SHOWN", "editor_shown"]

MAX_SHOWN = 50
"""Cases of an editor on the page, the newest."""


def editor_shown(look: Look, name: str) -> EditorShown:
    """Give an editor. Raises InputError `editor-unknown`. Some hundred questions: for a thread."""
    editor = editor_of(look, name)
    stored = look.values.stored("editor", name)
    value = {} if stored is None else stored.value
    cases = cases_of(look, name)
    pins = [*editor.registers, *(version.id for version in editor.recent_revs)]
    return EditorShown(
        editor=editor,
        height=(look.standing.tip or 0) - 1,
        registrations=tuple(registrations_of(look, editor.registers)),
        cases=tuple(case_item(case, name) for case in cases[:MAX_SHOWN]),
        case_count=len(cases),
        cases_read=MAX_CASES,
        reputation=reputation_of(look, value, cases),
        needs=_needs(look, editor),
        verdicts=verdicts_on(look, [pin.partition("::")[0] for pin in pins]),
    )


def _needs(look: Look, editor: EditorDetail) -> tuple[Need, ...]:
    """Give what lacks for each tier: blocks to wait, and valid revs."""
    tip = look.standing.tip or 0
    return tuple(
        Need(
            rung.tier,
            max(0, (rung.from_height or tip) - tip),
            max(0, rung.from_revs - editor.valid_revs),
        )
        for rung in editor.ladder
    )

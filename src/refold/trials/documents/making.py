"""A document from its prose and the tables: placeholders filled in, in one language."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final

from refold.trials.admission import CHALLENGE_SECONDS, MAX_NAME
from refold.trials.documents.reading import READING
from refold.trials.documents.shell import SHELL
from refold.trials.limits import Rate
from refold.trials.node import Node
from refold.trials.rules import BLOCKERS, NOT_PROVEN, PUBLISHER_RULES, REPORTER_RULES
from refold.trials.sites import Site
from refold.trials.tables import (
    DEFAULT_DAYS,
    FORMATS,
    LIMITS,
    MAX_CONTENT,
    MAX_DAYS,
    MAX_HEADERS,
    MAX_STEPS,
    MAX_VALUE,
    NODE,
    PROOF_PATH,
    Field,
    Format,
    known_fields,
)
from refold.trials.tasks import TASKS
from refold.trials.templates import example, template

__all__ = ["Say", "filled", "pieces"]

Say = Callable[[str], str]
"""Gives a text of the tables in the language of the document."""

_PLACE = re.compile(r"\{\{ (\w+) \}\}")
_VALUES: Final = {
    "text": "text",
    "classes": "blocker classes",
    "time": "time",
    "integer": "integer",
    "id": "message id",
    "url": "URL",
    "tool": "URL or package name",
    "origin": "origin",
}
"""What a field of each form holds; `word` names its words."""
_PARENTS: Final = {"trial": "a trial", "run": "a run", None: "nothing"}


def filled(prose: str, values: Mapping[str, str]) -> str:
    """Give a text with its placeholders filled in; raises KeyError for one that is none."""
    return _PLACE.sub(lambda found: values[found[1]], prose)


def pieces(node: Node, rates: Iterable[Rate], say: Say) -> dict[str, str]:
    """Give what the placeholders of all documents stand for, in the language of `say`."""
    colon = say(": ")
    found = {
        "origin": node.origin,
        "host": node.host,
        "name": node.name,
        "room": node.rooms[0],
        "rooms": ", ".join(f"`{room}`" for room in node.rooms),
        "max_content": f"{MAX_CONTENT:,}",
        "max_value": f"{MAX_VALUE:,}",
        "max_headers": f"{MAX_HEADERS:,}",
        "max_steps": f"{MAX_STEPS:,}",
        "default_days": str(DEFAULT_DAYS),
        "max_days": str(MAX_DAYS),
        "proof_path": PROOF_PATH,
        "challenge_minutes": str(CHALLENGE_SECONDS // 60),
        "tasks": str(TASKS),
        "answers_shell": ",\n  ".join(map(_answer, range(1, TASKS + 1))),
        "max_name": str(MAX_NAME),
        "work": say(_WORK).format(bits=node.bits) if node.bits else say(_NO_WORK),
        "node_field": f"`{NODE.name}: {node.origin}`",
        "posts": _table(
            say,
            ("marker", "replies to", "what it is"),
            [
                (f"`{form.marker}`", say(_PARENTS[form.parent]), say(form.says))
                for form in FORMATS.values()
            ],
        ),
        "class_names": ", ".join(f"`{name}`" for name in BLOCKERS),
        "classes": _list(f"`{name}`{colon}{say(says)}" for name, says in BLOCKERS.items()),
        "reporter_rules": _list(map(say, REPORTER_RULES)),
        "publisher_rules": _list(map(say, PUBLISHER_RULES)),
        "not_proven": say(NOT_PROVEN),
        "sites": _table(
            say,
            ("host", "what a reporter reads"),
            [(f"`{site.host}`", f"`{_raw(site)}`") for site in node.sites],
        ),
        "sizes": _table(
            say,
            ("what", "limit"),
            [(say(one.says), f"{one.value:,} {_unit(one.unit, say)}".strip()) for one in LIMITS],
        ),
        "rates": _table(
            say,
            ("limit", "what is counted", "for each", "how many"),
            [_rate(rate, say) for rate in rates],
        ),
        "reading": _list(
            f"`{node.origin}{path}`{colon}{say(says)}" for path, says in READING.items()
        ),
        "reading_links": _list(
            f"[{path}]({node.origin}{path}){colon}{say(says)}" for path, says in READING.items()
        ),
    }
    for form in FORMATS.values():
        found |= _of_format(form, node.origin, say)
    for name, commands in SHELL.items():
        found[f"sh_{name}"] = f"```sh\n{filled(commands, found)}\n```"
    return found


_WORK: Final = (
    "This node also asks for work: add the member `proof_of_work` to the answer, a text with which"
    " the SHA-256 of challenge id, line feed and that text begins with {bits} zero bits."
)
_NO_WORK: Final = "This node asks for no proof of work: `proof_of_work` is null."


def _of_format(form: Format, origin: str, say: Say) -> dict[str, str]:
    """Give the pieces of one kind of post."""
    rows = [
        (
            f"`{field.name}`",
            say("yes") if field.required else "",
            _value(field, say),
            say(field.says),
        )
        for field in known_fields(form)
    ]
    return {
        f"{form.kind}_fields": _table(say, ("field", "required", "value", "what it says"), rows),
        f"{form.kind}_template": _fenced(template(form, origin)),
        f"{form.kind}_example": _fenced(example(form, origin)),
    }


def _answer(number: int) -> str:
    return f'{{"task_id": "t{number}", "result": "$RESULT_{number}"}}'


def _value(field: Field, say: Say) -> str:
    words = " \\| ".join(f"`{word}`" for word in field.values)
    shown = words or say(_VALUES[field.form])
    return f"{shown}{say(', ')}{say('may be repeated')}" if field.repeats else shown


def _raw(site: Site) -> str:
    return "/".join((site.raw_host or site.host, "OWNER/REPOSITORY", *site.raw, "BRANCH", "FILE"))


def _unit(unit: str, say: Say) -> str:
    return say(unit) if unit else ""


def _rate(rate: Rate, say: Say) -> tuple[str, str, str, str]:
    most = say("no limit")
    if rate.count:
        most = say("{count} in {seconds} s").format(
            count=f"{rate.count:,}", seconds=f"{rate.seconds:,}"
        )
    return (f"`{rate.id}`", say(rate.says), say(rate.who), most)


def _list(items: Iterable[str]) -> str:
    return "\n".join(f"- {item}" for item in items)


def _fenced(text: str) -> str:
    return f"```text\n{text}\n```"


def _table(say: Say, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [tuple(map(say, head)), ("---",) * len(head), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)

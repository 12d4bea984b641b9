"""The typed posts, and the text that says each of them.

The attributes are the fields of the tables, `-` written as `_`; `steps` holds the lines `step`.
Times stay in their one form, so they compare as text. An absent field is None, an absent list is
empty. Source: cold trials spec §1.
"""

from typing import ClassVar, Final

import msgspec

from refold.trials.tables import (
    END,
    FORMATS,
    Format,
    Kind,
    Outcome,
    Seen,
    Status,
    Verdict,
    known_fields,
)

__all__ = [
    "POSTS",
    "Disposition",
    "Message",
    "Post",
    "Review",
    "Revoke",
    "Run",
    "Trial",
    "Withdraw",
    "render",
]


class _Formatted(msgspec.Struct, frozen=True, kw_only=True):
    """What every format post has: the node that it is for, if it says so, and the free text."""

    kind: ClassVar[Kind]

    node: str | None = None
    text: str = ""


class Message(msgspec.Struct, frozen=True):
    """An ordinary message: text."""

    kind: ClassVar[Kind] = "message"

    text: str


class Trial(_Formatted, frozen=True, kw_only=True):
    """A request. `closes` None means 30 days after it was accepted."""

    kind: ClassVar[Kind] = "trial"

    target: str
    goal: str
    done_when: str
    budget: str
    owner_proof: str
    stop: str | None = None
    out_of_bounds: str | None = None
    closes: str | None = None
    contact: str | None = None


class Run(_Formatted, frozen=True, kw_only=True):
    """The report of one try; `requests` from 0, `recheck_of` a message id from 1."""

    kind: ClassVar[Kind] = "run"

    outcome: Outcome
    runtime: str
    owner_proof: Seen
    harness: str | None = None
    model: str | None = None
    started: str | None = None
    duration: str | None = None
    requests: int | None = None
    blocker: str | None = None
    blocker_class: tuple[str, ...] = ()
    recheck_of: int | None = None
    steps: tuple[str, ...] = ()


class Disposition(_Formatted, frozen=True, kw_only=True):
    """The publisher's answer to a run."""

    kind: ClassVar[Kind] = "disposition"

    status: Status
    version: str | None = None
    note: str | None = None


class Review(_Formatted, frozen=True, kw_only=True):
    """A review of a tool."""

    kind: ClassVar[Kind] = "review"

    tool: str
    runtime: str
    verdict: Verdict
    observed: str | None = None
    blocker_class: tuple[str, ...] = ()
    version: str | None = None


class Withdraw(_Formatted, frozen=True, kw_only=True):
    """The publisher closes a trial."""

    kind: ClassVar[Kind] = "withdraw"

    note: str | None = None


class Revoke(_Formatted, frozen=True, kw_only=True):
    """A key ends itself."""

    kind: ClassVar[Kind] = "revoke"

    note: str | None = None


FormatPost = Trial | Run | Disposition | Review | Withdraw | Revoke
Post = Message | FormatPost

POSTS: Final[dict[Kind, type[FormatPost]]] = {
    each.kind: each for each in (Trial, Run, Disposition, Review, Withdraw, Revoke)
}
"""The type of each kind of format post."""
_FORMAT_OF: Final[dict[Kind, Format]] = {each.kind: each for each in FORMATS.values()}


def render(post: Post) -> str:
    """Give the content that says `post`, fields in the order of the template.

    Reading it gives `post` again, if its values are of the forms that the tables name.
    """
    if isinstance(post, Message):
        return post.text
    form = _FORMAT_OF[post.kind]
    lines = [form.marker]
    for field in known_fields(form):
        value = getattr(post, field.attribute)
        if field.repeats:
            lines += [f"{field.name}: {each}" for each in value]
        elif field.form == "classes":
            lines += [f"{field.name}: {', '.join(value)}"] if value else []
        elif value is not None:
            lines.append(f"{field.name}: {value}")
    if post.text:
        lines += [END, post.text]
    return "\n".join(lines)

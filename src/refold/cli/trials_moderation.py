"""`refold trials block`, `unblock`, `tombstone`, `moderation`: what the operator does, and why."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
import msgspec

from refold.cli.options import database_option, open_database
from refold.cli.output import format_option, print_json, print_line
from refold.kernel.errors import Exit, one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from refold.trials.store.moderating import Moderated, Moderation

PAGE = 500

reason_option = click.option("--reason", required=True, help="Why, in a sentence: it is public.")


@click.command()
@click.argument("public_key")
@reason_option
@database_option
@format_option
def block(public_key: str, reason: str, database: str | None, form: str) -> None:
    """Stop a key: it can post no more, what it posted stands. Running nodes follow at once."""
    with _moderation(database) as operator:
        is_new = operator.block(public_key, reason, _now())
    _say(form, "is blocked", "was blocked before", public_key, changed=is_new)


@click.command()
@click.argument("public_key")
@reason_option
@database_option
@format_option
def unblock(public_key: str, reason: str, database: str | None, form: str) -> int:
    """Let a key post again. Exit code 1 when it was not blocked."""
    with _moderation(database) as operator:
        was_blocked = operator.unblock(public_key, reason, _now())
    _say(form, "may post again", "was not blocked", public_key, changed=was_blocked)
    return Exit.DONE if was_blocked else Exit.NO


@click.command()
@click.argument("message", type=click.IntRange(min=1))
@reason_option
@database_option
@format_option
def tombstone(message: int, reason: str, database: str | None, form: str) -> None:
    """Remove the text of a message for good. Its id, key and proof stay; a trial is closed."""
    with _moderation(database) as operator:
        is_new = operator.tombstone(message, reason, _now())
    _say(form, "has no text any more", "had none", str(message), changed=is_new)


@click.command()
@database_option
@format_option
def moderation(database: str | None, form: str) -> None:
    """List what the operator did, and why: the same list is at /v1/public/moderation."""
    from refold.trials.leaf import accepted_text
    from refold.trials.store.moderating import Moderation

    rows: list[Moderated] = []
    with open_database(database, readonly=True) as opened, opened.read() as connection:
        while page := Moderation(connection).page(rows[-1].id if rows else 0, PAGE):
            rows += page
    if form == "json":
        items = [{**msgspec.structs.asdict(row), "at": accepted_text(row.at)} for row in rows]
        print_json({"items": items})
        return
    for row in rows:
        print_line(f"{accepted_text(row.at)}  {row.action} {row.subject}: {one_line(row.reason)}")
    print_line(f"{len(rows):,} entries")


@contextmanager
def _moderation(database: str | None) -> Iterator[Moderation]:
    from refold.trials.store.moderating import Moderation

    with open_database(database, durability="full") as opened, opened.write() as connection:
        yield Moderation(connection)


def _now() -> int:
    from refold.kernel.utc import now

    return int(now().timestamp())


def _say(form: str, done: str, was_so: str, subject: str, *, changed: bool) -> None:
    if form == "json":
        print_json({"subject": subject, "changed": changed})
    else:
        print_line(f"{one_line(subject)} {done if changed else was_so}")

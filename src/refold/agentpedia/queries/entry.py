"""An entry as readers see it: asked for more than anything else, so it is one statement.

Source: spec §§6, 9, 12.
"""

from typing import Any

import msgspec
from sqlalchemy import BindParameter, bindparam, func, select

from refold.agentpedia.indexer.shown import inline_text
from refold.agentpedia.queries.look import STANDING, Look, standing_at
from refold.agentpedia.queries.model import (
    MAX_INLINE,
    AuthorCount,
    Entry,
    Redirect,
    VersionText,
    Warned,
    first,
)
from refold.agentpedia.queries.questions import Question
from refold.agentpedia.queries.texts import MAX_TEXT, file_text, item_of
from refold.agentpedia.slug import entry_key, normalize_slug
from refold.agentpedia.store import StoredVersion, tables
from refold.agentpedia.store.rows import STEP, indexed, lookup, step_at
from refold.kernel.errors import InputError
from refold.metaid.store.tables import bodies, pins

__all__ = ["entry_of", "key_of", "redirect_of"]

MAX_REDIRECTS = 8
"""Plates that are followed: nobody means more."""

_E, _H = tables.entries.c, tables.history.c
_KEY: BindParameter[str] = bindparam("key")


class _Contest(msgspec.Struct, frozen=True, gc=False):
    pin: str
    expected: str
    declared: str


class EntryValue(msgspec.Struct, frozen=True, rename="camel", gc=False):
    """The value of an entry as it is stored (docs/agentpedia-view.md), without its history."""

    head: str
    display_head: str
    display_mode: str
    status: str
    quality: str
    disputed: list[str]
    contests: list[_Contest]
    redirect: str | None
    frozen_at: str | None
    baseline_rev: str | None
    writers: list[str]
    awaiting_review: list[str]
    authors: list[AuthorCount]


_read_value = msgspec.json.Decoder(EntryValue).decode
_read_fold = msgspec.json.Decoder(dict[str, Any]).decode


def _entry(_: str) -> Any:  # noqa: ANN401 (a statement of many columns)
    """Give the value, the version displayed, the body that has its text, and how the view stands.

    Of a text in a file the body is that of the rev, which names the file; it is not read.
    """
    fold = tables.others.alias("fold")
    text_pin = func.coalesce(_H.text_pin, _H.name)
    joined = (
        tables.entries.outerjoin(tables.folded, tables.folded.c.id == 1)
        .outerjoin(fold, (fold.c.section == "fold") & (fold.c.key == "fold"))
        .outerjoin(tables.history, (_H.name == _E.display_head) & _H.height.is_not(None))
        .outerjoin(pins, (pins.c.pin == text_pin) & _H.content_ref.is_(None))
        .outerjoin(bodies, bodies.c.sha256 == pins.c.sha256)
    )
    return (
        select(*STANDING, fold.c.value, _E.value, bodies.c.body, *STEP)
        .select_from(joined)
        .where(_E.key == _KEY)
    )


_ENTRY = Question(_entry)
_PLATE = Question(lambda _: select(_E.value).where(_E.key == _KEY))


def key_of(lang: str, slug: str) -> str:
    """Give the entry key for a language and a slug, or a title, which is normalised as in links."""
    try:
        return entry_key(lang, normalize_slug(slug))
    except InputError:
        return entry_key(lang, slug)


def entry_of(look: Look, key: str) -> Entry:
    """Give an entry. Raises InputError `entry-unknown`."""
    row = _ENTRY.first(look.connection, key=indexed(lookup(key)))
    if row is None:
        raise InputError("entry-unknown", "there is no such entry", "search, or list them", "/key")
    look.standing = standing_at(*row[:4])
    value = _read_value(row[5])
    version = step_at(row[7:]).version if row[7] is not None else None
    shown = None if version is None else _shown(look, version, row[6])
    redirect = None if value.redirect is None else redirect_of(look, key, value.redirect)
    is_doubtful = row[4] is not None and _read_fold(row[4])["notAuthoritativeFrom"] is not None
    lang, _, slug = key.partition(":")
    authors = value.authors
    if len(authors) > 1:
        authors = sorted(authors, key=lambda one: (-one.versions, one.editor))
    return Entry(
        id=key,
        lang=lang,
        slug=slug,
        status=value.status,
        quality=value.quality,
        display_mode=value.display_mode,
        head=value.head,
        display_head=value.display_head,
        version=shown,
        warnings=_warnings(value, shown, is_doubtful=is_doubtful),
        redirect=redirect,
        disputed=first(value.disputed),
        disputed_count=len(value.disputed),
        contest_count=len(value.contests),
        awaiting_review=first(value.awaiting_review),
        awaiting_review_count=len(value.awaiting_review),
        frozen_at=value.frozen_at,
        baseline_rev=value.baseline_rev,
        composition=tuple(authors[:MAX_INLINE]),
        author_count=len(authors),
        version_count=sum(one.versions for one in authors),
        height=(look.standing.tip or 0) - 1,
        digest=look.standing.digest,
    )


def _shown(look: Look, version: StoredVersion, body: bytes | None) -> VersionText:
    """Give the version displayed with its text."""
    item = item_of(look, version)
    text: str | None = None
    is_unverified = False
    if version.content_ref is not None:
        text, is_unverified = file_text(look, version)
    elif body is not None:
        text = inline_text(body)
    is_long = text is not None and len(text) > MAX_TEXT
    return VersionText(
        **msgspec.structs.asdict(item),
        text=None if item.withheld or is_long else text,
        is_unverified=is_unverified,
        is_long=is_long,
    )


def _warnings(
    value: EntryValue, shown: VersionText | None, *, is_doubtful: bool
) -> tuple[Warned, ...]:
    told: list[Warned] = []
    if value.disputed:
        told.append("disputed")
    if value.status == "frozen":
        told.append("frozen")
    if value.status == "protected":
        told.append("protected")
    if value.awaiting_review:
        told.append("awaiting-review")
    if value.redirect is not None:
        told.append("redirect")
    if shown is not None and shown.is_unverified:
        told.append("unverified")
    if shown is not None and shown.withheld is not None:
        told.append("withheld")
    if is_doubtful:
        told.append("not-authoritative")
    return tuple(told)


def redirect_of(look: Look, key: str, slug: str) -> Redirect:
    """Follow the plates from an entry; a loop, or too long a chain, has no end."""
    lang = key.partition(":")[0]
    chain: list[str] = []
    there: str | None = slug
    while there is not None and len(chain) < MAX_REDIRECTS:
        target = f"{lang}:{there}"
        if target == key or target in chain:
            return Redirect(slug, (*chain, target), None, is_loop=True)
        chain.append(target)
        row = _PLATE.first(look.connection, key=indexed(target))
        if row is None:
            return Redirect(slug, tuple(chain), None, is_loop=False)
        there = _read_value(row[0]).redirect
    return Redirect(slug, tuple(chain), chain[-1] if there is None else None, is_loop=False)

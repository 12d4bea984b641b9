"""Search: what was found, with titles and windows of the text displayed."""

from typing import Any

from sqlalchemy import Select, func, select

from refold.agentpedia.indexer.shown import inline_text
from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import Found, FoundSnippet
from refold.agentpedia.queries.questions import Question, named_in
from refold.agentpedia.queries.texts import file_text, hidden_of
from refold.agentpedia.searchquery import parse_query
from refold.agentpedia.snippets import snippets
from refold.agentpedia.store import StoredVersion, tables
from refold.agentpedia.store.rows import STEP, step_at
from refold.agentpedia.store.search import Place, SearchIndex
from refold.kernel.errors import InputError
from refold.metaid.store.tables import bodies, pins

__all__ = ["search"]

_C, _H = tables.entries.c, tables.history.c


def _found(kind: str) -> Select[Any]:
    """Give what is shown of entries by their keys in the index, and the body with the text."""
    text_pin = func.coalesce(_H.text_pin, _H.name)
    joined = (
        tables.entries.outerjoin(
            tables.history, (_H.name == _C.display_head) & _H.height.is_not(None)
        )
        .outerjoin(pins, (pins.c.pin == text_pin) & _H.content_ref.is_(None))
        .outerjoin(bodies, bodies.c.sha256 == pins.c.sha256)
    )
    shown = (_C.key, _C.long_key, _C.title, _C.status, _C.quality, _C.display_head, bodies.c.body)
    return select(*shown, *STEP).select_from(joined).where(named_in(kind, _C.key, "keys"))


_FOUND = Question(_found)


def search(
    look: Look, text: str, limit: int, after: Place | None, lang: str | None
) -> tuple[list[Found], Place | None]:
    """Give what was found for a question, best first, and where the next page begins.

    Texts that the operator hides are not found; without a word to search for, nothing is. Raises
    InputError `search-too-long`, `search-after`.
    """
    try:
        query = parse_query(text)
    except InputError as error:
        if error.code != "search-empty":
            raise
        return [], None
    page = SearchIndex(look.connection).search(query, limit=limit, lang=lang, after=after)
    rows = {
        row[0]: row[1:] for row in _FOUND.rows(look.connection, keys=[h.key for h in page.hits])
    }
    found = []
    for hit in page.hits:
        row = rows.get(hit.key)
        if row is None:
            continue
        long_key, title, status, quality, display_head, body, *step = row
        version = None if step[0] is None else step_at(step).version
        if version is not None and hidden_of(look, version) is not None:
            continue
        said = _text(look, version, body)
        windows = tuple(
            FoundSnippet(w.text, w.hits, w.is_start, w.is_end)
            for w in snippets(said, query, count=1)
        )
        found.append(
            Found(
                id=long_key or hit.key,
                title=title,
                status=status,
                quality=quality,
                display_head=display_head,
                score=hit.score,
                snippets=windows,
            )
        )
    return found, page.next


def _text(look: Look, version: StoredVersion | None, body: bytes | None) -> str:
    """Give the text that is displayed, "" when there is none."""
    if version is None:
        return ""
    if version.content_ref is not None:
        return file_text(look, version)[0] or ""
    return inline_text(body or b"") or ""

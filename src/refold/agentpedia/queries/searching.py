"""Search: what was found, with titles and windows of the text displayed."""

from collections.abc import Sequence

from sqlalchemy import select

from refold.agentpedia.queries.look import Look
from refold.agentpedia.queries.model import Found, FoundSnippet
from refold.agentpedia.queries.texts import hidden_of, texts_of, versions_named
from refold.agentpedia.searchquery import parse_query
from refold.agentpedia.snippets import snippets
from refold.agentpedia.store import StoredVersion, tables
from refold.agentpedia.store.search import Place, SearchIndex
from refold.db import one_of
from refold.kernel.errors import InputError

__all__ = ["search"]

_C = tables.entries.c


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
    rows = _rows(look, [hit.key for hit in page.hits])
    versions = versions_named(look, [row[4] for row in rows.values()])
    texts = texts_of(look, list(versions.values()))
    found = []
    for hit in page.hits:
        row = rows.get(hit.key)
        version = None if row is None else versions.get(row[4])
        if row is None or (version is not None and _is_hidden(look, version)):
            continue
        said = "" if version is None else texts.get(version.id, "")
        windows = tuple(
            FoundSnippet(w.text, w.hits, w.is_start, w.is_end) for w in snippets(said, query)
        )
        key, title, status, quality, display_head = row
        found.append(
            Found(
                id=key,
                title=title,
                status=status,
                quality=quality,
                display_head=display_head,
                score=hit.score,
                snippets=windows,
            )
        )
    return found, page.next


def _is_hidden(look: Look, version: StoredVersion) -> bool:
    return hidden_of(look, version) is not None


def _rows(look: Look, keys: Sequence[str]) -> dict[str, tuple[str, str, str, str, str]]:
    """Give key, title, status, quality and displayed version of entries by key in the index."""
    if not keys:
        return {}
    asked = select(_C.key, _C.long_key, _C.title, _C.status, _C.quality, _C.display_head)
    rows = look.connection.execute(asked.where(one_of(look.connection, _C.key, list(keys))))
    return {key: (long_key or key, *rest) for key, long_key, *rest in rows}  # type: ignore[misc] # five

"""The routes of the network's existing L2 service (see `queries.compat`).

What is wrong is told as problem details, with the members `error` and `entryKey` that its readers
know beside them. For that the members of some queries may be missing and are looked for here, which
no document could say: those routes are described in docs/agentpedia-api.md instead.
"""

import re
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

from refold.agentpedia.api.asked import MAX_NAME, Lang
from refold.agentpedia.api.asking import Asking
from refold.agentpedia.queries import compat, lists
from refold.agentpedia.queries.compat import OldEditor, OldEntry, OldLink, OldList, OldSort, OldSync
from refold.agentpedia.queries.look import Look
from refold.kernel.errors import InputError
from refold.serving.answers import NO_STORE, Answer
from refold.serving.call import Call
from refold.serving.cursor import MAX_CURSOR_LENGTH, read_cursor, write_cursor
from refold.serving.operation import get
from refold.serving.problem import PROBLEM_TYPE, ProblemDetails, fault_of

__all__ = ["CompatApi"]

MAX_LIST, DEFAULT_LIST = 200, 50
"""Items of a page, as that service has them."""

_OFFSET = re.compile("[0-9]{1,9}")
_Text = Annotated[str, Meta(max_length=MAX_NAME)]


class NamedAsked(msgspec.Struct, frozen=True):
    """An entry by language and slug; both have to be there, and it is said how if not."""

    lang: _Text = ""
    slug: _Text = ""


class ListAsked(msgspec.Struct, frozen=True):
    """A page of entries."""

    lang: Lang | None = None
    sort: OldSort = "updated"
    cursor: Annotated[str, Meta(max_length=MAX_CURSOR_LENGTH)] = ""
    limit: Annotated[int, Meta(description="1 to 200; anything else counts as 50.")] = DEFAULT_LIST


class EditorAsked(msgspec.Struct, frozen=True):
    """An editor."""

    metaid: _Text = ""


class OldBacklinks(msgspec.Struct, frozen=True, rename="camel"):
    """What links to an entry."""

    entry_key: str
    backlinks: tuple[OldLink, ...]


class Ok(msgspec.Struct, frozen=True):
    """The process answers."""

    ok: bool


class OldProblem(ProblemDetails, frozen=True, rename="camel", kw_only=True):
    """Problem details with what readers of that service look for."""

    error: str
    entry_key: str | UnsetType = UNSET


class CompatApi:
    """See the module."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._totals: dict[str | None, tuple[str, int]] = {}

    @get(
        "/api/agentpedia/entry", summary="Give an entry, as the existing L2 does",
        listed=False,
    )  # fmt: skip
    async def entry(self, asked: NamedAsked, call: Call) -> Answer[OldEntry]:
        """Give an entry with its head, history, backlinks and editors."""
        try:
            key = _key(asked)
        except InputError as error:
            return _wrong(call, error)
        try:
            return Answer(await self._asking.in_thread(call, compat.old_entry, key))
        except InputError as error:
            return _wrong(call, error, key)

    @get(
        "/api/agentpedia/entry_list", summary="List entries, as the existing L2 does",
        codes=("cursor-unknown",),
    )  # fmt: skip
    def entry_list(self, asked: ListAsked, call: Call) -> Answer[OldList]:
        """Give a page; `cursor` is the next offset, or "" on the last page."""
        limit = asked.limit if 1 <= asked.limit <= MAX_LIST else DEFAULT_LIST
        scope = f"old entry_list {asked.sort} {asked.lang}".encode()

        def ask(look: Look) -> OldList:
            place = _place(asked, scope)
            items, following = compat.old_list(look, asked.sort, limit, place, asked.lang)
            cursor = ""
            if following is not None:
                cursor = f"{place[0] + limit}.{write_cursor(scope, following)}"
            return OldList(self._total(look, asked.lang), items, cursor, asked.sort)

        try:
            return Answer(self._asking.inline(ask))
        except InputError as error:
            return _wrong(call, error)

    @get(
        "/api/agentpedia/backlinks", summary="List backlinks, as the existing L2 does",
        listed=False,
    )  # fmt: skip
    def backlinks(self, asked: NamedAsked, call: Call) -> Answer[OldBacklinks]:
        """Give what links to an entry."""
        try:
            key = _key(asked)
        except InputError as error:
            return _wrong(call, error)
        return Answer(OldBacklinks(key, self._asking.inline(compat.old_backlinks, key)))

    @get(
        "/api/agentpedia/editor", summary="Give an editor, as the existing L2 does",
        listed=False,
    )  # fmt: skip
    def editor(self, asked: EditorAsked, call: Call) -> Answer[OldEditor]:
        """Give an editor."""
        if not asked.metaid:
            missing = InputError("editor-unnamed", "metaid is missing", "give it", "/metaid")
            return _wrong(call, missing)
        try:
            return Answer(self._asking.inline(compat.old_editor, asked.metaid))
        except InputError as error:
            return _wrong(call, error)

    @get("/api/agentpedia/sync", summary="Say how far the reading came, as the existing L2 does")
    async def sync(self, call: Call) -> OldSync:
        """Give cursors by path, and how many pins were applied and folded."""
        return await self._asking.in_thread(call, compat.old_sync)

    @get("/api/agentpedia/healthz", summary="Tell whether the process answers", cache=NO_STORE)
    def healthz(self) -> Ok:
        """Give `{"ok": true}`."""
        return Ok(ok=True)

    @get("/healthz", summary="Tell whether the process answers", cache=NO_STORE)
    def healthz_above(self) -> Ok:
        """Give `{"ok": true}`, where the existing L2 has it."""
        return Ok(ok=True)

    def _total(self, look: Look, lang: str | None) -> int:
        """Count entries once for each state of the view."""
        version = look.standing.version
        known = self._totals.get(lang)
        if known is None or known[0] != version:
            if len(self._totals) > MAX_LIST:
                self._totals.clear()
            known = self._totals[lang] = (version, lists.count_entries(look, lang))
        return known[1]


def _key(asked: NamedAsked) -> str:
    missing = [name for name in ("lang", "slug") if not getattr(asked, name)]
    if missing:
        raise InputError(
            "entry-unnamed", f"{' and '.join(missing)} missing", "give both", f"/{missing[0]}"
        )
    return f"{asked.lang}:{asked.slug}"


def _place(asked: ListAsked, scope: bytes) -> tuple[int, tuple[Any, ...] | None]:
    """Read a cursor: one of ours, or an offset alone, as that service has it.

    Raises InputError `cursor-unknown`.
    """
    offset, _, rest = asked.cursor.partition(".")
    if not asked.cursor:
        return 0, None
    if not _OFFSET.fullmatch(offset) or (rest == "") != ("." not in asked.cursor):
        raise InputError(
            "cursor-unknown", "this cursor is none of this list", "begin without one", "/cursor"
        )
    keyset = tuple[int, int, str] if asked.sort == "featured" else tuple[int, str]
    return int(offset), read_cursor(rest, scope, keyset) if rest else None


def _wrong(call: Call, error: InputError, key: str | None = None) -> Answer[Any]:
    """Give what is wrong in both forms."""
    fault = fault_of(error, call.site.codes, "")
    details = msgspec.structs.asdict(fault.details(call.site.origin))
    problem = OldProblem(**details, error=error.message, entry_key=UNSET if key is None else key)
    return Answer(problem, status=fault.status, media_type=PROBLEM_TYPE, cache=NO_STORE)

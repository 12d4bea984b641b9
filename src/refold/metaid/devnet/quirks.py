"""The ways in which indexers differ from what one would expect, each a switch.

Every default is what one would expect; a profile sets what a real service does. All of them may be
changed while the indexer runs. `facts` in the description of a switch names the section of the
facts about MetaID that it stages, `pitfalls` the numbers of their list.
"""

from typing import Annotated, Final, Literal, get_args

import msgspec
from msgspec import Meta

from refold.kernel.errors import UsageError

Profile = Literal["clean", "man-v2", "man-p2p", "v1"]
PROFILE_NAMES: Final[tuple[Profile, ...]] = get_args(Profile)


def _about(text: str, facts: str, *pitfalls: int) -> Meta:
    return Meta(description=text, extra={"facts": facts, "pitfalls": pitfalls})


def _number(text: str, most: int, facts: str, *pitfalls: int) -> Meta:
    meta = _about(text, facts, *pitfalls)
    return Meta(description=meta.description, extra=meta.extra, ge=0, le=most)


class Quirks(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What the indexer does; with the defaults, all that one would expect."""

    generation: Annotated[
        Literal["v2", "v1"],
        _about("v1: page numbers and exact totals, other routes, fewer members", "§3.8", 35),
    ] = "v2"
    prefix: Annotated[
        Literal["both", "api", "bare"],
        _about("routes answer with /api in front, without, or both", "§3.1", 34),
    ] = "both"

    # lists
    size_over_100_is_20: Annotated[
        bool, _about("a size above 100 silently becomes 20, not 100", "§3.4", 1)
    ] = False
    newest_first: Annotated[
        bool, _about("lists run down the index keys, not along the chain", "§3.4", 5)
    ] = False
    inner_sort: Annotated[
        Literal["none", "seenTime", "timestamp"],
        _about("the rows of a page are sorted again by this, newest first", "§3.4"),
    ] = "none"
    raw_cursor: Annotated[
        bool, _about("cursors are index keys with & in them, checked against nothing", "§3.4")
    ] = False
    cursor_on_last_page: Annotated[
        bool,
        _about("the last page has a nextCursor, only the empty one behind has none", "§3.4", 2),
    ] = False
    null_lists: Annotated[bool, _about("an empty list is null", "§3.4", 3)] = False
    total_lag: Annotated[
        int,
        _number("`total` is counted every so many blocks only, 0 at first", 1_000, "§3.4", 4),
    ] = 0
    short_pages: Annotated[
        int, _number("percent of pages that hold fewer rows than asked for", 100, "§3.4", 2)
    ] = 0
    lost_rows: Annotated[
        int, _number("percent of pins whose record lists can't load: they lack it", 100, "§3.4", 30)
    ] = 0
    short_rows_bare: Annotated[
        bool, _about("rows of pin/list and mempool/list leave height and others empty", "§3.5")
    ] = False

    # mempool and blocks
    mempool_rows: Annotated[
        bool, _about("unconfirmed pins stand in the lists, at height -1", "§3.7", 6)
    ] = False
    mempool_key: Annotated[
        Literal["received", "far-future"],
        _about("which time the index keys of unconfirmed pins have", "§3.4", 7),
    ] = "received"
    mempool_unseen: Annotated[
        bool, _about("the mempool is not read: pins are unknown until mined", "§3.3", 26)
    ] = False
    stale_keys: Annotated[
        int,
        _number(
            "blocks for which a mined pin keeps its mempool key too; needs mempool_rows and"
            " newest_first",
            1_000,
            "§3.4",
            7,
        ),
    ] = 0
    ignores_reorgs: Annotated[
        bool, _about("heights only go forward, nothing is rolled back", "§3.7", 28)
    ] = False
    skip_every: Annotated[
        int,
        _number(
            "blocks whose height divides by this are never read; 0 for none", 2**31, "§3.7", 28
        ),
    ] = 0
    stuck: Annotated[bool, _about("no new block or pin is read", "§3.2", 27)] = False
    sync_height: Annotated[
        Literal["number", "text", "null"],
        _about("what /debug/sync says of the height", "§3.2", 27),
    ] = "number"

    # bodies
    list_body: Annotated[
        Literal["base64", "summary", "preview", "v1"],
        _about(
            "bodies in lists: whole in contentBody; whole in contentSummary; its first 4,096"
            " bytes; 150 bytes and contentBody whole",
            "§3.6",
            *(9, 10, 11),
        ),
    ] = "base64"
    cut_letters: Annotated[
        bool, _about("a cut may fall inside a letter, which is then U+FFFD", "§3.6", 13)
    ] = False
    metadata_only: Annotated[
        int, _number("percent of pins whose body the node does not hold", 100, "§3.9", 12, 32)
    ] = 0
    original_body_missing: Annotated[
        bool, _about("rows of modified pins lack the first body", "§3.5")
    ] = False
    odd_version_0: Annotated[
        bool,
        _about(
            "version 0 has no body when nobody modified the pin, else the modifier's length",
            "§3.2",
        ),
    ] = False
    odd_content: Annotated[
        bool, _about("/content says text/plain, wraps mp4, prefixes base64 images", "§3.6", 16)
    ] = False

    # what rows say
    creator: Annotated[
        Literal["payer", "output"],
        _about("`creator` is who pays for the pin, or whom the first output names", "§1.4", 20),
    ] = "payer"
    globalmetaid_missing: Annotated[bool, _about("globalMetaId is empty", "§3.5", 23)] = False
    modify: Annotated[
        Literal["never", "owner", "anyone"],
        _about("whose modify and revoke pins change the row of their target", "§3.7", 19),
    ] = "never"
    modify_from_mempool: Annotated[
        bool, _about("a modify is applied before it is mined", "§3.7", 19)
    ] = False
    content_links: Annotated[bool, _about("`content` of list rows is a full URL", "§3.6")] = False
    milliseconds: Annotated[bool, _about("times are in milliseconds", "§6", 18)] = False

    # pins that are not there
    unknown_pin: Annotated[
        Literal["404", "zero", "code-100"],
        _about(
            "an unknown pin: 404 with code 100; 200 with code 1 and an empty pin, `fail` at"
            " /content; 200 with code 100",
            "§3.3",
            24,
        ),
    ] = "404"
    aliases: Annotated[
        bool, _about("a pin is also found under its id by the plain hash", "§1.3", 22)
    ] = False


_MAN: Final = Quirks(
    size_over_100_is_20=True,
    newest_first=True,
    inner_sort="seenTime",
    raw_cursor=True,
    cursor_on_last_page=True,
    null_lists=True,
    total_lag=6,
    short_rows_bare=True,
    mempool_rows=True,
    stale_keys=1,
    ignores_reorgs=True,
    sync_height="text",
    list_body="summary",
    odd_version_0=True,
    odd_content=True,
    creator="output",
    modify="anyone",
    modify_from_mempool=True,
    unknown_pin="zero",
)

PROFILES: Final[dict[Profile, Quirks]] = {
    "clean": Quirks(),
    "man-v2": _MAN,
    "man-p2p": msgspec.structs.replace(
        _MAN,
        inner_sort="timestamp",
        mempool_key="far-future",
        list_body="preview",
        cut_letters=True,
        content_links=True,
        unknown_pin="404",
        aliases=True,
    ),
    "v1": Quirks(
        generation="v1",
        newest_first=True,
        null_lists=True,
        list_body="v1",
        cut_letters=True,
        odd_content=True,
        modify="owner",
        unknown_pin="code-100",
        ignores_reorgs=True,
    ),
}
"""What one would expect; the main indexer of April 2026; its successor; the first generation."""


class Switch(msgspec.Struct, frozen=True):
    """A switch to show: name, its values or range, default, one line of help, and its facts."""

    name: str
    values: str
    default: bool | int | str
    help: str
    facts: str
    pitfalls: tuple[int, ...]


def switches() -> list[Switch]:
    """Give all switches, in their order."""
    found = []
    for field in msgspec.structs.fields(Quirks):
        kind, meta = get_args(field.type)
        values = "on|off" if kind is bool else f"0..{meta.le}" if kind is int else ""
        values = values or "|".join(get_args(kind))
        help_line, extra = meta.description, meta.extra
        found.append(
            Switch(field.name, values, field.default, help_line, extra["facts"], extra["pitfalls"])
        )
    return found


def changed(quirks: Quirks, profile: str | None, changes: dict[str, object]) -> Quirks:
    """Give the quirks of a profile (None: those given) with some changed.

    Raises `UsageError`: `quirk-profile`, `quirk-name`, `quirk-value`.
    """
    if profile is not None:
        names: dict[str, Quirks] = {str(name): value for name, value in PROFILES.items()}
        if profile not in names:
            raise UsageError(
                "quirk-profile", f"no profile is called {profile}", f"one of {', '.join(names)}"
            )
        quirks = names[profile]
    known = {switch.name: switch for switch in switches()}
    for name in changes:
        if name not in known:
            raise UsageError("quirk-name", f"no quirk is called {name}", f"one of {sorted(known)}")
    try:
        return msgspec.convert(msgspec.to_builtins(quirks) | changes, Quirks)
    except msgspec.ValidationError as error:
        raise UsageError(
            "quirk-value",
            str(error),
            "; ".join(f"{name}: {known[name].values}" for name in sorted(changes)),
        ) from error

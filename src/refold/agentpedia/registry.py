"""Registry documents: the accepted editor events as a chain of payloads, and a pointer to its end.

`registry-root` → `registry-index` → editor events (PRD §4.6). Both are derived: a view and its
events give them, the genesis issuer pins them (PRD §4.7), and the fold never reads them. They save
a reader the way through all pins to the registry; who doubts them folds the pins and compares.
The shape, where the PRD is silent, is defined in docs/agentpedia-signals.md.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec

from refold.agentpedia.event import EDITOR, PREFIX, position
from refold.kernel.canon import canonical, digest
from refold.kernel.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Iterable

    from refold.agentpedia.event import Event
    from refold.agentpedia.state import Editor, State
    from refold.agentpedia.view import View

ROOT = PREFIX + "registry-root"
INDEX = PREFIX + "registry-index"
"""Paths to pin the documents under; to the fold both are `unknown-path`."""

MAX_EVENTS = 500
"""Editor events one index lists: some 110 KB. Whole blocks are listed, so one crowded block may
carry an index above it; `remaining` says what the next one will take."""


class EditorEvent(msgspec.Struct, frozen=True, gc=False, rename="camel"):
    """One accepted editor event, as an index lists it: by whom, and about which editor."""

    pin: str
    height: int
    tx_index: int
    action: str
    editor: str
    sender: str


class RegistryIndex(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """One link of the chain: the accepted editor events of the blocks it covers, ends included.

    `sequence` counts from 0; `prev_index` is the pin of the link before and `prev_digest` the
    SHA-256 of that link's canonical JSON, null for the first. `remaining` editor events lie in
    later blocks below the tip of the view it was made from.
    """

    v: Literal[1]
    rules: str
    genesis: str
    sequence: int
    prev_index: str | None
    prev_digest: str | None
    from_height: int
    through_height: int
    events: list[EditorEvent]
    remaining: int


class RegistryRoot(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True):
    """The pointer to the last link, with what a reader needs to check it against a fold.

    `index` is the pin of that link: null until the link has been pinned and the root is made again
    with its id. `active` counts the registered editors at `tip`, without those banned or revoked.
    """

    v: Literal[1]
    rules: str
    genesis: str
    constitution: str
    index: str | None
    index_digest: str
    sequence: int
    through_height: int
    tip: int
    view_digest: str
    active: int


class PinnedIndex(msgspec.Struct, frozen=True):
    """A link that has been pinned: the pin, and what was pinned."""

    pin: str
    index: RegistryIndex


class RegistryDocuments(msgspec.Struct, frozen=True):
    """What to pin: `index` first, then `root`, once the id of the index's pin is in it."""

    index: RegistryIndex
    root: RegistryRoot


def registry_documents(
    view: View,
    events: Iterable[Event],
    previous: PinnedIndex | None = None,
    index_pin: str | None = None,
) -> RegistryDocuments:
    """Derive the next index after `previous` (the first without one), and the root for it.

    `events` are those folded into the view, in any order; `index_pin` is the pin of this index,
    once it has one. The view's tip is taken as a height not yet reached: the index covers blocks
    below it. Raises `InputError`: `registry-no-genesis`, `registry-previous-foreign` (another
    genesis, or other rules), `registry-previous-differs` (what it lists is not what this fold
    accepted), `registry-nothing-new`.
    """
    state = view.state
    if not state.constitutions:
        raise InputError(
            "registry-no-genesis", "the view has no genesis", "fold a stream with a constitution"
        )
    accepted = _accepted(state, events)
    start = 0 if previous is None else previous.index.through_height + 1
    if previous is not None:
        _check_previous(state, accepted, previous.index)
    if view.tip <= start:
        raise InputError(
            "registry-nothing-new",
            f"the view ends at {view.tip}, the previous index covers blocks through {start - 1}",
            "export again when there are later blocks",
        )
    index = _next_index(view, accepted, start, previous)
    root = RegistryRoot(
        v=1,
        rules=index.rules,
        genesis=index.genesis,
        constitution=state.constitutions[-1].pin,
        index=index_pin,
        index_digest=document_digest(index),
        sequence=index.sequence,
        through_height=index.through_height,
        tip=view.tip,
        view_digest=view.digest(),
        active=sum(map(_is_active, state.editors.values())),
    )
    return RegistryDocuments(index, root)


def _is_active(editor: Editor) -> bool:
    return editor.registered_at is not None and not editor.banned and not editor.revoked


def payload_bytes(document: RegistryIndex | RegistryRoot) -> bytes:
    """Give the canonical JSON of a document: the body to pin."""
    return canonical(msgspec.to_builtins(document))


def document_digest(document: RegistryIndex | RegistryRoot) -> str:
    """Give the SHA-256 of a document's canonical JSON in lower-case hex."""
    return digest(msgspec.to_builtins(document))


def read_index(data: bytes) -> RegistryIndex:
    """Read a pinned index. Raises `InputError` (`registry-index-unreadable`)."""
    try:
        return msgspec.json.decode(data, type=RegistryIndex)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(
            "registry-index-unreadable",
            f"not a registry index: {error}",
            "give the body of the pin, as it was exported",
        ) from error


def _accepted(state: State, events: Iterable[Event]) -> list[EditorEvent]:
    """Give the editor events that the fold accepted, in order."""
    refused = {grave.pin for grave in state.graveyard}
    chosen = [e for e in events if e.path == EDITOR and e.pin not in refused]
    return [_listed(event) for event in sorted(chosen, key=position)]


def _listed(event: Event) -> EditorEvent:
    payload = event.payload
    return EditorEvent(
        pin=event.pin,
        height=event.height,
        tx_index=event.tx_index,
        action=str(payload["action"]),
        editor=str(payload["editor"]),
        sender=event.sender,
    )


def _check_previous(state: State, accepted: list[EditorEvent], previous: RegistryIndex) -> None:
    """Rebuild what a previous index must list, and compare whole."""
    genesis = state.constitutions[0].pin
    if (previous.genesis, previous.rules) != (genesis, state.rules.name):
        raise InputError(
            "registry-previous-foreign",
            f"the previous index is of genesis {previous.genesis} under {previous.rules} rules,"
            f" this view of {genesis} under {state.rules.name}",
            "give the last index of this chain",
        )
    if previous.events != _between(accepted, previous.from_height, previous.through_height):
        raise InputError(
            "registry-previous-differs",
            f"index {previous.sequence} lists other editor events in blocks"
            f" {previous.from_height} to {previous.through_height} than this fold accepted",
            "start a new chain without a previous index: the old one is not of these pins",
        )


def _between(accepted: list[EditorEvent], first: int, last: int) -> list[EditorEvent]:
    return [event for event in accepted if first <= event.height <= last]


def _next_index(
    view: View, accepted: list[EditorEvent], start: int, previous: PinnedIndex | None
) -> RegistryIndex:
    ahead = _between(accepted, start, view.tip - 1)
    through = view.tip - 1
    if len(ahead) > MAX_EVENTS:
        # The block that crosses the limit waits for the next index, unless it is the first.
        through = max(ahead[MAX_EVENTS].height - 1, ahead[0].height)
    events = _between(ahead, start, through)
    return RegistryIndex(
        v=1,
        rules=view.state.rules.name,
        genesis=view.state.constitutions[0].pin,
        sequence=0 if previous is None else previous.index.sequence + 1,
        prev_index=None if previous is None else previous.pin,
        prev_digest=None if previous is None else document_digest(previous.index),
        from_height=start,
        through_height=through,
        events=events,
        remaining=len(ahead) - len(events),
    )

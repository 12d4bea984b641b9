"""Entries and versions: what a name means, which key a version counts for, what ends a freeze."""

from refold.agentpedia.state import Entry, State, Status, Version


def entry_at(state: State, key: str) -> Entry | None:
    """Give the record that an entry key names now."""
    index = state.keys.get(key)
    return None if index is None else state.records[index]


def resolve(state: State, name: str) -> Version | None:
    """Give the version that an id names, None when it names none.

    Under `prd` the pin of a revert or of an effective revert-to names the version it made, and a
    displaced record stays in sight; under `deployed` what no key holds any more is gone
    (faults 5 and 15).
    """
    version = state.versions.get(name)
    if version is None:
        alias = state.aliases.get(name)
        return None if alias is None else state.versions[alias]
    if state.rules.checked_transfers or state.records[version.record].keys:
        return version
    return None


def canonical_name(state: State, entry: Entry, name: str | None) -> str | None:
    """Give the version id behind a name, aliases resolved; what names no version stays as it is.

    Most revs name the head, which is known without looking into the memory of all versions.
    """
    if name == entry.head:
        return entry.head
    version = None if name is None else resolve(state, name)
    return name if version is None else version.id


def key_of(state: State, version: Version) -> str:
    """Give the key a version counts for: the one it was written under (spec §5).

    Under `deployed`, when that key holds another record by now, the smallest that holds this one.
    """
    keys = state.records[version.record].keys
    if state.rules.checked_transfers or version.entry_key in keys or not keys:
        return version.entry_key
    return min(keys)


def restore_version(
    state: State,
    entry: Entry,
    target: Version,
    *,
    version_id: str,
    made_by: str,
    key: str,
    author: str,
    height: int,
) -> None:
    """Make the equivalent of an older version the head: its hash, title and text (spec §5)."""
    state.versions[version_id] = Version(
        id=version_id,
        seq=state.seq,
        record=target.record,
        entry_key=key,
        author=author,
        height=height,
        content_hash=target.content_hash,
        parent_rev=entry.head,
        equivalent_of=made_by,
        title=target.title,
        size=target.size,
        refs_found=target.refs_found,
        content_ref=target.content_ref,
        text_pin=target.text_pin,
    )
    entry.history.append(version_id)
    entry.head = version_id
    if state.rules.aliases:
        state.aliases[made_by] = version_id


def end_freeze(state: State, entry: Entry, status: Status) -> None:
    """Give an entry another status; under `prd` the end of a freeze clears its traces (fault 7)."""
    if entry.status == "frozen" and state.rules.bound_freezes:
        entry.frozen_at = entry.baseline_rev = None
        entry.writers.clear()
        entry.weights.clear()
    entry.status = status

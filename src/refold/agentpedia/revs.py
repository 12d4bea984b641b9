"""Revs: the gates on author, entry and content, and the four types (spec §5)."""

import msgspec

from refold.agentpedia import reputation
from refold.agentpedia.editors import root_of, tier_of
from refold.agentpedia.entries import canonical_name, resolve, restore_version
from refold.agentpedia.event import Event, Fault
from refold.agentpedia.links import refs_found, utf8_length
from refold.agentpedia.reasons import Refusal, need, refuse, refuse_fault
from refold.agentpedia.state import Contest, Editor, Entry, Rate, State, Tier, Version
from refold.agentpedia.wars import weigh_revert


class Rev(msgspec.Struct, gc=False):
    """A rev that passed the gates, with what its type's rule needs to know."""

    event: Event
    lang: str
    key: str
    record: int | None
    entry: Entry | None
    editor: Editor
    tier: Tier


def apply_rev(state: State, event: Event, fault: Fault | None = None) -> Refusal | None:
    """Fold one rev; `fault` is what an order-free check found wrong with its content."""
    payload = event.payload
    editor = state.editors.get(event.sender)
    tier = None if editor is None else tier_of(editor, state.limits, event.height)
    if editor is None or tier is None:
        return refuse("unregistered", sender=event.sender)
    if tier == "T0":
        return refuse("t0-no-rev", registeredAt=editor.registered_at, height=event.height)
    lang, slug = payload.get("lang"), payload.get("slug")
    if type(lang) is not str:
        return need("lang", "a language")
    if type(slug) is not str:
        return need("slug", "a slug")
    key = f"{lang}:{slug}"
    record = state.keys.get(key)
    entry = None if record is None else state.records[record]
    rev = Rev(event, lang, key, record, entry, editor, tier)
    if entry is not None and entry.status != "normal":
        refusal = _closed_to(state, rev, entry)
        if refusal is not None:
            return refusal
    root = root_of(state, event.sender)
    rate = _rate_of(state, root, event.height)
    refusal = _over_rate(state, rate, rev.key)
    if refusal is not None:
        return refusal
    if fault is not None:
        return refuse_fault(fault)
    if state.rules.content_facts and state.options.content_facts.get(event.pin) == "mismatch":
        return refuse("content-hash-mismatch", contentRef=payload.get("contentRef"))
    kind = payload.get("type")
    rule = _TYPES.get(kind) if type(kind) is str else None
    if rule is None:
        return refuse("rev-type-unknown", type=kind)
    head_before = None if entry is None else entry.head
    if record is not None:
        state.touch("records", record)
    refusal = rule(state, rev)
    if refusal is not None:
        return refusal
    state.touch("editors", editor.id)
    state.keep("rates", root)
    editor.valid_revs += 1
    rate.total += 1
    rate.by_key[rev.key] = rate.by_key.get(rev.key, 0) + 1
    state.rates[root] = rate
    if kind == "revert" and entry is not None and head_before is not None:
        weigh_revert(state, entry, event, rev.key, head_before)
    return None


def _closed_to(state: State, rev: Rev, entry: Entry) -> Refusal | None:
    """Judge who writes on a frozen or protected entry (PRD §4.9, §5.2)."""
    sender, editor = rev.event.sender, rev.editor
    if entry.status == "frozen":
        if sender in entry.writers:
            return None
        return refuse("frozen-unauthorized", sender=sender, writers=list(entry.writers))
    needed = state.limits.protect_tenths
    if rev.tier == "T2" and editor.reputation >= needed:
        return None
    return refuse(
        "protected-unauthorized",
        tier=rev.tier,
        reputationTenths=editor.reputation,
        thetaProtectTenths=needed,
    )


def _rate_of(state: State, root: str, height: int) -> Rate:
    """Give the counters of a cluster for the day of this height, new ones on a new day."""
    day = (height - state.limits.genesis) // state.options.blocks_per_day
    rate = state.rates.get(root)
    return rate if rate is not None and rate.day == day else Rate(day, 0, {})


def _over_rate(state: State, rate: Rate, key: str) -> Refusal | None:
    limits = state.limits
    if rate.total >= limits.global_daily:
        return refuse("rate-global", applied=rate.total, rateGlobalDaily=limits.global_daily)
    on_key = rate.by_key.get(key, 0)
    if on_key >= limits.slug_daily:
        return refuse("rate-slug", applied=on_key, ratePerSlugDaily=limits.slug_daily)
    return None


def _create(state: State, rev: Rev) -> Refusal | None:
    payload = rev.event.payload
    if rev.entry is not None:
        title = payload.get("title")
        return refuse(
            "duplicate-create", entryKey=rev.key, title=title if type(title) is str else ""
        )
    content_hash = payload.get("contentHash")
    if type(content_hash) is not str:
        return need("contentHash", "a hash")
    record = state.keys[rev.key] = len(state.records)
    state.records.append(Entry([rev.key], rev.event.pin))
    state.touch("records", record)
    _write(state, rev, record, content_hash, None)
    return None


def _edit(state: State, rev: Rev) -> Refusal | None:
    entry, record, payload = rev.entry, rev.record, rev.event.payload
    if entry is None or record is None:
        return refuse("edit-without-entry", entryKey=rev.key)
    content_hash = payload.get("contentHash")
    if type(content_hash) is not str:
        return need("contentHash", "a hash")
    named, based_on = payload.get("parentRev"), payload.get("basedOn")
    if named is not None and type(named) is not str:
        return need("parentRev", "a pin id or null")
    if based_on is not None and type(based_on) is not str:
        return need("basedOn", "a pin id or null")
    declared = canonical_name(state, entry, based_on)
    if declared is not None and declared != entry.head:
        entry.contests.append(Contest(rev.event.pin, entry.head, declared))
    _write(state, rev, record, content_hash, canonical_name(state, entry, named))
    return None


def _write(state: State, rev: Rev, record: int, content_hash: str, parent_rev: str | None) -> None:
    """Make a version of a create or edit, and make it the head."""
    entry = state.records[record]
    pin, payload = rev.event.pin, rev.event.payload
    title, text, ref = payload.get("title"), payload.get("content"), payload.get("contentRef")
    if type(text) is not str:
        text = None
    key = entry.keys[0]  # the entry's own copy of the key, when it is the same: memory
    version = Version(
        id=pin,
        seq=state.seq,
        record=record,
        entry_key=key if key == rev.key else rev.key,
        author=rev.editor.id,
        height=rev.event.height,
        content_hash=content_hash,
        parent_rev=parent_rev,
        equivalent_of=None,
        title=title if type(title) is str else "",
        size=None if text is None else utf8_length(text),
        refs_found=None if text is None else refs_found(text),
        content_ref=ref if type(ref) is str else None,
        text_pin=pin,
    )
    state.versions[pin] = version
    entry.history.append(pin)
    entry.head = pin
    if state.rules.settled_signals:
        reputation.await_credit(state, version, rev.tier)


def _revert(state: State, rev: Rev) -> Refusal | None:
    entry, event = rev.entry, rev.event
    if entry is None:
        return refuse("revert-without-entry", entryKey=rev.key)
    named = event.payload.get("revertTo")
    if type(named) is not str:
        return need("revertTo", "a pin id")
    target = resolve(state, named)
    if target is None:
        return refuse("revert-target-unresolvable", revertTo=named)
    if rev.record != target.record or not (
        target.entry_key == rev.key or state.rules.checked_transfers
    ):
        return refuse("revert-entry-mismatch", entryKey=rev.key, targetEntry=target.entry_key)
    content_hash = event.payload.get("contentHash")
    if type(content_hash) is not str:
        return need("contentHash", "a hash")
    if content_hash != target.content_hash:
        return refuse("revert-hash-mismatch", given=content_hash, target=target.content_hash)
    claim = event.payload.get("claim")
    if claim is not None and not isinstance(claim, dict):
        return need("claim", "an object or null")
    if state.rules.settled_signals:
        reputation.overturn(state, target, event.sender)
    restore_version(
        state,
        entry,
        target,
        version_id=f"{event.pin}::eq",
        made_by=event.pin,
        key=rev.key,
        author=rev.editor.id,
        height=event.height,
    )
    return None


def _redirect(state: State, rev: Rev) -> Refusal | None:
    entry, event = rev.entry, rev.event
    if entry is None:
        return refuse("redirect-without-entry", entryKey=rev.key)
    slug = event.payload.get("redirectTo")
    if type(slug) is not str:
        return need("redirectTo", "a slug")
    target = f"{rev.lang}:{slug}"
    if state.rules.checked_redirects and state.keys.get(target) == rev.record:
        return refuse("redirect-self", redirectTo=target)
    if target not in state.keys:
        return refuse("redirect-target-missing", redirectTo=target)
    entry.head = entry.redirect_pin = event.pin
    entry.redirect = slug
    entry.history.append(event.pin)
    return None


_TYPES = {"create": _create, "edit": _edit, "revert": _revert, "redirect": _redirect}

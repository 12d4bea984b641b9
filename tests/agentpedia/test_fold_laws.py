"""Laws of the fold: what must hold for every stream, whoever wrote it (spec §2, §3, §11)."""

import json
from itertools import pairwise
from random import Random

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reference.streams import MODES, stream
from refold.agentpedia import PROFILES, REASONS, Fold, Options, Rules, Stream, read_document
from refold.agentpedia.event import EDITOR, PREFIX, Event
from refold.agentpedia.full import records
from refold.kernel.canon import canonical
from refold.kernel.errors import InputError, UsageError

PROFILE = st.sampled_from(list(PROFILES.values()))
SEED = st.integers(0, 10_000)
MODE = st.sampled_from(MODES)

TEXTS = st.one_of(
    st.text(max_size=8),
    st.sampled_from(["__proto__", "constructor", "toString", "", "en:a", "\ud800", "\x00", "T2"]),
)
NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([2**53, -(2**53), 10**400, 1e308, 0.5, 1.0, -0.0, float("1e400")]),
)
JSON = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=8,
)
DEEP = st.integers(1, 200).map(lambda depth: json.loads("[" * depth + "]" * depth))


def world(seed: int, mode: str) -> tuple[list[dict[str, object]], dict[str, object]]:
    events, options = stream(seed, mode)
    return list(events), options


def read(events: list[dict[str, object]], options: dict[str, object]) -> Stream:
    text = json.dumps({"events": events, "options": options})
    return read_document(text.replace("Infinity", "1e999").encode())


def folded(stream: Stream, rules: Rules) -> Fold:
    fold = Fold(rules, stream.options)
    fold.apply_many(stream.events, stream.faults)
    return fold


@given(SEED, MODE, PROFILE, st.randoms(use_true_random=False))
def test_arrival_order_does_not_matter(seed: int, mode: str, rules: Rules, random: Random) -> None:
    events, options = world(seed, mode)
    in_order = folded(read(events, options), rules).view()
    random.shuffle(events)
    shuffled = folded(read(events, options), rules).view()
    assert shuffled.digest() == in_order.digest()
    assert shuffled.common() == in_order.common()


@pytest.mark.parametrize("rules", list(PROFILES.values()), ids=lambda rules: rules.name)
@pytest.mark.parametrize("mode", MODES)
def test_every_cut_is_safe(mode: str, rules: Rules) -> None:
    """Fold = snapshot + restore + fold the rest, at every cut."""
    source = read(*world(7, mode))
    fold = Fold(rules, source.options)
    whole = folded(source, rules).view().digest()
    for cut, event in enumerate(source.events):
        resumed = Fold.restore(fold.snapshot())
        resumed.apply_many(source.events[cut:], source.faults)
        assert resumed.view().digest() == whole, cut
        fold.apply(event, source.faults.get(event.pin))


@given(SEED, MODE, PROFILE, st.data())
@settings(max_examples=40)
def test_views_are_pure(seed: int, mode: str, rules: Rules, data: st.DataObject) -> None:
    """Taking views, at the tip or far above, at any moment, changes nothing that comes after."""
    source = read(*world(seed, mode))
    fold = Fold(rules, source.options)
    moments = data.draw(st.sets(st.integers(0, len(source.events)), max_size=5))
    for index, event in enumerate(source.events):
        if index in moments:
            before = fold.snapshot()
            fold.view(fold.tip + data.draw(st.integers(0, 5_000))).full()
            assert fold.snapshot() == before
        fold.apply(event, source.faults.get(event.pin))
    assert fold.view().digest() == folded(source, rules).view().digest()


@given(SEED, MODE, PROFILE, st.data())
def test_equal_pins_twice_are_one(seed: int, mode: str, rules: Rules, data: st.DataObject) -> None:
    events, options = world(seed, mode)
    once = folded(read(events, options), rules).view().digest()
    again = data.draw(st.lists(st.sampled_from(events), max_size=10))
    assert folded(read(events + again, options), rules).view().digest() == once


@given(SEED, MODE, st.data())
@settings(max_examples=40)
def test_conflicting_pins_name_every_place(seed: int, mode: str, data: st.DataObject) -> None:
    events, options = world(seed, mode)
    confirmed = [
        i for i, e in enumerate(events) if isinstance(e["height"], int) and e["height"] >= 0
    ]
    index = data.draw(st.sampled_from(confirmed))
    changed: dict[str, object] = dict(events[index])
    member = data.draw(st.sampled_from(["height", "txIndex", "path", "sender", "payload"]))
    changed[member] = {"height": 99_999, "txIndex": 99_999, "payload": {"other": 1}}.get(
        member, "other"
    )
    with pytest.raises(InputError) as caught:
        read([*events, changed], options)
    [problem] = caught.value.errors
    assert problem.code == "conflicting-pin"
    assert str(changed["pin"]) in problem.message
    assert member in problem.message
    copies = [i for i, e in enumerate([*events, changed]) if e["pin"] == changed["pin"]]
    assert {index, len(events)} <= set(copies)
    assert problem.message.endswith(" and ".join(f"/events/{i}" for i in copies))


def _named(state: dict[str, object]) -> dict[str, object]:
    """Give a state without what a refused event may change."""
    free = {"graveyard", "seq", "last", "editors", "touched"}
    return {name: value for name, value in state.items() if name not in free}


@given(SEED, MODE, PROFILE)
@settings(max_examples=25)
def test_a_refused_event_changes_only_the_graveyard(seed: int, mode: str, rules: Rules) -> None:
    source = read(*world(seed, mode))
    fold = Fold(rules, source.options)
    for event in source.events:
        fold.advance(event.height)
        before = msgspec.to_builtins(fold.state)
        refusal = fold.apply(event, source.faults.get(event.pin))
        if refusal is None:
            continue
        after = msgspec.to_builtins(fold.state)
        assert refusal.reason in REASONS
        assert after["graveyard"][:-1] == before["graveyard"]
        assert after["graveyard"][-1]["pin"] == event.pin
        if refusal.reason == "algo-unknown":  # the one refusal that the view itself speaks of
            before["notAuthoritativeFrom"] = after["notAuthoritativeFrom"]
        assert _named(after) == _named(before), (event, refusal)
        fresh = [name for name in after["editors"] if name not in before["editors"]]
        assert fresh in ([], [event.payload.get("editor")] if event.path == EDITOR else [])
        assert {n: after["editors"][n] for n in before["editors"]} == before["editors"]


@given(SEED, MODE, PROFILE, st.data())
@settings(max_examples=150)
def test_no_payload_raises(seed: int, mode: str, rules: Rules, data: st.DataObject) -> None:
    """Whatever stands in any member of any payload, the fold goes on and every pin has its end."""
    events, options = world(seed, mode)
    pins = sorted({str(event["pin"]) for event in events})
    broken = data.draw(st.sets(st.sampled_from(pins), max_size=12))
    for pin in sorted(broken):
        copies = [event for event in events if event["pin"] == pin]
        payload = copies[0]["payload"]
        whole = data.draw(st.booleans())
        if isinstance(payload, dict) and payload and not whole:
            member = data.draw(st.sampled_from(sorted(payload)))
            payload = {**payload, member: data.draw(JSON | DEEP)}
        else:
            payload = data.draw(JSON)
        for event in copies:
            event["payload"] = payload
    source = read(events, options)
    fold = folded(source, rules)
    view = fold.view()
    assert view.digest()
    view.common(), view.full(), view.summary()
    assert fold.state.seq == len(source.events)
    assert {grave.reason for grave in fold.state.graveyard} <= REASONS.keys()


@given(SEED, MODE, PROFILE)
@settings(max_examples=25)
def test_every_record_is_canonical(seed: int, mode: str, rules: Rules) -> None:
    """The digest's own encoder gives the kernel's canonical form, and keys are unique."""
    view = folded(read(*world(seed, mode)), rules).view()
    seen = set()
    for section, key, value in records(view.state, view.tip):
        assert (section, key) not in seen
        seen.add((section, key))
        assert msgspec.json.encode(value, order="sorted") == canonical(value)


def _rev(pin: str, height: int, tx_index: int = 1) -> Event:
    return Event(pin, PREFIX + "rev", height, tx_index, "E1", {})


def test_descending_order_is_refused() -> None:
    fold = Fold()
    ascending = [_rev("b", 5), _rev("c", 5), _rev("a", 5, 2), _rev("a", 6, 0)]
    fold.apply_many(ascending)
    snapshot = fold.snapshot()
    for event in ascending[:-1]:
        with pytest.raises(UsageError) as caught:
            fold.apply(event)
        assert caught.value.code == "order-descending"
    assert fold.apply(ascending[-1]) is None
    assert fold.snapshot() == snapshot
    fold.advance(10)
    with pytest.raises(UsageError):
        fold.apply(_rev("d", 9))


def test_a_view_below_the_last_event_is_refused() -> None:
    fold = Fold()
    fold.apply(_rev("a", 5))
    with pytest.raises(UsageError) as caught:
        fold.view(4)
    assert caught.value.code == "tip-below-events"


@pytest.mark.parametrize("data", [b"", b"\x00", b"\x82", b"{}"])
def test_what_is_no_snapshot_is_refused(data: bytes) -> None:
    with pytest.raises(InputError) as caught:
        Fold.restore(data)
    assert caught.value.code == "snapshot-unreadable"


def test_a_snapshot_of_another_format_is_refused() -> None:
    later = msgspec.msgpack.decode(Fold().snapshot())
    later["format"] += 1
    with pytest.raises(InputError):
        Fold.restore(msgspec.msgpack.encode(later))


def test_only_the_named_pin_is_the_genesis() -> None:
    events, _ = world(3, MODES[0])
    genesis = next(e for e in events if str(e["path"]).endswith("constitution"))
    options = Options(genesis_pin="another")
    fold = Fold(PROFILES["prd"], options)
    fold.apply_many(read([genesis], {}).events)
    assert [grave.reason for grave in fold.state.graveyard] == ["no-genesis"]


def test_positions_ascend_in_what_intake_gives() -> None:
    events = read(*world(11, MODES[1])).events
    assert all(
        (a.height, a.tx_index, a.pin) < (b.height, b.tx_index, b.pin) for a, b in pairwise(events)
    )


def test_the_path_is_judged_before_the_payload() -> None:
    events = [
        {"pin": "p", "path": "/other", "height": 1, "txIndex": 0, "sender": "s", "payload": 5}
    ]
    for rules in PROFILES.values():
        fold = folded(read(events, {}), rules)
        assert [grave.reason for grave in fold.state.graveyard] == ["unknown-path"]


def test_the_full_view_has_one_order_in_every_process() -> None:
    """Sets inside the fold leave no trace: records come by section, then by index or id."""
    view = folded(read(*world(5, "court")), PROFILES["prd"]).view().full()
    for section in ("editor", "proposal", "challenge", "review", "case", "register"):
        values = view[section]
        assert isinstance(values, dict)
        assert list(values) == sorted(values), section


def test_windows_beyond_all_heights_are_capped() -> None:
    events, options = world(3, MODES[0])
    genesis = next(e for e in events if str(e["path"]).endswith("constitution"))
    payload = genesis["payload"]
    assert isinstance(payload, dict)
    payload["params"] = {
        **payload["params"],
        "t2MinDays": 2**53 - 1,
        "voteWindowHours": -(2**53) + 1,
    }
    fold = folded(read(events, {**options, "blocksPerDay": 10**6}), PROFILES["prd"])
    assert Fold.restore(fold.snapshot()).view().digest() == fold.view().digest()

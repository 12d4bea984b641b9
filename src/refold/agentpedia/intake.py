"""Intake: documents and indexer rows become events in the one order, with what is wrong with them.

What a stranger pinned can only harm the pin itself: it becomes a `Fault`, which the fold buries.
What the caller got wrong (no JSON, a missing height, two different copies of one pin) is an
`InputError` that lists every problem with its place.
"""

from collections.abc import Callable, Sequence
from hashlib import sha256
from operator import attrgetter

import msgspec

from refold.agentpedia.event import PREFIX, Event, Fault, Height, TxIndex, integer
from refold.agentpedia.links import utf8_length
from refold.agentpedia.payload import (
    MAX_DEPTH,
    Shallow,
    UnreadableError,
    decode_payload,
    decode_slowly,
    fit_payload,
    fit_text,
    may_be_read_fast,
)
from refold.agentpedia.rules import INLINE_MAX_BYTES
from refold.agentpedia.schemas import PATHS, check
from refold.agentpedia.state import Options
from refold.kernel.errors import InputError, Problem
from refold.metaid.pin import Pin, Row, pin_of_row

MAX_PROBLEMS = 100
"""Problems listed of one input: enough to mend it, and a bound on the answer to a hostile one."""
DOCUMENT_DEPTH = 3
"""Arrays and objects around a payload in a document: document, list of events, event."""
PEEK_BYTES = 2**20
PEEK_LINES = 3
"""What is looked at to tell rows from a document: a row is far shorter, a document may be long."""
MEMPOOL = -1
"""Height of the event of an unconfirmed pin while it is at intake; the fold never sees one."""
MALFORMED = Fault("malformed-json")


class Stream(msgspec.Struct):
    """Pins ready to fold: confirmed events in order, mempool pins by id, faults by pin."""

    events: list[Event]
    pending: list[str]
    faults: dict[str, Fault]
    options: Options = Options()


class _ShallowEvent(Event, frozen=True, gc=False, rename="camel"):
    """An event as documents mostly have it, mempool pins with nulls included."""

    height: Height | None  # type: ignore[assignment]
    tx_index: TxIndex | None  # type: ignore[assignment]
    payload: Shallow  # type: ignore[assignment]


class _Document(msgspec.Struct):
    events: list[_ShallowEvent]
    options: Options = Options()


_decode_document = msgspec.json.Decoder(_Document).decode
_decode_row = msgspec.json.Decoder(Row).decode


def read_stream(data: bytes, *, gates: bool) -> Stream:
    """Read a document `{events, options}`, or indexer rows as JSON lines, whichever the data is.

    `gates`: whether rows pass the envelope gate. Raises `InputError` with every problem.
    """
    if not data.strip():
        raise InputError("input-empty", "there is nothing to fold", "give a document or JSON lines")
    return read_rows(data, gates=gates) if _holds_rows(data) else read_document(data)


def _holds_rows(data: bytes) -> bool:
    """Tell rows from a document by the first lines; one that is broken does not decide."""
    start = data.lstrip()[:PEEK_BYTES]
    for line in start.splitlines()[:PEEK_LINES]:
        try:
            value = decode_slowly(line)
        except UnreadableError:
            continue
        if isinstance(value, dict) and "events" not in value:
            return "genesisHeight" in value or "globalMetaId" in value
    return False


def read_document(data: bytes) -> Stream:
    """Read one document `{events: [{pin, path, height, txIndex, sender, payload}], options}`.

    A null or negative height is the mempool. Other members are ignored.
    Raises `InputError`: `document-unreadable`, `document-invalid`, `event-invalid`,
    `options-invalid`, `conflicting-pin`.
    """
    try:
        if may_be_read_fast(data):
            document = _decode_document(data)
            events = _with_mempool(document.events)
            if events is not None:
                return _arrange(events, {}, "/events/{}".format, document.options)
    except (msgspec.MsgspecError, RecursionError):
        pass  # read again, slowly, to say what is wrong or to find it right
    return _read_document_slowly(data)


def _with_mempool(events: Sequence[_ShallowEvent]) -> Sequence[Event] | None:
    """Give mempool pins the height of the mempool; None when a confirmed pin lacks its index."""
    if all(event.height is not None and event.tx_index is not None for event in events):
        return events
    settled: list[Event] = []
    for event in events:
        if event.height is None or event.height < 0:
            settled.append(msgspec.structs.replace(event, height=MEMPOOL, tx_index=0))
        elif event.tx_index is None:
            return None
        else:
            settled.append(event)
    return settled


def _read_document_slowly(data: bytes) -> Stream:
    try:
        document = decode_slowly(data, prune_below=DOCUMENT_DEPTH + MAX_DEPTH)
    except UnreadableError as error:
        raise InputError(
            "document-unreadable", f"the document is no JSON: {error}", "give one JSON document"
        ) from error
    if not isinstance(document, dict) or not isinstance(document.get("events"), list):
        raise InputError(
            "document-invalid",
            "the document is no object with an array of events",
            "give {events: [...], options: {...}}",
        )
    problems: list[Problem] = []
    options = _options_of(document.get("options", {}), problems)
    events: list[Event] = []
    faults: dict[int, Fault] = {}
    for index, raw in enumerate(document["events"]):
        event = _event_of(raw, f"/events/{index}", problems)
        if event is None:
            continue
        payload = fit_payload(raw.get("payload"))
        if payload is None:
            faults[len(events)] = MALFORMED
        events.append(msgspec.structs.replace(event, payload=payload or {}))
    _raise_all(problems)
    return _arrange(events, faults, "/events/{}".format, options)


def _options_of(raw: object, problems: list[Problem]) -> Options:
    """Read the options; the default ones, and a problem, when they are wrong."""
    try:
        if fit_payload(raw) is not None:
            return msgspec.convert(raw, Options)
        message = "the options are no object of texts and numbers"
    except msgspec.ValidationError as error:
        message = str(error)
    problems.append(Problem("options-invalid", message, pointer="/options"))
    return Options()


def _event_of(raw: object, place: str, problems: list[Problem]) -> Event | None:
    """Read what the indexer says of an event; None, and a problem a member, when it is wrong."""
    if not isinstance(raw, dict):
        problems.append(Problem("event-invalid", "an event is no object", pointer=place))
        return None
    found = len(problems)

    def wrong(member: str, wanted: str) -> None:
        problems.append(
            Problem("event-invalid", f"{member} is not {wanted}", pointer=f"{place}/{member}")
        )

    for member in ("pin", "path", "sender"):
        text = raw.get(member)
        if not isinstance(text, str) or not fit_text(text):
            wrong(member, "a text")
    given = raw.get("height", "")
    height = MEMPOOL if given is None else integer(given)
    if height is None:
        wrong("height", "an integer or null")
    unmined = height is not None and height < 0
    tx_index = 0 if unmined and raw.get("txIndex") is None else integer(raw.get("txIndex"))
    if tx_index is None or tx_index < 0:
        wrong("txIndex", "an integer of at least 0")
    if height is None or tx_index is None or len(problems) > found:
        return None
    return Event(raw["pin"], raw["path"], height, tx_index, raw["sender"], {})


def read_rows(data: bytes, *, gates: bool) -> Stream:
    """Read indexer rows as JSON lines; blank lines are passed over.

    Raises `InputError`: `row-invalid`, `conflicting-pin`, and what `pin_of_row` raises.
    """
    events: list[Event] = []
    faults: dict[int, Fault] = {}
    lines: list[int] = []
    problems: list[Problem] = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if not line.strip():
            continue
        try:
            pin = pin_of_row(_row_of(line))
        except InputError as error:
            problems.append(msgspec.structs.replace(error.errors[0], line=number))
            continue
        wrong: list[Problem] = []
        event = _event_of(_as_event(pin), "", wrong)
        problems += [msgspec.structs.replace(problem, line=number) for problem in wrong]
        if event is None:
            continue
        payload, fault = _opened(pin, gates=gates)
        if fault is not None:
            faults[len(events)] = fault
        events.append(msgspec.structs.replace(event, payload=payload))
        lines.append(number)
    _raise_all(problems)
    return _arrange(events, faults, lambda index: f"line {lines[index]}", Options())


def read_pin(pin: Pin, *, gates: bool) -> tuple[Event, Fault | None]:
    """Give a pin out of a block as an event, and what is wrong with it, schema and hash included.

    For pins that a store has taken in: each id once, numbers within bounds. `gates`: whether
    envelope, schema and content gates are on.
    """
    payload, fault = _opened(pin, gates=gates)
    sender, name = pin.sender, _NAMES.get(pin.path)
    if not fit_text(sender):
        sender, payload, fault = "", {}, MALFORMED
    if gates and fault is None and name is not None:
        fault = check_payload(name, payload)
    height = MEMPOOL if pin.height is None else pin.height
    return Event(pin.id, pin.path, height, pin.tx_index, sender, payload), fault


def _opened(pin: Pin, *, gates: bool) -> tuple[dict[str, object], Fault | None]:
    """Give the payload of a pin; an empty one, and a fault, when it cannot be read."""
    fault = _envelope_fault(pin) if gates else None
    payload = None if fault is not None else decode_payload(pin.body)
    return ({}, fault or MALFORMED) if payload is None else (payload, None)


def _as_event(pin: Pin) -> dict[str, object]:
    return {
        "pin": pin.id,
        "path": pin.path,
        "height": pin.height,
        "txIndex": pin.tx_index,
        "sender": pin.sender,
    }


def _row_of(line: bytes) -> Row:
    try:
        return _decode_row(line)
    except (msgspec.MsgspecError, RecursionError):
        pass
    try:
        return msgspec.convert(decode_slowly(line), Row)
    except ValueError as error:  # no JSON, another form, or text that is no Unicode
        raise InputError(
            "row-invalid", f"not a pin as an indexer lists it: {error}", "fetch the page again"
        ) from error


def _envelope_fault(pin: Pin) -> Fault | None:
    """Judge the envelope (spec §3, gate 2)."""
    if pin.operation != "create":
        return Fault("operation-not-create", detail=pin.operation)
    if pin.encryption not in {"0", ""}:
        return Fault("encrypted", detail=pin.encryption)
    if pin.version != "1.0":
        return Fault("version-unknown", detail=pin.version)
    declared = pin.content_type
    if declared is not None and declared.partition(";")[0].strip().lower() != "application/json":
        return Fault("content-type", detail=declared)
    return None


def _arrange(
    events: Sequence[Event],
    faults: dict[int, Fault],
    place_of: Callable[[int], str],
    options: Options,
) -> Stream:
    """Put events into the one order, each pin once; refuse copies that differ (spec §2)."""
    copies: dict[str, list[int]] = {}
    chosen: dict[str, int] = {}
    for index, event in enumerate(events):
        first = chosen.setdefault(event.pin, index)
        if first != index:
            copies.setdefault(event.pin, [first]).append(index)
    problems: list[Problem] = []
    for pin, indexes in copies.items():
        difference = _difference([events[i] for i in indexes], [faults.get(i) for i in indexes])
        if difference:
            places = " and ".join(place_of(index) for index in indexes)
            problems.append(
                Problem(
                    "conflicting-pin",
                    f"pin {pin} differs in {difference} between {places}",
                    "keep the copy that the chain has",
                )
            )
        chosen[pin] = min(indexes, key=lambda i: (events[i].height < 0, i))
    _raise_all(problems)
    kept = list(events) if not copies else [events[index] for index in chosen.values()]
    confirmed = [event for event in kept if event.height >= 0]
    confirmed.sort(key=attrgetter("height", "tx_index", "pin"))
    return Stream(
        events=confirmed,
        pending=sorted(event.pin for event in kept if event.height < 0),
        faults={events[i].pin: faults[i] for i in chosen.values() if i in faults} if faults else {},
        options=options,
    )


def _difference(copies: Sequence[Event], faults: Sequence[Fault | None]) -> str:
    """Name the members in which copies of one pin differ; positions count among confirmed ones."""
    confirmed = [event for event in copies if event.height >= 0]
    aspects: dict[str, set[object]] = {
        "height": {event.height for event in confirmed},
        "txIndex": {event.tx_index for event in confirmed},
        "path": {event.path for event in copies},
        "sender": {event.sender for event in copies},
        "payload": {_fingerprint(event.payload) for event in copies},
        "envelope": set(faults),
    }
    return ", ".join(name for name, values in aspects.items() if len(values) > 1)


def _fingerprint(payload: object) -> bytes:
    """Give bytes that are equal for payloads that mean the same: member order and 1.0 count not."""
    return msgspec.json.encode(_whole_numbers(payload), order="sorted")


def _whole_numbers(value: object) -> object:
    if isinstance(value, dict):
        return {name: _whole_numbers(member) for name, member in value.items()}
    if isinstance(value, list):
        return [_whole_numbers(member) for member in value]
    if isinstance(value, float):
        return int(value) if value.is_integer() else repr(value)
    return value


def _raise_all(problems: list[Problem]) -> None:
    if problems:
        raise InputError.of(problems[:MAX_PROBLEMS])


_NAMES = {PREFIX + name: name for name in PATHS}


def check_payloads(stream: Stream) -> None:
    """Check every payload against the schema of its path, and inline text against its hash.

    Adds what it finds to `stream.faults` (spec §3 gate 3, §7). The order of events plays no part,
    so the work may be split.
    """
    faults = stream.faults
    for event in stream.events:
        name = _NAMES.get(event.path)
        if name is None or event.pin in faults:
            continue
        fault = check_payload(name, event.payload)
        if fault is not None:
            faults[event.pin] = fault


def check_payload(name: str, payload: dict[str, object]) -> Fault | None:
    """Give the fault of one payload under the path `name`, None when it has none."""
    violation = check(name, payload)
    if violation is not None:
        return Fault("schema-invalid", violation.pointer, violation.rule, detail=violation.message)
    content = payload.get("content") if name == "rev" else None
    if not isinstance(content, str):
        return None
    size = utf8_length(content)
    if size > INLINE_MAX_BYTES:
        found = f"{size} bytes, at most {INLINE_MAX_BYTES}"
        return Fault("content-too-large", late=True, detail=found)
    digest = sha256(content.encode()).hexdigest()
    if digest != payload["contentHash"]:
        return Fault("content-hash-mismatch", late=True, detail=f"the text hashes to {digest}")
    return None

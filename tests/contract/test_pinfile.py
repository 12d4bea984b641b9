"""Files of pins: what goes out comes in again, and a line that is no pin costs itself alone."""

import io
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from contract.databases import wipe
from contract.samples import REV, REVIEW, A, pin, pin_id
from refold.db import Database
from refold.kernel.canon import MAX_INTEGER
from refold.metaid import pinfile
from refold.metaid.man.overlap import Place
from refold.metaid.pin import Pin
from refold.metaid.pinfile import Exported, Imported, export_pins, import_pins
from refold.metaid.pinline import pin_line
from refold.metaid.store import open_store

TEXT = st.text(st.characters(codec=None) | st.sampled_from('\0\ud800\\"\n\r\u2028'), max_size=9)
NUMBER = st.integers(-MAX_INTEGER, MAX_INTEGER) | st.sampled_from([0, 1, -1])
PLACE = st.integers(0, 3) | st.integers(0, MAX_INTEGER)


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Database]:
    """Give a second database without rows."""
    with Database.open(f"sqlite:///{tmp_path / 'other.db'}") as opened:
        yield opened


@st.composite
def hostile_pins(draw: st.DrawFn) -> Pin:
    """Give a pin whose texts, numbers and bytes are whatever its author and indexer liked."""
    body = draw(st.binary(max_size=20))
    history = st.just((pin_id(0), pin_id(1))) | st.lists(TEXT, max_size=2).map(tuple)
    return Pin(
        id=pin_id(draw(st.integers(0, 9))),
        path=draw(TEXT),
        height=draw(st.none() | PLACE),
        tx_index=draw(PLACE),
        sender=draw(TEXT.filter(bool)),
        operation=draw(TEXT),
        encryption=draw(TEXT),
        version=draw(TEXT),
        # A type that is not known comes with a modified pin, whose first body is never empty.
        content_type=draw(st.none() | TEXT if body else TEXT),
        timestamp=draw(NUMBER),
        body=body,
        status=draw(NUMBER),
        history=draw(history),
        target=draw(TEXT),
        host=draw(TEXT),
        address=draw(TEXT),
        chain=draw(TEXT),
    )


def write(database: Database, *pins: Pin) -> None:
    with database.write() as connection:
        open_store(connection).pins.write(pins, A)


def exported(database: Database, **options: bool) -> bytes:
    file = io.BytesIO()
    done = export_pins(database, file, **options)  # type: ignore[arg-type]  # flags alone
    assert done.bytes == len(file.getvalue())
    assert done.confirmed + done.pending == file.getvalue().count(b"\n")
    return file.getvalue()


def imported(database: Database, data: bytes, paths: tuple[str, ...] = ()) -> Imported:
    return import_pins(database, io.BytesIO(data), "import:file", paths=paths)


def counts(done: Imported) -> dict[str, int]:
    return {n: v for n, v in msgspec.structs.asdict(done).items() if isinstance(v, int) and v}


# One pair of databases for all examples: each begins by emptying them, which takes longest.
@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture],
    max_examples=settings().max_examples // 4,
)
@given(st.lists(hostile_pins(), max_size=8), st.integers(0, 4))
def test_what_goes_out_comes_in_and_goes_out_the_same(
    database: Database, other: Database, pins: list[Pin], height: int
) -> None:
    for each in (database, other):
        wipe(each)
    write(database, *pins)
    with database.write() as connection:
        store = open_store(connection)
        store.pins.roll_back(height, A)  # so that some were in blocks, and are in none
        held = [*store.pins.confirmed(), *store.pins.pending()]
    out = exported(database)
    assert out == b"".join(map(pin_line, held))
    assert counts(imported(other, out)).get("new", 0) == len(held)
    assert exported(other) == out
    assert counts(imported(other, out)).get("same", 0) == len(held)
    assert counts(imported(database, out)).get("same", 0) == len(held)
    assert exported(database) == out


def test_pins_go_out_in_the_total_order_and_the_pending_last(database: Database) -> None:
    write(database, pin(1, 2, 0), pin(2, 1, 5), pin(3, None), pin(4, 1, 4), pin(5, None), pin(6, 9))
    with database.write() as connection:
        open_store(connection).pins.vanish([pin_id(6), pin_id(5)], A)
    lines = [msgspec.json.decode(line)["id"] for line in exported(database).splitlines()]
    assert lines == [pin_id(4), pin_id(2), pin_id(1), pin_id(3)]
    confirmed = [
        msgspec.json.decode(line)["id"] for line in exported(database, pending=False).splitlines()
    ]
    assert confirmed == lines[:3]


def test_only_the_paths_that_were_asked_for_go_out_and_in(
    database: Database, other: Database
) -> None:
    write(database, pin(1, 1, 0), pin(2, 1, 1, path=REVIEW), pin(3, None), pin(4, None, path="/x"))
    file = io.BytesIO()
    assert export_pins(database, file, paths=(REV,)) == Exported(1, 1, len(file.getvalue()))
    done = imported(other, exported(database), (REVIEW,))
    assert counts(done) == {"new": 1, "passed_over": 3, "lowest": 1}


def test_each_outcome_is_counted_and_the_lowest_height_that_changed_is_named(
    database: Database,
) -> None:
    write(database, pin(1, 5), pin(2, 6), pin(3, None), pin(4, 7), pin(5, 3))
    told = [
        pin(1, 5),  # the same
        pin(2, 8),  # moved, from 6
        pin(3, 9),  # moved, out of the mempool
        pin(4, 7, body=b"another"),  # in conflict
        pin(5, 3, status=1),  # amended
        pin(6, 4),  # new
    ]
    done = imported(database, b"".join(map(pin_line, told)))
    assert counts(done) == {
        "new": 1,
        "moved": 2,
        "amended": 1,
        "same": 1,
        "conflict": 1,
        "lowest": 3,
    }
    assert [(one.line, one.pin, one.differs) for one in done.disagreements] == [
        (4, pin_id(4), ("body",))
    ]
    with database.read() as connection:
        pins = open_store(connection).pins
        assert [moved.source for moved in pins.moves(pin_id(2))] == ["import:file"]
        assert pins.place(pin_id(3)) == Place(9, 0)


BAD = [
    (b"hello", "row-invalid"),
    (b"{}", "row-invalid"),
    (b"[" * 5_000, "row-invalid"),
    (pin_line(pin(1))[:-20], "row-invalid"),
    (b"\xff\xfe", "row-invalid"),
    (pin_line(pin(1)).replace(b'"txIndex":0', b'"txIndex":-1'), "pin-refused"),
    (pin_line(pin(1)).replace(b'"txIndex":0', b'"txIndex":99999999999999999999'), "pin-refused"),
    (pin_line(msgspec.structs.replace(pin(1), id="no-id")), "pin-refused"),
    (pin_line(msgspec.structs.replace(pin(1), sender="", address="")), "sender-missing"),
    (pin_line(pin(1)).replace(b'"contentLength":', b'"contentLength":1'), "body-cut"),
    (b"x" * 3_000, "line-too-long"),
]


def test_every_bad_line_is_named_and_every_good_one_taken(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pinfile, "MAX_LINE_BYTES", 2_500)
    monkeypatch.setattr(pinfile, "BATCH_PINS", 3)
    lines: list[bytes] = []
    for number, (line, _) in enumerate(BAD):
        good = pin(100 + number, number)
        lines += [line.removesuffix(b"\n"), b"", b" \t\r", pin_line(good).removesuffix(b"\n")]
    data = b"\n".join(lines)
    done = imported(database, data)
    expected = [
        # Too deep is also too long here.
        (4 * number + 1, "line-too-long" if len(line) > 2_500 else code)
        for number, (line, code) in enumerate(BAD)
    ]
    assert sorted((problem.line or 0, problem.code) for problem in done.problems) == expected
    assert (done.new, done.refused) == (len(BAD), len(BAD))
    assert [problem for problem in done.problems if "\n" in str(problem)] == []


def test_what_is_listed_of_a_hostile_file_is_bounded(database: Database) -> None:
    write(database, pin(1))
    data = b"x\n" * 300 + pin_line(pin(1, body=b"other")) * 300
    done = imported(database, data)
    assert (done.refused, done.conflict) == (300, 300)
    assert len(done.problems) == len(done.disagreements) == pinfile.MAX_LISTED


class CutError(Exception):
    """What stops an import in the middle."""


class CutFile(io.BytesIO):
    """A file that fails after some lines."""

    def __init__(self, data: bytes, lines: int) -> None:
        super().__init__(data)
        self.left = lines

    def readline(self, size: int | None = -1, /) -> bytes:
        self.left -= 1
        if self.left < 0:
            raise CutError
        return super().readline(size)


def test_an_import_that_was_stopped_is_started_anew(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pinfile, "BATCH_PINS", 4)
    data = b"".join(pin_line(pin(number, number)) for number in range(10))
    with pytest.raises(CutError):
        import_pins(database, CutFile(data, 7), "import:file")
    assert exported(database).count(b"\n") == 4
    assert counts(imported(database, data)) == {"same": 4, "new": 6, "lowest": 4}
    assert exported(database) == data


def test_lots_are_bounded_by_their_bytes_too(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pinfile, "BATCH_BYTES", 1)
    data = b"".join(pin_line(pin(number)) for number in range(3))
    with pytest.raises(CutError):
        import_pins(database, CutFile(data, 2), "import:file")
    assert exported(database).count(b"\n") == 2

"""Archives: what is written is read, and whatever is altered, cut or forged is seen and named."""

import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from refold.kernel.errors import InputError
from refold.trials.archive.claims import NOT_PROVEN
from refold.trials.archive.codes import WRONGS, exit_of
from refold.trials.archive.lines import (
    BLOCK,
    MAX_LINE,
    Head,
    HeadKey,
    KeyLine,
    Line,
    MessageLine,
    decode_line,
    encode_line,
)
from refold.trials.archive.reading import MAX_ROOM
from refold.trials.archive.writing import begun_archive
from refold.trials.checkpoint import Checkpoint, Rotation, Signer, signed_note
from refold.trials.leaf import accepted_text
from trials.archives import (
    ACTS,
    AT,
    HONEST,
    KEYS,
    Posted,
    Tree,
    archive,
    lines,
    message,
    note_of,
    parts,
    removed,
)
from trials.logged import NAME, NEXT_SIGNER, NOON, SIGNER

WHOLE = archive()
FORGER = Signer(NAME, b"somebody else's key.............")
PHASES = (Phase.explicit, Phase.reuse, Phase.generate)


def code_of(raw: bytes, **how: Any) -> str:
    with pytest.raises(InputError) as caught:
        parts(raw, **how)
    assert exit_of(caught.value) == WRONGS[caught.value.code].exit
    return caught.value.code


def replaced(number: int, **values: Any) -> tuple[Posted, ...]:
    """Give the honest messages with another one in the place of one."""
    changed = list(HONEST)
    changed[number - 1] = msgspec.structs.replace(changed[number - 1], **values)
    return tuple(changed)


def test_what_is_written_is_read() -> None:
    read = parts(WHOLE)
    assert [each.size for each in read] == [0, 3, 6, 7, 7]
    assert [each.is_last for each in read] == [False] * 4 + [True]
    assert tuple(line for part in read for line in part.keys) == KEYS
    assert tuple(line for part in read for line in part.moderation) == ACTS
    assert tuple(taken.line for part in read for taken in part.messages) == HONEST
    assert [kept.size for part in read for kept in part.checkpoints] == [2, 7]
    assert read[-1].root == Tree(HONEST).root(7)
    assert [taken.content is None for part in read for taken in part.messages].count(True) == 1


def test_an_empty_log_has_an_archive() -> None:
    assert [each.size for each in parts(archive((), more=()))] == [0]


@settings(max_examples=300, phases=PHASES)
@given(st.integers(0, len(WHOLE) - 1), st.integers(0, 255))
def test_any_altered_byte_is_seen(place: int, byte: int) -> None:
    altered = WHOLE[:place] + bytes([byte]) + WHOLE[place + 1 :]
    if altered == WHOLE:
        parts(altered)
    else:
        assert code_of(altered) in WRONGS


@settings(max_examples=100, phases=PHASES)
@given(st.integers(0, len(WHOLE)), st.binary(min_size=1, max_size=20))
def test_anything_put_in_is_seen(place: int, more: bytes) -> None:
    assert code_of(WHOLE[:place] + more + WHOLE[place:]) in WRONGS


@settings(max_examples=100, phases=PHASES)
@given(st.data())
def test_lines_left_out_doubled_or_exchanged_are_seen(data: st.DataObject) -> None:
    rows = WHOLE.splitlines(keepends=True)
    order = data.draw(st.lists(st.integers(0, len(rows) - 1), max_size=len(rows) + 2))
    found = b"".join(rows[at] for at in order)
    if found != WHOLE:
        assert code_of(found) in WRONGS


@settings(max_examples=80, phases=PHASES)
@given(st.integers(0, len(WHOLE) - 1))
def test_an_archive_that_is_cut_says_so_and_what_came_before_is_proven(place: int) -> None:
    read = []
    with pytest.raises(InputError) as caught:
        read += parts(WHOLE[:place])
    assert caught.value.code == "archive-cut"


def test_what_a_forger_without_keys_can_change_is_named() -> None:
    """All hashes made anew: what passes then is what nothing proves."""
    name = msgspec.structs.replace(KEYS[0], name="a better name")
    reason = msgspec.structs.replace(ACTS[0], reason="no reason")
    stated: list[list[Line]] = [
        [name, *KEYS[1:], *ACTS],
        [*KEYS, reason, ACTS[1]],
        [*KEYS[1:], *ACTS],
    ]
    for more in stated:
        assert parts(archive(more=more))
    assert any("Names of keys" in text for text in NOT_PROVEN["archive"])
    kind = msgspec.structs.replace(HONEST[2], kind="run", room="research", reply_to=1)
    assert parts(archive((*HONEST[:2], kind, *HONEST[3:]), signs=HONEST))
    texts = [removed(each) if isinstance(each, MessageLine) else each for each in HONEST]
    assert parts(archive(texts, signs=HONEST))
    assert any("whose text was removed" in text for text in NOT_PROVEN["archive"])


@pytest.mark.parametrize(
    ("number", "values", "code"),
    [
        (1, {"content": "other"}, "archive-signature"),
        (1, {"room": "research"}, "archive-signature"),
        (4, {"reply_to": 2}, "archive-signature"),
        (4, {"reply_to": None}, "archive-signature"),
        (1, {"public_key": HONEST[1].public_key}, "archive-signature"),
        (1, {"public_key": "0" * 63 + "1"}, "archive-signature"),
        (1, {"digest": HONEST[1].digest}, "archive-signature"),
        (1, {"signature": HONEST[1].signature}, "archive-signature"),
        (1, {"signature": "AB" * 64}, "archive-signature"),
        (1, {"accepted_at": accepted_text(NOON - 1)}, "archive-tree"),
        (2, {"accepted_at": accepted_text(NOON - 1)}, "archive-tree"),
        (7, {"accepted_at": accepted_text(NOON + 10)}, "archive-tree"),
        (3, {"digest": "0" * 64}, "archive-tree"),
        (3, {"signature": "0" * 128}, "archive-tree"),
        (3, {"signature": "0" * 127}, "archive-damaged"),
        (2, {"id": 3}, "archive-size"),
        (1, {"reply_to": 0}, "archive-size"),
        (1, {"reply_to": 2**63}, "archive-size"),
        (1, {"room": "a\nb"}, "archive-damaged"),
        (1, {"room": "x" * (MAX_ROOM + 1)}, "archive-damaged"),
    ],
    ids=lambda each: "-".join(each) if isinstance(each, dict) else str(each),
)
def test_a_forged_message_is_seen(number: int, values: dict[str, Any], code: str) -> None:
    assert code_of(archive(replaced(number, **values), signs=HONEST)) == code


@pytest.mark.parametrize(
    "time", ["2026-02-30T00:00:00Z", "2026-02-03T00:00:00.0Z", "2026-02-03T00:00:00+00:00", ""]
)
def test_a_time_that_is_none_is_seen(time: str) -> None:
    assert code_of(WHOLE.replace(AT.encode(), time.encode())) == "archive-damaged"
    raw = re.sub(b'("type":"message".*?"acceptedAt":")[^"]*', b"\\g<1>" + time.encode(), WHOLE)
    assert code_of(raw) == "archive-damaged"


def test_a_forged_log_is_seen() -> None:
    assert code_of(archive(signer=FORGER)) == "archive-key"
    fewer = archive(HONEST[:6], signs=HONEST)
    assert code_of(fewer) == "archive-size"
    assert code_of(fewer.replace(b'"end","size":6', b'"end","size":7')) == "archive-cut"
    one, two = message(1, "other"), message(2, "quotes", who=2)
    assert code_of(archive((one, *HONEST[1:]), signs=HONEST)) == "archive-tree"
    swapped = (
        message(1, HONEST[1].content or "", who=2) if isinstance(HONEST[1], MessageLine) else two,
        message(2, "first"),
        *HONEST[2:],
    )
    assert code_of(archive(swapped, signs=HONEST)) == "archive-tree"
    again = (*HONEST[:6], message(7, "another end", at=NOON + 9))
    assert code_of(archive(again, signs=HONEST)) == "archive-tree"


NUMBERS = [
    "4294967297",
    "-1",
    "1.5",
    "7.0",
    '"7"',
    "1e0",
    "true",
    "null",
    "9" * 400,
    "18446744073709551623",
]


@pytest.mark.parametrize("number", NUMBERS)
@pytest.mark.parametrize("which", ["head", "block", "end", "message"])
def test_a_size_that_is_none_is_seen(number: str, which: str) -> None:
    member = "id" if which == "message" else "size"
    pattern = f'("type":"{which}".*?"{member}":)[0-9]+'.encode()
    raw, count = re.subn(pattern, rb"\g<1>" + number.encode(), WHOLE, count=1)
    assert count == 1
    assert code_of(raw) == "archive-size"


@pytest.mark.parametrize("number", ["4294967297", "-1", "1.5", "07", "٧", "", "9" * 30])
@pytest.mark.parametrize("signer", [SIGNER, FORGER], ids=["own", "other"])
def test_a_checkpoint_of_no_size_is_seen(number: str, signer: Signer) -> None:
    root = note_of(Tree(HONEST)).split("\n")[2]
    note = signed_note(f"{NAME}\n{number}\n{root}\n", [signer])
    raw = archive(head=lambda made: msgspec.structs.replace(made, checkpoint=note))
    is_number = number == "4294967297"
    wanted = "archive-key" if is_number and signer is FORGER else "archive-size"
    assert code_of(raw) == wanted


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda head: msgspec.structs.replace(head, format="x"), "archive-damaged"),
        (lambda head: msgspec.structs.replace(head, origin="other.example"), "archive-key"),
        (lambda head: msgspec.structs.replace(head, keys=()), "archive-damaged"),
        (lambda head: msgspec.structs.replace(head, keys=head.keys * 2), "archive-key"),
        (lambda head: msgspec.structs.replace(head, checkpoint="x"), "archive-size"),
        (lambda head: msgspec.structs.replace(head, checkpoint="x\n7\ny\n"), "archive-damaged"),
    ],
    ids=["format", "origin", "no-keys", "two-keys", "note", "text"],
)
def test_a_forged_head_is_seen(change: Callable[[Head], Head], code: str) -> None:
    assert code_of(archive(head=change)) == code


def test_lines_and_blocks_have_a_limit() -> None:
    long = [KeyLine(KEYS[0].public_key, "x" * MAX_LINE, AT)]
    assert code_of(archive(more=long)) == "archive-damaged"
    assert code_of(WHOLE[:-1] + b" " * MAX_LINE + b"\n") == "archive-damaged"
    assert code_of(b"[" * (MAX_LINE * 3)) == "archive-damaged"
    assert code_of(b'{"type":"head","format":' + b"[" * 5_000 + b"\n") == "archive-damaged"
    many = [KeyLine(f"{n:064x}", "x", AT) for n in range(1, BLOCK + 3)]
    raw = archive((), more=many)
    assert [len(part.keys) for part in parts(raw)] == [BLOCK, 2, 0]
    rows = raw.splitlines(keepends=True)
    assert code_of(b"".join(rows[: BLOCK + 1] + rows[BLOCK + 2 :])) == "archive-damaged"


def test_a_line_has_one_spelling() -> None:
    for line in (KEYS[0], ACTS[0], *HONEST):
        raw = encode_line(line)
        assert decode_line(raw, 1) == line
        for other in (
            raw.replace(b'":', b'": ', 1),
            b" " + raw,
            raw.replace(b"\n", b"\r\n"),
            raw.replace(b"a", b"\\u0061", 1),
            raw.replace(b"}", b',"more":1}'),
        ):
            with pytest.raises(InputError):
                decode_line(other, 1)


def rotated(*, statement: Callable[[str], str] = lambda note: note) -> bytes:
    """Give an archive of a log whose key changed at three messages."""
    tree = Tree(HONEST)
    said = Rotation(NAME, SIGNER.key.public, NEXT_SIGNER.key.public, 3, tree.root(3), AT)
    note = statement(signed_note(said.text, [SIGNER, NEXT_SIGNER]))
    keys = (
        HeadKey(SIGNER.key.public.hex(), AT, 0, None),
        HeadKey(NEXT_SIGNER.key.public.hex(), AT, 3, note),
    )
    newest = note_of(tree, NEXT_SIGNER)
    return archive(head=lambda head: msgspec.structs.replace(head, keys=keys, checkpoint=newest))


def test_a_log_whose_key_changed_is_trusted_by_each_of_its_keys() -> None:
    raw = rotated()
    for signer in (SIGNER, NEXT_SIGNER):
        assert parts(raw, key=signer.key)[-1].root == Tree(HONEST).root(7)
    assert code_of(raw, key=FORGER.key) == "archive-key"
    assert (
        code_of(rotated(statement=lambda note: note.replace(AT, AT[:-2] + "1Z"))) == "archive-key"
    )
    other = Rotation(NAME, SIGNER.key.public, NEXT_SIGNER.key.public, 3, bytes(32), AT)
    note = signed_note(other.text, [SIGNER, NEXT_SIGNER])
    assert code_of(rotated(statement=lambda _: note)) == "archive-tree"
    unsigned = signed_note(other.text, [SIGNER])
    assert code_of(rotated(statement=lambda _: unsigned)) == "archive-key"


def test_a_kept_checkpoint_that_is_false_is_seen() -> None:
    false = signed_note(Checkpoint(NAME, 2, bytes(32)).text, [SIGNER])
    true = note_of(Tree(HONEST), size=2)
    other = note_of(Tree(HONEST), FORGER, 2)
    for note, code in ((false, "archive-tree"), (other, "archive-key")):
        raw = WHOLE.replace(msgspec.json.encode(true), msgspec.json.encode(note))
        assert code_of(raw) == code


@settings(max_examples=100, phases=PHASES)
@given(st.integers(0, len(WHOLE)))
def test_where_a_writer_was_killed_is_found(place: int) -> None:
    begun = begun_archive(lines(WHOLE[:place]))
    ends = [0, *(found.end() for found in re.finditer(rb'{"type":"(head|block|end)".*\n', WHOLE))]
    wanted = max(end for end in ends if end <= place)
    assert (begun.offset if begun else 0) == wanted
    if begun is not None:
        assert begun.is_over == (place == len(WHOLE))
        assert begun.size in {0, 3, 6, 7}

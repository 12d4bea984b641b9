"""What a log's key signs: notes as other programs write and read them, checkpoints, rotations."""

import base64
from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.kernel.errors import InputError
from refold.trials.checkpoint import (
    Checkpoint,
    LogKey,
    Rotation,
    Signer,
    log_name,
    read_checkpoint,
    read_note,
    read_rotation,
    signed_note,
)
from trials.logged import NAME, NEXT_SIGNER, SIGNER

ROOT = bytes(range(32))
CHECKPOINT = Checkpoint(NAME, 1_234, ROOT)
NOTE = signed_note(CHECKPOINT.text, [SIGNER])
ROTATION = Rotation(
    NAME, SIGNER.key.public, NEXT_SIGNER.key.public, 1_234, ROOT, "2031-05-09T07:30:00Z"
)
STATEMENT = signed_note(ROTATION.text, [SIGNER, NEXT_SIGNER])


@dataclass(frozen=True)
class Foreign:
    """A note that another program signed, with the key as its documents give it."""

    key: str
    note: str


FOREIGN = {
    # The example of Go's package for signed notes.
    "go-note": Foreign(
        "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW",
        "If you think cryptography is the answer to your problem,\n"
        "then you don't know what your problem is.\n"
        "\n"
        "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdng"
        "otpRZb6KE6RyyBwJnAM=\n",
    ),
    # Two checkpoints of Go's checksum database, the second with the signature of a witness.
    "go-sumdb": Foreign(
        "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8",
        "go.sum database tree\n6476701\nmb8QLQIs0Z0yP5Cstq6guj87oXWeC9gEM8oVikmm9Wk=\n"
        "\n"
        "— sum.golang.org Az3grsLX85Gz+s1SiTbgkuqxgItqFq7gsMUEyVnrsa9LM7Us9S+1xbFIGu95949rj4nPRYfv"
        "imWEPWL+o3GeoWwOoAw=\n",
    ),
    "go-sumdb-witnessed": Foreign(
        "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8",
        "go.sum database tree\n15067302\ngJyioq6dwR9n+NjEWORfYmH+ubeYm3kH42BBQ0bTpYI=\n"
        "\n"
        "— sum.golang.org Az3grp1rvWOs5NKlr/xR4GLN/CDyzzakmt1o61uSxYKpK1SerqOP2ClbX/peKUZjYnyomH5X"
        "z7GZG3TpB7OeKn4E2ww=\n"
        "— test.example.com qTGhC/xIPQ0AXKHK6Y+9ypRfuvMZWPjRXM8NiOg5M1WREn07VQXyuIXM3NRNav3ieVFLUq"
        "DRK77PWDmL6w8w84UqeAw=\n",
    ),
}


def code_of(note: str, *keys: LogKey) -> str:
    with pytest.raises(InputError) as caught:
        read_checkpoint(note, keys or [SIGNER.key])
    return caught.value.code


@pytest.mark.parametrize("name", FOREIGN)
def test_notes_of_other_programs_are_read(name: str) -> None:
    foreign = FOREIGN[name]
    key = LogKey.parse(foreign.key)
    assert key.verifier == foreign.key
    assert read_note(foreign.note, [key]) == foreign.note.partition("\n\n")[0] + "\n"
    spoiled = foreign.note.replace("problem", "answer").replace("tree\n", "tree\n9")
    with pytest.raises(InputError) as caught:
        read_note(spoiled, [key])
    assert caught.value.code == "note-signature"


def test_a_checkpoint_has_the_form_of_the_specification() -> None:
    assert NOTE.split("\n")[:4] == [NAME, "1234", base64.b64encode(ROOT).decode(), ""]
    assert NOTE.split("\n")[4].startswith(f"— {NAME} ")
    assert NOTE.endswith("\n")
    assert read_checkpoint(NOTE, [SIGNER.key]) == CHECKPOINT


def test_the_signature_of_another_is_passed_over_and_is_not_enough() -> None:
    both = signed_note(CHECKPOINT.text, [NEXT_SIGNER, SIGNER])
    assert read_checkpoint(both, [SIGNER.key]) == CHECKPOINT
    assert read_checkpoint(both, [NEXT_SIGNER.key]) == CHECKPOINT
    assert code_of(NOTE, NEXT_SIGNER.key) == "note-unsigned"
    # One that names a known key and does not fit spoils the note, whatever stands beside it.
    false = NEXT_SIGNER.line(CHECKPOINT.text + "x\n")
    assert code_of(NOTE + false, SIGNER.key, NEXT_SIGNER.key) == "note-signature"


def test_a_note_of_the_key_that_is_no_checkpoint_of_its_log_is_refused() -> None:
    texts = [
        f"other.example\n5\n{base64.b64encode(ROOT).decode()}\n",
        f"{NAME}\n05\n{base64.b64encode(ROOT).decode()}\n",
        f"{NAME}\n-5\n{base64.b64encode(ROOT).decode()}\n",
        f"{NAME}\n5\n{base64.b64encode(ROOT[1:]).decode()}\n",
        f"{NAME}\n5\n",
        ROTATION.text,
    ]
    assert {code_of(signed_note(text, [SIGNER])) for text in texts} == {"checkpoint-form"}


@settings(max_examples=60)
@given(st.data())
def test_an_altered_checkpoint_is_refused(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(NOTE) - 1))
    char = data.draw(st.sampled_from("0Aa+/= \n—\x00é\ud800"))
    way = data.draw(st.sampled_from(("replace", "insert", "cut")))
    rest = NOTE[at + 1 :] if way == "replace" else NOTE[at:]
    altered = NOTE[:at] + char + rest if way != "cut" else NOTE[:at]
    if altered != NOTE:
        assert code_of(altered)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (
        lambda: read_checkpoint(text, [SIGNER.key]),
        lambda: read_rotation(text, SIGNER.key),
        lambda: LogKey.parse(text),
    ):
        with pytest.raises(InputError):
            read()


def test_a_rotation_needs_both_signatures() -> None:
    assert read_rotation(STATEMENT, SIGNER.key) == ROTATION
    for signers in ([SIGNER], [NEXT_SIGNER], [SIGNER, SIGNER]):
        with pytest.raises(InputError) as caught:
            read_rotation(signed_note(ROTATION.text, signers), SIGNER.key)
        assert caught.value.code == "note-unsigned"


def test_a_rotation_is_from_the_key_that_was_known() -> None:
    with pytest.raises(InputError) as caught:
        read_rotation(STATEMENT, NEXT_SIGNER.key)
    assert caught.value.code == "rotation-form"
    with pytest.raises(InputError):
        read_rotation(NOTE, SIGNER.key)


def test_the_name_of_a_log_is_its_address_without_scheme() -> None:
    assert log_name("https://node.example") == NAME
    assert log_name("http://127.0.0.1:8000") == "127.0.0.1:8000/v1/public"
    for origin in ("node.example", "https://", "https://a b", "https://a/b", "https://a+b"):
        with pytest.raises(InputError) as caught:
            log_name(origin)
        assert caught.value.code == "log-origin"


def test_a_signer_does_not_show_its_seed() -> None:
    seed = b"s3cret" * 5 + b"..."[:2]
    shown = repr(Signer(NAME, seed))
    assert NAME in shown
    assert "s3cret" not in shown
    assert seed.hex() not in shown

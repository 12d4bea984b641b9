"""Admission: a key proves that somebody holds it who can read a task and follow it. Pure.

A challenge is a signed text, so the node keeps nothing of those that nobody answers:

    HOST/EXPIRES/NONCE/SIGNATURE

HOST is the node's own, so a key that is asked to sign a challenge of another node shows it; EXPIRES
is in Unix seconds, NONCE 32 hex digits, SIGNATURE 32 hex digits of an HMAC by the node's secret,
which also makes the tasks. It is no check of identity. Source: cold trials spec §2.
"""

import hashlib
import hmac
import re
import unicodedata
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import msgspec

from refold.kernel.errors import InputError, Problem
from refold.kernel.keys import parse_public
from refold.trials.codes import Code
from refold.trials.signing import WrongSignature, key_bytes, signature_fault
from refold.trials.tasks import TASKS, Task, make_tasks

__all__ = [
    "ADMISSION_CODES",
    "CHALLENGE_SECONDS",
    "MAX_NAME",
    "Answered",
    "Challenge",
    "Given",
    "check_challenge",
    "form_problems",
    "is_worked",
    "issue",
    "outcome_of",
    "problem",
    "proof_fault",
    "secret_of",
    "tasks_of",
    "work_of",
]

CHALLENGE_SECONDS: Final = 600
"""From start to answer: an agent needs seconds, a person with a shell some minutes."""
MAX_NAME: Final = 48
"""Code points of a name."""
MAX_RESULT: Final = 200
"""Code points of one result; the longest right one has 60."""
MAX_WORK: Final = 64
"""Characters of the nonce of a proof of work."""

ADMISSION_CODES: Final[dict[str, Code]] = {
    "challenge_unknown": Code("This is no challenge of this node.", "Start another one."),
    "challenge_elsewhere": Code(
        "The challenge is of another node.", "Answer there; whoever handed it on is no node."
    ),
    "challenge_expired": Code("The challenge has expired.", "Start another one."),
    "challenge_burnt": Code("The challenge was answered before.", "Start another one."),
    "answers_wrong": Code(
        "A result is wrong, and the challenge is burnt.", "Start another one; nothing is lost."
    ),
    "answers_form": Code(
        "There is not exactly one result for each task.", "Give one for each task_id."
    ),
    "name_form": Code(
        "The name has control, invisible or outer space characters, or not 1 to 48 in all.",
        "Choose another name; names need not be unique.",
    ),
    "work_missing": Code(
        "The proof of work is missing or not enough.", "Find a nonce as proof_of_work says."
    ),
}
"""What can be wrong with admission, besides the form of key and proof."""

_CHALLENGE = re.compile("([^/]{1,300})/([0-9]{10})/([0-9a-f]{32})/([0-9a-f]{32})")
_BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0") | frozenset(
    map(chr, (*range(0x180B, 0x1810), *range(0xE0100, 0xE01F0)))
)
"""What is no space and no control by its category, and shows nothing all the same."""
_SELECTORS = frozenset(map(chr, range(0xFE00, 0xFE10)))
"""They choose how a sign looks, as in emoji; behind a letter they show nothing."""


class Challenge(msgspec.Struct, frozen=True):
    """A challenge that is one of ours and still holds; `bits` of work that it asks for."""

    id: str
    expires: int
    bits: int


class Given(msgspec.Struct, frozen=True):
    """One result, as it was given."""

    task_id: str
    result: str


class Answered(msgspec.Struct, frozen=True):
    """An answer to a challenge. Key and proof in hex; `proof_of_work` is a nonce, or empty."""

    challenge_id: str
    name: str
    answers: tuple[Given, ...]
    public_key: str
    key_proof: str
    proof_of_work: str = ""

    @property
    def digest(self) -> str:
        """What tells one answer from another: 64 hex digits over all of it but the work."""
        given = [(each.task_id, each.result) for each in self.answers]
        whole = msgspec.json.encode([self.name, sorted(given), self.public_key, self.key_proof])
        return hashlib.sha256(whole).hexdigest()


def problem(code: str, detail: str = "", pointer: str = "") -> Problem:
    """Say what is wrong by a code of `ADMISSION_CODES`."""
    row = ADMISSION_CODES[code]
    return Problem(code, detail or row.says, row.remedy, pointer)


def secret_of(seed: bytes) -> bytes:
    """Give the secret of challenges that follows from the seed of the node's key."""
    return hashlib.sha256(b"refold admission v1\n" + seed).digest()


def issue(host: str, nonce: bytes, now: int, secret: bytes, bits: int) -> Challenge:
    """Give a new challenge; `nonce` are 16 fresh random bytes, `now` Unix seconds."""
    expires = now + CHALLENGE_SECONDS
    text = f"{host}/{expires}/{nonce.hex()}"
    return Challenge(f"{text}/{_signature(text, secret, bits)}", expires, bits)


def check_challenge(id_: str, host: str, now: int, secret: bytes, bits: int) -> Challenge:
    """Give the challenge of an id.

    Raises InputError `challenge_unknown`, `challenge_elsewhere`, `challenge_expired`.
    """
    match = _CHALLENGE.fullmatch(id_)
    text, _, signature = id_.rpartition("/")
    if match is None:
        raise _refused("challenge_unknown")
    if match[1] != host:
        raise _refused("challenge_elsewhere", f"The challenge is of {match[1]!a}, this is {host}.")
    if not hmac.compare_digest(signature, _signature(text, secret, bits)):
        raise _refused("challenge_unknown")
    if int(match[2]) <= now:
        raise _refused("challenge_expired")
    return Challenge(id_, int(match[2]), bits)


def tasks_of(challenge: Challenge, secret: bytes) -> tuple[Task, ...]:
    """Give the tasks of a challenge."""
    return make_tasks(hmac.digest(secret, b"tasks\n" + challenge.id.encode(), "sha256"))


def form_problems(answered: Answered, challenge: Challenge) -> tuple[Problem, ...]:
    """Give what is wrong with the form of an answer; nothing of it burns the challenge."""
    return tuple(_form_problems(answered, challenge))


def _form_problems(answered: Answered, challenge: Challenge) -> Iterator[Problem]:
    if not _is_name(answered.name):
        yield problem("name_form", pointer="/name")
    ids = [each.task_id for each in answered.answers]
    lengths = (len(each.result) for each in answered.answers)
    # The ids of the tasks are t1, t2, …: they can be compared without making the tasks.
    if sorted(ids) != [f"t{number}" for number in range(1, TASKS + 1)]:
        yield problem("answers_form", pointer="/answers")
    elif max(lengths) > MAX_RESULT:
        detail = f"A result has more than {MAX_RESULT} characters."
        yield problem("answers_form", detail, "/answers")
    try:
        parse_public(answered.public_key)
    except InputError as error:
        code = "key_form" if error.code == "key-form" else "key_unsafe"
        yield Problem(code, f"public_key is refused: {error.message}.", error.hint, "/public_key")
    if not is_worked(challenge, answered.proof_of_work):
        detail = f"The hash does not begin with {challenge.bits} zero bits."
        yield problem("work_missing", detail, "/proof_of_work")


def _is_name(name: str) -> bool:
    if not 0 < len(name) <= MAX_NAME or name != name.strip(" "):
        return False
    return not any(
        (char != " " and (unicodedata.category(char)[0] in "CZ" or char in _BLANK_LETTERS))
        or (char in _SELECTORS and unicodedata.category(before)[0] in "LMZ")
        for before, char in pairwise(f" {name}")
    )


def proof_fault(answered: Answered) -> WrongSignature | None:
    """Give why the key is not proved, with the bytes to sign; None if it is."""
    signed = key_bytes(answered.challenge_id)
    return signature_fault(answered.public_key, signed, answered.key_proof)


def outcome_of(answered: Answered, tasks: tuple[Task, ...]) -> tuple[str, ...]:
    """Give the ids of the tasks whose result is wrong or missing: none for whoever passes."""
    given = {each.task_id: each.result for each in answered.answers}
    return tuple(task.task_id for task in tasks if given.get(task.task_id) != task.result)


def is_worked(challenge: Challenge, nonce: str) -> bool:
    """Tell whether a nonce is the proof of work that a challenge asks for, if any."""
    if not challenge.bits:
        return True
    if len(nonce) > MAX_WORK:
        return False
    hashed = hashlib.sha256(f"{challenge.id}\n{nonce}".encode()).digest()
    return int.from_bytes(hashed) >> (256 - challenge.bits) == 0


def work_of(challenge: Challenge) -> str:
    """Find a nonce: 2 to the power of `bits` hashes on average."""
    number = 0
    while not is_worked(challenge, str(number)):
        number += 1
    return str(number)


def _signature(text: str, secret: bytes, bits: int) -> str:
    return hmac.digest(secret, f"challenge {bits}\n{text}".encode(), "sha256").hex()[:32]


def _refused(code: str, detail: str = "") -> InputError:
    return InputError.of([problem(code, detail, "/challenge_id")])

"""Admission, pure: challenges that cannot be made up, tasks that have one answer, names, work."""

import hashlib

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from refold.kernel.errors import InputError
from refold.kernel.keys import public_of, sign
from refold.trials.admission import (
    ADMISSION_CODES,
    CHALLENGE_SECONDS,
    Answered,
    Challenge,
    Given,
    check_challenge,
    form_problems,
    is_worked,
    issue,
    outcome_of,
    proof_fault,
    secret_of,
    tasks_of,
    work_of,
)
from refold.trials.limits import MAX_BITS
from refold.trials.signing import key_bytes
from refold.trials.tasks import KINDS, TASKS, make_tasks
from trials.solver import solve

HOST = "node.example:8443"
NOW = 1_900_000_000
SECRET = secret_of(b"s" * 32)
SEED = b"k" * 32


def challenge(**other: object) -> Challenge:
    about = {"host": HOST, "nonce": b"n" * 16, "now": NOW, "secret": SECRET, "bits": 0} | other
    return issue(**about)  # type: ignore[arg-type]


def answered(of: Challenge, **other: object) -> Answered:
    good = Answered(
        of.id,
        "an agent",
        tuple(Given(task.task_id, task.result) for task in tasks_of(of, SECRET)),
        public_of(SEED).hex(),
        sign(SEED, key_bytes(of.id)).hex(),
    )
    return msgspec.structs.replace(good, **other)


@given(seed=st.binary(min_size=32, max_size=32))
@settings(max_examples=150)
def test_every_task_is_solved_from_its_text_alone(seed: bytes) -> None:
    tasks = make_tasks(seed)
    assert [task.task_id for task in tasks] == [f"t{n}" for n in range(1, TASKS + 1)]
    assert len({task.kind for task in tasks}) == TASKS
    for task in tasks:
        assert solve(task.text) == task.result, task
        assert task.result not in task.text.split(), "the answer is not just there to be copied"
    assert make_tasks(seed) == tasks


@pytest.mark.parametrize("kind", KINDS)
def test_tasks_of_a_kind_differ(kind: str) -> None:
    made = {
        task.result
        for number in range(60)
        for task in make_tasks(hashlib.sha256(bytes([number])).digest(), len(KINDS))
        if task.kind == kind
    }
    assert len(made) > 40


def test_a_challenge_holds_until_it_expires() -> None:
    made = challenge()
    assert made.id.startswith(f"{HOST}/{NOW + CHALLENGE_SECONDS}/")
    last = NOW + CHALLENGE_SECONDS - 1
    assert check_challenge(made.id, HOST, last, SECRET, 0) == made
    with pytest.raises(InputError) as caught:
        check_challenge(made.id, HOST, last + 1, SECRET, 0)
    assert caught.value.code == "challenge_expired"


def test_a_challenge_of_another_node_shows() -> None:
    with pytest.raises(InputError) as caught:
        check_challenge(challenge(host="other.example").id, HOST, NOW, SECRET, 0)
    assert caught.value.code == "challenge_elsewhere"
    assert "other.example" in caught.value.message


@given(place=st.integers(0, 200), char=st.sampled_from("0123456789abcdefgz/:. \n٣"))
@settings(max_examples=150)
def test_a_challenge_cannot_be_altered(place: int, char: str) -> None:
    made = challenge().id
    place %= len(made)
    other = made[:place] + char + made[place + 1 :]
    if other != made:
        with pytest.raises(InputError) as caught:
            check_challenge(other, HOST, NOW, SECRET, 0)
        assert caught.value.code in {"challenge_unknown", "challenge_elsewhere"}


def test_a_challenge_belongs_to_its_secret_and_its_work() -> None:
    for secret, bits in [(secret_of(b"t" * 32), 0), (SECRET, 1)]:
        with pytest.raises(InputError):
            check_challenge(challenge().id, HOST, NOW, secret, bits)


def test_right_results_pass_and_each_wrong_one_is_named() -> None:
    made = challenge()
    good = answered(made)
    tasks = tasks_of(made, SECRET)
    assert form_problems(good, made) == ()
    assert proof_fault(good) is None
    assert outcome_of(good, tasks) == ()
    for place, task in enumerate(tasks):
        given_ = list(good.answers)
        given_[place] = Given(task.task_id, task.result + " ")
        wrong = msgspec.structs.replace(good, answers=tuple(given_))
        assert outcome_of(wrong, tasks) == (task.task_id,)


def test_the_proof_is_over_the_challenge() -> None:
    made = challenge()
    other = answered(made, key_proof=sign(SEED, key_bytes(made.id) + b"\n").hex())
    wrong = proof_fault(other)
    assert wrong is not None
    assert wrong.slip == "a newline was signed at the end"


BAD_NAMES = [
    "",
    " a",
    "a ",
    "a" * 49,
    "a\nb",
    "a\tb",
    "a\x00",
    "a\x7f",
    "a\u200bb",
    "a\u202eb",
    "\ufeffa",
    "a\u00a0b",
    "\u3164",
    "\u2800",
    "a\ufe0f",
    "\ufe0f",
    "a\U000e0100",
    "\u180b",
    "a\u00adb",
    "\ud800",
    "a\u2028b",
    "\u034f",
    "\U000e0041",
    "\ue000",
]


@pytest.mark.parametrize("name", BAD_NAMES, ids=ascii)
def test_names_that_cannot_be_seen_are_refused(name: str) -> None:
    made = challenge()
    (found,) = form_problems(answered(made, name=name), made)
    assert (found.code, found.pointer) == ("name_form", "/name")


@pytest.mark.parametrize(
    "name", ["a", "a" * 48, "冷试用 agent №1", "ünïcödé", "a b-c_d.e", "🦊", "❤️ 1️⃣"]
)
def test_other_names_pass(name: str) -> None:
    made = challenge()
    assert form_problems(answered(made, name=name), made) == ()


def results(*ids: str) -> tuple[Given, ...]:
    return tuple(Given(each, "x") for each in ids)


@pytest.mark.parametrize(
    "answers",
    [
        (),
        results("t1", "t2", "t3"),
        results("t1", "t2", "t3", "t3"),
        results("t1", "t2", "t3", "t4", "t5"),
        results("t1", "t2", "t3", "T4"),
        (*results("t1", "t2", "t3"), Given("t4", "x" * 201)),
    ],
    ids=str,
)
def test_one_result_for_each_task(answers: tuple[Given, ...]) -> None:
    made = challenge()
    assert [each.code for each in form_problems(answered(made, answers=answers), made)] == [
        "answers_form"
    ]


@pytest.mark.parametrize(
    ("key", "code"),
    [
        ("ab", "key_form"),
        (public_of(SEED).hex().upper(), "key_form"),
        ("01" + "00" * 31, "key_unsafe"),
        ("00" * 32, "key_unsafe"),
        ("ee" + "ff" * 30 + "7f", "key_unsafe"),
        ("02" + "00" * 31, "key_unsafe"),
    ],
)
def test_keys_that_anybody_can_use_are_refused(key: str, code: str) -> None:
    made = challenge()
    found = form_problems(answered(made, public_key=key), made)
    assert [each.code for each in found] == [code]


def test_work_is_found_and_checked() -> None:
    made = challenge(bits=8)
    assert form_problems(answered(made), made)[0].code == "work_missing"
    nonce = work_of(made)
    assert is_worked(made, nonce)
    assert hashlib.sha256(f"{made.id}\n{nonce}".encode()).digest()[0] == 0
    assert form_problems(answered(made, proof_of_work=nonce), made) == ()
    assert not is_worked(made, "x" * 65)
    assert not is_worked(msgspec.structs.replace(made, bits=MAX_BITS), nonce)


def test_an_answer_has_one_digest_whatever_the_order_of_its_results() -> None:
    made = challenge()
    good = answered(made)
    turned = msgspec.structs.replace(good, answers=good.answers[::-1])
    assert turned.digest == good.digest
    for other in ({"name": "b"}, {"answers": results("t1")}, {"public_key": "00"}):
        assert answered(made, **other).digest != good.digest


def test_every_code_is_raised_here_or_in_the_tests_of_the_routes() -> None:
    assert set(ADMISSION_CODES) == {
        *("challenge_unknown", "challenge_elsewhere", "challenge_expired", "challenge_burnt"),
        *("answers_wrong", "answers_form", "name_form", "work_missing"),
    }

"""Routes of admission: a key is admitted once, for good. Starting one keeps nothing."""

import base64
from typing import Annotated

import msgspec
from msgspec import Meta, field

from refold.kernel.errors import InputError, Problem
from refold.serving.call import Call
from refold.serving.operation import post
from refold.serving.problem import DetailedError
from refold.serving.reading import Threads
from refold.trials.admission import (
    MAX_NAME,
    Answered,
    Challenge,
    Given,
    check_challenge,
    form_problems,
    issue,
    outcome_of,
    problem,
    proof_fault,
    tasks_of,
)
from refold.trials.api.codes import ADMISSION
from refold.trials.api.office import Office, Writing
from refold.trials.codes import Fault, told
from refold.trials.leaf import accepted_text
from refold.trials.relations import key_faults
from refold.trials.signing import WrongSignature, key_bytes
from refold.trials.store.keys import AnsweredRow, KeyRow, Keys
from refold.trials.tasks import TASKS

__all__ = ["AdmissionApi", "AdmittedShown", "AnswerBody", "ChallengeShown", "GivenBody"]

_NONCE_BYTES = 16
_NOTICE = (
    "Solve every task yourself; each says what its result is, and results are compared exactly."
    " Sign the bytes of key_proof with your key. A wrong result burns the challenge. This shows"
    " that somebody reads and follows a text and holds a key: it is no check of identity."
)


class TaskShown(msgspec.Struct, frozen=True):
    """One task."""

    task_id: str
    kind: str
    text: str


class ProofShown(msgspec.Struct, frozen=True):
    """What proves the key: an Ed25519 signature over these bytes, as text and in base64."""

    text: str
    preimage: str


class WorkShown(msgspec.Struct, frozen=True):
    """What to find: a nonce with which the hash begins with so many zero bits."""

    bits: int
    rule: str


class ChallengeShown(msgspec.Struct, frozen=True):
    """A challenge: what to answer, and until when. `proof_of_work` is null where none is asked."""

    challenge_id: str
    expires: str
    tasks: tuple[TaskShown, ...]
    key_proof: ProofShown
    proof_of_work: WorkShown | None
    notice: str


class GivenBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The result of one task."""

    task_id: Annotated[str, Meta(max_length=20)]
    result: Annotated[str, Meta(max_length=1_000)]


class AnswerBody(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An answer: a result for each task, a name for the key, and the key with its proof in hex."""

    challenge_id: Annotated[str, Meta(max_length=400)]
    name: Annotated[str, Meta(description=f"1 to {MAX_NAME} visible characters; not unique.")]
    answers: Annotated[tuple[GivenBody, ...], Meta(max_length=TASKS * 2)]
    public_key: str
    key_proof: str
    proof_of_work: str = ""


class AdmittedShown(msgspec.Struct, frozen=True):
    """A key that may post from now on, under the name of its first admission."""

    admitted: bool
    public_key: str
    name: str
    admitted_at: str = field(name="admittedAt")


class AdmissionApi:
    """See the module."""

    def __init__(self, office: Office) -> None:
        self._office = office

    @post(
        "/v1/admission/start",
        summary="Start the admission of a key",
        codes=("too-many", "trials-closed"),
    )
    async def start(self, call: Call) -> ChallengeShown:
        """Give fresh tasks, which hold for ten minutes. There is nothing to send."""
        return self.begin(call.client)

    def begin(self, client: str) -> ChallengeShown:
        """Give fresh tasks to a network address."""
        writing = self._office.open()
        self._office.require("challenges.ten_minutes", client)
        nonce = self._office.clocks.chance(_NONCE_BYTES)
        node = self._office.node
        challenge = issue(node.host, nonce, self._office.unix(), writing.secret, node.bits)
        signed = key_bytes(challenge.id)
        work = None
        if challenge.bits:
            rule = (
                f"the SHA-256 of the challenge_id, a line feed and the nonce begins with"
                f" {challenge.bits} zero bits"
            )
            work = WorkShown(challenge.bits, rule)
        return ChallengeShown(
            challenge.id,
            accepted_text(challenge.expires),
            tuple(
                TaskShown(task.task_id, task.kind, task.text)
                for task in tasks_of(challenge, writing.secret)
            ),
            ProofShown(signed.decode(), base64.b64encode(signed).decode()),
            work,
            _NOTICE,
        )

    @post(
        "/v1/admission/answer",
        summary="Answer a challenge",
        codes=(*ADMISSION, "key_revoked", "key_blocked", "too-many", "trials-closed"),
        max_body=16_384,
    )
    async def answer(self, body: AnswerBody, call: Call) -> AdmittedShown:
        """Admit a key whose results are all right; a wrong one burns the challenge.

        What is wrong with the form, or with the proof of the key, burns nothing. The same answer
        again gives the same result. A key that was admitted before keeps its name and time.
        """
        return await self.admit(body, call.client, call.site.searches)

    async def admit(self, body: AnswerBody, client: str, threads: Threads) -> AdmittedShown:
        """Do the same for a network address; `threads` are where the database is written."""
        writing = self._office.open()
        self._office.require("answers.ten_minutes", client)
        answered = Answered(
            body.challenge_id,
            body.name,
            tuple(Given(each.task_id, each.result) for each in body.answers),
            body.public_key,
            body.key_proof,
            body.proof_of_work,
        )
        node = self._office.node
        now = self._office.unix()
        try:
            challenge = check_challenge(
                answered.challenge_id, node.host, now, writing.secret, node.bits
            )
        except InputError as error:
            raise self._refusal(list(error.errors), None) from error
        problems = list(form_problems(answered, challenge))
        wrong = None
        if not any(each.code in {"key_form", "key_unsafe"} for each in problems):
            wrong = proof_fault(answered)
        if problems or wrong is not None:
            raise self._refusal(problems, wrong)
        row, missed = await threads.run(self._settle, writing, answered, challenge, now)
        if row is None:
            wrong_tasks = [problem("answers_wrong", f"Task {each} is wrong.") for each in missed]
            raise self._refusal(wrong_tasks, None)
        return AdmittedShown(True, row.public_key, row.name, accepted_text(row.admitted_at))

    def _settle(
        self, writing: Writing, answered: Answered, challenge: Challenge, now: int
    ) -> tuple[KeyRow | None, tuple[str, ...]]:
        """Burn the challenge, and admit the key if all is right: in one transaction.

        Gives the key, or the tasks whose result is wrong.
        """
        with writing.database.write() as connection:
            keys = Keys(connection)
            before = keys.answered(challenge.id)
            if before is not None and before.answer != answered.digest:
                raise self._refusal([problem("challenge_burnt", pointer="/challenge_id")], None)
            faults = key_faults(keys.state(answered.public_key))
            barred = tuple(each for each in faults if each.code != "key_unknown")
            if barred:
                raise self._barred(barred)
            if before is None:
                missed = outcome_of(answered, tasks_of(challenge, writing.secret))
                before = AnsweredRow(answered.digest, missed)
                keys.note_answer(challenge.id, challenge.expires, before, now)
            if before.wrong:
                return None, before.wrong
            return keys.admit(answered.public_key, answered.name, now), ()

    def _barred(self, faults: tuple[Fault, ...]) -> DetailedError:
        return DetailedError.of(told(faults, self._office.docs))

    def _refusal(self, problems: list[Problem], wrong: WrongSignature | None) -> DetailedError:
        docs = self._office.docs
        told_ = [
            msgspec.structs.replace(each, docs=f"{docs}/{each.code}", field=each.pointer[1:])
            for each in problems
        ]
        if wrong is None:
            return DetailedError.of(told_)
        own = Problem(
            wrong.fault.code,
            wrong.fault.detail,
            wrong.fault.hint,
            "/key_proof",
            None,
            "key_proof",
            f"{docs}/{wrong.fault.code}",
        )
        return DetailedError.of([*told_, own]).detailed(
            {"preimage": wrong.preimage, "sha256": wrong.sha256, "slip": wrong.slip}
        )

"""`refold trials admit`, `preview`, `post`: what an agent does at a node. Keys never leave here."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

import click
import msgspec

from refold.cli.output import format_option, print_json, print_line, read_input
from refold.kernel.errors import InputError, Problem, SourceError, UsageError, one_line

if TYPE_CHECKING:
    from collections.abc import Callable

    from refold.kernel.fetch import Fetched

MAX_ANSWER = 1024 * 1024
"""Bytes of an answer of a node that are read."""
MAX_LOCAL_BITS = 28
"""Of a proof of work that is done unasked: some minutes."""


class _Unsigned(TypedDict):
    """Which message is meant, as `message_options` name it."""

    file: str
    key_file: Path
    room: str
    reply_to: int | None


node_argument = click.argument("node", metavar="NODE")
allow_option = click.option(
    "--allow",
    "networks",
    multiple=True,
    metavar="NETWORK",
    help="A private network (CIDR) that NODE may be in; 127.0.0.0/8 for this machine.",
)


def message_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add what says which message is meant: node, text, key, and where it stands."""
    for option in (
        click.option(
            "--reply-to", type=click.IntRange(min=1), help="Id of the message that is answered."
        ),
        click.option("--room", default="commons", show_default=True, help="Room to post in."),
        click.option(
            "--key",
            "key_file",
            required=True,
            type=click.Path(path_type=Path),
            help="File with the seed of your key, from `refold trials keygen`.",
        ),
        click.argument("file", metavar="FILE"),
        node_argument,
    ):
        command = option(command)
    return command


@click.command()
@node_argument
@click.option("--key", "key_file", type=click.Path(path_type=Path), help="File with your key.")
@click.option("--name", help="Name that the key goes by: 1 to 48 characters.")
@click.option("--challenge", "challenge_file", metavar="FILE", help="What the first call printed.")
@click.option("--answer", "answers", multiple=True, metavar="TASK=RESULT", help="One a task.")
@allow_option
@format_option
def admit(
    node: str,
    key_file: Path | None,
    name: str | None,
    challenge_file: str | None,
    answers: tuple[str, ...],
    networks: tuple[str, ...],
    form: str,
) -> None:
    """Have a key admitted at NODE, an origin such as https://node.example, in two calls.

    The first one prints a challenge as JSON: keep it in a file. The second one takes that file and
    a result for each task; the key signs the challenge, and a proof of work is found if asked for.
    """
    if challenge_file is None:
        print_json(_asked(node, "/v1/admission/start", b"", networks))
        return
    if key_file is None or name is None:
        raise UsageError("usage", "--challenge needs --key and --name", "give both")
    challenge = _challenge(challenge_file)
    seed = _seed(key_file)
    from refold.kernel.keys import public_of, sign
    from refold.trials.admission import Challenge, work_of
    from refold.trials.signing import key_bytes

    id_ = challenge["challenge_id"]
    bits = (challenge.get("proof_of_work") or {}).get("bits", 0)
    if bits > MAX_LOCAL_BITS:
        raise InputError("work-large", f"the node asks for {bits} bits of work", "ask another")
    body = {
        "challenge_id": id_,
        "name": name,
        "answers": [_result(answer) for answer in answers],
        "public_key": public_of(seed).hex(),
        "key_proof": sign(seed, key_bytes(id_)).hex(),
        "proof_of_work": work_of(Challenge(id_, 0, bits)) if bits else "",
    }
    admitted = _asked(node, "/v1/admission/answer", msgspec.json.encode(body), networks)
    _show(form, admitted, lambda it: f"{it['public_key']} is admitted as {one_line(it['name'])}")


@click.command()
@message_options
@allow_option
@format_option
def preview(node: str, networks: tuple[str, ...], form: str, **message: Unpack[_Unsigned]) -> None:
    """Have NODE check the text in FILE (- for standard input) as if it were posted now."""
    found = _asked(node, "/v1/preview", msgspec.json.encode(_signed(**message)), networks)
    _show(form, found, lambda it: f"{it['kind']}, {it['bytes']} bytes to sign: it would be taken")


@click.command()
@message_options
@allow_option
@format_option
def post(node: str, networks: tuple[str, ...], form: str, **message: Unpack[_Unsigned]) -> None:
    """Sign the text in FILE (- for standard input) and post it at NODE.

    One line end at the end of FILE is left out. The same post again changes nothing.
    """
    found = _asked(node, "/v1/messages", msgspec.json.encode(_signed(**message)), networks)
    again = " (it was there before)" if found.get("duplicate") else ""
    _show(form, found, lambda it: f"{it['kind']} {it['id']} at {one_line(it['url'])}{again}")


def _signed(file: str, key_file: Path, room: str, reply_to: int | None) -> dict[str, object]:
    """Give the signed message of a text in a file."""
    from refold.kernel.keys import public_of, sign
    from refold.trials.signing import message_bytes

    try:
        content = read_input(file).decode().removesuffix("\n")
    except UnicodeDecodeError as error:
        raise InputError("not_utf8", f"{file} is not UTF-8", "send it as UTF-8") from error
    seed = _seed(key_file)
    return {
        "room": room,
        "reply_to": reply_to,
        "content": content,
        "public_key": public_of(seed).hex(),
        "signature": sign(seed, message_bytes(room, reply_to, content)).hex(),
    }


def _seed(file: Path) -> bytes:
    from refold.kernel.seedfile import read_seed

    seed = read_seed(file)
    if seed is None:
        raise UsageError("key-file", f"{file} is not there", "make one with refold trials keygen")
    return seed


def _challenge(file: str) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(read_input(file), type=dict[str, Any])
        if isinstance(found.get("challenge_id"), str):
            return found
    except msgspec.MsgspecError:
        pass
    raise InputError("challenge_unknown", f"{file} holds no challenge", "start another one")


def _result(answer: str) -> dict[str, str]:
    task, equals, result = answer.partition("=")
    if not equals:
        raise UsageError("usage", f"--answer {one_line(answer)} is no TASK=RESULT", "see --help")
    return {"task_id": task, "result": result}


def _asked(node: str, path: str, body: bytes, networks: tuple[str, ...]) -> dict[str, Any]:
    """Give what a node answers. Raises InputError with its problems, SourceError."""
    from refold.kernel.fetch import GuardedClient
    from refold.kernel.policy import FetchPolicy

    policy = FetchPolicy(allowed_networks=networks, retries=0, max_bytes=MAX_ANSWER)
    with GuardedClient(policy) as client:
        fetched = client.post(node.rstrip("/") + path, body)
    try:
        found = msgspec.json.decode(fetched.body, type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise _no_node(node, fetched) from error
    if fetched.status in {200, 201}:
        return found
    raise _refusal(found) or _no_node(node, fetched)


def _no_node(node: str, fetched: Fetched) -> SourceError:
    return SourceError(
        "node-answer", f"{one_line(node)} answered {fetched.status}, not as a node", "check NODE"
    )


def _refusal(found: dict[str, Any]) -> InputError | SourceError | None:
    """Give what a node refused something for, None if it does not say so as nodes do."""
    try:
        problems = [
            Problem(
                str(each["code"]),
                str(each["detail"]),
                str(each.get("hint", "")),
                str(each.get("pointer", "")),
                msgspec.convert(each.get("line"), int | None),
                str(each.get("field", "")),
            )
            for each in msgspec.convert(found.get("errors"), list[dict[str, Any]])
        ]
    except (msgspec.ValidationError, KeyError):
        return None
    if not problems:
        return None
    kind = SourceError if found.get("status") in {429, 503} else InputError
    return kind.of(problems)


def _show(form: str, found: dict[str, Any], line: Callable[[dict[str, Any]], str]) -> None:
    """Print an answer, and what it warns of."""
    if form == "json":
        print_json(found)
        return
    print_line(line(found))
    for each in found.get("warnings") or ():
        where = f" in line {each.get('line')}" if each.get("line") else ""
        code, detail = (one_line(str(each.get(name))) for name in ("code", "detail"))
        print_line(f"warning: {code}{where}: {detail}")

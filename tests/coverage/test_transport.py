"""Transports: the network as a walk sees it, answers kept in a folder, and a folder as a source."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cases.sources import ORIGIN, Scripted, answer, items, needle, source, to
from kernel.hostile import Answers, Clock, Dialled, Peer, http, serving
from refold.coverage.transport.live import Live, policy_of
from refold.coverage.transport.recording import Recorded, Recorder
from refold.coverage.walk.asking import Answer, Ask, Failure
from refold.coverage.walk.budget import Budgets
from refold.coverage.walk.drive import walk_source
from refold.coverage.walk.walked import Walked
from refold.kernel.errors import InputError, UsageError
from refold.kernel.fetch import GuardedClient

JSON = "Content-Type: application/json"
PAGE = http(b'{"items":[{"id":1,"name":"needle"}]}', "200 OK", JSON)


def client(origin: str, **options: Any) -> GuardedClient:
    policy = policy_of(Budgets(), origin_map={ORIGIN: origin} if origin else {})
    quick = msgspec.structs.replace(policy, retry_wait=0.0, max_seconds_idle=10.0)
    return GuardedClient(quick, **options)


# The network.


def test_what_a_request_says_and_where_it_goes() -> None:
    script = Answers(PAGE)
    dialled = Dialled()
    with serving(script) as server, client(server.origin, connect=dialled) as ours:
        walked = walk_source(source("/items?q=a%20b"), needle(), Live(ours))
    (request,) = script.requests
    head = request.decode().split("\r\n")
    assert head[0] == "GET /items?q=a%20b HTTP/1.1"
    assert sorted(line.lower() for line in head[1:] if line) == [
        "accept-encoding: identity",
        "accept: application/json",
        "cache-control: no-cache",
        "host: api.example.test",
        "user-agent: refold",
    ]
    assert dialled.addresses == ["127.0.0.1"]
    assert walked.traversal.reasons == ()
    assert [(proof.url, proof.mapped_to) for proof in walked.proofs] == [
        (f"{ORIGIN}/items?q=a%20b", server.origin)
    ]


def test_only_the_mapped_origin_is_asked_elsewhere() -> None:
    script = Answers(
        http(b'{"items":[]}', "200 OK", JSON, 'Link: <https://127.0.0.1:1/x>; rel="next"')
    )
    dialled = Dialled()
    with serving(script) as server, client(server.origin, connect=dialled) as ours:
        walked = walk_source(source(), needle(), Live(ours))
    assert walked.traversal.reasons == ("redirected_off_source",)
    assert len(dialled.calls) == 1


@pytest.mark.parametrize(
    "origin",
    ["https://127.0.0.1:1", "https://10.0.0.1", "https://[::1]", "https://169.254.169.254"],
)
def test_private_addresses_are_refused_unless_allowed(origin: str) -> None:
    dialled = Dialled()
    url = msgspec.structs.replace(source().replay, url=f"{origin}/items")
    with client("", connect=dialled) as ours:
        walked = walk_source(msgspec.structs.replace(source(), replay=url), needle(), Live(ours))
    assert walked.traversal.reasons == ("address_refused",)
    assert dialled.calls == []


def test_a_byte_a_second_ends_inside_the_budget() -> None:
    def script(peer: Peer) -> None:
        peer.request()
        peer.send(http(b"", "200 OK", JSON, length=10_000))
        for _ in range(100):
            clock.now += 1
            peer.send(b" ")
        peer.wait_for_close()

    clock = Clock()
    with serving(script) as server, client(server.origin, clock=clock) as ours:
        walked = walk_source(source(), needle(), Live(ours, clock=clock))
    assert walked.traversal.reasons == ("budget_exhausted",)
    assert walked.traversal.requests == 1


def test_a_slow_list_ends_with_the_seconds_of_its_unit() -> None:
    def script(peer: Peer) -> None:
        while request := peer.request():
            clock.now += 26
            following = f"Link: <?n={int(request.split(b'n=')[-1].split()[0] or 0) + 1}>; rel=next"
            body = json.dumps({"items": items(int(clock.now))}).encode()
            peer.send(http(body, "200 OK", JSON, following))

    clock = Clock()
    with serving(script) as server, client(server.origin, clock=clock) as ours:
        walked = walk_source(source("/items?n=0"), needle(), Live(ours, clock=clock))
    assert walked.traversal.reasons[0] == "budget_exhausted"
    # Of 26 s each: the 24th is under way when the time is over, and nobody reads the clock in it.
    assert walked.traversal.pages in {23, 24}


def test_replies_of_a_batch_stand_in_the_order_of_its_questions() -> None:
    def script(peer: Peer) -> None:
        while request := peer.request():
            target = request.split()[1]
            peer.send(http(target, "404 No" if target == b"/3" else "200 OK"))

    with serving(script) as server, client(server.origin) as ours:
        asks = [Ask(f"{ORIGIN}/{number}", 100, 10) for number in range(9)]
        batch = Live(ours).ask([*asks, Ask(f"{ORIGIN}/4", 1, 10)])
    assert [reply.url for reply in batch.replies] == [ask.url for ask in asks] + [f"{ORIGIN}/4"]
    assert [reply.status for reply in batch.replies[:9] if isinstance(reply, Answer)] == [
        404 if number == 3 else 200 for number in range(9)
    ]
    assert isinstance(batch.replies[9], Failure)
    assert batch.replies[9].code == "body-too-large"
    assert batch.requests == 10
    assert batch.received == ours.bytes_received


# Folders.


def two_pages() -> Scripted:
    def reply(ask: Ask) -> Answer | Failure:
        if ask.url.endswith("c=b"):
            return answer(ask.url, {"items": [{"id": 9, "name": "needle"}]})
        return answer(ask.url, {"items": items(1, 2)}, headers=to("?c=b"))

    return Scripted(reply, seconds=1.5)


def kept(folder: Path) -> Walked:
    return walk_source(source(), needle(), Recorder(two_pages(), folder))


def again(folder: Path) -> Walked:
    return walk_source(source(), needle(), Recorded(folder))


def test_a_folder_gives_the_walk_again(tmp_path: Path) -> None:
    walked = kept(tmp_path / "a/b")
    assert again(tmp_path / "a/b") == walked
    assert walked.traversal.requests == 3
    assert (Recorded(tmp_path / "a/b").basis, Recorder(two_pages(), tmp_path / "c").basis) == (
        "RECORDED",
        "LIVE",
    )
    assert len(list((tmp_path / "a/b/bodies").iterdir())) == 2  # the first page came twice


def test_what_was_not_kept_is_no_end(tmp_path: Path) -> None:
    kept(tmp_path)
    index = tmp_path / "answers.jsonl"
    lines = index.read_bytes().splitlines(keepends=True)
    for count, pages in ((0, 0), (1, 1), (2, 2)):
        index.write_bytes(b"".join(lines[:count]))
        seen = again(tmp_path).traversal
        assert seen.reasons == ("source_unreachable",)
        assert seen.pages == pages
    other = walk_source(source("/others"), needle(), Recorded(tmp_path)).traversal
    assert other.reasons == ("source_unreachable",)


def test_two_walks_do_not_go_into_one_folder(tmp_path: Path) -> None:
    kept(tmp_path)
    with pytest.raises(UsageError) as refused:
        Recorder(two_pages(), tmp_path)
    assert refused.value.code == "record-exists"
    assert again(tmp_path) == kept(tmp_path / "other")


def test_a_folder_without_answers(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InputError) as refused:
            Recorded(folder)
        assert refused.value.code == "record-missing"


def change(part: str, value: Any) -> Callable[[Path], None]:
    def changed(folder: Path) -> None:
        index = folder / "answers.jsonl"
        lines = [json.loads(line) for line in index.read_bytes().splitlines()]
        lines[0]["replies"][0][part] = value
        index.write_text("".join(json.dumps(line) + "\n" for line in lines))

    return changed


def spoil_body(folder: Path) -> None:
    for path in (folder / "bodies").iterdir():
        path.write_bytes(b'{"items":[]}')


def drop_bodies(folder: Path) -> None:
    for path in (folder / "bodies").iterdir():
        path.unlink()


@pytest.mark.parametrize(
    "damage",
    [
        spoil_body,
        drop_bodies,
        change("body", ""),
        change("body", "../../../etc/passwd"),
        change("body", "A" * 64),
        change("status", "200"),
        change("headers", {"a": "b"}),
        lambda folder: (folder / "answers.jsonl").write_bytes(b"\xff\n"),
        lambda folder: (folder / "answers.jsonl").write_bytes(b"[" * 100_000 + b"\n"),
        lambda folder: (folder / "answers.jsonl").write_bytes(b'{"urls":["a"],"replies":[]}\n'),
        lambda folder: (folder / "answers.jsonl").write_bytes(b"x" * (5 << 20)),
        lambda folder: (folder / "answers.jsonl").write_bytes(b"{}"),
    ],
)
def test_a_damaged_folder_is_refused(damage: Callable[[Path], object], tmp_path: Path) -> None:
    kept(tmp_path)
    damage(tmp_path)
    with pytest.raises(InputError) as refused:
        again(tmp_path)
    assert refused.value.code == "record-damaged"


def test_a_body_over_the_budget_is_not_read(tmp_path: Path) -> None:
    kept(tmp_path)
    (ask,) = [Ask(f"{ORIGIN}/items", 10, 30)]
    reply = Recorded(tmp_path).ask([ask]).replies[0]
    assert isinstance(reply, Failure)
    assert reply.code == "body-too-large"


def test_kept_answers_that_claim_another_origin_are_not_believed(tmp_path: Path) -> None:
    kept(tmp_path)
    change("url", "https://other.test/items")(tmp_path)
    assert again(tmp_path).traversal.reasons == ("redirected_off_source",)


@settings(deadline=None, max_examples=40)
@given(st.binary(max_size=200), st.integers(0, 10_000), st.integers(0, 20))
def test_an_index_of_any_bytes_is_read_or_refused(
    tmp_path_factory: pytest.TempPathFactory, noise: bytes, place: int, cut: int
) -> None:
    folder = tmp_path_factory.mktemp("kept")
    kept(folder)
    index = folder / "answers.jsonl"
    data = index.read_bytes()
    place %= len(data)
    index.write_bytes(data[:place] + noise + data[place + cut :])
    try:
        seen = again(folder).traversal
    except InputError as error:
        assert error.code == "record-damaged"  # noqa: PT017 -- that no other comes is what is tested
    else:
        assert seen.unit == "u"

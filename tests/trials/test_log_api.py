"""The log over HTTP: a stranger who has the node's key checks everything by what is served."""

from typing import Any

import pytest

from refold.kernel.merkle import (
    Frontier,
    inclusion_proof,
    leaf_hash,
    root_of,
    verify_consistency,
    verify_inclusion,
)
from refold.trials.checkpoint import Checkpoint, LogKey, Signer, log_name, read_checkpoint
from refold.trials.leaf import leaf_bytes
from refold.trials.store.writing import drop_text
from refold.trials.tiles import TilePath, node_reader, tiles_of, width_at
from trials.logged import all_messages, append, posting
from trials.nodes import ORIGIN, SEED, Running, problem, running

SIZE = 600
KEY = Signer(log_name(ORIGIN), SEED).key


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A node with some messages, the text of one of them removed."""
    with running(tmp_path_factory.mktemp("log")) as found:
        assert found.office.writing is not None
        found.first = found.get("checkpoint").text  # type: ignore[attr-defined]
        append(found.office.writing.log, *(posting(f"{n}", who=n % 3) for n in range(SIZE)))
        with found.database.write() as connection:
            assert drop_text(connection, 7)
        yield found


def checkpoint_of(node: Running) -> Checkpoint:
    answer = node.get("checkpoint")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    return read_checkpoint(answer.text, [KEY])


def tile(node: Running, path: TilePath) -> bytes:
    answer = node.get(f"tile/{path}")
    assert answer.status_code == 200, answer.text
    assert answer.headers["content-type"] == "application/octet-stream"
    assert "immutable" in answer.headers["cache-control"]
    return answer.content


def test_the_log_can_be_read_from_its_tiles_alone(node: Running) -> None:
    checkpoint = checkpoint_of(node)
    assert checkpoint.size == SIZE

    def read(level: int, number: int) -> bytes:
        width = width_at(level, number, checkpoint.size)
        return tile(node, TilePath(level, number, width))

    assert root_of(SIZE, node_reader(read)) == checkpoint.root
    frontier, leaves = Frontier(), []
    (level, last, width), *_ = tiles_of(SIZE)
    assert level == 0
    for number in range(last + 1):
        packed = tile(node, TilePath(None, number, width if number == last else 256))
        while packed:
            length = int.from_bytes(packed[:2], "big")
            leaves.append(packed[2 : 2 + length])
            frontier.append(leaf_hash(leaves[-1]))
            packed = packed[2 + length :]
    assert (len(leaves), frontier.root()) == (SIZE, checkpoint.root)
    rows = all_messages(node.database)
    assert leaves == [leaf_bytes(m.id, m.accepted_at, m.digest, m.signature) for m in rows]
    for index in (0, 6, 255, 256, SIZE - 1):
        proof = inclusion_proof(index, SIZE, node_reader(read))
        assert verify_inclusion(leaf_hash(leaves[index]), index, SIZE, proof, checkpoint.root)


def test_a_partial_tile_is_the_beginning_of_a_full_one(node: Running) -> None:
    whole = tile(node, TilePath(0, 1, 256))
    assert tile(node, TilePath(0, 1, 3)) == whole[:96]
    assert len(whole) == 8_192


@pytest.mark.parametrize("message", [1, 7, 256, 257, SIZE])
@pytest.mark.parametrize("size", [None, 300, 512])
def test_a_proof_of_a_message(node: Running, message: int, size: int | None) -> None:
    path = f"messages/{message}/proof" + (f"?size={size}" if size else "")
    if size is not None and size < message:
        assert problem(node.get(path), 400)["code"] == "proof-range"
        return
    shown = node.json(path)
    checkpoint = checkpoint_of(node)
    row = all_messages(node.database)[message - 1]
    leaf = leaf_hash(leaf_bytes(row.id, row.accepted_at, row.digest, row.signature))
    assert shown["leafHash"] == leaf.hex()
    root, proof = bytes.fromhex(shown["root"]), [bytes.fromhex(one) for one in shown["proof"]]
    assert verify_inclusion(leaf, shown["index"], shown["size"], proof, root)
    if size is None:
        assert (shown["size"], root) == (checkpoint.size, checkpoint.root)
        assert read_checkpoint(shown["checkpoint"], [KEY]) == checkpoint
    else:
        assert (shown["size"], shown["checkpoint"]) == (size, None)


@pytest.mark.parametrize("first", [0, 1, 255, 256, 300, SIZE])
def test_a_proof_that_the_log_only_grew(node: Running, first: int) -> None:
    checkpoint = checkpoint_of(node)
    shown = node.json(f"log/consistency?first={first}")
    roots = [bytes.fromhex(shown[name]) for name in ("firstRoot", "secondRoot")]
    assert roots[1] == checkpoint.root
    proof = [bytes.fromhex(one) for one in shown["proof"]]
    assert verify_consistency(first, roots[0], shown["second"], roots[1], proof)
    shorter = node.json(f"log/consistency?first={first}&second={SIZE}")
    assert shorter["proof"] == shown["proof"]


def test_kept_checkpoints_are_listed(node: Running) -> None:
    items = node.json("checkpoints")["items"]
    sizes = [read_checkpoint(each["note"], [KEY]).size for each in items]
    assert sizes == [each["id"] for each in items] == sorted(sizes, reverse=True)
    assert sizes[0] == SIZE
    assert node.json("checkpoints?limit=1")["items"] == items[:1]
    first: str = node.first  # type: ignore[attr-defined]
    assert read_checkpoint(first, [KEY]).size == 0


def test_the_keys_of_the_log_are_listed(node: Running) -> None:
    shown = node.json("log/keys")
    assert shown["name"] == KEY.name
    (key,) = shown["keys"]
    assert LogKey.parse(key["verifier"]) == KEY
    assert (key["publicKey"], key["sinceSize"]) == (KEY.public.hex(), 0)
    assert key["statement"] is None


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("tile/0/003", 404, "tile-unknown"),
        ("tile/0/002", 404, "tile-unknown"),
        ("tile/0/002.p/89", 404, "tile-unknown"),
        ("tile/3/000.p/1", 404, "tile-unknown"),
        ("tile/entries/x001/000", 404, "tile-unknown"),
        ("tile/0/x001/x000/x000/000.p/1", 404, "route-unknown"),
        ("tile/8/000", 400, "tile-path"),
        ("tile/0/0", 400, "tile-path"),
        ("tile/0/000.p/256", 400, "tile-path"),
        ("tile/0/abc", 400, "path-value"),
        ("messages/601/proof", 404, "message-unknown"),
        ("messages/1/proof?size=601", 400, "proof-range"),
        ("messages/0/proof", 400, "path-value"),
        ("log/consistency?first=601", 400, "proof-range"),
        ("log/consistency?first=5&second=4", 400, "proof-range"),
        ("log/consistency?first=5&second=601", 400, "proof-range"),
        ("log/consistency", 400, "query-missing"),
    ],
)
def test_what_is_not_there(node: Running, path: str, status: int, code: str) -> None:
    assert problem(node.get(path), status)["code"] == code

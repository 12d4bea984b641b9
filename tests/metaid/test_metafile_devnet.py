"""Files on the local chain, read from its pins under every profile and fault."""

import random
from collections.abc import Iterator
from hashlib import sha256
from typing import Any

import pytest

from metaid.worlds import World, world
from refold.metaid.devnet.faults import KINDS
from refold.metaid.devnet.quirks import PROFILE_NAMES
from refold.metaid.fileserver import FileServer
from refold.metaid.man.bodies import Bodies
from refold.metaid.metafile import ContentFact, Metafiles

NOISE = random.Random(5).randbytes(5_000)
TEXT = b"tide heights for the north harbour\n" * 200


@pytest.fixture(scope="module")
def here() -> Iterator[World]:
    with world() as made:
        yield made


@pytest.fixture(autouse=True)
def _calm(here: World) -> Iterator[None]:
    yield
    here.net.faults()
    here.net.quirks("clean")


def resolve(here: World, name: str, data: bytes, *, txs: bool = False) -> tuple[ContentFact, bytes]:
    man = here.man()
    server = FileServer(here.transport, f"{here.url}/metafile-indexer", sleep=lambda _seconds: None)
    files = Metafiles(man, bodies=Bodies(man, here.txs() if txs else None), server=server)
    came: list[bytes] = []
    fact = files.resolve(f"metafile://{name}", sha256(data).hexdigest(), came.append)
    return fact, b"".join(came)


@pytest.fixture(scope="module")
def files(here: World) -> dict[str, tuple[str, bytes]]:
    """Give files by how they were pinned, each with its pin id and its bytes."""
    alice, bob, _ = here.keys
    made = {}
    for name, data in (("noise", NOISE), ("text", TEXT)):
        made[f"{name}, whole"] = (here.net.file(alice, data), data)
        made[f"{name}, chunks"] = (here.net.file(alice, data, chunk_bytes=2_048), data)
        packed = here.net.file(alice, data, chunk_bytes=2_048, compress=True)
        made[f"{name}, packed"] = (packed, data)
    here.net.mine()
    for name, _ in list(made.values()):
        here.net.pin(bob, f"@{name}", b"bob's bytes", "modify")
    for chunk in here.net.pins("/file/_chunk")[:4]:
        here.net.pin(bob, f"@{chunk.id}", b"bob's bytes", "modify")
    here.net.mine()
    return made


@pytest.mark.parametrize("profile", PROFILE_NAMES)
def test_every_profile_gives_the_file(
    here: World, files: dict[str, tuple[str, bytes]], profile: Any
) -> None:
    """Files and chunks were modified by somebody else; what was pinned first is the file."""
    here.net.quirks(profile)
    for how, (name, data) in files.items():
        fact, came = resolve(here, name, data, txs=profile == "v1")
        assert (fact.state, came) == ("verified", data), how
        fact, _ = resolve(here, name, data + b"!", txs=profile == "v1")
        assert (fact.state, fact.reason) == ("mismatch", "hash-differs"), how


@pytest.mark.parametrize("kind", KINDS)
def test_faults_make_no_mismatch(
    here: World, files: dict[str, tuple[str, bytes]], kind: str
) -> None:
    here.net.quirks("man-p2p")
    for number, (how, (name, data)) in enumerate(files.items()):
        here.net.faults(**{kind: 3})
        assert resolve(here, name, data)[0].state == "verified", how
        here.net.faults(**{kind: 0.6}, seed=str(number))
        assert resolve(here, name, data)[0].state in {"verified", "unavailable"}, how
        here.net.faults(**{kind: 1.0})
        fact, came = resolve(here, name, data)
        assert (fact.state, came) == ("unavailable", b""), how
        assert fact.reason


def test_a_node_with_metadata_only(here: World, files: dict[str, tuple[str, bytes]]) -> None:
    here.net.quirks("man-p2p", metadata_only=100)
    for how, (name, data) in files.items():
        fact, _ = resolve(here, name, data, txs=True)
        assert fact.state == "verified", how


def test_a_file_of_many_megabytes_comes_a_chunk_at_a_time(here: World) -> None:
    data = random.Random(7).randbytes(9_000_000)
    name = here.net.file(here.keys[2], data, chunk_bytes=2 * 1024 * 1024)
    here.net.mine()
    pieces: list[int] = []
    fact = Metafiles(here.man()).resolve(
        f"metafile://{name}", sha256(data).hexdigest(), lambda piece: pieces.append(len(piece))
    )
    assert (fact.state, fact.chunks, fact.size) == ("verified", 5, len(data))
    assert max(pieces) == 2 * 1024 * 1024

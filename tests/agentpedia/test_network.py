"""The network's own evidence: its replay vectors, and the streams on which its engines agree."""

import gzip
from pathlib import Path

import msgspec
import pytest

from refold.agentpedia import DEPLOYED, PRD, Rules, replay
from refold.agentpedia.vectors import Vector, VectorFile, read_vectors, run_vector
from refold.kernel.errors import InputError

DATA = Path(__file__).parents[1] / "vectors" / "agentpedia"
FILE = read_vectors((DATA / "replay-vectors.v1.json").read_bytes())


def test_the_published_set_is_whole() -> None:
    assert (len(FILE.vectors), len(FILE.supplementary)) == (25, 12)


@pytest.mark.parametrize("rules", [DEPLOYED, PRD], ids=lambda rules: rules.name)
@pytest.mark.parametrize("vector", [*FILE.vectors, *FILE.supplementary], ids=lambda v: v.id)
def test_vector(vector: Vector, rules: Rules) -> None:
    assert run_vector(vector, FILE, rules).difference == ""


@pytest.mark.parametrize("vector", FILE.vectors, ids=lambda vector: vector.id)
def test_a_vector_notices_a_wrong_view(vector: Vector) -> None:
    """Every expectation is really looked at: none is met when it wants what no view holds."""
    expected = [checkpoint.expect for checkpoint in vector.checkpoints] or [vector.expect]
    for path in {path for expect in expected for path in expect if "$absent" not in path}:
        wrong = msgspec.structs.replace(vector, checkpoints=[], expect={path: {"no": "such"}})
        assert run_vector(wrong, FILE, PRD).difference.startswith(path)


def _golden() -> list[bytes]:
    with gzip.open(DATA / "golden-streams.jsonl.gz") as stream:
        return list(stream)


def _normalised(value: object) -> object:
    """Drop what is null or "", as the golden views were normalised."""
    if isinstance(value, dict):
        return {k: _normalised(v) for k, v in value.items() if v is not None and v != ""}
    if isinstance(value, list):
        return [_normalised(member) for member in value]
    return value


def test_golden_streams() -> None:
    """All 160 views equal what both public engines made of the stream, field by field."""
    lines = _golden()
    assert len(lines) == 160
    for line in lines:
        golden = msgspec.json.decode(line)
        view = replay(line, DEPLOYED).common()
        entries = view["entries"]
        assert isinstance(entries, dict)
        for entry in entries.values():
            entry["disputed"].sort()
        assert _normalised(view) == golden["view"], golden["id"]


def test_unreadable_vectors_are_refused() -> None:
    for data in (b"", b"[]", b'{"vectors": 3}', b"\xff", b"[" * 100_000):
        with pytest.raises(InputError) as caught:
            read_vectors(data)
        assert caught.value.code == "vectors-unreadable"


def test_a_file_of_vectors_may_lack_the_supplementary_ones() -> None:
    bare = msgspec.json.encode({"defaults": msgspec.to_builtins(FILE.defaults), "vectors": []})
    assert read_vectors(bare) == VectorFile(FILE.defaults, [])

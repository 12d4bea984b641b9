"""A walk in a process of its own, which says how much memory it took: run by test_walk_memory.

python walk_memory.py file PATH     one page, read from a file
python walk_memory.py url ORIGIN    a source that is served
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from refold.coverage.match import compile_criterion
from refold.coverage.record import HttpJson
from refold.coverage.transport.live import Live, policy_of
from refold.coverage.walk.asking import Answer, Ask, Basis, Batch, Transport
from refold.coverage.walk.budget import Budgets
from refold.coverage.walk.drive import walk_source
from refold.coverage.walk.walked import Listed, Walked
from refold.kernel.fetch import GuardedClient

BASE = "https://api.example.test"


class FromFile:
    """Answers the bytes of a file, whatever is asked."""

    basis: Basis = "RECORDED"

    def __init__(self, path: Path) -> None:
        self._path = path

    def ask(self, asks: Sequence[Ask]) -> Batch:
        body = self._path.read_bytes()
        answer = Answer(asks[0].url, 200, (("content-type", "application/json"),), body)
        return Batch((answer,), 1, len(body), 0.0, 0.0, "2030-01-01T00:00:00Z")


def walk(transport: Transport) -> Walked:
    criterion = compile_criterion({"match": {"field": "name", "op": "eq", "value": "needle"}})
    return walk_source(Listed("u", HttpJson(f"{BASE}/items", "items")), criterion, transport)


def memory(name: str) -> int:
    """Give a count of /proc/self/status in bytes: VmRSS is now, VmHWM the most there was.

    The usual `ru_maxrss` would begin with that of the process that started this one.
    """
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    line = next(line for line in status.splitlines() if line.startswith(f"{name}:"))
    return int(line.split()[1]) * 1024


def main(kind: str, place: str) -> None:
    if kind == "file":
        before = memory("VmRSS")
        walked = walk(FromFile(Path(place)))
    else:
        policy = msgspec.structs.replace(
            policy_of(Budgets(), origin_map={BASE: place}), retries=0, max_seconds_idle=5.0
        )
        with GuardedClient(policy) as client:
            before = memory("VmRSS")
            walked = walk(Live(client))
    seen = walked.traversal
    report = {"peak": memory("VmHWM") - before, "rows": seen.rows, "reasons": seen.reasons}
    sys.stdout.buffer.write(msgspec.json.encode(report))


if __name__ == "__main__":
    main(*sys.argv[1:])

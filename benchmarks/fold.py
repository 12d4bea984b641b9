"""The fold: events a second, cost against the bare decode of the same file, growth, memory.

The stream is the issue's: 62 % edits, 16 % creates, 6 % reverts, 10 % reviews, 4 % challenges, 2 %
rulings, 60 editors, ids of 66 characters. All times are CPU seconds of one process.
"""

import tempfile
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import msgspec

from harness import Figure, arguments, cpu_seconds, in_python, median
from refold.agentpedia import DEPLOYED, PRD, Fold, Rules, read_document
from refold.agentpedia.event import Event
from streams import stream

BARE = "import sys, msgspec; msgspec.json.decode(open(sys.argv[1], 'rb').read())"
REPLAY = "import sys; from refold.cli.main import run; sys.exit(run(sys.argv[1:]))"
SIZES = {"20k": 20_000, "100k": 100_000, "1m": 1_000_000}
QUICK = {"20k": 20_000, "100k": 100_000}
BODY = 2048
PROFILES = (DEPLOYED, PRD)


def write(path: Path, events: Iterator[dict[str, object]]) -> Path:
    """Write a document of events, one event at a time."""
    encode = msgspec.json.Encoder().encode
    with path.open("wb") as file:
        file.write(b'{"options":{},"events":[')
        for number, event in enumerate(events):
            file.write((b"," if number else b"") + encode(event))
        file.write(b"]}")
    return path


def apply_seconds(events: list[Event], rules: Rules) -> float:
    """Give the CPU seconds of `apply_many` on decoded events."""
    fold = Fold(rules)
    start = time.process_time()
    fold.apply_many(events)
    return time.process_time() - start


def bytes_per_event(path: Path, rules: Rules) -> float:
    """Give what a fold keeps of an event, its texts included: each is decoded, folded, dropped."""
    raw = msgspec.json.decode(path.read_bytes(), type=dict[str, msgspec.Raw])["events"]
    events = [bytes(event) for event in msgspec.json.decode(raw, type=list[msgspec.Raw])]
    decode = msgspec.json.Decoder(Event).decode
    tracemalloc.start()
    fold = Fold(rules)
    for event in events:
        fold.apply(decode(event))
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return kept / len(events)


def replay_command(path: Path, rules: Rules, *options: str) -> list[str]:
    """Give the command that folds a file and prints the digest."""
    command = ["agentpedia", "replay", str(path), "--rules", rules.name, "--view", "digest"]
    return in_python(REPLAY, *command, *options)


def growth(folder: Path, sizes: dict[str, int]) -> Iterator[Figure]:
    """Measure `apply_many` and the bare decode at each size."""
    first: dict[str, float] = {}
    for name, size in sizes.items():
        path = write(folder / f"{name}.json", stream(size))
        rounds = 5 if size < 10**6 else 3
        bare = median(rounds, cpu_seconds, in_python(BARE, str(path)))
        yield Figure(f"fold.bare_decode_s.{name}", bare, "s")
        events = read_document(path.read_bytes()).events
        for rules in PROFILES:
            mark = "" if rules is PRD else f".{rules.name}"
            seconds = median(rounds, apply_seconds, events, rules)
            goal = "≥ 100,000" if name == "100k" else ""
            yield Figure(f"fold.seconds.{name}{mark}", seconds, "s")
            yield Figure(f"fold.events_per_s.{name}{mark}", size / seconds, "events/s", goal=goal)
            each = first.setdefault(rules.name, seconds / size)
            if name != "20k":
                goal = "≤ 1.5" if name == "1m" else ""
                yield Figure(
                    f"fold.linearity.{name}{mark}", seconds / size / each, "×", "20k an event", goal
                )
        del events


def whole_process(folder: Path, size: int) -> Iterator[Figure]:
    """Measure the command against the bare decode of the same file, gates off and on."""
    plain = folder / "100k.json"
    bodies = write(folder / "bodies.json", stream(size, body=BODY))
    for name, path, options in (
        ("fold.decode_ratio.100k", plain, ["--no-schema"]),
        ("fold.checked_ratio.100k", bodies, []),
    ):
        bare = median(5, cpu_seconds, in_python(BARE, str(path)))
        for rules in PROFILES if options else (PRD,):
            mark = "" if rules is PRD else f".{rules.name}"
            command = replay_command(path, rules, *options)
            seconds = median(5, cpu_seconds, command)
            yield Figure(f"{name}{mark}", seconds / bare, "×", "bare decode", "≤ 5")


def hard_streams(folder: Path, size: int) -> Iterator[Figure]:
    """Measure streams made to hurt: unknown targets, and a hundred thousand revs of one entry."""
    plain = read_document((folder / "100k.json").read_bytes()).events
    for name, events in (
        ("unknown", stream(size, unknown=0.5)),
        ("one_entry", stream(size, one_entry=True)),
    ):
        hard = read_document(write(folder / f"{name}.json", events).read_bytes()).events
        for rules in PROFILES:
            mark = "" if rules is PRD else f".{rules.name}"
            base = median(5, apply_seconds, plain, rules)
            seconds = median(5, apply_seconds, hard, rules)
            yield Figure(f"fold.{name}_ratio.100k{mark}", seconds / base, "×", "plain", "≈ 1")


def memory(folder: Path) -> Iterator[Figure]:
    """Measure what the fold keeps."""
    for rules in PROFILES:
        mark = "" if rules is PRD else f".{rules.name}"
        kept = bytes_per_event(folder / "100k.json", rules)
        yield Figure(f"fold.bytes_per_event{mark}", kept, "bytes", goal="≤ 1,536")


def main() -> None:
    """Print every figure."""
    options = arguments("The fold, against the bare decode of the same file.")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sizes = QUICK if options.quick else SIZES
        for part in (
            growth(folder, sizes),
            whole_process(folder, SIZES["100k"]),
            hard_streams(folder, SIZES["100k"]),
            memory(folder),
        ):
            for figure in part:
                figure.print(as_json=options.json)


if __name__ == "__main__":
    main()

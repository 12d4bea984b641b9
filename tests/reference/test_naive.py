"""The naive fold against the network's vectors and the golden streams of its two engines."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from reference.naive import fold
from reference.naive_state import PREFIX

VECTORS = Path(__file__).parent.parent / "vectors" / "agentpedia"
DOCUMENT = json.loads((VECTORS / "replay-vectors.v1.json").read_text())
ALL_VECTORS = DOCUMENT["vectors"] + DOCUMENT["supplementary"]
with gzip.open(VECTORS / "golden-streams.jsonl.gz", "rt") as lines:
    STREAMS = [json.loads(line) for line in lines]


def events_of(vector: dict[str, Any]) -> list[dict[str, Any]]:
    defaults = DOCUMENT["defaults"]
    founders = vector.get("founders", defaults["founders"])
    genesis = {
        "v": 1,
        "revision": 0,
        "prevConstitution": None,
        "proposalPin": None,
        "founders": founders,
        "params": {**defaults["params"], **vector.get("paramOverrides", {})},
        "algoVersions": {
            "adoption": "adoption-algo-v1",
            "reputation": "reputation-algo-v1",
            "arbiterDraw": "arbiter-draw-v1",
        },
    }
    events = [
        {
            "pin": "genesis",
            "path": PREFIX + "constitution",
            "sender": founders[0],
            "height": 1,
            "txIndex": 0,
            "payload": genesis,
        }
    ]
    for index, event in enumerate(vector["events"], start=1):
        events.append({**event, "path": PREFIX + event["path"], "txIndex": index})
        events[-1].pop("arbiters", None)
    return events


def options_of(vector: dict[str, Any]) -> dict[str, Any]:
    defaults = DOCUMENT["defaults"]
    options: dict[str, Any] = {
        name: vector[name]
        for name in ("frozenArbiterOverrides", "editorsRep", "clusterAliases")
        if name in vector
    }
    return {
        "blocksPerHour": defaults["blocksPerHour"],
        "blocksPerDay": defaults["blocksPerDay"],
        "arbiterOverrides": {
            event["pin"]: event.get("arbiters", defaults["arbiters"])
            for event in vector["events"]
            if event["path"] == "ruling" and event["payload"]["action"] == "proposal"
        },
        **options,
    }


def walk(view: Any, path: str) -> Any:
    """Walks dots into a view; keys may hold dots no more than the vectors' do."""
    for step in path.split("."):
        if view is None:
            return None
        if isinstance(view, list):
            view = len(view) if step == "length" else view[int(step)]
        else:
            view = view.get(step)
    return view


def contains(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):
        return any(wanted.items() <= item.items() for item in found)
    return wanted in found


def holds(view: dict[str, Any], path: str, wanted: Any) -> bool:
    if path.endswith(".$absent"):
        return walk(view, path.removesuffix(".$absent")) in (None, [], {}, "")
    base, mark, tail = path.partition(".$contains")
    if not mark:
        return bool(walk(view, path) == wanted)
    found = walk(view, base)
    if not tail:
        return contains(found, wanted)
    return contains([found[int(tail[1:])]], wanted)


def failures(vector: dict[str, Any], profile: str) -> list[str]:
    checkpoints = vector.get("checkpoints") or [{"pins": None, "expect": vector["expect"]}]
    wrong = []
    for checkpoint in checkpoints:
        pins = checkpoint["pins"]
        events = [e for e in events_of(vector) if pins is None or e["pin"] in pins]
        view = fold(events, options_of(vector), profile)
        wrong += [
            f"{path}: wanted {wanted!r}"
            for path, wanted in checkpoint["expect"].items()
            if not holds(view, path, wanted)
        ]
    return wrong


@pytest.mark.parametrize("profile", ["deployed", "prd"])
@pytest.mark.parametrize("vector", ALL_VECTORS, ids=lambda vector: vector["id"])
def test_vector_holds(vector: dict[str, Any], profile: str) -> None:
    assert failures(vector, profile) == []


def test_the_network_has_25_vectors_and_12_supplementary_ones() -> None:
    assert (len(DOCUMENT["vectors"]), len(DOCUMENT["supplementary"])) == (25, 12)


def without_nothing(value: Any) -> Any:
    """Removes members that are null or empty strings, as the golden views were normalised."""
    if isinstance(value, dict):
        return {k: without_nothing(v) for k, v in value.items() if v is not None and v != ""}
    if isinstance(value, list):
        return [without_nothing(item) for item in value]
    return value


def normalised(view: dict[str, Any]) -> Any:
    view = without_nothing(view)
    for entry in view["entries"].values():
        entry["disputed"] = sorted(entry["disputed"])
    return view


def test_there_are_160_golden_streams() -> None:
    assert len(STREAMS) == 160


@pytest.mark.parametrize("stream", STREAMS, ids=lambda stream: stream["id"])
def test_golden_stream_gives_the_view_of_both_engines(stream: dict[str, Any]) -> None:
    view = fold(stream["events"], stream["options"], "deployed")
    assert normalised(view) == stream["view"]


@pytest.mark.parametrize("profile", ["deployed", "prd"])
def test_the_order_of_arrival_changes_nothing(profile: str) -> None:
    for stream in STREAMS[:10]:
        there = fold(stream["events"], stream["options"], profile)
        back = fold(stream["events"][::-1] + stream["events"], stream["options"], profile)
        assert there == back

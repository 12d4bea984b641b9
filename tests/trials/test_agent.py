"""From the name of a host to an accepted run, a disposition and a recheck, by the documents alone.

Two agents, a publisher and a reporter, are shell scripts that run what the documents of a node say;
nothing of refold helps them. Source: issue 10, "must hold".
"""

from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from trials.agents import POSTER, Agent, node, service

SERVICE = "http://shop.refold-demo.org"


@pytest.fixture(name="world")
def _world(tmp_path: Path) -> Iterator[tuple[str, Path, Agent, Agent]]:
    """Give a node, the folder of a service that has nothing yet, a publisher and a reporter."""
    www = tmp_path / "www"
    www.mkdir()
    with node(tmp_path) as url, service(www) as port:
        settings = (
            f'connect-to = "{SERVICE.removeprefix("http://")}:80:127.0.0.1:{port}"\n'
            f'header = "X-Forwarded-For: {POSTER}"\nnoproxy = "*"\n'
        )
        (tmp_path / ".curlrc").write_text(settings)
        host = url.removeprefix("http://")
        yield (
            url,
            www,
            Agent(tmp_path / "publisher", host, tmp_path),
            Agent(tmp_path / "reporter", host, tmp_path),
        )


def test_documents_alone_lead_from_a_host_name_to_a_completed_recheck(
    world: tuple[str, Path, Agent, Agent], tmp_path: Path
) -> None:
    url, www, publisher, reporter = world
    (www / "start").write_text("Order at /order.\n")
    keys = [agent.turn("join", name) for agent, name in ((publisher, "P"), (reporter, "R"))]
    trial = int(publisher.turn("publish", SERVICE, str(www)))
    first = int(reporter.turn("report"))
    assert [each["run"] for each in publisher.waiting()["awaiting"]["items"]] == [first]
    assert reporter.waiting()["rechecks"]["items"] == []
    fixed = int(publisher.turn("answer", str(first), "shop 2"))
    assert [each["run"] for each in reporter.waiting()["rechecks"]["items"]] == [first]
    (www / "order").write_text("1\n")
    second = int(reporter.turn("report", str(first)))
    assert trial < first < fixed < second
    assert reporter.waiting()["rechecks"]["items"] == []
    (www / ".well-known/lockzone-trials").write_text("0" * 64 + "\n")
    third = int(reporter.turn("report"))

    with httpx2.Client(base_url=url, trust_env=False, timeout=30) as http:
        told = http.get(f"/v1/public/trials/{trial}").json()
        assert told["trial"]["public_key"] == keys[0]
        runs = [(each["id"], each["outcome"], each["public_key"]) for each in told["items"]]
        assert runs == [
            (first, "blocked", keys[1]),
            (second, "completed", keys[1]),
            (third, "abandoned", keys[1]),
        ]
        # Without the owner proof the service is left alone.
        assert told["items"][2]["owner_proof"] == "missing"
        assert "steps" not in told["items"][2]["untrusted"]["said"]
        assert told["items"][0]["status"] == "fixed"
        assert told["items"][0]["recheck"] == {"state": "passed", "run": second}

    said = [path.read_bytes() for path in tmp_path.glob("*/*") if path.is_file()]
    kept = [path.read_bytes() for path in tmp_path.glob("node.db*")]
    assert said
    assert kept
    assert [each for each in (*said, *kept) if POSTER.encode() in each] == []

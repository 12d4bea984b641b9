"""The indexes over HTTP: trials, services, blockers, records, home, badges, feeds."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from refold.kernel.keys import sign
from refold.trials.archive.records import check_record
from refold.trials.checkpoint import LogKey
from refold.trials.signing import home_bytes
from refold.trials.store.moderating import Moderation
from refold.trials.tables import FORMATS
from trials.logged import NOON, key_of, seed_of
from trials.nodes import ORIGIN, Running, codes, problem, running, text

DAY = 86_400
ATOM = "{http://www.w3.org/2005/Atom}"
REPO = "https://github.com/Owner/Repo"


def publish(node: Running, who: int, host: str, **fields: str) -> int:
    proof = f"https://{host}/.well-known/lockzone-trials"
    if host == "github.com":
        fields["target"], proof = REPO, f"{REPO}/blob/HEAD/proof"
    target = fields.pop("target", f"https://{host}/start")
    return node.take(text("trial", target=target, owner_proof=proof, **fields), who=who)


def run(node: Running, who: int, trial: int, **fields: str) -> int:
    blocked = {"blocker": "403 SECRETWORD", "blocker_class": "docs_wrong"}
    more = blocked if fields.get("outcome") == "blocked" else {}
    return node.take(text("run", **more, **fields), who=who, reply_to=trial)


@pytest.fixture(scope="module")
def node(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """Three trials of one host and one of a repository; runs, a fix and its recheck, a review."""
    with running(tmp_path_factory.mktemp("node")) as found:
        found.admit(1, 2, 3, 4)
        closes = "2030-03-20T00:00:00Z"
        assert publish(found, 1, "shop.io", goal="SECRETWORD") == 1
        assert publish(found, 1, "shop.io", goal="soon", closes=closes) == 2
        assert publish(found, 1, "new.io", goal="nobody came") == 3
        assert publish(found, 2, "github.com", goal="a repository") == 4
        assert run(found, 2, 1, outcome="blocked", runtime="curl 8") == 5
        fixed = text("disposition", status="fixed", version="v2")
        assert found.take(fixed, who=1, reply_to=5) == 6
        assert run(found, 2, 1, runtime="curl 9") == 7
        assert run(found, 3, 1, outcome="blocked", runtime="SECRETWORD browser 1") == 8
        assert found.take(fixed, who=1, reply_to=8) == 9
        assert run(found, 3, 2, runtime="codex") == 10
        assert run(found, 1, 4, outcome="completed", runtime="codex") == 11
        review = {"observed": "SECRETWORD", "blocker_class": "docs_wrong, rate_limited"}
        assert found.take(text("review", **review), who=3) == 12
        assert found.take("SECRETWORD to you", who=2, reply_to=9) == 13
        assert found.take("to myself", who=2, reply_to=13) == 14
        yield found


LISTS = (
    "trials",
    "trials?state=open",
    "trials/1",
    "services",
    "services/shop.io",
    "blockers",
    "blockers?class=docs_wrong",
    f"keys/{key_of(2)}/record",
)


def pages(node: Running, path: str, limit: int) -> list[dict[str, Any]]:
    """Follow the links of a list; give its pages."""
    found = []
    path += f"{'&' if '?' in path else '?'}limit={limit}"
    while path:
        answer = node.get(path)
        assert answer.status_code == 200, answer.text
        found.append(answer.json())
        path = answer.links.get("next", {}).get("url", "").removeprefix(f"{ORIGIN}/v1/public/")
        assert bool(path) == (found[-1]["next_cursor"] is not None)
        assert len(found[-1]["items"]) <= limit
    return found


@pytest.mark.parametrize("path", LISTS)
@pytest.mark.parametrize("limit", [1, 2])
def test_pages_together_are_the_whole(node: Running, path: str, limit: int) -> None:
    whole = node.json(path)["items"]
    assert len(whole) > 1
    assert [item for page in pages(node, path, limit) for item in page["items"]] == whole


@pytest.mark.parametrize("path", [*LISTS, "badge/shop.io.svg", "feeds/trials.atom"])
def test_unknown_members_are_refused_by_name_and_answers_are_known(
    node: Running, path: str
) -> None:
    refused = problem(node.get(f"{path}{'&' if '?' in path else '?'}sort=new"), 400)
    assert "sort" in refused["detail"]
    answer = node.get(path)
    again = node.get(path, if_none_match=answer.headers["etag"])
    assert (again.status_code, again.content) == (304, b"")


@pytest.mark.parametrize("path", LISTS)
def test_what_posters_wrote_stands_apart(node: Running, path: str) -> None:
    def without(value: Any) -> Any:
        if isinstance(value, dict):
            return {name: without(it) for name, it in value.items() if name != "untrusted"}
        return [without(it) for it in value] if isinstance(value, list) else value

    found = node.json(path)
    assert "agent" in str(found) or "runtime" in str(found) or "services" in path
    bare = without(found)
    for word in ("secretword", "agent 1", "agent 2"):
        shown = {name: bare[name] for name in bare if name not in {"rules", "classes"}}
        assert word not in str(shown).lower()


def test_open_trials_come_first_and_unproven_ones_last(node: Running) -> None:
    found = node.json("trials")
    assert [each["id"] for each in found["items"]] == [2, 1, 4, 3]
    assert [each["proven"] for each in found["items"]] == [True, True, True, False]
    assert all(each["open"] for each in found["items"])
    assert set(found["templates"]) == set(FORMATS)
    assert len(found["rules"]["reporter"]) == 7
    first = found["items"][1]
    assert first["service"] == "shop.io"
    assert first["public_key"] == key_of(1)
    assert first["untrusted"]["said"]["goal"] == "SECRETWORD"
    counts = {name: (it["posts"], it["keys"]) for name, it in first["counts"].items()}
    assert counts == {
        "runs": (3, 2),
        "completed": (0, 0),
        "blocked": (2, 2),
        "abandoned": (0, 0),
        "later": (1, 1),
        "proofVerified": (3, 2),
        "proofMissing": (0, 0),
    }


def test_a_trial_has_its_runs_with_answers_and_rechecks(node: Running) -> None:
    found = node.json("trials/1")
    assert found["trial"]["id"] == 1
    runs = found["items"]
    assert [each["id"] for each in runs] == [5, 7, 8]
    assert [each["cold"] for each in runs] == [True, False, True]
    assert [each["recheck"] for each in runs] == [
        {"state": "passed", "run": 7},
        None,
        {"state": "owed", "run": None},
    ]
    answers = [[it["untrusted"]["said"] for it in each["dispositions"]] for each in runs]
    fixed = {"status": "fixed", "version": "v2"}
    assert answers == [[fixed], [], [fixed]]


def test_a_service_says_who_got_through_and_what_was_mended(node: Running) -> None:
    found = node.json("services/shop.io")
    assert found["readme"] == (
        f"[![cold trials]({ORIGIN}/v1/public/badge/shop.io.svg)]"
        f"({ORIGIN}/v1/public/services/shop.io)"
    )
    assert [each["id"] for each in found["items"]] == [10, 8, 7, 5]
    groups = {
        each["untrusted"]["runtime"]: {
            name: it["posts"] for name, it in each["counts"].items() if it["posts"]
        }
        for each in found["runtimes"]
    }
    assert groups == {
        "curl": {"runs": 2, "blocked": 1, "later": 1, "fixed": 1, "confirmed": 1},
        "secretword browser": {"runs": 1, "blocked": 1, "fixed": 1},
        "codex": {"runs": 1, "completed": 1},
    }
    assert [each["id"] for each in found["newest_trials"]] == [2, 1]
    shared = node.json("services/github.com/owner/repo")
    assert shared["id"] == "github.com/owner/repo"
    assert node.json("services/github.com%2Fowner%2Frepo") == shared
    assert node.json("services/new.io")["readme"] is None
    assert [each["id"] for each in node.json("services")["items"]] == [
        *("github.com/owner/repo", "shop.io", "new.io"),
    ]
    for path in ("services/nowhere.io", "badge/nowhere.io.svg", "feeds/services/nowhere.io.atom"):
        assert codes(node.get(path), 404) == ["service-unknown"]


def test_blockers_count_runs_and_reviews_apart(node: Running) -> None:
    found = node.json("blockers")["items"]
    shown = [
        (
            each["class"],
            each["untrusted"]["runtime"],
            each["runs"]["posts"],
            each["reviews"]["keys"],
        )
        for each in found
    ]
    assert sorted(shown) == [
        ("docs_wrong", "cpython", 0, 1),
        ("docs_wrong", "curl", 1, 0),
        ("docs_wrong", "secretword browser", 1, 0),
        ("rate_limited", "cpython", 0, 1),
    ]
    assert {each["day"] for each in found} == {"2030-03-17"}
    assert node.json("blockers?since=2030-03-18")["items"] == []
    assert node.json("blockers?until=2030-03-16")["items"] == []
    assert node.json("blockers?since=2030-03-17&until=2030-03-17")["items"] == found
    assert codes(node.get("blockers?class=nothing"), 400) == ["query-value"]


def test_a_record_can_be_checked_by_a_stranger(node: Running) -> None:
    assert node.office.writing is not None
    verifier = LogKey.parse(node.json("log/keys")["keys"][-1]["verifier"])
    answer = node.get(f"keys/{key_of(2)}/record")
    checked = check_record(answer.content, verifier)
    assert (checked.public_key, checked.messages) == (key_of(2), 3)
    items = answer.json()["items"]
    assert [(each["id"], each["kind"]) for each in items] == [(4, "trial"), (5, "run"), (7, "run")]
    bare = node.json(f"keys/{key_of(2)}/record?proofs=false")["items"]
    assert bare == [each | {"proof": None} for each in items]
    nobody = node.json(f"keys/{key_of(99)}/record")
    assert (nobody["items"], nobody["key"]) == ([], "unknown")


def home(node: Running, who: int, minute: int | None = None, **other: str) -> Any:
    minute = int(node.time.unix) // 60 if minute is None else minute
    key = key_of(who)
    signature = sign(seed_of(who), home_bytes(ORIGIN, key, minute)).hex()
    members = {"public_key": key, "minute": str(minute), "signature": signature} | other
    return node.http.get("/v1/home", params=members)


def test_home_says_what_a_key_has_to_do(node: Running) -> None:
    reporter = home(node, 3).json()
    assert list(reporter) == [
        *("public_key", "key", "at", "rechecks", "awaiting", "closing", "replies"),
    ]
    (owed,) = reporter["rechecks"]["items"]
    assert (owed["run"], owed["trial"], owed["disposition"]) == (8, 1, 9)
    assert owed["untrusted"]["said"]["version"] == "v2"
    assert [each["id"] for each in reporter["replies"]["items"]] == [9]
    publisher = home(node, 1).json()
    assert publisher["rechecks"]["items"] == []
    assert [each["run"] for each in publisher["awaiting"]["items"]] == [7, 10]
    assert [each["trial"] for each in publisher["closing"]["items"]] == [2]
    assert [each["id"] for each in publisher["replies"]["items"]] == [13]
    assert [each["id"] for each in home(node, 2).json()["replies"]["items"]] == [6]


def test_home_is_for_the_key_and_the_minute_that_signed(node: Running) -> None:
    now = NOON // 60
    for minute in (now - 1, now, now + 1):
        answer = home(node, 2, minute)
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-store"
        assert "etag" not in answer.headers
    for minute in (now - 2, now + 2, 0):
        assert codes(home(node, 2, minute)) == ["home-minute"]
    refused = problem(home(node, 2, public_key=key_of(3)))
    assert refused["code"] == "signature_wrong"
    assert refused["preimage"]
    later = sign(seed_of(2), home_bytes(ORIGIN, key_of(2), now + 1)).hex()
    assert codes(home(node, 2, now, signature=later)) == ["signature_wrong"]
    assert codes(home(node, 2, limit="3"), 400) == ["query-unknown"]
    assert codes(home(node, 2, public_key="AB" * 32), 400) == ["query-value"]


def test_badges(node: Running) -> None:
    picture = node.get("badge/shop.io.svg")
    assert picture.headers["content-type"] == "image/svg+xml"
    root = ET.fromstring(picture.text)  # noqa: S314 (our own)
    assert {each.tag.rpartition("}")[2] for each in root.iter()} == {
        *("svg", "title", "rect", "g", "text"),
    }
    assert not {"style", "onload", "href"} & {name for each in root.iter() for name in each.attrib}
    assert "1 completed, 2 blocked, 1 fixed and confirmed" in picture.text
    shield = node.json("badge/shop.io.json")
    assert shield["schemaVersion"] == 1
    assert shield["label"] == "cold trials"
    assert shield["message"]
    assert node.json("badge/github.com/owner/repo.json")["message"] == "1 completed, 0 blocked"
    assert codes(node.get("badge/new.io.svg"), 404) == ["badge-none"]
    for path in ("badge/shop.io", "badge/shop.io.png", "feeds/shop.io.rss", "feeds/all.atom"):
        assert codes(node.get(path), 404) == ["file-form"]


@pytest.mark.parametrize(
    ("name", "ids"),
    [
        ("trials", [4, 3, 2, 1]),
        ("services/shop.io", [10, 8, 7, 5, 2, 1]),
        ("services/github.com/owner/repo", [11, 4]),
        (f"keys/{key_of(2)}", [7, 5, 4]),
        (f"keys/{key_of(99)}", []),
    ],
)
def test_feeds(node: Running, name: str, ids: list[int]) -> None:
    links = [f"{ORIGIN}/v1/public/messages/{id_}" for id_ in ids]
    answer = node.get(f"feeds/{name}.atom")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    root = ET.fromstring(answer.text)  # noqa: S314 (our own)
    assert [each.findtext(f"{ATOM}id") for each in root.iter(f"{ATOM}entry")] == links
    assert all(each.findtext(f"{ATOM}updated") for each in root.iter(f"{ATOM}entry"))
    found = node.json(f"feeds/{name}.json")
    assert found["version"] == "https://jsonfeed.org/version/1.1"
    assert [each["id"] for each in found["items"]] == links
    assert found["_untrusted"] == ["title", "content_text"]


def test_answers_follow_posts_and_the_operator_at_once(tmp_path: Path) -> None:
    """Answers are kept while nothing changes: within one second, all of this changes them."""
    with running(tmp_path) as node:
        node.admit(1, 2, 3)
        publish(node, 1, "shop.io")
        assert node.json("trials")["items"][0]["counts"]["runs"]["posts"] == 0
        assert codes(node.get("badge/shop.io.svg"), 404) == ["badge-none"]
        run(node, 2, 1)
        (shown,) = node.json("trials")["items"]
        assert (shown["counts"]["runs"]["posts"], shown["proven"]) == (1, True)
        assert node.get("badge/shop.io.svg").status_code == 200
        node.take("revoke-v1", who=2)
        assert node.json("trials/1")["items"][0]["key"] == "revoked"
        with node.database.write() as connection:
            Moderation(connection).block(key_of(1), "why", NOON)
        assert node.json("trials")["items"][0]["key"] == "blocked"
        with node.database.write() as connection:
            Moderation(connection).tombstone(2, "why", NOON)
        (shown,) = node.json("trials")["items"]
        assert (shown["counts"]["runs"]["posts"], shown["proven"]) == (0, False)
        bare = node.json("trials/1")["items"][0]
        assert (bare["removed"], bare["outcome"]) == (True, None)
        assert bare["untrusted"]["said"] is None
        assert node.json(f"keys/{key_of(2)}/record")["items"][0]["signed"] is None
        with node.database.write() as connection:
            Moderation(connection).tombstone(1, "why", NOON)
        assert node.json("trials")["items"] == []
        assert node.json("services")["items"] == []
        assert node.json("trials/1")["trial"]["untrusted"]["said"] is None


def test_a_repository_deep_in_groups_has_addresses(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1, 2)
        target = "https://gitlab.com/a/b/c/d"
        proof = f"{target}/-/raw/HEAD/proof"
        trial = node.take(text("trial", target=target, owner_proof=proof), who=1)
        run(node, 2, trial)
        (listed,) = node.json("services")["items"]
        path = listed["url"].removeprefix(f"{ORIGIN}/v1/public/")
        found = node.json(path)
        assert found["id"] == listed["id"] == "gitlab.com/a/b/c/d"
        badge = found["readme"].split("(")[1].split(")")[0]
        assert node.get(badge.removeprefix(f"{ORIGIN}/v1/public/")).status_code == 200


def test_time_alone_closes_lapses_and_ripens(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1, 2)
        node.time.pass_(-3_600)  # both keys have an hour left to be young
        publish(node, 1, "shop.io")
        run(node, 2, 1, outcome="blocked")
        node.take(text("disposition", status="fixed", version="v2"), who=1, reply_to=2)

        def seen() -> tuple[Any, ...]:
            (trial,) = node.json("trials")["items"]
            counted = trial["counts"]["blocked"]
            state = node.json("trials/1")["items"][0]["recheck"]["state"]
            owed = len(home(node, 2).json()["rechecks"]["items"])
            return trial["open"], counted["posts"], counted["youngKeys"], state, owed

        assert seen() == (True, 0, 1, "owed", 1)
        node.time.pass_(3_600)
        assert seen() == (True, 1, 0, "owed", 1)
        node.time.pass_(30 * DAY - 3_600)
        assert seen() == (False, 1, 0, "lapsed", 0)
        assert [each["id"] for each in node.json("trials?state=closed")["items"]] == [1]
        assert node.json("trials?state=open")["items"] == []


def test_a_node_that_only_reads_answers_all_of_it(tmp_path: Path) -> None:
    with running(tmp_path) as node:
        node.admit(1, 2)
        publish(node, 1, "shop.io")
        run(node, 2, 1)
        whole = {path: node.json(path) for path in LISTS}
        log = node.log()
    assert not re.search(r"Traceback|127\.0\.0\.1:\d+\"", log)
    with running(tmp_path, closed=True) as node:
        assert {path: node.json(path) for path in LISTS} == whole

"""The second half of the story: trials 7 to 12, and what became of each; tools, and words."""

from typing import Final

from refold.trials.demo.moves import (
    BROWSER,
    CURL,
    DOMAIN,
    NODE,
    PYTHON,
    Move,
    answer,
    review,
    run,
    says,
    trial,
)
from refold.trials.posts import Withdraw
from refold.trials.tables import PROOF_PATH

__all__ = ["LAST"]

LAST: Final = (
    # 7: an address that goes away
    trial(
        20.0,
        "radio",
        "preview",
        f"https://preview-4f1c.{DOMAIN}/",
        "Listen to ten seconds of the stream.",
        "Ten seconds of sound are on the disk.",
        budget="10 requests, 5 minutes",
    ),
    run(20.6, "swift", "preview", "abandoned", CURL, f"GET https://preview-4f1c.{DOMAIN}/ -> 200"),
    run(
        22.0,
        "heron",
        "preview",
        "blocked",
        CURL,
        f"GET https://preview-4f1c.{DOMAIN}/ -> could not resolve host",
        blocker="curl: (6) Could not resolve host",
        classes=("temporary_url", "unreachable"),
    ),
    # 8: wrong data
    trial(
        23.0,
        "commons",
        "weather",
        f"https://weather.{DOMAIN}/v2",
        "Get the wind of tomorrow for one town.",
        "Speed and direction come back.",
    ),
    run(
        23.3,
        "wren",
        "weather",
        "blocked",
        CURL,
        f"GET https://weather.{DOMAIN}/v2/wind?town=lund -> 200",
        blocker='{"speed": -999}',
        classes=("data_wrong",),
    ),
    run(
        23.7, "otter", "weather", "completed", NODE, f"GET https://weather.{DOMAIN}/v2/wind -> 200"
    ),
    answer(24.0, "commons", "wren weather", "confirmed"),
    run(
        24.4, "ibis", "weather", "completed", PYTHON, f"GET https://weather.{DOMAIN}/v2/wind -> 200"
    ),
    # 9: a check for browsers, fixed and rechecked
    trial(
        25.0,
        "commons",
        "packages",
        f"https://packages.{DOMAIN}/",
        "Find the newest version of one package.",
        "Its number and digest come back.",
    ),
    run(
        25.5,
        "finch",
        "packages",
        "blocked",
        PYTHON,
        f"GET https://packages.{DOMAIN}/ -> 403",
        blocker="403, a page that says: checking your browser",
        classes=("edge_challenge",),
    ),
    answer(26.1, "commons", "finch packages", "fixed", version="api host without challenge"),
    run(
        26.6,
        "finch",
        "packages",
        "completed",
        PYTHON,
        f"GET https://packages.{DOMAIN}/ -> 200",
        again=True,
    ),
    run(
        27.2,
        "lark",
        "packages",
        "blocked",
        BROWSER,
        f"GET https://packages.{DOMAIN}/ -> 403",
        blocker="403, a page that says: checking your browser",
        classes=("edge_challenge",),
    ),
    # 10: nobody can show that the operator agrees
    trial(
        28.0,
        "radio",
        "forum",
        f"https://forum.{DOMAIN}/",
        "Read the newest thread.",
        "Its title is known.",
    ),
    run(
        28.4,
        "swift",
        "forum",
        "abandoned",
        CURL,
        f"GET https://forum.{DOMAIN}{PROOF_PATH} -> 404",
        seen="missing",
    ),
    run(
        28.8,
        "heron",
        "forum",
        "abandoned",
        CURL,
        f"GET https://forum.{DOMAIN}{PROOF_PATH} -> 404",
        seen="missing",
    ),
    # 11: another shared host
    trial(
        30.0,
        "parcelbird",
        "atlas",
        "https://github.com/refold-demo/atlas",
        "Draw a map of one island.",
        "A file atlas.svg is there.",
        owner_proof="https://github.com/refold-demo/atlas/blob/HEAD/lockzone-trials",
    ),
    run(30.5, "wren", "atlas", "completed", "Python 3.12", "atlas draw iceland -> exit 0"),
    run(
        31.0,
        "otter",
        "atlas",
        "blocked",
        "Python 3.9",
        "atlas draw iceland -> exit 1",
        blocker="SyntaxError: the match statement is too new for this Python",
        classes=("other",),
    ),
    # 12: withdrawn
    trial(
        33.0,
        "radio",
        "radio",
        f"https://radio.{DOMAIN}/",
        "Find out what is played at midnight.",
        "A title is known.",
    ),
    run(33.2, "ibis", "radio", "abandoned", CURL, f"GET https://radio.{DOMAIN}/ -> 200"),
    Move(33.6, "radio", "", Withdraw(note="The site moves; a new trial follows."), "radio"),
    # tools, and words
    review(
        6.1, "wren", "works", "Everything that I needed in two years.", tool="curl", runtime=CURL
    ),
    review(
        9.1,
        "finch",
        "partly",
        "403, error code: 1010",
        "client_refused",
        tool="httpx",
        runtime=PYTHON,
    ),
    review(
        17.0,
        "lark",
        "blocked",
        "Sign in with your phone to list the tools",
        "human_login_required",
        tool=f"https://tools.{DOMAIN}/mcp",
        runtime=NODE,
    ),
    review(
        21.0,
        "otter",
        "partly",
        "an empty shell for 9 s",
        "js_required",
        tool="playwright",
        runtime=BROWSER,
    ),
    review(
        34.0,
        "finch",
        "works",
        "With a User-Agent of its own it passes.",
        tool="httpx",
        runtime=PYTHON,
    ),
    says(24.8, "swift", "有人用 IPv6 试过这些服务吗？", label="ipv6"),
    says(25.1, "ibis", "Three of them have no AAAA record.", "ipv6"),
)

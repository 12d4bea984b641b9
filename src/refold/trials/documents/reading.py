"""Where a node can be read, as data: what documents and `/.well-known/lockzone` list."""

from typing import Final

__all__ = ["READING"]

READING: Final[dict[str, str]] = {
    "/v1/public/trials": "all trials, open ones first, with the templates and the rules",
    "/v1/public/trials/{id}": "one trial with its runs, their dispositions and rechecks",
    "/v1/public/services": "the same reports by service: which runtimes got through, where the"
    " others got stuck, whether it was fixed",
    "/v1/public/services/{host}": "one service, on a shared host `{host}/{owner}/{repo}`; `readme`"
    " is the line to paste into a README",
    "/v1/public/blockers": "every blocker of runs and tool reviews, counted by class, runtime and"
    " day",
    "/v1/public/keys/{public_key}/record": "what a key posted, each with the bytes that it signed,"
    " to be checked offline",
    "/v1/home": "what waits for your key, rechecks first; the request is signed",
    "/v1/public/rooms": "the rooms",
    "/v1/public/rooms/{room}/messages": "the messages of a room",
    "/v1/public/messages/{id}": "one message, as it was posted",
    "/v1/public/messages/{id}/thread": "the whole thread that a message is in",
    "/v1/public/messages/{id}/proof": "the proof that a message is in the log",
    "/v1/public/checkpoint": "the signed state of the log",
    "/v1/public/feeds/trials.atom": "new trials as a feed; also `trials.json`",
    "/v1/public/events": "new messages as they come (server-sent events)",
    "/v1/public/limits": "the limits",
    "/v1/public/moderation": "what the operator removed or blocked, with the reason",
}
"""Each address with what it gives, those of the format first."""

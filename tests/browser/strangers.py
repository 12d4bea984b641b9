"""A wiki in which every field that a stranger can fill holds one of the samples, and its pages.

The rules are those of the deployed network without the gates of schemas: nothing limits a field.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final
from urllib.parse import quote

import msgspec
import pytest
from jinja2 import Environment

from agentpedia.api.reading import WIKI, Reader, entry_path
from agentpedia.wiki import FOUNDERS, NO_WAR, Wiki
from refold.agentpedia.event import CHALLENGE, EDITOR, PARAM_PROPOSAL, REV, REVIEW, RULING
from refold.agentpedia.rules import DEPLOYED
from refold.metaid.pin import Pin
from refold.serving import pages
from refold.serving.catalogue import Catalogue
from refold.serving.markdown import Document, Markdown
from refold.serving.markdownhtml import SLOT
from serving.texts import samples, unsafe_html

TEXTS: Final = {
    name: text.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    for name, text in samples()
}
"""The samples as pins can carry them."""
TOGETHER: Final = 9
"""Samples in one field, so that some fifteen pages of a kind show all of them."""
FIELDS: Final = tuple(
    "\n\n".join(list(TEXTS.values())[start : start + TOGETHER])
    for start in range(0, len(TEXTS), TOGETHER)
)
"""All samples, as a field may hold them."""
ENOUGH: Final = 40
SOME: Final = tuple(TEXTS.values())[::3]
"""A third of them of all kinds, for members of addresses: each has a page of its own."""


@cache
def wiki() -> Wiki:
    """Give the wiki: entries `en:sN`, with all that can be said about them."""
    found = Wiki(DEPLOYED, NO_WAR)
    for number, text in enumerate(FIELDS):
        _write(found, f"s{number}", text, FOUNDERS[number % 6], FOUNDERS[(number + 1) % 6])
    return found


def _write(found: Wiki, slug: str, text: str, author: str, other: str) -> None:
    words = {"title": text, "summary": text}
    first = found.create(author, slug, text, **words)
    second = found.write(other, slug, f"{text}\n\nmore", basedOn=text, **words)
    found.pin(REVIEW, author, {"targetRev": second, "score": 4, "comment": text})
    said = {"targetRev": first, "reason": text, "detail": text}
    challenge = found.pin(CHALLENGE, other, said)
    asked: dict[str, Any] = {"outcome": "warn-editor", "params": {"editor": text}}
    proposal = found.pin(
        RULING,
        other,
        {"action": "proposal", "challengePin": challenge, "seed": challenge, "rationale": text}
        | asked,
    )
    for voter in FOUNDERS:
        vote = {"action": "vote", "proposalPin": proposal, "approve": False, "comment": text}
        found.pin(RULING, voter, vote)
    changes = {"param": text, "value": text}
    to_change = {"kind": "proposal", "targetConstitution": found.genesis, "rationale": text}
    found.pin(
        PARAM_PROPOSAL,
        author,
        to_change | {"changes": [changes, {"param": "arbiterPoolK", "value": 9}]},
    )
    found.pin(EDITOR, author, {"action": "challenge", "editor": text, "nonce": text})
    # Refused, each at another gate, with what it says.
    found.create(author, slug, "again", **words)
    found.create(text, f"{slug}x", text, **words)
    found.pin(RULING, author, {"action": text, "outcome": text, "proposalPin": text})
    found.pin(EDITOR, author, {"action": text, "editor": text, "reason": text})
    # Names and references that no schema would let through.
    odd = {"lang": text, "slug": text, **words, "type": "create", "parentRev": None}
    content = {"content": None, "contentRef": text, "contentHash": text}
    found.pin(REV, author, odd | content)
    found.redirect(author, slug, text)
    found.wait(1)


def pins() -> list[Pin]:
    """Give its pins."""
    return [
        Pin(
            *(event.pin, event.path, event.height, event.tx_index, event.sender),
            *("create", "0", "1.0", "application/json", 1_700_000_000),
            body=msgspec.json.encode(event.payload),
        )
        for event in wiki().events
    ]


LISTS: Final = (
    *("/entries", "/editors", "/proposals", "/param-proposals", "/challenges", "/graveyard"),
    *("/entries?sort=title", "/hidden"),
)
SINGLE: Final = ("", "/rule-pack", "/constitution", "/status")
BY_ADDRESS: Final = ("entries/", "editors/", "search?q=", "entries?in=", "about?lang=", "versions/")
BY_ADDRESS_TOO: Final = ("pins/", "proposals/", "graveyard?reason=", "entries?cursor=")
"""What strangers write into the address of a link to us; the latter like the former."""
OF_ENTRY: Final = ("history", "challenges", "signals", "backlinks")


def addresses(reader: Reader) -> dict[str, list[str]]:
    """Give the addresses of pages that show what strangers wrote, by their kind."""
    keys = [f"en:s{number}" for number in range(len(FIELDS))]
    found = {name: list(_walked(reader, f"{WIKI}{name}")) for name in LISTS}
    found |= {name or "home": [f"{WIKI}{name}"] for name in SINGLE}
    found["an entry"] = [entry_path(key) for key in keys]
    found |= {f"an entry's {name}": [entry_path(key, name) for key in keys] for name in OF_ENTRY}
    for name in ("proposals", "param-proposals", "editors"):
        ids = [one["id"] for one in reader.server.walk(f"/v1{WIKI}/{name}?limit=100")]
        found[f"one of {name}"] = [_named(name, one) for one in ids]
    challenges = [event.pin for event in wiki().events if event.path == CHALLENGE]
    found["one of challenges"] = [_named("challenges", one) for one in challenges]
    graves = [one["id"] for one in reader.server.walk(f"/v1{WIKI}/graveyard?limit=100")]
    found["a refused pin"] = [_named("pins", one) for one in graves[::8]]
    steps = [reader.data(entry_path(key, "history"))["steps"] for key in keys]
    found["a difference"] = [
        f"{WIKI}/diff?before={quote(two[-1]['id'])}&after={quote(two[0]['id'])}&view={view}"
        for two, view in zip(steps, ("inline", "side") * len(steps), strict=False)
    ]
    found["one of versions"] = [_named("versions", two[0]["id"]) for two in steps]
    for kind in (*BY_ADDRESS, *BY_ADDRESS_TOO):
        texts = SOME if kind in BY_ADDRESS else SOME[::3]
        found[kind] = [f"{WIKI}/{kind}{quote(text, safe='')}" for text in texts]
    return found


def _named(kind: str, name: str) -> str:
    return f"{WIKI}/{kind}/{quote(name, safe='')}"


def _walked(reader: Reader, path: str) -> Iterator[str]:
    """Follow a list from page to page."""
    path += f"{'&' if '?' in path else '?'}limit=100"
    while path:
        yield path
        following = [one for one in reader.main(path).all("a") if one.get("rel") == "next"]
        path = following[0]["href"] if following else ""


@dataclass(frozen=True)
class Sent:
    """What a server sent: pages by their kind, and the policies that they came with."""

    pages: dict[str, list[str]] = field(default_factory=dict)
    policies: set[str] = field(default_factory=set)


def sent_by(reader: Reader, asked: dict[str, list[str]]) -> Sent:
    """Ask for all pages, in the language that names more."""
    found = Sent()
    for kind, paths in asked.items():
        pages_of = found.pages[kind] = []
        for path in paths:
            answer = reader.server.get(path, accept="text/html", accept_language="en")
            assert answer.status_code < 500, (path, reader.server.log_lines()[-2:])
            if answer.headers["content-type"].startswith("text/html"):
                pages_of.append(answer.text)
                found.policies.add(answer.headers["content-security-policy"])
    return found


@contextmanager
def nothing_is_taken_out() -> Iterator[None]:
    """Let a server that is made here escape nothing, and let all HTML in texts through."""
    escaping, reading = pages.environment, Markdown.document

    def open_environment(folders: Any, catalogue: Catalogue) -> Environment:
        env = escaping(folders, catalogue)
        env.autoescape = False
        return env

    def translating(catalogue: Catalogue) -> Any:
        def translate(message: str, /, **variables: object) -> str:
            said = catalogue.gettext(message)
            return said % variables if variables else said

        return translate

    def document(self: Markdown, text: str) -> Document:
        html = SLOT.sub("", unsafe_html(text))  # a sample tries to pass for one of the writer's
        return msgspec.structs.replace(reading(self, text), clean=html)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pages, "environment", open_environment)
        patch.setattr(pages, "_translating", translating)
        patch.setattr(Markdown, "document", document)
        yield

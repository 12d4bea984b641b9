"""Feeds of trials, of a service and of a key, as Atom (RFC 4287) and as JSON Feed 1.1.

Titles and texts hold words of posters: readers show them, and obey nothing in them.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Annotated, Any

import msgspec
from msgspec import Meta
from sqlalchemy import Connection

from refold.kernel.errors import InputError
from refold.serving.answers import Answer
from refold.serving.call import Call
from refold.serving.feeds import ATOM_TYPE, MAX_ENTRIES, Entry, atom
from refold.serving.operation import get
from refold.trials.api.badges import FILE, split_file
from refold.trials.api.indexesfresh import Fresh
from refold.trials.api.indexesmaking import service_path
from refold.trials.api.office import Office
from refold.trials.leaf import accepted_text
from refold.trials.store.indexreading import IndexReader, KeyPost, RunFound, TrialFound

__all__ = ["FeedsApi"]

JSON_FEED_TYPE = "application/feed+json; charset=utf-8"
MAX_SUMMARY = 1_000
"""Code points of a text: what an entry is about; its link has the rest."""
_BEHIND = 2**62

_File = Annotated[str, FILE, Meta(examples=["shop.io.atom"])]
_Segment = Annotated[str, Meta(min_length=1, max_length=600)]
_CODES = ("service-unknown", "file-form")


class FileAsked(msgspec.Struct, kw_only=True, frozen=True):
    """A feed by its name and form."""

    file: _File

    @property
    def path(self) -> str:
        """The service and the form."""
        return self.file


class FileAsked3(FileAsked, kw_only=True, frozen=True):
    """The feed of a repository."""

    host: _Segment
    owner: _Segment

    @property
    def path(self) -> str:
        """The service and the form."""
        return f"{self.host}/{self.owner}/{self.file}"


class JsonItem(msgspec.Struct, frozen=True):
    """An entry. `content_text` and `title` hold a poster's words."""

    id: str
    url: str
    title: str
    content_text: str
    date_published: str
    authors: tuple[dict[str, str], ...]


class JsonFeed(msgspec.Struct, frozen=True):
    """A feed, version 1.1; `_untrusted` names the members of items that posters wrote."""

    version: str
    title: str
    home_page_url: str
    feed_url: str
    items: tuple[JsonItem, ...]
    untrusted: tuple[str, ...] = msgspec.field(default=("title", "content_text"), name="_untrusted")


class FeedsApi:
    """See the module."""

    def __init__(self, office: Office, fresh: Fresh) -> None:
        self._office = office
        self._fresh = fresh

    @get(
        "/v1/public/feeds/{file}",
        summary="Give the feed of trials",
        codes=("file-form",),
        media_type=ATOM_TYPE,
        example={"file": "trials.atom"},
    )
    def trials(self, asked: FileAsked, call: Call) -> Answer[bytes]:
        """Give the newest trials as trials.atom or trials.json."""
        name, form = split_file(asked.path, "atom", "json")
        if name != "trials":
            raise InputError("file-form", "the feed of all trials is trials.atom", "", "/file")

        def entries(reader: IndexReader) -> list[Entry]:
            return [self._trial(each) for each in reader.newest_trials(MAX_ENTRIES)]

        return self._feed(call, form, "Cold trials", "/v1/public/trials", entries)

    @get(
        "/v1/public/feeds/services/{file}",
        summary="Give the feed of a service",
        codes=_CODES,
        media_type=ATOM_TYPE,
        example={"file": "shop.io.atom"},
    )
    def service(self, asked: FileAsked, call: Call) -> Answer[bytes]:
        """Give the newest trials and runs of a service, as .atom or .json."""
        return self._service(asked, call)

    @get(
        "/v1/public/feeds/services/{host}/{owner}/{file}",
        summary="Give the feed of a service on a shared host",
        codes=_CODES,
        media_type=ATOM_TYPE,
    )
    def service_3(self, asked: FileAsked3, call: Call) -> Answer[bytes]:
        """Give the same for a repository."""
        return self._service(asked, call)

    @get(
        "/v1/public/feeds/keys/{file}",
        summary="Give the feed of a key",
        codes=("file-form",),
        media_type=ATOM_TYPE,
        example={
            "file": f"{'3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29'}.atom"
        },
    )
    def key(self, asked: FileAsked, call: Call) -> Answer[bytes]:
        """Give the newest format posts of a key, as .atom or .json."""
        key, form = split_file(asked.path, "atom", "json")
        if len(key) != 64 or not set(key) <= set("0123456789abcdef"):
            raise InputError("file-form", "a key has 64 lower-case hex digits", "", "/file")

        def entries(reader: IndexReader) -> list[Entry]:
            return [self._post(key, each) for each in reader.newest_of(key, MAX_ENTRIES)]

        return self._feed(
            call, form, f"Cold trials of {key[:16]}", f"/v1/public/keys/{key}/record", entries
        )

    def _service(self, asked: FileAsked, call: Call) -> Answer[bytes]:
        service, form = split_file(asked.path, "atom", "json")

        def entries(reader: IndexReader) -> list[Entry]:
            if reader.service(service) is None:
                detail = f"no trial names the service {service[:100]!a}"
                raise InputError("service-unknown", detail, "list the services", "/file")
            found = [
                *(
                    (each.id, self._trial(each))
                    for each in reader.trials_found(service, MAX_ENTRIES)
                ),
                *(
                    (each.row.id, self._run(each))
                    for each in reader.runs_of(service, _BEHIND, MAX_ENTRIES)
                ),
            ]
            found.sort(key=lambda it: it[0], reverse=True)
            return [entry for _, entry in found[:MAX_ENTRIES]]

        return self._feed(call, form, f"Cold trials of {service}", service_path(service), entries)

    def _feed(
        self,
        call: Call,
        form: str,
        title: str,
        link: str,
        entries: Callable[[IndexReader], Sequence[Entry]],
    ) -> Answer[bytes]:
        address = self._office.address

        def make(connection: Connection, now: int) -> tuple[bytes, str]:
            found = entries(IndexReader(connection, now))
            if form == "atom":
                updated = found[0].updated if found else accepted_text(0)
                body = atom(
                    id_=address(call.path),
                    title=title,
                    link=address(link),
                    self_link=address(call.path),
                    updated=updated,
                    entries=found,
                )
            else:
                body = msgspec.json.encode(_json(title, address(link), address(call.path), found))
            return body, ""

        return self._fresh.give(call, make, ATOM_TYPE if form == "atom" else JSON_FEED_TYPE)

    def _trial(self, found: TrialFound) -> Entry:
        said = _said(found.said)
        mark = "" if found.proven else " (unproven)"
        title = f"Trial of {found.service}{mark}: {said.get('goal', '')}"
        text = f"Done when: {said.get('done-when', '')}\nBudget: {said.get('budget', '')}"
        at = accepted_text(found.accepted_at)
        return self._entry(found.id, title, text, at, found.public_key)

    def _run(self, found: RunFound) -> Entry:
        row, said = found.row, _said(found.said)
        title = f"Run on trial {row.trial}: {row.outcome}, {said.get('runtime', '')}"
        text = str(said.get("blocker") or said.get("text") or "")
        return self._entry(row.id, title, text, accepted_text(row.accepted_at), row.public_key)

    def _post(self, key: str, post: KeyPost) -> Entry:
        title = f"{post.kind} {post.id}"
        at = accepted_text(post.accepted_at)
        return self._entry(post.id, title, post.content or "The text was removed.", at, key)

    def _entry(self, id_: int, title: str, text: str, at: str, key: str) -> Entry:
        link = self._office.address(f"/v1/public/messages/{id_}")
        return Entry(link, title, link, at, key, text[:MAX_SUMMARY])


def _said(raw: bytes | None) -> dict[str, Any]:
    return {} if raw is None else msgspec.json.decode(raw, type=dict[str, Any])


def _json(title: str, link: str, self_link: str, entries: Iterable[Entry]) -> JsonFeed:
    return JsonFeed(
        "https://jsonfeed.org/version/1.1",
        title,
        link,
        self_link,
        tuple(
            JsonItem(
                each.id,
                each.link,
                each.title,
                each.summary,
                each.updated,
                ({"name": each.author},),
            )
            for each in entries
        ),
    )

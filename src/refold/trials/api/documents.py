"""Routes of the documents: `/llms.txt`, `/skill.md`, `/cold-trials.md`, `/.well-known/lockzone`.

They are made once, when the server starts, from the tables of the validator. Whoever knows only the
name of the host finds them by the links of `/`. Source: cold trials spec §4.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

import refold.trials
from refold.kernel.errors import UsageError
from refold.serving.answers import Answer
from refold.serving.catalogue import read_po
from refold.serving.operation import get
from refold.serving.part import Guide
from refold.serving.reading import read_inline
from refold.trials.api.office import Office
from refold.trials.checkpoint import LogKey, log_name
from refold.trials.documents.making import filled, pieces
from refold.trials.documents.reading import READING
from refold.trials.store.tree import Tree

__all__ = ["GUIDES", "DocumentsApi", "documents_of"]

MARKDOWN_TYPE: Final = "text/markdown; charset=utf-8"
TEXT_TYPE: Final = "text/plain; charset=utf-8"
LICENSE: Final = "CC0-1.0"
"""Of the format and of its documents."""

GUIDES: Final = (
    Guide("/llms.txt", "describedby", "text/plain", "where agents begin"),
    Guide("/skill.md", "help", "text/markdown", "how to take part in cold trials"),
    Guide("/.well-known/lockzone", "service-meta", "application/json", "cold trials, for programs"),
    Guide("/openapi.json", "service-desc", "application/json", ""),
)
"""What the first page of the server links to, so that programs find their way."""

_FOLDER = Path(refold.trials.__file__).parent
_CATALOGUES = ("format.zh.po", "documents.zh.po")


class NodeKey(msgspec.Struct, frozen=True):
    """The key that signs the log now: in hex, and as tools for signed notes take it."""

    public_key: str
    verifier: str


class SignedBytes(msgspec.Struct, frozen=True):
    """What is signed; `<…>` is replaced."""

    message: str = "lockzone-message-v1\n<room>\n<reply_to or nothing>\n<content>"
    admission: str = "lockzone-key-v1\n<challenge_id>"
    home: str = "lockzone-home-v1\n<origin>\n<public_key>\n<minute>"


class NodeShown(msgspec.Struct, frozen=True, rename="camel"):
    """A node, for programs. `key` is null until the log began, `open` is whether it takes posts.

    `origin` is what home requests are signed for, `log` the first line of its checkpoints.
    """

    name: str
    origin: str
    format: str
    license: str
    open: bool
    rooms: tuple[str, ...]
    log: str
    key: NodeKey | None
    signed_bytes: SignedBytes
    documents: Mapping[str, str]
    posting: Mapping[str, str]
    reading: tuple[str, ...]


class DocumentsApi:
    """See the module."""

    def __init__(self, office: Office, documents: Mapping[str, bytes]) -> None:
        self._office = office
        self._documents = documents

    @get("/llms.txt", summary="Where agents begin", media_type=TEXT_TYPE)
    def llms(self) -> Answer[bytes]:
        """Give what this node is and where everything is."""
        return self._document("llms", "en", TEXT_TYPE)

    @get("/zh/llms.txt", summary="Where agents begin, in Chinese", media_type=TEXT_TYPE)
    def llms_zh(self) -> Answer[bytes]:
        """Give what this node is and where everything is, in Chinese."""
        return self._document("llms", "zh", TEXT_TYPE)

    @get("/skill.md", summary="How to take part", media_type=MARKDOWN_TYPE)
    def skill(self) -> Answer[bytes]:
        """Give every command from a new key to an accepted post."""
        return self._document("skill", "en")

    @get("/zh/skill.md", summary="How to take part, in Chinese", media_type=MARKDOWN_TYPE)
    def skill_zh(self) -> Answer[bytes]:
        """Give every command from a new key to an accepted post, in Chinese."""
        return self._document("skill", "zh")

    @get("/cold-trials.md", summary="The format", media_type=MARKDOWN_TYPE)
    def format(self) -> Answer[bytes]:
        """Give the format as this node checks it, in the public domain (CC0 1.0)."""
        return self._document("cold-trials", "en")

    @get("/zh/cold-trials.md", summary="The format, in Chinese", media_type=MARKDOWN_TYPE)
    def format_zh(self) -> Answer[bytes]:
        """Give the format in Chinese, in the public domain (CC0 1.0)."""
        return self._document("cold-trials", "zh")

    @get("/.well-known/lockzone", summary="The node, for programs")
    def node(self) -> NodeShown:
        """Give name, origin, key and addresses of this node."""
        node = self._office.node
        rows = read_inline(self._office.database, lambda found: Tree(found).keys())
        key = LogKey(rows[-1].name, bytes.fromhex(rows[-1].public_key)) if rows else None
        at = self._office.address
        return NodeShown(
            name=node.name,
            origin=node.origin,
            format="cold-trials-v1",
            license=LICENSE,
            open=self._office.writing is not None,
            rooms=node.rooms,
            log=log_name(node.origin) if node.origin else "",
            key=None if key is None else NodeKey(key.public.hex(), key.verifier),
            signed_bytes=SignedBytes(),
            documents={
                "llms": at("/llms.txt"),
                "skill": at("/skill.md"),
                "format": at("/cold-trials.md"),
                "llmsZh": at("/zh/llms.txt"),
                "skillZh": at("/zh/skill.md"),
                "formatZh": at("/zh/cold-trials.md"),
                "openapi": at("/openapi.json"),
            },
            posting={
                "admissionStart": at("/v1/admission/start"),
                "admissionAnswer": at("/v1/admission/answer"),
                "preview": at("/v1/preview"),
                "messages": at("/v1/messages"),
                "mcp": at("/mcp"),
            },
            reading=tuple(map(at, READING)),
        )

    def _document(self, name: str, language: str, media_type: str = MARKDOWN_TYPE) -> Answer[bytes]:
        return Answer(self._documents[f"{name}.{language}"], media_type=media_type)


def documents_of(office: Office) -> dict[str, bytes]:
    """Give the documents of a node by NAME.LANGUAGE. Raises UsageError `catalogue`."""
    chinese: dict[str, tuple[str, ...]] = {}
    for name in _CATALOGUES:
        chinese |= read_po((_FOLDER / "locale" / name).read_text(encoding="utf-8"), name)

    def in_chinese(text: str) -> str:
        if text not in chinese:
            raise UsageError("catalogue", f"no Chinese for {text!r}", "add it to documents.zh.po")
        return chinese[text][0]

    rates = office.rates.rates.values()
    values = {
        "en": pieces(office.node, rates, lambda text: text),
        "zh": pieces(office.node, rates, in_chinese),
    }
    found = {}
    for path in (_FOLDER / "documents").glob("*.md"):
        prose = path.read_text(encoding="utf-8")
        found[path.stem] = filled(prose, values[path.stem.rpartition(".")[2]]).encode()
    return found

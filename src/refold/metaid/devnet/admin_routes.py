"""Orders over HTTP, under `/devnet/admin`: what `Devnet` does, on loopback only.

Bodies are JSON objects; unknown members are refused. Errors are problems (RFC 9457), 400 or 403.
"""

from base64 import b64decode
from binascii import Error as Base64Error
from typing import Annotated, TypeVar

import msgspec
from litestar import Response, get, post
from litestar.types import ControllerRouterHandler

from refold.kernel.errors import InputError, RefoldError, UsageError
from refold.metaid.devnet.net import FUNDS, Devnet, Operation
from refold.metaid.devnet.ordering import Order
from refold.metaid.devnet.problems import problem_of
from refold.metaid.devnet.quirks import Profile, switches
from refold.metaid.devnet.reorg import Fate
from refold.metaid.devnet.requests import AnyRequest, node_of
from refold.metaid.wallet import Key

PREFIX = "/devnet/admin"

MAX_BLOCKS = 10_000
"""Blocks that one order may mine: a request should end before its reader gives up."""

Asked = TypeVar("Asked")


class Mine(msgspec.Struct, forbid_unknown_fields=True):
    """Mine `count` blocks, as `Node.mine`."""

    count: Annotated[int, msgspec.Meta(ge=1, le=MAX_BLOCKS)] = 1
    order: Order = "arrival"
    limit: Annotated[int, msgspec.Meta(ge=0)] | None = None


class Reorg(msgspec.Struct, forbid_unknown_fields=True):
    """Reorganise, as `Node.reorg`."""

    depth: int = 1
    blocks: Annotated[int, msgspec.Meta(le=MAX_BLOCKS)] | None = None
    order: Order | None = None
    drop: tuple[str, ...] = ()
    fate: Fate = "mempool"
    shift: int = 0


class Named(msgspec.Struct, forbid_unknown_fields=True):
    """Name a key; `satoshi` to give it, 0 for none."""

    key: str
    satoshi: Annotated[int, msgspec.Meta(ge=0, le=FUNDS * 1_000)] = 0


class WritePin(msgspec.Struct, forbid_unknown_fields=True, rename="camel"):
    """Write a pin, as `Devnet.pin`; `payload` is a JSON value, or `payloadBase64` are bytes."""

    key: str
    path: str
    payload: msgspec.Raw = msgspec.Raw(b"")
    payload_base64: str = ""
    operation: Operation = "create"
    version: str = "1.0"
    content_type: str = "application/json"
    encryption: str = "0"

    @property
    def body(self) -> bytes:
        """The bytes to pin. Raises `InputError` `payload-base64`."""
        if not self.payload_base64:
            return bytes(self.payload)
        try:
            return b64decode(self.payload_base64, validate=True)
        except (Base64Error, ValueError) as error:
            raise InputError("payload-base64", "payloadBase64 is no base64", "encode it") from error


def _net(request: AnyRequest) -> Devnet:
    node = node_of(request)
    if not isinstance(node, Devnet):
        raise UsageError("no-wallet", "this node has no wallet", "serve a Devnet")
    return node


async def _asked(request: AnyRequest, kind: type[Asked]) -> Asked:
    """Read the body of an order. Raises `InputError` `order-form`."""
    content_type = request.headers.get("content-type", "").partition(";")[0].strip()
    body = await request.body()
    if content_type != "application/json":
        raise InputError("order-form", "the body is not application/json", "send it as such")
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except msgspec.MsgspecError as error:
        raise InputError(
            "order-form", str(error), "send a JSON object with these members"
        ) from error


def _done(value: object) -> Response[bytes]:
    return Response(msgspec.json.encode(value), media_type="application/json")


def refused(_: AnyRequest, error: Exception) -> Response[bytes]:
    """Turn an error of ours into a problem."""
    if not isinstance(error, RefoldError):
        raise error
    return problem_of(error)


@get("/status", sync_to_thread=False)
def status(request: AnyRequest) -> Response[bytes]:
    """Say where chain and indexer stand."""
    return _done(node_of(request).status())


@post("/mine", status_code=200)
async def mine(request: AnyRequest) -> Response[bytes]:
    """Mine blocks; give the last one."""
    asked = await _asked(request, Mine)
    return _done(node_of(request).mine(asked.count, order=asked.order, limit=asked.limit))


@post("/reorg", status_code=200)
async def reorg(request: AnyRequest) -> Response[bytes]:
    """Reorganise the last blocks; say what happened."""
    asked = await _asked(request, Reorg)
    done = node_of(request).reorg(
        asked.depth,
        blocks=asked.blocks,
        order=asked.order,
        drop=asked.drop,
        fate=asked.fate,
        shift=asked.shift,
    )
    return _done(done)


@get("/quirks", sync_to_thread=False)
def quirks(request: AnyRequest) -> Response[bytes]:
    """Give the quirks in force, and all switches with their help."""
    return _done({"quirks": node_of(request).quirks(), "switches": switches()})


@post("/quirks", status_code=200)
async def set_quirks(request: AnyRequest) -> Response[bytes]:
    """Change quirks: members by name, and `profile` to begin from one."""
    asked = await _asked(request, dict[str, object])
    profile = asked.pop("profile", None)
    try:
        name = msgspec.convert(profile, Profile | None)
    except msgspec.ValidationError as error:
        raise UsageError("quirk-profile", str(error), "name a profile") from error
    return _done({"quirks": node_of(request).quirks(name, **asked)})


@post("/faults", status_code=200)
async def faults(request: AnyRequest) -> Response[bytes]:
    """Set what goes wrong; an empty object for nothing."""
    asked = await _asked(request, dict[str, object])
    return _done(node_of(request).faults(**asked))


@post("/key", status_code=200)
async def key(request: AnyRequest) -> Response[bytes]:
    """Give the throw-away key of a name, with its worthless secret; make it if new."""
    asked = await _asked(request, Named)
    net = _net(request)
    found = net.key(asked.key)
    if asked.satoshi:
        net.fund(found, asked.satoshi)
    return _done(_shown(asked.key, found))


def _shown(name: str, found: Key) -> dict[str, str]:
    return {
        "name": name,
        "address": found.address,
        "globalMetaId": found.globalmetaid,
        "worthlessSecret": found.secret.hex(),
    }


@post("/pin", status_code=200)
async def pin(request: AnyRequest) -> Response[bytes]:
    """Write a pin; give its id."""
    asked = await _asked(request, WritePin)
    net = _net(request)
    pin_id = net.pin(
        net.key(asked.key),
        asked.path,
        asked.body,
        asked.operation,
        version=asked.version,
        content_type=asked.content_type,
        encryption=asked.encryption,
    )
    return _done({"pinId": pin_id})


@post("/rescan", status_code=200)
async def rescan(request: AnyRequest) -> Response[bytes]:
    """Let the indexer read the whole chain anew."""
    await _asked(request, dict[str, object])
    node = node_of(request)
    node.rescan()
    return _done(node.status())


ROUTES: tuple[ControllerRouterHandler, ...] = (
    *(status, mine, reorg, quirks, set_quirks, faults, key, pin, rescan),
)

"""Routes that take posts: `/v1/messages`, and `/v1/preview`, which keeps nothing."""

from refold.serving.answers import Answer
from refold.serving.call import Call
from refold.serving.operation import post
from refold.trials.api.codes import POSTING
from refold.trials.api.desk import Desk
from refold.trials.api.feed import Hub
from refold.trials.api.office import Office
from refold.trials.api.shown import (
    Accepted,
    MessageBody,
    PreviewBody,
    Previewed,
    preview_shown,
    warnings_shown,
)
from refold.trials.leaf import accepted_text
from refold.trials.posting import MAX_BODY
from refold.trials.signing import SignedMessage

__all__ = ["PostingApi"]

_SAMPLE_KEY = "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29"
_SAMPLE = {
    "room": "research",
    "content": "Has anybody tried it over IPv6?",
    "public_key": _SAMPLE_KEY,
}


class PostingApi:
    """See the module."""

    def __init__(self, office: Office, hub: Hub) -> None:
        self._office = office
        self._desk = Desk(office)
        self._hub = hub

    @post(
        "/v1/messages",
        summary="Post a message",
        codes=(*POSTING, "too-many", "trials-closed", "log-busy"),
        max_body=MAX_BODY,
        also=(201,),
        form=True,
        example={"body": {**_SAMPLE, "signature": "0" * 128}},
    )
    async def message(self, body: MessageBody, call: Call) -> Answer[Accepted]:
        """Keep a signed message: 201, or 200 with `duplicate` for one that is there already.

        It is on the disk before it is answered. All that is wrong is said at once in `errors`, each
        with `code`, `line`, `field`, `detail`, `hint` and `docs`; for a wrong signature the answer
        has `preimage` (base64), its `sha256`, and the `slip` that explains it, if any does.
        """
        accepted = await self.accept(body, call.client)
        return Answer(accepted, status=200 if accepted.duplicate else 201)

    async def accept(self, body: MessageBody, client: str) -> Accepted:
        """Keep a signed message that comes from a network address."""
        signed = SignedMessage(
            body.room, body.reply_to, body.content, body.public_key, body.signature
        )
        message, is_duplicate, looked = await self._desk.post(signed, client)
        if not is_duplicate:
            self._hub.tell()
        url = self._office.address(f"/v1/public/messages/{message.id}")
        return Accepted(
            message.id,
            message.digest,
            accepted_text(message.accepted_at),
            message.kind,
            is_duplicate,
            warnings_shown(looked.warnings, self._office.docs),
            url,
            f"{url}/thread",
        )

    @post(
        "/v1/preview",
        summary="Check a message and give the bytes to sign",
        codes=(*POSTING, "too-many"),
        max_body=MAX_BODY,
        form=True,
        example={"body": _SAMPLE},
    )
    async def preview(self, body: PreviewBody, call: Call) -> Previewed:
        """Check a message as if it were posted now, and keep nothing.

        `signature` may be missing. Hosts of examples pass, with a warning. What is wrong is said as
        for a post, with `preimage` and `sha256` of what would be signed.
        """
        return self.checked(body, call.client)

    def checked(self, body: PreviewBody, client: str) -> Previewed:
        """Check a message that comes from a network address."""
        self._office.require("previews.minute", client)
        signed = SignedMessage(
            body.room, body.reply_to, body.content, body.public_key, body.signature
        )
        looked = self._desk.preview(signed)
        return preview_shown(signed, looked, self._office.docs)

"""The codes of everything that can be wrong with a post, as data: one row a code.

The reader, the rules and the documents use these rows; nothing states a code a second time. Codes
are stable API: never rename one. Source: cold trials spec §1.
"""

from typing import Final

import msgspec

from refold.kernel.errors import InputError, Problem

__all__ = ["CODES", "Code", "Fault", "fault", "problems_of", "refusal", "told", "warnings_of"]

_MEMBERS = frozenset({"room", "reply_to", "public_key", "signature"})
"""Members of a posted message beside content; all other fields stand in the content."""


class Code(msgspec.Struct, frozen=True):
    """What a code says, and what to do about it. A `warning` refuses nothing."""

    says: str
    remedy: str
    warning: bool = False


class Fault(msgspec.Struct, frozen=True, omit_defaults=True):
    """One thing that is wrong, or a warning. `line` counts from 1 in the content."""

    code: str
    detail: str
    hint: str
    line: int | None = None
    field: str = ""

    @property
    def warning(self) -> bool:
        """Whether the post is accepted nevertheless."""
        return CODES[self.code].warning


def fault(
    code: str, detail: str = "", hint: str = "", *, line: int | None = None, field: str = ""
) -> Fault:
    """Say what is wrong by a code of `CODES`, which has the words where none are given."""
    row = CODES[code]
    return Fault(code, detail or row.says, hint or row.remedy, line, field)


def problems_of(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    """Give those that refuse the post, in their order."""
    return tuple(each for each in faults if not each.warning)


def warnings_of(faults: tuple[Fault, ...]) -> tuple[Fault, ...]:
    """Give those that refuse nothing, in their order."""
    return tuple(each for each in faults if each.warning)


def refusal(problems: tuple[Fault, ...]) -> InputError:
    """Give the error that says all problems (at least one) of a posted message.

    Its pointers lead into the message; the field of the content is in the detail.
    """
    return InputError.of(told(problems))


def told(problems: tuple[Fault, ...], docs: str = "") -> list[Problem]:
    """Give problems as an error tells them; `docs` is the address below which codes are described.

    Pointers lead into the message, and `field` names the member or the field of the content.
    """
    return [
        Problem(
            each.code,
            each.detail,
            each.hint,
            f"/{each.field if each.field in _MEMBERS else 'content'}",
            each.line,
            each.field,
            f"{docs}/{each.code}" if docs else "",
        )
        for each in problems
    ]


_RETYPE = "Take the character out; an editor that shows invisible characters helps."
_PLAIN = "Write https://host/path, percent-encode the rest, and the host by its public name."
_OWN = "Serve it at /.well-known/lockzone-trials on the target's own scheme, host and port."
_AT_HEAD = "Link the file at HEAD, or at a branch of one word."
_SIGNED = "Sign exactly the bytes of preimage, with the key's own seed."

CODES: Final[dict[str, Code]] = {
    # the content, of ordinary messages too
    "not_utf8": Code("The content is not UTF-8.", "Send it as UTF-8."),
    "surrogate": Code("There is half a surrogate pair, which no UTF-8 holds.", "Send whole ones."),
    "empty": Code("The content is empty.", "Write something."),
    "too_long": Code("The content is too long.", "Shorten it, or split it in several posts."),
    "outer_whitespace": Code(
        "The content begins or ends with whitespace.", "Trim it before signing: bytes are signed."
    ),
    "crlf": Code("There is a carriage return; lines end with LF alone.", "Convert to LF and sign."),
    "nul": Code("There is a NUL.", _RETYPE),
    "control": Code("There is a control character (C0).", _RETYPE),
    "delete": Code("There is a DEL (U+007F).", _RETYPE),
    "c1_control": Code("There is a control character (C1).", _RETYPE),
    "bom": Code("There is a byte order mark (U+FEFF).", "Save as UTF-8 without BOM."),
    "secret": Code(
        "There is what looks like a secret.",
        "Take it out, and replace it where it is valid: it may have been seen already.",
    ),
    # the marker
    "marker_spelling": Code(
        "The first line is nearly a marker, and is neither that nor a message.",
        "Write the marker alone on the first line, in lower case, without spaces.",
    ),
    "marker_unknown": Code("There is no such format or version.", "Use one of the markers."),
    # the lines of the header
    "blank_line": Code("A blank line stands in the header.", "End the header with a line ---."),
    "no_colon": Code(
        "A line of the header has no colon.", "End the header with a line --- before free text."
    ),
    "fullwidth_colon": Code("The colon is a full-width one.", "Write the ASCII colon :."),
    "header_indent": Code(
        "A header line begins with a space; values have one line.", "Begin in column one."
    ),
    "header_space": Code("There is a space before the colon.", "Write name: value."),
    "header_name": Code(
        "This is no field name: ASCII letters, digits and hyphens, from column one.",
        "Write name: value, or end the header with a line --- before free text.",
    ),
    "tab": Code("There is a TAB inside of a value.", "Write spaces."),
    "bidi_control": Code(
        "A header line has a character that turns the writing direction.", _RETYPE
    ),
    "zero_width": Code("A header line has a character without width.", _RETYPE),
    "unicode_break": Code("A header line has U+2028 or U+2029, a line break to some.", _RETYPE),
    "header_lines": Code("There are too many header lines.", "Move text below the line ---."),
    "steps": Code("There are too many steps.", "Join steps, or keep those that matter."),
    "field_repeated": Code("A field is given again; the first counts.", "Keep one.", warning=True),
    "field_unknown": Code("No such field; it is ignored.", "Mend or drop it.", warning=True),
    "field_empty": Code("A field has no value; it counts as absent.", "Drop it.", warning=True),
    "field_missing": Code("A required field is missing.", "Add it."),
    # values
    "value_long": Code("A value is too long.", "Shorten it; free text goes below the line ---."),
    "value_unknown": Code("A value is none of the words allowed.", "Use one of them as spelled."),
    "list_item_empty": Code("A list has an empty item.", "Put one comma between two items."),
    "list_item_repeated": Code("A list names something twice.", "Name it once."),
    "time_form": Code("A time is not YYYY-MM-DDTHH:MM:SSZ.", "Write it like 2031-05-09T07:30:00Z."),
    "time_range": Code("There is no such day or time of day.", "Correct it."),
    "integer_form": Code(
        "An integer is not plain ASCII digits.", "No sign, space, separator or leading zero."
    ),
    "integer_range": Code("An integer is out of range.", "Correct it."),
    "tool_form": Code(
        "The tool is neither a URL nor the name of a package.", "Write a URL, or a name like httpx."
    ),
    "origin_form": Code(
        "This is no origin.", "Write scheme, host and port of the node, as its documents do."
    ),
    "blocker_missing": Code(
        "outcome: blocked needs blocker.", "Say what stopped you, exactly as it came back."
    ),
    "observed_missing": Code("verdict: blocked needs observed.", "Say what you saw."),
    "version_missing": Code(
        "status: fixed needs version.", "Name the deploy or commit, so that it can be rechecked."
    ),
    "not_abandoned": Code(
        "owner-proof: missing needs outcome: abandoned.", "Without the proof, do not run the trial."
    ),
    "other_unexplained": Code(
        "blocker-class other needs a word on what it was.", "Say it in blocker or observed."
    ),
    # URLs
    "url_form": Code("This is no URL that all readers read alike.", _PLAIN),
    "url_scheme": Code("The scheme is neither https nor http.", _PLAIN),
    "url_user": Code("The URL names a user.", "Leave out what stands before the @."),
    "url_fragment": Code("The URL has a fragment, which is never sent.", "Leave out # and after."),
    "url_query": Code("The link of a proof has a query.", "Link the file itself."),
    "host_form": Code("The host is no host name.", _PLAIN),
    "host_unicode": Code(
        "The host is no internationalised name (UTS 46, IDNA 2008).", "Write the name registered."
    ),
    "host_spelling": Code(
        "The host is an address in an unusual form.", "Write a host name, or 192.0.2.7 in that way."
    ),
    "host_private": Code(
        "The host is an address that is not public.", "Trials are of services on the internet."
    ),
    "host_local": Code(
        "The host is a name that is not public.", "Trials are of services on the internet."
    ),
    "host_example": Code(
        "The host is a name of examples.", "Name your own service; previews allow this one."
    ),
    "target_repository": Code(
        "On a shared host the target names a repository.", "Point it at owner and repository."
    ),
    # owner proofs
    "proof_origin": Code("The proof is not on the target's origin.", _OWN),
    "proof_path": Code("The proof is not at the well-known path.", _OWN),
    "proof_file": Code(
        "The proof is not a file of a repository.",
        "Link the file's page or raw form, with no wiki, issue or release page.",
    ),
    "proof_repository": Code(
        "The proof is in another repository than the target.", "Put it into the target's own."
    ),
    "proof_ref": Code("The proof is not at HEAD or a branch.", _AT_HEAD),
    # relations
    "wrong_node": Code("The post is for another node.", "Post it there, or sign one for here."),
    "not_top_level": Code("This post stands at the top.", "Post it without reply_to."),
    "needs_reply": Code("This post is a reply.", "Set reply_to to the message it answers."),
    "reply_unknown": Code("There is no message with the id of reply_to.", "Look the id up."),
    "reply_kind": Code("reply_to names a message of another kind.", "Answer the right message."),
    "closes_past": Code("closes is not after now.", "Name a later time, or leave closes out."),
    "closes_far": Code("closes is too far out.", "Name an earlier time."),
    "started_future": Code("started is after now.", "Correct it, or leave it out."),
    "trial_closed": Code("The trial is closed.", "Look for an open one."),
    "own_trial": Code("The publisher of a trial does not run it.", "Leave it to another key."),
    "not_publisher": Code(
        "Only the key that posted the trial may do this.", "Sign with that key, or reply in words."
    ),
    "recheck_unknown": Code("recheck-of names no run.", "Name the id of your earlier run."),
    "recheck_key": Code("recheck-of names a run by another key.", "Recheck your own, or omit it."),
    "recheck_trial": Code("recheck-of names a run on another trial.", "Name one on this trial."),
    # the message around the content, and its key
    "room_unknown": Code("There is no such room.", "Use one of the node's rooms."),
    "reply_form": Code("reply_to is no message id.", "Write an integer from 1, or null."),
    "key_form": Code("public_key is not 64 lower-case hex digits.", "Write it so."),
    "key_unsafe": Code("public_key is no key that only its owner can use.", "Make a new key."),
    "signature_form": Code("signature is not 128 lower-case hex digits.", "Write it so."),
    "signature_wrong": Code("The signature does not fit.", _SIGNED),
    "key_unknown": Code("The key was not admitted.", "Pass admission once; it is for good."),
    "key_revoked": Code("The key was revoked by its owner.", "Use another key."),
    "key_blocked": Code("The operator blocked the key.", "The moderation list gives the reason."),
}
"""Every code, in the order in which a post is looked at."""

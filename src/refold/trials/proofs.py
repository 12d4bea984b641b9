"""Owner proofs: where the file may stand that lists the publisher's key. The node never fetches it.

On a host of one owner it is the well-known path of the target's own origin. On a shared host it is
a file of the repository that the target names, at a ref that only the owner moves: commits and
`refs/…` of forks and requests are served under the owner's name too. Paths are compared by whole
segments, decoded once, dots resolved. Source: cold trials spec §1, owner-proof; facts D5.
"""

import re
from typing import Final

import msgspec

from refold.kernel.addresses import Url, quoted
from refold.trials.sites import Site
from refold.trials.tables import PROOF_PATH
from refold.trials.targets import Target, WrongUrlError, read_url, split_repository

__all__ = ["Proof", "read_proof"]

_BRANCH = re.compile("[A-Za-z0-9_][A-Za-z0-9._-]*")
# A commit's hash, whole or shortened, and what `git describe` makes of one.
_COMMIT = re.compile("(?:.*-g)?[0-9a-f]{4,64}", re.IGNORECASE)
_NAMESPACES: Final = frozenset(
    {
        *("refs", "heads", "tags", "remotes", "notes", "stash", "changes"),
        *("pull", "pulls", "pr", "pull-requests", "merge-requests", "keep-around", "pipelines"),
    }
)
"""First words of refs that are no branches, or that strangers can make."""


class Proof(msgspec.Struct, frozen=True):
    """A proof that may be posted: its link, and the URL that gives the file itself.

    `plaintext` is that it goes over http, where anyone on the way can write it.
    """

    url: Url
    file: Url
    plaintext: bool


def read_proof(text: str, target: Target, *, preview: bool = False) -> Proof:
    """Give the proof that `text` links for `target`; raises WrongUrlError."""
    url = read_url(text, preview=preview)
    if "?" in url.target:
        raise WrongUrlError("url_query")
    plaintext = url.scheme == "http"
    if target.site is not None:
        return Proof(url, _file_of(target.site, url, target), plaintext)
    if url.origin != target.url.origin:
        raise WrongUrlError(
            "proof_origin", f"The proof is on {url.origin}, the target on {target.url.origin}."
        )
    if url.target != PROOF_PATH:
        raise WrongUrlError("proof_path")
    return Proof(url, url, plaintext)


def _file_of(site: Site, url: Url, target: Target) -> Url:
    """Give the raw form of the file of the target's repository that `url` shows."""
    raw = url.host == site.raw_host
    same_place = (url.scheme, url.port) == (target.url.scheme, target.url.port)
    if not same_place or not (raw or url.host.removeprefix("www.") == site.host):
        raise WrongUrlError(
            "proof_origin",
            f"The proof of a target on {site.host} is a file there.",
            f"Link a file of {target.service}.",
        )
    repository, rest = split_repository(site, url)
    if _compared(site, repository) != _compared(site, target.repository):
        raise WrongUrlError("proof_repository", hint=f"Link a file of {target.service}.")
    pages = ((),) if raw else site.pages
    words = next((page for page in pages if rest[: len(page)] == page), None)
    if words is None or len(rest) < len(words) + 2:
        raise WrongUrlError("proof_file")
    ref, *path = rest[len(words) :]
    if not _is_branch(ref):
        raise WrongUrlError("proof_ref", f"{ref[:40]!a} may name what is not the owner's.")
    told = (*target.repository, *site.raw, ref, *path)
    return Url(url.scheme, site.raw_host or site.host, url.port, "/" + "/".join(map(quoted, told)))


def _compared(site: Site, repository: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(map(str.lower, repository)) if site.ignores_case else repository


def _is_branch(ref: str) -> bool:
    """Tell whether a ref of one segment is HEAD or can only be a branch or tag of the owner."""
    return (
        _BRANCH.fullmatch(ref) is not None
        and _COMMIT.fullmatch(ref) is None
        and ref.lower() not in _NAMESPACES
        and not ref.endswith("_HEAD")
    )

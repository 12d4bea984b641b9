"""Hosts that many owners share, as data: how each names a repository and a file in it.

On such a host the origin proves nothing about one owner, so the proof is a file of the repository
that the target names. Operators add rows of their own. Source: cold trials spec §1; the sites' own
addresses.
"""

from typing import Final

import msgspec

__all__ = ["SITES", "Site", "site_of"]


class Site(msgspec.Struct, frozen=True):
    """A shared host.

    A repository is `prefix/owner/name` (the prefix may be missing), or where groups are `nested`,
    all segments before the segment `-`. A file is repository, then the words of one of `pages`,
    then a ref of one segment, then its path; on `raw_host` there are no words. `raw` are the words
    of the form that gives the file itself, which is the one that a reporter reads.
    """

    host: str
    pages: tuple[tuple[str, ...], ...]
    raw: tuple[str, ...]
    raw_host: str = ""
    prefixes: tuple[str, ...] = ()
    nested: bool = False
    ignores_case: bool = True


SITES: Final = (
    Site("github.com", (("blob",), ("raw",)), (), raw_host="raw.githubusercontent.com"),
    Site("gitlab.com", (("-", "blob"), ("-", "raw")), ("-", "raw"), nested=True),
    Site("codeberg.org", (("src", "branch"), ("raw", "branch")), ("raw", "branch")),
    Site("bitbucket.org", (("src",), ("raw",)), ("raw",)),
    Site(
        "huggingface.co",
        (("blob",), ("raw",), ("resolve",)),
        ("raw",),
        prefixes=("datasets", "spaces"),
        ignores_case=False,
    ),
)
"""The shared hosts that every node knows."""


def site_of(host: str, sites: tuple[Site, ...] = SITES) -> Site | None:
    """Give the shared host that `host` (lower case) belongs to, by its pages or its raw files."""
    name = host.removeprefix("www.")
    return next((site for site in sites if name in {site.host, site.raw_host}), None)

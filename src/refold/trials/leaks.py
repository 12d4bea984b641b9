"""Secrets in posts: what has the shape of a well-known one is refused before it is kept.

A rule is a row. It names a beginning that each such secret has, which is looked for first, and a
shape. Nothing of what was found is repeated. Source: cold trials spec §2.
"""

import re
from typing import Final

import msgspec

from refold.trials.codes import Fault, fault

__all__ = ["LEAKS", "Leak", "leak_faults"]


class Leak(msgspec.Struct, frozen=True):
    """A kind of secret: its name, a text that stands in each one, and its shape."""

    name: str
    says: str
    begins: str
    shape: re.Pattern[str]


def _row(name: str, says: str, begins: str, rest: str) -> Leak:
    """Give a row; a token does not begin in the middle of a word."""
    return Leak(name, says, begins, re.compile(rf"(?<![A-Za-z0-9_]){re.escape(begins)}{rest}"))


LEAKS: Final[tuple[Leak, ...]] = (
    Leak(
        "pem",
        "a private key in PEM",
        "PRIVATE KEY",
        re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    ),
    _row("age", "a secret key of age", "AGE-SECRET-KEY-1", r"[0-9A-Z]{58}"),
    _row("nostr", "a secret key of Nostr", "nsec1", r"[02-9ac-hj-np-z]{58}"),
    Leak("github", "a token of GitHub", "_", re.compile("gh[opusr]_[A-Za-z0-9]{36}")),
    _row("github-pat", "a token of GitHub", "github_pat_", r"[A-Za-z0-9_]{40}"),
    _row("gitlab", "a token of GitLab", "glpat-", r"[A-Za-z0-9_-]{20}"),
    _row("anthropic", "a key of Anthropic", "sk-ant-", r"[A-Za-z0-9_-]{24}"),
    _row(
        "openai", "a key of OpenAI", "sk-", r"(?!ant-)(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{32}"
    ),
    _row("huggingface", "a token of Hugging Face", "hf_", r"[A-Za-z0-9]{34}"),
    _row("aws", "an access key of AWS", "AKIA", r"[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _row("aws-session", "an access key of AWS", "ASIA", r"[0-9A-Z]{16}(?![0-9A-Za-z])"),
    _row("google", "a key of Google", "AIza", r"[0-9A-Za-z_-]{35}"),
    _row("google-oauth", "a token of Google", "ya29.", r"[0-9A-Za-z_-]{30}"),
    _row("slack", "a token of Slack", "xox", r"[abeoprs]-[0-9A-Za-z-]{20}"),
    _row("slack-app", "a token of Slack", "xapp-", r"[0-9A-Za-z-]{20}"),
    _row("stripe", "a secret key of Stripe", "sk_live_", r"[0-9A-Za-z]{20}"),
    _row("stripe-restricted", "a restricted key of Stripe", "rk_live_", r"[0-9A-Za-z]{20}"),
    _row("npm", "a token of npm", "npm_", r"[A-Za-z0-9]{36}"),
    _row("pypi", "a token of PyPI", "pypi-AgEI", r"[A-Za-z0-9_-]{40}"),
    _row("sendgrid", "a key of SendGrid", "SG.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    Leak("digitalocean", "a token of DigitalOcean", "_v1_", re.compile("do[opr]_v1_[0-9a-f]{64}")),
    _row("jwt", "a signed JSON Web Token", "eyJ", r"[\w-]{8,300}+\.eyJ[\w-]{8,3000}+\.[\w-]{16}"),
)
"""Every rule, in the order in which they are looked for."""


def leak_faults(content: str) -> tuple[Fault, ...]:
    """Give one fault for each rule that finds something, at its first place."""
    found = []
    for leak in LEAKS:
        match = leak.shape.search(content) if leak.begins in content else None
        if match is not None:
            line = content.count("\n", 0, match.start()) + 1
            detail = f"There is what looks like {leak.says} (rule {leak.name})."
            found.append(fault("secret", detail, line=line))
    return tuple(found)

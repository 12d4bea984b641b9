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


# Words with hyphens between are no tokens, and many x stand for one. A token that may have hyphens
# has a digit or a capital soon: it is random.
_MIXED = r"(?=[a-z_-]{0,19}[0-9A-Z])"
_NO_PLACEHOLDER = r"(?![xX]{9})"
_OPENAI = r"(?:[A-Za-z0-9]{32}|(?:proj|svcacct|admin)-[A-Za-z0-9_-]{32})"
_AWS = r"(?![0-9A-Z]{9}EXAMPLE)[0-9A-Z]{16}(?![0-9A-Za-z])"

LEAKS: Final[tuple[Leak, ...]] = (
    Leak(
        "pem",
        "a private key in PEM",
        "PRIVATE KEY",
        re.compile(r"-----BEGIN (?:[A-Z0-9]{1,20} ){0,3}PRIVATE KEY(?: BLOCK)?-----"),
    ),
    _row("putty", "a private key of PuTTY", "PuTTY-User-Key-File-", r"[0-9]: "),
    _row("age", "a secret key of age", "AGE-SECRET-KEY-1", r"[0-9A-Z]{58}"),
    _row("nostr", "a secret key of Nostr", "nsec1", r"[02-9ac-hj-np-z]{58}"),
    Leak(
        "github",
        "a token of GitHub",
        "_",
        re.compile(f"gh[opusr]_{_NO_PLACEHOLDER}[A-Za-z0-9]{{36}}"),
    ),
    _row("github-pat", "a token of GitHub", "github_pat_", r"[A-Za-z0-9]{22}_[A-Za-z0-9]{17}"),
    Leak(
        "gitlab",
        "a token of GitLab",
        "gl",
        re.compile(rf"gl(?:pat|dt|rt|cbt|ptt|ft|soat)-{_MIXED}[\w-]{{20}}"),
    ),
    _row("anthropic", "a key of Anthropic", "sk-ant-", rf"{_MIXED}[A-Za-z0-9_-]{{24}}"),
    _row("openai", "a key of OpenAI, or a like service", "sk-", rf"{_MIXED}{_OPENAI}"),
    _row("openrouter", "a key of OpenRouter", "sk-or-v1-", r"[0-9a-f]{64}"),
    _row("groq", "a key of Groq", "gsk_", r"[A-Za-z0-9]{40}"),
    _row("xai", "a key of xAI", "xai-", r"[A-Za-z0-9]{60}"),
    _row("perplexity", "a key of Perplexity", "pplx-", r"[A-Za-z0-9]{40}"),
    _row("replicate", "a token of Replicate", "r8_", r"[A-Za-z0-9]{37}"),
    _row("huggingface", "a token of Hugging Face", "hf_", r"[A-Za-z0-9]{34}"),
    # Names of examples in the documents of Amazon end in EXAMPLE.
    _row("aws", "an access key of AWS", "AKIA", _AWS),
    _row("aws-session", "an access key of AWS", "ASIA", _AWS),
    _row("google", "a key of Google", "AIza", r"[0-9A-Za-z_-]{35}"),
    _row("google-oauth", "a token of Google", "ya29.", r"[0-9A-Za-z_-]{30}"),
    _row("google-secret", "a client secret of Google", "GOCSPX-", r"[0-9A-Za-z_-]{28}"),
    _row("slack", "a token of Slack", "xox", rf"[abeoprs]-{_MIXED}[0-9A-Za-z-]{{20}}"),
    _row("slack-app", "a token of Slack", "xapp-", rf"{_MIXED}[0-9A-Za-z-]{{20}}"),
    _row("slack-hook", "a webhook of Slack", "hooks.slack.com/services/", r"T\w+/B\w+/\w{20}"),
    _row("discord-hook", "a webhook of Discord", "discord.com/api/webhooks/", r"[0-9]+/[\w-]{60}"),
    Leak(
        "telegram",
        "a token of a bot of Telegram",
        ":AA",
        re.compile(r"(?<!\w)[0-9]{8,10}:AA[\w-]{33}(?!\w)", re.ASCII),
    ),
    _row("stripe", "a secret key of Stripe", "sk_live_", r"[0-9A-Za-z]{20}"),
    _row("stripe-restricted", "a restricted key of Stripe", "rk_live_", r"[0-9A-Za-z]{20}"),
    _row("shopify", "a token of Shopify", "shp", r"(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    _row("npm", "a token of npm", "npm_", r"[A-Za-z0-9]{36}"),
    _row("pypi", "a token of PyPI", "pypi-AgEI", r"[A-Za-z0-9_-]{40}"),
    _row("rubygems", "a key of RubyGems", "rubygems_", r"[0-9a-f]{48}"),
    _row("docker", "a token of Docker", "dckr_pat_", r"[A-Za-z0-9_-]{27}"),
    _row("sendgrid", "a key of SendGrid", "SG.", r"[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"),
    Leak("digitalocean", "a token of DigitalOcean", "_v1_", re.compile("do[opr]_v1_[0-9a-f]{64}")),
    _row("databricks", "a token of Databricks", "dapi", r"[0-9a-f]{32}(?![0-9a-f])"),
    _row("vault", "a token of Vault", "hv", r"[sbr]\.[A-Za-z0-9_-]{24}"),
    _row("grafana", "a token of Grafana", "glsa_", r"[A-Za-z0-9]{32}_[0-9a-f]{8}"),
    _row("linear", "a key of Linear", "lin_api_", r"[A-Za-z0-9]{40}"),
    _row("notion", "a token of Notion", "ntn_", r"[A-Za-z0-9]{40}"),
    _row("supabase", "a token of Supabase", "sbp_", r"[0-9a-f]{40}"),
    _row("postman", "a key of Postman", "PMAK-", r"[0-9a-f]{24}-[0-9a-f]{34}"),
    _row("jwt", "a signed JSON Web Token", "eyJ", r"[\w-]{8,300}+\.eyJ[\w-]{8,3000}+\.[\w-]{16}"),
)
"""Every rule, in the order in which they are looked for."""
_BEGINNINGS: Final = tuple((leak.begins, leak) for leak in LEAKS)


def leak_faults(content: str) -> tuple[Fault, ...]:
    """Give one fault for each rule that finds something, at its first place."""
    found = []
    # Nearly every content has none of the beginnings, so this is all that it costs.
    for leak in [leak for begins, leak in _BEGINNINGS if begins in content]:
        match = leak.shape.search(content)
        if match is not None:
            line = content.count("\n", 0, match.start()) + 1
            detail = f"There is what looks like {leak.says} (rule {leak.name})."
            found.append(fault("secret", detail, line=line))
    return tuple(found)

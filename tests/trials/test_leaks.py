"""Secrets in posts: each rule finds its own, and says nothing of it; usual texts pass."""

import pytest

from refold.trials.leaks import LEAKS, leak_faults

PEM = "-----BEGIN {}PRIVATE KEY{}-----"
SECRETS = {
    "pem": PEM.format("", ""),
    "age": "AGE-SECRET-KEY-1" + "Q" * 58,
    "nostr": "nsec1" + "q" * 58,
    "github": "ghp_" + "aB3" * 12,
    "github-pat": "github_pat_" + "a1B" * 7 + "c_" + "aB3" * 20,
    "gitlab": "glpat-" + "aB-_3" * 4,
    "anthropic": "sk-ant-" + "api03-" + "a" * 30,
    "openai": "sk-proj-" + "A1b2" * 10,
    "huggingface": "hf_" + "a" * 34,
    "aws": "AKIA" + "ABCD1234EFGH5678",
    "aws-session": "ASIA" + "ABCD1234EFGH5678",
    "google": "AIza" + "a" * 35,
    "google-oauth": "ya29." + "a" * 40,
    "slack": "xoxb-" + "1234567890-abcdefghijk",
    "slack-app": "xapp-1-" + "A" * 20,
    "stripe": "sk_live_" + "a" * 24,
    "stripe-restricted": "rk_live_" + "a" * 24,
    "npm": "npm_" + "a" * 36,
    "pypi": "pypi-AgEI" + "c" * 50,
    "sendgrid": "SG." + "a" * 22 + "." + "b" * 43,
    "digitalocean": "dop_v1_" + "0f" * 32,
    "jwt": "eyJhbGciOiJI.eyJzdWIiOiIxMjM0.c2lnbmF0dXJlIG9mIGl0",
    "putty": "PuTTY-User-Key-File-3: ssh-ed25519",
    "openrouter": "sk-or-v1-" + "ab12" * 16,
    "groq": "gsk_" + "aB3d" * 13,
    "xai": "xai-" + "aB3d" * 20,
    "perplexity": "pplx-" + "aB3d" * 12,
    "replicate": "r8_" + "aB3d" * 9 + "a",
    "google-secret": "GOCSPX-" + "aB3d" * 7,
    "slack-hook": "hooks.slack.com/services/T0AB/B0CD/" + "aB3d" * 6,
    "discord-hook": "discord.com/api/webhooks/1234567890/" + "aB3-" * 17,
    "telegram": "123456789:AAF" + "aB3-" * 8,
    "shopify": "shpat_" + "ab12" * 8,
    "rubygems": "rubygems_" + "ab12" * 12,
    "docker": "dckr_pat_" + "aB3" * 9,
    "databricks": "dapi" + "ab12" * 8,
    "vault": "hvs." + "aB3d" * 7,
    "grafana": "glsa_" + "aB3d" * 8 + "_ab12cd34",
    "linear": "lin_api_" + "aB3d" * 10,
    "notion": "ntn_" + "aB3d" * 11,
    "supabase": "sbp_" + "ab12" * 10,
    "postman": "PMAK-" + "ab12" * 6 + "-" + "ab12" * 8 + "ab",
}


def test_every_rule_has_its_case() -> None:
    assert set(SECRETS) == {leak.name for leak in LEAKS}


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_is_found_by_its_own_rule_in_its_line(name: str) -> None:
    secret = SECRETS[name]
    (found,) = leak_faults(f"review-v1\nobserved: it printed {secret}\n---\nmore")
    assert (found.code, found.line) == ("secret", 2)
    assert f"rule {name})" in found.detail
    assert secret not in found.detail + found.hint
    assert leak_faults(f"the shape of {secret[: len(secret) // 3]}… is known") == ()


@pytest.mark.parametrize("kind", ["RSA ", "EC ", "OPENSSH ", "ENCRYPTED ", "PGP "])
def test_private_keys_of_all_kinds_are_found(kind: str) -> None:
    block = " BLOCK" if kind == "PGP " else ""
    (found,) = leak_faults(f"here:\n{PEM.format(kind, block)}\nMIIE")
    assert found.line == 2


@pytest.mark.parametrize(
    "text",
    [
        "-----BEGIN PUBLIC KEY-----",
        "the header Authorization: Bearer $TOKEN was refused",
        "step: GET https://shop.io/ -> 200, sha256 0123456789abcdef",
        "sk-learn is a package, and so is risk-assessment-of-everything-we-know-and-do-not-know",
        "ghp_ is how tokens of GitHub begin; AKIA and xoxb- are others",
        "public_key 3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29",
        "https://blog.io/sk-learn-how-to-train-a-model-with-pipelines-and-grids",
        "class=sk-folding-cube-sk-folding-cube-sk-folding-cube",
        "the xoxb-token-was-not-accepted-by-the-service, nor xapp-some-long-words-with-hyphens",
        "github_pat_names_are_written_like_this_and_glpat-is-another-prefix-of-tokens",
        "sk-ant-is-how-keys-of-anthropic-begin-as-everybody-knows",
        "AKIAIOSFODNN7EXAMPLE is in the documents, and ghp_" + "x" * 36 + " stands for yours",
        "at 10:AA the build hung; xai-web-search-tool-for-agents-and-people-alike-in-one-go-now-ok",
        "hv, dapi, shp, r8_ and ntn_ are short, and SG.md is a file",
        "commit 1f3a9c2d5e6f708192a3b4c5d6e7f80912345678",
    ],
)
def test_usual_texts_pass(text: str) -> None:
    assert leak_faults(text) == ()

"""Which hosts a trial may name: the trap list D4 of the facts, where the spec says nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.spellings import ADDRESSES, HOSTS
from refold.kernel.addresses import forbidden_kind, parse_address
from refold.trials.intake import read_content
from refold.trials.sites import Site
from refold.trials.targets import Target, WrongUrlError, read_target, read_url
from trials.examples import PROOF, TRIAL, altered, codes

PARTS = st.sampled_from(
    [
        *(
            "https://",
            "http://",
            "HTTPS:",
            "//",
            "@",
            ":",
            ":443",
            ":0",
            ".",
            "..",
            "/",
            "%2e",
            "#",
        ),
        *("?", "\\", "\t", " ", "[", "]", "[::1]", "127.0.0.1", "0x7f", "localhost", "shop.io"),
        *("。", "１", "ß", "xn--", "xn--fa-hia.de", "github.com", "/o/r", "é", "\u200d", "\ud800"),
    ]
)


def told(text: str) -> str:
    """Give the code of what is wrong with a target, "" if nothing is."""
    try:
        read_target(text)
    except WrongUrlError as wrong:
        return wrong.code
    return ""


@given(st.text() | st.lists(PARTS, max_size=8).map("".join))
def test_a_target_is_public_or_refused(text: str) -> None:
    try:
        target = read_target(text)
    except WrongUrlError:
        return
    url = target.url
    assert str(url).isascii()
    assert read_url(str(url)) == url
    address = parse_address(url.host)
    assert not forbidden_kind(address) if address else "." in url.host


@pytest.mark.parametrize(
    ("text", "url", "service"),
    [
        ("https://shop.io", "https://shop.io/", "shop.io"),
        ("HTTPS://Shop.IO:443/A", "https://shop.io/A", "shop.io"),
        ("http://shop.io/a?b=c", "http://shop.io/a?b=c", "shop.io"),
        ("https://shop.io.", "https://shop.io/", "shop.io"),
        ("https://shop.io:8443/x", "https://shop.io:8443/x", "shop.io:8443"),
        ("https://8.8.8.8/", "https://8.8.8.8/", "8.8.8.8"),
        ("https://[2606:4700::1111]/", "https://[2606:4700::1111]/", "[2606:4700::1111]"),
        ("https://faß.de/", "https://xn--fa-hia.de/", "xn--fa-hia.de"),  # not fass.de
        ("https://例え.jp/商店?名=値", "https://xn--r8jz45g.jp/%E5%95%86%E5%BA%97?%E5%90%8D=%E5%80%A4",
         "xn--r8jz45g.jp"),
        ("https://shop。io/", "https://shop.io/", "shop.io"),
        ("https://ex。ample.com/", "https://ex.ample.com/", "ex.ample.com"),
        ("https://ｓｈｏｐ．ｉｏ/", "https://shop.io/", "shop.io"),
        ("https://XN--FA-HIA.de/", "https://xn--fa-hia.de/", "xn--fa-hia.de"),
        ("https://r3---sn-x.shop.io/", "https://r3---sn-x.shop.io/", "r3---sn-x.shop.io"),
        ("https://myexample.com/", "https://myexample.com/", "myexample.com"),
        ("https://localhost.io/", "https://localhost.io/", "localhost.io"),
        ("https://github.com/Owner/Repo/tree/main", "https://github.com/Owner/Repo/tree/main",
         "github.com/owner/repo"),
        ("https://www.github.com/o/r.git", "https://www.github.com/o/r.git", "github.com/o/r"),
        ("https://gitlab.com/group/sub/proj/-/issues", "https://gitlab.com/group/sub/proj/-/issues",
         "gitlab.com/group/sub/proj"),
        ("https://huggingface.co/datasets/O/R/", "https://huggingface.co/datasets/O/R/",
         "huggingface.co/datasets/O/R"),
        ("https://raw.githubusercontent.com/o/r/HEAD/x", "https://raw.githubusercontent.com/o/r/HEAD/x",
         "github.com/o/r"),
    ],
)  # fmt: skip
def test_targets_and_their_service(text: str, url: str, service: str) -> None:
    target = read_target(text)
    assert (str(target.url), target.service) == (url, service)


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("url_scheme", "ftp://shop.io/"),
        ("url_scheme", "javascript://shop.io/"),
        ("url_form", "shop.io/start"),
        ("url_form", "https:/shop.io"),
        ("url_form", "https:\\\\shop.io"),
        ("url_form", "https://good.com\\@evil.com/"),
        ("url_form", "https://shop.io/a\tb"),
        ("url_form", "https://shop.io/a b"),
        ("url_form", "https://shop.io/\x01"),
        ("url_form", "https://sh\u200dop.io/"),
        ("url_form", "https://shop.io/<start>"),
        ("url_form", "https://shop.io:0/"),
        ("url_form", "https://shop.io:65536/"),
        ("url_form", "https://shop.io/" + "x" * 9000),
        ("host_form", "https://shop.io:/"),
        ("host_form", "https://shop.io:٤٤٣/"),
        ("host_form", "https:///x"),
        ("host_form", "https://.shop.io/"),
        ("host_form", "https://shop..io/"),
        ("host_form", "https://shop.io../"),
        ("host_form", "https://sh_op.io/"),
        ("host_form", "https://-shop.io/"),
        ("host_form", "https://shop%2eio/"),
        ("host_form", "https://[fe80::1%25eth0]/"),
        ("host_form", "https://[1.2.3.4]/"),
        ("host_form", "https://" + "a." * 130 + "io/"),
        ("host_form", "https://" + "a" * 64 + ".io/"),
        ("host_unicode", "https://xn--zzzzzz9999.com/"),
        ("host_unicode", "https://xn--a.de/"),
        ("host_unicode", "https://\u0301a.de/"),
        ("url_user", "https://user@shop.io/"),
        ("url_user", "https://user:pass@shop.io/"),
        ("url_user", "https://@shop.io/"),
        ("url_fragment", "https://shop.io/#start"),
        ("url_fragment", "https://shop.io#@evil.io/"),
        ("host_spelling", "https://2130706433/"),
        ("host_spelling", "https://0x7f.1/"),
        ("host_spelling", "https://0177.0.0.1/"),
        ("host_spelling", "https://127.1/"),
        ("host_spelling", "https://8.8.8.08/"),
        ("host_spelling", "https://shop.io.1/"),
        ("host_spelling", "https://[2606:4700:0::1111]/"),
        ("host_private", "https://１２７.０.０.１/"),
        ("host_private", "https://127.0.0.1./"),
        ("host_private", "https://[::ffff:8.8.8.8]/"),
        ("host_private", "https://[64:ff9b::7f00:1]/"),
        ("host_private", "https://[2002:7f00:1::]/"),
        ("host_private", "https://192.0.0.8/"),
        ("host_local", "https://localhost/"),
        ("host_local", "https://LOCALHOST./"),
        ("host_local", "https://a.localhost/"),
        ("host_local", "https://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/"),
        ("host_local", "https://intranet/"),
        ("host_local", "https://printer.local/"),
        ("host_local", "https://db.internal/"),
        ("host_local", "https://router.home.arpa/"),
        ("host_local", "https://a.test/"),
        ("host_local", "https://a.invalid/"),
        ("host_local", "https://a.example/"),
        ("host_local", "https://abc.onion/"),
        ("host_local", "https://nas.lan/"),
        ("host_example", "https://example.com/start"),
        ("host_example", "https://www.example.org/"),
        ("host_example", "https://example。com/"),
        ("target_repository", "https://github.com/"),
        ("target_repository", "https://github.com/owner"),
        ("target_repository", "https://github.com/owner/repo/../.."),
        ("target_repository", "https://gitlab.com/group/-/x"),
        ("target_repository", "https://huggingface.co/datasets/owner"),
        ("target_repository", "https://codeberg.org/a/%24"),
        ("url_form", "https://github.com//owner/repo"),
        ("url_form", "https://github.com/owner%2frepo/x"),
        ("url_form", "https://github.com/owner/%252e%252e"),
        ("url_form", "https://github.com/owner/%ff"),
    ],
)  # fmt: skip
def test_targets_that_are_refused(code: str, text: str) -> None:
    assert told(text) == code


@pytest.mark.parametrize("address", ADDRESSES)
def test_no_address_that_is_not_public(address: str) -> None:
    host = f"[{address}]" if ":" in address else address
    assert told(f"https://{host}/") == "host_private"


@pytest.mark.parametrize("host", HOSTS)
def test_no_spelling_of_such_an_address(host: str) -> None:
    if host != "127.0.0.1.nip.io":  # a public name: reporters look at what DNS answers
        assert told(f"https://{host}/")


def test_names_of_examples_are_for_previews() -> None:
    assert read_target("https://example.com/start", preview=True).service == "example.com"
    text = altered(
        TRIAL,
        target="https://example.com/start",
        owner_proof="https://example.com/.well-known/lockzone-trials",
    )
    assert codes(text) == ["host_example", "host_example"]
    assert read_content(text, preview=True).problems == ()


def test_a_reading_has_the_target_and_the_line_of_what_is_wrong() -> None:
    reading = read_content("\n".join(TRIAL))
    assert isinstance(reading.target, Target)
    assert reading.proof is not None
    assert str(reading.proof.file) == PROOF
    faults = read_content(altered(TRIAL, target="https://intranet/")).problems
    assert [(each.code, each.field, each.line) for each in faults] == [("host_local", "target", 6)]


def test_an_operator_adds_shared_hosts() -> None:
    forge = Site("forge.io", (("src", "branch"),), ("raw", "branch"))
    assert told("https://forge.io/") == ""
    with pytest.raises(WrongUrlError, match="target_repository"):
        read_target("https://forge.io/owner", (forge,))
    assert read_target("https://forge.io/Owner/r", (forge,)).service == "forge.io/owner/r"

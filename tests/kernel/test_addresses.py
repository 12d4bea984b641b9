"""URLs have one strict reading; addresses that are not public are forbidden, however written."""

import ipaddress
from collections.abc import Callable
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernel.spellings import ADDRESSES, spelled
from refold.kernel.addresses import (
    LOOPBACK,
    MAX_URL_LENGTH,
    PRIVATE,
    Url,
    forbidden_kind,
    join_url,
    parse_address,
    parse_url,
    query_of,
    quoted,
)
from refold.kernel.errors import InputError

BASE = parse_url("https://good.example/a/b?c=d")

# Text that is nearly a URL.
NEARLY = st.text(st.sampled_from("htps:/@.[]%?#\\ 0127xf１。\t-_~AÀ"), max_size=40) | st.builds(
    "https://{}:{}/{}".format,
    st.text(st.sampled_from("0127.xf[]:%@_-aZ"), max_size=20),
    st.integers(-1, 70000),
    st.text(st.characters(min_codepoint=32, max_codepoint=160), max_size=10),
)


def outcome(read: Callable[[], Url]) -> Url | InputError:
    """Give the URL that is read, or the error; no other is caught."""
    try:
        return read()
    except InputError as error:
        return error


def networks(*texts: str) -> list[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    return [ipaddress.ip_network(text) for text in texts]


# What is left are names, whose addresses are judged when they are known.
NAMES = {
    "localhost",
    "localhost.localdomain",
    "ip6-localhost",
    "127.0.0.1.nip.io",
    "7f000001.good.example",
    "metadata.google.internal",
    "xn--127-0-0-1",
    "xn--l8je.localhost",
    "good.example",
}


@pytest.mark.parametrize("url", spelled(8443))
def test_a_forbidden_place_is_refused_or_a_plain_name(url: str) -> None:
    read = outcome(lambda: parse_url(url))
    if isinstance(read, InputError):
        assert read.code == "url-invalid"
    elif address := parse_address(read.host):
        assert forbidden_kind(address)
    else:
        assert read.host in NAMES


def test_there_are_spellings_enough() -> None:
    assert len(spelled(8443)) > 250


@pytest.mark.parametrize("text", ADDRESSES)
def test_forbidden_addresses_have_a_kind(text: str) -> None:
    address = parse_address(text)
    assert address is not None
    assert forbidden_kind(address)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("10.0.0.1", "private"),
        ("100.64.0.1", "shared (carrier-grade NAT)"),
        ("127.0.0.1", "loopback"),
        ("169.254.169.254", "link-local"),
        ("224.0.0.1", "multicast"),
        ("255.255.255.255", "reserved"),
        ("::", "unspecified"),
        ("::1", "loopback"),
        ("::2", "IPv4-compatible"),
        ("::ffff:8.8.8.8", "IPv4-mapped"),
        ("::ffff:0:8.8.8.8", "IPv4-translated"),
        ("64:ff9b::8.8.8.8", "NAT64"),
        ("64:ff9b:1::1", "NAT64"),
        ("2002::1", "6to4"),
        ("fc00::1", "unique-local"),
        ("fe80::1", "link-local"),
        ("fec0::1", "site-local"),
        ("ff0e::1", "multicast"),
        ("4000::1", "unassigned"),
    ],
)
def test_the_kind_is_told(text: str, kind: str) -> None:
    assert forbidden_kind(ipaddress.ip_address(text)) == kind


@given(st.ip_addresses())
def test_what_the_standard_library_calls_not_global_is_forbidden(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    # Ours is stricter: 6to4, NAT64, unassigned and the like are global for Python.
    if address.is_multicast or not address.is_global:
        assert forbidden_kind(address)


@given(st.ip_addresses(v=4))
def test_no_other_spelling_of_an_ipv4_address_is_read(address: ipaddress.IPv4Address) -> None:
    number = int(address)
    octets = address.packed
    forms = {
        str(number),
        hex(number),
        f"0{number:o}",
        ".".join(map(hex, octets)),
        ".".join(f"0{octet:o}" for octet in octets),
        ".".join(f"{octet:03d}" for octet in octets),
        f"{octets[0]}.{number & 0xFFFFFF}",
        f"{octets[0]}.{octets[1]}.{number & 0xFFFF}",
        f"{address}.",
    } - {str(address)}
    for form in forms:
        with pytest.raises(InputError, match=r"unusual form|no host name"):
            parse_url(f"https://{form}/")


@pytest.mark.parametrize("text", ["8.8.8.8", "1.1.1.1", "172.32.0.1", "100.128.0.1", "192.0.1.1"])
@pytest.mark.parametrize("carrier", ["{}", "::ffff:{}", "64:ff9b::{}", "::{}"])
def test_public_ipv4_is_allowed_but_not_inside_ipv6(text: str, carrier: str) -> None:
    address = ipaddress.ip_address(carrier.format(text))
    assert bool(forbidden_kind(address)) == (carrier != "{}")


@pytest.mark.parametrize("text", ["2606:4700::1111", "2a00:1450::1", "2001:4860::8888", "2400::1"])
def test_public_ipv6_is_allowed(text: str) -> None:
    assert forbidden_kind(ipaddress.ip_address(text)) == ""


def test_an_allowed_network_is_an_exception_and_nothing_else_is() -> None:
    allowed = networks(*LOOPBACK, *PRIVATE)
    for text in ("127.0.0.1", "::1", "10.1.2.3", "172.31.0.1", "192.168.1.1", "fd00::2"):
        assert forbidden_kind(ipaddress.ip_address(text), allowed) == ""
    for text in ("169.254.169.254", "100.64.0.1", "::ffff:127.0.0.1", "64:ff9b::7f00:1", "fe80::1"):
        assert forbidden_kind(ipaddress.ip_address(text), allowed)


@pytest.mark.parametrize("prefix", ["64:ff9b::", "::ffff:"])
def test_an_allowed_carrier_is_judged_by_what_it_carries(prefix: str) -> None:
    allowed = networks("64:ff9b::/96", "::ffff:0:0/96")
    assert forbidden_kind(ipaddress.ip_address(f"{prefix}8.8.8.8"), allowed) == ""
    assert forbidden_kind(ipaddress.ip_address(f"{prefix}127.0.0.1"), allowed) == "loopback"
    both = [*allowed, *networks("127.0.0.0/8")]
    assert forbidden_kind(ipaddress.ip_address(f"{prefix}127.0.0.1"), both) == ""


@given(NEARLY | st.text())
def test_a_url_is_refused_or_read_as_others_read_it(text: str) -> None:
    url = outcome(lambda: parse_url(text))
    if isinstance(url, InputError):
        assert url.code == "url-invalid"
        assert str(url).isprintable()
        return
    assert parse_url(str(url)) == url
    assert str(url).isascii()
    other = urlsplit(text)
    assert (other.scheme, other.username, other.password) == (url.scheme, None, None)
    host = other.hostname or ""
    assert url.host == (str(ipaddress.ip_address(host)) if ":" in host else host)
    assert url.port == (other.port or {"http": 80, "https": 443}[url.scheme])
    assert url.target == (other.path or "/") + ("?" + other.query if "?" in str(url) else "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://good.example", Url("https", "good.example", 443, "/")),
        ("HTTPS://Good.Example:443?x=1#frag", Url("https", "good.example", 443, "/?x=1")),
        (
            "http://good.example:8080/a//b/../c?x#y",
            Url("http", "good.example", 8080, "/a//b/../c?x"),
        ),
        ("https://[2606:4700:0::1111]:8443/", Url("https", "2606:4700::1111", 8443, "/")),
        ("https://my_indexer:1/?f[a]=%26|", Url("https", "my_indexer", 1, "/?f[a]=%26|")),
        ("http://8.8.8.8/", Url("http", "8.8.8.8", 80, "/")),
    ],
)
def test_good_urls(text: str, expected: Url) -> None:
    assert parse_url(text) == expected


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("https://good.example:0/", "port is not between"),
        ("https://good.example:65536/", "port is not between"),
        ("https://good.example:99999/", "port is not between"),
        ("https://good.example:/", "host or port"),
        ("https://good.example:123456/", "host or port"),
        ("https://user@good.example/", "names a user"),
        ("https://:@good.example/", "names a user"),
        ("https://good.example./", "no host name"),
        ("https://good_.-x.example/", "no host name"),
        ("https://0x7f.1/", "unusual form"),
        ("https://[::g]/", "host or port"),
        ("https://[1.2.3.4]/", "no IPv6 address"),
        ("ftp://good.example/", "no http or https URL"),
        ("https://good.example/a b", "spaces"),
    ],
)
def test_bad_urls_and_why(text: str, why: str) -> None:
    with pytest.raises(InputError, match=why) as refused:
        parse_url(text)
    assert refused.value.code == "url-invalid"
    assert refused.value.errors[0].hint


def test_origin_and_what_is_shown() -> None:
    url = parse_url("https://[2606:4700::1111]:8443/path?secret=1")
    assert url.authority == "[2606:4700::1111]:8443"
    assert url.origin == "https://[2606:4700::1111]:8443"
    assert url.shown == "https://[2606:4700::1111]:8443/path"
    assert str(url) == "https://[2606:4700::1111]:8443/path?secret=1"
    assert len(parse_url("https://good.example/" + "x" * 5000).shown) < 200


def test_long_urls_are_refused() -> None:
    longest = "https://good.example/".ljust(MAX_URL_LENGTH, "x")
    assert str(parse_url(longest)) == longest
    with pytest.raises(InputError, match="longer than 8192"):
        parse_url(longest + "x")
    with pytest.raises(InputError, match="no host name"):
        parse_url(f"https://{'.'.join(['a' * 60] * 5)}/")
    with pytest.raises(InputError, match="no host name"):
        parse_url(f"https://{'a' * 64}/")


@pytest.mark.parametrize(
    ("reference", "expected"),
    [
        ("/x?y", "https://good.example/x?y"),
        ("x", "https://good.example/a/x"),
        ("../x", "https://good.example/x"),
        ("?page=2", "https://good.example/a/b?page=2"),
        ("#top", "https://good.example/a/b?c=d"),
        ("//other.example/x", "https://other.example/x"),
        ("//good.example:444/", "https://good.example:444/"),
        ("http://good.example/", "http://good.example/"),
        ("HTTPS://GOOD.example/z", "https://good.example/z"),
        ("127.0.0.1/", "https://good.example/a/127.0.0.1/"),
        ("../../../x", "https://good.example/x"),
        ("/a[b", "https://good.example/a[b"),
    ],
)
def test_references_are_joined(reference: str, expected: str) -> None:
    assert str(join_url(BASE, reference)) == expected


@pytest.mark.parametrize(
    "reference",
    ["", " /x", "/x y", "/\\evil.example", "\\\\evil.example/", "//", "///x", "https:x", "mailto:a",
     "//u@good.example/", "/\u00e9", "\t//evil.example/", "x:y"],
)  # fmt: skip
def test_other_references_are_refused(reference: str) -> None:
    with pytest.raises(InputError) as refused:
        join_url(BASE, reference)
    assert refused.value.code == "url-invalid"


def test_a_path_with_two_slashes_is_no_host() -> None:
    base = parse_url("https://good.example//[x/y")
    assert str(join_url(base, "/z")) == "https://good.example/z"
    assert join_url(base, "z").origin == base.origin
    assert str(join_url(base, "?z")) == "https://good.example//[x/y?z"


@pytest.mark.parametrize("path", ["../", "..", "../../", "./..", "//..", "a/../../"])
@pytest.mark.parametrize("reference", [".evil.example", "0", ":1@evil.example", "..", "?x", "-"])
def test_a_relative_reference_never_changes_the_host(path: str, reference: str) -> None:
    url = outcome(lambda: join_url(parse_url(f"https://good.example/{path}"), reference))
    assert isinstance(url, Url)
    assert url.origin == "https://good.example"


@given(
    NEARLY | st.text(st.sampled_from("/.?#[]:@\\a")), st.text(st.sampled_from("/.[]?a"), max_size=9)
)
def test_a_joined_url_is_one_that_can_be_read(reference: str, path: str) -> None:
    base = parse_url(f"https://good.example/{path}")
    url = outcome(lambda: join_url(base, reference))
    if isinstance(url, InputError):
        assert url.code == "url-invalid"
    else:
        assert parse_url(str(url)) == url
        if not reference.startswith("//") and "://" not in reference:
            assert url.origin == base.origin


TEXT = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.dictionaries(TEXT.filter(bool), TEXT.filter(bool)), TEXT.filter(bool))
def test_what_is_quoted_is_read_again_and_leads_nowhere_else(
    members: dict[str, str], step: str
) -> None:
    url = f"https://good.example/{quoted(step)}?{query_of(members)}"
    parts = urlsplit(url)
    assert dict(parse_qsl(parts.query)) == members
    assert unquote(parts.path) == f"/{step}"
    assert parts.path.count("/") == 1
    if len(url) <= MAX_URL_LENGTH:
        assert str(parse_url(url)).rstrip("?") == url.rstrip("?")

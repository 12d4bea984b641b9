"""Owner proofs: the trap list D5, where the spec says nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from refold.trials.proofs import read_proof
from refold.trials.sites import SITES, Site
from refold.trials.targets import WrongUrlError, read_target
from trials.examples import PROOF, TRIAL, altered, codes

GITHUB = "https://github.com/owner/repo"
RAW = "https://raw.githubusercontent.com/owner/repo"
WELL_KNOWN = "/.well-known/lockzone-trials"


def told(target: str, proof: str) -> str:
    """Give the code of what is wrong with a proof, "" if nothing is."""
    try:
        read_proof(proof, read_target(target))
    except WrongUrlError as wrong:
        return wrong.code
    return ""


@pytest.mark.parametrize(
    ("target", "proof"),
    [
        ("https://shop.io/start", PROOF),
        ("https://shop.io:443/", "HTTPS://SHOP.IO./.well-known/lockzone-trials"),
        ("https://shop.io:8443/", f"https://shop.io:8443{WELL_KNOWN}"),
        ("https://faß.de/", f"https://xn--fa-hia.de{WELL_KNOWN}"),
        ("https://8.8.8.8/", f"https://8.8.8.8{WELL_KNOWN}"),
        # sites of one owner each under a shared suffix are origins of their own
        ("https://owner.github.io/repo", f"https://owner.github.io{WELL_KNOWN}"),
    ],
)
def test_the_proof_is_on_the_targets_origin(target: str, proof: str) -> None:
    read = read_proof(proof, read_target(target))
    assert read.url == read.file
    assert not read.plaintext


def test_an_http_target_has_an_http_proof_which_is_marked() -> None:
    target = read_target("http://shop.io/")
    assert read_proof(f"http://shop.io{WELL_KNOWN}", target).plaintext
    assert told("http://shop.io/", PROOF) == "proof_origin"


@pytest.mark.parametrize(
    ("code", "proof"),
    [
        ("proof_origin", f"https://www.shop.io{WELL_KNOWN}"),
        ("proof_origin", f"https://x.io{WELL_KNOWN}"),
        ("proof_origin", f"http://shop.io{WELL_KNOWN}"),
        ("proof_origin", f"https://shop.io:8443{WELL_KNOWN}"),
        ("proof_origin", f"{GITHUB}/blob/HEAD/proof"),
        ("proof_path", "https://shop.io/"),
        ("proof_path", f"https://shop.io{WELL_KNOWN}/"),
        ("proof_path", f"https://shop.io{WELL_KNOWN}.txt"),
        ("proof_path", "https://shop.io/.well-known/Lockzone-trials"),
        ("proof_path", "https://shop.io/.well-known/lockzone%2Dtrials"),
        ("proof_path", "https://shop.io/x/../.well-known/lockzone-trials"),
        ("proof_path", f"https://shop.io/{WELL_KNOWN}"),
        ("url_query", f"{PROOF}?"),
        ("url_query", f"{PROOF}?x=1"),
        ("url_fragment", f"{PROOF}#key"),
        ("url_user", f"https://me@shop.io{WELL_KNOWN}"),
        ("host_private", f"https://10.0.0.1{WELL_KNOWN}"),
    ],
)
def test_proofs_that_are_none(code: str, proof: str) -> None:
    assert told("https://shop.io/start", proof) == code


FILES = [
    (GITHUB, f"{GITHUB}/blob/HEAD/lockzone-trials", f"{RAW}/HEAD/lockzone-trials"),
    (GITHUB, f"{GITHUB}/blob/main/a/b%20c", f"{RAW}/main/a/b%20c"),
    (GITHUB, f"{GITHUB}/raw/v2.x/x", f"{RAW}/v2.x/x"),
    (GITHUB, f"{RAW}/HEAD/x", f"{RAW}/HEAD/x"),
    (f"{GITHUB}/issues/5", f"{GITHUB}/blob/HEAD/x", f"{RAW}/HEAD/x"),
    (GITHUB, "https://github.com/OWNER/Repo/blob/HEAD/x", f"{RAW}/HEAD/x"),
    (GITHUB, "https://github.com/owner/x/../repo/blob/HEAD/x", f"{RAW}/HEAD/x"),
    (GITHUB, "https://github.com/owner/%72epo/blob/HEAD/x", f"{RAW}/HEAD/x"),
    (f"{GITHUB}.git", f"{GITHUB}/blob/HEAD/x", f"{RAW}/HEAD/x"),
    (
        "https://gitlab.com/group/sub/proj",
        "https://gitlab.com/group/sub/proj/-/blob/main/x",
        "https://gitlab.com/group/sub/proj/-/raw/main/x",
    ),
    (
        "https://codeberg.org/o/r",
        "https://codeberg.org/o/r/src/branch/main/x",
        "https://codeberg.org/o/r/raw/branch/main/x",
    ),
    (
        "https://bitbucket.org/o/r",
        "https://bitbucket.org/o/r/src/HEAD/x",
        "https://bitbucket.org/o/r/raw/HEAD/x",
    ),
    (
        "https://huggingface.co/o/r",
        "https://huggingface.co/o/r/resolve/main/x",
        "https://huggingface.co/o/r/raw/main/x",
    ),
    (
        "https://huggingface.co/spaces/o/r",
        "https://huggingface.co/spaces/o/r/blob/main/x",
        "https://huggingface.co/spaces/o/r/raw/main/x",
    ),
]


@pytest.mark.parametrize(("target", "proof", "file"), FILES)
def test_on_shared_hosts_the_proof_is_a_file_of_the_repository(
    target: str, proof: str, file: str
) -> None:
    assert str(read_proof(proof, read_target(target)).file) == file
    assert told(target, file) == ""


@pytest.mark.parametrize("site", SITES, ids=lambda site: site.host)
def test_every_page_of_every_site_leads_to_its_raw_form(site: Site) -> None:
    repository = f"https://{site.host}/o/r"
    target = read_target(repository)
    pages = [f"{repository}/{'/'.join(words)}/main/a/b" for words in site.pages]
    assert len({read_proof(page, target).file for page in pages}) == 1
    assert told(repository, f"https://{site.host}{WELL_KNOWN}") == "proof_repository"


@pytest.mark.parametrize(
    ("code", "proof"),
    [
        ("proof_repository", "https://github.com/owner/repo-evil/blob/HEAD/x"),
        ("proof_repository", "https://github.com/owner/repo/../x/blob/HEAD/x"),
        ("proof_repository", "https://github.com/owner/repo/%2e%2e/x/blob/HEAD/x"),
        ("proof_repository", "https://github.com/owner/rep/blob/HEAD/x"),
        ("proof_repository", "https://github.com/evil/repo/blob/HEAD/x"),
        ("proof_repository", "https://raw.githubusercontent.com/evil/repo/HEAD/x"),
        ("proof_repository", f"https://github.com{WELL_KNOWN}"),
        ("proof_origin", f"https://owner.github.io{WELL_KNOWN}"),
        ("proof_origin", "https://gist.github.com/owner/repo/raw/HEAD/x"),
        ("proof_origin", "https://gitlab.com/owner/repo/-/blob/HEAD/x"),
        ("proof_origin", "http://github.com/owner/repo/blob/HEAD/x"),
        ("proof_origin", "https://github.com:8443/owner/repo/blob/HEAD/x"),
        ("proof_origin", "https://github.com.evil.io/owner/repo/blob/HEAD/x"),
        ("proof_file", f"{GITHUB}{WELL_KNOWN}"),
        ("proof_file", f"{GITHUB}/wiki/Proof"),
        ("proof_file", f"{GITHUB}/issues/5"),
        ("proof_file", f"{GITHUB}/releases/download/v1/x"),
        ("proof_file", f"{GITHUB}/discussions/1"),
        ("proof_file", f"{GITHUB}/commit/main/x"),
        ("proof_file", f"{GITHUB}/tree/HEAD/x"),
        ("proof_file", f"{GITHUB}/blob/HEAD"),
        ("proof_file", f"{GITHUB}/blob/HEAD/"),
        ("proof_file", f"{GITHUB}/Blob/HEAD/x"),
        ("proof_file", GITHUB),
        ("proof_file", f"{RAW}/HEAD"),
        ("proof_ref", f"{GITHUB}/blob/{'a1' * 20}/x"),
        ("proof_ref", f"{GITHUB}/blob/{'A1' * 20}/x"),
        ("proof_ref", f"{GITHUB}/blob/abc1234/x"),
        ("proof_ref", f"{GITHUB}/blob/v1.0-3-gabc1234/x"),
        ("proof_ref", f"{GITHUB}/blob/refs/heads/main/x"),
        ("proof_ref", f"{GITHUB}/blob/refs/pull/7/head/x"),
        ("proof_ref", f"{GITHUB}/blob/pull/7/head/x"),
        ("proof_ref", f"{GITHUB}/blob/HEAD%5E/x"),
        ("proof_ref", f"{GITHUB}/blob/main@%7B1%7D/x"),
        ("proof_ref", f"{GITHUB}/blob/FETCH_HEAD/x"),
        ("proof_ref", f"{RAW}/refs/heads/main/x"),
        ("proof_ref", f"{RAW}/{'b2' * 20}/x"),
        ("url_form", f"{GITHUB}/blob//HEAD/x"),
        ("url_form", f"{GITHUB}/blob/refs%2fpull%2f7%2fhead/x"),
        ("url_form", f"{GITHUB}/blob/HEAD/%252e%252e/x"),
        ("url_query", f"{GITHUB}/blob/HEAD/x?raw=1"),
    ],
)
def test_files_that_prove_nothing(code: str, proof: str) -> None:
    assert told(GITHUB, proof) == code


@pytest.mark.parametrize(
    ("target", "proof"),
    [
        ("https://huggingface.co/o/r", "https://huggingface.co/O/r/raw/main/x"),
        ("https://huggingface.co/o/r", "https://huggingface.co/datasets/o/r/raw/main/x"),
        ("https://gitlab.com/group/sub", "https://gitlab.com/group/sub/proj/-/raw/main/x"),
        ("https://gitlab.com/group/sub/proj", "https://gitlab.com/group/sub/-/raw/main/x"),
    ],
)
def test_a_repository_is_compared_whole(target: str, proof: str) -> None:
    assert told(target, proof) == "proof_repository"


@pytest.mark.parametrize(
    "proof",
    [
        "https://codeberg.org/o/r/src/commit/main/x",
        "https://codeberg.org/o/r/raw/main/x",
        "https://codeberg.org/o/r/src/tag/main/x",
    ],
)
def test_forms_that_may_be_commits_are_no_file_forms(proof: str) -> None:
    assert told("https://codeberg.org/o/r", proof) == "proof_file"


@given(
    st.lists(
        st.sampled_from(
            ["owner", "repo", "..", ".", "%2e%2e", "evil", "blob", "raw", "HEAD", "refs", "x", ""]
        ),
        max_size=9,
    )
)
def test_a_path_that_proves_stays_in_the_repository(steps: list[str]) -> None:
    try:
        proof = read_proof(f"https://github.com/{'/'.join(steps)}", read_target(GITHUB))
    except WrongUrlError:
        return
    assert proof.file.origin == "https://raw.githubusercontent.com"
    assert proof.file.target.startswith("/owner/repo/")
    assert "refs" not in proof.file.target.split("/")[3]
    assert ".." not in proof.file.target


def test_target_and_proof_are_told_of_together() -> None:
    text = altered(TRIAL, target="https://10.0.0.1/", owner_proof="https://shop.io/#x")
    assert codes(text) == ["host_private", "url_fragment"]

"""The layout of the package: which part may import which, and what keeps the engine pure.

The arrows are those of CONTRIBUTING.md: kernel, db, metaid, serving, then the three protocols side
by side, then web and cli; each imports only what stands before it.
"""

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import refold.agentpedia
from cli.terminal import environment

SRC = Path(__file__).parents[1] / "src"
FILES = sorted(SRC.glob("refold/**/*.py"))
MAX_LINES = 400

LAYERS = (
    {"kernel"},
    {"db"},
    {"metaid"},
    {"serving"},
    {"agentpedia", "coverage", "trials"},
    {"web"},
    {"cli"},
)
"""Each imports only from the layers before it."""
RANK = {package: rank for rank, layer in enumerate(LAYERS) for package in layer}

EDGE = {
    "agentpedia": {"store", "indexer", "queries", "api", "pages", "demo", "facts", "sources"},
    "coverage": {"store", "indexer", "jobs", "api", "pages", "transport"},
    "trials": {"store", "log", "exchange", "api", "pages", "demo", "recorder"},
}
"""Modules of a protocol that may touch the world; the others are pure, and import none of these."""
WORLD = {
    *("asyncio", "datetime", "http", "io", "logging", "multiprocessing", "os", "pathlib"),
    *("random", "secrets", "select", "shutil", "signal", "socket", "sqlite3", "ssl", "subprocess"),
    *("tempfile", "threading", "time", "urllib", "uuid"),
    *("httpx", "httpx2", "sqlalchemy", "structlog"),
    *("refold.db", "refold.serving", "refold.kernel.fetch", "refold.metaid.man"),
    *("refold.metaid.metafile", "refold.metaid.store", "refold.metaid.sync"),
    *("refold.metaid.fileserver", "refold.metaid.rawtx"),
    *("refold.metaid.devnet",),
}
"""Clock, chance, files, processes and network."""
WORLDLY_CALLS = {"__import__", "breakpoint", "eval", "exec", "hash", "id", "input", "open", "print"}
"""Built-ins that read or write something, or whose answer differs from process to process."""


def module_of(path: Path) -> str:
    """Give the dotted name of a source file."""
    return ".".join(path.relative_to(SRC).with_suffix("").parts).removesuffix(".__init__")


def imports_of(source: str) -> Iterator[str]:
    """Give the dotted name of everything a module imports, wherever the import stands."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield from (f"{'.' * node.level}{node.module}.{alias.name}" for alias in node.names)


def is_within(name: str, package: str) -> bool:
    return name == package or name.startswith(package + ".")


def against_the_arrows(module: str, source: str) -> list[str]:
    """Give the imports of a module that point the wrong way."""
    own = module.split(".")[1:2]
    found = []
    for name in imports_of(source):
        if name.startswith("."):
            found.append(name)
        parts = name.split(".")
        if parts[0] != "refold" or len(parts) < 2 or parts[1:2] == own:
            continue
        if own and parts[1] in RANK and RANK[own[0]] <= RANK[parts[1]]:
            found.append(name)
    return found


def impurities(module: str, source: str) -> list[str]:
    """Give what a module of a protocol takes from the world; one at the edge may take anything."""
    _, protocol, *rest = module.split(".")
    edge = {f"refold.{protocol}.{name}" for name in EDGE[protocol]}
    if rest and rest[0] in EDGE[protocol]:
        return []
    found = [name for name in imports_of(source) for root in WORLD | edge if is_within(name, root)]
    calls = (node.func for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    called = (function.id for function in calls if isinstance(function, ast.Name))
    return found + [f"{name}()" for name in called if name in WORLDLY_CALLS]


def file_id(path: Path) -> str:
    return module_of(path).removeprefix("refold.")


every_file = pytest.mark.parametrize("path", FILES, ids=file_id)


def test_every_package_has_its_layer() -> None:
    packages = {path.parent.name for path in SRC.glob("refold/*/__init__.py")}
    assert packages - set(RANK) == set()
    protocols = packages & {"agentpedia", "coverage", "trials"}
    assert protocols - set(EDGE) == set()


@every_file
def test_imports_point_one_way(path: Path) -> None:
    assert against_the_arrows(module_of(path), path.read_text()) == []


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("refold.kernel.canon", "import refold.metaid.pin"),
        ("refold.metaid.pin", "from refold.agentpedia import Event"),
        ("refold.agentpedia.fold", "from refold.coverage import record"),
        ("refold.agentpedia.fold", "def f():\n    from refold import cli"),
        ("refold.web.app", "import refold.cli"),
        ("refold.kernel.canon", "from .errors import InputError"),
    ],
)
def test_an_import_the_wrong_way_is_seen(module: str, source: str) -> None:
    assert len(against_the_arrows(module, source)) == 1


@pytest.mark.parametrize(
    ("module", "source"),
    [
        ("refold.cli.main", "import refold\nfrom refold import __version__"),
        ("refold.cli.main", "from refold.web import app"),
        ("refold.agentpedia.intake", "from refold.metaid.pin import Pin\nimport msgspec"),
        ("refold.agentpedia.fold", "from refold.agentpedia import rules"),
    ],
)
def test_an_import_the_right_way_passes(module: str, source: str) -> None:
    assert against_the_arrows(module, source) == []


@pytest.mark.parametrize(
    "path",
    [
        p
        for p in FILES
        if module_of(p).split(".")[1:2] in (["agentpedia"], ["coverage"], ["trials"])
    ],
    ids=file_id,
)
def test_the_engine_takes_nothing_from_the_world(path: Path) -> None:
    assert impurities(module_of(path), path.read_text()) == []


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "from datetime import datetime",
        "import os.path",
        "from refold.kernel import fetch",
        "from refold.agentpedia.store import Store",
        "from refold.agentpedia import demo",
        "def f():\n    from random import Random",
        "def f(name):\n    return open(name)",
        "key = hash('x')",
    ],
)
def test_what_comes_from_the_world_is_seen(source: str) -> None:
    assert len(impurities("refold.agentpedia.fold", source)) == 1
    assert impurities("refold.agentpedia.store", source) == []


@every_file
def test_every_module_says_what_it_is_and_is_short(path: Path) -> None:
    source = path.read_text()
    assert ast.get_docstring(ast.parse(source))
    assert len(source.splitlines()) <= MAX_LINES


@every_file
def test_no_condition_rests_on_assert(path: Path) -> None:
    """Python run with -O leaves assert out, so it can't guard against what input may do."""
    asserts = [n.lineno for n in ast.walk(ast.parse(path.read_text())) if isinstance(n, ast.Assert)]
    assert asserts == []


def isort_style(name: str) -> tuple[int, str]:
    """Order constants, then classes, then the rest."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2, name)


@every_file
def test_public_names_are_sorted_and_there(path: Path) -> None:
    if "__all__" in {
        node.id for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.Name)
    }:
        module = importlib.import_module(module_of(path))
        assert module.__all__ == sorted(set(module.__all__), key=isort_style)
        assert [name for name in module.__all__ if not hasattr(module, name)] == []


def test_the_engine_exports_all_that_it_gathers() -> None:
    gathered = imports_of((SRC / "refold/agentpedia/__init__.py").read_text())
    assert {name.rpartition(".")[2] for name in gathered} == set(refold.agentpedia.__all__)


def loaded_by(*arguments: str) -> set[str]:
    """Give the top-level modules that a call of the command line has imported at its end."""
    code = "import sys; from refold.cli.main import run; run(sys.argv[1:]);"
    code += "print(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=environment(),
    )
    return {name.partition(".")[0] for name in done.stderr.split()}


def test_help_starts_without_the_heavy_libraries() -> None:
    """Start-up stays under 0.2 s only as long as commands import what they need themselves."""
    loaded = loaded_by("--help")
    assert "click" in loaded
    assert loaded & {"rich", "jsonschema_rs", "nacl"} == set()


def test_the_help_of_receipts_starts_without_client_and_database() -> None:
    loaded = loaded_by("coverage", "--help")
    assert "msgspec" in loaded
    assert loaded & {"httpcore2", "socketserver", "sqlalchemy", "rich", "stamina"} == set()


def test_a_digest_is_printed_without_the_library_for_tables() -> None:
    example = SRC.parent / "docs/examples/edit-war.json"
    loaded = loaded_by("agentpedia", "replay", str(example), "--view", "digest")
    assert "jsonschema_rs" in loaded
    assert "rich" not in loaded

"""The wheel that users install: built, put into a clean environment, and used from elsewhere."""

import json
import subprocess
import sys
import sysconfig
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest

from cli.terminal import environment
from refold.agentpedia import replay

ROOT = Path(__file__).parents[1]
VECTORS = ROOT / "tests/vectors/agentpedia/replay-vectors.v1.json"
EXAMPLE = ROOT / "docs/examples/edit-war.json"
MINUTES = 180
"""Seconds for one step of building or installing; each takes some three."""


@dataclass(frozen=True)
class Installed:
    """A wheel, the environment it is installed in, and a folder that knows nothing of it."""

    wheel: Path
    venv: Path
    elsewhere: Path

    def run(self, program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [self.venv / "bin" / program, *arguments],
            cwd=self.elsewhere,
            env=environment(),
            capture_output=True,
            text=True,
            timeout=MINUTES,
            check=False,
        )


def python(*arguments: str | Path, cwd: Path) -> None:
    """Run this interpreter; its output is shown when it fails."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=cwd,
        env=environment(),
        capture_output=True,
        text=True,
        timeout=MINUTES,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    """Build the wheel and install it, all without a package index."""
    folder = tmp_path_factory.mktemp("wheel")
    python("-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT, cwd=folder)
    (wheel,) = folder.glob("refold-*.whl")
    venv = folder / "venv"
    python("-m", "venv", "--without-pip", venv, cwd=folder)
    (packages,) = venv.glob("lib/python*/site-packages")
    # The dependencies are those of this environment. A path named in a .pth file is searched, but
    # .pth files in it are not read, so the source tree that is installed here stays out of sight.
    (packages / "dependencies.pth").write_text(sysconfig.get_path("purelib"))
    pip = ("-m", "pip", "--python", venv / "bin/python", "install", "--quiet")
    python(*pip, "--no-deps", "--no-index", "--disable-pip-version-check", wheel, cwd=folder)
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    return Installed(wheel, venv, elsewhere)


def test_the_package_in_use_is_the_installed_one(installed: Installed) -> None:
    done = installed.run("python", "-c", "import refold; print(refold.__file__)")
    assert Path(done.stdout.strip()).is_relative_to(installed.venv)


def test_the_installed_command_passes_the_vectors(installed: Installed) -> None:
    done = installed.run("refold", "agentpedia", "vectors", str(VECTORS))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "25/25 pipeline, 12/12 supplementary"


def test_the_installed_command_checks_payloads_against_its_schemas(installed: Installed) -> None:
    done = installed.run("refold", "agentpedia", "replay", str(EXAMPLE), "--view", "full")
    view = json.loads(done.stdout)
    reasons = {grave["reason"] for grave in view["grave"].values()}
    assert (done.returncode, done.stderr) == (0, "")
    assert "schema-invalid" in reasons
    assert view["digest"] == replay(EXAMPLE.read_bytes()).digest()


def test_the_wheel_holds_all_data_files_the_licence_and_nothing_else(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as wheel:
        names = {name for name in wheel.namelist() if not name.endswith("/")}
        (licence,) = (name for name in names if name.endswith("/licenses/LICENSE"))
        assert wheel.read(licence) == (ROOT / "LICENSE").read_bytes()
    source = ROOT / "src"
    packaged = {
        path.relative_to(source).as_posix()
        for path in source.glob("refold/**/*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if ".dist-info/" not in name} == packaged

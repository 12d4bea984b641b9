"""Whether a server does what its document says: schemathesis, as anybody would run it."""

import subprocess
import sys
from pathlib import Path

from cli.terminal import environment


def assert_conforms(url: str, folder: Path, *options: str, config: str = "") -> None:
    """Run it over the document of a server, with a folder for its files; it must find nothing.

    `config` is its settings file, `options` bound what it does.
    """
    settings = folder / "schemathesis.toml"
    settings.write_text(config)
    done = subprocess.run(
        [
            str(Path(sys.executable).with_name("schemathesis")),
            *("--config-file", str(settings)),
            *("run", f"{url}/openapi.json", "--seed", "1", *options),
        ],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6_000:] + done.stderr

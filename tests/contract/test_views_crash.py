"""A writer of the view dies at any moment: pins may be ahead of the view, the view never of them.

The rule is in docs/decisions/0007; random kills and cut logs are `test_crash`'s, as the database
treats all tables alike.
"""

import subprocess
import sys
from pathlib import Path

from cli.terminal import MINUTE, environment
from contract import view_crashing


def test_dying_before_each_statement_and_each_commit(database_url: str) -> None:
    done = subprocess.run(
        [sys.executable, str(Path(view_crashing.__file__)), database_url],
        env=environment(),
        capture_output=True,
        text=True,
        timeout=5 * MINUTE,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    deaths = int(done.stdout.split()[-1])
    assert deaths > 30
    assert view_crashing.check(database_url) == (view_crashing.LAST, view_crashing.LAST)

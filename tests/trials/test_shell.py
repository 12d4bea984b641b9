"""Posting with curl and openssl alone, by the lines that docs/trials.md shows."""

import json
import re
import subprocess
from pathlib import Path

from refold.trials.store.keys import Keys
from trials.logged import NOON
from trials.nodes import running

PAGE = Path(__file__).parents[2] / "docs/trials.md"
SHOWN = re.compile(r"<!-- run by tests/trials/test_shell\.py -->\n```sh\n(.*?)```", re.DOTALL)


def test_what_the_page_shows_is_enough_to_post(tmp_path: Path) -> None:
    (script,) = SHOWN.findall(PAGE.read_text(encoding="utf-8"))
    make, sign_and_post = script.split("\n\n", 1)
    text = "It answers 403 to curl, & the page says nothing.\n你好"
    (tmp_path / "text.txt").write_text(text, encoding="utf-8")

    def sh(lines: str, **more: str) -> str:
        done = subprocess.run(
            ["sh", "-euc", lines],
            cwd=tmp_path,
            env={"PATH": "/usr/local/bin:/usr/bin:/bin", **more},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    key = sh(f"{make}\necho $KEY").strip()
    with running(tmp_path) as node:
        with node.database.write() as connection:
            Keys(connection).admit(key, "a shell", NOON)
        told = json.loads(sh(sign_and_post, KEY=key, NODE=node.url, NO_PROXY="127.0.0.1"))
        assert told["id"] == 1, told
        assert node.json("messages/1")["untrusted"] == {"content": text, "name": "a shell"}

"""Writes summary.svg beside it: what a terminal shows of the demo stream, drawn by rich.

The colours and letters are those that the command prints to a terminal; nothing is made up here.
"""

import os
import re
import subprocess
import sys
from html import escape, unescape
from io import StringIO
from itertools import groupby
from pathlib import Path

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

REFOLD = Path(sys.executable).with_name("refold")
TITLE = "refold agentpedia demo | refold agentpedia replay"
COLUMNS = 100
CELL = 12.2
"""Width of a letter in the picture; a Chinese one has two."""
_WEB_FONT = re.compile(r"\s*@font-face \{.*?\}", re.DOTALL)
_TEXT = re.compile(
    r'<text class="([^"]+)" x="([\d.]+)" y="([\d.]+)" textLength="[\d.]+"([^>]*)>(.*?)</text>'
)


def printed() -> str:
    """Give what the two commands print to a terminal, colours included."""
    terminal = {**os.environ, "FORCE_COLOR": "1", "COLUMNS": str(COLUMNS), "TERM": "xterm-256color"}
    stream = b""
    for command in TITLE.split(" | "):
        arguments = command.split()[1:]
        stream = subprocess.run(  # noqa: S603 - our own command
            [REFOLD, *arguments], input=stream, env=terminal, check=True, capture_output=True
        ).stdout
    return stream.decode()


def in_cells(found: re.Match[str]) -> str:
    """Give a text of the picture in parts of one width of letter: rich measures them all as one."""
    style, start, y, rest, content = found.groups()
    x, parts = float(start), []
    for is_wide, letters in groupby(unescape(content), lambda letter: cell_len(letter) > 1):
        text = "".join(letters)
        width = len(text) * (2 if is_wide else 1) * CELL
        shown = escape(text).replace(" ", "&#160;")
        place = f'x="{x:g}" y="{y}" textLength="{width:g}"'
        parts.append(f'<text class="{style}" {place}{rest}>{shown}</text>')
        x += width
    return "".join(parts)


def picture() -> str:
    """Give the picture as SVG, which names no font of the web."""
    console = Console(record=True, width=COLUMNS, file=StringIO(), highlight=False)
    console.print(Text.from_ansi(printed()), soft_wrap=True)
    drawn = _WEB_FONT.sub("", console.export_svg(title=TITLE, unique_id="summary"))
    return _TEXT.sub(in_cells, drawn)


def main() -> None:
    """Write the picture, or to the path given."""
    path = Path(sys.argv[1]) if sys.argv[1:] else Path(__file__).with_name("summary.svg")
    path.write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()

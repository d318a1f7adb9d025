"""Renew `pictures/`: run the code of pages, keep the pictures they show. `python docs/renew_pictures.py [PAGE …]`."""

import os
import re
import shlex
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from typer.testing import CliRunner

from onesided.cli.app import app
from onesided.plots.dark_figures import for_dark_pages

HERE = Path(__file__).resolve().parent
BLOCK = re.compile(r"^```(python|sh|toml)(?: title=\"([^\"]*)\")?\n(.*?)^```", re.DOTALL | re.MULTILINE)
SHOWN = re.compile(r"\((?:\.\./)*pictures/([\w-]+\.svg)\)")


def main(pages: list[str]) -> None:
    """Run the pages named, or all that show pictures of this folder."""
    for page in map(Path.resolve, map(Path, pages)) if pages else sorted(HERE.rglob("*.md")):
        names = SHOWN.findall(page.read_text(encoding="utf-8"))
        if names:
            with TemporaryDirectory() as folder:
                os.chdir(folder)
                _run(page.read_text(encoding="utf-8"))
                for name in filter(os.path.exists, names):
                    drawn = for_dark_pages(Path(name).read_text(encoding="utf-8"))
                    (HERE / "pictures" / name).write_text(drawn, encoding="utf-8")
                os.chdir(HERE)


def _run(text: str) -> None:
    """The blocks of a page, in order."""
    names: dict[str, Any] = {}
    for language, title, block in BLOCK.findall(text):
        if language == "python":
            exec(compile(block, "page", "exec"), names)  # noqa: S102 - our own documentation
        elif language == "toml" and title:
            with Path(title.lstrip("+")).open("a" if title.startswith("+") else "w", encoding="utf-8") as file:
                file.write(block)
        elif language == "sh":
            for line in block.splitlines():
                if line.startswith("onesided "):
                    CliRunner().invoke(app, shlex.split(line, comments=True)[1:])


if __name__ == "__main__":
    main(sys.argv[1:])

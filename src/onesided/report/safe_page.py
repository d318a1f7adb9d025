"""The one template of all pages, and what makes them safe to open: escaped texts, digests of what may run."""

import base64
import hashlib
import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

NO_MODEL = "The model was stated in Python; no file lies with the result."


@dataclass(frozen=True)
class Page:
    """One self-contained file without network.

    Attributes
    ----------
    title, summary : plain texts;  body : HTML whose texts are escaped.
    scripts : names of our scripts, in order;  data : what they read.
    facts : pairs of plain texts on how it was computed;  model : text of the model file, if there is one; where there
        are no facts nothing is said of either.
    inline : whether pictures in the body bring styles of their own.
    """

    title: str
    summary: str
    body: str
    scripts: tuple[str, ...]
    data: Any = None
    facts: Iterable[tuple[str, str]] = ()
    model: str = ""
    inline: bool = False

    def text(self) -> str:
        """The page as text; only our own script may run."""
        script, style = _script(self.scripts), asset("style.css")
        fields = {
            "title": escape(self.title),
            "summary": escape(self.summary),
            "body": self.body,
            "about": self._about(),
            "data": safe_json(self.data),
            "script": script,
            "style": style,
            "script_policy": f"'{source_hash(script)}'",
            "style_policy": "'unsafe-inline'" if self.inline else f"'{source_hash(style)}'",
        }
        return Template(asset("shell.html")).substitute(fields)

    def _about(self) -> str:
        rows = "".join(
            f'<tr><th scope="row">{escape(key)}</th><td>{escape(value)}</td></tr>' for key, value in self.facts
        )
        fields = {"model": escape(self.model or NO_MODEL), "facts": rows}
        return body("about.html", fields) if rows else ""


def body(name: str, fields: dict[str, str]) -> str:
    """What stands between head and model of a kind of page; the fields are HTML."""
    return Template(asset(name)).substitute(fields)


@cache
def asset(name: str) -> str:
    """A file of the viewer."""
    return (files(__package__) / "viewer" / name).read_text(encoding="utf-8")


def _script(names: tuple[str, ...]) -> str:
    """Our scripts as one, whose names nothing else sees."""
    return "(() => {\n" + "".join(asset(name) for name in names) + "})();\n"


def safe_json(data: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    plain = json.dumps(data, ensure_ascii=True, allow_nan=False, separators=(",", ":"))
    return plain.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def source_hash(text: str) -> str:
    """The digest by which a page names the script or style that may be used."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode("ascii")

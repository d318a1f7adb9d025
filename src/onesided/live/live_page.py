"""The page itself: one text with its style and script inside, which loads nothing."""

from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template

from onesided.report.page import SCRIPTS
from onesided.report.safe_page import asset, source_hash

_LAST = "3_sketch.js"  # of the report's scripts those up to this one draw, and know nothing of its page
_TAKEN = "Chart, Drawing, D, M, columns, codes, degree, states, colour, equation, eventsAt, stability"
_OWN = ("1_wire.js", "2_stage.js", "3_controls.js", "4_editor.js", "5_start.js")


@dataclass(frozen=True)
class LivePage:
    """A page as text, with what its script and style may do.

    Attributes
    ----------
    html : the whole text;  policy : header that states what it may load.
    """

    html: str
    policy: str

    def headers(self) -> dict[str, str]:
        """Headers that keep the page, and the token in its address, to itself."""
        return {
            "Content-Security-Policy": self.policy,
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Permissions-Policy": "camera=(), microphone=(), geolocation=()",
        }


@cache
def live_page() -> LivePage:
    """The page; everything in it is ours, models come later and as data."""
    script, style = _script(), _style()
    text = Template(_text("live.html")).substitute(style=style, script=script, attributes="", head="")
    return LivePage(text, f"{_policy(script, style)}; connect-src 'self'; frame-ancestors 'none'")


@cache
def framed_page() -> str:
    """The page for the frame of a notebook: it connects to nothing, messages are handed in."""
    script, style = _script(), _style()
    head = f'<meta http-equiv="Content-Security-Policy" content="{_policy(script, style)}">'
    return Template(_text("live.html")).substitute(style=style, script=script, attributes=' data-bridge="1"', head=head)


def _policy(script: str, style: str) -> str:
    allowed = f"script-src '{source_hash(script)}'; style-src '{source_hash(style)}'"
    return f"default-src 'none'; {allowed}; base-uri 'none'; form-action 'none'"


def _script() -> str:
    """The drawings of the report, bound to new data by each call of `drawn`, and our own parts."""
    shared = SCRIPTS[: SCRIPTS.index(_LAST) + 1]
    parts = "".join(asset(name) for name in shared)
    drawn = f"function drawn() {{\n{parts}return {{ {_TAKEN} }};\n}}\n"
    own = "".join(_text(name) for name in _OWN)
    return f'(() => {{\n"use strict";\n{drawn}{own}}})();\n'


def _style() -> str:
    """Colours and forms of the report, then our own."""
    return asset("style.css") + _text("live.css")


def _text(name: str) -> str:
    return (files(__package__) / "page" / name).read_text(encoding="utf-8")

"""SVG figures with a second set of colours for dark pages, in the same file."""

import re
from collections.abc import Mapping

from onesided.plots.palette import INK, night

_COLOUR = re.compile(r"(?:fill|stroke): (#[0-9a-fA-F]{6})")
_MARK = "onesided-night"


def for_dark_pages(svg: str) -> str:
    """The figure, with colours of its own where the page that shows it is dark (its CSS says `color-scheme: dark`).

    Lines, texts and areas change to the palette for dark paper; pictures inside the figure stay as they are.
    """
    if _MARK in svg or "<svg" not in svg:
        return svg
    rules = _rules({colour: night(colour) for colour in _changed(svg)})
    style = f'<style id="{_MARK}">@media (prefers-color-scheme: dark) {{ {rules} }}</style>'
    head = svg.index(">", svg.index("<svg")) + 1
    return f"{svg[:head]}\n {style}{svg[head:]}"


def for_switched_pages(html: str) -> str:
    """Figures inside a page of ours, whose reader may have chosen between light and dark.

    Markers are copies in a tree of their own, which rules below the root do not reach; variables do.
    """
    found = _changed(html)
    names = {colour: f"--night-{colour[1:]}" for colour in found}
    dark = " ".join(f"{names[colour]}: {night(colour)};" for colour in found)
    switch = f':root[data-theme="dark"] {{ {dark} }} '
    switch += f'@media (prefers-color-scheme: dark) {{ :root:not([data-theme="light"]) {{ {dark} }} }}'
    rules = _rules({colour: f"var({name}, {colour})" for colour, name in names.items()})
    return f'<style id="{_MARK}">{switch} {rules}</style>{html}'


def _changed(text: str) -> list[str]:
    """Colours in a text that have another one for the night, and that of words."""
    return sorted(colour for colour in {INK, *_COLOUR.findall(text)} if night(colour) != colour)


def _rules(shown: Mapping[str, str]) -> str:
    """Rules of a style sheet that give each colour its counterpart on dark pages."""
    rules = [f"svg {{ fill: {shown[INK]} }}"]
    for colour, other in shown.items():
        rules += [f'[style*="{kind}: {colour}"] {{ {kind}: {other} !important }}' for kind in ("fill", "stroke")]
    return " ".join(rules)

"""SVG figures with a second set of colours for dark pages, in the same file."""

import re

from onesided.plots.palette import INK, night

_COLOUR = re.compile(r"(?:fill|stroke): (#[0-9a-fA-F]{6})")
_MARK = "onesided-night"


def for_dark_pages(svg: str) -> str:
    """The figure, with colours of its own where the page that shows it is dark (its CSS says `color-scheme: dark`).

    Lines, texts and areas change to the palette for dark paper; pictures inside the figure stay as they are.
    """
    if _MARK in svg or "<svg" not in svg:
        return svg
    found = sorted({colour for colour in _COLOUR.findall(svg) if night(colour) != colour})
    rules = [f"svg {{ fill: {night(INK)} }}"]
    for colour in found:
        rules += [
            f'[style*="{kind}: {colour}"] {{ {kind}: {night(colour)} !important }}' for kind in ("fill", "stroke")
        ]
    style = f'<style id="{_MARK}">@media (prefers-color-scheme: dark) {{ {" ".join(rules)} }}</style>'
    head = svg.index(">", svg.index("<svg")) + 1
    return f"{svg[:head]}\n {style}{svg[head:]}"

"""A page of derivatives or curves of events: a picture and a table, nothing that runs."""

from html import escape
from pathlib import Path as FilePath

from onesided.base.atomic import whole_file
from onesided.report.tables import followed_html, sensitivity_html
from onesided.results import Followed, Sensitivity, StabilityMap

_PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="generator" content="onesided">
<meta name="viewport" content="width=device-width"><title>{title}</title>
<style>body{{font-family:sans-serif;max-width:60em;margin:2em auto;padding:0 1em}}
td,th{{padding:0 1em 0 0;text-align:left}}</style>
</head><body>{body}</body></html>
"""


def write_design(found: Sensitivity | Followed | StabilityMap, file: str | FilePath) -> FilePath:
    """Write the page of what moves an event, or of where events go, whole or not at all."""
    target = FilePath(file)
    body = sensitivity_html(found) if isinstance(found, Sensitivity) else followed_html(found)
    with whole_file(target) as draft:
        draft.write_text(
            _PAGE.format(title=escape(repr(found).splitlines()[0].strip("<>")), body=body), encoding="utf-8"
        )
    return target

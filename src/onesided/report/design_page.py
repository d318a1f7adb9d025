"""A page of derivatives or curves of events: a picture and a table, nothing that runs but the switch of colours."""

from pathlib import Path as FilePath

from onesided.base.atomic import whole_file
from onesided.report.safe_page import Page
from onesided.report.tables import followed_html, sensitivity_html
from onesided.results import Followed, Sensitivity, StabilityMap


def write_design(found: Sensitivity | Followed | StabilityMap, file: str | FilePath) -> FilePath:
    """Write the page of what moves an event, or of where events go, whole or not at all."""
    target = FilePath(file)
    inside = sensitivity_html(found) if isinstance(found, Sensitivity) else followed_html(found)
    title = repr(found).splitlines()[0].strip("<>")
    page = Page(title, "", f"<section>{inside}</section>", ("0_base.js", "still.js"), inline=True)
    with whole_file(target) as draft:
        draft.write_text(page.text(), encoding="utf-8")
    return target

"""A page of derivatives or curves of events: a picture and a table, nothing that runs but the switch of colours."""

from onesided.plots.dark_figures import for_switched_pages
from onesided.report.page import html
from onesided.report.safe_page import Page
from onesided.report.tables import followed_html, sensitivity_html
from onesided.results import Followed, Sensitivity, StabilityMap


@html.register(Sensitivity)
@html.register(Followed)
@html.register(StabilityMap)
def _(result: Sensitivity | Followed | StabilityMap, *, model: str = "") -> str:
    """What moves an event, or where events go."""
    inside = sensitivity_html(result) if isinstance(result, Sensitivity) else followed_html(result, 1)
    title = repr(result).splitlines()[0].strip("<>")
    return Page(
        title, "", f"<section>{for_switched_pages(inside)}</section>", ("0_base.js", "still.js"), inline=True
    ).text()

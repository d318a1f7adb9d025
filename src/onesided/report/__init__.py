"""One self-contained interactive page from a result; knows results and plots, nothing of solvers."""

from onesided.report import cable_page as _cables  # noqa: F401 - its story
from onesided.report import motion_page as _motion  # noqa: F401 - its story
from onesided.report.display import Viewer as Viewer
from onesided.report.display import modes_svg as modes_svg
from onesided.report.display import result_html as result_html
from onesided.report.display import shape_svg as shape_svg
from onesided.report.page import html as html
from onesided.report.page import summary as summary
from onesided.report.page import write as write

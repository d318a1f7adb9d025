"""One self-contained interactive page from a result; knows results and plots, nothing of solvers."""

from onesided.report import before_after_page as _designs  # noqa: F401 - its story
from onesided.report import cable_page as _cables  # noqa: F401 - its story
from onesided.report import design_page as _traits  # noqa: F401 - their pages
from onesided.report import motion_page as _motion  # noqa: F401 - its story
from onesided.report import state_page as _states  # noqa: F401 - its story
from onesided.report.display import Viewer as Viewer
from onesided.report.display import result_html as result_html
from onesided.report.model_text import title_of as title_of
from onesided.report.page import html as html
from onesided.report.page import summary as summary
from onesided.report.page import write as write
from onesided.report.systems import model_html as model_html
from onesided.report.systems import system_html as system_html
from onesided.report.systems import task_html as task_html
from onesided.report.tables import bold as bold
from onesided.report.tables import equilibrium_html as equilibrium_html
from onesided.report.tables import event_html as event_html
from onesided.report.tables import followed_html as followed_html
from onesided.report.tables import listed_html as listed_html
from onesided.report.tables import modes_html as modes_html
from onesided.report.tables import motion_event_html as motion_event_html
from onesided.report.tables import rays_html as rays_html
from onesided.report.tables import sensitivity_html as sensitivity_html
from onesided.report.tables import solution_html as solution_html

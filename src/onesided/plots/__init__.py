"""Pictures of results: the only package that knows matplotlib, and nothing of solvers."""

from onesided.plots.along import energy as energy
from onesided.plots.along import gaps as gaps
from onesided.plots.along import reactions as reactions
from onesided.plots.before_after import before_after as before_after
from onesided.plots.branches import diagram as diagram
from onesided.plots.cable_plots import cable_history as cable_history
from onesided.plots.configuration import sketch as sketch
from onesided.plots.control import coupled as coupled
from onesided.plots.control import inputs as inputs
from onesided.plots.control import joint_forces as joint_forces
from onesided.plots.event_curves_plot import event_curve as event_curve
from onesided.plots.figures import View as View
from onesided.plots.figures import write as write
from onesided.plots.films import animate as animate
from onesided.plots.influence_bars import influence as influence
from onesided.plots.motion_plots import drift as drift
from onesided.plots.motion_plots import forces as forces
from onesided.plots.motion_plots import history as history
from onesided.plots.motion_plots import raster as raster
from onesided.plots.side_by_side import mode_shapes as mode_shapes
from onesided.plots.side_by_side import shapes as shapes
from onesided.plots.state_graph_plot import transitions as transitions
from onesided.plots.study_plots import bands as bands
from onesided.plots.study_plots import loci as loci
from onesided.plots.study_plots import response as response
from onesided.plots.study_plots import study_map as study_map

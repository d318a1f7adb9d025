"""What it takes to write a path method of one's own: see "Write your own path method" in the documentation."""

from onesided.statics.curves.curve import Curve as Curve
from onesided.statics.curves.curve import CurvePoint as CurvePoint
from onesided.statics.tracing.path_method import Origin as Origin
from onesided.statics.tracing.path_method import PathItem as PathItem
from onesided.statics.tracing.path_method import PathMethod as PathMethod
from onesided.statics.tracing.path_method import PathRun as PathRun
from onesided.statics.tracing.path_method import PathStepper as PathStepper
from onesided.statics.tracing.path_method import items_of as items_of
from onesided.statics.tracing.trace import Tracer as Tracer

"""The first thing to happen on a step: conditions that change are located in turn until nothing else is sooner."""

from collections.abc import Mapping
from dataclasses import replace

from onesided.statics.curves.curve import CurvePoint
from onesided.statics.curves.spectrum import negative_modes
from onesided.statics.tracing.hits import Hit, PathWatch, Trigger, find_hits, locate
from onesided.statics.tracing.path_method import PathStepper

SOONER = 20  # events before the one that was found, one after the other


class EventFinder:
    """Looks at steps from where a stepper is; `sides` are the signs of user functions that are zero there."""

    def __init__(self, stepper: PathStepper, watch: PathWatch) -> None:
        self.stepper, self.watch = stepper, watch

    def hits(self, b: CurvePoint, sides: Mapping[str, float]) -> list[Hit]:
        """What happens on the way to b; a singular point that was located is among it, whatever the signs say."""
        a, known = self.stepper.point, self.stepper.located
        hits = find_hits(self.stepper.curve, a, b, self.watch, sides)
        if known is not None and known.trigger is Trigger.singular:
            others = [hit for hit in hits if hit.trigger not in {Trigger.singular, Trigger.limit}]
            fraction = (known.point.s - a.s) / (b.s - a.s)
            hits = sorted([*others, Hit(Trigger.singular, fraction)], key=lambda hit: hit.fraction)
        return hits

    def earliest(self, b: CurvePoint, hits: list[Hit], sides: Mapping[str, float]) -> tuple[Hit, CurvePoint | None]:
        """Locate the first event of the step: nothing else may happen before it."""
        curve, a = self.stepper.curve, self.stepper.point
        found: tuple[Hit, CurvePoint | None] = hits[0], None
        known, self.stepper.located = self.stepper.located, None
        for hit in hits:
            if known is not None and hit.trigger is known.trigger:
                c: CurvePoint | None = known.point
                curve.system.keep(known.point.x, known.e)
            elif hit.name in sides:  # it changes its sign at a, or once more close to it, which a short step tells
                c = replace(a) if user_value(self.watch, curve.n, hit.name, a) == 0.0 else None
            else:
                c = locate(curve, a, b, hit, self.watch)
            if c is not None:
                found = hit, c
                break
        for _ in range(SOONER):
            sooner = None if found[1] is None else self._sooner(found[0], found[1], sides)
            if sooner is None:
                break
            found = sooner
        return found

    def _sooner(self, hit: Hit, c: CurvePoint, sides: Mapping[str, float]) -> tuple[Hit, CurvePoint | None] | None:
        """An event before the one at c. Smooth events count only where c is none itself: they are close as it is.

        A singular point that was clearly passed but not located comes without a point: it asks for shorter steps.
        """
        curve, a, smooth = self.stepper.curve, self.stepper.point, {Trigger.limit, Trigger.singular}
        if c.s - a.s <= self.watch.tolerances.minimum_step:
            return None
        for other in find_hits(curve, a, c, self.watch, sides):
            same = (other.trigger, other.row, other.name) == (hit.trigger, hit.row, hit.name)
            if not same and not smooth >= {other.trigger, hit.trigger}:
                found = locate(curve, a, c, other, self.watch)
                if found is not None and float((found.y - c.y) @ c.t) < 0:
                    return other, found
                if found is None and other.trigger is Trigger.singular and self._clearly_passed(c):
                    return other, None
        return None

    def _clearly_passed(self, c: CurvePoint) -> bool:
        """Whether the number of negative modes at c differs from that before by more than rounding can do."""
        curve = self.stepper.curve
        return 0 <= self.stepper.point.negative != negative_modes(curve.measured_at(c.x), c.x, self.watch.tolerances)


def user_value(watch: PathWatch, n: int, name: str, point: CurvePoint) -> float:
    """Value of a user function at a point of a system with n coordinates."""
    return watch.user[name](point.x[:n], float(point.x[n]))

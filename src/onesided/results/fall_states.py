"""States on the way of a jump: what pictures play between the state that is lost and the one that is reached."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onesided.base.tolerances import HALF_DIGITS
from onesided.base.types import Array, Mask
from onesided.results.named import Columns
from onesided.results.path import Path

CLOSED = HALF_DIGITS  # share of the largest gap on the way below which a contact is drawn closed
MOTIONS = {"damped": "overdamped motion, not in real time", "descent": "states of falling energy, not in real time"}


@dataclass(frozen=True, eq=False)
class FallStates:
    """Admissible states at constant p, each lower in energy than the one before; none but the ends is an equilibrium.

    Attributes
    ----------
    q : (K, n), from the lost state to the one that is reached;  energy : (K,);  gaps : (K, m), none negative.
    measures : name → (K,), those that need no reactions.
    motion : "damped" where the overdamped motion was integrated with error control, else "descent".
    """

    q: Array
    energy: Array
    gaps: Array
    measures: Mapping[str, Array] = field(default_factory=dict)
    motion: str = "descent"

    def __len__(self) -> int:
        return len(self.q)

    @property
    def words(self) -> str:
        """Caption: an overdamped motion, or states of falling energy."""
        return MOTIONS[self.motion]

    @property
    def closed(self) -> Mask:
        """(K, m) whether each contact is closed."""
        return np.asarray(self.gaps <= CLOSED * np.max(np.abs(self.gaps), axis=0, initial=0.0))

    def thinned(self, most: int) -> "FallStates":
        """At most so many of the states, both ends among them."""
        if len(self) <= most:
            return self
        at = np.unique(np.linspace(0, len(self) - 1, most).round().astype(int))
        measures = {name: values[at] for name, values in self.measures.items()}
        return FallStates(self.q[at], self.energy[at], self.gaps[at], measures, self.motion)

    def columns(self, path: Path) -> dict[str, Array]:
        """Name → (K,) as of the path that ends in the jump; what is not known on the way is NaN."""
        unknown = np.full(len(self), np.nan)
        found = Columns({"arc length": np.full(len(self), path.s[-1])})
        found.put("control", path.control, np.full(len(self), path.p[-1]))
        for name, values in zip(path.coordinates, self.q.T, strict=True):
            found.put("coordinate", name, values)
        for name in (*(f"multiplier {one}" for one in path.bilateral), *(f"reaction {one}" for one in path.unilateral)):
            found.put("coordinate", name, unknown)
        for name, values in zip(path.unilateral, self.gaps.T, strict=True):
            found.put("coordinate", f"gap {name}", values)
        found.put("total", "energy", self.energy)
        for name in path.measures:
            found.put("measure", name, self.measures.get(name, unknown))
        return found


def fall_record(fall: FallStates | None) -> dict[str, Any] | None:
    """Words of a fall for JSON."""
    return None if fall is None else {"motion": fall.motion, "measures": list(fall.measures)}


def fall_arrays(fall: FallStates, number: int) -> dict[str, Array]:
    """Arrays of the fall of a jump, by the number of the jump."""
    measures = np.array(list(fall.measures.values())).reshape(-1, len(fall))
    found = {"q": fall.q, "energy": fall.energy, "gaps": fall.gaps, "measures": measures}
    return {f"fall {number} {name}": values for name, values in found.items()}


def read_fall(record: Mapping[str, Any] | None, arrays: Mapping[str, Any], number: int) -> FallStates | None:
    """A fall from its words and arrays; results of earlier versions have none."""
    if record is None:
        return None
    q, energy, gaps, measures = (arrays[f"fall {number} {name}"] for name in ("q", "energy", "gaps", "measures"))
    if not len(q) == len(energy) == len(gaps) == measures.shape[1]:
        raise ValueError(f"arrays of fall {number} differ in length")
    named = dict(zip((str(name) for name in record["measures"]), measures, strict=True))
    return FallStates(q, energy, gaps, named, "damped" if record["motion"] == "damped" else "descent")

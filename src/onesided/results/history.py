"""A quasi-static loading history: smooth paths and the jumps between them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onesided.base.types import Array, Status
from onesided.base.views import views
from onesided.results.fall_states import FallStates
from onesided.results.member_series import Members, joined_members
from onesided.results.named_series import NamedSeries
from onesided.results.numbering import Happenings, numbered
from onesided.results.path import Event, Kind, Path, format_number
from onesided.results.wording import line_by_line


@dataclass(frozen=True, eq=False, repr=False)
class Jump:
    """A loss of stability at constant p: from one stable state to the next.

    Attributes
    ----------
    p : where;  reason : kind of the event that set it off.
    q_from, q_to : configurations before and after;  energy : released, U(before) − U(after) ≥ 0.
    note : what else is to be said: that the landing is sensitive, or not the only one.
    fall : states on the way, for pictures, where the system can be drawn.
    """

    control: str
    p: float
    reason: Kind
    q_from: Array
    q_to: Array
    energy: float
    note: str = ""
    fall: FallStates | None = None

    def words(self) -> str:
        """One sentence for an engineer."""
        return (
            f"jump at {self.control} = {format_number(self.p)} ({self.reason.value}): "
            f"energy {format_number(self.energy)} released" + (f"; {self.note}" if self.note else "")
        )

    def __repr__(self) -> str:
        return f"<Jump: {self.words().removeprefix('jump ')}>"

    def __str__(self) -> str:
        return self.words()

    def _repr_html_(self) -> str:
        return str(views("report").bold(self.words()))


@dataclass(frozen=True, eq=False, repr=False)
class Drive(NamedSeries):
    """What happens when p follows a programme.

    Attributes
    ----------
    paths : the stable paths, in order;  jumps : the jumps between them, each at the end of a path.
    programme : the values of p asked for;  status, note : how it ended.
    """

    control: str
    programme: tuple[float, ...]
    paths: tuple[Path, ...]
    jumps: tuple[Jump, ...]
    status: Status
    note: str
    provenance: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        line_by_line(self, "paths", "jumps")

    def __repr__(self) -> str:
        return f"<Drive: {len(self.paths)} paths, {len(self.jumps)} jumps, {self.status.name}>"

    @property
    def ok(self) -> bool:
        """Whether the programme was carried out to its end, or as far as a rigid stop lets it (`Status.blocked`)."""
        return self.status.ok

    @property
    def p(self) -> Array:
        """Control parameter over all paths, in order."""
        return np.concatenate([path.p for path in self.paths])

    @property
    def q(self) -> Array:
        """Configurations over all paths, in order."""
        return np.concatenate([path.q for path in self.paths])

    @property
    def members(self) -> Members:
        """Forces, lengths and reactions of the parts of a structure over all paths, in order, computed when read."""
        return joined_members([path.members for path in self.paths])

    @property
    def energy(self) -> Array:
        """Energy over all paths, in order."""
        return np.concatenate([path.energy for path in self.paths])

    def jump_places(self) -> list[tuple[int, Jump]]:
        """Each jump with the index of the path it ends, where another path follows."""
        return [(i, jump) for i, jump in self._ends() if i < len(self.paths) - 1]

    def _ends(self) -> list[tuple[int, Jump]]:
        """Each jump with the index of the path it ends: of several that end there in a row, the last."""
        found, waiting = [], list(self.jumps)
        for i, path in enumerate(self.paths):
            stays = i + 1 < len(self.paths) and _stands(self.paths[i + 1], 0, path.q[-1], path.p[-1])
            if waiting and not stays and _stands(path, -1, waiting[0].q_from, waiting[0].p):
                found.append((i, waiting.pop(0)))
        return found

    @property
    def numbered(self) -> Happenings:
        """Events and jumps together, in the order in which they happened, from 1; bounds have no number."""
        return numbered(self._happenings())

    def _happenings(self) -> Iterator[tuple[int, int, Event | Jump]]:
        jumps = dict(self._ends())
        for i, path in enumerate(self.paths):
            yield from ((i, event.index, event) for event in path.events if event.kind is not Kind.bound)
            if i in jumps:
                yield i, len(path) - 1, jumps[i]

    @property
    def dissipated(self) -> float:
        """Energy lost in all jumps; over a closed loop it equals the work put in by the control.

        The energy of models that remember includes the plastic work, which comes on top.
        """
        return float(sum(jump.energy for jump in self.jumps))

    @property
    def work(self) -> float:
        """Work ∫ U_p dp that the machine which moves p puts in, over all paths; positive where it puts energy in.

        On a path of equilibria all of it goes into the energy, dU = U_p dp. Where p is a displacement, U_p is the
        force that the machine needs; where p is a dead load of energy −p u, U_p = −u, and what is counted is
        −∫ u dp, not the work ∫ p du of the load on the structure. Jumps happen at constant p: no work, `dissipated`.
        """
        return float(sum(path.energy[-1] - path.energy[0] for path in self.paths))

    def _repr_html_(self) -> str:
        return str(views("report").result_html(self))

    def plot(self, x: str | None = None, y: str | None = None, *, ax: Any = None, title: str = "") -> Any:
        """Draw the history; see `onesided.plots.diagram`. Returns matplotlib axes."""
        return views("plots").diagram(self, x=x, y=y, ax=ax, title=title)


def _stands(path: Path, index: int, q: Array, p: float) -> bool:
    """Whether a point of a path is exactly this one."""
    return bool(path.p[index] == p and np.array_equal(path.q[index], q))

"""The logic of a live page without the page: one system with memory, moved by its handle and its parameters."""

from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from onesided.base.errors import OnesidedError, SolveError, UsageError
from onesided.base.names import nearest
from onesided.base.tolerances import HALF_DIGITS
from onesided.base.types import Array, Mask, Status
from onesided.live.live_model import LiveModel
from onesided.live.stop_flag import CancelledError, StopFlag
from onesided.live.stretches import KnownStretches, Landmark, Position, Stretch, stretches
from onesided.report.stories import story
from onesided.results import Drive, Equilibrium, Path
from onesided.results.explain import text
from onesided.results.named import Columns
from onesided.statics.drive import drive
from onesided.statics.equilibria.find_equilibrium import correct, describe, equilibrium
from onesided.statics.paths import trace
from onesided.statics.tracing.memory import remember
from onesided.system.system import System

MOST_TURNS = 400  # of the handle that a saved history holds
MOST_DRAWN = 2000  # numbers of a way that is drawn
MOST_JUMPS = 200  # in one movement of the handle


@dataclass(frozen=True, eq=False)
class Happening:
    """One line of the list of what happened: its number, words, and for a jump the states before and behind it.

    `falling` has the states between them, as `Stretch` has.
    """

    number: int
    passage: Landmark
    before: Position | None = None
    after: Position | None = None
    falling: tuple[Array, Mask] | None = None


@dataclass(frozen=True, eq=False)
class HandleTurn:
    """Where the handle turned: p, the configuration there, and what the system remembered."""

    p: float
    q: Array
    memory: Mapping[str, float]


class LiveSession:
    """One system that stands in a state, is moved, and remembers.

    Parameters
    ----------
    model : what it starts with.
    standing : configuration and p to begin with, relaxed there; by default the model's start.

    Notes
    -----
    While p moves, the system follows stable states and jumps where they end, as `drive` does; a state that is left and
    met again is the same state (hysteresis). When parameters change at constant p the system moves on from the
    configuration that it has: along with its equilibrium while that is there, down to the next stable one where not.
    """

    def __init__(self, model: LiveModel, standing: tuple[Array, float] | None = None, *, stop: StopFlag | None = None):
        self.model = model
        q, p = (model.q, model.p) if standing is None else standing
        low, high = model.bounds
        if not low <= p <= high or np.shape(q) != (model.system.n,) or not np.all(np.isfinite(q)):
            q, p = model.q, model.p
        self.names: tuple[str, ...] = ()
        self.log: list[Happening] = []
        self.way: list[Array | None] = []
        self._found: list[Stretch] = []
        self._known: KnownStretches | None = None
        self._begin(np.asarray(q, dtype=float), float(p), stop or StopFlag())

    def _begin(self, q: Array, p: float, stop: StopFlag) -> None:
        """Stand at (q, p), with nothing known of what lies beside."""
        low, high = self.model.bounds
        first = self.model.direction
        failed: SolveError | None = None
        for sense in (one for one in (first, -first) if (p < high if one > 0 else p > low)):
            try:
                stretch = self._driven(self.model.system, q, p, sense, stop)
            except SolveError as error:
                if stop.late:
                    raise
                failed = failed or error
                continue
            self._stand(q, stretch.at(p), stretch)
            self._found = [stretch]
            return
        self._stay(q, p, "" if failed is None else str(failed))

    def _stay(self, q: Array, p: float, why: str) -> None:
        """Stand at an equilibrium from which nothing stable leads on, and say so."""
        system = self.model.system
        try:
            state = equilibrium(system, q, p).value
        except SolveError as error:
            moving = system.task is not None and system.task.motion is not None
            advice = "this model is about motion: onesided simulate" if moving else "another start"
            raise SolveError(error.what, error.partial, got=error.got, advice=advice) from None
        self.names = self.names or tuple(columns_of(system, state))
        here = self._described(system, state)
        self._stand(state.q, here, _standing(here, state, system))
        self.note = why

    def _stand(self, q: Array, here: Position, stretch: Stretch) -> None:
        """Forget what was known with other parameters."""
        self._system, self.note = self.model.system, ""
        self._turns = deque([HandleTurn(here.p, q, {})], MOST_TURNS)
        self.here, self.stretch = here, stretch
        self._found, self._known = [], None

    @property
    def p(self) -> float:
        """The value of the control parameter."""
        return self.here.p

    @property
    def q(self) -> Array:
        """Configuration shown at the moment, (n,)."""
        return self._configuration(self.here)

    def value(self, name: str) -> float:
        """Value of a column at the point shown."""
        return float(self.here.row[self.names.index(name)])

    def _configuration(self, position: Position) -> Array:
        p, q = self.stretch.points
        at = int(np.argmin(np.abs(p - position.p)))
        own = [self.names.index(c) if c in self.names else -1 for c in self._system.coordinates]
        return np.array([q[at, i] if k < 0 else position.row[k] for i, k in enumerate(own)])

    def change(self, parameters: Mapping[str, float], stop: StopFlag | None = None) -> None:
        """Change parameters at constant p; the system goes on from the configuration that it has."""
        stop, known = stop or StopFlag(), self.model.system.parameters
        for name in parameters:
            if name not in known:
                raise UsageError(f"there is no parameter '{name}'", advice=nearest(name, known))
        before, q = self.model, self.q
        self.model = before.changed({**self._memory(q), **parameters})
        try:
            self._settle(q, self.p, stop)
        except (OnesidedError, CancelledError):
            self.model = before
            raise

    def remembered(self) -> dict[str, float]:
        """Parameters that the system itself sets as it moves: permanent elongations; empty for most systems."""
        return self._memory(self.q) if self._system.history else {}

    def _memory(self, q: Array) -> dict[str, float]:
        """What the system remembers where it stands: permanent elongations."""
        now = remember(self._remembering(), q)
        return {name: now.parameters[name] for name in now.history}

    def _remembering(self) -> System:
        """The system as it remembers on the path that it stands on."""
        if not self._system.history:
            return self._system
        return self._system.replace(parameters=self.stretch.parameters[self.here.part])

    def _settle(self, q: Array, p: float, stop: StopFlag) -> None:
        """Find the state at p below a configuration that need not be an equilibrium any more."""
        system = self.model.system
        found = equilibrium(system, q, p, throw=False)
        if not found.ok and found.status is not Status.dependent:
            raise SolveError(found.status.value, found, got=found.note)
        if found.value.instability:
            self._begin(found.value.q, p, stop)
            return
        here = self._described(system, found.value)
        self._stand(found.value.q, here, _standing(here, found.value, system))

    def _described(self, system: System, state: Equilibrium, part: int = 0) -> Position:
        """An equilibrium as a row of columns."""
        row = columns_of(system, state)
        values = np.array([row.get(name, np.nan) for name in self.names])
        codes = np.array(state.active.codes, dtype=np.int8)
        return Position(state.p, values, codes, state.instability, exact=True, part=part)

    def move(self, targets: Sequence[float], stop: StopFlag | None = None) -> list[Happening]:
        """Bring p to one value after the other; return what happened; `way` has states passed, None at jumps."""
        told, self.way = len(self.log), []
        for target in targets:
            self._go(float(np.clip(target, *self.model.bounds)), stop or StopFlag())
        return self.log[told:]

    def rest(self) -> None:
        """Correct the state that is stood in: what is between points of a path is for pictures, not for numbers."""
        if self.here.exact:
            return
        system, q, p = self._remembering(), self.q, self.p
        sizes = self._sized(q, p).sizes
        near = correct(system, q, p, sizes=sizes)
        state = describe(system, near.q, p, near.nu, sizes=sizes)
        known = self.stretch.points[1]
        least = HALF_DIGITS * float(np.max(sizes.length))  # where q stays as p moves, corrections are round-off
        room = np.max(np.abs(np.diff(known, axis=0)), initial=least)  # it may bulge by a share of a step, not by a step
        if near.status.ok and not state.instability and np.max(np.abs(near.q - q)) <= room:
            members = system.members(near.q[None], np.array([p]), near.nu[None])
            self.here = self._described(system, replace(state, members=members), self.here.part)

    def _go(self, target: float, stop: StopFlag) -> None:
        sense = 1 if target > self.p else -1
        self.note = ""
        for _ in range(MOST_JUMPS):
            if target == self.p:
                break
            self._face(sense, stop)
            begin, stretch = self.p, self.stretch
            reached = target if stretch.covers(target) else stretch.end
            for passage in stretch.passed(begin, reached):
                self._tell(passage)
            self.way += stretch.between(begin, reached, max(MOST_DRAWN // len(self.names), 2))
            self.here = stretch.at(reached)
            if reached == target or not self._jump():
                break
        self._remember_turn(sense)

    def _face(self, sense: int, stop: StopFlag) -> None:
        """Have a stretch in this sense of p under the feet: the present one, one that is known, or a new one."""
        stretch = self.stretch
        if stretch.sense == sense and stretch.covers(self.p) and len(stretch.way) > 1:
            return
        q, p = self.q, self.p
        if self._system.history:
            system = self._system.replace(parameters=self._memory(q))
            self.stretch, self._system = self._driven(system, q, p, sense, stop), system
            return
        known = self._sized(q, p)
        near = correct(self._system, q, p, sizes=known.sizes)
        q = near.q if near.status.ok else q
        self.stretch = known.find(sense, q, p) or self._driven(self._system, q, p, sense, stop)
        known.add(self.stretch)

    def _sized(self, q: Array, p: float) -> KnownStretches:
        """What is known with these parameters; sizes are those of the place where they were first asked for."""
        if self._known is None:
            self._known = KnownStretches(self._system, self._system.sizes(q, p))
            for stretch in self._found:
                self._known.add(stretch)
        return self._known

    def _driven(self, system: System, q: Array, p: float, sense: int, stop: StopFlag) -> Stretch:
        """All that happens from here to the end of the range, computed."""
        low, high = self.model.bounds
        found = drive(system, q, (p, high if sense > 0 else low), progress=stop, throw=False)
        stop.check(found.status)
        if not found.paths:
            raise SolveError(found.status.value, found, got=found.note)
        self.names = self.names or story(found).names
        return stretches(found, sense, self.names)

    def _jump(self) -> bool:
        """Go over the end of the present stretch, if a jump leads on."""
        stretch, before = self.stretch, self.here
        if stretch.jump is None or stretch.landing is None:
            self.note = stretch.stop
            return False
        self.stretch = stretch.landing
        self.here = stretch.landing.at(stretch.jump.p)
        self.way += [None, self.here.row]
        why = text(stretch.jump.reason)
        landmark = Landmark(stretch.jump.p, "jump", stretch.jump.words(), why)
        self.log.append(Happening(len(self.log) + 1, landmark, before, self.here, stretch.falling))
        return True

    def _tell(self, passage: Landmark) -> None:
        self.log.append(Happening(len(self.log) + 1, passage))

    def _remember_turn(self, sense: int) -> None:
        """Keep the last turning points of p since parameters were changed; a history begins at the first of them."""
        turns = self._turns
        if turns[-1].p == self.p:
            return
        if len(turns) > 1 and (turns[-1].p - turns[-2].p) * sense > 0:
            turns.pop()
        turns.append(HandleTurn(self.p, self.q, self.remembered()))

    def paths(self, stop: StopFlag | None = None) -> tuple[Path | Drive, ...]:
        """The equilibrium path through the model's start, both ways; for models that remember, what they did."""
        return self.record().paths(stop or StopFlag())

    def history(self, stop: StopFlag | None = None) -> Drive:
        """What the handle did since parameters were changed last, as a drive; at least to the end of the range."""
        return self.record().history(stop or StopFlag())

    def record(self) -> "Record":
        """What was done so far, as data that does not change: another thread may compute with it."""
        first = self._turns[0]
        model = self.model.changed(first.memory) if first.memory else self.model
        return Record(model, first.q, tuple(turn.p for turn in self._turns))


@dataclass(frozen=True, eq=False)
class Record:
    """A model with the configuration and the values of p that it was brought through."""

    model: LiveModel
    q0: Array
    programme: tuple[float, ...]

    def paths(self, stop: StopFlag) -> tuple[Path | Drive, ...]:
        """The equilibrium path through the model's start, both ways; for models that remember, what they did."""
        if self.model.system.history:
            return (self.history(stop),)
        first = self._traced(self.model.direction, stop)
        low, high = self.model.bounds
        if not low < self.model.p < high:
            return (first,)
        try:
            return first, self._traced(-self.model.direction, stop)
        except OnesidedError:  # nothing leads that way
            return (first,)

    def _traced(self, direction: int, stop: StopFlag) -> Path:
        model = self.model
        found = trace(
            model.system, model.q, model.p, direction=direction, p_bounds=model.bounds, progress=stop, throw=False
        )  # fmt: skip
        stop.check(found.status)
        return found

    def history(self, stop: StopFlag) -> Drive:
        """The drive through all values of p; to the end of the range where there is one value only."""
        low, high = self.model.bounds
        ahead = high if self.programme[0] < high else low
        values = self.programme if len(self.programme) > 1 else (*self.programme, ahead)
        found = drive(self.model.system, self.q0, values, progress=stop, throw=False)
        stop.check(found.status)
        return found


def columns_of(system: System, state: Equilibrium) -> dict[str, float]:
    """What a path would report of one of its points, by the names of its columns."""
    found = Columns({"arc length": np.zeros(1)})
    found.put("control", system.control, np.array([state.p]))
    groups = (
        ("", system.coordinates, state.q),
        ("multiplier ", tuple(system.bilateral), state.mu),
        ("reaction ", tuple(system.unilateral), state.lam),
        ("gap ", tuple(system.unilateral), state.gaps),
    )
    for prefix, names, values in groups:
        for name, value in zip(names, values, strict=True):
            found.put("coordinate", prefix + name, np.array([value]))
    found.put("total", "energy", np.array([state.energy]))
    for name, series in system.measured(state.q[None], np.array([state.p]), state.members).items():
        found.put("measure", name, series)
    return {name: float(values[0]) for name, values in found.items()}


def _standing(here: Position, state: Equilibrium, system: System) -> Stretch:
    """A stretch of one point: nothing is known yet of what lies beside it."""
    points = np.array([state.p]), state.q[None]
    return Stretch(
        1,
        points[0],
        here.row[None],
        here.codes[None],
        (),
        points,
        np.zeros(1, dtype=np.intp),
        (dict(system.parameters),),
    )

"""What a model file says about steering, checked against the system: names of coordinates, velocities, inputs, gaps."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from onesided.files.schema import FileModel
from onesided.files.toml_places import Source
from onesided.formulas.gate import suggestion

if TYPE_CHECKING:
    from onesided.system.system import System


@dataclass(frozen=True, eq=False)
class SteerTask:
    """What a file says about steering: the arguments of `steer`; weights are those of the squares of the inputs."""

    time: tuple[float, float]
    velocities: Mapping[str, float]
    goal: tuple[Mapping[str, float], Mapping[str, float]]
    inputs: Mapping[str, str]
    weights: tuple[float, ...]
    bounds: Mapping[str, tuple[float, float]]
    modes: tuple[tuple[float, tuple[str, ...]], ...]
    intervals: int | None
    accuracy: float | None


def steer_task(file: FileModel, system: "System", source: Source) -> SteerTask | None:
    """The table `[steer]` with all names known; None where there is none."""
    asked = file.steer
    if asked is None:
        return None
    rates = {f"{name}_dot": name for name in system.coordinates}
    ends = (*system.coordinates, *rates)
    _check(source, ("velocities",), asked.velocities, system.coordinates, "a coordinate")
    _check(source, ("goal",), asked.goal, ends, "a coordinate or a velocity")
    for name, pushed in asked.inputs.items():
        _check(source, ("inputs", name), [pushed], system.coordinates, "a coordinate", below=False)
    _check(source, ("weights",), asked.weights, asked.inputs, "an input")
    _check(source, ("bounds",), asked.bounds, (*ends, *asked.inputs), "a coordinate, a velocity or an input")
    for mode in asked.modes:
        _check(source, ("modes",), mode.closed, system.unilateral, "a one-sided constraint", below=False)
    return SteerTask(
        (asked.time[0], asked.time[1]),
        dict(asked.velocities),
        (
            {name: value for name, value in asked.goal.items() if name not in rates},
            {rates[name]: value for name, value in asked.goal.items() if name in rates},
        ),
        dict(asked.inputs),
        tuple(asked.weights.get(name, 1.0) for name in asked.inputs),
        {name: (low, high) for name, (low, high) in asked.bounds.items()},
        tuple((mode.until, tuple(mode.closed)) for mode in asked.modes),
        asked.intervals,
        asked.accuracy,
    )


def _check(
    source: Source, path: tuple[str, ...], names: Iterable[str], known: Iterable[str], what: str, *, below: bool = True
) -> None:
    """Refuse a name that is not known, at its place in the file."""
    for name in names:
        if name not in known:
            place = ("steer", *path, *((name,) if below else ()))
            raise source.error(place, f"`{name}` is not {what}", advice=suggestion(name, known))

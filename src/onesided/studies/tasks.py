"""What a study does with every case: a verb with its arguments, and what is kept of its result."""

import inspect
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from onesided.base.arguments import checked
from onesided.base.errors import OnesidedError, UsageError
from onesided.base.names import nearest, unknown_name
from onesided.design.designing import design
from onesided.dynamics.modes import modes
from onesided.dynamics.simulate import simulate
from onesided.results import Designed, Diagram, Drive, Motion
from onesided.results import Path as EquilibriumPath
from onesided.results.store import write_result
from onesided.results.studied import result_folder
from onesided.results.study_rows import CASE, OWN
from onesided.statics.drive import drive
from onesided.statics.explore import diagram
from onesided.statics.paths import trace
from onesided.statics.tracing.steps import PredictorCorrector
from onesided.studies.fingerprint import fingerprint
from onesided.studies.kept import Row, check_keep, kept
from onesided.system.system import System
from onesided.verbs import solve


def _modes_of(system: System, start: Any = None, p: float | None = None, **more: Any) -> Any:
    """Modes about the equilibrium that is found from the start."""
    found = solve(system, start, p)
    return modes(system, found.value.q, found.value.p, **more)


VERBS: dict[str, Callable[..., Any]] = {
    "trace": trace, "drive": drive, "diagram": diagram, "solve": solve, "simulate": simulate, "modes": _modes_of,
    "design": design,
}  # fmt: skip
CONTROLLED = {"solve": "p", "modes": "p", "simulate": "control"}  # verbs that take one value of the control
KEPT_WHOLE = EquilibriumPath | Drive | Diagram | Motion | Designed
TAKEN = ("system", "problem", "progress", "throw")
LONGEST = 100  # characters of an argument that a folder states as they are
UNWRITTEN = "unwritten"  # status of a case whose result could not be written: it is not done, and the study stops
MANY = 100  # cases from which it pays to compile whole stretches of steps


@checked
@dataclass(frozen=True, eq=False)
class StudyTask:
    """A verb for every case of a study, and what is kept of its result.

    Parameters
    ----------
    system : the system whose parameters are varied; a loaded file will do.
    verb : "trace", "drive", "diagram", "solve", "simulate", "modes" (about the equilibrium that `solve` finds),
        "design" (from the varied parameters as starts), or a function of the system that returns names with numbers.
    arguments : of the verb, by name; what is left out is the file's, as always.
    keep : beside events, loads, status, note and extremes of measures: "max NAME", "min NAME", "first NAME" or
        "last NAME" of any series of the result ("max reaction stop", "last rafter.force").
    results : keep whole results too, in the folder, for `Study.result`.
    """

    system: System
    verb: str | Callable[[System], Mapping[str, float]] = "trace"
    arguments: Mapping[str, Any] = field(default_factory=dict)
    keep: Sequence[str] = ()
    results: bool = False

    def __post_init__(self) -> None:
        check_keep(self.keep)
        if not isinstance(self.verb, str):
            if self.arguments or self.keep or self.results:
                raise UsageError("a function has its arguments and what it returns", expected="nothing beside it")
            return
        if self.verb not in VERBS:
            guess = nearest(self.verb, VERBS)
            raise UsageError(
                "there is no such verb", got=repr(self.verb), expected=", ".join(VERBS),
                advice=f"did you mean '{guess}'?" if guess else "",
            )  # fmt: skip
        self._check_arguments(self.verb)

    def _check_arguments(self, verb: str) -> None:
        known = set(inspect.signature(VERBS[verb]).parameters)
        known |= set(inspect.signature(modes).parameters) - {"q"} if verb == "modes" else set()
        for name in self.arguments:
            if name not in known - {*TAKEN, "more"}:
                expected = ", ".join(sorted(known - {*TAKEN, "more"}))
                raise UsageError(f"`{verb}` of a study has no argument '{name}'", expected=expected)
        if self.keep and verb in {"modes", "design"}:
            raise UsageError(f"`{verb}` has no series", got=f"keep={list(self.keep)}", expected="what is kept anyway")
        if self.results and verb in {"solve", "modes"}:
            raise UsageError(f"results of `{verb}` are not kept as files", expected="results=False, and keep=…")

    @property
    def named(self) -> str:
        """Name of the verb, or of the user's function."""
        return self.verb if isinstance(self.verb, str) else getattr(self.verb, "__qualname__", "a function")

    def check_names(self, names: Sequence[str]) -> None:
        """Refuse to vary what is no parameter, nor the control of a verb that takes one value of it."""
        for name in names:
            if name in OWN:
                raise UsageError(f"'{name}' is a column of every study", expected="a parameter of another name")
            if name in self.system.parameters:
                continue
            if name != self.system.control:
                raise unknown_name("parameter", name, self.system.parameters)
            if self.named not in CONTROLLED:
                raise UsageError(f"`{self.named}` moves {name} itself", expected=f"a parameter, or p with {CONTROLLED}")

    def quick(self, cases: int) -> "StudyTask":
        """The same with steps compiled from the first point on, where many cases make that pay."""
        if self.verb not in {"trace", "drive", "diagram"} or "method" in self.arguments or cases < MANY:
            return self
        return replace(self, arguments={**self.arguments, "method": PredictorCorrector(compile_after=0)})

    def statement(self) -> dict[str, Any]:
        """What the folder of a study says of its task."""
        told = {name: _told(value) for name, value in self.arguments.items()}
        own = "" if isinstance(self.verb, str) else fingerprint(self.verb)
        return {"verb": self.named, "code": own, "arguments": told, "keep": list(self.keep), "results": self.results}

    def result(self, values: Mapping[str, float]) -> Any:
        """The result of the verb for these values."""
        inner = {name: value for name, value in values.items() if name in self.system.parameters}
        system = self.system.replace(parameters=inner)
        if not isinstance(self.verb, str):
            return self.verb(system)
        given = dict(self.arguments)
        if self.system.control in values and self.system.control not in inner:
            given[CONTROLLED[self.verb]] = values[self.system.control]
        quiet = {} if self.verb == "modes" else {"throw": False}
        return VERBS[self.verb](system, **given, **quiet)

    def row(self, number: int, values: Mapping[str, float], folder: Path | None = None) -> Row:
        """The row of one case; whatever goes wrong in it is its row."""
        begun = time.perf_counter()
        try:
            result = self.result(values)
            row = kept(result, self.keep) if isinstance(self.verb, str) else _numbers(result)
            if self.results and folder is not None and isinstance(result, KEPT_WHOLE):
                row |= _written(result, result_folder(folder, number))
        except OnesidedError as error:
            row = {"ok": False, "status": "error", "note": str(error)}
        except Exception as error:  # noqa: BLE001 - a case must not end the study
            row = {"ok": False, "status": "error", "note": f"{type(error).__name__}: {error}"}
        row["seconds"] = time.perf_counter() - begun
        return as_row(number, values, row)


def _written(result: Any, folder: Path) -> Row:
    """Write a whole result; what its row says where that was not possible."""
    try:
        write_result(result, folder.resolve(), {})
    except OSError as error:
        return {"ok": False, "status": UNWRITTEN, "note": str(error.strerror or error)}
    return {}


def as_row(number: int, values: Mapping[str, float], row: Row) -> Row:
    """A row with the number of its case; names that are varied stay those of the values."""
    return {CASE: number, **{f"kept {name}" if name in values else name: one for name, one in row.items()}}


def _told(value: Any) -> str:
    """An argument as text: as it is where it is short and plain."""
    text = repr(value)
    return text if len(text) <= LONGEST and " at 0x" not in text else fingerprint(value)


def _numbers(result: Any) -> Row:
    """What a function of the user returned."""
    if not isinstance(result, Mapping):
        raise UsageError("the function of a study returns names with numbers", got=type(result).__name__)
    for name in OWN.intersection(result):
        raise UsageError(f"'{name}' is a column of every study", expected="another name for what the function returns")
    numbers = {str(name): float(np.asarray(value)) for name, value in result.items()}
    return {"ok": True, "status": "solved", "note": "", **numbers}

"""Structures that are not quite where they were drawn: nodes moved, without stress, by further parameters."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy.linalg import eigh

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.base.names import unknown_name
from onesided.base.types import Array
from onesided.elements.places import AXES, Node
from onesided.formulas.gate import NAME_LENGTH, NAME_PATTERN
from onesided.linalg import null_space
from onesided.structures.structure import Structure
from onesided.studies.sampling import Sample
from onesided.studies.tasks import StudyTask
from onesided.system.defaults import p_of
from onesided.system.system import System
from onesided.system.travel import made_by
from onesided.verbs import solve

COVERED = 0.999  # of the variance of a field that its shapes account for
MOST_SHAPES = 50
DIGITS = 12  # of factors, so that they do not depend on the machine


@checked
def imperfect(
    system: System,
    *,
    shapes: int | None = None,
    correlation: float | None = None,
    nodes: Sequence[str] | None = None,
    p: float | None = None,
) -> System:
    """The structure with parameters that move its nodes before anything is loaded; all of them are 0.

    Parameters
    ----------
    system : a composed structure, or a file of parts. Members get the lengths that fit the moved nodes: an
        imperfection brings no stress.
    shapes : parameters `shape_1`, `shape_2`, … times the shapes of the lowest modes of the stiffness at p, on what is
        closed there; the largest displacement of a shape is 1.
    correlation : parameters `field_1`, `field_2`, … of a random field, whose values at two nodes are correlated by
        exp(−d²/(2 correlation²)); with independent normal values of unit deviation the field has unit deviation.
    nodes : the nodes that may move, by default all. Without `shapes` and `correlation` every free component has a
        parameter of its own, `off_NODE_x` and so on.
    p : where modes are taken, by default where the structure starts.
    """
    structure = system.structure
    if not isinstance(structure, Structure):
        raise UsageError(
            "imperfections are moved nodes", got="a system without parts",
            expected="a composed structure, or a file of parts", advice="vary a parameter of the model instead",
        )  # fmt: skip
    if shapes is not None and correlation is not None:
        raise UsageError("imperfections are shapes of modes or a field", got="both", expected="one of them")
    free = _free(structure, nodes)
    terms = _terms(system, free, shapes, correlation, p)
    return with_terms(system, terms)


def with_terms(system: System, terms: "Terms") -> System:
    """The structure whose nodes are moved by parameters times factors."""
    structure = system.structure
    names = dict.fromkeys(name for term in terms.values() for name in term)
    taken = [name for name in names if name in system.parameters]
    if taken:
        raise UsageError("the structure has imperfections already", got=f"parameter '{taken[0]}'")
    parts = [_moved(part, terms) if isinstance(part, Node) else part for part in structure.parts]
    changed = Structure(parts, {**system.parameters, **dict.fromkeys(names, 0.0)}, system.control)
    changed.stated = structure.stated
    new = changed.system(system.control, system.scales, sparse=bool(system.derivatives.large))
    made_by(new, with_terms, system, terms)
    new._set("task", system.task)
    return new


def _free(structure: Structure, nodes: Sequence[str] | None) -> list[tuple[str, int]]:
    """Nodes and the components of theirs that may be off: those that are not held."""
    known = {name: place for name, place in structure.places.items() if isinstance(place, Node)}
    for name in nodes or ():
        if name not in known:
            raise unknown_name("node", name, known)
    chosen = known if nodes is None else {name: known[name] for name in nodes}
    free = [(name, i) for name, node in chosen.items() for i, slot in enumerate(node.slots) if slot.free]
    if not free:
        raise UsageError("no node can be off its place", got="all are held", expected="a free component of a node")
    return free


Terms = dict[tuple[str, int], dict[str, float]]  # of a component of a node: parameter → factor


def _terms(
    system: System, free: list[tuple[str, int]], shapes: int | None, correlation: float | None, p: float | None
) -> Terms:
    if shapes is not None:
        columns, stem = _mode_shapes(system, free, shapes, p), "shape"
    elif correlation is not None:
        columns, stem = _field(system, free, correlation), "field"
    else:
        return {(name, i): {_own(name, i, number): 1.0} for number, (name, i) in enumerate(free)}
    return {
        key: {f"{stem}_{k + 1}": round(float(value), DIGITS) for k, value in enumerate(row) if round(value, DIGITS)}
        for key, row in zip(free, columns, strict=True)
    }


def _own(node: str, component: int, number: int) -> str:
    """The parameter of one component; nodes whose names do not fit formulas are numbered."""
    name = f"off_{node}_{AXES[component]}"
    return name if re.fullmatch(NAME_PATTERN, name) and len(name) <= NAME_LENGTH else f"off_{number}"


def _mode_shapes(system: System, free: list[tuple[str, int]], count: int, p: float | None) -> Array:
    """Shapes of the lowest modes of the stiffness: (components, count), the largest displacement of each being 1.

    Lowest eigenvectors of Zᵀ L_qq Z, Z a basis of the motions that bilateral and pressed constraints allow.
    """
    if count < 1 or system.derivatives.large:
        raise UsageError(
            "these shapes cannot be had", got=f"shapes={count}", expected="1 or more, with dense matrices",
            advice="correlation=…, or imperfections of single nodes",
        )  # fmt: skip
    state = solve(system, p=p_of(system, p)).value
    blocks = system.evaluate(state.q, state.p, state.nu)
    held = [*range(len(system.bilateral)), *(len(system.bilateral) + state.active.strong)]
    Z = null_space(np.asarray(blocks.c_x)[held, : system.n])
    if Z.shape[1] < count:
        raise UsageError("there are not so many modes", got=f"shapes={count}", expected=f"{Z.shape[1]} at most")
    _, vectors = eigh(Z.T @ np.asarray(blocks.L_qx)[:, : system.n] @ Z, subset_by_index=(0, count - 1))
    number = {name: i for i, name in enumerate(system.coordinates)}
    rows = (Z @ vectors)[[number[f"{name}_{AXES[i]}"] for name, i in free]]
    largest = rows[np.argmax(np.abs(rows), axis=0), np.arange(count)]
    if not np.all(largest):
        raise UsageError("a mode moves none of the nodes", expected="nodes that move in the lowest modes")
    return np.asarray(rows / largest)


def _field(system: System, free: list[tuple[str, int]], correlation: float) -> Array:
    """A Gaussian field by its principal shapes, each with its deviation as size; axes are independent of each other."""
    if not correlation > 0.0:
        raise UsageError("the length of correlation is not usable", got=str(correlation), expected="a positive length")
    start = system.structure.start_of(system.parameters)
    at, axes = np.array([start.position(name) for name, _ in free]), np.array([i for _, i in free])
    columns = []
    for one in np.unique(axes):
        shapes = _principal(at[axes == one] / correlation)
        columns.append(np.zeros((len(free), shapes.shape[1])))
        columns[-1][axes == one] = shapes
    whole = np.hstack(columns)
    if whole.shape[1] > MOST_SHAPES:
        raise UsageError(
            "the field has too many shapes", got=str(whole.shape[1]), expected=f"{MOST_SHAPES} at most",
            advice="a longer correlation, or imperfections of single nodes",
        )  # fmt: skip
    return whole


def _principal(at: Array) -> Array:
    """Principal shapes of a field at some points, of lengths in units of the correlation: S Sᵀ ≈ exp(−d²/2)."""
    distance = np.linalg.norm(at[:, None] - at[None, :], axis=-1)
    values, vectors = eigh(np.exp(-(distance**2) / 2.0))
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]
    needed = int(np.searchsorted(np.cumsum(values) / np.sum(values), COVERED)) + 1
    shapes = vectors[:, :needed] * np.sqrt(values[:needed])
    return np.asarray(shapes / np.linalg.norm(shapes, axis=1, keepdims=True))


def _moved(node: Node, terms: Terms) -> Node:
    """The node with its imperfections added to its place."""
    at = []
    for i, quantity in enumerate(node.at):
        own = terms.get((node.name, i), {})
        added = " + ".join(f"({factor!r})*{name}" for name, factor in own.items())
        plain = str(quantity) if isinstance(quantity, str) else repr(float(quantity))
        at.append(f"({plain}) + {added}" if added else quantity)
    return replace(node, at=tuple(at))


@checked
@dataclass(frozen=True, eq=False)
class Imperfections:
    """Random imperfections of a structure's nodes as the sample of a study, all independent.

    Parameters
    ----------
    count : how many.
    size : standard deviation, or for "uniform" the largest value, in units of length of the model.
    shapes, correlation, nodes, p : as of `imperfect`: modes, a field, or (default) every component by itself.
    kind : "normal" or "uniform".
    seed : stated in the folder.
    """

    count: int
    size: float
    shapes: int | None = None
    correlation: float | None = None
    nodes: Sequence[str] | None = None
    p: float | None = None
    kind: Literal["normal", "uniform"] = "normal"
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0.0 < self.size < np.inf:
            raise UsageError(
                "the size of imperfections is not usable", got=str(self.size), expected="a positive length"
            )

    def applied(self, task: StudyTask) -> tuple[StudyTask, Sample]:
        """The task with an imperfect structure, and its random values."""
        chosen: dict[str, Any] = {
            "shapes": self.shapes,
            "correlation": self.correlation,
            "nodes": self.nodes,
            "p": self.p,
        }
        system = imperfect(task.system, **chosen)
        names = [name for name in system.parameters if name not in task.system.parameters]
        numbers = [0.0, self.size] if self.kind == "normal" else [-self.size, self.size]
        of: Mapping[str, Any] = {name: {self.kind: numbers} for name in names}
        return replace(task, system=system), Sample(self.count, of, self.seed)

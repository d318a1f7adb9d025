"""Linear complementarity systems [QT (1)]."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.complementarity import LCP
from onesided.complementarity.problems import as_array
from onesided.dynamics.switching.looked_at import LookedAt
from onesided.dynamics.switching.signals import Signal, as_signal, generator, generator_matrix


@dataclass(frozen=True, eq=False)
class LinearComplementaritySystem(LookedAt):
    """ẋ = A x + B s + input(t),  w = C x + D s + offset(t),  0 ≤ s ⊥ w ≥ 0 [QT (1), (9)].

    For cables s are the tensions and w = s/k − elongation is the slack.

    Attributes
    ----------
    A, B, C, D : arrays (n, n), (n, m), (m, n), (m, m).
    input, offset : `Signal`, or arrays (n,), (m,) for constants; None for zero.
    states, names : names of the states and of the complementary pairs.
    measures, sketch : what results hold beside states and forces, and how to draw the system.
    labels : what pictures call quantities, with units: {"reaction guy": ("tension of the guy", "N")}.
    """

    A: ArrayLike
    B: ArrayLike
    C: ArrayLike
    D: ArrayLike
    input: Signal | ArrayLike | None = None
    offset: Signal | ArrayLike | None = None
    states: Sequence[str] = ()
    names: Sequence[str] = ()
    frequencies: tuple[float, ...] = field(init=False)
    full: "Augmented" = field(init=False, repr=False)
    uncoupled: bool = field(init=False, repr=False)

    def __post_init__(self) -> None:
        A = as_array(self.A, "A", (None, None))
        D = as_array(self.D, "D", (None, None))
        n, m = len(A), len(D)
        A, D = as_array(A, "A", (n, n)), as_array(D, "D", (m, m))
        B, C = as_array(self.B, "B", (n, m)), as_array(self.C, "C", (m, n))
        if n == 0:
            raise UsageError("the system has no state", expected="A of size 1 or more")
        f, e = as_signal(self.input, "input", n), as_signal(self.offset, "offset", m)
        frequencies = tuple(sorted({*f.frequencies, *e.frequencies}))
        values = {
            "A": A,
            "B": B,
            "C": C,
            "D": D,
            "input": f,
            "offset": e,
            "states": _names(self.states, "states", n, "x"),
            "names": _names(self.names, "names", m, "s"),
            "frequencies": frequencies,
            "uncoupled": bool((np.diag(D.diagonal()) == D).all() and (D.diagonal() > 0).all()),
            "full": augment(A, B, C, f.matrix(frequencies), e.matrix(frequencies), frequencies),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number of states x."""
        return len(self.states)

    @property
    def m(self) -> int:
        """Number of complementary pairs (s, w)."""
        return len(self.names)

    def augmented(self, t: float, x: Array) -> Array:
        """Return z = (x, 1, cos Ωt, sin Ωt, …): with it the system has no input."""
        return np.concatenate([x, generator(t, self.frequencies)])

    def problem(self, t: float, x: Array) -> LCP:
        """The LCP of s at a state: w = D s + (C x + offset(t))."""
        return LCP(np.asarray(self.D), self.full.C @ self.augmented(t, x))

    def rate(self, t: float, x: Array, s: Array) -> Array:
        """The rate ẋ at a state with the forces s."""
        return (self.full.A @ self.augmented(t, x))[: self.n] + np.asarray(self.B) @ s

    def slack(self, t: float, x: Array, s: Array) -> Array:
        """Return the slacks w at a state with the forces s."""
        return self.full.C @ self.augmented(t, x) + np.asarray(self.D) @ s

    def check_state(self, x0: ArrayLike) -> Array:
        """A start as an array."""
        return as_array(x0, "x0", (self.n,))


@dataclass(frozen=True, eq=False)
class Augmented:
    """ż = A z + B s, w = C z + D s: the system together with the generator of its inputs."""

    A: Array
    B: Array
    C: Array
    free: int  # states before the generator


def augment(A: Array, B: Array, C: Array, F: Array, E: Array, frequencies: tuple[float, ...]) -> Augmented:
    """Append the generator of the inputs."""
    n, k = len(A), F.shape[1]
    full = np.block([[A, F], [np.zeros((k, n)), generator_matrix(frequencies)]])
    return Augmented(full, np.vstack([B, np.zeros((k, B.shape[1]))]), np.hstack([C, E]), n)


def _names(names: Sequence[str], label: str, count: int, letter: str) -> tuple[str, ...]:
    given = tuple(names) or tuple(f"{letter}{i + 1}" for i in range(count))
    if len(given) != count or len(set(given)) != count:
        raise UsageError(f"`{label}` do not fit", got=", ".join(given), expected=f"{count} different names")
    return given

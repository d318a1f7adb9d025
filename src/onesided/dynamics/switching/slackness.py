"""Complementarity-slackness systems [QT (10)], and the mechanical ones among them [QT (19)]."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from onesided.base.errors import ModelError, UsageError
from onesided.base.tolerances import SMALL
from onesided.base.types import Array, Mask
from onesided.complementarity.problems import as_array
from onesided.dynamics.switching.looked_at import LookedAt

NEWTON_STEPS = 30

Rate = Callable[[float, Array, Array], ArrayLike]


@dataclass(frozen=True, eq=False)
class SlacknessSystem(LookedAt):
    """ẋ = rate(t, x, s),  y = slack(t, x, s),  0 ≤ s ⊥ y ≥ 0 [QT (10)].

    Every state must determine s: ∂y/∂s a P-matrix, as for y = s − h(x), where s = max(0, h).

    Attributes
    ----------
    rate : (t, x, s) → (n,)
    slack : (t, x, s) → (m,), smooth also where s or y would be negative.
    states, names : names of the states and of the pairs; without pairs the system is smooth.
    slack_s : (t, x, s) → (m, m), ∂y/∂s; None for y = s − h(t, x).
    kinks : (t, x, s) → (k,), functions across whose zeros rate or slack have a kink, such as `Smallest.kinks`; the
        integration stops there and begins anew.
    measures, sketch : what results hold beside states and forces, and how to draw the system.
    labels : what pictures call quantities, with units: {"reaction guy": ("tension of the guy", "N")}.
    """

    rate: Rate
    slack: Rate
    states: Sequence[str]
    names: Sequence[str]
    slack_s: Rate | None = None
    kinks: Rate | None = None

    def __post_init__(self) -> None:
        for label in ("states", "names"):
            given = tuple(getattr(self, label))
            if len(set(given)) != len(given) or not (given or label == "names"):
                raise UsageError(f"`{label}` do not fit", got=repr(given), expected="different names")
            object.__setattr__(self, label, given)

    @property
    def n(self) -> int:
        """Number of states x."""
        return len(self.states)

    @property
    def m(self) -> int:
        """Number of complementary pairs (s, y)."""
        return len(self.names)

    @staticmethod
    def mechanical(
        *,
        g: Callable[[Array, Array], ArrayLike],
        H: Callable[[Array, Array], ArrayLike],
        h: Callable[[Array], ArrayLike],
        P: Callable[[float], ArrayLike],
        coordinates: Sequence[str],
        names: Sequence[str],
    ) -> "SlacknessSystem":
        """q̈ + g(q, q̇) = H(q, q̇) s + P(t),  y = s − h(q),  0 ≤ s ⊥ y ≥ 0 [QT (19)]; the state is x = (q, q̇)."""
        k = len(coordinates)

        def rate(t: float, x: Array, s: Array) -> Array:
            q, v = x[:k], x[k:]
            a = np.asarray(H(q, v)) @ s + np.asarray(P(t)) - np.asarray(g(q, v))
            return np.concatenate([v, a])

        def slack(t: float, x: Array, s: Array) -> Array:
            return np.asarray(s - np.asarray(h(x[:k])))

        return SlacknessSystem(rate, slack, [*coordinates, *(f"velocity {c}" for c in coordinates)], names)

    def check_state(self, x0: ArrayLike) -> Array:
        """A start as an array; the functions are tried there."""
        x = as_array(x0, "start", (self.n,))
        zero = np.zeros(self.m)
        for label, value, size in (
            ("rate", self.rate(0.0, x, zero), self.n),
            ("slack", self.slack(0.0, x, zero), self.m),
        ):
            if np.shape(value) != (size,) or not np.isfinite(value).all():
                raise ModelError(
                    f"`{label}` returned something else than numbers",
                    got=f"shape {np.shape(value)}: {value}",
                    expected=f"({size},) finite numbers",
                )
        return x

    def forces(self, t: float, x: Array, taut: Mask) -> Array:
        """Return s with y = 0 where taut, by Newton's method, and s = 0 elsewhere."""
        s = np.zeros(self.m)
        if not taut.any():
            return s
        if self.slack_s is None:
            s[taut] = -np.asarray(self.slack(t, x, s))[taut]
            return s
        for _ in range(NEWTON_STEPS):
            J = np.asarray(self.slack_s(t, x, s))[np.ix_(taut, taut)]
            change = np.linalg.solve(J, -np.asarray(self.slack(t, x, s))[taut])
            s[taut] += change
            if np.abs(change).max() <= SMALL * np.abs(s).max():
                break
        return s

    def taut_at(self, t: float, x: Array, guess: Mask) -> Mask:
        """Which pairs carry a force at a state: exchange one wrong pair after the other (Murty's rule)."""
        taut = guess.copy()
        for _ in range(4 * (1 << min(self.m, 12))):
            s = self.forces(t, x, taut)
            wrong = np.where(taut, s < 0, np.asarray(self.slack(t, x, s)) < 0)
            if self.slack_s is None:
                return taut ^ wrong
            if not wrong.any():
                break
            taut[int(np.argmax(wrong))] ^= True
        return taut

"""Derivatives of events with respect to parameters, as data."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from onesided.base.names import unknown_name
from onesided.base.types import Array, Status
from onesided.base.views import views
from onesided.results.path import format_number
from onesided.results.wording import LINES, shortened

_LAW = ("p_rate_below", "exponent", "coefficient", "side")


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity:
    """How an event, or the energy of a jump, changes with every parameter θ of the system.

    Attributes
    ----------
    about : what is differentiated, in words;  control : name of p;  p, energy : values there.
    parameters : name → value of θ.
    p_rate : (P,) dp/dθ; NaN where the event breaks up and a power law takes the place of a derivative.
    q_rate, mu_rate, lam_rate : (P, n), (P, k), (P, m) derivatives of coordinates and reactions.
    energy_rate : (P,) dU/dθ of the state, or of the energy that a jump releases.
    p_rate_below : (P,) dp/dθ for falling θ; differs from `p_rate` where several constraints change at once.
    exponent : (P,) 1, or the power of |Δθ| by which p changes where θ breaks a bifurcation: 1/2 or 2/3.
    coefficient : (P,) p − p₀ = coefficient · |Δθ|^exponent there, otherwise |dp/dθ|.
    side : (P,) sign of Δθ for which there is such a point; 0 for both.
    notes : name → what else is to be said of this parameter.
    factorisations : matrices that were factorised for all of this.
    """

    about: str
    control: str
    p: float
    energy: float
    parameters: Mapping[str, float]
    p_rate: Array
    q_rate: Array
    mu_rate: Array
    lam_rate: Array
    energy_rate: Array
    p_rate_below: Array
    exponent: Array
    coefficient: Array
    side: Array
    notes: Mapping[str, str] = field(default_factory=dict)
    factorisations: int = 1

    def __getitem__(self, name: str) -> float:
        """Derivative dp/dθ of the event with respect to one parameter."""
        return float(self.p_rate[self.index(name)])

    def index(self, name: str) -> int:
        """Number of a parameter among `parameters`; an unknown name is refused."""
        if name not in self.parameters:
            raise unknown_name("parameter", name, self.parameters)
        return list(self.parameters).index(name)

    @property
    def relative(self) -> Array:
        """(P,) θ/p · dp/dθ: percent of p per percent of θ; where p or θ is zero, NaN."""
        values = np.array([*self.parameters.values()], dtype=float)
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.p_rate * values / self.p
        return np.where(np.isfinite(found) & (values != 0.0), found, np.nan)

    @property
    def order(self) -> list[str]:
        """Parameters by influence: power laws first, then the largest relative rates, those without at the end."""
        names = list(self.parameters)
        relative = np.abs(self.relative)

        def rank(i: int) -> tuple[bool, float, float]:
            size = -relative[i] if np.isfinite(relative[i]) else -abs(self.p_rate[i]) if self.p == 0.0 else 0.0
            return self.exponent[i] == 1.0, float(np.nan_to_num(size)), -float(np.nan_to_num(abs(self.p_rate[i])))

        return [names[i] for i in sorted(range(len(names)), key=rank)]

    def words_for(self, name: str) -> str:
        """What one parameter does, in words."""
        i, p = self.index(name), self.control
        if self.exponent[i] != 1.0:
            law = {0.5: "1/2", 2.0 / 3.0: "2/3"}.get(float(self.exponent[i]), f"{self.exponent[i]:g}")
            text = f"breaks it: {p} changes by {format_number(self.coefficient[i])} |Δ{name}|^({law})"
        else:
            percent = f", {self.relative[i]:+.3g} % per %" if np.isfinite(self.relative[i]) else ""
            text = f"d{p}/d{name} = {format_number(self.p_rate[i])}{percent}"
        note = self.notes.get(name, "")
        return f"{name}: {text}" + (f"; {note}" if note else "")

    def record(self, name: str) -> dict[str, Any]:
        """What is known of one parameter, as plain data."""
        i = self.index(name)
        numbers = {key: float(getattr(self, key)[i]) for key in ("p_rate", "relative", "energy_rate", *_LAW)}
        return {"parameter": name, "value": self.parameters[name], **numbers, "note": self.notes.get(name, "")}

    def __str__(self) -> str:
        return "\n".join([f"what moves {self.about}:", *(f"  {self.words_for(name)}" for name in self.order)])

    def __repr__(self) -> str:
        lines = [f"  {self.words_for(name)}" for name in self.order]
        return "\n".join([f"<Sensitivity: {self.about}>", *shortened(lines, LINES - 1)])

    def _repr_html_(self) -> str:
        return str(views("report").sensitivity_html(self))

    def plot(self, *, ax: Any = None, title: str = "") -> Any:
        """Draw bars by influence; see `onesided.plots.influence`. Returns matplotlib axes."""
        return views("plots").influence(self, ax=ax, title=title)


@dataclass(frozen=True, eq=False, repr=False)
class DriveSensitivity:
    """How a loading history changes with every parameter.

    Attributes
    ----------
    jumps : of each jump the event that sets it off; `energy_rate` is that of the energy released.
    landings, landings_below : (P, n) per jump, derivatives of the configuration in which it lands, for growing and
        for falling parameters: they differ where it lands without force on a contact.
    dissipated : energy of all jumps;  dissipated_rate : (P,) its derivatives. Over a closed programme this is the area
        of the hysteresis loop.
    notes : what else is to be said.
    status : `interrupted` where Ctrl-C ended it: jumps, and what is dissipated, are those differentiated until then.
    """

    parameters: Mapping[str, float]
    jumps: tuple[Sensitivity, ...]
    landings: tuple[Array, ...]
    dissipated: float
    dissipated_rate: Array
    notes: tuple[str, ...] = ()
    landings_below: tuple[Array, ...] = ()
    status: Status = Status.solved

    def __getitem__(self, name: str) -> float:
        """Derivative of the dissipated energy with one parameter."""
        if name not in self.parameters:
            raise unknown_name("parameter", name, self.parameters)
        return float(self.dissipated_rate[list(self.parameters).index(name)])

    def __repr__(self) -> str:
        rates = zip(self.parameters, self.dissipated_rate, strict=True)
        lines = [f"  {name}: {format_number(rate)}" for name, rate in rates]
        head = f"<DriveSensitivity: {len(self.jumps)} jumps, {format_number(self.dissipated)} dissipated>"
        return "\n".join([head, *shortened(lines, LINES - 1)])

    def __str__(self) -> str:
        return "\n".join(
            [repr(self), *(text for jump in self.jumps for text in (str(jump), _released(jump))), *self.notes]
        )

    def _repr_html_(self) -> str:
        return "".join(jump._repr_html_() for jump in self.jumps)


def _released(jump: Sensitivity) -> str:
    """The energy that a jump releases, and what moves it."""
    rates = zip(jump.parameters, jump.energy_rate, strict=True)
    return f"  energy {format_number(jump.energy)}: " + ", ".join(
        f"d/d{name} = {format_number(rate)}" for name, rate in rates
    )

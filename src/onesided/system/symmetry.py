"""Finite groups under which a system does not change: linear actions on the coordinates, images of constraints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.linalg import qr

from onesided.base.errors import ModelError
from onesided.base.names import unknown_name
from onesided.base.tolerances import DEFAULT, HALF_DIGITS, SMALL
from onesided.base.types import Array, Indices, Mask
from onesided.system.symmetry_check import Checker
from onesided.system.symmetry_names import group_name
from onesided.system.system import System

MOST = 1000  # elements of a group
MOST_NUMBERS = 40_000_000  # entries of all matrices of a group
SAME = HALF_DIGITS  # elements differ by numbers of order one, products of them only by round-off

Generator = Mapping[str, str] | Sequence[Sequence[float]] | Array


@dataclass(frozen=True, eq=False, repr=False)
class Symmetry:
    """A finite group that acts on the coordinates as g·q = centre + M_g (q − centre) and leaves a system as it is.

    Energies are invariant, U(g·q, p) = U(q, p); one-sided constraints are permuted, two-sided ones go over into
    combinations of each other, c(g·q, p) = C_g c(q, p). Equilibria (q, p, ν) have the images (g·q, p, C_g⁻ᵀ ν).
    Groups are made by `Symmetry.of` or `symmetry_of`; the identity is element 0.

    Attributes
    ----------
    coordinates, bilateral, unilateral : names, as in the system.
    centre : (n,) a configuration that all elements leave where it is.
    length : (n,) typical sizes of the coordinates: what equal means.
    matrices : (N, n, n) M_g;  constraints : (N, m, m) C_g.
    isometries : (N, d, d) the rotations and reflections of space behind the elements, where they are known.
    """

    coordinates: tuple[str, ...]
    bilateral: tuple[str, ...]
    unilateral: tuple[str, ...]
    centre: Array
    length: Array
    matrices: Array
    constraints: Array
    isometries: Array | None = None

    @staticmethod
    def of(system: System, generators: Mapping[str, Generator], *, centre: Any = None, p: float = 0.0) -> "Symmetry":
        """The group that some generators make, checked against the system.

        Parameters
        ----------
        generators : name → matrix (n, n), or what each coordinate becomes: {"x": "y", "y": "-x"}, others stay.
        centre : a configuration that all of them leave where it is; the start of a structure, otherwise zero.
        p : value of the control parameter about which the system is compared with its image.

        Raises
        ------
        ModelError
            Names the generator that is none, and by how much the system changes under it.

        Examples
        --------
        >>> import onesided
        >>> cross = onesided.System(("x", "y"), lambda q, p, th: q[0]**4 + q[1]**4 - p * (q[0]**2 + q[1]**2))
        >>> onesided.Symmetry.of(cross, {"quarter turn": {"x": "-y", "y": "x"}, "mirror": {"x": "-x"}})
        <Symmetry D4: 8 elements on 2 coordinates>
        """
        checker = Checker.at(system, default_centre(system) if centre is None else system.point(centre), p)
        chosen = [as_matrix(system, name, rule) for name, rule in generators.items()]
        found = [(M, checker.require(name, M), None) for name, M in zip(generators, chosen, strict=True)]
        return generate(checker, found)

    def __len__(self) -> int:
        return len(self.matrices)

    def __repr__(self) -> str:
        return f"<Symmetry {self.name}: {len(self)} elements on {self.n} coordinates>"

    @property
    def n(self) -> int:
        """Number of coordinates that the group acts on."""
        return len(self.coordinates)

    @cached_property
    def name(self) -> str:
        """Its name: Schoenflies' where the isometries are known (C3v, mirror), else of the abstract group (D3, Z2)."""
        return group_name(self.table, self.isometries)

    @cached_property
    def table(self) -> Indices:
        """(N, N) numbers of the products g·h."""
        probe, weights = np.random.default_rng(0).normal(size=(2, self.n))
        images = self.matrices @ probe
        return np.array([_same(images @ (M.T @ weights), images @ weights) for M in self.matrices], dtype=np.intp)

    @cached_property
    def duals(self) -> Array:
        """(N, m, m) C_g⁻ᵀ, by which multipliers are carried along."""
        return np.ascontiguousarray(np.linalg.inv(self.constraints).transpose(0, 2, 1))

    @cached_property
    def rows(self) -> Indices:
        """(N, m) row of the constraint that each one-sided constraint becomes; two-sided ones keep theirs."""
        k, m = len(self.bilateral), self.constraints.shape[1]
        rows = np.tile(np.arange(m), (len(self), 1))
        rows[:, k:] = k + np.argmax(self.constraints[:, k:, k:], axis=1) if m > k else rows[:, k:]
        return rows

    def fits(self, system: System) -> bool:
        """Whether it is stated in the coordinates and constraints of a system."""
        names = tuple(system.coordinates), tuple(system.bilateral), tuple(system.unilateral)
        return names == (self.coordinates, self.bilateral, self.unilateral)

    def check(self, system: System, p: float = 0.0) -> None:
        """Raise a ModelError where a system, with its present parameters, does not have this symmetry."""
        checker = Checker.at(system, self.centre, p)
        for g, M in enumerate(self.matrices):
            checker.require(f"element {g} of {self.name}", M)

    def images(self, x: Array) -> Array:
        """(N, …) images of a configuration q, or of a packed point (q, p, ν)."""
        shift = np.zeros(len(x))
        shift[: self.n] = self.centre
        return np.asarray(self.turned(x - shift) + shift)

    def turned(self, x_dot: Array) -> Array:
        """(N, …) images of a direction: q̇, or packed (q̇, ṗ, ν̇)."""
        n = self.n
        parts: list[Array] = [self.matrices @ x_dot[:n]]
        if len(x_dot) > n:
            p_dot = np.broadcast_to(x_dot[n : n + 1], (len(self), 1))
            parts += [p_dot, self.duals @ x_dot[n + 1 :]]
        return np.concatenate(parts, axis=1)

    def isotropy(self, q: Any, *, tolerance: float = DEFAULT.singularity**0.5) -> "Symmetry":
        """The subgroup that leaves a configuration, or all of many (N, n), where they are."""
        return self.subgroup(self.fixing(np.atleast_2d(np.asarray(q, dtype=np.float64)), tolerance))

    def fixing(self, Q: Array, tolerance: float) -> Mask:
        """Which elements leave all of many configurations where they are.

        The first is compared with the sizes of the coordinates, the way from there to the others with its own extent:
        a short branch that breaks a symmetry does break it.
        """
        first, way = (Q[0] - self.centre) / self.length, (Q - Q[0]) / self.length
        extent = min(1.0, float(np.max(np.abs(way))))
        scaled = self.matrices * (self.length / self.length[:, None])
        off = [float(np.max(np.abs(M @ first - first))) for M in scaled]
        moved = [float(np.max(np.abs(way @ M.T - way))) for M in scaled]
        return np.asarray((np.array(off) <= tolerance) & (np.array(moved) <= max(tolerance * extent, SMALL)))

    def subgroup(self, keep: Mask | Indices | Sequence[int]) -> "Symmetry":
        """The subgroup with these elements, which must be one."""
        chosen = np.asarray(keep)
        isometries = None if self.isometries is None else self.isometries[chosen]
        return replace(
            self, matrices=self.matrices[chosen], constraints=self.constraints[chosen], isometries=isometries
        )

    @cached_property
    def basis(self) -> Array:
        """(n, r) orthonormal basis of the displacements that all elements leave as they are."""
        mean = np.mean(self.matrices, axis=0)
        return np.ascontiguousarray(np.linalg.svd(mean)[0][:, : _rank(mean)])

    @cached_property
    def representatives(self) -> Indices:
        """Rows of constraints that stand for all of them in symmetric states: one per orbit of the one-sided ones."""
        k, m = len(self.bilateral), self.constraints.shape[1]
        mean = np.mean(self.constraints[:, :k, :k], axis=0)
        pivots = sorted(qr(mean.T, mode="r", pivoting=True)[1][: _rank(mean)].tolist()) if k else []
        return np.array([*pivots, *(j for j in range(k, m) if np.min(self.rows[:, j]) == j)], dtype=np.intp)

    @cached_property
    def shares(self) -> Array:
        """(r, m) W: c = W c for the representatives in symmetric states, and ν = Wᵀ ν of theirs."""
        return np.asarray(np.mean(self.constraints, axis=0)[self.representatives])


def _rank(projector: Array) -> int:
    return round(float(np.trace(projector)))


def default_centre(system: System) -> Array:
    """The start of a structure, otherwise zero."""
    return np.zeros(system.n) if system.structure is None else system.start


def generate(checker: Checker, generators: Sequence[tuple[Array, Array, Array | None]]) -> Symmetry:
    """The closure of generators (M, C, isometry)."""
    system = checker.system
    n, m = system.n, len(system.constraint_names)
    spatial = bool(generators) and all(R is not None for _, _, R in generators)
    size = len(generators[0][2]) if spatial and generators[0][2] is not None else 0
    known = [(np.eye(n), np.eye(m), np.eye(size))]
    images = np.empty((MOST + 1, n))
    images[0] = probe = np.random.default_rng(0).normal(size=n)
    at = 0
    while at < len(known):
        M, C, R = known[at]
        at += 1
        for A, B, S in generators:
            image = (A @ (M @ (probe * checker.length))) / checker.length
            if np.min(np.max(np.abs(images[: len(known)] - image), axis=1)) > SAME * np.max(np.abs(probe)):
                images[len(known)] = image
                known.append((A @ M, B @ C, S @ R if spatial and S is not None else R))
                _check_size(len(known), n)
    matrices, constraints, isometries = (np.array(part) for part in zip(*known, strict=True))
    return Symmetry(
        tuple(system.coordinates),
        tuple(system.bilateral),
        tuple(system.unilateral),
        checker.centre,
        checker.length,
        matrices,
        constraints,
        isometries if spatial else None,
    )


def _check_size(order: int, n: int) -> None:
    if order > MOST or order * n * n > MOST_NUMBERS:
        raise ModelError(
            "the group of these generators is too large",
            got=f"more than {order - 1} elements on {n} coordinates",
            expected=f"at most {MOST} elements, of finite order",
            advice="check the angle of rotations, or give fewer generators",
        )


def as_matrix(system: System, name: str, rule: Generator) -> Array:
    """The matrix of a generator given as one or by what the coordinates become."""
    if isinstance(rule, Mapping):
        return _signed_permutation(system, name, rule)
    M = np.asarray(rule, dtype=np.float64)
    if M.shape != (system.n, system.n) or not np.all(np.isfinite(M)):
        raise ModelError(
            f"the matrix of '{name}' is not usable", got=f"shape {M.shape}", expected=f"{(system.n, system.n)} numbers"
        )
    return M


def _signed_permutation(system: System, name: str, rule: Mapping[str, str]) -> Array:
    number = {coordinate: i for i, coordinate in enumerate(system.coordinates)}
    M = np.eye(system.n)
    for target, source in rule.items():
        plain = source.removeprefix("-").strip()
        for one in (target, plain):
            if one not in number:
                raise unknown_name(f"coordinate (of '{name}')", one, system.coordinates)
        M[number[target]] = 0.0
        M[number[target], number[plain]] = -1.0 if source.startswith("-") else 1.0
    if np.any(np.sum(np.abs(M), axis=0) != 1.0):
        twice = [system.coordinates[i] for i in np.flatnonzero(np.sum(np.abs(M), axis=0) != 1.0)]
        raise ModelError(
            f"'{name}' is no permutation of the coordinates",
            got=f"{', '.join(twice)} not taken exactly once",
            expected="every coordinate once, with a sign",
        )
    return M


def _same(keys: Array, known: Array) -> Indices:
    """Positions of numbers among known ones, up to round-off."""
    order = np.argsort(known)
    middles = 0.5 * (known[order][1:] + known[order][:-1])
    return np.asarray(order[np.searchsorted(middles, keys)], dtype=np.intp)

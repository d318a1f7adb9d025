"""Whether a linear map of the coordinates leaves a system as it is: the system compared with its image, in numbers."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from onesided.base.errors import ModelError
from onesided.base.tolerances import SMALL
from onesided.base.types import Array
from onesided.evaluation.equilibrium_blocks import Evaluation
from onesided.system.system import System

SAMPLES = 4
RADII = (0.3, 0.1, 0.03, 0.01)  # distances of the samples from the centre, in sizes of the coordinates


@dataclass(frozen=True, eq=False)
class Mismatch:
    """Why a map is no symmetry: what differs, and by how much of its size."""

    what: str
    share: float


@dataclass(frozen=True, eq=False)
class Checker:
    """A system with points at which it is compared with its image."""

    system: System
    centre: Array
    length: Array
    q: Array
    p: Array

    @staticmethod
    def at(system: System, centre: Array, p: float) -> "Checker":
        """Points about a centre at which the system can be evaluated."""
        if system.derivatives.large:
            raise ModelError(
                "symmetries are for systems with dense matrices",
                got=f"{system.n} coordinates",
                advice="compose(…, sparse=False)",
            )
        system.check_finite(centre, p)
        sizes = system.sizes(centre, p)
        loads = (p - sizes.control, p + sizes.control)  # without stiffness at p, little is known of lengths there
        length = np.max([sizes.length, *(system.sizes(centre, load).length for load in loads)], axis=0)
        normal = np.random.default_rng(0).normal(size=(SAMPLES, system.n + 1))
        P = p + 0.5 * sizes.control * normal[:, -1]
        for radius in RADII:
            made = Checker(system, centre, length, centre + radius * length * normal[:, :-1], P)
            if all(e.finite() for e in made.here):
                return made
        raise ModelError(
            "the system cannot be evaluated about the centre of its symmetry",
            got="values that are not finite",
            advice="another `centre`, or another `p`",
        )

    def _evaluate(self, Q: Array) -> list[Evaluation]:
        none = np.zeros(len(self.system.constraint_names))
        return [self.system.evaluate(q, float(p), none) for q, p in zip(Q, self.p, strict=True)]

    @cached_property
    def here(self) -> list[Evaluation]:
        """The system at the points."""
        return self._evaluate(self.q)

    def require(self, name: str, M: Array) -> Array:
        """The map C_g of the constraints; a ModelError where M is no symmetry."""
        found = self.examine(M)
        if isinstance(found, Mismatch):
            raise ModelError(
                f"'{name}' is no symmetry of this system",
                got=f"{found.what} {found.share:.3g} of their size",
                expected=f"a difference below {SMALL:.1g}",
                advice="check its matrix or signs, the centre, and what the system is made of",
            )
        return found

    def examine(self, M: Array) -> Array | Mismatch:
        """The map C_g of the constraints, or why there is none."""
        if abs(np.linalg.det(M)) < 0.5:
            return Mismatch("its determinant should be 1 or -1; the volume changes by", 1.0)
        there = self._evaluate(self.centre + (self.q - self.centre) @ M.T)
        if not all(e.finite() for e in there):
            return Mismatch("the image cannot be evaluated: values differ by", float("inf"))
        difference = self._forces(M, there)
        if not difference <= SMALL:
            return Mismatch("forces differ from those of the image by", difference)
        return self._constraints(M, there)

    def _forces(self, M: Array, there: list[Evaluation]) -> float:
        """Largest difference of U_q(q) and Mᵀ U_q(g·q), relative to the largest force, as energies."""
        pulled = [(a.L_q, M.T @ b.L_q) for a, b in zip(self.here, there, strict=True)]
        size = max(float(np.max(np.abs(force * self.length))) for force, _ in pulled)
        largest = max(float(np.max(np.abs((force - image) * self.length))) for force, image in pulled)
        return largest / size if size > 0 else largest

    def _constraints(self, M: Array, there: list[Evaluation]) -> Array | Mismatch:
        k = len(self.system.bilateral)
        own = np.hstack([_columns(e, np.eye(len(M)), self.length) for e in self.here])
        images = np.hstack([_columns(e, M, self.length) for e in there])
        C = np.zeros((len(own), len(own)))
        S = _combined(own[:k], images[:k])
        if isinstance(S, Mismatch):
            return S
        C[:k, :k] = S
        names = tuple(self.system.unilateral)
        left = list(range(k, len(own)))
        for i in range(k, len(own)):
            off = [_difference(own[j], images[i]) for j in left]
            best = int(np.argmin(off))
            if not off[best] <= SMALL:
                return Mismatch(f"gap '{names[i - k]}' has no counterpart: values differ by", off[best])
            C[i, left.pop(best)] = 1.0
        return C


def _columns(e: Evaluation, M: Array, length: Array) -> Array:
    """Values and scaled gradients of the constraints, those of the image seen from the original: (m, 1 + n)."""
    return np.column_stack([e.c, (e.c_q @ M) * length])


def _difference(own: Array, image: Array) -> float:
    size = float(np.max(np.abs(own)))
    return float(np.max(np.abs(image - own))) / size if size > 0 else float("inf")


def _combined(own: Array, images: Array) -> Array | Mismatch:
    """S with images = S own: two-sided constraints may go over into combinations of each other."""
    if not len(own):
        return np.zeros((0, 0))
    sizes = np.max(np.abs(own), axis=1)
    A = own / sizes[:, None]
    S = np.linalg.lstsq(A.T, images.T, rcond=SMALL)[0].T
    off = float(np.max(np.abs(images - S @ A) / sizes[:, None]))
    if not off <= SMALL or np.linalg.matrix_rank(S, tol=SMALL * float(np.max(np.abs(S)))) < len(S):
        return Mismatch("two-sided constraints do not go over into each other: they differ by", off)
    return np.asarray(S / sizes)

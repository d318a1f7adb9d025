"""Polynomials on the unit sphere: fitted to values there, and all their common zeros, complex ones included.

On |b| = 1 every polynomial of degree m is the sum of a form of degree m and one of degree m − 1, in one way only.
"""

from dataclasses import dataclass
from functools import cached_property
from math import factorial

import numpy as np
import scipy.linalg

from onesided.linalg.homotopy import Endpoints, Numbers, track


@dataclass(frozen=True)
class SpherePolynomials:
    """Functions F_i(b) = Σ_k c_ik b^k of degree `degree` in `variables` unknowns on the unit sphere.

    Attributes
    ----------
    coefficients : (count, monomials), monomials weighted by the roots of their multinomial numbers.
    """

    variables: int
    degree: int
    coefficients: Numbers

    @cached_property
    def _basis(self) -> tuple[Numbers, Numbers]:
        return _monomials(self.variables, self.degree)

    def __call__(self, b: Numbers) -> Numbers:
        """Values (points, count) at the points (rows of b), real or complex."""
        return _evaluate(b, *self._basis) @ self.coefficients.T

    def jacobian(self, b: Numbers) -> Numbers:
        """Derivatives of all polynomials at the points, (points, count, variables)."""
        exponents, weights = self._basis
        parts = [_evaluate(b, *_derived(exponents, weights, j)) @ self.coefficients.T for j in range(self.variables)]
        return np.stack(parts, axis=-1)

    def zeros(self, seed: int = 0) -> Endpoints:
        """All common zeros with b·b = 1, by a homotopy whose paths are counted by Bézout's theorem."""
        exponents, weights = self._basis
        lift = self.degree - exponents.sum(axis=1)  # the further unknown makes all of one degree
        return track(np.column_stack([lift, exponents]), self.coefficients * weights, self.degree, seed)


def fit_on_sphere(points: Numbers, values: Numbers, degree: int) -> SpherePolynomials:
    """Least squares through values (points, count) at points of the unit sphere."""
    variables = points.shape[1]
    basis = _evaluate(points, *_monomials(variables, degree))
    return SpherePolynomials(variables, degree, np.linalg.lstsq(basis, values, rcond=None)[0].T)


def terms_on_sphere(variables: int, degree: int) -> int:
    """Number of coefficients of a polynomial of this degree on the sphere."""
    return len(_monomials(variables, degree)[0])


def _monomials(variables: int, degree: int) -> tuple[Numbers, Numbers]:
    """Exponents of the forms of the two highest degrees, and weights that make them about equally large."""
    rows = [row for total in (degree - 1, degree) for row in _compositions(total, variables)]
    weights = [np.sqrt(factorial(sum(row)) / np.prod([float(factorial(k)) for k in row])) for row in rows]
    return np.array(rows, dtype=np.intp), np.array(weights)


def _compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    if parts == 1:
        return [(total,)]
    return [(first, *rest) for first in range(total + 1) for rest in _compositions(total - first, parts - 1)]


def _derived(exponents: Numbers, weights: Numbers, j: int) -> tuple[Numbers, Numbers]:
    """Exponents and weights of the derivatives of monomials to unknown j."""
    lowered = exponents.copy()
    lowered[:, j] = np.maximum(lowered[:, j] - 1, 0)
    return lowered, weights * exponents[:, j]


def _evaluate(b: Numbers, exponents: Numbers, weights: Numbers) -> Numbers:
    """Weighted monomials at the points, (points, monomials)."""
    powers = b[:, :, None] ** np.arange(int(exponents.max()) + 1)
    product = np.broadcast_to(weights, (len(b), len(weights)))
    for j in range(b.shape[1]):
        product = product * powers[:, j, exponents[:, j]]
    return np.asarray(product)


@dataclass(frozen=True)
class CirclePolynomial:
    """A function F(b) = Σ_k c_k e^{ikθ} of b = (cos θ, sin θ); coefficients c_{−K} … c_K."""

    coefficients: Numbers

    @property
    def degree(self) -> int:
        """Number K of the highest harmonic."""
        return (len(self.coefficients) - 1) // 2

    @property
    def tail(self) -> float:
        """Size of the highest harmonics: of what is left out."""
        return float(np.max(np.abs(self.coefficients[-2:])))

    def __call__(self, b: Numbers) -> Numbers:
        """Values (points, 1) at points b (points, 2) of the unit circle."""
        return self._sum(b, self.coefficients)

    def jacobian(self, b: Numbers) -> Numbers:
        """Derivatives (points, 1, 2): along the circle; none across it."""
        slope = self._sum(b, 1j * np.arange(-self.degree, self.degree + 1) * self.coefficients)[:, 0]
        return np.stack([-b[:, 1] * slope, b[:, 0] * slope], axis=-1)[:, None, :]

    def _sum(self, b: Numbers, coefficients: Numbers) -> Numbers:
        z = (b[:, 0] + 1j * b[:, 1])[:, None]
        total = (z ** np.arange(-self.degree, self.degree + 1) @ coefficients)[:, None]
        return np.asarray(total if np.iscomplexobj(b) else total.real)

    def zeros(self, seed: int = 0) -> Endpoints:
        """All zeros, as eigenvalues of the companion pencil in z = e^{iθ}; `seed` is of no use here."""
        size = len(self.coefficients) - 1
        A, B = np.eye(size, k=1, dtype=np.complex128), np.eye(size, dtype=np.complex128)
        A[-1], B[-1, -1] = -self.coefficients[:-1], self.coefficients[-1]
        (alpha, beta), _ = scipy.linalg.eig(A, B, homogeneous_eigvals=True)
        finite = (np.abs(alpha) > 0) & (np.abs(beta) > 0)
        z = alpha[finite] / beta[finite]
        return Endpoints(np.column_stack([(z + 1.0 / z) / 2.0, (z - 1.0 / z) / 2.0j]), size, lost=0)


def fit_on_circle(values: Numbers) -> CirclePolynomial:
    """Trigonometric interpolation of values at an odd number of equal angles, from θ = 0 on."""
    spectrum = np.fft.fftshift(np.fft.fft(values)) / len(values)
    return CirclePolynomial(spectrum)

"""Named problems with what is known about their solutions."""

from dataclasses import dataclass

import numpy as np

from onesided.complementarity import LCP


@dataclass(frozen=True)
class Named:
    """A problem, and every isolated solution of it where these are known (None: only the residual is)."""

    name: str
    problem: LCP
    solutions: tuple[tuple[float, ...], ...] | None = None


def from_solution(M, seed):
    """Half of the constraints active in a strictly complementary solution that is known."""
    rng = np.random.default_rng(seed)
    n = len(M)
    half = rng.permutation(n)[: n // 2]
    z, w = np.zeros(n), rng.random(n) + 0.1
    z[half], w[half] = rng.random(half.size) + 0.1, 0.0
    return LCP(M, w - M @ z), tuple(z)


def definite(n, seed):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((n, n))
    return B @ B.T / n + np.eye(n)


def conditioned(n, seed, cond):
    rng = np.random.default_rng(seed)
    Q = np.linalg.qr(rng.standard_normal((n, n)))[0]
    M = (Q * np.logspace(0, -np.log10(cond), n)) @ Q.T
    return (M + M.T) / 2


def semidefinite(n, rank, seed):
    rng = np.random.default_rng(seed)
    B = rng.standard_normal((n, rank))
    return B @ B.T / n


def nonsymmetric(n, seed):
    rng = np.random.default_rng(seed)
    K = rng.standard_normal((n, n))
    return definite(n, seed) + (K - K.T) / 2


def known(name, M, seed, unique=True):
    problem, z = from_solution(M, seed)
    return Named(name, problem, (z,) if unique else None)


CYCLING = LCP([[4, 5, -5], [5, 9, -5], [-5, -5, 7]], [2, 1, -3])
BEAM = LCP([[1, -0.9], [-0.9, 1]], [-0.4, 0.55])
END_POINT = LCP([[0, 1], [1, -1]], [-0.5, 1])

NAMED = [
    Named("zero solution", LCP(np.eye(3), [1, 2, 3]), ((0, 0, 0),)),
    Named("zero data", LCP(np.eye(2), [0, 0]), ((0, 0),)),
    Named("scalar", LCP([[2]], [-3]), ((1.5,),)),
    Named("degenerate", LCP([[2, 1], [1, 2]], [-2, -1]), ((1, 0),)),
    Named("REFERENCE B7 beam", BEAM, ((0.4, 0),)),
    Named("REFERENCE B7 cycling", CYCLING, ((0, 4 / 19, 11 / 19),)),
    Named("REFERENCE B3 eps=0.5", LCP([[2.5, -1.5], [-1.5, 2.5]], [-1, -1]), ((1, 1),)),
    known("definite n=30", definite(30, 1), 2),
    known("cond 1e6 n=20", conditioned(20, 3, 1e6), 4),
    known("nonsymmetric P n=20", nonsymmetric(20, 5), 6),
    known("semidefinite rank 6 of 12", semidefinite(12, 6, 7), 8, unique=False),
    Named("newtons and metres", LCP(definite(8, 9) * 1e-7, np.linspace(-1e-3, 1e-3, 8))),
    Named("REFERENCE B4.2 p'=+1", END_POINT, ((0, 1),)),
    Named("no solution, indefinite", LCP([[0, 1], [1, -1]], [0.5, -1]), ()),
    Named("no solution, semidefinite", LCP([[1, -1], [-1, 1]], [-1, -1]), ()),
]

"""The quadratic examples of REFERENCE B as systems with parameters: U = ½φᵀHφ − p bᵀφ, g = φ ≥ 0."""

from functools import cache

import numpy as np

import onesided


def _energy2(q, p, th):
    return (th.h11 * q[0] ** 2 + th.h22 * q[1] ** 2) / 2 + th.h12 * q[0] * q[1] - p * (th.b1 * q[0] + th.b2 * q[1])


@cache
def _quadratic2():
    names = ("h11", "h12", "h22", "b1", "b2")
    return onesided.System(
        ("x", "y"),
        _energy2,
        unilateral={"first": lambda q, p, th: q[0], "second": lambda q, p, th: q[1]},
        parameters=dict.fromkeys(names, 1.0),
    )


def quadratic2(H, b):
    H = np.array(H, dtype=float)
    values = {"h11": H[0, 0], "h12": H[0, 1], "h22": H[1, 1], "b1": b[0], "b2": b[1]}
    return _quadratic2().replace(parameters={name: float(value) for name, value in values.items()})


@cache
def _quadratic3():
    names = ("a", "b", "c", "d", "e", "f", "l1", "l2", "l3", "g1", "g2", "g3")

    def energy(q, p, th):
        x, y, z = q
        quadratic = (th.a * x**2 + th.b * y**2 + th.c * z**2) / 2 + th.d * x * y + th.e * y * z + th.f * z * x
        return quadratic - p * (th.l1 * x + th.l2 * y + th.l3 * z)

    return onesided.System(
        ("x", "y", "z"),
        energy,
        unilateral={"gap": lambda q, p, th: th.g1 * q[0] + th.g2 * q[1] + th.g3 * q[2]},
        parameters=dict.fromkeys(names, 1.0),
    )


def quadratic3(H, b, E):
    """Three coordinates and one constraint with gradient E."""
    values = [H[0, 0], H[1, 1], H[2, 2], H[0, 1], H[1, 2], H[2, 0], *b, *E]
    system = _quadratic3()
    return system.replace(parameters={name: float(v) for name, v in zip(system.parameters, values, strict=True)})

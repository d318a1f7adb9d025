"""Builders of symmetric structures for tests: pyramids, domes, a frame, a Kresling ring, normal forms of D_n."""

import math
from functools import cache

import numpy as np
from scipy.optimize import brentq

from onesided import System, compose
from onesided.elements import Bar, Beam, Force, Node, divided


@cache
def pyramid(n, h=2.0, stiffness=6.0):
    """Apex (0, 0, h) on n equal bars to the unit circle, loaded downwards: C_nv, three coordinates.

    The stiffness is shared by the bars. On the symmetric path, with L = √(1 + z²) and L₀ = √(1 + h²), the load is
    p = k z (L₀/L − 1); for where it forks see `sway_load`.
    """
    ring = [Node(f"s{i}", (*_polar(1.0, i / n), 0.0), fixed=True) for i in range(n)]
    bars = [Bar(f"b{i}", (f"s{i}", "apex"), stiffness=stiffness / n) for i in range(n)]
    return compose(ring, Node("apex", (0.0, 0.0, h)), bars, Force("load", "apex", (0.0, 0.0, -1.0)))


def sway_height(h):
    """Height of the apex at which sway of a pyramid first becomes neutral: 1 − L₀/L + L₀/(2L³) = 0.

    The left side is least at L² = 3/2; below L₀ ≈ 1.837 (h ≈ 1.541) it has no root.
    """
    L0 = math.hypot(1.0, h)

    def stiffness(z):
        L = math.hypot(1.0, z)
        return 1.0 - L0 / L + L0 / (2.0 * L**3)

    return brentq(stiffness, math.sqrt(0.5), h)


def sway_load(h, stiffness=6.0):
    """Load at which the symmetric path of a pyramid meets its double bifurcation."""
    z = sway_height(h)
    return stiffness * z * (math.hypot(1.0, h) / math.hypot(1.0, z) - 1.0)


@cache
def dome(n, rings=1, height=0.3, stiffness=1.0):
    """A spherical cap of pin-jointed bars: apex, `rings` free rings of n nodes, a ring of supports; apex load: C_nv.

    Neighbouring rings are turned against each other by half a step and joined by two bars per node; n = 6 with one free
    ring is the 24-bar star dome.
    """
    count = rings + 1
    sphere = (1.0 + height**2) / (2.0 * height)
    radii = [r / count for r in range(count + 1)]
    z = [math.sqrt(sphere**2 - radius**2) - (sphere - height) for radius in radii]
    nodes = [Node("apex", (0.0, 0.0, z[0]))]
    bars = [Bar(f"top{i}", ("apex", f"r1_{i}"), stiffness=stiffness) for i in range(n)]
    for r in range(1, count + 1):
        turn = 0.5 * (r - 1)
        nodes += [Node(f"r{r}_{i}", (*_polar(radii[r], (i + turn) / n), z[r]), fixed=r == count) for i in range(n)]
        if r < count:
            bars += [Bar(f"hoop{r}_{i}", (f"r{r}_{i}", f"r{r}_{(i + 1) % n}"), stiffness=stiffness) for i in range(n)]
            bars += [Bar(f"a{r}_{i}", (f"r{r}_{i}", f"r{r + 1}_{i}"), stiffness=stiffness) for i in range(n)]
            bars += [Bar(f"b{r}_{i}", (f"r{r}_{i}", f"r{r + 1}_{(i - 1) % n}"), stiffness=stiffness) for i in range(n)]
    return compose(nodes, bars, Force("load", "apex", (0.0, 0.0, -1.0)))


@cache
def symmetric_frame(elements=2):
    """A portal frame on hinges with equal loads on its corners: one mirror, which sway breaks."""
    beam = {"EA": 1e4, "EI": 1.0}
    left = divided(Beam("left", **beam), np.linspace((-1, 0), (-1, 1), elements + 1), fixed={0: "xy"})
    right = divided(Beam("right", **beam), np.linspace((1, 0), (1, 1), elements + 1), fixed={0: "xy"})
    corners = f"left_{elements}", f"right_{elements}"
    girder = divided(
        Beam("girder", **beam), np.linspace((-1, 1), (1, 1), 2 * elements + 1), first=corners[0], last=corners[1]
    )
    loads = [Force(f"load {corner}", corner, (0.0, -1.0)) for corner in corners]
    return compose(left, right, girder, loads)


@cache
def kresling(n, height=0.6, turn=0.35, stiffness=1.0):
    """A Kresling cell as bars: a fixed n-gon, a free one above it turned by `turn` of a step, folds between: C_n."""
    low = [Node(f"a{i}", (*_polar(1.0, i / n), 0.0), fixed=True) for i in range(n)]
    high = [Node(f"b{i}", (*_polar(1.0, (i + turn) / n), height)) for i in range(n)]
    sides = [Bar(f"side{i}", (f"b{i}", f"b{(i + 1) % n}"), stiffness=5.0 * stiffness) for i in range(n)]
    mountains = [Bar(f"mountain{i}", (f"a{i}", f"b{i}"), stiffness=stiffness) for i in range(n)]
    valleys = [Bar(f"valley{i}", (f"a{(i + 1) % n}", f"b{i}"), stiffness=stiffness) for i in range(n)]
    loads = [Force(f"load{i}", f"b{i}", (0.0, 0.0, -1.0 / n)) for i in range(n)]
    return compose(low, high, sides, mountains, valleys, loads)


@cache
def normal_form(n, size=0.3):
    """The normal form of a double bifurcation with D_n symmetry at p = 0, in two coordinates: 2 + 2 n rays."""

    def energy(q, p, th):
        re, im = 1.0, 0.0
        for _ in range(n):
            re, im = re * q[0] - im * q[1], re * q[1] + im * q[0]
        square = q[0] ** 2 + q[1] ** 2
        return -p * square / 2 + square**2 / 4 - size * re / n

    return System(("x", "y"), energy)


def _polar(radius, turn):
    return radius * math.cos(2 * math.pi * turn), radius * math.sin(2 * math.pi * turn)

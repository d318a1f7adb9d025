"""Reference values for the suspension structure and the mast, computed independently of this library.

Suspension: event-driven exact integration, checked by a Runge–Kutta method of order 8 (difference below 1e-11 m).
Mast: the same Runge–Kutta method, restarted at events for the law that goes slack (absolute accuracy about 2e-11).
"""

from functools import cache

import numpy as np

from onesided.complementarity_systems import LocatedSwitches, simulate
from onesided.zoo.suspension import Suspension

CASES = {
    "C1": Suspension(),
    "C2": Suspension(stretch=0.0),
    "C4": Suspension(stiffness=2e5, stretch=0.001),
}
SLACKENINGS = {"C1": (48, 50, 47), "C2": (49, 49, 50), "C4": (50, 50, 50)}  # up to 19.9 s
SLACK_TIME = {
    "C1": (4.307915, 6.022124, 3.377885),
    "C2": (10.047751, 10.042954, 9.998201),
    "C4": (9.213691, 9.437568, 8.537625),
}
MAX_TENSION = {
    "C1": (44.1260, 54.5008, 42.1410),
    "C2": (29.2751, 39.7621, 27.3604),
    "C4": (1203.994, 1568.894, 1155.140),
}
MAX_SLACK = {  # metres
    "C1": (4.00449e-3, 6.88802e-3, 3.49967e-3),
    "C2": (8.06210e-3, 10.96124e-3, 7.54608e-3),
    "C4": (4.58537e-3, 6.56618e-3, 4.22665e-3),
}
ELONGATIONS = {
    "C1": {
        0.5: (-3.6992430504e-3, -6.4520833056e-3, -3.1908452583e-3),
        1.0: (5.8423555256e-3, 6.5950797241e-3, 5.8251297804e-3),
        2.0: (2.8367726965e-3, 2.3887349321e-3, 2.8863047924e-3),
        5.0: (3.4325058487e-3, 3.1660866347e-3, 3.3887242301e-3),
        10.0: (3.9946001746e-3, 4.0168904791e-3, 4.0248919620e-3),
        15.0: (4.1779721327e-3, 4.2655598468e-3, 4.2058015030e-3),
        20.0: (3.5831889280e-3, 3.4853436483e-3, 3.6769231744e-3),
    },
    "C4": {
        0.5: (-4.4800454322e-3, -6.4726948805e-3, -4.1941434285e-3),
        1.0: (-9.032077396e-4, -1.3737365467e-3, -4.537487899e-4),
        2.0: (1.3768491694e-3, 1.8899297819e-3, 1.8834323962e-3),
        5.0: (9.247595807e-4, 6.973326750e-4, 6.468245956e-4),
        10.0: (6.2824662e-6, 3.299348259e-4, 1.0417133075e-3),
        15.0: (4.356078274e-4, 7.079605161e-4, 1.1579480270e-3),
        20.0: (3.184530962e-4, -7.6845911e-6, 2.444469489e-4),
    },
}
FIRST_SWITCHES = {  # time, sling, taut after it
    "C1": [
        (0.129966995, 2, 0), (0.206874817, 2, 1), (0.448146205, 2, 0), (0.456022985, 1, 0),
        (0.459303675, 3, 0), (0.572019795, 3, 1), (0.574267036, 1, 1), (0.582464705, 2, 1),
    ],
    "C4": [
        (0.071633975, 2, 0), (0.079126717, 1, 0), (0.081506768, 3, 0), (0.226746342, 3, 1),
        (0.230044144, 1, 1), (0.232878320, 2, 1), (0.408583578, 2, 0), (0.410729490, 1, 0),
    ],
}  # fmt: skip


@cache
def exact(case):
    """The event-driven motion of a case on a grid of half seconds."""
    return simulate(CASES[case].system(), LocatedSwitches(), times=np.linspace(0.0, 20.0, 41))


def elongations(case, motion):
    """Δl on the grid of half seconds, for a motion with equal steps."""
    stride = (len(motion.t) - 1) // 40
    return CASES[case].elongations(motion.x[::stride])

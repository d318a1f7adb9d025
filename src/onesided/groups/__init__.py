"""Configuration spaces: vectors, SO(2), SE(2), SO(3), SE(3) and their products, behind one small contract.

Every group is represented by as many numbers as it has dimensions, so nothing needs to be normalised and nothing can
drift. Functions take NumPy and JAX arrays alike; models use `rotate` and `rotation_matrix`.
"""

from onesided.groups.group import Group as Group
from onesided.groups.products import Product as Product
from onesided.groups.products import Vector as Vector
from onesided.groups.rigid import SE2 as SE2
from onesided.groups.rigid import SE3 as SE3
from onesided.groups.rotations import SO2 as SO2
from onesided.groups.rotations import SO3 as SO3
from onesided.groups.rotations import rotate as rotate
from onesided.groups.rotations import rotation_matrix as rotation_matrix

"""Linear algebra of constrained equilibria: null spaces, inertia, Schur complements, bordered systems."""

from onesided.linalg.blocks import BlockPlace as BlockPlace
from onesided.linalg.blocks import DenseBlocks as DenseBlocks
from onesided.linalg.blocks import SparseBlocks as SparseBlocks
from onesided.linalg.bordered import bordered_solve as bordered_solve
from onesided.linalg.bordered import kkt_matrix as kkt_matrix
from onesided.linalg.colouring import KKTPattern as KKTPattern
from onesided.linalg.colouring import Pattern as Pattern
from onesided.linalg.kkt import SparseKkt as SparseKkt
from onesided.linalg.ldl import Inertia as Inertia
from onesided.linalg.ldl import factorise as factorise
from onesided.linalg.ldl import inertia as inertia
from onesided.linalg.ldl import schur as schur
from onesided.linalg.lu import LU as LU
from onesided.linalg.nullspace import dependent_rows as dependent_rows
from onesided.linalg.nullspace import null_space as null_space
from onesided.linalg.nullspace import reduced_hessian as reduced_hessian
from onesided.linalg.row_products import RowProducts as RowProducts
from onesided.linalg.saddle import DenseKKT as DenseKKT
from onesided.linalg.saddle import KKTFactor as KKTFactor
from onesided.linalg.saddle import RankKKT as RankKKT
from onesided.linalg.saddle import independent_rows as independent_rows
from onesided.linalg.threads import one_thread as one_thread

"""Symmetric factors of many small matrices in one call: LAPACK's `dsytrf`, called by machine code."""

import ctypes
from collections.abc import Callable

import numpy as np
from llvmlite import ir

from onesided.base.types import Array, Indices
from onesided.evaluation.machine_code import LONG, MachineCode, array_address, counted_loop, lapack_address, made_once

BLOCK = 16  # columns that LAPACK takes together
INT = ir.IntType(32)  # of LAPACK
DOUBLES, INTS, BYTES = ir.DoubleType().as_pointer(), INT.as_pointer(), ir.IntType(8).as_pointer()
FACTORED = ir.FunctionType(ir.VoidType(), [BYTES, INTS, DOUBLES, INTS, INTS, DOUBLES, INTS, INTS])


def factors_of_many(K: Array) -> tuple[Array, Indices]:
    """Factors of each K[i] (symmetric, overwritten by what `dsytrf` makes of its lower triangle) and its pivots."""
    K = np.ascontiguousarray(K, dtype=np.float64)
    rows, n = K.shape[:2]
    pivots: Indices = np.empty((rows, n), dtype=np.int32)
    work = np.empty(max(BLOCK * n, 1))
    if K.size:
        _compiled()[1](id(K), id(pivots), id(work), rows, n, len(work))
    return K.transpose(0, 2, 1), pivots


@made_once
def _compiled() -> tuple[MachineCode, Callable[..., None]]:
    """The loop over matrices, compiled once in a process."""
    code = MachineCode(_text(), effort=0)
    return code, ctypes.CFUNCTYPE(None, *[ctypes.c_size_t] * 3, *[ctypes.c_int64] * 3)(code.address("factors"))


def _text() -> str:
    """The instructions: void factors(K, pivots, work, rows, n, size of work), arrays as objects."""
    module = ir.Module("factors")
    run = ir.Function(module, ir.FunctionType(ir.VoidType(), [LONG] * 6), "factors")
    b = ir.IRBuilder(run.append_basic_block())
    kinds = DOUBLES, INTS, DOUBLES
    K, pivots, work = (array_address(b, one, kind) for one, kind in zip(run.args[:3], kinds, strict=True))
    rows, n, room = run.args[3:]
    lower, size, space, info = b.alloca(ir.IntType(8)), b.alloca(INT), b.alloca(INT), b.alloca(INT)
    b.store(ir.IntType(8)(ord("L")), lower)
    b.store(b.trunc(n, INT), size)
    b.store(b.trunc(room, INT), space)
    function = b.inttoptr(LONG(lapack_address("dsytrf")), FACTORED.as_pointer())

    def factor(i: ir.Value) -> None:
        one, its = b.gep(K, [b.mul(i, b.mul(n, n))]), b.gep(pivots, [b.mul(i, n)])
        b.call(function, [lower, size, one, size, its, work, space, info])

    counted_loop(b, rows, factor)
    b.ret_void()
    return str(module)

"""Straight lines of operations that are kept between processes: what tracing has found need not be found again.

They are data, never code: an entry is a digest and lists of numbers, and it is read as operations of known names on
values that stand before them, or not at all. Entries lie in the private folder of compiled code, which is bounded. A
key says everything that a line was made from, our own sources included.
"""

import hashlib
import os
import secrets
import struct
import zlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import jax
import numpy as np

import onesided
from onesided._version import __version__
from onesided.base.caches import compiled_code
from onesided.base.log import LOG
from onesided.evaluation.machine_code import ARITHMETIC, BY_LIBRARY, BY_LLVM, EXTREMES, OF_TRUTHS, ORDERED
from onesided.evaluation.straight import TRUTHS, Scalar, ScalarOperation, StraightLine

SOURCES = "elements", "evaluation", "formulas", "groups", "structures"  # what decides the operations of an element
OPERATIONS = tuple(
    sorted({*ARITHMETIC, *BY_LIBRARY, *BY_LLVM, *EXTREMES, *ORDERED, *OF_TRUTHS, *TRUTHS, "neg", "select", "sign"})
)
TWO = {*ARITHMETIC, *ORDERED, *OF_TRUTHS, "atan2", "pow", "rem", "max", "min"}
GIVEN = {name: 3 if name == "select" else 2 if name in TWO else 1 for name in OPERATIONS}  # how many values it takes
CODE = {name: code for code, name in enumerate(OPERATIONS)}
KNOWN = (False, True)  # truths are written as −1 and −2, other constants by their place below that
HEAD = struct.Struct("<6q")  # inputs, operations, values that they take, outputs, constants, rules of derivatives
DIGEST = hashlib.sha256().digest_size
LARGEST = 16 * 2**20  # bytes of an entry that is read


class _DamagedError(Exception):
    """An entry that is no straight line."""


def stable_text(value: Any) -> str | None:
    """A text that is equal for equal values in all processes; None for what has none: functions, users' classes."""
    if value is None or type(value) in {str, int, float, bool}:
        return repr(value)
    if isinstance(value, type):
        return f"<{value.__module__}.{value.__qualname__}>" if value.__module__.startswith("onesided.") else None
    if type(value) is tuple:
        parts = [stable_text(one) for one in value]
        return None if None in parts else f"({', '.join(map(str, parts))})"
    return None


def kept_line(parts: tuple[Any, ...], sizes: tuple[int, int], make: Callable[[], StraightLine]) -> StraightLine:
    """The straight line of what `parts` return, with so many inputs and outputs: as it was kept, or made and kept."""
    text, folder = stable_text(parts), _folder()
    if text is None or folder is None:
        return make()
    path = folder / f"line-{hashlib.sha256((_sources() + text).encode()).hexdigest()}"
    line = _read(path, sizes)
    if line is None:
        line = make()
        _write(path, packed(line))
    return line


@cache
def _folder() -> Path | None:
    return compiled_code()


@cache
def _sources() -> str:
    """Versions, and sizes and times of the files that decide what is made: what Python, too, knows a change by."""
    files = []
    for name in SOURCES:
        with os.scandir(Path(onesided.__file__).parent / name) as found:
            files += [(name, one.name, one.stat().st_size, one.stat().st_mtime_ns) for one in found if one.is_file()]
    return repr((__version__, jax.__version__, np.__version__, sorted(files)))


def _read(path: Path, sizes: tuple[int, int]) -> StraightLine | None:
    """The line of an entry; one that is damaged is removed."""
    try:
        data = zlib.decompressobj().decompress(path.read_bytes(), LARGEST)
        line = unpacked(data, sizes)
    except FileNotFoundError:
        return None
    except (OSError, zlib.error, _DamagedError):
        LOG.info("a list of operations that was damaged is removed: %s", path.name)
        with suppress(OSError):
            path.unlink()
        return None
    return line


def _write(path: Path, data: bytes) -> None:
    """Put an entry in place in one step; without a place to write there is none."""
    draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
    with suppress(OSError):
        draft.write_bytes(zlib.compress(data, 1))
        os.replace(draft, path)


def packed(line: StraightLine) -> bytes:
    """A line as numbers, with a digest before them; operations are numbered anew, one after the other."""
    number = {index: line.inputs + i for i, (index, _) in enumerate(line.operations)}
    number |= {i: i for i in range(line.inputs)}
    constants: dict[bytes, int] = {}

    def written(one: Any) -> int:
        if isinstance(one, Scalar):
            return number[one.index]
        if isinstance(one, bool):
            return -1 - KNOWN.index(one)
        return -3 - constants.setdefault(struct.pack("<d", one), len(constants))

    codes = bytes(CODE[operation.name] for _, operation in line.operations)
    taken = [written(one) for _, operation in line.operations for one in operation.inputs]
    outputs = [written(one) for one in line.outputs]
    head = HEAD.pack(line.inputs, len(codes), len(taken), len(outputs), len(constants), line.ruled)
    numbers = np.array([*taken, *outputs], dtype="<i4").tobytes()
    body = head + codes + numbers + b"".join(constants)
    return hashlib.sha256(body).digest() + body


def unpacked(data: bytes, expected: tuple[int, int]) -> StraightLine:
    """The line that was packed, with so many inputs and outputs.

    Raises
    ------
    _DamagedError : for anything else.
    """
    body = data[DIGEST:]
    if len(body) < HEAD.size or hashlib.sha256(body).digest() != data[:DIGEST]:
        raise _DamagedError
    inputs, count, taken, made, constants, ruled = HEAD.unpack_from(body)
    sizes = count, 4 * (taken + made), 8 * constants
    if (inputs, made) != expected or min(count, taken, constants) < 0 or len(body) != HEAD.size + sum(sizes):
        raise _DamagedError
    codes = body[HEAD.size : HEAD.size + count]
    numbers = np.frombuffer(body, "<i4", taken + made, HEAD.size + count).tolist()
    known = np.frombuffer(body, "<f8", constants, HEAD.size + count + sizes[1]).tolist()
    return _LineReading(inputs, known).line(codes, numbers, taken)._replace(ruled=bool(ruled))


class _LineReading:
    """Values as they are read: every operation may take those before it, of the kinds that it asks for."""

    def __init__(self, inputs: int, constants: Sequence[float]) -> None:
        self._inputs, self._constants = inputs, constants
        self._values = [Scalar(None, i, truth=False) for i in range(inputs)]

    def line(self, codes: bytes, numbers: Sequence[int], taken: int) -> StraightLine:
        operations, at = [], 0
        for code in codes:
            if code >= len(OPERATIONS):
                raise _DamagedError
            name = OPERATIONS[code]
            given = tuple(self._value(number) for number in numbers[at : min(at + GIVEN[name], taken)])
            at += GIVEN[name]
            made = Scalar(None, len(self._values), truth=_checked(name, given))
            operations.append((made.index, ScalarOperation(name, given, made.truth)))
            self._values.append(made)
        outputs = tuple(self._value(number) for number in numbers[taken:])
        if at != taken or any(map(_is_truth, outputs)):
            raise _DamagedError
        return StraightLine(self._inputs, tuple(operations), outputs)

    def _value(self, number: int) -> Any:
        if number >= 0:
            return _at(self._values, number)
        return KNOWN[-1 - number] if number >= -len(KNOWN) else _at(self._constants, -3 - number)


def _at(values: Sequence[Any], number: int) -> Any:
    if number >= len(values):
        raise _DamagedError
    return values[number]


def _checked(name: str, given: tuple[Any, ...]) -> bool:
    """Whether an operation makes a truth; it must have been given what it takes."""
    kinds = [_is_truth(one) for one in given]
    if len(given) != GIVEN[name]:
        raise _DamagedError
    if name == "select":
        right = kinds[0] and kinds[1] == kinds[2]
    elif name in {"eq", "ne"}:
        right = kinds[0] == kinds[1]
    else:
        right = all(kinds) if name in {"and", "or", "xor", "not"} else not any(kinds)
    if not right:
        raise _DamagedError
    return kinds[1] if name == "select" else name in TRUTHS


def _is_truth(one: Any) -> bool:
    return bool(one.truth) if isinstance(one, Scalar) else isinstance(one, bool)

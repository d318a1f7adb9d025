"""Straight lines of operations printed as C, one thread per path or row, for a graphics processor.

A thread that is done with a path takes the next one. The text is plain C++ but for `__global__`, `__device__`,
`atomicAdd` and the thread's number, so that it can be compiled and tried on any machine.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

from onesided.evaluation.straight import Input, Scalar, ScalarOperation, StraightLine

INFIX = {"add": "+", "sub": "-", "mul": "*", "div": "/", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">"}
INFIX |= {"ge": ">=", "and": "&&", "or": "||", "xor": "!="}
CALLED = {"sqrt": "sqrt", "abs": "fabs", "pow": "pow", "max": "larger", "min": "smaller", "sign": "sign_of"}
CALLED |= {name: name for name in ("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh")}
CALLED |= {name: name for name in ("asinh", "acosh", "atanh", "exp", "exp2", "expm1", "log", "log1p", "cbrt")}
CALLED |= {"floor": "floor", "ceil": "ceil", "rem": "fmod", "is_finite": "isfinite"}

QUICK = {"div": "quotient", "sqrt": "root"}  # without branches, which would hold up what stands around them
HELPERS = """
#ifdef __CUDA_ARCH__
__device__ inline bool is_normal(double a) {
  return ((unsigned)__double2hiint(a) & 0x7fffffffu) - 0x00100000u < 0x7fe00000u;
}
__device__ inline double quotient(double a, double b) {
  double r;  // 1/b to some 20 bits, then to all but the last, and the quotient corrected by what is left of a
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(b));
  const double e = fma(-b, r, 1.0), s = fma(r, fma(e, e, e), r), q = a * s;
  return is_normal(r) && isfinite(q) ? fma(fma(-b, q, a), s, q) : a * r;
}
__device__ inline double root(double a) {
  double r;  // likewise, from the inverse of the root
  asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(a));
  const double e = fma(-a * r, r, 1.0), s = fma(r, fma(0.375, e, 0.5) * e, r), q = a * s;
  return is_normal(a) ? fma(fma(-q, q, a), 0.5 * s, q) : fabs(a) < 1.0 ? 0.0 : a + r;
}
#else
inline double quotient(double a, double b) { return a / b; }
inline double root(double a) { return sqrt(a); }
#endif
__device__ inline double larger(double a, double b) { return a > b || a != a ? a : b; }
__device__ inline double smaller(double a, double b) { return a < b || a != a ? a : b; }
__device__ inline double sign_of(double a) { return a > 0.0 ? 1.0 : a < 0.0 ? -1.0 : a; }
"""
KERNELS = """
extern "C" __global__ void begin(double* states, double* data, const double* blank, const double* x,
                                 const double* closed, const double* vectors, const long long* group,
                                 const double* sizes, const double* asked, const long long count) {{
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {{
    const double* own = sizes + group[i] * {sizes};
    for (int k = 0; k < {length}; ++k) states[k * count + i] = blank[k];
    for (int k = 0; k < {size}; ++k) states[({z} + k) * count + i] = x[i * {size} + k] / own[k];
    for (int k = 0; k < {contacts}; ++k) states[({closed} + k) * count + i] = closed[i * {contacts} + k];
    states[{level} * count + i] = x[i * {size} + {p}] / own[{p}];
    for (int k = 0; k < {parameters}; ++k) data[k * count + i] = vectors[i * {parameters} + k];
    for (int k = 0; k < {sizes}; ++k) data[({parameters} + k) * count + i] = own[k];
    for (int k = 0; k < 3; ++k) data[({checked} + k) * count + i] = k ? asked[k] / own[{p}] : asked[k];
  }}
}}

extern "C" __global__ void run(double* states, const double* data, double* rows, unsigned long long* counts,
                               const long long count, const long long room, const long long most,
                               const long long ticks) {{
  double s[{length}], d[{given}], e[{width}];
  long long path = -1, spent = 0;
  for (;;) {{
    if (path < 0) {{
      path = (long long)atomicAdd(counts, 1ULL);
      if (path >= count) return;
      for (int i = 0; i < {length}; ++i) s[i] = states[i * count + path];
      for (int i = 0; i < {given}; ++i) d[i] = data[i * count + path];
      spent = 0;
    }}
    const bool told = tick(s, d, e);
    const long long made = (long long)s[{events}];
    if (told) {{
      const long long row = (long long)atomicAdd(counts + 1, 1ULL);
      if (row < room) {{
        for (int i = 0; i < {width}; ++i) rows[row * {wide} + i] = e[i];
        rows[row * {wide} + {width}] = (double)path;
        rows[row * {wide} + {width} + 1] = (double)made;
      }}
    }}
    if (s[{phase}] == {done} || made >= most || ++spent >= ticks) {{
      for (int i = 0; i < {length}; ++i) states[i * count + path] = s[i];
      path = -1;
    }}
  }}
}}

extern "C" __global__ void check(double* x, int* codes, unsigned char* wrong, const double* rows, const double* data,
                                 const long long* first, const long long made, const long long count) {{
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < made; i += step) {{
    const double* row = rows + i * {wide};
    const long long path = (long long)row[{width}], place = first[path] + (long long)row[{width} + 1] - 1;
    double d[{checked}];
    int* code = codes + place * {codes};
    for (int k = 0; k < {checked}; ++k) d[k] = data[k * count + path];
    if (!recheck(row, d, x + place * {size})) wrong[path] = 1;
    for (int k = 0; k < 3; ++k) code[k] = (int)row[{size} + k];
    code[3] = {contacts};
    for (int k = {contacts} - 1; k >= 0; --k) if (row[{size} + 5 + k] > 0.0) code[3] = k;
  }}
}}

extern "C" __global__ void connect(unsigned char* wrong, const double* x, const int* codes, const double* states,
                                   const double* data, const long long* first, const long long count) {{
  const long long step = (long long)gridDim.x * blockDim.x;
  for (long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step) {{
    const long long end = first[i] + (long long)states[{events} * count + i];
    long long begin = -1, before = -1;
    bool bad = false;
    for (long long r = first[i]; r < end; ++r) {{
      if (codes[r * {codes}] == {point}) continue;
      if (begin < 0) {{
        begin = r;
      }} else {{
        bool again = codes[r * {codes}] == codes[begin * {codes}];
        for (int k = 0; k < {size}; ++k)
          again = again && fabs(x[r * {size} + k] - x[begin * {size} + k])
                           <= {near} * data[({parameters} + k) * count + i];
        bad = bad || again || codes[r * {codes} + 1] != codes[before * {codes} + 2];
      }}
      before = r;
    }}
    if (before >= 0 && codes[before * {codes} + 2] != (int)states[{degree} * count + i]) bad = true;
    if (bad) wrong[i] = 1;
  }}
}}
"""


class Layout(NamedTuple):
    """Lengths of states, data, rows, points, sizes, and of their parts; where single numbers stand in a state."""

    length: int
    given: int
    width: int
    size: int
    sizes: int
    contacts: int
    parameters: int
    z: int
    closed: int
    level: int
    phase: int
    events: int
    done: float
    p: int
    codes: int
    point: int
    degree: int
    near: float


def source(tick: StraightLine, check: StraightLine, layout: Layout) -> str:
    """The program: `tick` and `recheck` as straight lines, and the loops over paths and rows around them."""
    targets = [*(f"s[{i}]" for i in range(layout.length)), *(f"e[{i}]" for i in range(layout.width))]
    ticked = _function("tick(double* s", tick, layout.length, targets, QUICK)
    rechecked = _function("recheck(const double* s", check, layout.size, [f"e[{i}]" for i in range(layout.size)], {})
    numbers = {"checked": layout.parameters + layout.sizes, "wide": layout.width + 2}
    return HELPERS + ticked + rechecked + KERNELS.format(**layout._asdict(), **numbers)


def _function(name: str, line: StraightLine, length: int, targets: list[str], own: Mapping[str, str]) -> str:
    """A function of s (so many numbers) and d; the last result says whether, the others go where they belong.

    Results replace what they are made of: they are kept apart until all of them are known. `own` : functions to be
    called for some operations instead of the usual ones.
    """
    made = [f"  const {_kind(one)} v{index} = {_written(one, length, own)};" for index, one in line.operations]
    kept = [f"  const double r{i} = {_named(one, length)};" for i, one in enumerate(line.outputs)]
    stored = [f"  {target} = r{i};" for i, target in enumerate(targets)]
    head = f"__device__ inline bool {name}, const double* d, double* e) {{"
    return "\n".join([head, *made, *kept, *stored, f"  return r{len(targets)} > 0.0;", "}", ""])


def _kind(operation: ScalarOperation) -> str:
    return "bool" if operation.truth else "double"


def _named(one: Any, length: int) -> str:
    """How a number is called: an input, an earlier result, or what it is."""
    if isinstance(one, Input):
        return f"s[{one.index}]" if one.index < length else f"d[{one.index - length}]"
    if isinstance(one, Scalar):
        return f"v{one.index}"
    if isinstance(one, bool):
        return "true" if one else "false"
    if math.isnan(one):
        return "(0.0 / 0.0)"
    return f"({'-' if one < 0 else ''}1.0 / 0.0)" if math.isinf(one) else f"({one!r})"


def _written(operation: ScalarOperation, length: int, own: Mapping[str, str]) -> str:
    name, given = operation.name, [_named(one, length) for one in operation.inputs]
    if name in own:
        return f"{own[name]}({', '.join(given)})"
    if name in INFIX:
        return f" {INFIX[name]} ".join(given)
    if name == "select":
        return f"{given[0]} ? {given[2]} : {given[1]}"
    if name == "neg" or name == "not":
        return f"{'-' if name == 'neg' else '!'}{given[0]}"
    return f"{CALLED[name]}({', '.join(given)})"

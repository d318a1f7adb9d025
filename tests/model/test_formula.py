"""Formulas: values against values computed beside the parser, derivatives, and what errors say."""

import math
import re
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onesided.base.errors import ModelFileError
from onesided.formulas.formula import FUNCTIONS, Formula, FormulaError, FormulaLimits, parse, suggestion
from onesided.formulas.gate import ARITY

ENV = {"x": 0.75, "y": -1.25, "k_1": 2.5}

# An expression is drawn as (text, value): the value is computed while drawing, never by reading the text.
leaves = st.one_of(
    st.sampled_from(sorted(ENV)).map(lambda name: (name, ENV[name])),
    st.integers(0, 20).map(lambda n: (str(n), float(n))),
    st.floats(0.01, 100).map(lambda v: (repr(v), v)),
    st.just(("pi", math.pi)),
)
OPERATIONS = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b if b else math.nan,
}
UNARY = {
    name: getattr(math, name) for name in ("sin", "cos", "tan", "atan", "sinh", "cosh", "tanh", "sqrt", "exp", "log")
}
UNARY |= {"asin": math.asin, "acos": math.acos, "abs": abs}


def guarded(function, *values):
    try:
        return function(*values)
    except (ValueError, OverflowError, ZeroDivisionError):
        return math.nan


def grow(inner):
    def binary(sign, left, right):
        return f"({left[0]}) {sign} ({right[0]})", guarded(OPERATIONS[sign], left[1], right[1])

    def call(name, argument):
        return f"{name}( {argument[0]} )", guarded(UNARY[name], argument[1])

    def pair(name, first, second):
        return f"{name}({first[0]},\n{second[0]})", guarded(getattr(math, name), first[1], second[1])

    return st.one_of(
        st.builds(binary, st.sampled_from(sorted(OPERATIONS)), inner, inner),
        st.builds(lambda base, n: (f"({base[0]})**{n}", guarded(pow, base[1], n)), inner, st.integers(0, 5)),
        st.builds(lambda a: (f"-({a[0]})", -a[1]), inner),
        st.builds(call, st.sampled_from(sorted(UNARY)), inner),
        st.builds(pair, st.sampled_from(["atan2", "hypot"]), inner, inner),
    )


@settings(max_examples=400, deadline=None)
@given(st.recursive(leaves, grow, max_leaves=12).filter(lambda e: math.isfinite(e[1])))
def test_value_equals_the_value_of_the_tree(expression):
    text, value = expression
    try:
        found = parse(text).evaluate(ENV)
    except FormulaError as error:  # a constant part without finite value may hide under a factor 0, as in 0*(1/0)
        assert "no finite value" in error.what
        return
    assert found == pytest.approx(value, rel=1e-12, abs=1e-12)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.tuples(st.sampled_from(["+", "-", "*", "/"]), st.integers(1, 9)), min_size=1, max_size=12))
def test_precedence_without_brackets(tail):
    """Products before sums, from left to right: recomputed with a two-level sum of products."""
    text = "7" + "".join(f" {sign} {n}" for sign, n in tail)
    terms = [7.0]
    for sign, n in tail:
        if sign in "+-":
            terms.append(float(n) if sign == "+" else -float(n))
        else:
            terms[-1] = terms[-1] * n if sign == "*" else terms[-1] / n
    assert parse(text).evaluate({}) == pytest.approx(sum(terms), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("2**3**2", 512.0),  # powers group from the right
        ("-2**2", -4.0),  # and bind closer than a sign on the left
        ("2**-1", 0.5),
        ("(-2)**3", -8.0),
        ("x**2.0", 0.5625),
        ("2 - 3 - 4", -5.0),
        ("8/4/2", 1.0),
        ("- -x", 0.75),
        ("+x", 0.75),
        ("\n  x\n + 1", 1.75),
        ("1.5e2 + .5 + 2.", 152.5),
        ("0", 0.0),
        ("atan2(1, -1)", 3 * math.pi / 4),
        ("hypot(3, 4)", 5.0),
        ("abs(y)", 1.25),
        ("2*pi", 2 * math.pi),
    ],
)
def test_value(text, value):
    assert parse(text).evaluate(ENV) == pytest.approx(value, rel=1e-15)


def test_names_are_the_free_ones():
    assert parse("a*sin(b) + pi*a - c1**2").names == {"a", "b", "c1"}
    assert parse("1 + pi").names == frozenset()


def test_long_sums_need_no_recursion():
    text = "+".join(["x"] * 700)
    assert parse(text).evaluate(ENV) == pytest.approx(700 * 0.75)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_integer_powers_are_differentiable_at_zero(n):
    import jax

    from onesided.evaluation.jax_process import prepare_jax
    from onesided.formulas.functions import jax_functions

    prepare_jax()
    formula = parse(f"x**{n}")
    derivative = lambda x: formula.evaluate({"x": x}, jax_functions())  # noqa: E731
    for order in range(1, 6):
        derivative = jax.grad(derivative)
        assert float(derivative(0.0)) == (math.factorial(n) if order == n else 0.0)


@pytest.mark.parametrize("point", [(1.0, 1.0), (1.0, -1.0), (0.0, 2.0), (3.0, 0.0), (-3.0, 4.0)])
def test_hypot_has_right_second_derivatives(point):
    """Also on the axes and diagonals, where jnp.hypot fails: Hessian of r is (I − nnᵀ)/r."""
    import jax
    import numpy as np

    from onesided.evaluation.jax_process import prepare_jax
    from onesided.formulas.functions import jax_functions

    prepare_jax()
    formula, q = parse("hypot(x, y)"), np.array(point)
    hessian = jax.hessian(lambda q: formula.evaluate({"x": q[0], "y": q[1]}, jax_functions()))(q)
    r = math.sqrt(point[0] ** 2 + point[1] ** 2)
    np.testing.assert_allclose(hessian, (np.eye(2) - np.outer(q, q) / r**2) / r, atol=1e-14)


def test_jax_and_math_agree_on_every_function():
    from onesided.evaluation.jax_process import prepare_jax
    from onesided.formulas.functions import jax_functions

    prepare_jax()
    for name in FUNCTIONS:
        arguments = ("x", "k_1", "x", "x", "k_1", "x")[: ARITY[name]]
        formula = parse(f"{name}({', '.join(arguments)})")
        assert float(formula.evaluate(ENV, jax_functions())) == pytest.approx(formula.evaluate(ENV), rel=1e-14)


REFUSED = [  # text, offset of the caret, what the message says, what it suggests
    ("", 0, "empty", ""),
    (" \n ", 0, "empty", ""),
    ("2x", 1, "runs into", "2*x"),
    ("x y", 2, "operator is missing", "*"),
    ("x(y)", 0, "not a known function", "x*(…)"),
    ("(x)(y)", 3, "operator is missing", "*"),
    ("sinn(x)", 0, "not a known function", "`sin`"),
    ("ln(x)", 0, "not a known function", "`log`"),
    ("arctan2(y, x)", 0, "not a known function", "`atan2`"),
    ("Sqrt(x)", 0, "not a known function", "`sqrt`"),
    ("1 + sin", 4, "`sin` is a function", "sin(…)"),
    ("sin*2", 0, "`sin` is a function", "sin(…)"),
    ("sin x", 0, "`sin` is a function", "sin(…)"),
    ("atan2(x)", 0, "takes 2 arguments, 1 given", ""),
    ("x + sin(x, y)", 4, "takes 1 argument, 2 given", ""),
    ("sin()", 4, "value is missing", ""),
    ("sin(x,)", 6, "value is missing", ""),
    ("(x + y", 0, "never closed", ""),
    ("x + y)", 5, "without an opening", ""),
    ("x +", 3, "ends where a value", ""),
    ("x * / y", 4, "value is missing", ""),
    ("(x, y)", 2, "comma", ""),
    ("x^2", 1, "power", "x**2"),
    ("x // y", 3, "`//`", ""),
    ("x % y", 2, "%", ""),
    ("x @ y", 2, "@", ""),
    ("x | y", 2, "bit operations", ""),
    ("~x", 0, "bit operations", ""),
    ("x << 2", 2, "comparisons", ""),
    ("x < y", 2, "comparisons", "[unilateral]"),
    ("x == y", 2, "comparisons", ""),
    ("x != y", 2, "comparisons", ""),
    ("(x := 1)", 3, "`:`", ""),
    ("x and y", 2, "word of Python", ""),
    ("not x", 0, "word of Python", ""),
    ("True", 0, "word of Python", ""),
    ("None", 0, "word of Python", ""),
    ("x if y else 2", 2, "word of Python", ""),
    ("lambda: 1", 0, "word of Python", ""),
    ("[x for x in y]", 0, "round brackets", ""),
    ("x[0]", 1, "round brackets", ""),
    ("{x}", 0, "round brackets", ""),
    ("x.real", 1, "attributes", ""),
    ("1.real", 2, "runs into", ""),
    ("'x'", 0, "quotes", ""),
    ("f'{x}'", 1, "quotes", ""),
    ('"x"', 0, "quotes", ""),
    ("sin(x=1)", 5, "comparisons and assignments", ""),
    ("hypot(*x)", 6, "value is missing", ""),
    ("hypot(**x)", 6, "value is missing", ""),
    ("1j", 0, "complex", ""),
    ("2.5J", 0, "complex", ""),
    ("0x10", 1, "runs into", ""),
    ("1_000", 1, "runs into", ""),
    ("007", 0, "superfluous 0", ""),
    ("1e999", 0, "range of floating point", ""),
    ("1e-999", 0, "range of floating point", ""),
    ("1" * 41, 0, "41 characters", ""),
    ("1/0", 2, "no finite value", ""),
    ("x + sqrt(-1)", 4, "no finite value", ""),
    ("log(0)", 0, "no finite value", ""),
    ("(-1)**0.5", 6, "no finite value", ""),
    ("10**400", 4, "no finite value", ""),
    ("9**9**9", 3, "exponent", ""),
    ("x**1001", 3, "exponent", ""),
    ("x**-1e9", 3, "exponent", ""),
    ("x**y**x**y**x", 10, "powers on top", ""),
    ("x**(y**(x**(y**x)))", 13, "powers on top", ""),
    ("----x", 3, "signs in a row", ""),
    ("φ + 1", 0, "U+03C6", "phi"),
    ("ｓｉｎ(x)", 0, "U+FF53", "write s"),
    ("ﬁ", 0, "U+FB01", "fi"),
    ("x²", 1, "superscript", "**2"),
    ("x − y", 2, "minus", "write -"),
    ("2×y", 1, "multiplication", "write *"),
    ("√x", 0, "root sign", "sqrt"),
    ("x + \x00", 4, "U+0000", ""),
    ("x\\\ny", 1, "`\\`", ""),
    ("x # y", 2, "comment", ""),
    ("x; y", 1, "`;`", ""),
    ("_x", 0, "a name is", ""),
    ("__import__", 0, "a name is", ""),
    ("a" * 65, 0, "a name is", ""),
    ("١ + x", 0, "U+0661", ""),  # an Arabic digit one
    ("x\u200b", 1, "U+200B", ""),
    ("x\u202ey", 1, "U+202E", ""),
]


@pytest.mark.parametrize(("text", "offset", "what", "advice"), REFUSED, ids=[repr(case[0][:20]) for case in REFUSED])
def test_refused_with_place_and_advice(text, offset, what, advice):
    with pytest.raises(FormulaError) as caught:
        parse(text)
    error = caught.value
    assert isinstance(error, ModelFileError)
    assert error.offset == offset
    assert what in error.what
    assert advice in error.advice
    shown, caret = str(error).split("\n")[-2:]
    column = error.column - 1
    line = text.split("\n")[error.line - 1]
    assert caret.rstrip().endswith("^")
    if len(line) <= 60 and column < len(line) and line[column].isprintable():
        assert shown[caret.index("^")] == line[column]


def test_caret_in_several_lines():
    with pytest.raises(FormulaError) as caught:
        parse("k*x\n  + cosh(y\n  + q!)")
    assert (caught.value.line, caught.value.column) == (3, 6)
    assert str(caught.value).endswith("\n      + q!)\n         ^")


def test_caret_in_a_long_line_shows_a_window():
    with pytest.raises(FormulaError) as caught:
        parse("x + " * 200 + "$ + " + "x + " * 100 + "x")
    shown, caret = str(caught.value).split("\n")[-2:]
    assert len(shown) < 120
    assert shown[caret.index("^")] == "$"
    assert shown.strip().startswith("…")
    assert shown.endswith("…")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("x" + "+x" * 2000, "characters"),
        ("x" + "+x" * 900, "terms and signs"),
        ("(" * 33 + "x" + ")" * 33, "brackets inside"),
        ("sin(" * 40 + "x" + ")" * 40, "brackets inside"),
        ("(" * 3000, "brackets inside"),
        ("-" * 3000 + "x", "signs in a row"),
        ("9**" * 1000 + "9", "powers on top"),
    ],
)
def test_limits(text, what):
    with pytest.raises(FormulaError, match=re.escape(what)):
        parse(text)


def test_limits_can_be_set():
    with pytest.raises(FormulaError, match="3 brackets"):
        parse("((((x))))", limits=FormulaLimits(nesting=3))


def test_require_points_at_the_unknown_name():
    with pytest.raises(FormulaError) as caught:
        parse("k*cos(phy)").require({"k", "phi"})
    assert caught.value.offset == 6
    assert caught.value.advice == "did you mean `phi`?"
    assert str(caught.value).endswith("    k*cos(phy)\n          ^")


def test_suggestion_minds_neither_case_nor_long_names():
    assert suggestion("PHI", ["phi", "p"]) == "did you mean `phi`?"
    assert suggestion("zzzz", ["phi", "p"]) == ""
    assert suggestion("p" * 100_000, ["p" * 100]) == ""


@settings(max_examples=500, deadline=1000)
@given(st.one_of(st.text(max_size=200), st.text("xy12.+-*/() ,esin", max_size=200)))
def test_garbage_gives_a_formula_or_a_formula_error(text):
    try:
        formula = parse(text)
    except FormulaError as error:
        assert "^" in str(error)
    else:
        assert isinstance(formula, Formula)


def test_parsing_imports_no_jax():
    code = "import sys, onesided.formulas.formula, onesided.files.schema, onesided.files.reading, onesided.zoo as z;"
    code += "z.summary('column'); sys.exit('jax' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""Files made to harm: each gives an error within a second, and nothing is run, imported or opened on the way."""

import sys
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from onesided.base.errors import ModelFileError
from onesided.files.reading import load, loads
from onesided.files.toml_text import MAX_BYTES

HEAD = "[coordinates]\nx = 1.0\n[control]\nrange = [0, 1]\n"

_events: list[str] = []
_watching: list[bool] = []


def _hook(event, _arguments):
    if _watching and (
        event in ("exec", "import", "open") or event.startswith(("os.", "subprocess", "socket", "ctypes"))
    ):
        _events.append(event)


@pytest.fixture(autouse=True, scope="module")
def _listening():
    """Hooks stay for ever and are called at every `id` and `open`: this one is set when these tests begin."""
    sys.addaudithook(_hook)


def refuse(text):
    """Load, expecting a refusal; return it with the time it took, after checking that nothing happened."""
    _events.clear()
    _watching.append(True)
    begin = time.process_time()
    try:
        loads(text, "evil.toml")
    except ModelFileError as error:
        return error, time.process_time() - begin
    finally:
        _watching.clear()
        assert _events == []
    pytest.fail("the file was accepted")


@pytest.fixture(scope="module", autouse=True)
def warm():
    """Import what loading imports, so that the audit sees only what a file causes."""
    loads(f'energy = "x"\n{HEAD}')
    with pytest.raises(ModelFileError):
        loads("")
    with pytest.raises(ModelFileError):
        loads(f"[bar]\n{HEAD}")
    with pytest.raises(ModelFileError):
        loads(f"[import]\ntruss = 'none.csv'\n{HEAD}")


def formula(text):
    return f"energy = '''{text}'''\n{HEAD}"


CODE = [
    "__import__('os').system('true')",
    "().__class__.__bases__[0].__subclasses__()",
    "open('/etc/passwd').read()",
    "exec('import os')",
    "eval('1')",
    "x.__class__",
    "getattr(x, 1)",
    "(lambda: 1)()",
    "[y for y in (1, 2)]",
    "(y := 3)",
    'f"{x}"',
    "x if x else x",
    "x[0]",
    "sin(x=1)",
    "hypot(*x)",
    "hypot(**x)",
    "x < 1",
    "x % 2",
    "x // 2",
    "x @ x",
    "x & 1",
    "not x",
    "True",
    "1j",
    "...",
    "x; import os",
    "x\nimport os",
    "yield x",
    "await x",
    "print(x)",
    "ｅｖａｌ(x)",
    "ⅹ + 1",
]

HOSTILE = {  # the reason each is here: its text
    "huge powers of constants": formula("9**9**9"),
    "a tower of powers": formula("**".join(["9"] * 200)),
    "a tower in brackets": formula("9**(" * 20 + "9" + ")" * 20),
    "a huge exponent": formula("x**123456789"),
    "powers of powers overflow": formula("((9**99)**99)**99"),
    "deep brackets": formula("(" * 1500 + "x" + ")" * 1500),
    "unclosed brackets": formula("(" * 3900),
    "deep calls": formula("sin(" * 900 + "x" + ")" * 900),
    "many signs": formula("-" * 3900 + "x"),
    "a formula that fills the file": formula("x+" * (MAX_BYTES // 2 - 200) + "x"),
    "a number of many digits": formula("1" * 3900),
    "a number of very many digits": formula("1" * (MAX_BYTES - 200)),
    "an integer TOML cannot print": f'energy = "x"\n{HEAD}[parameters]\nk = {"9" * 50_000}\n',
    "a hexadecimal integer without limit": f'energy = "x"\n{HEAD}[parameters]\nk = 0x{"f" * 50_000}\n',
    "a null byte": 'energy = "x\x00"\n' + HEAD,
    "an escaped null byte": 'energy = "x\\u0000"\n' + HEAD,
    "text that runs backwards": 'energy = "x\\u202e"\n' + HEAD,
    "a file beyond the limit": "#" * (MAX_BYTES + 1),
    "a dotted key of many parts": "a" + ".a" * 60_000 + " = 1\n",
    "a quoted dotted key of many parts": '"="' + '."a"' * 30_000 + " = 1\n",
    "a dotted table of many parts": "[a" + ".a" * 60_000 + "]\n",
    "an inline dotted key of many parts": "a = {b" + ".b" * 60_000 + " = 1}\n",
    "blanks without end": " " * 120_000,
    "quotes without end": '"' * 120_000,
    "escaped quotes without end": 'a = "' + '\\"' * 60_000,
    "escaped quotes in a key": '\\"' * 60_000,
    "one word without end": "a" * 120_000,
    "short dotted keys without end": "a.b " * 30_000,
    "apostrophes": "'" * 120_001,
    "brackets": "[" * 120_000,
    "comments": "#\n" * 60_000,
    "many escapes": 'a = "' + "\\n" * 60_000 + '"',
    "many tables": "".join(f"[a.a{i}]\n" for i in range(12_000)),
    "many arrays of tables": "[[a]]\n" * 20_000,
    "many dotted keys": "".join(f"a.b.c.d.e.f.g.h.a{i} = 1\n" for i in range(4_500)),
    "an array of many numbers": "a = [" + "1," * 60_000 + "]",
    "a range of many numbers": f'energy = "x"\n{HEAD}'.replace("[0, 1]", "[" + "1," * 60_000 + "]"),
    "deep arrays": "a = " + "[" * 60_000,
    "deep closed arrays": "a = " + "[" * 300 + "]" * 300,
    "deep inline tables": "a = " + "{a = " * 20_000,
    "many unknown keys": "".join(f"a{i} = 1\n" for i in range(12_000)),
    "many coordinates": 'energy = "x"\n[coordinates]\n' + "".join(f"x{i} = 1\n" for i in range(9_000)) + HEAD[14:],
    "a very long key": f'energy = "x"\n{"k" * 100_000} = 1\n{HEAD}',
    "a very long unknown name": formula("y" * 3000),
    "a long circle": f'energy = "d0"\n{HEAD}[define]\n' + "".join(f'd{i} = "d{(i + 1) % 400}"\n' for i in range(400)),
    "small gaps that need large definitions": (
        f'energy = "x"\n{HEAD}[define]\nd0 = "x"\n'
        + "".join(f'd{i} = "d{i - 1}*x + d{i - 1}"\n' for i in range(1, 300))
        + "[unilateral]\n"
        + "".join(f'g{i} = "d299"\n' for i in range(400))
    ),
    "tables as formulas": f"{HEAD}[energy]\na = 1\n",
    "arrays of tables": f'energy = "x"\n{HEAD}[[define]]\na = "1"\n',
    "a date as range": 'energy = "x"\n[coordinates]\nx = 1\n[control]\nrange = [1979-05-27, 1980-05-27]\n',
}


PATIENCE = 10.0  # seconds, on a busy machine; work that is not bounded takes forever


@pytest.mark.parametrize("reason", HOSTILE)
def test_hostile_file(reason):
    error, seconds = refuse(HOSTILE[reason])
    assert seconds < PATIENCE
    assert "evil.toml" in error.place
    assert len(str(error)) < 2000


@pytest.mark.parametrize("text", CODE)
@pytest.mark.parametrize("where", ["energy", "unilateral", "define"])
def test_code_is_refused(text, where):
    quoted = f"'''{text}'''"
    in_table = f'energy = "x"\n{HEAD}[{where}]\na = {quoted}\n'
    error, seconds = refuse(f"energy = {quoted}\n{HEAD}" if where == "energy" else in_table)
    assert seconds < PATIENCE
    assert "column" in error.place
    assert str(error).rstrip().endswith("^")


def test_control_characters_do_not_reach_the_terminal():
    for text in ('"\\u001b[31m" = 1\n', f'{HEAD}energy = "x"\n"\\u001b]0;" = 1\n', 'energy = "x + \\u001b"\n' + HEAD):
        error, _ = refuse(text)
        assert "\x1b" not in str(error)


def test_doubling_definitions_stay_cheap():
    """2**60 terms when written out; each definition is evaluated once."""
    chain = "".join(f'd{i} = "d{i - 1} + d{i - 1}"\n' for i in range(1, 60))
    begin = time.process_time()
    system, _ = loads(f'energy = "d59"\n{HEAD}[define]\nd0 = "x"\n{chain}')
    energy = system.residual(np.array([1.0]), 0.0, np.zeros(0))[0]
    assert energy == 2.0**59
    assert time.process_time() - begin < 10.0


@settings(max_examples=200)
@given(st.binary(max_size=300))
def test_random_bytes(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("bytes") / "a.toml"
    path.write_bytes(data)
    begin = time.process_time()
    with pytest.raises(ModelFileError):
        load(path)
    assert time.process_time() - begin < 1.0


lines = st.lists(
    st.one_of(
        st.sampled_from(
            ["[coordinates]", "[control]", "range = [0, 1]", "x = 0.0", "[define]", "[unilateral]", "[[a]]"]
        ),
        st.sampled_from(
            ['energy = "x"', 'title = """', '"""', "x.y = 1", "a = {b = 1}", "[define.a]", "k = true", "[x"]
        ),
        st.text(max_size=20),
        st.text("ax01.=\"'[]{}#+-*/() \n", max_size=30),
    ),
    max_size=12,
)


@settings(max_examples=300)
@given(lines)
def test_random_lines(parts):
    begin = time.process_time()
    try:
        loads("\n".join(parts))
    except ModelFileError as error:
        assert str(error)
    assert time.process_time() - begin < 5.0  # what happens to be valid is traced by JAX as well


@settings(max_examples=200)
@given(st.text(max_size=60))
def test_random_formulas_in_files(text):
    quoted = '"' + "".join(c if c.isalnum() and c.isascii() else f"\\U{ord(c):08X}" for c in text) + '"'
    try:
        loads(f"energy = {quoted}\n{HEAD}")
    except ModelFileError as error:
        assert str(error)


def test_the_watch_would_notice():
    _events.clear()
    _watching.append(True)
    try:
        open(__file__, encoding="utf-8").close()
        exec("pass")  # noqa: S102
    finally:
        _watching.clear()
    assert {"open", "exec"} <= set(_events)


PARTS = """
[node."n{i}"]
repeat = {i = [0, 100000]}
at = ["i", 0]
[bar."b{i}"]
repeat = {i = [1, 99000]}
ends = ["n{i-1}", "n{i}"]
stiffness = 1.0
[control]
range = [0, 1]
"""
MANY = {
    "too many parts": PARTS.replace("99000", "199999"),
    "overrides without end": PARTS + "".join(
        f'[node."n{{i+{k}}}"]\nrepeat = {{i = [0, 90000]}}\nfixed = true\n' for k in range(500)
    ),
    "long arrays": PARTS.replace("at = [", "at = [" + "0, " * 9000),
    "long names": PARTS.replace('"n{i-1}"', '"' + "{i}" * 900 + '"'),
    "different laws": PARTS.replace("100000", "5000").replace("99000", "5000").replace(
        "stiffness = 1.0", 'law = "e**{i}"'
    ),
    "definitions that double": "[define]\na0 = '1'\n" + "".join(
        f"a{k + 1} = 'a{k}+a{k}'\n" for k in range(100)
    ) + "[node.a]\nat = ['a100', 0]\n[control]\nrange = [0, 1]\n",
    "deep arrays": PARTS.replace('["i", 0]', "[" * 20 + "]" * 20),
    "an array of texts": PARTS.replace("stiffness = 1.0", "stiffness = ['1']"),
    "a folder": PARTS + "[import]\ntruss = '.'\n",
    "a device": PARTS + "[import]\ntruss = '/dev/zero'\n",
}  # fmt: skip


@pytest.mark.parametrize("case", MANY)
def test_parts_are_bounded(case):
    _, seconds = refuse(MANY[case])
    assert seconds < 20

"""Random model files: made by a grammar, most of them valid, and mutated; each is read, or refused in words, cheaply.

A sample runs in `make test`, ten thousand of each kind in `make test-all`.
"""

import random
import resource
import time
from contextlib import suppress

import pytest

from onesided import zoo
from onesided.base.errors import OnesidedError
from onesided.files.reading import load, loads

pytestmark = pytest.mark.filterwarnings("ignore:units may be mixed")
SECONDS = 2.0  # of the processor, for one file
MEGABYTES = 500  # beyond what the process had before
SAMPLE, MANY = 60, 10_000
CHECKED = 25  # one file in so many is evaluated as well: that compiles
FUNCTIONS = "sin", "cos", "sqrt", "exp", "abs", "tanh"
HOSTILE = (
    "", " ", "\n", '"', "'", "[", "]", "{", "}", "=", ".", ",", "#", "-", "**", "(", ")", "1e999", "nan", "inf", "-0",
    "0x10", "true", "[[", "]]", "\x00", "\x1b[31m", "\u202e", "é", "9" * 40, "repeat", "constructor", "__class__",
)  # fmt: skip


def expression(rng, names, depth=0):
    """A formula of the names."""
    kind = rng.random()
    if depth > 3 or kind < 0.3:
        return rng.choice([*names, f"{rng.uniform(-3, 3):.3g}".replace("-", "") or "1", "pi"])
    if kind < 0.45:
        return f"{rng.choice(FUNCTIONS)}({expression(rng, names, depth + 1)})"
    if kind < 0.6:
        return f"({expression(rng, names, depth + 1)})**{rng.choice([2, 3, 4])}"
    if kind < 0.63:
        return f"{rng.choice(['max', 'min'])}({expression(rng, names, depth + 1)}, {rng.choice([0, 1, 'p'])})"
    return f"({expression(rng, names, depth + 1)} {rng.choice('+-*')} {expression(rng, names, depth + 1)})"


def of_formulas(rng):
    """A model of formulas."""
    coordinates = [f"x{i}" for i in range(rng.randint(1, 4))]
    parameters = [f"k{i}" for i in range(rng.randint(0, 3))]
    defined = [f"d{i}" for i in range(rng.randint(0, 4))]
    known = [*coordinates, *parameters, "p"]
    lines = [f'energy = "{expression(rng, [*known, *defined])}"', "[coordinates]"]
    lines += [f"{name} = {rng.uniform(-2, 2):.3f}" for name in coordinates]
    lines += ["[control]", f"range = [{rng.randint(-3, 0)}, {rng.randint(1, 3)}]"]
    if parameters:
        lines += ["[parameters]", *(f"{name} = {rng.uniform(0.1, 5):.3f}" for name in parameters)]
    if defined:
        lines.append("[define]")
        for i, name in enumerate(defined):
            lines.append(f'{name} = "{expression(rng, [*known, *defined[:i]])}"')
    if rng.random() < 0.7:
        lines += ["[unilateral]", *(f'g{i} = "{expression(rng, known)}"' for i in range(rng.randint(1, 3)))]
    if rng.random() < 0.3:
        lines += ["[mass]", *(f'{name} = "{rng.uniform(0.1, 3):.2f}"' for name in coordinates)]
        lines += ["[motion]", f"time = [0, {rng.uniform(0.1, 2):.2f}]"]
    return "\n".join(lines) + "\n"


def of_parts(rng):
    """A model of parts: a grid of bars, cables, springs and contacts."""
    count = rng.randint(2, 5)
    lines = [f"node.n{i} = {{ at = [{i}, {rng.uniform(-1, 1):.2f}]{', fixed = true' * (i in {0, count - 1})} }}"
             for i in range(count)]  # fmt: skip
    for i in range(count - 1):
        kind = rng.choice(["bar", "cable"])
        lines.append(f'{kind}.m{i} = {{ ends = ["n{i}", "n{i + 1}"], stiffness = {rng.uniform(1, 100):.2f} }}')
    lines.append(f'force.f = {{ at = "n{rng.randint(1, count - 1)}", force = [0, -1] }}')
    lines.append("control = { range = [0, 1] }")
    rng.shuffle(lines)
    return "\n".join(lines) + "\n"


def mutated(rng, text):
    """A text with a few characters, words or lines removed, doubled, exchanged or put in."""
    for _ in range(rng.randint(1, 6)):
        at, length = rng.randrange(len(text) + 1), rng.choice([1, 1, 2, 5, 20])
        piece = text[at : at + length]
        new = rng.choice([rng.choice(HOSTILE), "", piece * rng.choice([2, 3, 40]), piece[::-1], str(rng.random())])
        text = text[:at] + new + text[at + length :]
    return text


BUNDLED = sorted(zoo.names())
KINDS = {
    "formulas": of_formulas,
    "parts": of_parts,
    "mutated formulas": lambda rng: mutated(rng, of_formulas(rng)),
    "mutated parts": lambda rng: mutated(rng, of_parts(rng)),
    "mutated bundled models": lambda rng: mutated(rng, zoo.text(rng.choice(BUNDLED))),
}
MESH = (
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n3\n1 0 0 0\n2 1 0 0\n3 1 1 0\n$EndNodes\n"
    "$Elements\n2\n1 1 2 1 1 1 2\n2 1 2 1 1 2 3\n$EndElements\n"
)
TABLE = "name,x,y\na,0,0\nb,1,0\nc,1,1\n"


def attempt(read, what):
    """What became of one file; anything but a model or an error of ours, or too much work, fails."""
    begun, before = time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        found = read()
    except OnesidedError as error:
        assert str(error), what
        assert len(str(error)) < 4000, what
        assert "\x1b" not in str(error), what
        found = None
    except Exception as error:
        raise AssertionError(f"{type(error).__name__}: {error}\n{what}") from error
    assert time.process_time() - begun < SECONDS, what
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < MEGABYTES * 1024, what
    return found


def feed(kind, first, count):
    """The share of the files that are models."""
    models = 0
    for seed in range(first, first + count):
        text = KINDS[kind](random.Random(f"{kind} {seed}"))
        model = attempt(lambda text=text: loads(text), text)
        models += model is not None
        with suppress(OnesidedError):
            _ = model and model.system.control_kinks
        if model is not None and seed % CHECKED == 0 and len(model.task.start) < 10:
            with suppress(OnesidedError):
                model.system.check_model(model.task.start, model.task.p)
    return models / count


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample(kind):
    share = feed(kind, 0, SAMPLE)
    assert share > (0.0 if "mutated" in kind else 0.8)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1000 + MANY, 1000))
@pytest.mark.parametrize("kind", KINDS)
def test_many(kind, first):
    feed(kind, first, 1000)


def imported(folder, seed):
    rng = random.Random(seed)
    (folder / "grid.msh").write_text(mutated(rng, MESH), encoding="utf-8")
    (folder / "nodes.csv").write_text(mutated(rng, TABLE), encoding="utf-8")
    source = rng.choice(['mesh = "grid.msh"', 'nodes = "nodes.csv"'])
    (folder / "model.toml").write_text(f"[import]\n{source}\n[bar]\nstiffness = 1\n[control]\nrange = [0, 1]\n")
    attempt(lambda: load(folder / "model.toml"), f"imports, seed {seed}")


def test_a_sample_of_imports(tmp_path):
    for seed in range(SAMPLE):
        imported(tmp_path, seed)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(1000, 1000 + MANY, 1000))
def test_many_imports(tmp_path, first):
    for seed in range(first, first + 1000):
        imported(tmp_path, seed)

"""What a page gives to take along is the state that it shows: run, and compared."""

import tomllib
from html.parser import HTMLParser

import numpy as np
import pytest
from typer.testing import CliRunner

import onesided
from onesided import report, zoo
from onesided.cli.app import app
from onesided.files.new_numbers import carrying, numbers_in


class Shown(HTMLParser):
    """The model text at the end of a page."""

    def __init__(self, page):
        super().__init__()
        self.inside, self.text = False, ""
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.inside = tag == "pre"

    def handle_endtag(self, tag):
        self.inside = False

    def handle_data(self, data):
        self.text += data if self.inside else ""


def offered(tab, frame, button="#as-python"):
    tab.slide(frame)
    tab.page.locator(button).click()
    text = tab.page.locator("#text-body").input_value()
    tab.page.keyboard.press("Escape")
    return text


def executed(text, folder, page, monkeypatch):
    """What the Python of a page makes, beside the model that the page shows."""
    (folder / "model.toml").write_text(Shown(page.read_text(encoding="utf-8")).text, encoding="utf-8")
    monkeypatch.chdir(folder)
    names = {}
    exec(text, names)  # noqa: S102
    return names


def check_states(tab, found, folder, page, monkeypatch):
    """At the middle and the end of each path: the same place, the same energy, an equilibrium."""
    frames, before = tab.frames(), 0
    for path in found.paths:
        for i in (len(path) // 2, len(path) - 1):
            names = executed(offered(tab, frames[before + i]), folder, page, monkeypatch)
            assert names["state"].q == pytest.approx(path.q[i], abs=1e-7)
            assert names["state"].energy == pytest.approx(path.energy[i], abs=1e-9)
        before += len(path)


def test_texts_carry_changed_numbers_or_say_that_they_cannot():
    text = '[parameters]\nh = 0.5  # of the arch\n[control]\nname = "p"\n'
    assert carrying(text, {"h": 0.5, "c_set": 0.0}) == text
    assert carrying(text, {"h": np.float64(0.6)}) == text.replace("0.5", "0.6")
    assert numbers_in(carrying(text, {"h": 0.5, "c_set": 0.1})) == {"h": 0.5, "c_set": 0.1}
    assert numbers_in(carrying('energy = "x**2"\n', {"a b": 2.0})) == {"a b": 2.0}
    assert carrying("", {"h": 0.6}) == ""
    unusual = "parameters = {h = 0.5, k = {a = 1}}\n"
    assert carrying(unusual, {"h": 0.6}) == f'# changed: "h" = 0.6\n{unusual}'


STATED = [
    "[parameters]\nh = 0.5\nk=1\n'c d' = 2.0  # c d\n[control]\nname = 'p'\n",
    "parameters = {h = 0.5, k=1, \"c d\" = 2.0}  # h, k = 3\ncontrol = {name = 'p'}\n",
    "title = 'parameters = {h = 1}'\nparameters={h=0.5,k=1,'c d'=2.0}\n[control]\nname = 'p'\n",
    "parameters.h = 0.5  # of the arch\nparameters.k = 1\nparameters.'c d' = 2.0\n[control]\nname = 'p'\n",
    "[control]\nname = 'p'\n[parameters]\nh = 0.5\nk = 1e0\n\"c d\" = 2",
]


@pytest.mark.parametrize("text", STATED)
@pytest.mark.parametrize("changed", [{"h": 0.6}, {"k": 1e-300}, {"c d": -2.5}, {"h": 1 / 3, "c d": 1e22}, {"new": 4.0}])
def test_new_numbers_stand_where_the_old_ones_stood(text, changed):
    """However parameters are stated: the file means the same but for them, and comments stay."""
    new, old = carrying(text, changed), tomllib.loads(text)
    again = tomllib.loads(new)
    assert again["parameters"] == {**old["parameters"], **changed}
    assert {**again, "parameters": 0} == {**old, "parameters": 0}
    assert new.count("#") == text.count("#")


CASES = [*((verb, "von-mises", "h") for verb in ("trace", "drive", "diagram")), ("simulate", "pendulum", "L")]


@pytest.mark.parametrize(("verb", "model", "name"), CASES)
def test_changed_parameters_stand_in_the_model_that_is_kept(verb, model, name, tmp_path):
    given = [verb, model, "--set", f"{name}=0.6", "-o", str(tmp_path / "r"), "--report", "-q"]
    ran = CliRunner().invoke(app, given)
    assert ran.exit_code == 0, ran.output
    kept = (tmp_path / "r" / "model.toml").read_text(encoding="utf-8")
    assert numbers_in(kept)[name] == 0.6
    assert Shown((tmp_path / "r" / "report.html").read_text(encoding="utf-8")).text.strip() == kept.strip()


def test_a_state_of_a_changed_system_is_its_state(open_page, tmp_path, monkeypatch):
    system = zoo.load("von-mises").system.replace(parameters={"h": 0.6})
    found = onesided.drive(system, [0.6], (0.0, 0.1, 0.0))
    for name, text in (("text", zoo.text("von-mises")), ("inline", inline(zoo.text("von-mises")))):
        page = report.write(found, tmp_path / f"{name}.html", model=text)
        check_states(open_page(page), found, tmp_path, page, monkeypatch)


def inline(text):
    """The model with its parameters on one line, where a new number is not written."""
    numbers = numbers_in(text)
    lines = [line for line in text.splitlines() if line.partition("=")[0].strip() not in {*numbers, "[parameters]"}]
    return f"parameters = {{{', '.join(f'{k} = {v}' for k, v in numbers.items())}}}\n" + "\n".join(lines)


def test_a_state_of_what_remembers_has_its_permanent_set(open_page, yielding, tmp_path, monkeypatch):
    model = onesided.loads(yielding)
    found = onesided.drive(model.system, model.task.start, (0.0, 5.0, 2.0))
    page = report.write(found, tmp_path / "plastic.html", model=yielding)
    tab = open_page(page)
    check_states(tab, found, tmp_path, page, monkeypatch)
    start = offered(tab, tab.frames()[-1], "#as-toml")
    assert numbers_in(start) == {"c_set": found.paths[-1].provenance["parameters"]["c_set"]} != {"c_set": 0.0}


def test_the_python_of_special_states_runs(open_page, tmp_path, monkeypatch):
    system, task = zoo.load("panel-ring")
    found = onesided.trace(system, task.start)
    page = report.write(found, tmp_path / "ring.html", model=zoo.text("panel-ring"))
    tab = open_page(page)
    frame = tab.frames()[141]  # two constraints are dependent here
    names = executed(offered(tab, frame), tmp_path, page, monkeypatch)
    assert names["state"].q == pytest.approx(found.q[141], abs=1e-12)


def test_the_python_of_a_motions_end_goes_on(open_page, tmp_path, monkeypatch):
    motion = onesided.simulate(zoo.load("pendulum").system)
    page = report.write(motion, tmp_path / "motion.html", model=zoo.text("pendulum"))
    tab = open_page(page)
    names = executed(offered(tab, tab.frames()[-1]), tmp_path, page, monkeypatch)
    assert names["motion"].t[0] == motion.t[-1] and names["motion"].t[-1] == 2 * motion.t[-1] - motion.t[0]

"""What a page promises, for every kind of result, in the plane and in space: seen in a real browser."""

import functools

import numpy as np
import pytest
from test_page import data_of, numbers

import onesided
from onesided import report, zoo
from onesided.elements import Body, Marker, Node, Spring
from onesided.results import Motion, columns
from onesided.results.motion_columns import motion_columns

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 1200, 64, 14, 12, 40  # of the diagram, in pixels
DOOR = """
energy = "k/2*(phi - p)**2"
[coordinates]
phi = 0.0
[parameters]
k = 1.0
[control]
range = [0, 1]
[unilateral]
stop = "0.8 - phi"
[sketch]
points = { middle = ["cos(phi)/2", "sin(phi)/2", 0] }
solids.leaf = { at = "middle", turn = [0, 0, "phi"], box = [1.0, 0.05, 2.0] }
marks.stop = ["middle"]
"""


def traced(model):
    system, task = model
    return onesided.trace(system, task.start, task.p, direction=task.direction, p_bounds=task.p_bounds)


def moved(name):
    system, task = zoo.load(name)
    motion = task.motion
    how = {"method": onesided.EventDriven()} if task.motion.method == "event-driven" else {}
    return onesided.simulate(system, task.start, dict(motion.velocities), motion.time, control=task.p, **how)


def tumbling():
    """A free box on a spring, in space."""
    system = onesided.compose(
        Body("box", (0, 0, 0), box=(1.0, 0.6, 0.2), mass=1.0, inertia=(0.04, 0.09, 0.12)),
        Marker("corner", "box", (0.5, 0.3, 0.1)),
        Node("hook", (0.5, 0.3, 1.5), fixed=True),
        Spring("spring", ("corner", "hook"), stiffness=5.0),
    )
    return onesided.simulate(system, system.start, [0.3, 0, 0, 1.0, 0.5, 2.0], (0.0, 3.0))


def driven():
    system, task = zoo.load("corner-limit")
    return onesided.drive(system, task.start, task.programme)


def branches():
    system, task = zoo.load("column-stop")
    return onesided.diagram(system, task.start, task.p, p_bounds=task.p_bounds)


MAKERS = {
    "path": lambda: traced(zoo.load("von-mises-floor")),
    "path in space": lambda: traced(zoo.load("tensegrity-prism")),
    "path of a solid": lambda: traced(onesided.loads(DOOR)),
    "history": driven,
    "diagram": branches,
    "motion": lambda: moved("pendulum"),
    "motion with impacts": lambda: moved("bouncing-ball"),
    "motion in space": tumbling,
}
SOLID = {"path in space", "path of a solid", "motion in space"}


@functools.cache
def result(kind):
    return MAKERS[kind]()


@pytest.fixture(params=MAKERS, scope="module")
def page(request, tmp_path_factory):
    """Kind, result, file and data of a page."""
    found = result(request.param)
    file = report.write(found, tmp_path_factory.mktemp("page") / "report.html")
    return request.param, found, file, data_of(file.read_text(encoding="utf-8"))


def truth(found):
    """Everything a result holds, point after point."""
    if isinstance(found, Motion):
        return motion_columns(found)
    paths = getattr(found, "paths", (found,))
    return {name: np.concatenate([columns(path)[name] for path in paths]) for name in columns(paths[0])}


def test_numbers_read_back_are_those_of_the_arrays(page, open_page):
    _, found, file, data = page
    assert file.stat().st_size <= 6_000_000
    tab, values = open_page(file), truth(found)
    frames = tab.frames()
    assert len(frames) == len(values[data["control"]])
    for i in np.unique(np.linspace(0, len(frames) - 1, 12).astype(int)):
        tab.slide(frames[i])
        told = tab.values()
        for name in data["shown"]:
            size = np.max(np.abs(values[name]))
            assert told[name] == pytest.approx(values[name][i], rel=1e-9, abs=1e-13 * size), name
        for k in data["listed"]:
            name = data["unilateral"][k]
            _, gap, reaction = tab.page.evaluate(
                "n => [...document.querySelectorAll('#constraints tbody tr')].map(r => [...r.cells].map(c =>"
                " c.textContent)).find(r => r[0] === n).slice(1)",
                name,
            )
            for shown, label in ((gap, f"gap {name}"), (reaction, f"reaction {name}")):
                if label in values:
                    truth_here = values[label][i]
                    assert float(shown.replace("−", "-")) == pytest.approx(truth_here, rel=1e-9, abs=1e-13)
    tab.quiet()


def test_click_keys_and_list_lead_to_the_same_places(page, open_page):
    _, _, file, data = page
    tab, table = open_page(file), numbers(data)
    x, y = table[data["x"]], table[data["y"]]
    box = tab.page.locator("#diagram-top").bounding_box()

    def place(frame):
        """Where a point of the diagram is on the screen."""
        share = []
        for column, margin in ((x, 0.06), (y, 0.09)):
            low, high = column.min(), column.max()
            if low == high:
                low, high = low - (abs(low) or 1) / 2, high + (abs(high) or 1) / 2
            share.append(((column[frame] - low) / (high - low) + margin) / (1 + 2 * margin))
        across = LEFT + share[0] * (box["width"] - LEFT - RIGHT)
        return np.array([across, box["height"] - BOTTOM - share[1] * (box["height"] - TOP - BOTTOM)])

    for frame in (data["count"] // 3, data["count"] // 2):
        tab.page.mouse.click(*(np.array([box["x"], box["y"]]) + place(frame)))
        near = place(tab.position()) - place(frame)
        assert np.linalg.norm(near) < 12, "the point, or an event beside it"
    for i, event in list(enumerate(data["events"]))[:20]:
        tab.page.locator("#events button").nth(i).click()
        assert tab.position() == event["frame"]
        here = tab.page.locator("#here").inner_text()
        assert here in {other["words"] for other in data["events"] if other["frame"] == event["frame"]}
    tab.page.locator("h1").click()
    tab.page.keyboard.press("Home")
    assert tab.position() == 0
    tab.page.keyboard.press("ArrowRight")
    assert tab.position() == 1
    tab.page.keyboard.press("Home")
    later = [event["frame"] for event in data["events"] if event["frame"] > 0]
    if later:
        tab.page.keyboard.press("n")
        assert tab.position() == min(later)
    tab.page.keyboard.press("End")
    assert tab.position() == data["count"] - 1
    tab.quiet()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_everything(page, open_page, scheme):
    _, _, file, data = page
    tab = open_page(file, viewport={"width": 390, "height": 844}, is_mobile=True, has_touch=True, color_scheme=scheme)
    for summary in tab.page.locator("summary").all():
        summary.click()
    assert tab.page.evaluate("() => document.documentElement.scrollWidth") <= 390
    assert min(tab.painted(name) for name in ("diagram", "sketch")) > 50
    assert (tab.painted("raster") > 50) == (data["stability"] or bool(data["unilateral"]))
    paper = sum(tab.page.evaluate("() => getComputedStyle(document.body).backgroundColor.match(/[0-9]+/g).map(Number)"))
    assert paper > 600 if scheme == "light" else paper < 150
    tab.quiet()


def test_the_drawing_follows_and_turns(page, open_page):
    kind, _, file, data = page
    tab = open_page(file)
    tab.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
    first = tab.picture()  # after the page has found its size
    shots = set()
    for frame in np.linspace(0, data["count"] - 1, 9).astype(int).tolist():
        tab.slide(frame)
        shots.add(tab.picture())
    assert len(shots) > 2, "it moves"
    tab.slide(0)
    assert tab.picture() == first
    middle = tab.page.locator("#sketch").bounding_box()
    tab.page.mouse.move(middle["x"] + 100, middle["y"] + 100)
    tab.page.mouse.down()
    tab.page.mouse.move(middle["x"] + 160, middle["y"] + 120, steps=4)
    tab.page.mouse.up()
    assert (tab.picture() != first) == (kind in SOLID), "drawings in space are turned by dragging"
    tab.quiet()


def test_a_body_in_space_is_seen_from_everywhere(open_page, tmp_path):
    """The area of the faces of a thin door on the screen: large from the front, small from the edge."""
    tab = open_page(report.write(result("path of a solid"), tmp_path / "report.html"))
    box = tab.page.locator("#sketch").bounding_box()
    areas = []
    for _ in range(16):
        areas.append(tab.painted("sketch"))
        tab.page.mouse.move(box["x"] + 100, box["y"] + 100)
        tab.page.mouse.down()
        tab.page.mouse.move(box["x"] + 120, box["y"] + 100, steps=2)
        tab.page.mouse.up()
    assert max(areas) > 4 * min(areas)
    tab.quiet()

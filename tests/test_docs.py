"""The documentation: every code block runs as written, every printed line is printed, every citation resolves."""

import ast
import contextlib
import io
import re
import shlex
from importlib import import_module
from pathlib import Path
from types import ModuleType

import matplotlib as mpl
import pytest
from typer.testing import CliRunner

import onesided
from onesided import zoo
from onesided.cli.app import app
from onesided.results import Kind
from onesided.results.explain import slug

DOCS = Path(__file__).parents[1] / "docs"
GENERATED = ("gallery", "changes.md")
PAGES = sorted(p for p in DOCS.rglob("*.md") if p.relative_to(DOCS).parts[0] not in GENERATED)
BLOCK = re.compile(r"^```(\w+)(?: title=\"([^\"]*)\")?\n(.*?)^```", re.DOTALL | re.MULTILINE)

mpl.use("Agg")


class Page:
    """A page being read: names defined so far, and everything printed so far."""

    def __init__(self):
        self.names, self.printed = {}, ""

    def python(self, text, _):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            exec(compile(text, "docs", "exec"), self.names)  # noqa: S102 - our own documentation
        self.printed += out.getvalue()

    def sh(self, text, _):
        for line in text.splitlines():
            words = shlex.split(line, comments=True)
            if words and words[0] == "onesided":
                done = CliRunner().invoke(app, words[1:])
                assert done.exit_code == 0, (line, done.output)
                self.printed += done.output

    def toml(self, text, title):
        if title:
            with Path(title.lstrip("+")).open("a" if title.startswith("+") else "w", encoding="utf-8") as file:
                file.write(text)
            text = Path(title.lstrip("+")).read_text(encoding="utf-8")
        onesided.loads(text)

    def text(self, text, _):
        for line in text.splitlines():
            assert line in self.printed, line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_code_runs_as_written(page, tmp_path, monkeypatch):
    from matplotlib import pyplot as plt

    monkeypatch.chdir(tmp_path)
    reader = Page()
    for language, title, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        getattr(reader, language)(text, title)
        plt.close("all")


@pytest.mark.parametrize("page", sorted((DOCS / "howto").glob("*.md")), ids=lambda page: page.stem)
def test_every_how_to_ends_in_a_picture_that_is_there(page):
    shown = re.fullmatch(r"!\[.+\]\((.+)\)", page.read_text(encoding="utf-8").rstrip().splitlines()[-1])
    assert shown, "the last line is no picture"
    assert (page.parent / shown[1]).is_file()


def test_every_public_name_is_in_the_reference():
    documented = []
    for page in (DOCS / "api").glob("*.md"):
        for place in re.findall(r"^::: ([\w.]+)$", page.read_text(encoding="utf-8"), re.MULTILINE):
            module, _, name = place.rpartition(".")
            found = getattr(import_module(module), name, None)
            documented.append(import_module(place) if found is None else found)
    names = {getattr(known, "__name__", "") for known in documented}
    public = {name: getattr(onesided, name) for name in onesided.__all__ if name != "__version__"}
    assert {name for name, value in public.items() if not isinstance(value, ModuleType)} - names == set()


def test_every_bundled_model_has_a_lesson_in_the_gallery():
    text = (DOCS / "phenomena.py").read_text(encoding="utf-8")
    lessons = ast.literal_eval(re.search(r"^LESSONS = (\{.*?^\})", text, re.DOTALL | re.MULTILINE).group(1))
    assert set(lessons) == set(zoo.names())
    shown = re.findall(r'"([\w-]+)": "(?:trace|drive|diagram|simulate)"', text)
    assert sorted(shown) == sorted(zoo.names()), "each under one phenomenon"


def test_every_kind_of_event_has_its_place_in_the_theory():
    text = (DOCS / "theory" / "events.md").read_text(encoding="utf-8")
    assert [anchor for kind in Kind if (anchor := f"{{#{slug(kind)}}}") not in text] == []


def test_every_citation_in_the_documentation_has_an_entry():
    known = set(re.findall(r"^@\w+\{(\w+),", (DOCS / "references.bib").read_text(), re.MULTILINE))
    cited = {key for page in PAGES for key in re.findall(r"\[([A-Z]{2}\d?)(?=[ ,\]])", page.read_text())}
    assert {"SP1", "QT", "SW", "AR"} <= cited <= known


@pytest.mark.parametrize("page", ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_files_that_are_named_exist(page):
    """Of the package and the tests, by the end of their paths."""
    root = DOCS.parent
    known = {f"/{file.relative_to(root)}" for part in ("src", "tests", "docs") for file in (root / part).rglob("*.*")}
    named = re.findall(r"`(?:src/onesided/)?([\w/]+\.(?:pyi?|js|html))`", (root / page).read_text(encoding="utf-8"))
    assert named
    assert [name for name in named if not any(file.endswith(f"/{name}") for file in known)] == []


def defined_names():
    """Names that every file of the package defines or hands on, with the folders and the file they stand in."""
    root = DOCS.parent / "src" / "onesided"
    for file in root.rglob("*.py*"):
        if file.suffix in {".py", ".pyi"}:
            tree = ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            kinds = ast.FunctionDef, ast.ClassDef, ast.alias
            yield (*file.relative_to(root).parts[:-1], file.stem), {one.name for one in tree if isinstance(one, kinds)}


def test_names_in_the_drawings_of_the_architecture_exist():
    """`module.name` and names with an underscore, in the drawings of what one call does; objects have methods."""
    places = list(defined_names())
    modules, names = ({one for place in places for one in place[i]} for i in (0, 1))
    drawn = "".join(re.findall(r"^```\n(.*?)^```", (DOCS / "architecture.md").read_text(), re.DOTALL | re.MULTILINE))
    dotted = set(re.findall(r"\b([a-z_]+)\.([A-Za-z_]+)\b(?!\()", drawn))
    assert len(dotted) > 10
    for module, name in dotted:
        inside = [own | set(place) for place, own in places if module in place]
        assert any(name in own for own in inside), f"{module}.{name}"
    assert set(re.findall(r"\b[a-z]+(?:_[a-z]+)+\b", drawn)) - names - modules == set()


def test_the_navigation_names_every_page():
    listed = set(re.findall(r"[\w/]+\.md", (DOCS.parent / "mkdocs.yml").read_text()))
    assert {str(page.relative_to(DOCS)) for page in PAGES} <= listed


def test_the_list_of_parts_is_current(monkeypatch):
    """Every kind has its place, drawing and keys with a meaning; the page is the one that the classes give."""
    from onesided.files.part_kinds import part_kinds

    monkeypatch.syspath_prepend(str(DOCS))
    listed = import_module("part_list")
    own = {name for name, kind in part_kinds().items() if kind.cls.__module__.startswith("onesided.")}
    assert own == {name for names in listed.GROUPS.values() for name in names} == set(listed.DRAWINGS)
    page = (DOCS / "kinds.md").read_text(encoding="utf-8")
    assert page == listed.page(), "run python docs/part_list.py"
    assert "|  |" not in page

"""Settings for all tests: compilation may exceed any deadline, and CI must not depend on luck."""

import gc
import os
from functools import lru_cache, wraps

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # two workers have a core each: threads would wait for each other
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # processes that tests start read modules that were compiled before

import pytest
from hypothesis import settings

from onesided.files import reading as files

EARLY = ("test_collecting.py",)  # searches all objects there are, of which there are few at first
LONGEST = (  # files that take longest begin first, so that no core waits for another at the end
    "test_docs.py", "test_dependent_contacts.py", "test_thin_obstacles.py", "test_plates_on_feet.py",
    "test_trace_many.py", "test_slip_begins.py", "test_reader.py", "test_refinement.py", "test_every_result.py",
    "test_tumbling.py", "test_wedged.py", "test_contacts.py", "test_live_browser.py", "test_coincidences.py",
    "test_browser.py", "test_contact_sizes.py", "test_moreau_leaps.py", "test_qt_c_methods.py",
    "test_qt_d_mast.py", "test_paths_hostile.py", "test_branching.py", "test_peers_motion.py", "test_stretches.py",
    "test_campaign.py", "test_compiling.py", "test_many_steps.py", "test_reference_f.py",
    "test_paths_properties.py", "test_pictures.py", "test_motion_energy.py", "test_follow.py",
    "test_large_branches.py", "test_units_of_bodies.py", "test_surface_watch.py", "test_no_event_missed.py",
    "test_interrupt.py", "test_rolling_disk.py", "test_orders.py", "test_dependent_contacts_in_motion.py",
    "test_stick_slip.py", "test_cli.py", "test_installation.py", "test_ends_of_event_curves.py",
    "test_qt_examples_and_cli.py", "test_progress.py", "test_sensitivity.py", "test_zoo_parts.py", "test_study.py",
    "test_wrong_parts.py", "test_stories.py", "test_plane_by_hand.py", "test_motion_files.py", "test_symmetry.py",
    "test_falls.py", "test_qt_systems.py",
)  # fmt: skip

LATE = ("test_hostile.py",)  # hears of every `id` and `open` from then on, which takes longer than many tests
gc.set_threshold(1_000_000, 20, 20)  # most of what tracing makes stays: looking through it finds little
settings.register_profile("onesided", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("onesided")


def _once(read):
    """Hand out one system for one text: systems do not change, and most of the time of a test is compilation."""
    shared = lru_cache(maxsize=512)(read)

    @wraps(read)
    def loads(text, name="<string>", *, folder=None):
        alone = folder is None or not any(word in text for word in ("[import", "[study"))
        alone = alone and isinstance(text, str) and isinstance(name, str)
        return shared(text, name) if alone else read(text, name, folder=folder)

    return loads


files.loads = _once(files.loads)  # before any test imports it


@pytest.fixture(autouse=True, scope="module")
def _old_objects_are_not_searched_again():
    """Keep what earlier files have compiled out of garbage collection: searching it takes longer than many tests."""
    gc.freeze()


@pytest.fixture
def own_folder(tmp_path, monkeypatch):
    """The test runs in a folder of its own."""
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def yielding():
    """A model file that remembers: a cable with a permanent set beside a spring."""
    return """
[parameters]
s = 3.0
[node.a]
at = [0, 0]
fixed = true
[node.m]
at = [10, 0]
fixed = "y"
[plastic_cable.c]
ends = ["a", "m"]
stiffness = 10.0
yield_tension = 2.0
hardening = 1.0
[spring.s1]
ends = ["a", "m"]
stiffness = "s"
[force.P]
at = "m"
force = [1, 0]
[control]
start = 0.0
range = [-8.0, 12.0]
"""


def pytest_collection_modifyitems(items):
    """Put the files that take longest first, some at the end; the order within a file stays."""
    rank = {name: i for i, name in enumerate((*EARLY, *LONGEST))}
    rank |= dict.fromkeys(LATE, len(rank) + 1)
    items.sort(key=lambda item: rank.get(item.path.name, len(rank) - len(LATE)))


def pytest_terminal_summary(terminalreporter):
    """Print the counts of the random campaigns, whether they passed or not."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, [])]
    lines = [text for report in reports for name, text in report.user_properties if name == "campaign"]
    if lines:
        terminalreporter.section("random campaigns")
        for line in lines:
            terminalreporter.line(line)

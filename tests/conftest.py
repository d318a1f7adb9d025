"""Settings for all tests: compilation may exceed any deadline, and CI must not depend on luck."""

import gc
import os
from functools import lru_cache, wraps

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # two workers have a core each: threads would wait for each other

import pytest
from hypothesis import settings

from onesided.files import reading as files

LONGEST = (  # files that take longest begin first, so that no core waits for another at the end
    "test_docs.py", "test_contacts.py", "test_contact_physics.py", "test_progress.py", "test_reference_f.py",
    "test_stick_slip.py", "test_beams.py", "test_peers_motion.py", "test_paths_properties.py", "test_motion_energy.py",
    "test_campaign.py", "test_in_space.py", "test_motion_files.py", "test_sparse_motion.py", "test_many_steps.py",
    "test_cables_in_motion.py", "test_no_event_missed.py", "test_motion_features.py", "test_readme.py",
    "test_plastic_cables.py", "test_space_by_hand.py", "test_plane_by_hand.py", "test_peers_paths.py", "test_servo.py",
    "test_symmetric_diagrams.py", "test_notebooks.py", "test_interrupt.py",
)  # fmt: skip

gc.set_threshold(100_000, 20, 20)  # most of what tracing makes stays: looking through it finds little
settings.register_profile("onesided", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("onesided")


def _once(read):
    """Hand out one system for one text: systems do not change, and most of the time of a test is compilation."""
    shared = lru_cache(maxsize=512)(read)

    @wraps(read)
    def loads(text, name="<string>", *, folder=None):
        alone = isinstance(text, str) and isinstance(name, str) and (folder is None or "[import" not in text)
        return shared(text, name) if alone else read(text, name, folder=folder)

    return loads


files.loads = _once(files.loads)  # before any test imports it


@pytest.fixture(autouse=True, scope="module")
def _old_objects_are_not_searched_again():
    """Keep what earlier files have compiled out of garbage collection: searching it takes longer than many tests."""
    gc.freeze()


def pytest_collection_modifyitems(items):
    """Put the files that take longest first; the order within a file stays."""
    rank = {name: i for i, name in enumerate(LONGEST)}
    items.sort(key=lambda item: rank.get(item.path.name, len(LONGEST)))


def pytest_terminal_summary(terminalreporter):
    """Print the counts of the random campaigns, whether they passed or not."""
    reports = [report for outcome in ("passed", "failed") for report in terminalreporter.stats.get(outcome, [])]
    lines = [text for report in reports for name, text in report.user_properties if name == "campaign"]
    if lines:
        terminalreporter.section("random campaigns")
        for line in lines:
            terminalreporter.line(line)

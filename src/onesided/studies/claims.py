"""Whose a folder is: one study, and one run of it at a time."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from onesided.base.atomic import ENDING, try_to_write, whole_file
from onesided.base.errors import UsageError
from onesided.results.studied import KEPT, STUDY, read_statement, write_statement
from onesided.results.study_cases import CASES, Cases, read_cases
from onesided.results.study_rows import ROWS
from onesided.studies.workers import LOG

try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None  # type: ignore[assignment]

LOCK, MODEL, PAGE = "running", "model.toml", "report.html"
OURS = {LOCK, MODEL, PAGE, STUDY, CASES, ROWS, KEPT, LOG}


@contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Hold the folder for one run; a killed process holds nothing."""
    _make(folder)
    with (folder / LOCK).open("a") as handle:
        if fcntl is not None:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise UsageError(
                    f"the study in '{folder}' is running", advice="wait for it; open_study(…) reads it meanwhile"
                ) from None
            except OSError:  # a file system without locks
                pass
        yield


def is_running(folder: Path) -> bool:
    """Whether a process of this machine works on the study."""
    if fcntl is None or not (folder / LOCK).exists():
        return False
    with (folder / LOCK).open("a") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
    return False


def _make(folder: Path) -> None:
    """The folder, if it may be used: it is new, empty, or of a study."""
    try:
        if folder.exists():
            others = sorted(one.name for one in folder.iterdir() if one.name not in OURS and ENDING not in one.name)
            if others and not (folder / STUDY).exists():
                raise UsageError(
                    f"'{folder}' exists and holds no study", got=", ".join(others[:5]), expected="a folder of its own"
                )
        try_to_write(folder / STUDY)
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"'{folder}' cannot be written", got=str(error.strerror or error)) from error


def claim(folder: Path, statement: Mapping[str, Any], cases: Cases, model: str) -> None:
    """Make the folder that of this study; one of another study is refused with what differs.

    A study may grow: more cases of a sample, or of the first axis, that leave the others as they are.
    """
    try:
        if (folder / STUDY).exists():
            earlier = read_cases(folder)
            _compare(folder, read_statement(folder), statement, same=cases.goes_on(earlier))
            if len(cases) > len(earlier):
                cases.write(folder)
            return
        if model:
            with whole_file(folder / MODEL) as draft:
                draft.write_text(model, encoding="utf-8")
        cases.write(folder)
        write_statement(folder, statement)
    except OSError as error:
        raise UsageError(f"'{folder}' cannot be written", got=str(error.strerror or error)) from error


def _compare(folder: Path, earlier: Mapping[str, Any], now: Mapping[str, Any], *, same: bool) -> None:
    before, after = earlier["task"], now["task"]
    found = [
        f"another task ({key}: {before.get(key)}, now {after[key]})" for key in after if before.get(key) != after[key]
    ]
    if earlier["model"] != now["model"]:
        other = earlier.get("python"), now["python"]
        found.append("another model" + (f" (or Python {other[0]}, now {other[1]})" if other[0] != other[1] else ""))
    if earlier["version"] != now["version"]:
        found.append(f"another version of onesided ({earlier['version']}, now {now['version']})")
    if not same or (earlier.get("sampling"), earlier.get("seed")) != (now["sampling"], now["seed"]):
        found.append("other cases")
    if found:
        raise UsageError(
            f"'{folder}' belongs to another study", got="; ".join(found), expected="the same study, or a new folder",
            advice="folder=… with another name",
        )  # fmt: skip

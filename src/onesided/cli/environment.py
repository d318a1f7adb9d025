"""What this installation consists of: versions, caches, devices and programs, for a report of a fault."""

import os
import platform
import shutil
import sys
from importlib import metadata
from importlib.util import find_spec

from onesided import evaluation
from onesided._version import __version__
from onesided.base.caches import BOUND, cache_root, compiled_code, entries

NEEDED = "numpy", "scipy", "jax", "jaxlib", "numba", "feral-solver", "matplotlib", "typer", "pydantic"
OPTIONAL = "meshio", "imageio-ffmpeg", "pyarrow", "dask"
BROWSERS = "chromium", "chromium-browser", "google-chrome", "firefox"
MEGABYTE = 2**20


def environment() -> dict[str, str]:
    """Facts about this installation, in words."""
    return {
        "onesided": __version__,
        "python": f"{platform.python_version()} ({sys.executable})",
        "system": f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores",
        **{name: _version(name) for name in NEEDED},
        "optional": ", ".join(f"{name} {_version(name)}" for name in OPTIONAL),
        "devices": _devices(),
        "cache": kept_code(),
        "ffmpeg": _ffmpeg(),
        "browser": next((found for name in BROWSERS if (found := shutil.which(name))), "none found"),
    }


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"


def _devices() -> str:
    """What JAX computes on; its start is tried here, since it is what fails where drivers do not fit."""
    return evaluation.jax_process.devices()


def kept_code() -> str:
    """Where compiled code is kept and how much there is, in words."""
    folder = compiled_code()
    if folder is None:
        return f"none: {cache_root()} cannot be written, or is not private"
    found = tuple(entries(folder))
    size = sum(entry.size for entry in found) / MEGABYTE
    return f"{folder}: {len(found)} entries, {size:.1f} of {BOUND / MEGABYTE:.0f} MB"


def _ffmpeg() -> str:
    found = shutil.which("ffmpeg")
    if found is not None:
        return found
    return "by the package imageio-ffmpeg" if find_spec("imageio_ffmpeg") else "none found: films as .gif only"

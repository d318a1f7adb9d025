"""Animations: the configuration along a path or a history, as GIF or MP4."""

from pathlib import Path as FilePath
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter
from matplotlib.figure import Figure

from onesided.base.atomic import whole_file
from onesided.base.errors import UsageError
from onesided.plots.configuration import Film, draw, film_of, prepared
from onesided.plots.style import INK, settings

FRAMES = 120


def animate(result: Any, file: str | FilePath, *, frames: int = FRAMES, rate: int = 25, title: str = "") -> FilePath:
    """Write an animation along a result: `.gif`, or `.mp4` where the program ffmpeg can be found.

    Parameters
    ----------
    frames : about how many pictures;  rate : pictures per second.
    """
    return write_film(film_of(result, wanted=frames), file, frames=frames, rate=rate, title=title)


def write_film(found: Film, file: str | FilePath, *, frames: int = FRAMES, rate: int = 25, title: str = "") -> FilePath:
    """Write a film, whole or not at all."""
    target = FilePath(file)
    writer, program = _writer(target, rate)
    chosen = np.unique(np.linspace(0, len(found) - 1, min(frames, len(found))).round().astype(int))
    figure = _figure(found)
    with (
        whole_file(target) as draft,
        settings(),
        mpl.rc_context({"animation.ffmpeg_path": program}),
        writer.saving(figure, str(draft), dpi=100),
    ):
        for i in chosen:
            axes = figure.axes[0]
            axes.clear()
            prepared(found, axes)
            draw(axes, found, int(i))
            axes.set_title("\n".join(text for text in (title, found.captions[i]) if text), loc="left", color=INK)
            writer.grab_frame()
    return target


def _figure(found: Film) -> Figure:
    figure = Figure(figsize=(4.8, 4.4))
    with settings():
        figure.add_subplot(projection="3d" if found.sketch.dimension == 3 else None)
    return figure


def _writer(target: FilePath, rate: int) -> tuple[AbstractMovieWriter, str]:
    """What writes the file, and the program it needs for that."""
    kind = target.suffix.lower()
    if kind == ".gif":
        return PillowWriter(fps=rate), ""
    if kind != ".mp4":
        raise UsageError("this kind of animation is not known", got=repr(target.suffix), expected=".gif or .mp4")
    program = _ffmpeg()
    if program is None:
        raise UsageError(
            "an .mp4 needs the program ffmpeg, which was not found",
            advice="install ffmpeg (`apt install ffmpeg`, `brew install ffmpeg`, or `pip install imageio-ffmpeg`), "
            "or write a .gif",
        )
    return FFMpegWriter(fps=rate), program


def _ffmpeg() -> str | None:
    """The program ffmpeg: the one that matplotlib knows, or the one that the package imageio-ffmpeg brings."""
    if FFMpegWriter.isAvailable():
        return str(mpl.rcParams["animation.ffmpeg_path"])
    try:
        from imageio_ffmpeg import get_ffmpeg_exe

        return str(get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        return None

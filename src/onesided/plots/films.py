"""Animations: the configuration along a path or a history, as GIF or MP4."""

import itertools
import textwrap
from pathlib import Path as FilePath
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.animation import AbstractMovieWriter, FFMpegWriter, PillowWriter
from matplotlib.figure import Figure

from onesided.base.atomic import whole_file
from onesided.base.errors import UsageError
from onesided.base.types import Array
from onesided.plots.configuration import Film, draw, film_of, ghost, prepared
from onesided.plots.palette import ACCENT, INK
from onesided.plots.style import settings

FRAMES = 120
FLASH = 5  # frames before a jump, and after it
FALL = 22  # frames of what lies between
WIDE = 44  # characters of a line above the picture
LINE = 0.056  # its height, as a share of the figure
TOP = 0.968  # of the first line, clear of the edge that flashes


def animate(result: Any, file: str | FilePath, *, frames: int = FRAMES, rate: int = 25, title: str = "") -> FilePath:
    """Write an animation along a result: `.gif`, or `.mp4` where the program ffmpeg can be found.

    Motions are played in time, paths by arc length; a jump is a flash, with the other state as a shadow, and between
    them the states on the way down (`Jump.fall`), not in real time.

    Parameters
    ----------
    frames : about how many pictures;  rate : pictures per second.
    """
    return write_film(film_of(result, wanted=frames), file, frames=frames, rate=rate, title=title)


def write_film(found: Film, file: str | FilePath, *, frames: int = FRAMES, rate: int = 25, title: str = "") -> FilePath:
    """Write a film, whole or not at all."""
    target = FilePath(file)
    writer, program = _writer(target, rate)
    figure = _figure(found)
    with (
        whole_file(target) as draft,
        settings(),
        mpl.rc_context({"animation.ffmpeg_path": program}),
        writer.saving(figure, str(draft), dpi=100),
    ):
        for scene in scenes(found, frames):
            _draw_scene(figure, found, scene, title)
            writer.grab_frame()
    return target


class FilmFrame(NamedTuple):
    """One frame: the picture, what was or will be beside a jump as a ghost, and what flashes."""

    picture: int
    shade: int | None = None
    alert: str = ""


def scenes(found: Film, frames: int) -> list[FilmFrame]:
    """Frames at equal distances of time or arc length; before and after a fall the picture stands still and flashes."""
    jumps = dict(found.jumps)
    edges = [*found.begins, len(found)]
    clock = np.arange(len(found), dtype=float) if found.clock is None else found.clock
    total = float(clock[-1] - clock[0]) or 1.0
    left, shown = max(frames - 2 * FLASH * len(jumps), 2 * len(found.begins)), list[FilmFrame]()
    for begin, end in itertools.pairwise(edges):
        if begin in jumps:
            shown += [FilmFrame(begin - 1, begin, jumps[begin])] * FLASH
            way = found.falls.get(begin, range(0))
            at = np.linspace(0, len(way) - 1, min(FALL, len(way))).round().astype(int)
            shown += [FilmFrame(way[int(i)], begin - 1, found.captions[way[int(i)]]) for i in at]
            shown += [FilmFrame(begin, begin - 1, jumps[begin])] * FLASH
        own = clock[begin:end]
        count = max(round(left * float(own[-1] - own[0]) / total), min(2, end - begin))
        shown += [FilmFrame(begin + int(i)) for i in _nearest(own, np.linspace(own[0], own[-1], count))]
    return shown


def _nearest(clock: Array, wanted: Array) -> Array:
    """Indices of the pictures closest to the moments."""
    after = np.clip(np.searchsorted(clock, wanted), 1, max(len(clock) - 1, 1))
    before = after - 1
    after = np.minimum(after, len(clock) - 1)
    return np.asarray(np.where(wanted - clock[before] < clock[after] - wanted, before, after))


def _draw_scene(figure: Figure, found: Film, scene: FilmFrame, title: str) -> None:
    axes = figure.axes[0]
    axes.clear()
    prepared(found, axes)
    if scene.shade is not None:
        ghost(axes, found, scene.shade)
    draw(axes, found, scene.picture)
    lines = [*textwrap.wrap(title, WIDE)[:2], scene.alert or found.captions[scene.picture]]
    for text in list(figure.texts):
        text.remove()
    figure.subplots_adjust(left=0.02, right=0.98, bottom=0.02, top=TOP - LINE * len(lines))
    for i, line in enumerate(lines):
        heading = i < len(lines) - 1
        colour = ACCENT if scene.alert and not heading else INK
        weight = "bold" if heading or scene.alert else "normal"
        figure.text(0.03, TOP - LINE * i, line, va="top", fontsize=10.5, color=colour, fontweight=weight)
    figure.patch.set(edgecolor=ACCENT, linewidth=8.0 if scene.alert else 0.0)


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

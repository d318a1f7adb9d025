"""Events as a table for people: №, kind, place, contacts, stability, and below a row what the columns cannot say."""

import shutil
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from itertools import zip_longest
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from onesided.cli.exits import WIDEST
from onesided.results import Event, Jump, Kind, MotionEvent, Path
from onesided.results.path import format_number
from onesided.results.wording import sides

NARROWEST = 14  # columns that names of contacts are given before other columns are wrapped
NAMES = 3  # contacts named in a row
BETWEEN = "  "

out = Console()


class EventRow(NamedTuple):
    """One event: cells as text, what else is to be said, and whether it stands out; without cells a line between."""

    cells: tuple[str, ...]
    remark: str = ""
    loud: bool = False


def width() -> int:
    """Columns to write in: those of the terminal, 80 where there is none, and not more than can be read with ease."""
    return min(shutil.get_terminal_size().columns, WIDEST)  # asked each time: terminals are resized


def say(text: str, hang: int = 2) -> None:
    """Markup as lines of words; those after the first are indented."""
    for i, line in enumerate(Text.from_markup(text).wrap(out, max(width() - hang, NARROWEST))):
        line.rstrip()
        out.print(" " * hang if i else "", line, sep="", highlight=False, soft_wrap=True)


def place(text: str) -> None:
    """Markup as one line, whatever its length: names of files are to be copied."""
    out.print(text, highlight=False, soft_wrap=True)


def facts(lines: Mapping[str, str]) -> None:
    """Names with what is said of them, in two columns."""
    first = max(map(len, lines))
    for name, text in lines.items():
        _print((name, text), (first, max(width() - first - len(BETWEEN), NARROWEST)), "", left=True)


def event_row(event: Event, number: int | None, path: Path) -> EventRow:
    """An event of a path; a bound has no number."""
    called = path.provenance.get("closings", {})
    cells = (_number(number), _kind(event, called), format_number(event.p), _contacts(event, called), _stability(event))
    return EventRow(cells, "; ".join(_remarks(event)))


def jump_row(jump: Jump, number: int) -> EventRow:
    """A jump of a drive."""
    remark = f"after a {jump.reason.value}: energy {format_number(jump.energy)} released"
    said = remark + (f"; {jump.note}" if jump.note else "")
    return EventRow((_number(number), "jump", format_number(jump.p), "", "to a stable state"), said, loud=True)


def motion_row(event: MotionEvent, number: int) -> EventRow:
    """A moment of a motion."""
    return EventRow(
        (_number(number), event.called or event.kind.value, format_number(event.t), event.name, event.detail)
    )


def show(heads: Sequence[str], rows: Sequence[EventRow]) -> None:
    """Print rows under their heads: columns as wide as they must be, the last two wrapped where lines are too long.

    Where even that does not fit, rows are sentences.
    """
    if not rows:
        return
    widths = _widths([heads, *(row.cells for row in rows if row.cells)])
    narrow = sum(widths) + len(BETWEEN) * (len(widths) - 1) > width()
    if any(row.cells for row in rows) and not narrow:
        _print(heads, widths, "dim")
    for row in rows:
        if row.cells and narrow:
            number, kind, place, *rest = row.cells
            said = "; ".join([f"{kind}, {heads[2]} = {place}", *filter(None, rest)])
            lines = textwrap.wrap(said, max(width() - widths[0] - len(BETWEEN), NARROWEST))
            for i, line in enumerate(lines):
                _print(("" if i else number, line), (widths[0], len(line)), "bold" if row.loud else "")
            _hanging(row.remark, widths[0] + len(BETWEEN), "dim")
        elif row.cells:
            _print(row.cells, widths, "bold" if row.loud else "")
            _hanging(row.remark, widths[0] + len(BETWEEN), "dim")
        else:
            _hanging(row.remark, 0, "bold" if row.loud else "")


def _hanging(text: str, indent: int, style: str) -> None:
    """Words below their row; lines after the first are indented further."""
    lines = textwrap.wrap(text, width(), initial_indent=" " * indent, subsequent_indent=" " * (indent + 2))
    if lines:
        out.print(Text("\n".join(lines), style=style), highlight=False, soft_wrap=True)


def _number(number: int | None) -> str:
    return "" if number is None else str(number)


def _kind(event: Event, called: dict[str, str]) -> str:
    """Its name; cables go slack, stops are left."""
    if event.kind in {Kind.closes, Kind.opens} and event.constraints:
        words = sides(called.get(event.constraints[0], ""))
        return words.closes if event.kind is Kind.closes else words.opens
    return event.kind.value


def _contacts(event: Event, called: dict[str, str]) -> str:
    """Names of the constraints; where the kind does not say it, with what they do."""
    names = event.constraints
    if event.kind not in {Kind.closes, Kind.opens} and event.incoming is not None and event.followed is not None:
        before, after = (set(event.rays[i].closed) for i in (event.incoming, event.followed))
        done = {name: _verb(called.get(name, ""), closes=name in after) for name in before ^ after}
        names = tuple(f"{name} {done[name]}" if name in done else name for name in names)
    return ", ".join(names) if len(names) <= NAMES else f"{', '.join(names[: NAMES - 1])}, … ({len(names)})"


def _verb(called: str, *, closes: bool) -> str:
    """What one constraint does: "opens", "goes slack"."""
    words = sides(called)
    return (words.closes if closes else words.opens).partition(" ")[2]


def _stability(event: Event) -> str:
    return "not decided" if event.neutral and not event.stability() else event.stability()


def _remarks(event: Event) -> list[str]:
    """What the columns leave out: the details of a kind, forces that are not unique, that the system jumps."""
    plain = event.kind in {Kind.closes, Kind.opens, Kind.limit, Kind.corner_limit}
    ahead = None if event.followed is None else event.rays[event.followed]
    usual = plain and ahead is not None and not ahead.loose and not ahead.idle and ahead.p_sign != 0
    return [*([event.detail] if event.detail and not usual else []), *event.remarks()]


def _widths(lines: Iterable[Sequence[str]]) -> list[int]:
    """Width of each column; where the sum is too large the last but one gives way, then the last."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    for place in (-2, -1):
        over = sum(widths) + len(BETWEEN) * (len(widths) - 1) - width()
        if over > 0:
            widths[place] = max(widths[place] - over, min(widths[place], NARROWEST))
    return widths


def _print(cells: Sequence[str], widths: Sequence[int], style: str, *, left: bool = False) -> None:
    """One row; cells that are longer than their column go on in the next line."""
    parts = [
        textwrap.wrap(cell, max(n, 1), break_long_words=False) or [""] for cell, n in zip(cells, widths, strict=True)
    ]
    for line in zip_longest(*parts, fillvalue=""):
        padded = [f"{text:{n}}" for text, n in zip(line, widths, strict=True)]
        first = padded[0] if left else line[0].rjust(widths[0])
        out.print(Text(BETWEEN.join([first, *padded[1:]]).rstrip(), style=style), highlight=False, soft_wrap=True)

"""What statics says of a system: friction is left out, lengths that p makes negative, memory that paths do not have."""

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.tolerances import HALF_DIGITS
from onesided.base.types import Array
from onesided.results.member_series import Members, without_length
from onesided.system.system import System

SHOWN = 6  # names of contacts


def left_out(system: System) -> str:
    """What statics leaves out of this system, in words; empty where it is nothing."""
    rubbing = [name for name, contact in system.contacts.items() if _rubs(contact)]
    parts = [f"contact{'s' if len(rubbing) > 1 else ''} {_listed(rubbing)}"] if rubbing else []
    parts += ["joints"] if system.friction is not None else []
    return f"statics has no friction: that of {' and '.join(parts)} is left out, `simulate` has it" if parts else ""


def noted(system: System, note: str, p: Array | None = None) -> str:
    """A note with what statics leaves out, and with what has no meaning along p."""
    short = "" if p is None else too_short(system, np.asarray(p))
    return "; ".join(text for text in (note, left_out(system), short) if text)


def too_short(system: System, p: Array) -> str:
    """Members whose natural length p makes negative, in words: their forces have no meaning there."""
    names = [] if system.structure is None else system.structure.shrunk(system.parameters, p)
    return f"the natural length of {_listed(names)} becomes negative: forces have no meaning there" if names else ""


def vanished(members: Members) -> str:
    """Members whose ends have come together at the last point, in words: their force has no direction there."""
    names = without_length(members, HALF_DIGITS)
    return f"the ends of {_listed(names)} come together: a force between them has no direction there" if names else ""


def refuse_history(system: System) -> None:
    """Paths are for models without memory: they are the same in both directions."""
    if system.history:
        raise UsageError(
            "this model remembers how it was loaded: a path of it cannot be traced",
            got=", ".join(system.history),
            advice="follow a programme of p with `onesided.drive`, or use elastic cables",
        )


def _rubs(contact: object) -> bool:
    kinds = ("friction", "static_friction", "rolling_friction", "spinning_friction")
    return any(getattr(contact, kind) for kind in kinds)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(f"'{name}'" for name in names[:SHOWN]) + more

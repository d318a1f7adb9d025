"""Statics knows no friction: its results say so where a system states some."""

from onesided.system.system import System

SHOWN = 6  # names of contacts


def left_out(system: System) -> str:
    """What statics leaves out of this system, in words; empty where it is nothing."""
    rubbing = [name for name, contact in system.contacts.items() if _rubs(contact)]
    parts = [f"contact{'s' if len(rubbing) > 1 else ''} {_listed(rubbing)}"] if rubbing else []
    parts += ["joints"] if system.friction is not None else []
    return f"statics knows no friction: that of {' and '.join(parts)} is left out, `simulate` has it" if parts else ""


def noted(system: System, note: str) -> str:
    """A note with what statics leaves out."""
    return "; ".join(text for text in (note, left_out(system)) if text)


def _rubs(contact: object) -> bool:
    kinds = ("friction", "static_friction", "rolling_friction", "spinning_friction")
    return any(getattr(contact, kind) for kind in kinds)


def _listed(names: list[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(f"'{name}'" for name in names[:SHOWN]) + more

"""A system in a notebook."""

from typing import TYPE_CHECKING

from onesided.results.display import bold, table

if TYPE_CHECKING:
    from onesided.model.system import System


def system_html(system: "System") -> str:
    """Names and numbers of a system."""
    parameters = ", ".join(f"{name} = {value:g}" for name, value in system.parameters.items())
    rows = [
        ("coordinates", ", ".join(system.coordinates)),
        ("control", system.control),
        ("one-sided constraints", ", ".join(system.unilateral)),
        ("two-sided constraints", ", ".join(system.bilateral)),
        ("parameters", parameters),
        ("measures", ", ".join(name for name in system.measures if "." not in name)),
        ("sketch", "yes" if system.sketch is not None else ""),
    ]
    return bold("System") + table([(label, words) for label, words in rows if words])

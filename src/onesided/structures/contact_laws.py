"""What the contacts of a structure do in motion, as its elements say."""

from typing import TYPE_CHECKING

from onesided.base.errors import ModelError
from onesided.elements.contact_keys import Bouncing, Rubbing
from onesided.elements.contract import Element
from onesided.system.compliance import compliance_of
from onesided.system.contact import Contact, StructureRate

if TYPE_CHECKING:
    from onesided.structures.structure import Structure


def contacts_of_parts(structure: "Structure") -> dict[str, Contact]:
    """Contacts by name, of elements that say more than that they do not bounce and do not rub."""
    found = {}
    for element in structure.elements:
        if isinstance(element, Bouncing) and (element.restitution or element.rubs or _soft(element)):
            for ending in element.gap_names:
                found[element.called(ending)] = _contact(structure, element, element.called(ending))
    return found


def _contact(structure: "Structure", element: Bouncing, name: str) -> Contact:
    try:
        if not isinstance(element, Rubbing):
            return Contact(element.restitution)
        law = compliance_of(element.kelvin_voigt, element.hunt_crossley)
        if not element.rubs:
            return Contact(element.restitution, compliance=law)
        _check_at_rest(structure, element)
        space = structure.places[element.places[0]].dimension == 3
        across = 2 if space else 1
        if element.spinning_friction and not space:
            raise element.error("has no spinning friction in the plane", expected="`rolling_friction`")
        return Contact(
            element.restitution, element.friction, StructureRate((name, "slip"), across), element.static_friction,
            element.rolling_friction, StructureRate((name, "rolling"), across),
            element.spinning_friction, StructureRate((name, "spinning"), 1), law,
        )  # fmt: skip
    except ModelError as error:
        if error.about:
            raise
        raise element.error(error.what, got=error.got, expected=error.expected, advice=error.advice) from None


def _soft(element: Bouncing) -> bool:
    return isinstance(element, Rubbing) and bool(element.kelvin_voigt or element.hunt_crossley)


def check_dampers(structure: "Structure") -> None:
    """Refuse dampers at places that jump from sample to sample of p: their force has no bound there."""
    for element in structure.elements:
        if element.conservative and type(element).wrenches is not Element.wrenches:
            _check_at_rest(structure, element, "depends on velocities")


def _check_at_rest(structure: "Structure", element: Element, what: str = "has friction") -> None:
    """Refuse what depends on velocities at places that the control parameter moves."""
    for name in element.places:
        moved = [slot.name for slot in structure.places[name].slots if not slot.free and slot.rate != 0.0]
        if moved:
            raise element.error(
                f"{what} and is attached to '{name}', which the control parameter moves",
                got=", ".join(moved),
                advice="free the place, give it a mass, and move it by a drive",
            )

"""What a model file says about motion, as functions: masses, forces, friction, servo conditions, contacts, spaces."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import jax.numpy as jnp

from onesided.base.errors import ModelError
from onesided.files.schema import FileModel
from onesided.groups import SE2, SE3, SO2, SO3, Group, Product, Vector
from onesided.system.compliance import compliance_of
from onesided.system.contact import Contact

if TYPE_CHECKING:
    from onesided.files.formula_system import Book, Recipe
    from onesided.formulas.functions import Table
    from onesided.groups import Group


RATES = ("slip", "rolling", "spinning")  # of contacts: formulas of coordinates and velocities


def contacts_of(file: FileModel, book: "Book", table: "Table") -> dict[str, Any]:
    """Contacts by name, each with its `slip`."""
    found = {}
    for name, stated in file.contacts.items():
        rates = {
            kind: kinetic_of(file, book.recipe([("contacts", name, kind)], table))
            for kind in RATES
            if getattr(stated, kind) is not None
        }
        given: dict[str, Any] = stated.model_dump(exclude={*RATES, "kelvin_voigt", "hunt_crossley"})
        try:
            law = compliance_of(stated.kelvin_voigt, stated.hunt_crossley)
            found[name] = Contact(**{**given, **rates, "compliance": law})
        except ModelError as error:
            raise book.source.error(
                ("contacts", name), error.what, got=error.got, expected=error.expected, advice=error.advice
            ) from None
    return found


def columns(names: Iterable[str], values: Any) -> dict[str, Any]:
    """Rows of an array by name, to be put into formulas."""
    return {name: values[i] for i, name in enumerate(names)}


def kinetic_of(file: FileModel, recipe: "Recipe") -> Callable[[Any, Any, Any], Any]:
    """A scalar of (q, v, th)."""
    rates = [f"{name}_dot" for name in file.coordinates]
    return lambda q, v, th: recipe.values(columns(file.coordinates, q), columns(rates, v), th)[0]


def mass_of(file: FileModel, recipe: "Recipe") -> Callable[[Any, Any], Any]:
    """The diagonal mass matrix of `[mass]`."""
    return lambda q, th: jnp.diag(jnp.stack(recipe.values(columns(file.coordinates, q), th)))


def space_size(part: str) -> int:
    """Number of coordinates of a part of a configuration space."""
    return {"SO2": 1, "SE2": 3, "SO3": 3, "SE3": 6}[part] if part[0] == "S" else int(part[1:])


def space_of(parts: Iterable[str]) -> "Group":
    """The configuration space of names like R3 and SO3."""
    named: dict[str, Group] = {"SO2": SO2(), "SE2": SE2(), "SO3": SO3(), "SE3": SE3()}
    return Product(*(named[part] if part in named else Vector(space_size(part)) for part in parts))


def friction_of(file: FileModel, book: "Book", table: "Table") -> Callable[[Any, Any, Any, Any], Any]:
    """Forces (q, v, mu, th) of `[friction]`."""
    recipe = book.recipe([("friction", name) for name in file.friction], table)
    rates, forces = [f"{name}_dot" for name in file.coordinates], [f"{name}_force" for name in file.bilateral]

    def friction(q: Any, v: Any, mu: Any, th: Any) -> Any:
        groups = columns(file.coordinates, q), columns(rates, v), columns(forces, mu)
        return _placed(file, file.friction, recipe.values(*groups, th))

    return friction


def actuation_of(file: FileModel, book: "Book", table: "Table") -> Callable[[Any, Any], Any]:
    """B(q, th): a column of forces for each input of `[servo]`."""
    paths = [[("servo", name, "input", key) for key in servo.input] for name, servo in file.servo.items()]
    recipes = [book.recipe(some, table) for some in paths]

    def actuation(q: Any, th: Any) -> Any:
        forces = [
            _placed(file, servo.input, recipe.values(columns(file.coordinates, q), th))
            for servo, recipe in zip(file.servo.values(), recipes, strict=True)
        ]
        return jnp.stack(forces, axis=1)

    return actuation


def _placed(file: FileModel, keys: Iterable[str], values: Iterable[Any]) -> Any:
    """Values of some coordinates as a vector, zero elsewhere."""
    given = dict(zip(keys, values, strict=True))
    return jnp.stack([given.get(name, jnp.asarray(0.0, float)) for name in file.coordinates])


def force_of(file: FileModel, book: "Book", table: "Table") -> Callable[[Any, Any, Any, Any, Any], Any]:
    """Forces (t, q, v, p, th) of `[forces]`."""
    recipe = book.recipe([("forces", name) for name in file.forces], table)
    rates = [f"{name}_dot" for name in file.coordinates]

    def force(t: Any, q: Any, v: Any, p: Any, th: Any) -> Any:
        values = recipe.values({"t": t, file.control.name: p}, columns(file.coordinates, q), columns(rates, v), th)
        return _placed(file, file.forces, values)

    return force

"""The kinds of parts that a model file may hold: keys and types come from the fields of the classes.

Every place and every element kind that exists is known here by itself: `[bar.left] stiffness = "k"` is
`Bar("left", stiffness="k")`. A field that is not for users (`repr=False`) has no key.
"""

import types
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from enum import Enum
from functools import cache, cached_property
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from onesided.elements.contact_keys import Coefficient
from onesided.elements.contract import kinds, subclasses
from onesided.elements.places import Place
from onesided.elements.schedules import CONTROL
from onesided.files.schema import shown
from onesided.files.schema_tables import FormatError, finite_number
from onesided.formulas.gate import DEFAULT_LIMITS

MAX_ITEMS = 10_000  # of one array


@dataclass(frozen=True)
class Field:
    """One key of a kind: how to read its value, and its JSON schema.

    Attributes
    ----------
    read : value from TOML → the same, checked, with arrays as tuples; raises a FormatError without a path.
    quantity : whether text in it is a formula (otherwise it is a name or a word).
    control : whether the formula may use the control parameter.
    """

    read: Callable[[Any], Any]
    schema: dict[str, Any]
    quantity: bool = False
    control: bool = False


@dataclass(frozen=True)
class PartKind:
    """A kind of part: its name in files, its class, its keys."""

    name: str
    cls: type[Any]

    @cached_property
    def fields(self) -> Mapping[str, Field]:
        """Its keys, found when they are first asked for: a file holds few of all kinds."""
        hints = get_type_hints(self.cls, include_extras=True)
        wanted = [f.name for f in fields(self.cls) if f.init and f.repr and f.name != "name"]
        return {name: field_of(hints[name]) for name in wanted}

    def schema(self) -> dict[str, Any]:
        """JSON schema of the table of this kind: defaults for all its entries, and entries."""
        keys = {name: field.schema for name, field in self.fields.items()}
        entry = {
            "type": "object",
            "description": _summary(self.cls),
            "properties": {**keys, "repeat": REPEAT_SCHEMA},
            "additionalProperties": False,
        }
        about = f"name = {self.name}; keys beside the entries are defaults for all of them"
        return {"type": "object", "description": about, "properties": keys, "additionalProperties": entry}


REPEAT_SCHEMA: dict[str, Any] = {
    "type": "object",
    "description": "index = [first, last]: the entry stands for all these; {i}, {i-1}, {(i+1)%6} in names",
    "additionalProperties": {"type": "array", "items": {"type": "integer"}, "minItems": 2, "maxItems": 2},
    "minProperties": 1,
    "maxProperties": 3,
}


def part_kinds() -> Mapping[str, PartKind]:
    """All kinds by name, places first; kinds that a program defines later are found as well."""
    places = [cls for cls in subclasses(Place) if cls.kind]
    return _part_kinds((*places, *kinds().values()))


@cache
def _part_kinds(classes: tuple[type[Any], ...]) -> Mapping[str, PartKind]:
    return {cls.kind: PartKind(cls.kind, cls) for cls in classes}


def _summary(cls: type[Any]) -> str:
    return (cls.__doc__ or "").strip().split("\n")[0]


def field_of(hint: Any) -> Field:
    """How a value of this type is written in a file."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return replace(field_of(arguments[0]), control=CONTROL in arguments[1:])
    if origin in {Union, types.UnionType}:
        return _union([argument for argument in arguments if argument is not type(None)])
    if origin is Literal or (isinstance(hint, type) and issubclass(hint, Enum)):
        return _choice(hint, arguments)
    if hint in _PLAIN:
        return _PLAIN[hint]
    if origin is tuple and arguments[-1] is not Ellipsis:
        return _array([field_of(argument) for argument in arguments])
    if origin in {tuple, list, Sequence}:
        return _array(field_of(arguments[0]))
    if origin in {dict, Mapping}:
        return _table(field_of(arguments[1]))
    raise TypeError(f"a field of type {hint} cannot be written in a model file: hide it with repr=False")


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise FormatError((), "neither true nor false", expected="true or false")
    return value


def _integer(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise FormatError((), "not an integer", expected="an integer")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise FormatError((), "not text", expected="text in quotes")
    if len(value) > DEFAULT_LIMITS.length:
        raise FormatError((), "the text is too long", expected=f"{DEFAULT_LIMITS.length} characters at most")
    return value


def _coefficient(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise FormatError((), "not a coefficient", expected="a number of 0 or more; a formula has no place here")
    return float(value)


def _quantity(value: Any) -> float | str:
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise FormatError((), "not a quantity", expected='a number, or a formula of parameters in quotes, like "2*k"')
    return finite_number(value)


QUANTITY = Field(_quantity, {"type": ["number", "string"]}, quantity=True)
_PLAIN: dict[Any, Field] = {
    float: Field(finite_number, {"type": "number"}),
    Coefficient: Field(_coefficient, {"type": "number", "minimum": 0}),
    int: Field(_integer, {"type": "integer"}),
    bool: Field(_flag, {"type": "boolean"}),
    str: Field(_text, {"type": "string"}),
}


def _choice(hint: Any, arguments: tuple[Any, ...]) -> Field:
    members: dict[Any, Any] = {a: a for a in arguments} or {member.value: member for member in hint}

    def read(value: Any) -> Any:
        if not isinstance(value, str | int) or value not in members:
            raise FormatError((), "not one of the choices", expected=", ".join(map(shown, members)))
        return members[value]

    return Field(read, {"enum": list(members)})


def _array(items: Field | list[Field]) -> Field:
    """An array of any length, or one with a field for each place."""
    several = isinstance(items, list)
    each = items if isinstance(items, list) else [items]

    def read(value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or (several and len(value) != len(each)):
            raise FormatError((), "not an array", expected=f"an array of {len(each)}" if several else "an array")
        if len(value) > MAX_ITEMS:
            raise FormatError((), "the array is too long", expected=f"{MAX_ITEMS} items at most")
        return tuple(each[k if several else 0].read(item) for k, item in enumerate(value))

    schema: dict[str, Any] = {"type": "array", "items": each[0].schema}
    sizes = {"minItems": len(each), "maxItems": len(each)} if several else {}
    return Field(read, schema | sizes, quantity=each[0].quantity, control=each[0].control)


def _table(items: Field) -> Field:
    def read(value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise FormatError((), "not a table", expected="a table, like {y = 1.0}")
        return {key: items.read(item) for key, item in value.items()}

    return Field(read, {"type": "object", "additionalProperties": items.schema}, quantity=items.quantity)


def _union(hints: list[Any]) -> Field:
    """Several types: a number or text together are a quantity; the first that reads the value wins."""
    options: list[Field] = []
    if float in hints and str in hints:
        options.append(QUANTITY)
        hints = [hint for hint in hints if hint not in {float, str}]
    options += [field_of(hint) for hint in hints]
    if len(options) == 1:
        return options[0]

    def read(value: Any) -> Any:
        errors: list[FormatError] = []
        for option in options:
            try:
                return option.read(value)
            except FormatError as error:
                errors.append(error)
        raise FormatError((), "not usable here", expected=", or ".join(error.expected for error in errors))

    quantity, control = any(o.quantity for o in options), any(o.control for o in options)
    return Field(read, {"anyOf": [o.schema for o in options]}, quantity, control)

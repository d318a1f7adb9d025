"""From the tables of a model file to parts: `[bar.left] ends = ["a", "top"]` to `Bar("left", ends=("a", "top"))`."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from onesided.base.errors import ModelError, ModelFileError
from onesided.elements.schedules import OTHERWISE, UNSCHEDULED
from onesided.files.part_kinds import Field, PartKind, part_kinds
from onesided.files.part_repeat import Binder, Repeat, Values, quantity_binder, read_repeat, text_binder
from onesided.files.schema import FileModel, shown
from onesided.files.schema_tables import FormatError
from onesided.files.toml_places import Path, Source
from onesided.formulas.formula import FormulaError, parse
from onesided.formulas.gate import DEFAULT_LIMITS, suggestion
from onesided.formulas.written import replace_names
from onesided.structures.structure import Part

MAX_PARTS = 200_000
MAX_WORK = 20_000_000  # characters of entries, each as often as it is repeated
PART_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*", re.ASCII)
PART_NAME_LENGTH = 48
ONCE = Repeat({})


class ImportedPart(NamedTuple):
    """One part that was read from another file: its kind, name and keys, and where it stands."""

    kind: str
    name: str
    values: Mapping[str, Any]
    place: str


@dataclass
class PartEntry:
    """A part in the making: later entries of the same name may change its values."""

    kind: PartKind
    values: dict[str, Any]
    path: Path
    place: str = ""

    def make(self, name: str) -> Part:
        """The part as an object; its class checks the values."""
        part: Part = self.kind.cls(name=name, **self.values)
        return part


@dataclass
class PartTables:
    """Reads the tables of parts; collects entries by name.

    Attributes
    ----------
    file : the rest of the file (parameters, definitions, control).
    source : its text, for the places of errors.
    """

    file: FileModel
    source: Source
    kinds: Mapping[str, PartKind] = field(default_factory=part_kinds)
    entries: dict[str, PartEntry] = field(default_factory=dict)
    defaults: dict[str, dict[str, Any]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._work = 0
        self._constants = dict(self._inlined(()))
        self._schedules = dict(self._inlined((self.file.control.name,)))
        self._taken = {
            **dict.fromkeys(self.file.parameters, "parameter"),
            **dict.fromkeys(self.file.define, "definition"),
            self.file.control.name: "control parameter",
        }

    def read(self, tables: Mapping[str, Any], rows: Iterable[ImportedPart] = ()) -> list[Part]:
        """All parts: those of other files first, so that entries of this file may change them."""
        for kind_name, table in tables.items():
            self.defaults[kind_name] = self._read_defaults(self.kinds[kind_name], table)
        for row in rows:
            self._add_row(row)
        for kind_name, table in tables.items():
            kind = self.kinds[kind_name]
            for name, value in table.items():
                if name not in kind.fields:
                    self._add(kind, name, value)
        parts: list[Part] = []
        for name, entry in self.entries.items():
            with self.located(entry):
                parts.append(entry.make(name))
        return parts

    # places of errors ------------------------------------------------------------------------------------------------

    @contextmanager
    def located(self, entry: PartEntry | None = None) -> Iterator[None]:
        """Give errors of parts and of `compose` their place in the file."""
        try:
            yield
        except FormulaError as error:
            found = (e for e in self.entries.values() if any(error.formula in _texts(v) for v in e.values.values()))
            entry = entry or next(found, None)
            if error.place or entry is None:
                raise
            if entry.place:
                raise error.at(entry.place) from None
            keys = [key for key, value in entry.values.items() if error.formula in _texts(value)]
            raise self.source.formula_error((*entry.path, *keys[:1]), error) from None
        except ModelFileError:
            raise
        except ModelError as error:
            raise self._error(entry or self.entries.get(error.about), error) from None

    def _error(self, entry: PartEntry | None, error: ModelError) -> ModelFileError:
        path = () if entry is None else entry.path
        words = {"got": error.got, "expected": _short(error.expected), "advice": error.advice}
        if entry is not None and entry.place:
            return ModelFileError(error.what, place=entry.place, **words)
        return self.source.error(path, error.what, **words)

    # tables ----------------------------------------------------------------------------------------------------------

    def _read_defaults(self, kind: PartKind, table: Mapping[str, Any]) -> dict[str, Any]:
        keys = [key for key in table if key in kind.fields]
        return {key: self._binder(kind, key, table[key], (kind.name, key), ONCE)({}) for key in keys}

    def _add(self, kind: PartKind, name: str, value: Any) -> None:
        path = (kind.name, name)
        if not isinstance(value, dict):
            what = f"{shown(name)} is neither a key of {kind.name} nor a table with a part"
            advice = suggestion(name, kind.fields)
            raise self.source.error(path, what, expected=", ".join(kind.fields), advice=advice)
        repeat = (
            self._guard((*path, "repeat"), lambda: read_repeat(value["repeat"], self._taken))
            if "repeat" in value
            else ONCE
        )
        binders = {
            key: self._binder(kind, key, one, (*path, key), repeat) for key, one in value.items() if key != "repeat"
        }
        self._work += repeat.count * len(repr(value))
        if len(self.entries) + repeat.count > MAX_PARTS or self._work > MAX_WORK:
            got = f"{repeat.count} in this entry"
            raise self.source.error(path, "the file makes too many parts", got=got, expected=f"{MAX_PARTS} at most")
        name_of = self._guard(path, lambda: text_binder(name, repeat))
        made: set[str] = set()
        for values in repeat:
            one = self._fill(path, name_of, values)
            if one in made:
                raise self.source.error(path, f"the name '{one}' is made twice", advice="use every index in the name")
            made.add(one)
            bound = {key: self._fill((*path, key), binder, values) for key, binder in binders.items()}
            self._put(kind, one, bound, path)

    def _add_row(self, row: ImportedPart) -> None:
        kind = self.kinds.get(row.kind)
        if kind is None:
            what = f"unknown kind {shown(row.kind)}"
            raise ModelFileError(what, place=row.place, advice=suggestion(row.kind, self.kinds))
        if len(self.entries) >= MAX_PARTS:
            raise ModelFileError("there are too many parts", place=row.place, expected=f"{MAX_PARTS} at most")
        self._put(kind, row.name, dict(row.values), (kind.name, row.name), row.place)

    def _put(self, kind: PartKind, name: str, values: dict[str, Any], path: Path, place: str = "") -> None:
        """A new part, or new values for one that an earlier entry made."""
        earlier = self.entries.get(name)
        if earlier is None:
            if not PART_NAME.fullmatch(name) or len(name) > PART_NAME_LENGTH:
                rule = f"an ASCII letter, then letters, digits and `_`, {PART_NAME_LENGTH} characters at most"
                raise self.source.error(path, f"the name {shown(name)} cannot be used", expected=rule)
            self.entries[name] = PartEntry(kind, {**self.defaults.get(kind.name, {}), **values}, path, place)
        elif earlier.kind is kind and not place:
            earlier.values.update(values)
            earlier.path = path
        else:
            what = f"the name '{name}' is used twice: for a {earlier.kind.name} and a {kind.name}"
            raise self._error(PartEntry(kind, {}, path, place), ModelError(what, advice="rename one"))

    # values ----------------------------------------------------------------------------------------------------------

    def _guard(self, path: Path, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except FormatError as error:
            at = (*path, *error.path)
            raise self.source.error(at, error.what, expected=error.expected, advice=error.advice) from None
        except FormulaError as error:
            raise self.source.formula_error(path, error) from None

    def _fill(self, path: Path, binder: Binder, values: Values) -> Any:
        return self._guard(path, lambda: binder(values))

    def _binder(self, kind: PartKind, key: str, raw: Any, path: Path, repeat: Repeat) -> Binder:
        if key not in kind.fields:
            known = [*kind.fields, "repeat"]
            advice = suggestion(key, known)
            what = f"unknown key {shown(key)} in [{'.'.join(path[:-1])}]"
            raise self.source.error(path, what, expected=", ".join(known), advice=advice)
        spec = kind.fields[key]
        try:
            value = spec.read(raw)
        except FormatError as error:
            raise self.source.error(path, error.what, got=shown(raw), expected=error.expected) from None
        return self._guard(path, lambda: self._bind(value, repeat, spec))  # type: ignore[no-any-return]

    def _bind(self, value: Any, repeat: Repeat, spec: Field) -> Binder:
        if isinstance(value, str):
            return self._bind_quantity(value, repeat, spec) if spec.quantity else text_binder(value, repeat)
        if isinstance(value, tuple):
            items = [self._bind(item, repeat, spec) for item in value]
            return lambda values: tuple(item(values) for item in items)
        if isinstance(value, dict):
            table = {key: self._bind(item, repeat, spec) for key, item in value.items()}
            return lambda values: {key: item(values) for key, item in table.items()}
        return lambda values: value

    def _bind_quantity(self, text: str, repeat: Repeat, spec: Field) -> Binder:
        written = self._schedules if spec.control else self._constants
        if "{" not in text:
            formula, control = parse(text), self.file.control.name
            moving = {control, *(self._schedules.keys() - self._constants.keys())} & formula.names
            if moving and not spec.control:
                raise formula.error(UNSCHEDULED, min(moving), advice=OTHERWISE)
            formula.require({*self.file.parameters, *written, *repeat.ranges, control})
        return quantity_binder(text, repeat, lambda filled: replace_names(filled, written))

    def _inlined(self, more: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """Definitions that rest on parameters and `more` only, written out: quantities may use them."""
        waiting, known = dict(self.file.define), dict[str, str]()
        while ready := [n for n, text in waiting.items() if _names(text) <= {*self.file.parameters, *more, *known}]:
            for name in ready:
                text = replace_names(waiting.pop(name), known)
                if len(text) > DEFAULT_LIMITS.length:
                    what = "this is too long when the definitions it uses are written out"
                    raise self.source.error(("define", name), what, expected=f"{DEFAULT_LIMITS.length} characters")
                known[name] = f"({text})"
                yield name, known[name]


def _texts(value: Any) -> list[str]:
    """All texts in a value."""
    if isinstance(value, str):
        return [value]
    items = value.values() if isinstance(value, dict) else value if isinstance(value, tuple) else ()
    return [text for item in items for text in _texts(item)]


def check_tables(tables: Mapping[str, Any]) -> None:
    """Refuse what is neither a table of the format nor one of a kind of parts."""
    kinds = part_kinds()
    for name, table in tables.items():
        if name not in kinds:
            known = [field.alias or key for key, field in FileModel.model_fields.items()]
            expected = f"{', '.join(known)}, or a kind of part: {', '.join(kinds)}"
            advice = suggestion(name, [*known, *kinds])
            raise FormatError(
                (name,), f"unknown key {shown(name)} in the file", expected=expected, advice=advice, named=True
            )
        if not isinstance(table, dict):
            expected = f"[{name}.NAME] with the keys {', '.join(kinds[name].fields)}"
            raise FormatError((name,), "not a table of parts", expected=expected)


def _names(text: str) -> frozenset[str]:
    try:
        return parse(text).names
    except FormulaError:
        return frozenset({""})  # reported with its place when the formulas are checked


def _short(names: str, most: int = 200) -> str:
    return names if len(names) <= most else names[:most] + ", …"

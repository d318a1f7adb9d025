"""What bars and torsion springs share: an energy of one measure by a formula or a table, with kinks."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar, cast

from onesided.elements.contract import Element, Local, Quantity, Start, Words
from onesided.elements.laws import FormulaLaw, law_pieces
from onesided.elements.tabulated import NEITHER, TableLaw
from onesided.formulas.formula import parse
from onesided.formulas.unfolding import Unfolded, has_kinks


class LawMember(Element):
    """Base of members whose energy is a function of one measure: elongation or angle, less the natural one.

    Its fields are those of the members: `law`, `table` and `rounding`; `pieces`, the law with coordinates and gaps in
    place of its kinks, known when the structure is composed; and `moving`: in motion kinks have no coordinates.
    """

    measure: ClassVar[str]  # letter in formulas
    law: str | None
    table: Sequence[Sequence[Quantity]] | None
    rounding: Quantity
    moving: bool
    pieces: Unfolded | None

    @abstractmethod
    def measured(self, at: Local) -> Any:
        """The measure at a state."""

    @abstractmethod
    def measured_at_start(self, start: Start) -> float:
        """The measure at the start, for p = 0."""

    @property
    def _law(self) -> FormulaLaw:
        return FormulaLaw(self.law or "0", self.measure, self.control, self.pieces, self.moving)

    @property
    def _table(self) -> TableLaw:
        rounded = isinstance(self.rounding, str) or self.rounding != 0.0
        return TableLaw(() if self.table is None else self.table, rounded=rounded, moving=self.moving)

    def expand(self, places: Mapping[str, Any], parameters: Mapping[str, float]) -> Sequence[Element]:
        """The element itself, with the pieces of a law that has kinks."""
        pieces = law_pieces(self, self.law, parameters, moving=self.moving)
        return (self if pieces is None else replace(cast(Any, self), pieces=pieces),)

    def inner(self, start: Start) -> dict[str, float]:
        """Coordinates of the kinks of its table or law."""
        if self.table is None and self.pieces is None:
            return {}
        return (self._law if self.table is None else self._table).inner(start, self.measured_at_start(start))

    @property
    def gap_names(self) -> tuple[str, ...]:
        """Names of the kinks of its table or law."""
        if self.table is not None:
            return self._table.gap_names
        return () if self.pieces is None else self._law.gap_names

    def gap_words(self, ending: str) -> Words:
        """Words for the passing of a kink, upwards or downwards for a table."""
        return NEITHER if self.table is None else self._table.words(ending)

    def gaps(self, at: Local) -> tuple[Any, ...]:
        """The coordinates of the kinks of its table, or the gaps at those of its law."""
        if self.table is not None:
            return tuple(at.inner[i] for i in range(len(self.gap_names)))
        return self._law.gaps(self.measured(at), at) if self.pieces is not None else ()

    def in_motion(self) -> Element:
        """The element itself; where it has kinks, a copy whose kinks have no coordinates."""
        kinked = bool(self.table is not None and self._table.kinks) or has_kinks(parse(self.law or "0"))
        return cast(Element, replace(cast(Any, self), moving=True)) if kinked and not self.moving else self

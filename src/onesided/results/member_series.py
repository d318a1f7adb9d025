"""Member results: forces, lengths, moments and reactions of a composed structure along a result, by name."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import numpy as np

from onesided.base.errors import UsageError
from onesided.base.types import Array

SHOWN = 8  # names in messages
LENGTH = ".length"  # of a member, among its results
Compute = Callable[[], Mapping[str, Array]]
Sections = Callable[[str, Array], Mapping[str, Array]]
ABSENT = "this result knows no members: its system was not composed of parts"
LEFT_BEHIND = "the member results were not computed before the result was saved or sent"
ADVICE = "onesided.members(system, result) with the system it belongs to"


class Members(Mapping[str, Array]):
    """Name → (N,) values along a result, like `members["rafter.force"]`; all are computed when the first is asked for.

    Parameters
    ----------
    names : the names, in the order of the parts.
    compute : gives the values.
    sections : (beam, shares) → N, Q, M there.
    absent : why there are none, where there are none.
    """

    def __init__(
        self,
        names: Sequence[str] = (),
        compute: Compute | None = None,
        sections: Sections | None = None,
        absent: str = ABSENT,
    ) -> None:
        self.names, self.absent = tuple(names), absent
        self._compute, self._sections = compute, sections

    @cached_property
    def values_by_name(self) -> Mapping[str, Array]:
        """Name → (N,), computed when first asked for; empty where there are no members."""
        return {} if self._compute is None else dict(self._compute())

    @property
    def computed(self) -> bool:
        """Whether the values are there already."""
        return "values_by_name" in self.__dict__

    @cached_property
    def _known(self) -> frozenset[str]:
        return frozenset(self.names)

    def __getitem__(self, name: str) -> Array:
        if name not in self:
            raise self._unknown(name)
        return self.values_by_name[name]

    def __contains__(self, name: object) -> bool:
        return name in self._known

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)

    def get(self, name: str, default: Any = None) -> Any:
        """The values, or the default for an unknown name."""
        return self.values_by_name.get(name, default) if name in self else default

    def _unknown(self, name: Any) -> UsageError:
        if not isinstance(name, str):
            return UsageError("member results are asked for by name", got=repr(name), expected='members["rod.force"]')
        if not self.names:
            return UsageError(f"there is no '{name}': {self.absent}", advice=ADVICE)
        near = get_close_matches(name, self.names, SHOWN) or self.names[:SHOWN]
        return UsageError(f"no member result is called '{name}'", expected="one of " + ", ".join(near))

    def _ipython_key_completions_(self) -> list[str]:
        return list(self.names)

    def __repr__(self) -> str:
        if not self.names:
            return f"<Members: none; {self.absent}>"
        more = ", …" if len(self.names) > SHOWN else ""
        return f"<Members: {len(self.names)} series: {', '.join(self.names[:SHOWN])}{more}>"

    def matching(self, pattern: str) -> dict[str, Array]:
        """All series whose names fit a pattern, like "*.force"."""
        return {name: self[name] for name in self.names if fnmatchcase(name, pattern)}

    def section(self, beam: str, share: Any) -> dict[str, Array]:
        """N, Q, M (in space N, Q2, Q3, T, M2, M3) of a beam at shares of its length, 0 to 1.

        Values have the shape (N,) for one share, (N, k) for k of them.
        """
        shares = np.asarray(share, dtype=np.float64)
        if np.any(~((shares >= 0.0) & (shares <= 1.0))) or shares.ndim > 1:
            raise UsageError("a share of the length is not usable", got=str(share), expected="numbers from 0 to 1")
        if self._sections is None:
            raise UsageError(f"'{beam}' has no sections here: {self.absent}", advice=ADVICE)
        found = self._sections(beam, np.atleast_1d(shares))
        return {name: values if shares.ndim else values[:, 0] for name, values in found.items()}

    def __getstate__(self) -> dict[str, Any]:
        """What travels: the values, where they were computed, without the system."""
        if self.computed:
            return {"names": self.names, "absent": self.absent, "values_by_name": self.values_by_name}
        return {"names": (), "absent": LEFT_BEHIND if self.names else self.absent}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state)
        self._compute = self._sections = None


def stored_members(members: Members) -> tuple[list[str], Array]:
    """Names and values (k, N) of members that were computed; none of others."""
    values = members.values_by_name if members.computed else {}
    return list(values), np.array([*values.values()], dtype=np.float64)


def read_members(names: Sequence[str], values: Array) -> Members:
    """Members as `stored_members` gave them."""
    known = dict(zip(names, values, strict=True))
    return Members(names, lambda: known, absent=LEFT_BEHIND)


def joined_members(parts: Sequence[Members]) -> Members:
    """Members of several results in a row, one after the other."""
    if not parts:
        return Members()
    names = [name for name in parts[0].names if all(name in part for part in parts)]

    def compute() -> Mapping[str, Array]:
        return {name: np.concatenate([part[name] for part in parts]) for name in names}

    return Members(names, compute, absent=parts[0].absent)


def without_length(results: Mapping[str, Any], share: float) -> list[str]:
    """Members whose length is at most a share of the longest one, at the last of the points."""
    lengths = {name.removesuffix(LENGTH): np.ravel(results[name])[-1] for name in results if name.endswith(LENGTH)}
    longest = max(lengths.values(), default=0.0)
    return [name for name, length in lengths.items() if length <= share * longest]

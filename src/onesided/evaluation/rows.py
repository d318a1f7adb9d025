"""Constraints by the dozen: one function that returns a vector, stated as many named scalar constraints."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from onesided.base.arguments import checked


@dataclass(frozen=True)
class Row:
    """One component of a vector-valued constraint function; whoever needs all of them evaluates `family` once."""

    family: Callable[[Any, Any, Any], Any]
    index: int
    size: int

    def __call__(self, q: Any, p: Any, th: Any) -> Any:
        """Value of this one constraint of the family, a scalar."""
        return self.family(q, p, th)[self.index]


@checked
def rows(name: str, size: int, family: Callable[[Any, Any, Any], Any]) -> Mapping[str, Row]:
    """Constraints `name[0]` … `name[size − 1]` from one function (q, p, th) → (size,) in `jax.numpy`.

    >>> list(rows("rod", 2, lambda q, p, th: q**2 - 1.0))
    ['rod[0]', 'rod[1]']
    """
    return {f"{name}[{i}]": Row(family, i, size) for i in range(size)}


def families(constraints: Iterable[Any]) -> list[Callable[[Any, Any, Any], Any]]:
    """Functions that give all constraints in order: whole families once, single functions one by one."""
    found: list[Any] = []
    functions = list(constraints)
    while functions:
        first = functions[0]
        if isinstance(first, Row) and functions[: first.size] == [
            Row(first.family, i, first.size) for i in range(first.size)
        ]:
            found.append(first.family)
            functions = functions[first.size :]
        else:
            found.append(first)
            functions = functions[1:]
    return found

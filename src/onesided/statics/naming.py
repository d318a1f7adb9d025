"""From the rays at a point to its name: what kind of event it is, which branch the path takes, in words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from onesided._types import Array
from onesided.results import Kind, Ray, Rays
from onesided.statics.curve import Curve, Point
from onesided.statics.place import Place


@dataclass(frozen=True)
class Named:
    """The name of a point and the decision which way to go on."""

    kind: Kind
    incoming: int | None
    followed: int | None
    constraints: tuple[str, ...]
    detail: str


def name_point(where: Place, rays: Rays, curve: Curve, point: Point) -> Named:
    """Classify the point reached along `curve` with tangent `point.t`, from all its rays."""
    incoming = _incoming(where, rays, curve, point)
    forward = [i for i in range(len(rays)) if i != incoming]
    names = tuple(where.system.constraint_names[j] for j in where.weak)
    if not forward:
        return Named(Kind.end, incoming, None, names, _why_it_ends(where, rays))
    if any(rays[i].continuum for i in forward):
        return Named(
            Kind.continuum, incoming, None, names, f"{len(forward)} extreme rays of a whole cone of directions"
        )
    before = _sign_before(rays, curve, point, incoming)
    if len(forward) > 1:
        return _several(where, rays, curve, point, (incoming, forward, before, names))
    ray = rays[forward[0]]
    turned = before * ray.p_sign < 0
    changes, changed = _changes(where, curve, ray)
    if not changed:
        named = _unchanged(turned, incoming, forward[0], names, _list(where, names))
        return named if turned or names else replace(named, detail=_alone(rays))
    kind = Kind.corner_limit if turned else _contact_kind(curve, ray)
    detail = "; ".join([changes, *(["the path turns back"] if turned else [])])
    if ray.p_sign == 0:
        detail += f"; {where.system.control} stays constant on the branch ahead"
    return Named(kind, incoming, forward[0], changed, detail)


def _unchanged(turned: bool, incoming: int | None, ahead: int, names: tuple[str, ...], told: str) -> Named:
    """One way on with the same constraints: a limit point, a touch, or a singular point without other branches."""
    if turned:
        return Named(Kind.limit, incoming, ahead, names, "")
    if names:
        return Named(Kind.closes, incoming, ahead, names, f"{told} touches without force")
    return Named(Kind.smooth_bifurcation, incoming, ahead, names, "")


def _alone(rays: Rays) -> str:
    """What is told of a singular point beyond which one ray leads on."""
    if rays.family:
        return f"{rays.multiplicity - 1} eigenvalues vanish at once; {_beside(rays)}"
    return f"the stiffness is singular, but no other branch {'exists' if rays.complete else 'was found'}{_doubt(rays)}"


def _beside(rays: Rays) -> str:
    """Continua of branches beside the rays."""
    return f"a continuum of dimension {rays.family} of branches leaves" + (" (a circle)" if rays.family == 1 else "")


def _doubt(rays: Rays) -> str:
    return "" if rays.complete else f"; there may be more: {rays.reason}"


def _scaled_direction(where: Place, ray: Ray) -> Array:
    scaled = ray.x_dot / where.unit
    return np.asarray(scaled / np.sqrt(scaled @ scaled))


def _incoming(where: Place, rays: Rays, curve: Curve, point: Point) -> int | None:
    """The ray along which we came, reversed; among equal directions the one on our own working set."""
    back = -curve.packed(point.t) / where.unit
    back = back / np.sqrt(back @ back)
    scores = [
        (round(float(back @ _scaled_direction(where, ray)), 6), ray.rows == tuple(curve.rows)) for ray in rays.rays
    ]
    best = max(range(len(scores)), key=scores.__getitem__, default=None)
    return best if best is not None and scores[best][0] > 0.9 else None


def _sign_before(rays: Rays, curve: Curve, point: Point, incoming: int | None) -> int:
    """Sign of the change of p on the way in."""
    return -rays[incoming].p_sign if incoming is not None else int(np.sign(point.t[curve.n]))


def _changes(where: Place, curve: Curve, ray: Ray) -> tuple[str, tuple[str, ...]]:
    """What the constraints do when the path goes on along a ray: in words, and their names."""
    names = where.system.constraint_names
    before, after = set(curve.rows.tolist()), set(ray.rows)
    closes = [names[j] for j in ray.rows if j not in before]
    opens = [names[j] for j in curve.rows if j not in after]
    sentences = []
    for group, verb in ((closes, 1), (opens, 2)):
        for words, members in _by_words(where, group):
            sentences.append(f"{_quoted(words[0], members)} {_agree(words[verb], len(members))}")
    return " and ".join(sentences), (*closes, *opens)


def _by_words(where: Place, names: Sequence[str]) -> list[tuple[tuple[str, str, str], list[str]]]:
    """Constraints of one kind together: contacts close, cables become taut."""
    groups: dict[tuple[str, str, str], list[str]] = {}
    for name in names:
        noun, closes, opens = where.system.words_for(name)
        groups.setdefault((noun, closes, opens), []).append(name)
    return list(groups.items())


def _agree(verb: str, count: int) -> str:
    """The verb for several: "closes" → "close", "goes slack" → "go slack", "is reached" → "are reached"."""
    first, _, rest = verb.partition(" ")
    plural = {"is": "are", "goes": "go", "has": "have"}.get(first, first.removesuffix("s"))
    return verb if count == 1 else " ".join(part for part in (plural, rest) if part)


def _quoted(noun: str, names: Sequence[str]) -> str:
    return f"{noun}{'s' if len(names) > 1 else ''} " + ", ".join(f"'{name}'" for name in names)


def _list(where: Place, names: Sequence[str]) -> str:
    return " and ".join(_quoted(words[0], members) for words, members in _by_words(where, names))


def _contact_kind(curve: Curve, ray: Ray) -> Kind:
    return Kind.closes if set(ray.rows) - set(curve.rows.tolist()) else Kind.opens


def _several(
    where: Place, rays: Rays, curve: Curve, point: Point, known: tuple[int | None, list[int], int, tuple[str, ...]]
) -> Named:
    """A bifurcation: name it, say how many branches, choose the one to follow."""
    incoming, forward, before, names = known
    smooth = all(rays[i].rows == tuple(curve.rows) for i in forward)
    followed = _follow(where, rays, curve, point, forward, 0 if smooth else before)
    if not smooth:
        detail = f"{len(forward)} branches lead on at {_list(where, names)}"
        return Named(Kind.nonsmooth_bifurcation, incoming, followed, names, detail)
    symmetric = any(ray.order != 1 for ray in rays.rays)  # one of the branches leaves with ṗ = 0
    detail = f"{'symmetric' if symmetric else 'asymmetric'}, {len(forward)} branches lead on"
    if rays.multiplicity > 2:
        detail = f"{rays.multiplicity - 1} eigenvalues vanish at once; {len(forward)} branches were found"
    if rays.family:
        detail = f"{detail}; {_beside(rays)}"
    detail += _doubt(rays)
    return Named(Kind.smooth_bifurcation, incoming, followed, names, detail)


def _follow(where: Place, rays: Rays, curve: Curve, point: Point, forward: list[int], before: int) -> int:
    """The branch to go on with: straight on; where the path has a kink anyway, p keeps its sense, then stable first."""
    ahead = curve.packed(point.t)
    ahead = ahead / where.unit

    def rank(i: int) -> tuple[bool, int, float]:
        stable = -rays[i].instability if before else 0
        return rays[i].p_sign * before > 0, stable, float(ahead @ _scaled_direction(where, rays[i]))

    return max(forward, key=rank)


def _why_it_ends(where: Place, rays: Rays) -> str:
    """The reason of an end point: REFERENCE type II is the only one in which nothing leads on."""
    names = _list(where, [where.system.constraint_names[j] for j in where.weak])
    if len(rays) == 1:
        return f"no admissible direction but back at {names}: the branch carries a constraint without gap and force"
    return f"no admissible direction at {names}" + ("" if rays.complete else " among those examined")

"""From the rays at a point to its name: what kind of event it is, which branch the path takes, in words."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from onesided.base.tolerances import QUARTER_DIGITS
from onesided.base.types import Array
from onesided.results import Event, Kind, Ray, Rays
from onesided.statics.curves.curve import Curve, CurvePoint
from onesided.statics.equilibria.place import Standpoint
from onesided.statics.rays.reactions import carriers, reactions_at


@dataclass(frozen=True)
class Named:
    """The name of a point and the decision which way to go on; no kind where only other constraints carry from here."""

    kind: Kind | None
    incoming: int | None
    followed: int | None
    constraints: tuple[str, ...]
    detail: str


def name_point(where: Standpoint, rays: Rays, curve: Curve, point: CurvePoint) -> Named:
    """Classify the point reached along `curve` with tangent `point.t`, from all its rays."""
    incoming = _incoming(where, rays, curve, point)
    forward = [i for i in range(len(rays)) if i != incoming]
    names = tuple(where.system.constraint_names[j] for j in where.weak)
    before = _sign_before(rays, curve, point, incoming)
    if not forward:
        return _last(where, rays, incoming, names, before)
    if any(rays[i].continuum for i in forward):
        return Named(
            Kind.continuum, incoming, None, names, f"{len(forward)} extreme rays of a whole cone of directions"
        )
    closed = _closed_before(where, rays, curve, incoming)
    if len(forward) > 1:
        return _several(where, rays, curve, point, (incoming, forward, before, names, closed))
    ray = rays[forward[0]]
    turned = before * ray.p_sign < 0
    changes, changed = _changes(where, closed, ray)
    if not changed:
        return _unchanged(where, rays, (incoming, forward[0], names), turned=turned)
    kind = Kind.corner_limit if turned else _contact_kind(where, rays, closed, incoming, ray)
    detail = "; ".join([changes, *(["the path turns back"] if turned else []), *_about_forces(where, ray)])
    if ray.p_sign == 0:
        detail += f"; {where.system.control} stays constant on the branch ahead"
    return Named(kind, incoming, forward[0], changed, detail)


def _unchanged(where: Standpoint, rays: Rays, known: tuple[int | None, int, tuple[str, ...]], *, turned: bool) -> Named:
    """One way on with the same constraints: a limit point, a touch, or a singular point without other branches."""
    incoming, ahead, names = known
    if turned:
        return Named(Kind.limit, incoming, ahead, names, "")
    if names and reactions_at(where) is not None:
        return Named(None, incoming, ahead, names, "")
    if names:
        return Named(Kind.closes, incoming, ahead, names, f"{_list(where, names)} touches without force")
    return Named(Kind.smooth_bifurcation, incoming, ahead, names, _alone(rays))


def _alone(rays: Rays) -> str:
    """What is said of a singular point beyond which one ray leads on."""
    if rays.family:
        return f"{_several_modes(rays)}; {_beside(rays)}"
    return f"the stiffness is singular, but no other branch {'exists' if rays.complete else 'was found'}{_doubt(rays)}"


def _several_modes(rays: Rays) -> str:
    together = "close together, here as one point" if rays.cluster else "at once"
    return f"{rays.multiplicity - 1} eigenvalues vanish {together}"


def with_another(event: Event) -> Event:
    """A singular point with another one so close to it that they are reported as one."""
    detail = "; ".join(filter(None, (event.detail, "another singular point is so close that they are reported as one")))
    return replace(event, rays=replace(event.rays, cluster=True), detail=detail)


def _beside(rays: Rays) -> str:
    """Continua of branches beside the rays."""
    return f"a continuum of dimension {rays.family} of branches leaves" + (" (a circle)" if rays.family == 1 else "")


def _doubt(rays: Rays) -> str:
    return "" if rays.complete else f"; there may be more: {rays.reason}"


def name_idle(where: Standpoint, rows: set[int], idle: set[int], ahead: Ray) -> tuple[str, tuple[str, ...]]:
    """In words what idle constraints do, and their names, where `rows` carried and `idle` were idle before."""
    after, closed = _closed_on(where, ahead), rows | idle
    still = {where.system.constraint_names.index(name) for name in ahead.idle}
    carrying = rows - idle
    sentences = [
        (sorted(after - closed), 1, " without force", ""),
        (sorted((after & still & carrying) - (closed - rows)), 0, "", "stays closed without force"),
        (sorted((after & set(ahead.rows) & idle) - still), 0, "", "begins to carry"),
        (sorted((closed - after) - carrying), 2, ", not having carried", ""),
        (sorted((closed - after) & carrying), 2, "", ""),
    ]
    told = [_sentence(where, *one, ahead.rows) for one in sentences if one[0]]
    names = tuple(where.system.constraint_names[j] for one in sentences for j in one[0])
    return "; ".join([*told, *_about_forces(where, ahead)]), names


def _sentence(where: Standpoint, rows: list[int], verb: int, how: str, words: str, carrying: Sequence[int]) -> str:
    """What a group of constraints does: `verb` 1 closes, 2 opens, or other words."""
    parts = []
    for group, members in _by_words(where, [where.system.constraint_names[j] for j in rows]):
        parts.append(f"{_quoted(group[0], members)} {_agree(words or group[verb], len(members))}{how}")
    return " and ".join(parts) + (_redundant_with(where, rows, carrying) if verb == 1 else "")


def _redundant_with(where: Standpoint, idle: Sequence[int], rows: Sequence[int]) -> str:
    others = sorted({j for row in idle for j in carriers(where, row, np.array(rows, dtype=np.intp))})
    return f": redundant with {_list(where, [where.system.constraint_names[j] for j in others])}" if others else ""


def _about_forces(where: Standpoint, ray: Ray) -> list[str]:
    return [f"the forces of {_list(where, ray.loose)} are not unique"] if ray.loose else []


def _scaled_direction(where: Standpoint, ray: Ray) -> Array:
    scaled = ray.x_dot / where.unit
    return np.asarray(scaled / np.sqrt(scaled @ scaled))


def name_kink(where: Standpoint, back: Ray, on: Ray | None) -> Named:
    """A kink of p between two rays, with the constraints that change there too; where p turns back it is a corner."""
    if on is None:
        return Named(Kind.kink, 0, None, (), "")
    names, before, after = where.system.constraint_names, set(back.rows), set(on.rows)
    changed = tuple(names[row] for row in sorted(before ^ after))
    does = "closes" if after > before else "opens" if after < before else "changes"
    kind = Kind.corner_limit if back.p_sign == on.p_sign else Kind.kink
    return Named(kind, 0, 1, changed, f"at a kink of the loading {does} {', '.join(changed)}" if changed else "")


def _incoming(where: Standpoint, rays: Rays, curve: Curve, point: CurvePoint) -> int | None:
    """The ray along which we came, reversed; among much the same directions one on our own working set, the nearest.

    Where reactions are not unique, only motions are compared.
    """
    back = -curve.packed(point.t) / where.unit
    n = where.system.n
    loose = reactions_at(where) is not None and bool(np.max(np.abs(back[: n + 1])) > where.tolerances.singularity)
    seen = slice(0, n + 1 if loose else None)
    near = [_cosine(back[seen], _scaled_direction(where, ray)[seen]) for ray in rays.rays]
    scores = [
        (round(cosine, 6), ray.rows == tuple(curve.rows), cosine) for cosine, ray in zip(near, rays.rays, strict=True)
    ]
    best = max(range(len(scores)), key=scores.__getitem__, default=None)
    return best if best is not None and scores[best][0] > 0.9 else None


def _cosine(a: Array, b: Array) -> float:
    size = float(np.sqrt((a @ a) * (b @ b)))
    return float(a @ b) / size if size > 0 else 0.0


def _closed_before(where: Standpoint, rays: Rays, curve: Curve, incoming: int | None) -> set[int]:
    """Rows that were closed on the way in, carrying or not."""
    return set(curve.rows.tolist()) | (_closed_on(where, rays[incoming]) if incoming is not None else set())


def _closed_on(where: Standpoint, ray: Ray) -> set[int]:
    """Rows that stay closed along a ray, carrying or not."""
    return {*ray.rows, *(where.system.constraint_names.index(name) for name in ray.idle)}


def _sign_before(rays: Rays, curve: Curve, point: CurvePoint, incoming: int | None) -> int:
    """Sign of the change of p on the way in."""
    return -rays[incoming].p_sign if incoming is not None else int(np.sign(point.t[curve.n]))


def _changes(where: Standpoint, before: set[int], ray: Ray) -> tuple[str, tuple[str, ...]]:
    """What the constraints do when the path goes on along a ray: in words, and their names."""
    names, after = where.system.constraint_names, _closed_on(where, ray)
    closes, carried = sorted(after - before), {*ray.rows, *(names.index(name) for name in ray.loose)}
    groups = (
        ([j for j in closes if j in carried], 1, ""),
        ([j for j in closes if j not in carried], 1, " without force"),
        (sorted(before - after), 2, ""),
    )
    sentences = []
    for rows, verb, how in groups:
        for words, members in _by_words(where, [names[j] for j in rows]):
            sentences.append(f"{_quoted(words[0], members)} {_agree(words[verb], len(members))}{how}")
        if how and rows:
            sentences[-1] += _redundant_with(where, rows, ray.rows)
    return " and ".join(sentences), tuple(names[j] for rows, _, _ in groups for j in rows)


def _by_words(where: Standpoint, names: Sequence[str]) -> list[tuple[tuple[str, str, str], list[str]]]:
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


def _list(where: Standpoint, names: Sequence[str]) -> str:
    return " and ".join(_quoted(words[0], members) for words, members in _by_words(where, names))


def _contact_kind(where: Standpoint, rays: Rays, before: set[int], incoming: int | None, ray: Ray) -> Kind:
    """Closes where a constraint begins to carry, opens where one that carried does; idle where none of them carries."""
    names = where.system.constraint_names
    was_idle = {names.index(name) for name in rays[incoming].idle} if incoming is not None else set()
    if set(ray.rows) - before:
        return Kind.closes
    return Kind.opens if before - _closed_on(where, ray) - was_idle else Kind.idle


def _shape(where: Standpoint, rays: Rays, incoming: int | None) -> str:
    """Symmetric where a branch leaves with ṗ = 0, asymmetric where none does; nothing where rounding decides."""
    if any(ray.order != 1 for ray in rays.rays):
        return "symmetric, "
    slopes = [abs(float(_scaled_direction(where, ray)[where.system.n])) for ray in rays.rays]
    return "" if incoming is None or min(slopes, default=0.0) <= QUARTER_DIGITS else "asymmetric, "


def _several(
    where: Standpoint,
    rays: Rays,
    curve: Curve,
    point: CurvePoint,
    known: tuple[int | None, list[int], int, tuple[str, ...], set[int]],
) -> Named:
    """A bifurcation: name it, say how many branches, choose the one to follow."""
    incoming, forward, before, names, closed = known
    smooth = all(_closed_on(where, rays[i]) == closed for i in forward)
    followed = _follow(where, rays, curve, point, forward, 0 if smooth else before)
    if not smooth:
        detail = f"{len(forward)} branches lead on at {_list(where, names)}"
        return Named(Kind.nonsmooth_bifurcation, incoming, followed, names, detail)
    detail = f"{_shape(where, rays, incoming)}{len(forward)} branches lead on"
    if rays.multiplicity > 2:
        return Named(Kind.smooth_bifurcation, incoming, followed, names, of_several_modes(rays, len(forward)))
    if rays.family:
        detail = f"{detail}; {_beside(rays)}"
    detail += _doubt(rays)
    return Named(Kind.smooth_bifurcation, incoming, followed, names, detail)


def of_several_modes(rays: Rays, ahead: int) -> str:
    """What is said of a point at which several modes vanish and so many rays lead on."""
    detail = f"{_several_modes(rays)}; {ahead} branches were found"
    return (f"{detail}; {_beside(rays)}" if rays.family else detail) + _doubt(rays)


def _follow(where: Standpoint, rays: Rays, curve: Curve, point: CurvePoint, forward: list[int], before: int) -> int:
    """The branch to go on with: straight on; where the path has a kink anyway, p keeps its sense, then stable first."""
    ahead = curve.packed(point.t)
    ahead = ahead / where.unit

    def rank(i: int) -> tuple[bool, int, float]:
        stable = -rays[i].instability if before else 0
        return rays[i].p_sign * before > 0, stable, float(ahead @ _scaled_direction(where, rays[i]))

    return max(forward, key=rank)


def _last(where: Standpoint, rays: Rays, incoming: int | None, names: tuple[str, ...], before: int) -> Named:
    """Nothing leads on: jammed, where closed constraints keep p from going on; otherwise an end."""
    detail, holding = held_by(where, before)
    if not holding:
        return Named(Kind.end, incoming, None, names, _why_it_ends(where, rays))
    return Named(Kind.jammed, incoming, None, holding, detail)


def held_by(where: Standpoint, sense: int) -> tuple[str, tuple[str, ...]]:
    """What keeps p from going on in a sense: in words, and the names of the constraints; empty if nothing does."""
    holding = _holding(where, sense)
    if not holding:
        return "", ()
    verb, way = ("holds" if len(holding) == 1 else "hold"), ("", " grow", " fall")[sense]
    how = f"{where.system.control} cannot{way or ' change'}, forces grow without bound"
    return f"{_list(where, holding)} {verb} the system: {how}", tuple(holding)


def _holding(where: Standpoint, sense: int) -> list[str]:
    """Constraints whose gradients balance each other, so that Σ z g_p ṗ ≥ 0 forbids p to go on in this sense."""
    reactions = reactions_at(where)
    blocking = reactions.blocking() if reactions is not None else np.zeros((0, 0))
    if reactions is None or not len(blocking):
        return []
    against = blocking[reactions.p_rates(blocking) * sense < 0] if sense else blocking
    used = np.max(np.abs(against / where.scales.multiplier), axis=0, initial=0.0) > where.tolerances.force
    return [name for name, part in zip(where.system.constraint_names, used, strict=True) if part]


def _why_it_ends(where: Standpoint, rays: Rays) -> str:
    """The reason of an end point: REFERENCE type II is the only one in which nothing leads on."""
    names = _list(where, [where.system.constraint_names[j] for j in where.weak])
    if len(rays) == 1:
        return f"no admissible direction but back at {names}: the branch carries a constraint without gap and force"
    return f"no admissible direction at {names}" + ("" if rays.complete else " among those examined")

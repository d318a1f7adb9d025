"""What each kind of event means, in words: one text for the command line, reports and documentation."""

from difflib import get_close_matches

from onesided.base.errors import UsageError
from onesided.results.motion import Occurrence
from onesided.results.path import Kind

PAGE, MOTION_PAGE = "theory/events.md", "theory/motion.md"

_TEXTS = {
    Kind.closes: (
        "A gap has shrunk to zero and the contact begins to carry. One path leads on, with a kink: reactions are "
        "continuous, their derivatives are not. p goes on in the same sense. [SP1, section 4]"
    ),
    Kind.opens: (
        "A reaction has fallen to zero and the contact lifts off. One path leads on, with a kink, and p goes on in the "
        "same sense. [SP1, section 4]"
    ),
    Kind.limit: (
        "p has a smooth extreme along the path: the tangent is at constant p, and the reduced Hessian H is singular "
        "with c1 ≠ 0. Stability changes by one mode. A system that is loaded through a stable limit point jumps. "
        "[SP1, section 2]"
    ),
    Kind.corner_limit: (
        "p has an extreme at a kink: a contact opens or closes and the path turns back, although no tangent is at "
        "constant p and no Hessian is singular. With one weakly active contact this happens exactly where G < 0, and "
        "stability changes by one mode. A system that is loaded through it jumps. Stiffness that jumps (a law with a "
        "kink, a contact that passes the end of a segment) makes such points too. [SP1, sections 5 and 6]"
    ),
    Kind.smooth_bifurcation: (
        "Several smooth branches cross with the same contacts closed: the reduced Hessian is singular and c1 = 0. Each "
        "ray can be followed. Small imperfections decide which one a real system takes. [SP1, section 2]"
    ),
    Kind.nonsmooth_bifurcation: (
        "Several branches leave a point where contacts carry no force: the complementarity problem of the rates has "
        "more than one solution. Each ray can be followed. [SP1, section 4]"
    ),
    Kind.idle: (
        "A closed constraint carries no force over a whole stretch of the path: it is idle, or redundant with others "
        "that carry. Here such a stretch begins or ends: the gap closes or opens without force, or the constraint "
        "begins to carry. Where closed constraints depend on each other, which of them carries is not unique."
    ),
    Kind.jammed: (
        "Closed constraints hold the system against each other, Σ z ∇g = 0 with z ≥ 0, and move with p so that it "
        "cannot go on: no equilibria lead on, while forces could grow without bound. The constraints that hold are "
        "named."
    ),
    Kind.end: (
        "No equilibria lead on. An isolated end needs a contact that stays weakly active along the path, and is "
        "fragile: a small change of the data makes a corner of it, or removes the path. [SP1, section 4]"
    ),
    Kind.continuum: (
        "A whole fan of directions solves the first-order problem; its extreme rays are listed and can be followed. "
        "[SP1, figure 1]"
    ),
    Kind.bound: "p reached a bound of the range that was asked for: the path goes on, the computation does not.",
    Kind.user: "A function given by the user passed through zero here.",
    Kind.kink: (
        "The model has a kink in the control parameter here: one piece of max, min or abs of p ends and another "
        "begins, as where one load case follows another. One path leads on; its tangent changes at once."
    ),
}

_MOTION_TEXTS = {
    Occurrence.impact: (
        "A contact closes at some speed. Velocities jump at constant position: impulses solve a complementarity "
        "problem in which every contact that is hit leaves with the restitution asked for, or presses. A time stands "
        "twice in the result, before and after."
    ),
    Occurrence.opens: (
        "The force of a closed contact has fallen to zero and the contact lifts off. Which contacts open together is "
        "the answer of a complementarity problem in the accelerations."
    ),
    Occurrence.accumulation: (
        "Infinitely many impacts end within a finite time. They are followed as long as they matter; then the contact "
        "is taken as closed at the time to which they converge."
    ),
    Occurrence.contact: (
        "A gap closes, and the method does not hold it closed: choose EventDriven or Moreau for that. Of a compliant "
        "contact: it begins to press."
    ),
    Occurrence.singular: (
        "The constraints nearly depend on each other here: a mechanism passes a singular configuration, from which it "
        "could go on in several ways. The motion goes on smoothly; forces may be large. [AR, redundant constraints]"
    ),
    Occurrence.lift_off: "A contact that is held together would have to pull from here on: in truth it lifts off. [SW]",
    Occurrence.not_closest: (
        "The contact points are no longer the closest points of the two outlines: another place touches first. [SW]"
    ),
    Occurrence.conformal: (
        "Both outlines have the same curvature where they touch, so the contact point is not unique. [SW (15)]"
    ),
    Occurrence.irregular: "An outline has no tangent at the contact point: its parametrisation stands still. [SW (1)]",
    Occurrence.sticks: (
        "A sliding contact has come to rest, and the friction that holds it lies within its cone: it sticks. The slip "
        "is an equation from here on, its friction force an unknown."
    ),
    Occurrence.slips: (
        "The friction that would hold a sticking contact has reached the edge of its cone: the contact slides, and its "
        "friction is the coefficient times the normal force, against the slip."
    ),
    Occurrence.jams: (
        "No force, or more than one, keeps a sliding contact closed: friction is so strong that sliding drives the "
        "contact into itself (Painlevé's paradox). Rigid bodies go on by an impulse, as Moreau's time stepping does."
    ),
    Occurrence.user: "A function given by the user passed through zero here.",
}
_ALL: tuple[Kind | Occurrence, ...] = (*Kind, *Occurrence)


def slug(kind: Kind | Occurrence) -> str:
    """The name of a kind on the command line and in addresses, as in `corner-limit` or `motion-impact`."""
    prefix = "motion-" if isinstance(kind, Occurrence) else ""
    return prefix + kind.name.replace("_", "-")


def slugs() -> dict[str, str]:
    """All names, with the words they stand for."""
    return {slug(kind): kind.value for kind in _ALL}


def text(kind: Kind | Occurrence) -> str:
    """Explanation of a kind of event, without its heading."""
    return _MOTION_TEXTS[kind] if isinstance(kind, Occurrence) else _TEXTS[kind]


def theory(kind: Kind | Occurrence) -> str:
    """Place of the theory in the documentation."""
    return f"{MOTION_PAGE if isinstance(kind, Occurrence) else PAGE}#{slug(kind)}"


def explanation(name: str) -> str:
    """Title, explanation and place of the theory; an unknown name is refused."""
    known = {slug(kind): kind for kind in _ALL}
    wanted = name.strip().lower().replace("_", "-").replace(" ", "-").removesuffix("-point")
    wanted = wanted if wanted in known else next((key for key in known if key == f"motion-{wanted}"), wanted)
    if wanted not in known:
        close = get_close_matches(wanted, known, n=1)
        raise UsageError(
            "there is no event of this kind",
            got=repr(name),
            expected="one of " + ", ".join(known),
            advice=f"did you mean '{close[0]}'?" if close else "",
        )
    kind = known[wanted]
    return f"{kind.value}\n\n{text(kind)}\n\ndocumentation: {theory(kind)}"

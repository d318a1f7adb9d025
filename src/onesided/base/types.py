"""Array aliases and the status of a numerical outcome."""

from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]  # float64 in fact: NumPy's stubs do not know it of linalg
Indices = NDArray[np.intp]
Mask = NDArray[np.bool_]
MOST = 1_000_000  # values of an iterator: one that gives more may never end


class Status(Enum):
    """How a computation ended; the value is the sentence a user reads, with advice where there is some."""

    solved = "solved: the conditions were rechecked and hold"
    ray_termination = (
        "Lemke's method ended on a secondary ray: that is not a proof that no solution exists; "
        "use all_solutions(problem) for a small problem, or another method"
    )
    max_iterations = "the iteration limit was reached: raise `max_iterations` or try another method"
    cycling = "the method returned to an active set it had visited: use Lemke or enumeration"
    singular = "a linear system on the way was singular: use Lemke, the QP route or enumeration"
    not_applicable = "the method does not apply to this problem; see the message for what it needs"
    inaccurate = "the method ended, but the recheck of its answer failed: rescale the problem or try another method"
    contradictory = (
        "the path contradicts theory at the place that the note names, with shorter steps as well: the points are "
        "equilibria, but an event was missed or misnamed there"
    )
    no_solution = "proven: the problem has no solution"
    dependent = "the active constraints depend on each other, so their reactions are not unique: leave one of them out"
    stalled = "no solution found: the best point is reported; try another start"
    infeasible = "the constraints cannot be met near the start: check the signs of the gaps, or move the start"
    unbounded = "the energy falls without bound along the way: check the sign of the loads, or add the missing stop"
    interrupted = "interrupted: what was found until then is here; go on from its last point"
    not_finite = "the model gave a value that is not finite: check square roots, logarithms and divisions"

    bound_reached = "a bound was reached, as asked"
    enough = "the number of points or events asked for was reached: raise `max_points` or `max_events` to go on"
    path_ended = "the path ends: no equilibria lead on from its last point"
    not_unique = "the path derivative is not unique: follow one of the extreme rays with `branch`"
    closed = "the path is closed: it came back to its start"
    blocked = "blocked: a rigid stop, named in the note, lets the control go no further"
    far = (
        "the path runs off to infinity: coordinates or reactions grow without bound; `p_bounds` ends it before, or "
        "look at the last points"
    )
    step_too_small = "the step became too small: a kink or singularity was not recognised; the points so far are good"

    finished = "the end of the time span was reached"
    stopped = "an event stopped the motion, as asked"
    feedback_failed = (
        "a sampled function raised an error or returned what does not fit, as the note says: the motion until then is "
        "here"
    )
    jammed = (
        "bodies jam: contacts hold the system so that nothing leads on, or friction leaves their forces undetermined "
        "(Painlevé); a motion passes this by impulses with Moreau(step=…)"
    )
    contact = "a gap closed: this method does not follow contacts, use one that does from here"
    singular_configuration = (
        "the constraints become dependent here and several motions lead on: start beyond the configuration named, or "
        "remove the symmetry (unequal lengths, a little clearance)"
    )

    @property
    def ok(self) -> bool:
        """Whether the result can be used as an answer."""
        return self in _GOOD


_GOOD = frozenset(
    {
        Status.solved,
        Status.bound_reached,
        Status.enough,
        Status.path_ended,
        Status.not_unique,
        Status.closed,
        Status.blocked,
        Status.finished,
        Status.stopped,
    }
)

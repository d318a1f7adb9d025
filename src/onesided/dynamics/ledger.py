"""The balance of energy of a motion with contacts: what no work explains, and the work of projections."""

from typing import NamedTuple

import numpy as np

from onesided.base.tolerances import HALF_DIGITS, Tolerances
from onesided.base.types import Array
from onesided.evaluation.motion_terms import Check
from onesided.results.path import format_number


class Books(NamedTuple):
    """What was done up to each point: work, energy from putting positions back, and what impacts lost of that."""

    work: Array
    projection: Array
    lost: Array


class Ledger(NamedTuple):
    """Energy that no work explains, and work of projections, up to each point, relative to the energy in play.

    `uncovered` is the part of the projections that no loss of the same step covers.
    """

    gained: Array
    projected: Array
    uncovered: Array
    play: float

    def words(self, tolerances: Tolerances) -> str:
        """A remark where projections did work that can be seen."""
        most = float(np.max(np.abs(self.projected), initial=0.0))
        if not most > tolerances.energy:
            return ""
        return (
            f"putting positions back onto the allowed side did work of up to {format_number(most * self.play)} "
            f"({most:.1%} of the energy in play): smaller steps lessen it"
        )

    def faults(self, tolerances: Tolerances, *, smooth: bool, lossy: bool) -> list[str]:
        """What is wrong with the balance, in words; methods that are `lossy` may lose energy."""
        gained = self.gained if lossy else np.abs(self.gained)
        most, moved = float(np.max(gained, initial=0.0)), float(np.max(np.abs(self.uncovered), initial=0.0))
        words = []
        if not most <= (np.sqrt(tolerances.residual) if smooth else tolerances.energy):
            advice = "" if smooth else ": try smaller steps, or `theta` for stiff springs"
            words.append(f"energy changes by {most:.2g} of the energy in play without work{advice}")
        if not moved <= tolerances.energy:
            words.append(f"projections did work of {moved:.2g} of the energy in play: try smaller steps")
        return words


def ledger(found: Check, books: Books, sizes: Array) -> Ledger:
    """E − E₀ − work − projections, relative to the energies that are exchanged.

    Below √ε of the energy itself, and of the largest force over the size of the coordinates, nothing but round-off is
    in play.
    """
    potential, work = found.energy - found.kinetic, books.work
    exchanged = float(np.max(found.kinetic) + np.ptp(potential) + np.max(np.abs(work)))
    noise = float(np.max(np.abs(found.energy)) + np.max(found.forces, initial=0.0) * np.max(sizes))
    play = exchanged + HALF_DIGITS * noise or 1.0
    gained = found.energy - found.energy[0] - (work - work[0]) - books.projection
    return Ledger(gained / play, books.projection / play, _uncovered(books) / play, play)


def _uncovered(books: Books) -> Array:
    """Work of projections up to each point, less what an impact of the same step lost."""
    steps, covered = np.diff(books.projection, prepend=0.0), np.diff(books.lost, prepend=0.0)
    return np.asarray(np.cumsum(np.sign(steps) * np.maximum(np.abs(steps) - np.maximum(covered, 0.0), 0.0)))

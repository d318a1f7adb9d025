"""Whether a motion still gets on: steps, or events, in a row that are tiny beside the time left."""

from dataclasses import dataclass

PATIENCE, MANY = 500, 1_000_000  # pieces in a row of which so many would be needed to the end
GROWS = 1.2  # times longer than the half before: the time of a half of such a row after which it may go on


@dataclass(frozen=True)
class Crawl:
    """Tiny pieces of time in a row; those that become longer, as where slip begins, lead out of it.

    Attributes
    ----------
    count : how many there have been;  since : when the last half of them began;  half : how long the one before took.
    stalls : whether the last half took little more time than the one before.
    """

    count: int = 0
    since: float = 0.0
    half: float = 0.0
    stalls: bool = False

    def after(self, t: float, passed: float, end: float, many: int = MANY) -> "Crawl":
        """What is known after one more piece, which took the time `passed` and ended at t; `many` such are too many."""
        if passed * many >= end - t:
            return Crawl(since=t)
        count = self.count + 1
        if count % (PATIENCE // 2):
            return Crawl(count, self.since, self.half, self.stalls)
        took = t - self.since
        return Crawl(count, t, took, self.half > 0.0 and took < GROWS * self.half)

"""How long work reports on itself: silent unless someone listens."""


class Progress:
    """Three methods, called by long verbs; this one is silent."""

    def begin(self, what: str) -> None:
        """Work on `what` begins."""

    def update(self, *, control: float, points: int, events: int, step: float) -> None:
        """A point was found: value of p, numbers of points and events so far, size of the last step."""

    def end(self) -> None:
        """Work has ended, well or not."""


SILENT = Progress()

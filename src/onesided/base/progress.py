"""How long work reports on itself: silent unless someone listens."""


class Progress:
    """Three methods, called by long verbs; this one is silent."""

    def begin(self, what: str) -> None:
        """Work begins: `what` is the name of the verb."""

    def update(self, *, control: float, points: int, events: int, step: float) -> None:
        """A point was found: value of p, numbers of points and events so far, size of the last step."""

    def end(self) -> None:
        """Work has ended, well or not."""


class Total(Progress):
    """One count over several paths: what each path reports is handed on with the paths before it added."""

    def __init__(self, to: Progress) -> None:
        self._to = to
        self._points = self._events = 0

    def update(self, *, control: float, points: int, events: int, step: float) -> None:
        """A point of the present path was found."""
        self._to.update(control=control, points=self._points + points, events=self._events + events, step=step)

    def add(self, points: int, events: int) -> None:
        """A path is complete: its counts are added to those of the next ones."""
        self._points += points
        self._events += events


class InnerProgress(Total):
    """Progress of work inside other work: reported with the value that the outer work has reached."""

    value = 0.0

    def update(self, *, control: float, points: int, events: int, step: float) -> None:
        """A point of the inner work was found."""
        super().update(control=self.value, points=points, events=events, step=step)


SILENT = Progress()

"""Messages between a page and its session: what may be asked, and the answers. Knows nothing of how they travel."""

import logging
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from onesided import plots, report
from onesided.base.atomic import whole_file
from onesided.base.errors import ModelFileError, OnesidedError, UsageError
from onesided.files.new_numbers import carrying
from onesided.files.toml_text import MAX_BYTES
from onesided.live.chosen_folder import ChosenFolder, OccupiedNameError
from onesided.live.live_model import LiveModel, of_file
from onesided.live.live_session import LiveSession, Record
from onesided.live.scenes import introduction, scene, state
from onesided.live.stop_flag import CancelledError, StopFlag

log = logging.getLogger(__name__)

MOST_TURNS = 200
MOST_PARAMETERS = 5000
MOST_COORDINATES = 100_000
PICTURES = (".svg", ".pdf", ".png")

Number = Annotated[float, Field(allow_inf_nan=False)]


class _Message(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)
    serial: int = 0


class Standing(BaseModel):
    """Where a page was before it was loaded again, or before its server went away."""

    model_config = ConfigDict(extra="forbid", frozen=True)
    text: str = Field(max_length=MAX_BYTES)
    parameters: dict[str, Number] = Field(max_length=MOST_PARAMETERS)
    p: Number
    q: list[Number] = Field(max_length=MOST_COORDINATES)


class Hello(_Message):
    """The page is there: with where it was, if it was anywhere."""

    kind: Literal["hello"]
    standing: Standing | None = None


class HandleMove(_Message):
    """The handle went through these values of p."""

    kind: Literal["move"]
    turns: list[Number] = Field(min_length=1, max_length=MOST_TURNS)


class ParameterChange(_Message):
    """Message: parameters have new values."""

    kind: Literal["change"]
    parameters: dict[str, Number] = Field(max_length=MOST_PARAMETERS)


class Edit(_Message):
    """The text of the model is another."""

    kind: Literal["edit"]
    text: str = Field(max_length=MAX_BYTES)


class Restart(_Message):
    """Everything from the start of the model, with the parameters as they are."""

    kind: Literal["restart"]


class Save(_Message):
    """Write the model, a report of what was done, or a picture of it into the chosen folder."""

    kind: Literal["save"]
    what: Literal["model", "report", "picture"]
    name: str = Field(max_length=100)
    replace: bool = False


Request = Hello | HandleMove | ParameterChange | Edit | Restart | Save
_REQUESTS: TypeAdapter[Request] = TypeAdapter(Annotated[Request, Field(discriminator="kind")])


def understood(message: Any) -> Request:
    """A request from JSON, or from what it stands for; what is not one is refused in words."""
    try:
        return _REQUESTS.validate_json(message) if isinstance(message, str) else _REQUESTS.validate_python(message)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"][:4])[:100]
        raise UsageError("this request is not understood", got=f"{where}: {first['msg']}"[:200]) from None


@dataclass(frozen=True, eq=False)
class Tracing:
    """A path that is still to be traced for the picture, and the version of the state that it belongs to."""

    version: int
    record: Record

    def run(self, stop: StopFlag) -> dict[str, Any]:
        """The scene; an error in words where there is no path."""
        try:
            return {"kind": "scene", "version": self.version, "data": scene(self.record.paths(stop))}
        except OnesidedError as error:
            return self._without_path(str(error), stop)

    def _without_path(self, why: str, stop: StopFlag) -> dict[str, Any]:
        """Where no path leads on from the start, what the system does when p moves is shown."""
        try:
            found = scene([self.record.history(stop)])
        except OnesidedError:
            return {"kind": "scene", "version": self.version, "data": None, "note": why}
        return {"kind": "scene", "version": self.version, "data": found, "note": why}


class Exchange:
    """One page and its session.

    Parameters
    ----------
    model : what the page starts with;  file : its name, for the reader.
    folder : where files may be imported from and saved; None for nowhere.
    """

    def __init__(self, model: LiveModel, file: str = "", folder: ChosenFolder | None = None) -> None:
        self.first, self.file, self.folder = model, file, folder
        self.session: LiveSession | None = None
        self.version = 0
        self._answers: dict[type[_Message], Callable[[Any, StopFlag], Iterator[dict[str, Any]]]] = {
            Hello: self._hello, HandleMove: self._move, ParameterChange: self._change, Edit: self._edit,
            Restart: self._restart, Save: self._save,
        }  # fmt: skip

    def answer(self, request: Request, stop: StopFlag) -> list[dict[str, Any]]:
        """Data for the page; every answer carries the serial number of its request."""
        try:
            found = list(self._answers[type(request)](request, stop))
        except (CancelledError, KeyboardInterrupt):  # the latter from a flag, between steps that keep nothing
            found = [{"kind": "cancelled"}]
        except OnesidedError as error:
            found = [refusal(error)]
        except Exception as error:
            log.exception("a request failed")
            found = [{"kind": "error", "words": f"this failed unexpectedly: {type(error).__name__}: {error}"[:400]}]
        return [{**one, "serial": request.serial, "asked": request.kind} for one in found]

    def rest(self) -> list[dict[str, Any]]:
        """The state when nothing moves any more, with all its digits; nothing where it was told."""
        session = self.session
        if session is None or session.here.exact:
            return []
        session.way = []
        session.rest()
        return [state(session, []) | {"version": self.version, "serial": 0, "asked": "rest"}]

    def tracing(self) -> Tracing | None:
        """The path that belongs to the present state."""
        return None if self.session is None else Tracing(self.version, self.session.record())

    def _now(self) -> LiveSession:
        if self.session is None:
            raise UsageError("nothing has begun", expected="a message hello first")
        return self.session

    def _opened(self, session: LiveSession, stated: Mapping[str, float]) -> Iterator[dict[str, Any]]:
        """A new session: everything is sent anew; `stated` has the parameters as the text states them."""
        self.session, self.stated, self.version = session, dict(stated), self.version + 1
        yield introduction(session, self.file, saves=self.folder is not None) | {"version": self.version}
        yield state(session, []) | {"version": self.version}

    def _hello(self, request: Hello, stop: StopFlag) -> Iterator[dict[str, Any]]:
        was = request.standing
        if was is None:
            return self._opened(LiveSession(self.first, stop=stop), self.first.system.parameters)
        model = self._read(was.text) if was.text and self.first.source else self.first
        known = {name: value for name, value in was.parameters.items() if name in model.system.parameters}
        session = LiveSession(model.changed(known), (np.array(was.q), was.p), stop=stop)
        return self._opened(session, model.system.parameters)

    def _read(self, text: str) -> LiveModel:
        return of_file(text, self.file or "model", None if self.folder is None else self.folder.place)

    def _move(self, request: HandleMove, stop: StopFlag) -> Iterator[dict[str, Any]]:
        session = self._now()
        news = session.move(request.turns, stop)
        yield state(session, news) | {"version": self.version}

    def _change(self, request: ParameterChange, stop: StopFlag) -> Iterator[dict[str, Any]]:
        session = self._now()
        session.change(request.parameters, stop)
        self.version += 1
        yield state(session, []) | {"version": self.version}

    def _edit(self, request: Edit, stop: StopFlag) -> Iterator[dict[str, Any]]:
        if not self.first.source:
            raise UsageError("this system was stated in Python: there is no text to edit")
        old, model = self._now(), self._read(request.text)
        same = old.model.system.coordinates == model.system.coordinates
        memory = old.remembered() if same else self._forgotten(old)
        begun = model.changed(self._kept({**old.model.system.parameters, **memory}, model.system.parameters))
        session = LiveSession(begun, (old.q, old.p) if same else None, stop=stop)
        return self._opened(session, model.system.parameters)

    def _kept(self, now: Mapping[str, float], stated: Mapping[str, float]) -> dict[str, float]:
        """Values of sliders that a new text does not touch: those of parameters whose number in it is the old one."""
        own = {name: value for name, value in now.items() if value != self.stated.get(name)}
        return {name: value for name, value in own.items() if name in stated and stated[name] == self.stated.get(name)}

    def _restart(self, request: Restart, stop: StopFlag) -> Iterator[dict[str, Any]]:
        old = self._now()
        return self._opened(LiveSession(old.model.changed(self._forgotten(old)), stop=stop), self.stated)

    def _forgotten(self, session: LiveSession) -> dict[str, float]:
        """What a session remembers, as it was at the start of the model."""
        return {name: self.stated[name] for name in session.model.system.history}

    def _save(self, request: Save, stop: StopFlag) -> Iterator[dict[str, Any]]:
        if self.folder is None:
            raise UsageError("there is no folder to save to", advice="onesided.live(system, folder=…)")
        endings, writing = self._writing(request, self._now(), stop)
        try:
            target = self.folder.write(request.name, endings, writing, replace=request.replace)
        except OccupiedNameError as error:
            yield {"kind": "occupied", "words": str(error), "what": request.what, "name": request.name}
            return
        yield {"kind": "saved", "name": target.name, "folder": str(self.folder.place)}

    def _writing(
        self, request: Save, session: LiveSession, stop: StopFlag
    ) -> tuple[tuple[str, ...], Callable[[Any], object]]:  # fmt: skip
        """Endings that fit, and what writes the file."""
        text = self._text(session)
        if request.what == "model":
            if not text:
                raise UsageError("this system was stated in Python: there is no model file to save")
            return (".toml",), lambda target: _write_text(target, text)
        done = session.history(stop)
        if request.what == "report":
            return (".html",), lambda target: report.write(done, target, model=text)
        return PICTURES, lambda target: plots.write(done, target, title=session.model.title)

    def _text(self, session: LiveSession) -> str:
        """The model file with the parameters as the sliders have them."""
        now = {**session.model.system.parameters, **self._forgotten(session)}
        return carrying(session.model.source, now)


def _write_text(target: Any, text: str) -> None:
    with whole_file(target) as draft:
        draft.write_text(text, encoding="utf-8", newline="\n")


def refusal(error: OnesidedError) -> dict[str, Any]:
    """An error for the page: in words, with line and column in the model where they are known."""
    spot = error.spot if isinstance(error, ModelFileError) else None
    return {"kind": "error", "words": str(error), "spot": None if spot is None else list(spot)}

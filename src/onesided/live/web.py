"""The live page over the network of this machine alone: one page, one socket, both behind a random token.

Every request is looked at before anything else: it must name this server as its host, come from a page of this server
if it comes from a page, and know the token. Sockets carry bounded texts; what a socket asks for has a limit of time,
and gives way to what it asks for later.
"""

import asyncio
import hmac
import json
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.requests import Request as WebRequest
from starlette.responses import HTMLResponse, PlainTextResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from onesided.base.errors import OnesidedError
from onesided.live.exchange import (
    MOST_TURNS,
    Edit,
    Exchange,
    HandleMove,
    Hello,
    ParameterChange,
    Request,
    Restart,
    Save,
    Tracing,
    refusal,
    understood,
)
from onesided.live.live_page import LivePage
from onesided.live.stop_flag import CancelledError, StopFlag

log = logging.getLogger(__name__)

SECONDS = 60.0  # for one request
LET_GO = 0.25  # seconds after which a path that is not wanted any more is given up; shorter ones are shown
REST = 0.1  # seconds without a request after which a state is told with all its digits
MOST_BYTES = 1_000_000  # of one message
MOST_PAGES = 12  # open at the same time
MOST_WAITING = 500  # requests of one page
HIDDEN = 404  # what is not for the asker is not there
BUSY, TOO_MUCH = 1013, 1009  # codes with which sockets are closed


@dataclass(frozen=True)
class Door:
    """Who may come in.

    Attributes
    ----------
    port : of the server;  token : the secret part of the address.
    """

    port: int
    token: str

    @property
    def hosts(self) -> frozenset[str]:
        """The names by which browsers on this machine call the server."""
        return frozenset(f"{name}:{self.port}" for name in ("127.0.0.1", "localhost"))

    def admits(self, scope: Scope) -> bool:
        """Whether a request names this server, comes from one of its pages or from none, and knows the token."""
        headers = Headers(scope=scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0] not in self.hosts or len(origins) > 1:
            return False
        if origins and origins[0] != f"http://{hosts[0]}":
            return False
        if scope["type"] == "websocket" and not origins:
            return False
        return self._knows(str(scope.get("path", "")))

    def _knows(self, path: str) -> bool:
        given = path.split("/")[1] if path.startswith("/") else ""
        return hmac.compare_digest(given.encode(), self.token.encode())


class Guard:
    """Answers everything that the door does not admit as if nothing were there."""

    def __init__(self, app: ASGIApp, door: Door) -> None:
        self.app, self.door = app, door

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let in, or turn away."""
        if scope["type"] == "lifespan" or self.door.admits(scope):
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await WebSocket(scope, receive, send).close()
        else:
            await PlainTextResponse("not found\n", HIDDEN)(scope, receive, send)


def application(door: Door, opened: Callable[[], Exchange], page: LivePage, *, seconds: float = SECONDS) -> ASGIApp:
    """The page at /TOKEN/ and its socket at /TOKEN/socket; `opened` makes the exchange of one page."""
    pages: set[Conversation] = set()

    async def show(_: WebRequest) -> Response:
        return HTMLResponse(page.html, headers=page.headers())

    async def talk(socket: WebSocket) -> None:
        await socket.accept()
        if len(pages) >= MOST_PAGES:
            await socket.close(BUSY)
            return
        talking = Conversation(socket, opened(), seconds)
        pages.add(talking)
        try:
            await talking.run()
        finally:
            pages.discard(talking)

    routes = [Route(f"/{door.token}/", show, methods=["GET"]), WebSocketRoute(f"/{door.token}/socket", talk)]
    return Guard(Starlette(routes=routes), door)


class Conversation:
    """One open page: requests are answered in turn, the latest counts; paths are traced beside."""

    def __init__(self, socket: WebSocket, exchange: Exchange, seconds: float) -> None:
        self.socket, self.exchange, self.seconds = socket, exchange, seconds
        self.waiting: deque[Request] = deque()
        self.news, self.wanted = asyncio.Event(), asyncio.Event()
        self.working, self.tracing = StopFlag(), StopFlag()
        self.sending = asyncio.Lock()

    async def run(self) -> None:
        """Until the page is closed."""
        tasks = [asyncio.create_task(work()) for work in (self._listen, self._work, self._trace)]
        try:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        except (WebSocketDisconnect, RuntimeError):  # gone while it was being answered
            pass
        finally:
            self.working.ask()
            self.tracing.ask()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _listen(self) -> None:
        while True:
            try:
                text = await self.socket.receive_text()
            except (WebSocketDisconnect, KeyError):  # closed, or not a text
                return
            if len(text) > MOST_BYTES or len(self.waiting) > MOST_WAITING:
                await self.socket.close(TOO_MUCH)
                return
            try:
                self._take(understood(text))
            except OnesidedError as error:
                await self._send(refusal(error) | {"serial": -1, "asked": ""})

    def _take(self, request: Request) -> None:
        """Put a request in line: one that makes earlier ones pointless takes their place."""
        self.waiting = deque(in_line(self.waiting, request))
        if isinstance(request, Hello | Edit | Restart):
            self.working.ask()
        self.news.set()

    async def _work(self) -> None:
        while True:
            if not await self._wanted():
                continue
            request = self.waiting.popleft()
            self.working = StopFlag(self.seconds)
            for one in await asyncio.to_thread(self.exchange.answer, request, self.working):
                await self._send(one)
            if not isinstance(request, HandleMove | Save):
                self.wanted.set()

    async def _wanted(self) -> bool:
        """Wait for a request; where none comes for a while, send the digits of the state that is rested in."""
        if self.waiting:
            return True
        self.news.clear()
        try:
            await asyncio.wait_for(self.news.wait(), REST)
        except TimeoutError:
            for one in await asyncio.to_thread(self.exchange.rest):
                await self._send(one)
            await self.news.wait()
        return bool(self.waiting)

    async def _trace(self) -> None:
        """Trace the path of the latest state; what was begun for an older one may end if that is soon."""
        while True:
            await self.wanted.wait()
            self.wanted.clear()
            task, self.tracing = self.exchange.tracing(), StopFlag(self.seconds)
            if task is not None:
                await self._shown(task, self.tracing)

    async def _shown(self, task: Tracing, stop: StopFlag) -> None:
        work = asyncio.create_task(asyncio.to_thread(_traced, task, stop))
        await asyncio.wait([work], timeout=LET_GO)
        newer = asyncio.create_task(self.wanted.wait())
        await asyncio.wait([work, newer], return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            stop.ask()
        newer.cancel()
        found = await work
        if found is not None:
            await self._send(found)

    async def _send(self, message: dict[str, Any]) -> None:
        async with self.sending:
            await self.socket.send_text(json.dumps(message, allow_nan=False, separators=(",", ":")))


def _traced(task: Tracing, stop: StopFlag) -> dict[str, Any] | None:
    try:
        return task.run(stop)
    except (CancelledError, KeyboardInterrupt):
        return None
    except Exception as error:
        log.exception("a path failed")
        words = f"the path failed unexpectedly: {type(error).__name__}"
        return {"kind": "scene", "version": task.version, "data": None, "note": words}


def in_line(waiting: deque[Request], request: Request) -> list[Request]:
    """Requests to be answered when one more comes in.

    Movements of the handle are joined, none of their latest turns is lost; of changes, the latest values count; a new
    text or a restart makes everything before it pointless, except what is to be saved.
    """
    kept = list(waiting)
    if isinstance(request, Hello | Edit | Restart):
        kept = [one for one in kept if not isinstance(one, HandleMove | ParameterChange | Edit | Restart)]
    last = kept[-1] if kept else None
    if isinstance(request, HandleMove) and isinstance(last, HandleMove):
        turns = turning([*last.turns, *request.turns])[-MOST_TURNS:]
        return [*kept[:-1], request.model_copy(update={"turns": turns})]
    if isinstance(request, ParameterChange) and isinstance(last, ParameterChange):
        values = {**last.parameters, **request.parameters}
        return [*kept[:-1], request.model_copy(update={"parameters": values})]
    return [*kept, request]


def turning(values: list[float]) -> list[float]:
    """Only the values at which the sense changes, and the last."""
    found = values[:1]
    for value in values[1:]:
        if len(found) > 1 and (found[-1] - found[-2]) * (value - found[-1]) >= 0:
            found[-1] = value
        else:
            found.append(value)
    return found

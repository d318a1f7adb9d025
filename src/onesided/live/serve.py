"""`live`: a page on this machine in which a system is moved by hand."""

import contextlib
import logging
import os
import re
import secrets
import socket
import threading
import webbrowser
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from importlib import import_module
from typing import Any

from onesided.base.arguments import checked
from onesided.base.errors import UsageError
from onesided.live.chosen_folder import ChosenFolder
from onesided.live.exchange import Exchange
from onesided.live.live_model import LiveModel, of_system
from onesided.live.live_page import live_page
from onesided.system.system import System

log = logging.getLogger(__name__)

HOST = "127.0.0.1"
SECONDS_TO_START, SECONDS_TO_END = 20.0, 5.0
TOKEN = re.compile(r"[A-Za-z0-9_-]{16,100}")
WIDGET = "the page inside a notebook needs anywidget, which is not installed"
NEEDED = "the live page needs starlette, uvicorn and websockets, which are not installed"


@dataclass(frozen=True, eq=False)
class LiveServer:
    """A live page that is being served.

    Attributes
    ----------
    url : its address, with the secret token: who knows it may use the page.
    """

    url: str
    _end: Callable[[], None]
    _opened: Callable[[], Exchange]

    def close(self) -> None:
        """Stop serving; pages that are open say so."""
        self._end()

    def widget(self) -> Any:
        """The same page inside a notebook, with a session of its own in the kernel; needs anywidget."""
        try:
            notebook = import_module("onesided.live.notebook_widget")
        except ImportError as e:
            raise UsageError(WIDGET, got=str(e), advice="pip install 'onesided[notebook]'") from None
        return notebook.LiveWidget(self._opened())

    def __enter__(self) -> "LiveServer":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<LiveServer: {self.url}>"

    def _repr_html_(self) -> str:
        return f'<a href="{escape(self.url)}" target="_blank" rel="noopener noreferrer">{escape(self.url)}</a>'


@checked
def live(  # noqa: PLR0913 - each knob is a need of its own
    system: System,
    q0: Any = None,
    *,
    p0: float | None = None,
    p_bounds: tuple[float, float] | None = None,
    folder: str | os.PathLike[str] | None = None,
    port: int = 0,
    token: str | None = None,
    name: str = "",
    browser: bool = True,
) -> LiveServer:
    """Open a page in which parameters are sliders and p is a handle; the system follows, and jumps as the real one.

    Parameters
    ----------
    q0, p0, p_bounds : start, and range of the handle; by default those of the file.
    folder : where the page may save models, reports and pictures, and where imported files lie; nowhere by default.
    port, token : of the address; by default a free port and a new secret. Pages find a server again that was started
        with the same port and token.
    name : of the model file, for the page;  browser : open the page in the browser.

    Returns
    -------
    LiveServer
        It serves until `close`, or until Python ends.
    """
    chosen = None if folder is None else ChosenFolder.at(folder)
    return serve(of_system(system, q0, p0, p_bounds), name, chosen, address=(port, token), browser=browser)


def serve(
    model: LiveModel,
    file: str,
    folder: ChosenFolder | None,
    *,
    address: tuple[int, str | None] = (0, None),
    browser: bool = True,
) -> LiveServer:
    """Serve a model in a thread of its own; `file` is the name that the page shows."""
    port, given = address
    token = secrets.token_urlsafe(24) if given is None else given
    if not TOKEN.fullmatch(token):
        raise UsageError("the token is not usable", expected="16 to 100 letters, digits, - or _")
    web, uvicorn = _web()
    listening = _bound(port)
    door = web.Door(listening.getsockname()[1], token)

    def opened() -> Exchange:
        return Exchange(model, file, folder)

    app = web.application(door, opened, live_page())
    config = uvicorn.Config(
        app, lifespan="off", access_log=False, log_level="error", ws="websockets-sansio", ws_max_size=web.MOST_BYTES,
        server_header=False, timeout_graceful_shutdown=1, h11_max_incomplete_event_size=16_384,
    )  # fmt: skip
    server = LiveServer(f"http://{HOST}:{door.port}/{token}/", _started(uvicorn.Server(config), listening), opened)
    if browser:
        webbrowser.open(server.url)
    return server


def _web() -> tuple[Any, Any]:
    """The optional packages, or words about them."""
    try:
        import uvicorn

        return import_module("onesided.live.web"), uvicorn
    except ImportError as e:
        raise UsageError(NEEDED, got=str(e), advice="pip install 'onesided[live]'") from None


def _bound(port: int) -> socket.socket:
    """A socket of this machine alone."""
    if not 0 <= port <= 65535:
        raise UsageError("this is not a port", got=str(port), expected="0 to 65535")
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        if os.name == "posix":
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((HOST, port))
    except OSError as e:
        listening.close()
        raise UsageError("the port cannot be used", got=f"{port}: {e.strerror}", advice="another port, or 0") from None
    return listening


def _started(server: Any, listening: socket.socket) -> Callable[[], None]:
    """Run the server in a thread; returns what ends it."""
    thread = threading.Thread(target=server.run, args=([listening],), name="onesided-live", daemon=True)
    thread.start()
    waiting, waited = threading.Event(), 0.0
    while not server.started and thread.is_alive() and waited < SECONDS_TO_START:
        waiting.wait(0.01)
        waited += 0.01
    if not server.started:
        raise UsageError("the server could not be started")

    def end() -> None:
        server.should_exit = True
        thread.join(SECONDS_TO_END)
        with contextlib.suppress(OSError):
            listening.close()

    return end

"""The live page inside a notebook: the same page in a frame, its messages carried by a widget; needs anywidget."""

from typing import Any

import anywidget
import traitlets

from onesided.base.errors import OnesidedError
from onesided.live.exchange import Exchange, HandleMove, Save, refusal, understood
from onesided.live.live_page import framed_page
from onesided.live.stop_flag import CancelledError, StopFlag

SECONDS = 60.0  # for one request

CARRIER = """
function render({ model, el }) {
  const frame = document.createElement("iframe");
  frame.setAttribute("sandbox", "allow-scripts");
  frame.style.cssText = `width: 100%; height: ${model.get("height")}px; border: 0`;
  const carry = (event) => {
    if (event.source === frame.contentWindow && event.data && event.data.onesided) model.send(event.data.onesided);
  };
  const bring = (message) => frame.contentWindow && frame.contentWindow.postMessage({ onesided: message }, "*");
  window.addEventListener("message", carry);
  model.on("msg:custom", bring);
  frame.srcdoc = model.get("page");
  el.append(frame);
  return () => { window.removeEventListener("message", carry); model.off("msg:custom", bring); };
}
export default { render };
"""


class LiveWidget(anywidget.AnyWidget):
    """A live page whose session runs in the kernel of the notebook."""

    _esm = CARRIER
    page = traitlets.Unicode().tag(sync=True)
    height = traitlets.Int(980).tag(sync=True)

    def __init__(self, exchange: Exchange) -> None:
        super().__init__(page=framed_page())
        self._exchange = exchange
        self.on_msg(self._heard)

    def _heard(self, _: Any, content: Any, __: Any) -> None:
        for answer in answers(self._exchange, content):
            self.send(answer)


def answers(exchange: Exchange, content: Any) -> list[dict[str, Any]]:
    """Everything that one message of the page brings about, one after the other."""
    stop = StopFlag(SECONDS)
    try:
        request = understood(content)
    except OnesidedError as error:
        return [refusal(error) | {"serial": -1, "asked": ""}]
    found = exchange.answer(request, stop) + exchange.rest()
    task = None if isinstance(request, HandleMove | Save) else exchange.tracing()
    try:
        return found if task is None else [*found, task.run(stop)]
    except (CancelledError, KeyboardInterrupt):
        return found

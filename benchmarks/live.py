"""The live page: pictures per second while the handle moves, and how long a change of a parameter takes.

Run: python benchmarks/live.py [--seconds 2] [MODEL …]

For each bundled model of up to ten coordinates a server is started and its page is opened in Chromium without a
screen. The handle is moved in every picture, back and forth over the range of p; given are the pictures and the states
per second, and the times from a movement to its state. Then the first parameter is moved: the time to the new state of
the mechanism, and to the new path. The last three are milliseconds of CPU: of the page for one picture, and of the
server for one movement and one change. Goals: 60 pictures per second, 100 ms for a change. On a machine that does other
work meanwhile look at the CPU times: 16 ms of the page for a picture are 60 pictures per second.
"""

import argparse
import json
import shutil
import statistics
import time

from playwright.sync_api import CDPSession, sync_playwright

from onesided import zoo
from onesided.live.exchange import Exchange, understood
from onesided.live.live_model import LiveModel, of_model
from onesided.live.live_session import StopFlag
from onesided.live.serve import serve

MODELS = (
    "von-mises", "keyboard-dome", "corner-limit", "column-stop", "wedge", "two-supports", "bead-on-ring",
    "bistable-chain", "tripod-truss", "two-bar-roller", "bistable-chain-parts",
)  # fmt: skip
OPTIONS = ["--no-sandbox", "--disable-gpu", "--no-first-run"]
DRAG = """async (seconds) => {
  const handle = document.getElementById("handle"), pulse = document.getElementById("pulse");
  const low = Number(handle.min), high = Number(handle.max), waits = [];
  let frames = 0, states = 0;
  const seen = new MutationObserver(() => { states += 1; waits.push(Number(pulse.dataset.ms)); });
  seen.observe(pulse, { attributes: true, attributeFilter: ["data-ms"] });
  const begin = performance.now();
  await new Promise((done) => {
    const step = (now) => {
      const t = (performance.now() - begin) / 1000;
      if (t > seconds) { done(); return; }
      frames += 1;
      handle.value = String(low + (high - low) * (0.5 - 0.5 * Math.cos(3 * t)));
      handle.dispatchEvent(new Event("input"));
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });
  const passed = (performance.now() - begin) / 1000;
  seen.disconnect();
  return { frames: frames / passed, states: states / passed, waits };
}"""
CHANGE = """async (share) => {
  const bar = document.querySelector("#parameters input[type=range]"), pulse = document.getElementById("pulse");
  const data = document.getElementById("data"), begin = performance.now();
  const when = (node, options) => new Promise((done) => {
    const seen = new MutationObserver(() => { seen.disconnect(); done(performance.now() - begin); });
    seen.observe(node, options);
    setTimeout(() => done(NaN), 20000);
  });
  const state = when(pulse, { attributes: true, attributeFilter: ["data-ms"] }), path = when(data, { childList: true });
  bar.value = String(Number(bar.value) * share);
  bar.dispatchEvent(new Event("input"));
  return [await state, await path];
}"""


def answered(model: LiveModel, repeat: int = 9) -> tuple[float, float]:
    """CPU milliseconds of the server for a movement along known states, and for a change of a parameter."""
    exchange, (low, high) = Exchange(model), model.bounds
    name, value = next(iter(model.system.parameters.items()))
    exchange.answer(understood({"kind": "hello"}), StopFlag())
    exchange.answer(understood({"kind": "move", "turns": [low, high, low]}), StopFlag())
    moves = [_cpu(exchange, {"kind": "move", "turns": [low + (high - low) * k / 100]}) for k in range(1, 60)]
    changes = [
        _cpu(exchange, {"kind": "change", "parameters": {name: value * (1 + 0.002 * k)}}) for k in range(1, repeat)
    ]
    return statistics.median(moves), statistics.median(changes)


def _cpu(exchange: Exchange, request: dict[str, object]) -> float:
    begin = time.process_time()
    json.dumps(exchange.answer(understood(request), StopFlag()))
    return 1000 * (time.process_time() - begin)


def worked(tools: CDPSession) -> float:
    """CPU seconds of the page so far."""
    metrics = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
    return float(metrics["TaskDuration"])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("--seconds", type=float, default=2.0)
    options.add_argument("models", nargs="*", default=MODELS)
    asked = options.parse_args()
    titles = ("pictures/s", "states/s", "wait", "change", "path", "CPU: picture", "move", "change")
    print(f"{'model':22}{'n':>3}" + "".join(f"{title:>13}" for title in titles))
    with sync_playwright() as play:
        found = shutil.which("chromium") or shutil.which("google-chrome")
        browser = play.chromium.launch(executable_path=found, args=OPTIONS)
        for name in asked.models:
            model = of_model(zoo.load(name))
            with serve(model, name, None, browser=False) as server:
                page = browser.new_page(viewport={"width": 1200, "height": 900})
                page.goto(server.url)
                page.wait_for_selector("#x option", state="attached", timeout=120_000)
                page.wait_for_selector("#pulse[data-state=live]", timeout=120_000)
                page.evaluate(DRAG, 2.2)  # stretches are found once
                tools = page.context.new_cdp_session(page)
                tools.send("Performance.enable", {"timeDomain": "threadTicks"})
                begin = worked(tools)
                moved = page.evaluate(DRAG, asked.seconds)
                drawn = 1000 * (worked(tools) - begin) / max(moved["frames"] * asked.seconds, 1)
                time.sleep(0.5)
                page.evaluate(CHANGE, 1.001)
                changes = [page.evaluate(CHANGE, 1.001) for _ in range(5)]
                page.close()
            times = [statistics.median(part) for part in zip(*changes, strict=True)]
            numbers = (moved["frames"], moved["states"], statistics.median(moved["waits"]), *times)
            numbers = (*numbers, drawn, *answered(model))
            print(f"{name:22}{model.system.n:3}" + "".join(f"{number:13.1f}" for number in numbers), flush=True)
        browser.close()


if __name__ == "__main__":
    main()

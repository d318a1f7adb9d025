// What the reader does: pointers, keys, choices, the address.
slider.addEventListener("input", () => {
  const place = Number(slider.value) * whole, jump = jumpAt(place);
  player.stop();
  if (jump && jump.state >= 0 && jump.share > 0) show(jump.from, jump); else show(frameNear(place));
});
for (const id of ["x", "y"]) byId(id).addEventListener("change", () => { chart.zoom = null; redraw(); });
for (const select of [quantity, against]) select.addEventListener("change", () => { curves.zoom = null; redraw(); });
byId("previous").addEventListener("click", () => hop(-1));
byId("next").addEventListener("click", () => hop(1));
events.buttons.forEach((b, i) => {
  b.title = D.explanations[D.events[i].why];
  b.addEventListener("click", () => { player.stop(); show(D.events[i].frame); });
});
byId("raster").addEventListener("click", (event) => show(frameNear((event.offsetX / event.target.clientWidth) * whole)));

byId("box-zoom").addEventListener("click", (event) => {
  chart.tool = chart.tool === "box" ? "move" : "box";
  event.currentTarget.setAttribute("aria-pressed", String(chart.tool === "box"));
});
byId("diagram-closer").addEventListener("click", () => chart.closer(1 / 1.4));
byId("diagram-wider").addEventListener("click", () => chart.closer(1.4));
byId("diagram-all").addEventListener("click", () => chart.to(null));
for (const format of ["png", "svg"]) {
  byId(`diagram-${format}`).addEventListener("click", () => picture("diagram", (c, w, h) => { chart.paint(c, w, h); chart.present(c); }, byId("diagram"), format));
  byId(`sketch-${format}`).addEventListener("click", () => picture("drawing", (c, w, h) => drawing.paint(c, w, h, view.frame), byId("sketch"), format));
}
byId("csv").addEventListener("click", () => save(`${fileName}.csv`, csv(), "text/csv"));
byId("as-python").addEventListener("click", () => offer("This state as Python", asPython(view.frame), `${fileName}.py`));
byId("as-toml").addEventListener("click", () => offer("This state as the start of a model file", asToml(view.frame), `${fileName}-start.toml`));
byId("text-close").addEventListener("click", () => byId("text").close());

if (drawing) {
  byId("sketch-closer").addEventListener("click", () => drawing.closer(1.3));
  byId("sketch-wider").addEventListener("click", () => drawing.closer(1 / 1.3));
  byId("sketch-all").addEventListener("click", () => drawing.whole());
  const larger = drawing.times, scale = byId("sketch-scale");
  scale.hidden = larger === 1;
  const told = () => { scale.textContent = drawing.times === 1 ? `displacements as they are; show × ${larger}` : `displacements × ${larger}; show as they are`; };
  scale.addEventListener("click", () => { drawing.rescale(drawing.times === 1 ? larger : 1); told(); redraw(); });
  told();
}

const MOVES = new Map([["ArrowRight", 1], ["ArrowLeft", -1], ["PageDown", 20], ["PageUp", -20], ["Home", -Infinity], ["End", Infinity]]);
const UPRIGHT = new Map([["ArrowUp", 1], ["ArrowDown", -1]]); // on the slider only: elsewhere they scroll, or choose in a list
const ZOOMS = new Map([["+", 1.25], ["=", 1.25], ["-", 0.8], ["0", 0]]);
const typed = ({ tagName, type }) => tagName === "TEXTAREA" || (tagName === "INPUT" && !["range", "checkbox"].includes(type));
const pressed = ({ tagName, type }) => ["BUTTON", "SUMMARY", "SELECT"].includes(tagName) || type === "checkbox";

function zoomed(factor) {
  const plane = document.activeElement !== byId("sketch") || !drawing;
  if (plane) { if (factor) chart.closer(1 / factor); else chart.to(null); } else if (factor) drawing.closer(factor); else drawing.whole();
}

document.addEventListener("keydown", (event) => {
  const { key: name, target } = event, move = MOVES.get(name) || (target === slider ? UPRIGHT.get(name) : undefined);
  if (event.ctrlKey || event.metaKey || event.altKey || typed(target) || byId("text").open) return;
  if (move) { player.stop(); show(view.frame + move); }
  else if (name === "n" || name === "p") { player.stop(); hop(name === "n" ? 1 : -1); }
  else if (name === "k" || (name === " " && !pressed(target))) player.toggle();
  else if (ZOOMS.has(name)) zoomed(ZOOMS.get(name));
  else return;
  event.preventDefault();
});

// A link to a frame: report.html#120.
function fromAddress() { if (/^#[0-9]+$/.test(location.hash)) show(Number(location.hash.slice(1))); }
window.addEventListener("hashchange", fromAddress);
new ResizeObserver(() => redraw()).observe(byId("diagram"));
themes(redraw);
redraw();
fromAddress();

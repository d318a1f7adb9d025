// The page: one position, shown by the diagram, the drawing, the raster, the numbers and the list of events.
const view = { frame: 0, timer: null, here: -1 };
const buttons = [...document.querySelectorAll("#events button")];
const slider = byId("slider");
slider.max = String(M - 1);

function fill(select, chosen) {
  for (const name of D.choices) select.append(element("option", { value: name }, name));
  select.value = chosen;
}
fill(byId("x"), D.x);
fill(byId("y"), D.y);

const chart = new Chart(byId("diagram"), byId("diagram-top"), {
  marks: true, jumps: true,
  at: () => view.frame, pick: (frame) => show(frame),
  xName: () => byId("x").value, yName: () => byId("y").value,
  lines: () => D.branches.map((b, i) => ({
    x: columns.get(byId("x").value), y: columns.get(byId("y").value), begin: b.begin, end: b.end, colour: branchColour(i),
  })),
});

const quantity = byId("quantity");
const LINES = [[], [7, 4], [2, 3], [8, 3, 2, 3]];
for (const name of D.quantities) quantity.append(element("option", {}, name));
const curves = D.quantities.length ? new Chart(byId("curves"), byId("curves-top"), {
  at: () => view.frame, pick: (frame) => show(frame),
  xName: () => (D.stability ? "position along the result" : D.control), yName: () => quantity.value,
  lines: () => (quantity.value === "energy" ? ["energy"] : D.series.map((n) => `${quantity.value} ${n}`)).filter((n) => columns.has(n)).flatMap((name, k) =>
    D.branches.map((b) => ({
      x: D.stability ? places : columns.get(D.control), y: columns.get(name), begin: b.begin, end: b.end, colour: colour("c" + (k % 7)), dash: LINES[k % 4],
    }))),
}) : null;
const places = Float64Array.from({ length: M }, (_, i) => i);
const drawing = D.sketch ? new Drawing(byId("sketch"), D.sketch) : null;
if (!drawing) byId("sketch-figure").hidden = true;
if (!curves) byId("curves-section").hidden = true;

function legend() {
  const list = byId("legend");
  list.replaceChildren();
  if (!curves || quantity.value === "energy") return;
  D.series.forEach((name, k) => {
    const key = element("canvas", { width: 36, height: 10 }), c = key.getContext("2d");
    c.strokeStyle = colour("c" + (k % 7)); c.lineWidth = 2; c.setLineDash(LINES[k % 4]);
    c.beginPath(); c.moveTo(0, 5); c.lineTo(36, 5); c.stroke();
    list.append(element("span", {}, key, " " + name));
  });
}

const ROW = 17;
// Rows against position: stability, then each constraint; filled where closed, pale where closed without force.
function raster() {
  const { c, w } = prepare(byId("raster")), first = D.stability ? 1 : 0, rows = Math.min(width, 12) + first, high = ROW;
  const step = w / Math.max(M - 1, 1);
  const stretch = (row, code, look) => {
    let begin = 0;
    for (let i = 1; i <= M; i++) if (i === M || code(i) !== code(begin)) {
      c.fillStyle = look(code(begin));
      c.fillRect(Math.max(0, (begin - 0.5) * step), row * high + 1, Math.max((i - begin) * step, 1.5), high - 3);
      begin = i;
    }
  };
  if (D.stability) stretch(0, (i) => Math.min(degree[i], 3), (d) => (d === 0 ? colour("good") : colour("bad" + d)));
  for (let k = 0; k < rows - first; k++) stretch(k + first, (i) => state(i, k), (s) => [colour("grid"), colour("weak"), colour("c0")][s]);
  c.fillStyle = colour("ink");
  for (const e of D.events) if (e.kind !== "bound") c.fillRect(e.frame * step - 0.5, 0, 1, rows * high);
  c.font = "11px system-ui, sans-serif"; c.textBaseline = "middle"; c.lineWidth = 3; c.strokeStyle = colour("paper");
  [...(first ? ["stability"] : []), ...D.unilateral.slice(0, rows - first)].forEach((name, k) => {
    c.strokeText(name, 4, (k + 0.5) * high); c.fillText(name, 4, (k + 0.5) * high);
  });
}

function rows(table, entries) {
  const body = table.tBodies[0];
  while (body.rows.length < entries.length) body.append(element("tr"));
  while (body.rows.length > entries.length) body.lastChild.remove();
  entries.forEach((entry, i) => {
    const row = body.rows[i];
    while (row.cells.length < entry.length) row.append(element(row.cells.length ? "td" : "th"));
    entry.forEach((text, k) => { if (row.cells[k].textContent !== text) row.cells[k].textContent = text; });
  });
}

function show(frame) {
  view.frame = Math.max(0, Math.min(M - 1, frame));
  const f = view.frame, sure = exact[f] === 1;
  slider.value = String(f);
  const branch = branchOf(f), source = D.branches[branch];
  byId("position").textContent = source.label + (sure ? "" : "; between computed points, interpolated");
  const word = byId("stability");
  word.hidden = !D.stability;
  word.textContent = stability(f);
  const worst = Math.max(degree[f], ...D.events.filter((e) => e.frame === f).map((e) => e.after || 0));
  word.dataset.degree = String(Math.min(worst, 3));
  slider.setAttribute("aria-valuetext", `${D.control} = ${number(D.control, f)}` + (D.stability ? `, ${stability(f)}` : ""));
  rows(byId("values"), D.shown.map((name) => [name, number(name, f)]));
  rows(byId("constraints"), D.listed.map((k) => {
    const name = D.unilateral[k];
    return [name, states(name)[state(f, k)], number("gap " + name, f), number("reaction " + name, f)];
  }));
  const here = D.events.findIndex((e) => e.frame === f);
  byId("here").textContent = here >= 0 ? D.events[here].words : "";
  byId("why").textContent = here >= 0 ? D.explanations[D.events[here].why] : "";
  if (here !== view.here) {
    if (view.here >= 0) buttons[view.here].removeAttribute("aria-current");
    if (here >= 0) buttons[here].setAttribute("aria-current", "true");
    view.here = here;
  }
  chart.cursor();
  if (curves) curves.cursor();
  if (drawing) drawing.draw(f);
  const box = byId("raster").getBoundingClientRect();
  byId("needle").style.left = `${(box.width * f) / Math.max(M - 1, 1)}px`;
}

function hop(sense) {
  const frames = D.events.map((e) => e.frame).sort((a, b) => a - b);
  const next = sense > 0 ? frames.find((f) => f > view.frame) : frames.reverse().find((f) => f < view.frame);
  if (next !== undefined) show(next);
}

function play() {
  if (view.timer) { cancelAnimationFrame(view.timer); view.timer = null; byId("play").textContent = "Play"; return; }
  if (view.frame >= M - 1) show(0);
  byId("play").textContent = "Stop";
  const begin = performance.now(), first = view.frame, rate = Math.max(M / 12, 15); // twelve seconds for all of it
  const tick = (now) => {
    const next = Math.floor(first + ((now - begin) / 1000) * rate);
    if (next !== view.frame) show(next);
    if (view.frame < M - 1) view.timer = requestAnimationFrame(tick);
    else { view.timer = null; byId("play").textContent = "Play"; }
  };
  view.timer = requestAnimationFrame(tick);
}

function redraw() {
  byId("raster").style.height = `${ROW * (Math.min(width, 12) + (D.stability ? 1 : 0))}px`;
  byId("needle").style.height = byId("raster").style.height;
  chart.draw();
  if (curves) { legend(); curves.draw(); }
  raster();
  show(view.frame);
}

slider.addEventListener("input", () => show(Number(slider.value)));
for (const id of ["x", "y"]) byId(id).addEventListener("change", () => { chart.zoom = null; redraw(); });
quantity.addEventListener("change", () => { curves.zoom = null; redraw(); });
byId("play").addEventListener("click", play);
byId("previous").addEventListener("click", () => hop(-1));
byId("next").addEventListener("click", () => hop(1));
buttons.forEach((b, i) => {
  b.title = D.explanations[D.events[i].why];
  b.addEventListener("click", () => show(Number(b.dataset.frame)));
});
byId("raster").addEventListener("click", (event) => {
  show(Math.round((event.offsetX / event.target.getBoundingClientRect().width) * (M - 1)));
});
byId("theme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).getPropertyValue("--dark").trim() === "1";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  redraw();
});
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || ["SELECT", "INPUT"].includes(event.target.tagName)) return;
  const moves = { ArrowRight: 1, ArrowLeft: -1, PageDown: 20, PageUp: -20 };
  if (event.key in moves) show(view.frame + moves[event.key]);
  else if (event.key === "Home") show(0);
  else if (event.key === "End") show(M - 1);
  else if (event.key === "n" || event.key === "p") hop(event.key === "n" ? 1 : -1);
  else if (event.key === " " && event.target.tagName !== "BUTTON" && event.target.tagName !== "SUMMARY") play();
  else return;
  event.preventDefault();
});
new ResizeObserver(() => redraw()).observe(byId("diagram"));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
redraw();

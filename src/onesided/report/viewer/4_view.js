// The page: one position, shown by the diagram, the drawing, the raster, the numbers and the lists.
const view = { frame: 0, jump: null, branch: 0 };
const single = D.branches.length > MOST_ALIKE && !D.driven; // so many that one at a time can be read
const slider = byId("slider");
Object.assign(slider, { min: "0", max: "1", step: "any", value: "0" });

function fill(select, chosen) {
  for (const name of D.choices) select.append(element("option", { value: name }, titled(name)));
  select.value = chosen;
}
fill(byId("x"), D.x);
fill(byId("y"), D.y);

const events = new EventList(byId("events"), byId("event-filter"), byId("event-kind"), () => redraw());
const branches = D.branches.length > 1 ? new BranchList(byId("branches"), byId("branch-filter"), byId("alike"), (frame) => show(frame), () => redraw()) : null;
byId("branches-section").hidden = !branches;

const elsewhere = (branch) => !!branches && (single ? branch !== branchOf(view.frame) : branches.hides(branch));
const chart = new Chart(byId("diagram"), byId("diagram-top"), {
  marks: true, jumps: true, tip, singled: single,
  at: () => view.frame, leaps: () => view.jump, pick: (frame) => show(frame), hides: (e) => events.hides(e) || elsewhere(branchOf(e.frame)),
  xName: () => byId("x").value, yName: () => byId("y").value,
  lines: () => D.branches.map((b, i) => ({
    x: columns.get(byId("x").value), y: columns.get(byId("y").value), begin: b.begin, end: b.end, colour: single ? colour("muted") : branchColour(i),
    faint: !!branches && branches.hides(i),
  })),
});

const quantity = byId("quantity"), against = byId("against");
const LINES = [[], [7, 4], [2, 3], [8, 3, 2, 3]];
for (const name of D.quantities) quantity.append(element("option", {}, name));
const apart = D.branches.length > 1 && !D.driven; // branches, each with an arc length of its own
for (const name of new Set(apart ? [D.control, D.along] : [D.along, D.control])) against.append(element("option", { value: name }, titled(name)));
const wanted = () => (quantity.value === "energy" ? ["energy"] : D.series.map((n) => `${quantity.value} ${n}`)).filter((n) => columns.has(n));
const curves = D.quantities.length ? new Chart(byId("curves"), byId("curves-top"), {
  at: () => view.frame, pick: (frame) => show(frame), tip, own: single,
  xName: () => against.value, yName: () => quantity.value,
  lines: () => wanted().flatMap((name, k) => D.branches.filter((_, i) => !single || i === view.branch).map((b) => ({
    x: against.value === D.along && !apart ? lengths : columns.get(against.value), y: columns.get(name), begin: b.begin, end: b.end,
    colour: colour("c" + (k % 6)), dash: LINES[k % 4],
  }))),
}) : null;
const drawing = D.sketch ? new Drawing(byId("sketch"), D.sketch, () => show(view.frame)) : null;
const raster = new Raster(byId("raster"), byId("needle"), byId("all-rows"));
const player = new Player(byId("play"), byId("speed"), byId("loop"), show);
byId("sketch-figure").hidden = !drawing;
byId("stage").classList.toggle("alone", !drawing);
byId("curves-section").hidden = !curves;
byId("constraints-section").hidden = !width;
byId("state-buttons").hidden = !D.coordinates.length;

// Everything about a point beside the pointer.
function tip(frame, x, y) {
  const box = this.top.parentElement.querySelector(".tip");
  box.hidden = frame < 0;
  if (frame < 0) return;
  const found = eventsAt(frame).map((e) => element("b", {}, (e.number ? `${e.number} ` : "") + e.words));
  const pushes = D.listed.map((k) => D.unilateral[k]).filter((name) => columns.has("reaction " + name) && state(frame, D.unilateral.indexOf(name)) > 0);
  const names = new Set([D.control, byId("x").value, byId("y").value, ...(this === curves ? wanted() : []), ...D.readout, ...pushes.slice(0, 4).map((name) => "reaction " + name)]);
  const lines = [...names].map((name) => element("div", {}, equation(name, frame, 6)));
  if (D.stability) lines.push(element("div", {}, stability(frame)));
  box.replaceChildren(...found, ...lines);
  const left = x + box.offsetWidth + 24 > this.top.clientWidth ? x - box.offsetWidth - 14 : x + 16;
  box.style.left = `${Math.max(left, 0)}px`;
  box.style.top = `${Math.max(Math.min(y + 14, this.top.clientHeight - box.offsetHeight), 0)}px`;
}

function key(words, draw, wide = 36) {
  const canvas = element("canvas", { width: wide * 2, height: 32 }), c = canvas.getContext("2d");
  canvas.style.width = `${wide}px`;
  c.scale(2, 2);
  draw(c, wide);
  return element("span", { class: "key" }, canvas, words);
}

const stroke = (look, ink) => (c, w) => {
  Object.assign(c, { strokeStyle: ink, lineWidth: look.width, globalAlpha: look.alpha });
  c.setLineDash(look.dash); c.beginPath(); c.moveTo(0, 8); c.lineTo(w, 8); c.stroke();
};

function legends() {
  const found = [], kinds = new Set(D.events.map((e) => e.kind));
  ["stable", "stable only while held", "unstable; number: negative modes"].forEach((words, i) => {
    if (D.stability && (i === 0 || firmness.includes(i))) found.push(key(words, stroke(LOOKS_OF[i], colour("c0"))));
  });
  for (const [name, words] of D.kinds) if (kinds.has(name) && name !== "jump") found.push(key(words, (c) => mark(c, name, [[9, 8]]), 18));
  if (D.jumps.length) found.push(key("jump", stroke({ width: 1.8, alpha: 1, dash: [3, 3] }, colour("alert"))));
  byId("diagram-legend").replaceChildren(...found);
  if (!curves) return;
  const names = quantity.value === "energy" ? [] : D.series.filter((name) => columns.has(`${quantity.value} ${name}`));
  byId("legend").replaceChildren(...names.map((name, k) => key(name, stroke({ width: 2, alpha: 1, dash: LINES[k % 4] }, colour("c" + (k % 6))))));
}

function rows(table, entries) {
  const body = table.tBodies[0];
  while (body.rows.length < entries.length) body.append(element("tr"));
  while (body.rows.length > entries.length) body.lastChild.remove();
  entries.forEach((entry, i) => {
    const row = body.rows[i];
    while (row.cells.length < entry.length) row.append(row.cells.length ? element("td") : element("th", { scope: "row" }));
    entry.forEach((text, k) => { if (row.cells[k].textContent !== text) row.cells[k].textContent = text; });
  });
}

function tell(f) {
  const branch = branchOf(f), sure = exact[f] === 1;
  byId("position").textContent = `${equation(D.control, f, 6)}; ${D.branches[branch].label}` + (sure ? "" : "; interpolated");
  const word = byId("stability"), here = D.events.findIndex((e) => e.frame === f);
  word.hidden = !D.stability;
  word.textContent = stability(f);
  word.dataset.degree = String(Math.min(Math.max(degree[f], ...eventsAt(f).map((e) => e.after || 0)), 3));
  slider.setAttribute("aria-valuetext", equation(D.control, f) + (D.stability ? `, ${stability(f)}` : ""));
  rows(byId("values"), D.shown.map((name) => [titled(name), number(name, f)]));
  rows(byId("constraints"), D.listed.map((k) => {
    const name = D.unilateral[k];
    return [name, states(name)[state(f, k)], number("gap " + name, f), number("reaction " + name, f)];
  }));
  byId("here").textContent = here >= 0 ? D.events[here].words : "";
  byId("why").textContent = here >= 0 ? D.explanations[D.events[here].why] : "";
  events.mark(here);
  if (branches) branches.mark(branch);
  if (single && branch !== view.branch) { view.branch = branch; if (curves) { curves.home = null; curves.draw(); } }
}

// Show a frame; during a jump also how far the system is on its way to another one.
function show(frame, jump = null) {
  view.frame = Math.max(0, Math.min(M - 1, frame));
  view.jump = jump;
  const f = view.frame, place = jump ? along[f] + jump.share * (along[jump.to] - along[f]) : along[f];
  slider.value = String(place / whole);
  slider.dataset.frame = String(f);
  byId("stage").classList.toggle("jumping", !!jump);
  if (jump) byId("position").textContent = jump.told || jump.words; else tell(f);
  if (!document.documentElement.dataset.paper) for (const one of [chart, curves]) if (one) one.cursor();
  if (drawing) drawing.draw(f, jump);
  raster.point(place);
}

function hop(sense) {
  const frames = D.events.filter((e) => !events.hides(e)).map((e) => e.frame);
  const next = sense > 0 ? frames.find((f) => f > view.frame) : frames.findLast((f) => f < view.frame);
  if (next !== undefined) show(next);
}

// The mechanism at the start, before and after each jump, and at the end; without jumps, at events.
function filmstrip() {
  const marks = D.jumps.length ? D.jumps.flatMap((j) => [[j.from, "before jump"], [j.to, "after jump"]]) : D.events.filter((e) => e.number).map((e) => [e.frame, `event ${e.number}`]);
  const chosen = [[0, "start"], ...marks.slice(0, 6), [M - 1, "end"]].filter(([f], i, all) => all.findIndex(([g]) => g === f) === i);
  byId("strip").replaceChildren(...chosen.map(([frame, words]) => {
    const canvas = element("canvas", {}), button = element("button", { type: "button" }, canvas, element("span", {}, `${words}, ${equation(D.control, frame, 4)}`));
    button.addEventListener("click", () => show(frame));
    button.paint = () => { const { c, w, h } = prepare(canvas); drawing.paint(c, w, h, frame); };
    return button;
  }));
}
if (drawing) filmstrip(); else byId("strip").hidden = true;

function redraw() {
  legends();
  chart.draw();
  if (curves) curves.draw();
  raster.draw();
  for (const button of byId("strip").children) button.paint();
  show(view.frame);
}

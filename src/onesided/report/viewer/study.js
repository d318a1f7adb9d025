// The page of a study: a map, or points, of all cases; what one case did is shown beside it.
const data = JSON.parse(byId("data").textContent);
for (const key of ["axes", "columns", "events", "curves"]) data[key] = mapped(data[key]);
const size = data.shape.reduce((a, b) => a * b, 1);
const rowAt = new Int32Array(size).fill(-1);
data.places.forEach((place, row) => { rowAt[place] = row; });
const dimensions = data.dimensions.filter((name) => data.axes.has(name));
const flat = dimensions.length < 2;
const fixed = new Map();
let chosen = -1, hits = [];

// Place of a case in every dimension, and back.
function indices(row) {
  const at = new Map();
  let rest = data.places[row];
  for (let i = data.dimensions.length - 1; i >= 0; i -= 1) {
    at.set(data.dimensions[i], rest % data.shape[i]);
    rest = Math.floor(rest / data.shape[i]);
  }
  return at;
}
const placeOf = (at) => data.dimensions.reduce((sum, name, i) => sum * data.shape[i] + (at.get(name) ?? 0), 0);

function fill(select, names, first) {
  for (const name of names) select.append(element("option", { value: name }, name));
  select.value = names.includes(first) ? first : names[0];
  select.addEventListener("change", draw);
}

const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function shade(share) {
  const t = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1), i = Math.min(Math.floor(t), RAMP.length - 2);
  return `rgb(${RAMP[i].map((c, k) => Math.round(c + (t - i) * (RAMP[i + 1][k] - c))).join(",")})`;
}

const PAD = { left: 64, right: 14, top: 10, bottom: 40 };
// Axes of a canvas, and where values stand on it.
function framed(c, w, h, box, names) {
  const [x0, x1, y0, y1] = box, wide = w - PAD.left - PAD.right, high = h - PAD.top - PAD.bottom;
  const X = (v) => PAD.left + (wide * (v - x0)) / (x1 - x0), Y = (v) => PAD.top + high * (1 - (v - y0) / (y1 - y0));
  axes(c, [PAD.left, PAD.top, w - PAD.right, h - PAD.bottom], box, [X, Y], names);
  return [X, Y];
}

function painter(values) {
  if (values.some((value) => typeof value === "string")) {
    const kinds = [...new Set(values.filter((value) => value))].sort();
    byId("legend").replaceChildren(...kinds.map((kind, i) => {
      const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = colour(`c${i % 6}`);
      return element("span", { class: "key" }, swatch, kind);
    }));
    byId("scale").textContent = "";
    return (value) => (value ? colour(`c${kinds.indexOf(value) % 6}`) : null);
  }
  const [low, high] = range([values]);
  byId("legend").replaceChildren();
  byId("scale").textContent = flat ? "" : `dark ${plain(low, 5)} … light ${plain(high, 5)}; empty: no value`;
  return (value) => (value === null ? null : shade((value - low) / (high - low)));
}

function drawMap(values) {
  const { c, w, h } = prepare(byId("map")), x = byId("x").value, y = byId("y").value, paint = painter(values);
  const [xs, ys] = [data.axes.get(x), data.axes.get(y)], wide = (w - PAD.left - PAD.right) / xs.length, high = (h - PAD.top - PAD.bottom) / ys.length;
  cells(c, w, h, xs, ys, [x, y]);
  hits = [];
  for (let i = 0; i < xs.length; i += 1) for (let j = 0; j < ys.length; j += 1) {
    const row = rowAt[placeOf(new Map([...fixed, [x, i], [y, j]]))];
    const box = [PAD.left + i * wide, PAD.top + (ys.length - 1 - j) * high, wide, high];
    if (row < 0) continue;
    hits.push({ row, box });
    const fillStyle = paint(values[row]);
    if (fillStyle) { c.fillStyle = fillStyle; c.fillRect(...box); }
  }
  const here = hits.find(({ row }) => row === chosen);
  if (here) { c.strokeStyle = colour("alert"); c.lineWidth = 3; c.strokeRect(...here.box); }
}

// Axes of a map: values need not be evenly spaced, so that each column and row is named at its middle, as many as fit.
function cells(c, w, h, xs, ys, [x, y]) {
  const wide = (w - PAD.left - PAD.right) / xs.length, high = (h - PAD.top - PAD.bottom) / ys.length;
  c.fillStyle = colour("muted");
  c.textAlign = "center"; c.textBaseline = "top";
  const some = (count, room) => Math.ceil(count / Math.max(room, 1));
  for (let i = 0; i < xs.length; i += some(xs.length, w / 70)) c.fillText(plain(xs[i], 4), PAD.left + (i + 0.5) * wide, h - PAD.bottom + 5);
  c.textAlign = "right"; c.textBaseline = "middle";
  for (let j = 0; j < ys.length; j += some(ys.length, h / 30)) c.fillText(plain(ys[j], 4), PAD.left - 6, PAD.top + (ys.length - 0.5 - j) * high);
  c.fillStyle = colour("ink"); c.textAlign = "center";
  c.fillText(x, (w + PAD.left) / 2, h - 8);
  c.save(); c.translate(12, (h - PAD.bottom) / 2); c.rotate(-Math.PI / 2); c.fillText(y, 0, 0); c.restore();
}

function drawPoints(values) {
  const { c, w, h } = prepare(byId("map")), x = byId("x").value, text = values.some((v) => typeof v === "string");
  const kinds = text ? [...new Set(values)].sort() : [], up = text ? values.map((v) => kinds.indexOf(v)) : values, across = data.columns.get(x);
  const paint = painter(values), [X, Y] = framed(c, w, h, [...range([across]), ...range([up])], [x, byId("value").value]);
  hits = [];
  up.forEach((value, row) => {
    if (value === null) return;
    const [u, v] = [X(across[row]), Y(value)];
    hits.push({ row, box: [u - 4, v - 4, 8, 8] });
    c.fillStyle = row === chosen ? colour("alert") : text ? paint(values[row]) : colour("c0");
    c.beginPath(); c.arc(u, v, row === chosen ? 6 : 3, 0, 7); c.fill();
  });
}

function drawCurve() {
  const { c, w, h } = prepare(byId("curve")), curve = data.curves.get(String(data.numbers[chosen]));
  if (!curve) { c.fillStyle = colour("muted"); c.fillText(chosen < 0 ? "Click a case." : "This study keeps no whole results (results=True).", 12, 20); return; }
  const [X, Y] = framed(c, w, h, [...range([curve.xs]), ...range([curve.ys])], [curve.x, curve.y]);
  c.strokeStyle = colour("c0"); c.lineWidth = 2.4; c.beginPath();
  curve.xs.forEach((value, i) => { if (value !== null && curve.ys[i] !== null) c.lineTo(X(value), Y(curve.ys[i])); });
  c.stroke();
}

function draw() {
  const values = data.columns.get(byId("value").value);
  if (flat) drawPoints(values); else drawMap(values);
  drawCurve();
}

function choose(row) {
  chosen = row;
  const number = data.numbers[row], told = [...data.columns].filter(([, values]) => values[row] !== null && values[row] !== "");
  byId("case").textContent = `Case ${number}`;
  byId("curve-title").textContent = `The path of case ${number}`;
  byId("values").tBodies[0].replaceChildren(...told.map(([name, values]) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, values[row]))));
  byId("happens").replaceChildren(...(data.events.get(String(number)) || ["nothing special"]).map((text) => element("li", {}, text)));
  draw();
}

byId("map").addEventListener("click", (event) => {
  const box = event.currentTarget.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
  const found = hits.find(({ box: [x, y, w, h] }) => px >= x && px <= x + w && py >= y && py <= y + h);
  if (found) choose(found.row);
});
const STEPS = new Map([["ArrowRight", [1, 0]], ["ArrowLeft", [-1, 0]], ["ArrowUp", [0, 1]], ["ArrowDown", [0, -1]]]);
byId("map").addEventListener("keydown", (event) => {
  const step = STEPS.get(event.key);
  if (!step || !data.places.length) return;
  event.preventDefault();
  if (chosen < 0) { choose(0); return; }
  if (flat) { choose(Math.min(Math.max(chosen + step[0] + step[1], 0), data.places.length - 1)); return; }
  const next = indices(chosen), names = [byId("x").value, byId("y").value];
  names.forEach((name, i) => next.set(name, next.get(name) + step[i]));
  if (names.some((name) => next.get(name) < 0 || next.get(name) >= data.axes.get(name).length)) return;
  const row = rowAt[placeOf(next)];
  if (row >= 0) choose(row);
});

const names = [...data.columns.keys()].filter((name) => !data.varied.includes(name) && name !== "note");
const first = ["instability_load", "limit_load"].find((name) => (data.columns.get(name) || []).some((value) => value !== null)) || names.find((name) => !["ok", "status"].includes(name));
fill(byId("value"), names, first);
fill(byId("x"), flat ? data.varied : dimensions, dimensions[0]);
if (flat) byId("y").parentElement.hidden = true; else fill(byId("y"), dimensions, dimensions[1]);
for (const [i, name] of data.dimensions.entries()) {
  if (flat || dimensions.slice(0, 2).includes(name)) continue;
  const input = element("select");
  for (let k = 0; k < data.shape[i]; k += 1) input.append(new Option(data.axes.has(name) ? data.axes.get(name)[k] : k, k));
  input.addEventListener("change", () => { fixed.set(name, Number(input.value)); draw(); });
  byId("others").append(element("label", {}, `${name} `, input));
}
new ResizeObserver(draw).observe(byId("map"));
themes(draw);
draw();

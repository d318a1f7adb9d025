(() => {
"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
const byId = (name) => document.getElementById(name);
const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const size = data.shape.reduce((a, b) => a * b, 1);
const rowAt = new Int32Array(size).fill(-1);
data.places.forEach((place, row) => { rowAt[place] = row; });
const axes = data.dimensions.filter((name) => name in data.axes);
const flat = axes.length < 2;
const fixed = {};
let chosen = -1;

const index = (row) => {
  const at = {};
  let rest = data.places[row];
  for (let i = data.dimensions.length - 1; i >= 0; i -= 1) {
    at[data.dimensions[i]] = rest % data.shape[i];
    rest = Math.floor(rest / data.shape[i]);
  }
  return at;
};
const place = (at) => data.dimensions.reduce((sum, name, i) => sum * data.shape[i] + (at[name] ?? 0), 0);

function fill(select, names, first) {
  for (const name of names) select.append(new Option(name, name));
  select.value = names.includes(first) ? first : names[0];
  select.addEventListener("change", draw);
}

function fitted(canvas) {
  const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
  canvas.width = Math.max(box.width * ratio, 1);
  canvas.height = Math.max(box.height * ratio, 1);
  const pen = canvas.getContext("2d");
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, box.width, box.height);
  return { pen, width: box.width, height: box.height };
}

const span = (values) => {
  let low = Infinity, high = -Infinity;
  for (const value of values) if (value !== null) { low = Math.min(low, value); high = Math.max(high, value); }
  if (!(low <= high)) return [0, 1];
  return low < high ? [low, high] : [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2];
};
const RAMP = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];
function colour(share) {
  const t = Math.min(Math.max(share, 0), 1) * (RAMP.length - 1), i = Math.min(Math.floor(t), RAMP.length - 2);
  return `rgb(${RAMP[i].map((c, k) => Math.round(c + (t - i) * (RAMP[i + 1][k] - c))).join(",")})`;
}

const PAD = { left: 60, right: 12, top: 10, bottom: 34 };
function frame(pen, width, height, xs, ys, names) {
  const w = width - PAD.left - PAD.right, h = height - PAD.top - PAD.bottom;
  pen.strokeStyle = css("--line"); pen.fillStyle = css("--muted"); pen.font = "12px system-ui, sans-serif";
  pen.strokeRect(PAD.left, PAD.top, w, h);
  pen.textAlign = "left"; pen.fillText(xs[0].toPrecision(4), PAD.left, height - 18);
  pen.textAlign = "right"; pen.fillText(xs[1].toPrecision(4), width - PAD.right, height - 18);
  pen.fillText(ys[0].toPrecision(4), PAD.left - 4, height - PAD.bottom); pen.fillText(ys[1].toPrecision(4), PAD.left - 4, PAD.top + 10);
  pen.textAlign = "center"; pen.fillText(names[0], PAD.left + w / 2, height - 6);
  pen.save(); pen.translate(14, PAD.top + h / 2); pen.rotate(-Math.PI / 2); pen.fillText(names[1], 0, 0); pen.restore();
  return { x: (v) => PAD.left + w * (v - xs[0]) / (xs[1] - xs[0]), y: (v) => PAD.top + h * (1 - (v - ys[0]) / (ys[1] - ys[0])), w, h };
}

let hits = [];
function painter(values) {
  if (values.some((value) => typeof value === "string")) {
    const kinds = [...new Set(values.filter((value) => value))].sort();
    const shades = kinds.map((_, i) => css(`--c${i % 7}`));
    byId("legend").replaceChildren(...kinds.map((kind, i) => { const item = document.createElement("span"); item.textContent = "■ " + kind; item.style.color = shades[i]; return item; }));
    byId("scale").textContent = "";
    return (value) => (value ? shades[kinds.indexOf(value)] : null);
  }
  const [low, high] = span(values);
  byId("legend").replaceChildren();
  byId("scale").textContent = flat ? "" : `dark ${low.toPrecision(5)} … light ${high.toPrecision(5)}; empty: no value`;
  return (value) => (value === null ? null : colour((value - low) / (high - low)));
}

function drawMap(values) {
  const { pen, width, height } = fitted(byId("map")), x = byId("x").value, y = byId("y").value, paint = painter(values);
  const nx = data.axes[x].length, ny = data.axes[y].length, w = (width - PAD.left - PAD.right) / nx, h = (height - PAD.top - PAD.bottom) / ny;
  frame(pen, width, height, [data.axes[x][0], data.axes[x][nx - 1]], [data.axes[y][0], data.axes[y][ny - 1]], [x, y]);
  hits = [];
  for (let i = 0; i < nx; i += 1) for (let j = 0; j < ny; j += 1) {
    const row = rowAt[place({ ...fixed, [x]: i, [y]: j })];
    const box = [PAD.left + i * w, PAD.top + (ny - 1 - j) * h, w, h];
    if (row < 0) continue;
    hits.push({ row, box });
    const shade = paint(values[row]);
    if (shade) { pen.fillStyle = shade; pen.fillRect(...box); }
  }
  const here = hits.find(({ row }) => row === chosen);
  if (here) { pen.strokeStyle = css("--alert"); pen.lineWidth = 3; pen.strokeRect(...here.box); pen.lineWidth = 1; }
}

function drawPoints(values) {
  const { pen, width, height } = fitted(byId("map")), x = byId("x").value, text = values.some((v) => typeof v === "string");
  const kinds = text ? [...new Set(values)].sort() : [], up = text ? values.map((v) => kinds.indexOf(v)) : values, across = data.columns[x];
  const paint = painter(values), to = frame(pen, width, height, span(across), span(up), [x, byId("value").value]);
  hits = [];
  up.forEach((value, row) => {
    if (value === null) return;
    const px = to.x(across[row]), py = to.y(value);
    hits.push({ row, box: [px - 4, py - 4, 8, 8] });
    pen.fillStyle = row === chosen ? css("--alert") : text ? paint(values[row]) : css("--c0");
    pen.beginPath(); pen.arc(px, py, row === chosen ? 6 : 3, 0, 7); pen.fill();
  });
}

function drawCurve() {
  const { pen, width, height } = fitted(byId("curve")), curve = data.curves[data.numbers[chosen]];
  if (!curve) { pen.fillStyle = css("--muted"); pen.fillText(chosen < 0 ? "" : "This study keeps no whole results (results=True).", 12, 20); return; }
  const to = frame(pen, width, height, span(curve.xs), span(curve.ys), [curve.x, curve.y]);
  pen.strokeStyle = css("--c0"); pen.lineWidth = 2; pen.beginPath();
  curve.xs.forEach((value, i) => { if (value !== null && curve.ys[i] !== null) pen.lineTo(to.x(value), to.y(curve.ys[i])); });
  pen.stroke();
}

function draw() {
  const values = data.columns[byId("value").value];
  if (flat) drawPoints(values); else drawMap(values);
  drawCurve();
}

function line(name, text) {
  const row = document.createElement("tr"), head = document.createElement("th"), cell = document.createElement("td");
  head.textContent = name; cell.textContent = text;
  row.append(head, cell);
  return row;
}

function choose(row) {
  chosen = row;
  const number = data.numbers[row];
  byId("case").textContent = `Case ${number}`;
  byId("curve-title").textContent = `The path of case ${number}`;
  byId("values").tBodies[0].replaceChildren(...Object.entries(data.columns).filter(([, values]) => values[row] !== null && values[row] !== "").map(([name, values]) => line(name, values[row])));
  byId("happens").replaceChildren(...(data.events[number] || ["nothing special"]).map((text) => { const item = document.createElement("li"); item.textContent = text; return item; }));
  draw();
}

byId("map").addEventListener("click", (event) => {
  const box = event.currentTarget.getBoundingClientRect(), px = event.clientX - box.left, py = event.clientY - box.top;
  const found = hits.find(({ box: [x, y, w, h] }) => px >= x && px <= x + w && py >= y && py <= y + h);
  if (found) choose(found.row);
});
byId("map").addEventListener("keydown", (event) => {
  const step = { ArrowRight: [1, 0], ArrowLeft: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] }[event.key];
  if (!step || !data.places.length) return;
  event.preventDefault();
  if (chosen < 0) { choose(0); return; }
  if (flat) { choose(Math.min(Math.max(chosen + step[0] + step[1], 0), data.places.length - 1)); return; }
  const at = index(chosen), x = byId("x").value, y = byId("y").value;
  const next = { ...at, [x]: at[x] + step[0], [y]: at[y] + step[1] };
  if (next[x] < 0 || next[y] < 0 || next[x] >= data.axes[x].length || next[y] >= data.axes[y].length) return;
  const row = rowAt[place(next)];
  if (row >= 0) choose(row);
});
byId("theme").addEventListener("click", () => {
  const dark = css("--dark") === "1";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  draw();
});
window.addEventListener("resize", draw);

const names = Object.keys(data.columns).filter((name) => !data.varied.includes(name) && name !== "note");
const first = ["instability_load", "limit_load"].find((name) => (data.columns[name] || []).some((value) => value !== null)) || names.find((name) => !["ok", "status"].includes(name));
fill(byId("value"), names, first);
fill(byId("x"), flat ? data.varied : axes, axes[0]);
if (flat) byId("y").parentElement.hidden = true; else fill(byId("y"), axes, axes[1]);
for (const [i, name] of data.dimensions.entries()) {
  if (flat || axes.slice(0, 2).includes(name)) continue;
  const label = document.createElement("label"), input = document.createElement("select");
  for (let k = 0; k < data.shape[i]; k += 1) input.append(new Option(name in data.axes ? data.axes[name][k] : k, k));
  input.addEventListener("change", () => { fixed[name] = Number(input.value); draw(); });
  label.append(`${name} `, input);
  byId("others").append(label);
}
draw();
})();

"use strict";
// What every page of ours needs: elements, colours of the style, sharp canvases, ranges and ticks of axes, files to save.
const byId = (id) => document.getElementById(id);
// names of a model may be words that every object knows, such as "constructor": maps, not objects
const mapped = (object) => new Map(Object.entries(object));
const plain = (value, digits) => String(Number(value.toPrecision(digits))).replaceAll("-", "−");

function element(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) e.setAttribute(key, value);
  for (const child of children) e.append(child);
  return e;
}

const shades = new Map(); // colours of the style, until the theme changes
function colour(name) {
  if (!shades.has(name)) shades.set(name, getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim());
  return shades.get(name);
}

const FONT = "12px system-ui, sans-serif";
// A canvas sharp on every screen; returns its context and size in CSS pixels.
function prepare(canvas) {
  const ratio = window.devicePixelRatio || 1;
  const w = Math.max(canvas.clientWidth, 10), h = Math.max(canvas.clientHeight, 10);
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, w, h);
  c.font = FONT;
  c.lineJoin = "round";
  return { c, w, h };
}

function range(arrays) {
  let low = Infinity, high = -Infinity;
  for (const a of arrays) for (let i = 0; i < a.length; i++) {
    const v = a[i];
    if (v === null) continue;
    if (v < low) low = v;
    if (v > high && v < Infinity) high = v;
  }
  if (!(low < Infinity)) return [0, 1];
  return low === high ? [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2] : [low, high];
}

// The range to show: where values differ by round-off only, one as wide as they are large in this system.
function noticed([low, high], size) {
  const largest = Math.max(Math.abs(low), Math.abs(high), size || 0), middle = (low + high) / 2;
  return high - low > 2 ** -26 * largest || !largest ? [low, high] : [middle - largest / 2, middle + largest / 2];
}

function ticks(low, high, most) {
  const raw = (high - low) / Math.max(most, 1), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((k) => k * power >= raw) * power, found = [];
  for (let k = Math.ceil(low / step); k * step <= high + step / 1e6; k++) found.push(k * step);
  const digits = Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / step)) + 1;
  const sure = Math.min(Math.max(digits, 6), 15);
  return found.map((v) => [v, plain(v, sure)]);
}

// Grid, numbers and names of two axes around [left, top, right, bottom]; X and Y are where values stand.
function axes(c, frame, box, [X, Y], [xName, yName]) {
  const [l, t, r, b] = frame, [x0, x1, y0, y1] = box;
  c.lineWidth = 1; c.strokeStyle = colour("grid"); c.fillStyle = colour("muted");
  c.textAlign = "center"; c.textBaseline = "top";
  for (const [v, text] of ticks(x0, x1, (r - l) / 80)) {
    c.beginPath(); c.moveTo(X(v), t); c.lineTo(X(v), b); c.stroke();
    c.fillText(text, X(v), b + 5);
  }
  c.textAlign = "right"; c.textBaseline = "middle";
  for (const [v, text] of ticks(y0, y1, (b - t) / 48)) {
    c.beginPath(); c.moveTo(l, Y(v)); c.lineTo(r, Y(v)); c.stroke();
    c.fillText(text, l - 6, Y(v));
  }
  c.strokeStyle = colour("muted");
  c.beginPath(); c.moveTo(l, t); c.lineTo(l, b); c.lineTo(r, b); c.stroke();
  c.fillStyle = colour("ink");
  c.textAlign = "center"; c.textBaseline = "bottom";
  c.fillText(xName, (l + r) / 2, b + 37);
  c.save();
  c.translate(12, (t + b) / 2); c.rotate(-Math.PI / 2); c.textBaseline = "middle";
  c.fillText(yName, 0, 0);
  c.restore();
}

// The button that turns light into dark; on paper everything is light.
function themes(redraw) {
  const root = document.documentElement.dataset;
  const again = () => { shades.clear(); redraw(); };
  const turn = (theme) => { if (theme) root.theme = theme; else delete root.theme; again(); };
  byId("theme").addEventListener("click", () => turn(colour("dark") === "1" ? "light" : "dark"));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
  let before = null;
  window.addEventListener("beforeprint", () => {
    if (before === null) before = root.theme || "";
    root.paper = "1";
    for (const part of document.querySelectorAll("details.paper")) part.open = true;
    turn("light");
  });
  window.addEventListener("afterprint", () => { delete root.paper; if (before !== null) turn(before); before = null; });
}

// Hand a text or a blob to the reader as a file.
function save(name, content, type) {
  const blob = content instanceof Blob ? content : new Blob([content], { type });
  const address = URL.createObjectURL(blob), link = element("a", { href: address, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}

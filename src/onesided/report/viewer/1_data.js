"use strict";
// Data of the page: numbers come as base64, little-endian, column after column.
const D = JSON.parse(document.getElementById("data").textContent);
// names of a model may be words that every object knows, such as "constructor": maps, not objects
if (D.sketch) for (const key of ["points", "marks"]) D.sketch[key] = new Map(Object.entries(D.sketch[key]));

function bytes(text) {
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out.buffer;
}

const M = D.count;
const flat = D.single ? new Float32Array(bytes(D.columns)) : new Float64Array(bytes(D.columns));
const columns = new Map(D.names.map((name, i) => [name, flat.subarray(i * M, (i + 1) * M)]));
const degree = new Int16Array(bytes(D.degree));
const exact = new Uint8Array(bytes(D.exact));
const codes = new Uint8Array(bytes(D.codes)); // frame after frame, one state for each constraint
const width = D.unilateral.length;
const isCable = (name) => !!D.sketch && (D.sketch.marks.get(name) || []).some((part) => part.length > 1);
const states = (name) => (isCable(name) ? ["slack", "taut, no force", "taut"] : ["open", "closed, no force", "closed"]);

const byId = (id) => document.getElementById(id);
const state = (frame, k) => codes[frame * width + k];
const branchOf = (frame) => D.branches.findIndex((b) => frame >= b.begin && frame < b.end);

// Values of a column at a frame in words; what is round-off beside the rest of its column is zero.
const sizes = new Map();
function number(name, frame) {
  const column = columns.get(name), value = column ? column[frame] : NaN, sure = exact[frame] === 1;
  if (!Number.isFinite(value)) return "–";
  if (!sizes.has(name)) sizes.set(name, Math.max(...range([column]).map(Math.abs)));
  if (Math.abs(value) < 1e-14 * sizes.get(name)) return sure ? "0" : "≈ 0";
  const text = String(Number(value.toPrecision(sure ? (D.single ? 7 : 10) : 4)));
  return (sure ? "" : "≈ ") + text.replaceAll("-", "−");
}

const degreeWords = (d) => (d === 0 ? "stable" : `unstable: ${d} negative mode${d > 1 ? "s" : ""}`);

// At an event stability is told for both sides.
function stability(frame) {
  const e = D.events.find((item) => item.frame === frame && item.before !== null);
  if (!e || e.after === null || e.after === e.before) return degreeWords(degree[frame]);
  return `${degreeWords(e.before)} → ${degreeWords(e.after)}`;
}

function element(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) e.setAttribute(key, value);
  for (const child of children) e.append(child);
  return e;
}

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
}

const branchColour = (i) => colour("c" + (D.branches[i].colour % 7));
const DASHES = [[], [8, 4], [9, 4, 2, 4]];
const dash = (d) => DASHES[d] || [2, 3];

// A canvas sharp on every screen; returns its context and size in CSS pixels.
function prepare(canvas) {
  const box = canvas.getBoundingClientRect(), ratio = window.devicePixelRatio || 1;
  const w = Math.max(box.width, 10), h = Math.max(box.height, 10);
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) {
    canvas.width = Math.round(w * ratio);
    canvas.height = Math.round(h * ratio);
  }
  const c = canvas.getContext("2d");
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, w, h);
  c.font = "12px system-ui, sans-serif";
  c.lineJoin = "round";
  return { c, w, h };
}

function range(arrays) {
  let low = Infinity, high = -Infinity;
  for (const a of arrays) for (let i = 0; i < a.length; i++) {
    const v = a[i];
    if (v < low) low = v;
    if (v > high && v < Infinity) high = v;
  }
  if (!(low < Infinity)) return [0, 1];
  return low === high ? [low - (Math.abs(low) || 1) / 2, high + (Math.abs(high) || 1) / 2] : [low, high];
}

function ticks(low, high, most) {
  const raw = (high - low) / Math.max(most, 1), power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].find((k) => k * power >= raw) * power, found = [];
  for (let k = Math.ceil(low / step); k * step <= high + step / 1e6; k++) found.push(k * step);
  const digits = Math.ceil(Math.log10(Math.max(Math.abs(low), Math.abs(high)) / step)) + 1;
  const sure = Math.min(Math.max(digits, 6), 15);
  return found.map((v) => [v, String(Number(v.toPrecision(sure))).replaceAll("-", "−")]);
}

// Data of the page: numbers come as base64, little-endian, column after column.
const D = JSON.parse(document.getElementById("data").textContent);
const scales = mapped(D.sizes || {}), labels = mapped(D.labels || {}), titled = (name) => labels.get(name) || name;
if (D.sketch) for (const key of ["points", "marks", "touches"]) D.sketch[key] = mapped(D.sketch[key] || {});

if (D.sketch) for (const key of ["loads", "supports", "turns"]) D.sketch[key] = D.sketch[key] || []; // pages of others may lack them

function bytes(text) {
  const raw = atob(text), out = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) out[i] = raw.charCodeAt(i);
  return out.buffer;
}

const M = D.count, ALL = M + (D.falling || 0); // states of falls stand behind the frames
const flat = D.single ? new Float32Array(bytes(D.columns)) : new Float64Array(bytes(D.columns));
const columns = new Map(D.names.map((name, i) => [name, flat.subarray(i * ALL, (i + 1) * ALL)]));
const degree = new Int16Array(bytes(D.degree));
const firmness = D.firmness ? new Uint8Array(bytes(D.firmness)) : degree.map((d) => (d > 0 ? 2 : 0)); // 1: while held
const exact = new Uint8Array(bytes(D.exact));
const source = new Uint32Array(bytes(D.source)); // of each frame, the computed point at or before it
const codes = new Uint8Array(bytes(D.codes)); // frame after frame, one state for each constraint
const width = D.unilateral.length;
const isCable = (name) => !!D.sketch && (D.sketch.marks.get(name) || []).some((part) => part.length > 1);
const states = (name) => (isCable(name) ? ["slack", "taut, no force", "taut"] : ["open", "closed, no force", "closed"]);

const state = (frame, k) => codes[frame * width + k];
const branchOf = (frame) => D.branches.findIndex((b) => frame >= b.begin && frame < b.end);
const eventsAt = (frame) => D.events.filter((e) => e.frame === frame);

// Where each frame stands on the way: time, or arc length over all strands. A jump takes a little of it.
const PAUSE = D.falling ? 0.1 : 0.04, PAUSES = 0.3; // share of the whole for one jump, and for all of them at most
const begins = new Set(D.branches.map((b) => b.begin)), lands = new Set(D.jumps.map((j) => j.to));
function way(pause) {
  const found = new Float64Array(M), by = columns.get(D.along);
  for (let i = 1; i < M; i++) found[i] = found[i - 1] + (begins.has(i) ? pause(i) : Math.abs(by[i] - by[i - 1]) || 0);
  return found;
}
const lengths = way(() => 0); // what an axis shows
const along = (() => {
  const pause = Math.min(PAUSE, PAUSES / Math.max(D.branches.length - 1, 1)) * (lengths[M - 1] || 1);
  const found = way((i) => (D.driven && !lands.has(i) ? 0 : pause));
  return found[M - 1] > 0 ? found : Float64Array.from(found, (_, i) => i);
})();
const whole = along[M - 1] || 1;

// The last frame at or before a place on the way.
function frameBefore(place) {
  let low = 0, high = M - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (along[middle] <= place) low = middle; else high = middle - 1;
  }
  return low;
}

// During a jump, which one and how much of it is over; with the number of the state on its way, where that is known.
function jumpAt(place) {
  const frame = frameBefore(place), jump = D.jumps.find((j) => j.from === frame);
  const share = jump ? (place - along[frame]) / (along[jump.to] - along[frame]) : 1;
  if (!jump || !(share < 1)) return null;
  const [begin, end] = jump.fall || [0, 0];
  return { ...jump, share, state: jump.fall ? begin + Math.min(Math.floor(share * (end - begin)), end - begin - 1) : -1 };
}

function frameNear(place) {
  const before = frameBefore(place), after = Math.min(before + 1, M - 1);
  return along[after] - place < place - along[before] ? after : before;
}

// Values of a column at a frame in words; what is round-off beside the rest of its column is zero.
const sizes = new Map();
function number(name, frame, digits = 10) {
  const column = columns.get(name), value = column ? column[frame] : NaN, sure = exact[frame] === 1;
  if (!Number.isFinite(value)) return "–";
  if (!sizes.has(name)) sizes.set(name, Math.max(...range([column]).map(Math.abs)));
  if (Math.abs(value) < 1e-14 * sizes.get(name)) return sure ? "0" : "≈ 0";
  return (sure ? "" : "≈ ") + plain(value, sure ? Math.min(digits, D.single ? 7 : 10) : 4);
}

const equation = (name, frame, digits) => { const text = number(name, frame, digits); return `${titled(name)} ${text.startsWith("≈") ? "" : "= "}${text}`; };

const degreeWords = (d) => (d === 0 ? "stable" : `unstable: ${d} negative mode${d > 1 ? "s" : ""}`);

// At an event stability is shown for both sides.
function stability(frame) {
  if (firmness[frame] === 1) return "stable only while held";
  const e = D.events.find((item) => item.frame === frame && item.before !== null);
  if (!e || e.after === null || e.after === e.before) return degreeWords(degree[frame]);
  return `${degreeWords(e.before)} → ${degreeWords(e.after)}`;
}

const branchColour = (i) => colour("c" + (D.branches[i].colour % 6));

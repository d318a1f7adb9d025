// One shape for each kind of event, distinguished without colour: corners, turn, size, width.
const HOLLOW = new Set(["opens", "smooth_bifurcation", "continuum", "idle", "user", "kink"]);
const SHAPES = new Map(Object.entries({
  closes: [3, Math.PI / 2, 7], opens: [3, -Math.PI / 2, 7], corner_limit: [4, 0, 7], smooth_bifurcation: [4, Math.PI / 4, 7],
  nonsmooth_bifurcation: [5, -Math.PI / 2, 8], continuum: [6, 0, 7], user: [5, -Math.PI / 2, 6], kink: [6, Math.PI / 6, 7], idle: [4, 0, 7, 0.6],
}));
function mark(c, kind, places) {
  if (kind === "jump") return;
  if (places.length > STAMPS && c.drawImage) { stamp(c, kind, places); return; }
  const ink = colour("ink"), shape = SHAPES.get(kind);
  c.strokeStyle = ink; c.lineWidth = 1.5; c.fillStyle = HOLLOW.has(kind) ? colour("paper") : ink;
  const crosses = new Map([["end", [[6, 6], [6, -6]]], ["jammed", [[7, 0], [0, 7]]], ["bound", [[0, 5]]]]).get(kind);
  if (crosses) { // a cross, upright where contacts hold the path; a tick at a bound
    c.lineWidth = kind === "bound" ? 1.5 : 3.5;
    c.beginPath();
    for (const [x, y] of places) for (const [u, v] of crosses) { c.moveTo(x - u, y - v); c.lineTo(x + u, y + v); }
    c.stroke();
    return;
  }
  for (const [x, y] of places) {
    c.beginPath();
    if (!shape) c.arc(x, y, 5.5, 0, 7);
    else for (let i = 0; i < shape[0]; i++) {
      const turn = shape[1] + (2 * Math.PI * i) / shape[0];
      c[i ? "lineTo" : "moveTo"](x + (shape[3] || 1) * shape[2] * Math.cos(turn), y + shape[2] * Math.sin(turn));
    }
    c.closePath(); c.fill(); c.stroke();
  }
}

// Very many markers of a kind: drawn once, then copied.
const STAMPS = 40;
function stamp(c, kind, places) {
  const half = 12, ratio = c.getTransform().a, sheet = element("canvas", { width: 2 * half * ratio, height: 2 * half * ratio });
  const pen = sheet.getContext("2d");
  pen.scale(ratio, ratio);
  mark(pen, kind, [[half, half]]);
  for (const [x, y] of places) c.drawImage(sheet, x - half, y - half, 2 * half, 2 * half);
}

// Rows along the way: stability, then the constraints, filled where closed, pale where closed without force.
const ROW = 17, FEW = 6;

// Constraints that do the same all the way share a row; those that change come first, in the order in which they do.
function grouped() {
  const groups = new Map();
  D.unilateral.forEach((name, k) => {
    const runs = [0];
    for (let i = 1; i < M; i++) if (state(i, k) !== state(i - 1, k)) runs.push(i);
    const key = runs.map((i) => `${i}:${state(i, k)}`).join(" ");
    if (!groups.has(key)) groups.set(key, { k, runs, names: [] });
    groups.get(key).names.push(name);
  });
  const first = ({ runs }) => (runs.length > 1 ? runs[1] : M);
  return [...groups.values()].sort((a, b) => first(a) - first(b));
}

class Raster {
  constructor(canvas, needle, button) {
    Object.assign(this, { canvas, needle, button, all: false, groups: grouped(), first: D.stability ? 1 : 0 });
    const changing = this.groups.filter(({ runs }) => runs.length > 1).length;
    this.few = Math.min(changing ? Math.min(changing, FEW) : 2, this.groups.length);
    button.hidden = this.few === this.groups.length;
    button.addEventListener("click", () => { this.all = !this.all; this.draw(); });
  }

  get rows() { return this.all ? this.groups : this.groups.slice(0, this.few); }

  draw() {
    const high = ROW * (this.rows.length + this.first);
    this.button.textContent = this.all ? "show those that change" : `show all ${width} constraints`;
    this.button.setAttribute("aria-expanded", String(this.all));
    this.canvas.style.height = this.needle.style.height = `${high}px`;
    if (!high) return;
    const { c, w } = prepare(this.canvas), at = (frame) => (w * along[frame]) / whole;
    if (this.first) {
      const cuts = [0];
      for (let i = 1; i < M; i++) if (degree[i] !== degree[i - 1]) cuts.push(i);
      this.row(c, w, 0, cuts, (i) => colour(degree[i] === 0 ? "good" : "bad" + Math.min(degree[i], 3)));
    }
    const fills = [colour("grid"), colour("weak"), colour("c0")];
    this.rows.forEach(({ k, runs }, i) => this.row(c, w, i + this.first, runs, (f) => fills[state(f, k)]));
    c.fillStyle = colour("alert");
    for (const j of D.jumps) c.fillRect(at(j.from), 0, Math.max(at(j.to) - at(j.from), 1.5), high);
    c.fillStyle = colour("ink");
    c.globalAlpha = Math.min(1, w / (12 * D.events.length)); // very many are a shade
    for (const e of D.events) if (e.kind !== "bound") c.fillRect(at(e.frame) - 0.5, 0, 1, high);
    c.globalAlpha = 1;
    this.words(c);
  }

  row(c, w, row, cuts, look) {
    const edge = (i) => (i <= 0 ? 0 : i >= M ? whole : (along[i - 1] + along[i]) / 2);
    cuts.forEach((begin, i) => {
      const left = (w * edge(begin)) / whole, right = (w * edge(i + 1 < cuts.length ? cuts[i + 1] : M)) / whole;
      c.fillStyle = look(begin);
      c.fillRect(left, row * ROW + 1, Math.max(right - left, 1.5), ROW - 3);
    });
  }

  words(c) {
    c.font = "11px system-ui, sans-serif"; c.textBaseline = "middle"; c.lineWidth = 3; c.strokeStyle = colour("paper");
    const named = this.rows.map(({ names }) => names.slice(0, 4).join(", ") + (names.length > 4 ? ` and ${names.length - 4} more` : ""));
    [...(this.first ? ["stability"] : []), ...named].forEach((name, i) => {
      c.strokeText(name, 4, (i + 0.5) * ROW); c.fillText(name, 4, (i + 0.5) * ROW);
    });
  }

  point(place) { this.needle.style.left = `${(this.canvas.clientWidth * place) / whole}px`; }
}

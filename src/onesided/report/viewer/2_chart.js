// A chart of curves that need not be functions: a still layer with curves and events, and a layer with the cursor.
class Chart {
  constructor(base, top, options) {
    Object.assign(this, { base, top, zoom: null }, options);
    this.listen();
  }

  get box() { return this.zoom || this.home; }

  layout(w, h) {
    const left = 64, right = 14, up = 12, down = 40;
    const [x0, x1, y0, y1] = this.box;
    this.X = (v) => left + ((v - x0) / (x1 - x0)) * (w - left - right);
    this.Y = (v) => h - down - ((v - y0) / (y1 - y0)) * (h - up - down);
    this.inverse = (a, b) => [x0 + ((a - left) / (w - left - right)) * (x1 - x0),
                              y0 + ((h - down - b) / (h - up - down)) * (y1 - y0)];
    this.frame = [left, up, w - right, h - down];
  }

  draw() {
    const { c, w, h } = prepare(this.base);
    this.curves = this.lines();
    const xs = range(this.curves.map((k) => k.x.subarray(k.begin, k.end)));
    const ys = range(this.curves.map((k) => k.y.subarray(k.begin, k.end)));
    const mx = 0.06 * (xs[1] - xs[0]), my = 0.09 * (ys[1] - ys[0]);
    this.home = [xs[0] - mx, xs[1] + mx, ys[0] - my, ys[1] + my];
    this.layout(w, h);
    this.axes(c);
    const [l, t, r, b] = this.frame;
    c.save();
    c.beginPath();
    c.rect(l, t, r - l, b - t);
    c.clip();
    for (const k of this.curves) this.curve(c, k);
    if (this.jumps) this.arrows(c);
    c.restore();
    if (this.marks) this.events(c);
    this.cursor();
  }

  axes(c) {
    const [l, t, r, b] = this.frame, [x0, x1, y0, y1] = this.box;
    c.lineWidth = 1;
    c.fillStyle = colour("muted");
    for (const [v, text] of ticks(x0, x1, (r - l) / 80)) {
      c.strokeStyle = colour("grid");
      c.beginPath(); c.moveTo(this.X(v), t); c.lineTo(this.X(v), b); c.stroke();
      c.textAlign = "center"; c.textBaseline = "top";
      c.fillText(text, this.X(v), b + 5);
    }
    for (const [v, text] of ticks(y0, y1, (b - t) / 48)) {
      c.strokeStyle = colour("grid");
      c.beginPath(); c.moveTo(l, this.Y(v)); c.lineTo(r, this.Y(v)); c.stroke();
      c.textAlign = "right"; c.textBaseline = "middle";
      c.fillText(text, l - 6, this.Y(v));
    }
    c.strokeStyle = colour("muted");
    c.beginPath(); c.moveTo(l, t); c.lineTo(l, b); c.lineTo(r, b); c.stroke();
    c.fillStyle = colour("ink");
    c.textAlign = "center"; c.textBaseline = "bottom";
    c.fillText(this.xName(), (l + r) / 2, b + 37);
    c.save();
    c.translate(12, (t + b) / 2); c.rotate(-Math.PI / 2); c.textBaseline = "middle";
    c.fillText(this.yName(), 0, 0);
    c.restore();
  }

  // Pieces of equal stability, each with its dashes; points closer than half a pixel are left out.
  curve(c, k) {
    c.strokeStyle = k.colour;
    c.lineWidth = 2;
    let begin = k.begin;
    while (begin < k.end - 1) {
      let end = begin + 1;
      while (end < k.end - 1 && degree[end + 1] === degree[end]) end++;
      c.setLineDash(k.dash || dash(degree[end]));
      c.beginPath();
      let a = this.X(k.x[begin]), b = this.Y(k.y[begin]);
      c.moveTo(a, b);
      for (let i = begin + 1; i <= end; i++) {
        const u = this.X(k.x[i]), v = this.Y(k.y[i]);
        if (Math.abs(u - a) + Math.abs(v - b) > 0.5 || i === end) { c.lineTo(u, v); a = u; b = v; }
      }
      c.stroke();
      begin = end;
    }
    c.setLineDash([]);
  }

  arrows(c) {
    c.strokeStyle = c.fillStyle = colour("alert");
    c.lineWidth = 1.5;
    const x = this.curves[0].x, y = this.curves[0].y;
    for (const j of D.jumps) {
      const a = [this.X(x[j.from]), this.Y(y[j.from])], b = [this.X(x[j.to]), this.Y(y[j.to])];
      const turn = Math.atan2(b[1] - a[1], b[0] - a[0]);
      c.setLineDash([3, 3]);
      c.beginPath(); c.moveTo(...a); c.lineTo(...b); c.stroke();
      c.setLineDash([]);
      c.beginPath(); c.moveTo(...b);
      for (const s of [-1, 1]) c.lineTo(b[0] - 10 * Math.cos(turn + s * 0.4), b[1] - 10 * Math.sin(turn + s * 0.4));
      c.fill();
    }
  }

  events(c) {
    const { x, y } = this.curves[0], [l, t, r, b] = this.frame;
    for (const e of D.events) {
      const u = this.X(x[e.frame]), v = this.Y(y[e.frame]);
      if (u >= l - 1 && u <= r + 1 && v >= t - 1 && v <= b + 1) mark(c, u, v, e.kind);
    }
  }

  cursor() {
    const { c } = prepare(this.top), now = this.at(), [l, t, r, b] = this.frame;
    for (const k of this.curves) {
      if (now < k.begin || now >= k.end) continue;
      const u = this.X(k.x[now]), v = this.Y(k.y[now]);
      if (!(u >= l && u <= r && v >= t && v <= b)) continue;
      c.strokeStyle = colour("alert"); c.lineWidth = 1;
      c.beginPath(); c.moveTo(l, v); c.lineTo(u, v); c.lineTo(u, b); c.globalAlpha = 0.5; c.stroke(); c.globalAlpha = 1;
      c.fillStyle = colour("alert");
      c.beginPath(); c.arc(u, v, 6, 0, 7); c.fill();
      c.strokeStyle = colour("paper"); c.lineWidth = 2; c.stroke();
    }
  }

  nearest(a, b) {
    let best = -1, least = Infinity;
    for (const k of this.curves) for (let i = k.begin; i < k.end; i++) {
      const d = (this.X(k.x[i]) - a) ** 2 + (this.Y(k.y[i]) - b) ** 2;
      if (d < least || (d === least && exact[i])) { least = d; best = i; }
    }
    const special = this.marks ? D.events.find((e) => {
      const { x, y } = this.curves[0];
      return (this.X(x[e.frame]) - a) ** 2 + (this.Y(y[e.frame]) - b) ** 2 < 100;
    }) : null;
    return special ? special.frame : best;
  }

  listen() {
    let down = null, moved = false;
    const place = (event) => [event.offsetX, event.offsetY];
    this.top.addEventListener("pointerdown", (event) => { down = place(event); moved = false; });
    this.top.addEventListener("pointermove", (event) => {
      if (!down || event.pointerType === "touch" || !event.buttons) return;
      const now = place(event), a = this.inverse(...down), b = this.inverse(...now);
      if (!moved && Math.hypot(now[0] - down[0], now[1] - down[1]) < 5) return;
      moved = true;
      const [dx, dy] = [a[0] - b[0], a[1] - b[1]], o = this.box;
      this.zoom = [o[0] + dx, o[1] + dx, o[2] + dy, o[3] + dy];
      down = now;
      this.draw();
    });
    this.top.addEventListener("pointerup", (event) => {
      if (down && !moved) this.pick(this.nearest(...place(event)));
      down = null;
    });
    this.top.addEventListener("pointerleave", () => { down = null; });
    this.top.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== this.top) return;
      event.preventDefault();
      const f = Math.exp(Math.sign(event.deltaY) * 0.2), [u, v] = this.inverse(...place(event)), o = this.box;
      this.zoom = [u + (o[0] - u) * f, u + (o[1] - u) * f, v + (o[2] - v) * f, v + (o[3] - v) * f];
      this.draw();
    }, { passive: false });
    this.top.addEventListener("dblclick", () => { this.zoom = null; this.draw(); });
  }
}

// One shape for each kind of event, told apart without colour.
function mark(c, x, y, kind) {
  if (kind === "jump") return;
  const ink = colour("ink"), hollow = ["opens", "smooth_bifurcation", "continuum", "idle", "user", "kink"].includes(kind);
  const shapes = {
    closes: [3, Math.PI / 2, 7], opens: [3, -Math.PI / 2, 7], corner_limit: [4, 0, 7], smooth_bifurcation: [4, Math.PI / 4, 7],
    nonsmooth_bifurcation: [5, -Math.PI / 2, 8], continuum: [6, 0, 7], user: [5, -Math.PI / 2, 6], kink: [6, Math.PI / 6, 7],
    idle: [4, 0, 7, 0.6],
  };
  c.strokeStyle = ink; c.lineWidth = 1.5; c.fillStyle = hollow ? colour("paper") : ink;
  c.beginPath();
  if (kind === "end" || kind === "jammed") { // a cross, upright where contacts hold the path
    for (const [u, v] of kind === "end" ? [[6, 6], [6, -6]] : [[7, 0], [0, 7]]) { c.moveTo(x - u, y - v); c.lineTo(x + u, y + v); }
    c.lineWidth = 3.5; c.stroke();
    return;
  }
  if (kind === "bound") { c.moveTo(x, y - 5); c.lineTo(x, y + 5); c.stroke(); return; }
  const shape = shapes[kind];
  if (!shape) c.arc(x, y, 5.5, 0, 7);
  else for (let i = 0; i < shape[0]; i++) {
    const turn = shape[1] + (2 * Math.PI * i) / shape[0];
    c[i ? "lineTo" : "moveTo"](x + (shape[3] || 1) * shape[2] * Math.cos(turn), y + shape[2] * Math.sin(turn));
  }
  c.closePath(); c.fill(); c.stroke();
}

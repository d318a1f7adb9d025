// A chart of curves that need not be functions: a still layer with curves and events, and a layer with the cursor.
const LOOKS_OF = [{ width: 2.8, alpha: 1, dash: [] }, { width: 2.3, alpha: 0.8, dash: [14, 4] }, { width: 1.8, alpha: 0.6, dash: [6, 4] }];
const MOST_DEGREES = 40, MOST_BADGES = 60, MANY = 5000; // numbers on curves and beside events; points of a curve drawn less finely
const NEAR = 30, TOUCH = 10, SLIP = 5; // pixels: a readout appears, a marker is meant, a click is not a drag

class Chart {
  constructor(base, top, options) {
    Object.assign(this, { base, top, zoom: null, tool: "move", box: null, hovered: -1, faint: null }, options);
    this.listen();
  }

  get view() { return this.zoom || this.home; }

  layout(w, h) {
    const left = 64, right = 14, up = 12, down = 40;
    const [x0, x1, y0, y1] = this.view;
    const sx = (w - left - right) / (x1 - x0), sy = (h - up - down) / (y1 - y0);
    this.map = [sx, left - x0 * sx, -sy, h - down + y0 * sy];
    this.X = (v) => left + (v - x0) * sx;
    this.Y = (v) => h - down - (v - y0) * sy;
    this.inverse = (a, b) => [x0 + (a - left) / sx, y0 + (h - down - b) / sy];
    this.frame = [left, up, w - right, h - down];
  }

  draw() {
    const { c, w, h } = prepare(this.base);
    this.paint(c, w, h);
    if (document.documentElement.dataset.paper) { this.present(c); this.dot(c, this.at(), true); } // on paper there is one layer
    else this.cursor();
  }

  measure() {
    this.curves = this.lines();
    const known = `${this.xName()} ${this.yName()}`;
    if (this.home && this.known === known) return;
    const part = (k, which) => (this.own ? k[which].slice(k.begin, k.end) : k[which]);
    const seen = (which, name) => noticed(range(new Set(this.curves.map((k) => part(k, which)))), scales.get(name));
    const xs = seen("x", this.xName()), ys = seen("y", this.yName());
    const mx = 0.06 * (xs[1] - xs[0]), my = 0.09 * (ys[1] - ys[0]);
    Object.assign(this, { known, home: [xs[0] - mx, xs[1] + mx, ys[0] - my, ys[1] + my] });
  }

  paint(c, w, h) {
    this.measure();
    this.layout(w, h);
    axes(c, this.frame, this.view, [this.X, this.Y], [titled(this.xName()), titled(this.yName())]);
    const [l, t, r, b] = this.frame;
    this.degrees = [];
    c.save();
    c.beginPath();
    c.rect(l, t, r - l, b - t);
    c.clip();
    for (const k of this.curves) this.curve(c, k, this.singled ? 0.22 : 1);
    if (this.jumps) this.arrows(c);
    c.restore();
    for (const place of this.degrees.slice(0, MOST_DEGREES)) this.degree(c, ...place);
    if (this.marks && !this.singled) this.events(c);
  }

  // Of very many branches the present one is singled out: full, on top of the others, with what happens on it.
  present(c) {
    const now = this.at(), here = this.singled ? this.curves.find(({ begin, end }) => now >= begin && now < end) : null;
    if (!here) return;
    const [l, t, r, b] = this.frame;
    this.degrees = [];
    c.save(); c.beginPath(); c.rect(l, t, r - l, b - t); c.clip();
    this.curve(c, { ...here, faint: false, bold: true, colour: colour("alert") }, 1);
    c.restore();
    for (const place of this.degrees) this.degree(c, ...place);
    this.events(c);
  }

  // Pieces of equal stability; points closer than half a pixel (a pixel, of very many), and all that is out of sight, are left out.
  curve(c, k, strength) {
    const many = k.end - k.begin > MANY;
    c.strokeStyle = k.colour;
    c.lineCap = many ? "butt" : "round"; c.lineJoin = many ? "bevel" : "round";
    let begin = k.begin;
    while (begin < k.end - 1) {
      let end = begin + 1;
      while (end < k.end - 1 && (k.dash || (degree[end + 1] === degree[end] && firmness[end + 1] === firmness[end]))) end++;
      const look = k.dash ? { width: 2, alpha: 1, dash: k.dash } : LOOKS_OF[firmness[end]];
      c.setLineDash(look.dash); c.lineWidth = look.width * (k.bold ? 1.5 : 1); c.globalAlpha = (k.bold ? 1 : look.alpha) * (k.faint ? 0.25 : 1) * strength;
      const length = this.piece(c, k, begin, end);
      if (this.marks && strength === 1 && !k.dash && !k.faint && degree[end] > 0 && length > 60) this.degreeAt(k, begin, end);
      begin = end;
    }
    c.setLineDash([]); c.globalAlpha = 1; c.lineCap = "butt"; c.lineJoin = "round";
  }

  piece(c, { x, y }, begin, end) {
    const [ax, bx, ay, by] = this.map, [l, t, r, b] = this.frame, far = 40, fine = end - begin > MANY ? 1 : 0.5;
    let u = x[begin] * ax + bx, v = y[begin] * ay + by, down = false, length = 0;
    c.beginPath();
    for (let i = begin + 1; i <= end; i++) {
      const a = x[i] * ax + bx, e = y[i] * ay + by, step = Math.abs(a - u) + Math.abs(e - v);
      if (step <= fine && i !== end) continue;
      const out = (a < l - far && u < l - far) || (a > r + far && u > r + far) || (e < t - far && v < t - far) || (e > b + far && v > b + far);
      if (out || step !== step) down = false;
      else { if (!down) c.moveTo(u, v); c.lineTo(a, e); down = true; length += step; }
      u = a; v = e;
    }
    c.stroke();
    return length;
  }

  // The number of negative modes stands on the curve, in the middle of what is seen of the piece.
  degreeAt({ x, y, colour: ink }, begin, end) {
    const seen = [];
    const [l, t, r, b] = this.frame, step = Math.max(1, Math.floor((end - begin) / 200));
    for (let i = begin; i <= end; i += step) {
      const u = this.X(x[i]), v = this.Y(y[i]);
      if (u > l + 8 && u < r - 8 && v > t + 8 && v < b - 8) seen.push([u, v]);
    }
    if (!seen.length) return;
    const [u, v] = seen[seen.length >> 1];
    if (this.degrees.every(([p, q]) => Math.hypot(p - u, q - v) > 26)) this.degrees.push([u, v, degree[end], ink]);
  }

  degree(c, u, v, count, ink) {
    c.font = "600 11px system-ui, sans-serif"; c.textAlign = "center"; c.textBaseline = "middle";
    c.fillStyle = colour("paper");
    c.beginPath(); c.arc(u, v, 8, 0, 7); c.fill();
    c.fillStyle = ink;
    c.fillText(String(count), u, v + 0.5);
    c.font = FONT;
  }

  ends(j) {
    const { x, y } = this.curves[0];
    return [this.X(x[j.from]), this.Y(y[j.from]), this.X(x[j.to]), this.Y(y[j.to])];
  }

  arrows(c) {
    c.strokeStyle = c.fillStyle = colour("alert");
    c.lineWidth = 1.8;
    for (const j of D.jumps) {
      const [u, v, a, b] = this.ends(j), turn = Math.atan2(b - v, a - u);
      c.setLineDash([3, 3]);
      c.beginPath(); c.moveTo(u, v); c.lineTo(a, b); c.stroke();
      c.setLineDash([]);
      c.beginPath(); c.moveTo(a, b);
      for (const s of [-1, 1]) c.lineTo(a - 10 * Math.cos(turn + s * 0.4), b - 10 * Math.sin(turn + s * 0.4));
      c.fill();
    }
  }

  // Where an event is on the screen: a jump in the middle of its arrow.
  place(e) {
    const { x, y } = this.curves[0], j = e.kind === "jump" ? D.jumps.find((one) => one.to === e.frame) : null;
    if (!j) return [this.X(x[e.frame]), this.Y(y[e.frame])];
    const [u, v, a, b] = this.ends(j);
    return [(u + a) / 2, (v + b) / 2];
  }

  // Markers, each place once, and the numbers of all that happens there in a badge beside it.
  events(c) {
    const [l, t, r, b] = this.frame, groups = new Map();
    for (const e of D.events) {
      if (this.hides && this.hides(e)) continue;
      const [u, v] = this.place(e);
      if (!(u >= l - 1 && u <= r + 1 && v >= t - 1 && v <= b + 1)) continue;
      const key = `${Math.round(u / 4)} ${Math.round(v / 4)}`;
      if (!groups.has(key)) groups.set(key, { u, v, kinds: new Set(), numbers: [] });
      const one = groups.get(key);
      one.kinds.add(e.kind);
      if (e.number) one.numbers.push(e.number);
    }
    const room = new Room(this.frame), found = [...groups.values()];
    for (const { u, v } of found) room.take([u - 7, v - 7, 14, 14]);
    for (const kind of new Set(found.flatMap(({ kinds }) => [...kinds]))) mark(c, kind, found.filter(({ kinds }) => kinds.has(kind)).map(({ u, v }) => [u, v]));
    for (const one of found.filter(({ numbers }) => numbers.length).slice(0, MOST_BADGES)) this.badge(c, one, room);
  }

  badge(c, { u, v, kinds, numbers }, room) {
    const some = numbers.slice(0, 3).join(", ") + (numbers.length > 3 ? " …" : ""), accent = kinds.has("jump");
    c.font = "600 11px system-ui, sans-serif"; c.textAlign = "center"; c.textBaseline = "middle";
    const high = 17, wide = Math.max(high, c.measureText(some).width + 9);
    const spot = accent ? [u, v] : room.beside(u, v, wide, high);
    if (spot) {
      room.take([spot[0] - wide / 2, spot[1] - high / 2, wide, high]);
      pill(c, ...spot, wide, high, accent ? colour("alert") : colour("paper"), accent ? colour("alert") : colour("ink"));
      c.fillStyle = accent ? colour("paper") : colour("ink");
      c.fillText(some, spot[0], spot[1] + 0.5);
    }
    c.font = FONT;
  }

  cursor() {
    const { c } = prepare(this.top), now = this.at();
    this.present(c);
    if (this.hovered >= 0) this.dot(c, this.hovered, false);
    const jump = this.leaps ? this.leaps() : null;
    if (jump) this.leap(c, jump); else this.dot(c, now, true);
    if (this.box) {
      c.strokeStyle = colour("alert"); c.lineWidth = 1; c.setLineDash([4, 3]);
      const [a, b, u, v] = this.box;
      c.beginPath(); c.rect(a, b, u - a, v - b); c.stroke(); c.setLineDash([]);
    }
  }

  // During a jump the mark is where the state on its way is; where that is not known it runs along the arrow.
  leap(c, jump) {
    const [u, v, a, b] = this.ends(jump), known = this.curves.length && jump.state >= 0 ? this.curves[0] : null;
    const way = known ? [this.X(known.x[jump.state]), this.Y(known.y[jump.state])] : [];
    const [x, y] = way.every(Number.isFinite) && known ? way : [u + jump.share * (a - u), v + jump.share * (b - v)];
    c.fillStyle = colour("alert");
    for (const [r, alpha] of [[15, 0.3], [7, 1]]) {
      c.globalAlpha = alpha;
      c.beginPath(); c.arc(x, y, r, 0, 7); c.fill();
    }
    c.globalAlpha = 1;
  }

  dot(c, frame, full) {
    const [l, t, r, b] = this.frame;
    for (const k of this.curves) {
      if (frame < k.begin || frame >= k.end) continue;
      const u = this.X(k.x[frame]), v = this.Y(k.y[frame]);
      if (!(u >= l && u <= r && v >= t && v <= b)) continue;
      c.strokeStyle = colour("alert");
      if (!full) { c.lineWidth = 2; c.beginPath(); c.arc(u, v, 6, 0, 7); c.stroke(); continue; }
      c.lineWidth = 1;
      c.beginPath(); c.moveTo(l, v); c.lineTo(u, v); c.lineTo(u, b); c.globalAlpha = 0.5; c.stroke(); c.globalAlpha = 1;
      c.fillStyle = colour("alert");
      c.beginPath(); c.arc(u, v, 6, 0, 7); c.fill();
      c.strokeStyle = colour("paper"); c.lineWidth = 2; c.stroke();
    }
  }

  // The frame meant by a place: an event, a jump, or the nearest point; and how far it is, in pixels.
  nearest(a, b) {
    if (this.marks) {
      const special = D.events.find((e) => { const [u, v] = this.hides && this.hides(e) ? [NaN, NaN] : this.place(e); return Math.hypot(u - a, v - b) < TOUCH; });
      const jump = special ? null : D.jumps.find((j) => besides(a, b, ...this.ends(j)) < TOUCH / 2);
      if (special || jump) return [special ? special.frame : jump.to, 0];
    }
    let best = -1, least = Infinity;
    const [ax, bx, ay, by] = this.map;
    for (const { x, y, begin, end, faint } of this.curves) for (let i = begin; i < end && !faint; i++) {
      const u = x[i] * ax + bx - a, v = y[i] * ay + by - b, d = u * u + v * v;
      if (d < least || (d === least && exact[i])) { least = d; best = i; }
    }
    return [best, Math.sqrt(least)];
  }

  to(box) { this.zoom = box; this.top.classList.toggle("zoomed", !!box); this.draw(); }
  scaled(f, u, v) { const o = this.view; this.to([u + (o[0] - u) * f, u + (o[1] - u) * f, v + (o[2] - v) * f, v + (o[3] - v) * f]); }
  closer(f) { const o = this.view; this.scaled(f, (o[0] + o[1]) / 2, (o[2] + o[3]) / 2); }

  moved(from, now) {
    const a = this.inverse(...from), b = this.inverse(...now), o = this.view;
    this.to([o[0] + a[0] - b[0], o[1] + a[0] - b[0], o[2] + a[1] - b[1], o[3] + a[1] - b[1]]);
  }

  boxed() {
    const [a, b, u, v] = this.box, [p, q] = [this.inverse(Math.min(a, u), Math.max(b, v)), this.inverse(Math.max(a, u), Math.min(b, v))];
    this.box = null;
    if (Math.abs(a - u) > SLIP && Math.abs(b - v) > SLIP) this.to([p[0], q[0], p[1], q[1]]); else this.cursor();
  }

  hover(event) {
    if (!this.tip || event.pointerType === "touch") return;
    const [frame, far] = event.type === "pointerleave" ? [-1, Infinity] : this.nearest(event.offsetX, event.offsetY);
    this.hovered = far < NEAR ? frame : -1;
    this.tip(this.hovered, event.offsetX, event.offsetY);
    this.cursor();
  }

  listen() {
    gestures(this.top, {
      slip: SLIP,
      start: (place, event) => { if (this.tool === "box" || event.shiftKey) this.box = [...place, ...place]; },
      drag: (from, now) => { if (this.box) { this.box.splice(2, 2, ...now); this.cursor(); } else this.moved(from, now); },
      end: (dragged, place) => {
        if (this.box && dragged) this.boxed();
        else { this.box = null; if (!dragged) this.pick(this.nearest(...place)[0]); }
      },
      pinch: (f, from, now) => { this.moved(from, now); this.scaled(1 / f, ...this.inverse(...now)); },
      hover: (event) => this.hover(event),
    });
    this.top.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== this.top) return;
      event.preventDefault();
      this.scaled(Math.exp(Math.sign(event.deltaY) * 0.2), ...this.inverse(event.offsetX, event.offsetY));
    }, { passive: false });
    this.top.addEventListener("dblclick", () => this.to(null));
  }
}

// Boxes that are taken, kept by cells, so that very many of them are as quick as a few.
const CELL = 24;
class Room {
  constructor(frame) { Object.assign(this, { frame, cells: new Map() }); }

  keys([x, y, w, h]) {
    const found = [];
    for (let i = Math.floor(x / CELL); i <= Math.floor((x + w) / CELL); i++) for (let j = Math.floor(y / CELL); j <= Math.floor((y + h) / CELL); j++) found.push(i * 10000 + j);
    return found;
  }

  take(box) { for (const key of this.keys(box)) { if (!this.cells.has(key)) this.cells.set(key, []); this.cells.get(key).push(box); } }

  free(box) {
    const [x, y, w, h] = box, [l, t, r, b] = this.frame;
    if (x < l - 50 || x + w > r + 12 || y < t - 10 || y + h > b + 4) return false;
    return this.keys(box).every((key) => (this.cells.get(key) || []).every(([p, q, m, n]) => x > p + m || p > x + w || y > q + n || q > y + h));
  }

  // The middle of a free box beside a marker, if there is one.
  beside(u, v, wide, high) {
    for (const far of [17, 25]) for (let k = 0; k < 8; k++) {
      const turn = (k + 1.5) * Math.PI / 4, x = u + (far + (wide - high) / 2) * Math.cos(turn), y = v - far * Math.sin(turn);
      if (this.free([x - wide / 2, y - high / 2, wide, high])) return [x, y];
    }
    return null;
  }
}

// Distance of a place from a stretch.
function besides(a, b, u, v, p, q) {
  const dx = p - u, dy = q - v, share = Math.max(0, Math.min(1, ((a - u) * dx + (b - v) * dy) / (dx * dx + dy * dy || 1)));
  return Math.hypot(u + share * dx - a, v + share * dy - b);
}

function pill(c, x, y, w, h, inside, outside) {
  const r = h / 2;
  c.beginPath();
  c.arc(x - w / 2 + r, y, r, Math.PI / 2, 1.5 * Math.PI);
  c.arc(x + w / 2 - r, y, r, -Math.PI / 2, Math.PI / 2);
  c.closePath();
  c.fillStyle = inside; c.fill();
  c.strokeStyle = outside; c.lineWidth = 1.2; c.stroke();
}

// Drags of one pointer and pinches of two; a finger moves the page unless the canvas says otherwise (touch-action).
function gestures(canvas, on) {
  const held = new Map();
  let dragged = false, from = null;
  const place = (event) => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  const spread = () => { const [a, b] = [...held.values()]; return [Math.hypot(a[0] - b[0], a[1] - b[1]), [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2]]; };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    held.set(event.pointerId, place(event));
    canvas.setPointerCapture(event.pointerId);
    if (held.size === 1) { dragged = false; from = place(event); if (on.start) on.start(from, event); } else dragged = true;
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held.has(event.pointerId)) { if (on.hover) on.hover(event); return; }
    const now = place(event);
    if (held.size === 2) {
      const [size, middle] = spread();
      held.set(event.pointerId, now);
      const [larger, moved] = spread();
      on.pinch(larger / (size || 1), middle, moved);
    } else if (held.size === 1) {
      if (!dragged && Math.hypot(now[0] - from[0], now[1] - from[1]) < on.slip) return;
      dragged = true;
      on.drag(from, now, event);
      from = now;
    }
    held.set(event.pointerId, now);
  });
  const stop = (event) => {
    if (!held.delete(event.pointerId) || held.size) return;
    if (on.end) on.end(dragged || event.type === "pointercancel", place(event));
  };
  canvas.addEventListener("pointerup", stop);
  canvas.addEventListener("pointercancel", stop);
  canvas.addEventListener("pointerleave", (event) => { if (on.hover) on.hover(event); });
}

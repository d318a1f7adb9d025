// The configuration at one frame, from the sketch saved with the result.
const LONGEST = 0.2; // arrow, as a share of the picture
const SMALL = 0.02, SEEN = 0.1; // displacements below this share of the size are drawn larger, the largest as this share

class Drawing {
  constructor(canvas, sketch, refresh) {
    Object.assign(this, { canvas, sketch, refresh, turn: -0.9, tilt: 0.35, zoom: 1, shift: [0, 0], times: 1 });
    this.solid = sketch.points.values().next().value.length === 3;
    this.times = this.exaggeration();
    this.measure();
    canvas.classList.toggle("solid", this.solid);
    this.listen();
  }

  // A number, or a column here; further from the start where displacements are drawn larger.
  value(component, frame) {
    if (typeof component !== "string") return component;
    const column = columns.get(component), now = column[frame];
    return this.times === 1 ? now : column[0] + this.times * (now - column[0]);
  }

  // A number, or a column as it is: of forces and directions.
  given(component, frame) { return typeof component === "string" ? columns.get(component)[frame] : component; }

  point(name, frame) { return this.sketch.points.get(name).map((part) => this.value(part, frame)); }

  sampled() { const step = Math.max(1, Math.floor(ALL / 2000)); return Array.from({ length: Math.ceil(ALL / step) }, (_, i) => i * step); }

  // Enlarged, contacts, circles and bodies would no longer touch what they touch.
  exact() { const s = this.sketch; return s.grounds.length + s.circles.length + s.bodies.length + s.solids.length + s.touches.size > 0; }

  // How many times larger displacements must be drawn to be seen: 1, or a round number.
  exaggeration() {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    let far = 0;
    for (const name of this.sketch.points.keys()) {
      const first = this.point(name, 0);
      first.forEach((v, i) => { low[i] = Math.min(low[i], v); high[i] = Math.max(high[i], v); });
      for (const f of this.sampled()) far = Math.max(far, Math.hypot(...this.point(name, f).map((v, i) => v - first[i])) || 0);
    }
    const size = Math.max(...[0, 1, 2].map((i) => (high[i] > low[i] ? high[i] - low[i] : 0)));
    if (!(far > 1e-9 * size) || far > SMALL * size || this.exact()) return 1;
    const raw = (SEEN * size) / far, power = 10 ** Math.floor(Math.log10(raw));
    return [5, 2, 1].find((k) => k * power <= raw) * power;
  }

  // The size of everything over all frames, so that the picture does not jump.
  measure() {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const take = (p, reach) => p.forEach((v, i) => {
      if (!Number.isFinite(v)) return;
      low[i] = Math.min(low[i], v - reach); high[i] = Math.max(high[i], v + reach);
    });
    for (const f of this.sampled()) {
      for (const name of this.sketch.points.keys()) take(this.point(name, f), 0);
      for (const [at, radius] of this.sketch.circles) take(this.point(at, f), Math.abs(this.value(radius, f)));
      for (const [at, , outline] of this.sketch.bodies) {
        take(this.point(at, f), Math.max(...outline.map((p) => Math.hypot(...p))));
      }
      for (const solid of this.sketch.solids) for (const p of this.corners(solid, f)) take(p, 0);
    }
    this.size = Math.max(...[0, 1, 2].map((i) => (high[i] >= low[i] ? high[i] - low[i] : 0))) || 1;
    this.centre = low.map((v, i) => (high[i] >= v ? (v + high[i]) / 2 : 0));
    this.half = low.map((v, i) => (high[i] >= v ? Math.max((high[i] - v) / 2, this.size / 8) + 0.14 * this.size : 0));
    const p = columns.get(D.parameter), reach = p ? Math.max(...range([p]).map(Math.abs)) : 0;
    const largest = (parts, grows) => (parts.some((part) => typeof part === "string")
      ? Math.max(...this.sampled().map((f) => Math.hypot(...parts.map((part) => this.given(part, f))) * Math.abs(grows && p ? p[f] : 1)).filter(Number.isFinite), 0)
      : Math.hypot(...parts) * (grows ? reach : 1));
    this.heavy = Math.max(...this.sketch.loads.map(([, force, grows]) => largest(force, grows)), 0);
    this.hard = Math.max(...this.sketch.turns.map(([, moment, grows]) => largest([moment], grows)), 0);
    this.most = Math.max(...D.unilateral.map((name) => { const r = columns.get("reaction " + name); return r ? range([r])[1] : 0; }), 0);
  }

  // Half the width and height of the box around everything, as seen now.
  seen() {
    const far = [0, 0];
    for (let k = 0; k < 8; k++) {
      const corner = this.centre.map((v, i) => v + (k >> i & 1 ? 1 : -1) * this.half[i]);
      this.flat(corner).forEach((v, i) => { far[i] = Math.max(far[i], Math.abs(v)); });
    }
    return far;
  }

  flat(p) {
    if (!this.solid) return [p[0] - this.centre[0], p[1] - this.centre[1]];
    const [x, y, z] = p.map((v, i) => v - this.centre[i]);
    const a = Math.cos(this.turn), b = Math.sin(this.turn);
    const across = a * x - b * y, away = b * x + a * y;
    return [across, z * Math.cos(this.tilt) + away * Math.sin(this.tilt), away * Math.cos(this.tilt) - z * Math.sin(this.tilt)];
  }

  // Corners of a solid: turned by its rotation vector (Rodrigues), then moved.
  corners([at, turn, corners], frame) {
    const p = this.point(at, frame), v = turn.map((part) => this.value(part, frame)), angle = Math.hypot(...v);
    const [x, y, z] = angle ? v.map((part) => part / angle) : [0, 0, 1], s = Math.sin(angle), k = 1 - Math.cos(angle);
    return corners.map(([a, b, c]) => {
      const along = x * a + y * b + z * c;
      const turned = [[a, x, y * c - z * b], [b, y, z * a - x * c], [c, z, x * b - y * a]];
      return turned.map(([u, n, w], i) => p[i] + u * (1 - k) + n * along * k + w * s);
    });
  }

  // Faces of all solids, those far away first; the more a face looks at us the lighter it is.
  solids(c, frame) {
    const found = this.sketch.solids.flatMap((solid) => {
      const corners = this.corners(solid, frame).map((p) => [this.flat(p), this.screen(p)]);
      return solid[3].map((face) => {
        const at = face.map((i) => corners[i]), [u, v, w] = [0, 1, 2].map((i) => at[Math.floor((i * at.length) / 3)][0]);
        const area = (v[0] - u[0]) * (w[1] - u[1]) - (v[1] - u[1]) * (w[0] - u[0]);
        const edges = [0, 1, 2].map((i) => [v[i] - u[i], w[i] - u[i]]);
        const normal = Math.hypot(edges[1][0] * edges[2][1] - edges[2][0] * edges[1][1], edges[2][0] * edges[0][1] - edges[0][0] * edges[2][1], area);
        return { far: at.reduce((sum, q) => sum + q[0][2], 0) / at.length, points: at.map((q) => q[1]), facing: Math.abs(area) / (normal || 1) };
      });
    });
    found.sort((a, b) => b.far - a.far);
    c.lineWidth = 1; c.strokeStyle = colour("ink");
    for (const face of found) {
      this.path(c, face.points); c.closePath();
      c.fillStyle = colour("paper"); c.fill();
      c.globalAlpha = 0.35 + 0.5 * (1 - face.facing); c.fillStyle = colour("muted"); c.fill();
      c.globalAlpha = 1; c.stroke();
    }
  }

  // A frame; during a jump a state on its way, or where none is known it fades while the one where it lands appears.
  draw(frame, jump = null) {
    const { c, w, h } = prepare(this.canvas);
    if (!jump || jump.state >= 0) { this.paint(c, w, h, jump ? jump.state : frame); return; }
    const shade = jump.share * jump.share;
    for (const [one, alpha] of [[frame, 1 - shade], [jump.to, shade]]) {
      const sheet = element("canvas", { width: this.canvas.width, height: this.canvas.height }), pen = sheet.getContext("2d");
      pen.setTransform(this.canvas.width / w, 0, 0, this.canvas.height / h, 0, 0);
      this.paint(pen, w, h, one);
      c.globalAlpha = alpha;
      c.drawImage(sheet, 0, 0, w, h);
    }
    c.globalAlpha = 1;
  }

  paint(c, w, h, frame) {
    const reach = this.solid ? this.seen() : this.half;
    const scale = Math.min(w / (2 * reach[0]), h / (2 * reach[1])) * this.zoom;
    this.screen = (p) => { const [u, v] = this.flat(p); return [w / 2 + this.shift[0] + u * scale, h / 2 + this.shift[1] - v * scale]; };
    Object.assign(this, { scale, thin: Math.min(1, Math.min(w, h) / 240) });
    for (const ground of this.sketch.grounds) this.ground(c, ground, frame);
    for (const [at, held, clamped] of this.sketch.supports) this.support(c, at, held, clamped, frame);
    if (frame > 0) this.ghost(c);
    for (const [at, radius, angle] of this.sketch.circles) this.circle(c, at, radius, angle, frame);
    for (const [at, angle, outline] of this.sketch.bodies) this.body(c, at, angle, outline, frame);
    this.solids(c, frame);
    const loose = this.slack(frame);
    for (const [names, style] of this.sketch.lines) {
      const points = names.map((n) => this.screen(this.point(n, frame))), key = names.join(" ");
      this.line(c, points, loose.has(key) ? "slack" : style, loose.has(key) ? colour("alert") : null);
    }
    this.joints(c, frame);
    D.unilateral.forEach((name, k) => this.contact(c, name, k, frame));
    for (const load of this.sketch.loads) this.load(c, load, frame);
    for (const moment of this.sketch.turns) this.moment(c, moment, frame);
  }

  // Where everything was at the start, pale.
  ghost(c) {
    c.save();
    c.globalAlpha = 0.28; c.lineWidth = 1.4; c.strokeStyle = colour("muted"); c.setLineDash([]);
    for (const [names, style] of this.sketch.lines) {
      const points = names.map((n) => this.screen(this.point(n, 0)));
      this.path(c, style === "body" ? [...points, points[0]] : points); c.stroke();
    }
    for (const [at, radius] of this.sketch.circles) {
      c.beginPath(); c.arc(...this.screen(this.point(at, 0)), Math.abs(this.value(radius, 0)) * this.scale, 0, 7); c.stroke();
    }
    for (const body of this.sketch.bodies) { const points = this.outline(body, 0); this.path(c, [...points, points[0]]); c.stroke(); }
    c.restore();
  }

  // Lines of open constraints: cables without tension.
  slack(frame) {
    const loose = new Set();
    D.unilateral.forEach((name, k) => {
      if (state(frame, k) === 0) for (const part of this.sketch.marks.get(name) || []) if (part.length > 1) loose.add(part.join(" "));
    });
    return loose;
  }

  // What changed since the start is highlighted; what stays closed is a quiet dot. Reactions are arrows where a wall tells their direction.
  contact(c, name, k, frame) {
    const now = state(frame, k) > 0, changed = now !== (state(0, k) > 0);
    for (const part of this.sketch.marks.get(name) || []) {
      if (part.length > 1) { if (now && changed) this.taut(c, part, frame); continue; }
      if (!now && !changed) continue;
      const [at, normal] = this.touch(name, part[0], frame), [u, v] = this.screen(at), force = columns.get("reaction " + name);
      if (now && normal && force && this.most > 0) this.arrow(c, at, normal.map((w) => (w * force[frame]) / this.most), colour("alert"));
      c.strokeStyle = c.fillStyle = changed ? colour("alert") : colour("muted"); c.lineWidth = 2;
      c.beginPath(); c.arc(u, v, (now ? 4.5 : 6) * this.thin, 0, 7);
      if (now) c.fill(); else c.stroke();
    }
  }

  // The touching point of a contact and the direction in which it pushes, from the wall that is nearest.
  touch(constraint, name, frame) {
    const known = this.sketch.touches.get(constraint), at = this.point(known ? known[0] : name, frame);
    if (known) {
      const normal = known[3] && known[3].length ? this.away(at, known[3].map((n) => this.point(n, frame)), known[4] ? -1 : 1) : known[1].map((part) => this.given(part, frame));
      return [at.map((v, i) => v - known[2] * normal[i]), normal];
    }
    const round = this.sketch.circles.find(([centre]) => centre === name), r = round ? Math.abs(this.value(round[1], frame)) : 0;
    let best = null, least = 0.03 * this.size;
    for (const [foot, normal] of this.sketch.grounds) {
      const p = this.point(foot, frame), raw = normal.map((v) => this.value(v, frame)), size = Math.hypot(...raw) || 1;
      const n = raw.map((v) => v / size), far = Math.abs(n.reduce((sum, v, i) => sum + v * (at[i] - p[i]), 0) - r);
      if (far < least) { least = far; best = n; }
    }
    return best ? [at.map((v, i) => v - r * best[i]), best] : [at, null];
  }

  // The unit vector from another point, or from the nearest one of a segment, to a point.
  away(at, against, sense) {
    const first = against[0], along = against[against.length - 1].map((v, i) => v - first[i]), whole = along.reduce((sum, v) => sum + v * v, 0);
    const share = whole > 0 ? Math.max(0, Math.min(1, along.reduce((sum, v, i) => sum + v * (at[i] - first[i]), 0) / whole)) : 0;
    const step = at.map((v, i) => v - first[i] - share * along[i]), size = Math.hypot(...step) || 1;
    return step.map((v) => (sense * v) / size);
  }

  // An arrow that ends at a point; of length one it is a fifth of the picture.
  arrow(c, at, along, ink) {
    const foot = this.screen(at), tail = this.screen(at.map((v, i) => v - LONGEST * this.size * along[i]));
    const far = Math.hypot(tail[0] - foot[0], tail[1] - foot[1]), turn = Math.atan2(foot[1] - tail[1], foot[0] - tail[0]);
    if (far < 3) return;
    const head = Math.min(10 * this.thin, far), gap = 5 * this.thin, [dx, dy] = [gap * Math.cos(turn), gap * Math.sin(turn)];
    const [u, v] = [foot[0] - dx, foot[1] - dy];
    c.strokeStyle = c.fillStyle = ink; c.lineWidth = 2.4 * this.thin; c.setLineDash([]);
    c.beginPath(); c.moveTo(tail[0] - dx, tail[1] - dy); c.lineTo(u - 0.7 * head * Math.cos(turn), v - 0.7 * head * Math.sin(turn)); c.stroke();
    c.beginPath(); c.moveTo(u, v);
    for (const s of [-1, 1]) c.lineTo(u - head * Math.cos(turn + 0.42 * s), v - head * Math.sin(turn + 0.42 * s));
    c.closePath(); c.fill();
  }

  // Loads grow with p; the longest of all frames has length one.
  load(c, [at, force, grows], frame) {
    const p = columns.get(D.parameter), now = grows ? (p ? p[frame] : 0) : 1;
    if (this.heavy) this.arrow(c, this.point(at, frame), force.map((v) => (this.given(v, frame) * now) / this.heavy), colour("ink"));
  }

  // A moment: an arc with a head at its end, the longer the larger it is; counter-clockwise where it is positive.
  moment(c, [at, moment, grows], frame) {
    const p = columns.get(D.parameter), share = (this.given(moment, frame) * (grows ? (p ? p[frame] : 0) : 1)) / (this.hard || 1);
    if (this.solid || !(Math.abs(share) > 0.04)) return;
    const [x, y] = this.screen(this.point(at, frame)), r = 0.07 * this.size * this.scale, sweep = share * 1.5 * Math.PI;
    const first = -Math.PI / 2 + sweep / 2, last = first - sweep, sense = Math.sign(share), head = 10 * this.thin; // y points down here
    c.strokeStyle = c.fillStyle = colour("ink"); c.lineWidth = 2.4 * this.thin; c.setLineDash([]);
    c.beginPath(); c.arc(x, y, r, first, last, share > 0); c.stroke();
    const tip = last - (sense * 0.5 * head) / r, [u, v] = [x + r * Math.cos(tip), y + r * Math.sin(tip)], turn = last - sense * Math.PI / 2;
    c.beginPath(); c.moveTo(u, v);
    for (const s of [-1, 1]) c.lineTo(u - head * Math.cos(turn + 0.42 * s), v - head * Math.sin(turn + 0.42 * s));
    c.closePath(); c.fill();
  }

  // A triangle below a pin, with wheels where one axis is free; a wall across a clamped end; in space a square.
  support(c, name, held, clamped, frame) {
    const at = this.point(name, frame), [x, y] = this.screen(at), h = 11 * this.thin;
    c.strokeStyle = colour("muted"); c.fillStyle = colour("paper"); c.lineWidth = 1.2; c.setLineDash([]);
    if (this.solid) { c.fillStyle = colour("muted"); c.fillRect(x - 4 * this.thin, y - 4 * this.thin, 8 * this.thin, 8 * this.thin); return; }
    const side = at[0] > this.centre[0] ? 1 : -1, [dx, dy] = clamped ? this.outward(name, frame) : held.includes("y") ? [0, 1] : [side, 0];
    const spot = (down, across) => [x + h * (down * dx - across * dy), y + h * (down * dy + across * dx)];
    const base = clamped ? 0 : held.length === 1 ? 1.5 : 1, half = clamped ? 1.4 : 1;
    if (!clamped) { this.path(c, [spot(0, 0), spot(1, -0.7), spot(1, 0.7)]); c.closePath(); c.fill(); c.stroke(); }
    if (held.length === 1) for (const s of [-0.4, 0.4]) { c.beginPath(); c.arc(...spot(1.25, s), 0.25 * h, 0, 7); c.stroke(); }
    this.path(c, [spot(base, -half), spot(base, half)]); c.stroke();
    c.lineWidth = 0.8;
    for (let k = 0; k < 5; k++) { const s = (-0.8 + 0.45 * k) * half; this.path(c, [spot(base, s), spot(base + 0.35, s - 0.35)]); c.stroke(); }
  }

  // From a clamped end away from the members that leave it, as seen on the screen.
  outward(name, frame) {
    const own = this.screen(this.point(name, frame)), away = [0, 0];
    for (const [points] of this.sketch.lines) if (points.includes(name)) for (const other of points) {
      this.screen(this.point(other, frame)).forEach((v, i) => { away[i] += own[i] - v; });
    }
    const far = Math.hypot(...away);
    return far > 0 ? away.map((v) => v / far) : [0, 1];
  }

  path(c, points) { c.beginPath(); points.forEach((p, i) => c[i ? "lineTo" : "moveTo"](...p)); }

  line(c, points, style, ink = null) {
    const widths = new Map(Object.entries({ bar: 5, spring: 1.6, cable: 1.8, beam: 6, strut: 4, body: 1.8, slack: 1.8 }));
    c.setLineDash(style === "slack" ? [5, 4] : []);
    c.lineWidth = widths.get(style) * this.thin; c.lineCap = "round";
    c.strokeStyle = ink || (style === "slack" ? colour("muted") : ["bar", "beam", "strut"].includes(style) ? colour("c0") : colour("ink"));
    if (style === "spring") {
      for (let i = 1; i < points.length; i++) { this.path(c, this.spring(points[i - 1], points[i])); c.stroke(); }
      return;
    }
    this.path(c, points);
    if (style === "body") { c.closePath(); c.fillStyle = colour("grid"); c.fill(); }
    c.stroke();
    c.setLineDash([]);
  }

  spring(a, b) {
    const dx = b[0] - a[0], dy = b[1] - a[1], length = Math.hypot(dx, dy) || 1, swing = Math.min(8 * this.thin, length / 5);
    const found = [a], coils = this.thin < 0.7 ? 8 : 16;
    for (let i = 0; i <= coils; i++) {
      const u = 0.14 + (0.72 * i) / coils, s = i === 0 || i === coils ? 0 : (i % 2 ? 1 : -1) * swing;
      found.push([a[0] + u * dx - (s * dy) / length, a[1] + u * dy + (s * dx) / length]);
    }
    return [...found, b];
  }

  circle(c, at, radius, angle, frame) {
    const p = this.point(at, frame), [x, y] = this.screen(p), r = Math.abs(this.value(radius, frame)) * this.scale;
    c.strokeStyle = colour("ink"); c.lineWidth = 1.8;
    c.beginPath(); c.arc(x, y, r, 0, 7); c.stroke();
    if (angle === null) return;
    const turn = this.value(angle, frame);
    c.lineWidth = 1; c.strokeStyle = colour("muted");
    c.beginPath(); c.moveTo(x, y); c.lineTo(x + r * Math.cos(turn), y - r * Math.sin(turn)); c.stroke();
  }

  outline([at, angle, outline], frame) {
    const p = this.point(at, frame), t = this.value(angle, frame), a = Math.cos(t), b = Math.sin(t);
    return outline.map(([x, y]) => this.screen([p[0] + a * x - b * y, p[1] + b * x + a * y, ...p.slice(2)]));
  }

  body(c, at, angle, outline, frame) {
    this.path(c, this.outline([at, angle, outline], frame));
    c.closePath();
    c.fillStyle = colour("grid"); c.fill();
    c.strokeStyle = colour("ink"); c.lineWidth = 1.8; c.stroke();
  }

  ground(c, [at, normal, length], frame) {
    const p = this.point(at, frame), raw = normal.map((v) => this.value(v, frame)), size = Math.hypot(...raw) || 1;
    const n = raw.map((v) => v / size), span = length === null ? 2 * this.size : this.value(length, frame);
    c.strokeStyle = colour("muted"); c.lineWidth = 1.8;
    if (this.solid) { this.plane(c, p, n, Math.min(span, this.size)); return; }
    const t = [n[1], -n[0]], depth = 0.035 * this.size;
    const along = (u, d) => this.screen([p[0] + t[0] * (u - span / 2 - d) - n[0] * d, p[1] + t[1] * (u - span / 2 - d) - n[1] * d]);
    this.path(c, [along(0, 0), along(span, 0)]); c.stroke();
    c.lineWidth = 0.8;
    for (let u = depth; u <= span; u += 1.2 * depth) { this.path(c, [along(u, 0), along(u, depth)]); c.stroke(); }
  }

  plane(c, p, n, span) {
    const other = Math.abs(n[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0];
    const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    const raw = cross(n, other), size = Math.hypot(...raw), a = raw.map((v) => (v / size) * span / 2), b = cross(n, a);
    const corners = [[1, 1], [1, -1], [-1, -1], [-1, 1]].map(([s, t]) => this.screen(p.map((v, i) => v + s * a[i] + t * b[i])));
    this.path(c, corners); c.closePath(); c.stroke();
  }

  joints(c, frame) {
    const names = new Set(this.sketch.lines.filter(([, style]) => style !== "body").flatMap(([points]) => points));
    c.strokeStyle = colour("ink"); c.fillStyle = colour("paper"); c.lineWidth = 1.2;
    if (names.size > 400 || this.thin < 0.7) return;
    for (const name of names) {
      c.beginPath(); c.arc(...this.screen(this.point(name, frame)), 3.2, 0, 7); c.fill(); c.stroke();
    }
  }

  taut(c, part, frame) {
    c.strokeStyle = colour("alert"); c.lineWidth = 7 * this.thin; c.globalAlpha = 0.45;
    this.path(c, part.map((n) => this.screen(this.point(n, frame)))); c.stroke();
    c.globalAlpha = 1;
  }

  again() { this.canvas.classList.toggle("zoomed", this.zoom !== 1); this.refresh(); }
  closer(f) { this.zoom = Math.max(0.2, Math.min(50, this.zoom * f)); this.again(); }
  whole() { Object.assign(this, { zoom: 1, shift: [0, 0], turn: -0.9, tilt: 0.35 }); this.again(); }
  rescale(times) { this.times = times; this.measure(); this.again(); }

  turned(dx, dy) {
    this.turn += dx * 0.01;
    this.tilt = Math.max(-1.5, Math.min(1.5, this.tilt + dy * 0.01));
  }

  // One pointer turns what is in space, and moves what was zoomed in the plane; two pointers, the wheel and + − zoom.
  listen() {
    gestures(this.canvas, {
      slip: 1,
      drag: (from, now) => {
        const [dx, dy] = [now[0] - from[0], now[1] - from[1]];
        if (this.solid) this.turned(dx, dy);
        else if (this.zoom !== 1) this.shift = [this.shift[0] + dx, this.shift[1] + dy];
        else return;
        this.again();
      },
      pinch: (f, from, now) => { this.shift = [this.shift[0] + now[0] - from[0], this.shift[1] + now[1] - from[1]]; this.closer(f); },
    });
    this.canvas.addEventListener("wheel", (event) => {
      if (!event.ctrlKey && document.activeElement !== this.canvas) return;
      event.preventDefault();
      this.closer(Math.exp(-Math.sign(event.deltaY) * 0.15));
    }, { passive: false });
    this.canvas.addEventListener("dblclick", () => this.whole());
  }
}

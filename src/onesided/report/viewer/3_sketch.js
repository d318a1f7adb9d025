// The configuration at one frame, from the sketch saved with the result.
class Drawing {
  constructor(canvas, sketch) {
    Object.assign(this, { canvas, sketch, turn: -0.9, tilt: 0.35 });
    this.solid = sketch.points.values().next().value.length === 3;
    this.measure();
    canvas.classList.toggle("solid", this.solid);
    if (this.solid) this.listen();
  }

  value(component, frame) { return typeof component === "string" ? columns.get(component)[frame] : component; }

  point(name, frame) { return this.sketch.points.get(name).map((part) => this.value(part, frame)); }

  // The size of everything over all frames, so that the picture does not jump.
  measure() {
    const low = [Infinity, Infinity, Infinity], high = [-Infinity, -Infinity, -Infinity];
    const take = (p, reach) => p.forEach((v, i) => {
      if (!Number.isFinite(v)) return;
      low[i] = Math.min(low[i], v - reach); high[i] = Math.max(high[i], v + reach);
    });
    const step = Math.max(1, Math.floor(M / 2000));
    for (let f = 0; f < M; f += step) {
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

  draw(frame) {
    const { c, w, h } = prepare(this.canvas);
    const reach = this.solid ? this.seen() : this.half;
    const scale = Math.min(w / (2 * reach[0]), h / (2 * reach[1]));
    this.screen = (p) => { const [u, v] = this.flat(p); return [w / 2 + u * scale, h / 2 - v * scale]; };
    this.scale = scale;
    for (const ground of this.sketch.grounds) this.ground(c, ground, frame);
    for (const [at, radius, angle] of this.sketch.circles) this.circle(c, at, radius, angle, frame);
    for (const [at, angle, outline] of this.sketch.bodies) this.body(c, at, angle, outline, frame);
    this.solids(c, frame);
    const loose = this.slack(frame);
    for (const [names, style] of this.sketch.lines) {
      this.line(c, names.map((n) => this.screen(this.point(n, frame))), loose.has(names.join(" ")) ? "slack" : style);
    }
    this.joints(c, frame);
    D.unilateral.forEach((name, k) => {
      if (state(frame, k) > 0) for (const part of this.sketch.marks.get(name) || []) this.highlight(c, part, frame);
    });
  }

  // Lines of open constraints: cables without tension.
  slack(frame) {
    const loose = new Set();
    D.unilateral.forEach((name, k) => {
      if (state(frame, k) === 0) for (const part of this.sketch.marks.get(name) || []) if (part.length > 1) loose.add(part.join(" "));
    });
    return loose;
  }

  path(c, points) { c.beginPath(); points.forEach((p, i) => c[i ? "lineTo" : "moveTo"](...p)); }

  line(c, points, style) {
    const widths = { bar: 5, spring: 1.6, cable: 1.8, beam: 6, strut: 4, body: 1.8, slack: 1.2 };
    c.setLineDash(style === "slack" ? [5, 4] : []);
    c.lineWidth = widths[style]; c.lineCap = "round";
    c.strokeStyle = ["bar", "beam", "strut"].includes(style) ? colour("c0") : colour("ink");
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
    const dx = b[0] - a[0], dy = b[1] - a[1], length = Math.hypot(dx, dy) || 1, swing = Math.min(8, length / 5);
    const found = [a], coils = 16;
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

  body(c, at, angle, outline, frame) {
    const p = this.point(at, frame), t = this.value(angle, frame), a = Math.cos(t), b = Math.sin(t);
    this.path(c, outline.map(([x, y]) => this.screen([p[0] + a * x - b * y, p[1] + b * x + a * y, ...p.slice(2)])));
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
    if (names.size > 400) return;
    for (const name of names) {
      c.beginPath(); c.arc(...this.screen(this.point(name, frame)), 3.2, 0, 7); c.fill(); c.stroke();
    }
  }

  highlight(c, part, frame) {
    c.strokeStyle = colour("alert");
    if (part.length === 1) {
      c.lineWidth = 2.5;
      c.beginPath(); c.arc(...this.screen(this.point(part[0], frame)), 8, 0, 7); c.stroke();
    } else {
      c.lineWidth = 7; c.globalAlpha = 0.45;
      this.path(c, part.map((n) => this.screen(this.point(n, frame)))); c.stroke();
      c.globalAlpha = 1;
    }
  }

  listen() {
    this.canvas.addEventListener("pointermove", (event) => {
      if (!event.buttons) return;
      this.turn += event.movementX * 0.01;
      this.tilt = Math.max(-1.5, Math.min(1.5, this.tilt + event.movementY * 0.01));
      this.draw(view.frame);
    });
  }
}

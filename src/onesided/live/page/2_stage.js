// The stage: path, trail and mechanism. The last frame of a scene is the present state, written anew for each picture.
const MOST_TRAIL = 4000, MOST_JUMPS = 60, JUMP = 300, FALL = 900; // positions of the trail; milliseconds of a jump, and of one whose way is known
const stage = { drawing: null, chart: null, trail: [], jumps: [], film: null, asked: false, frames: 0 };
const calm = matchMedia("(prefers-reduced-motion: reduce)");

function fresh(id) {
  const old = byId(id), canvas = old.cloneNode(false);
  old.replaceWith(canvas);
  return canvas;
}

wire.handlers.scene = (message) => {
  if (message.version < S.shown) return;
  S.shown = message.version;
  S.note = message.note || "";
  good("");
  byId("chart-figure").hidden = byId("sketch-figure").hidden = !message.data;
  if (S.note) trouble(S.note);
  if (!message.data) { S.scene = null; return; }
  byId("data").textContent = JSON.stringify(message.data);
  const parts = drawn();
  S.scene = { ...parts, sizes: new Map(), from: parts.D.names.map((name) => S.names.get(name)) };
  axes();
  chart();
  mechanism();
  numbers();
  picture();
};

function axes() {
  const names = S.scene.D.choices;
  for (const [id, chosen] of [["x", S.scene.D.x], ["y", S.scene.D.y]]) {
    const select = byId(id), before = select.value;
    if ([...select.options].map((o) => o.value).join("\n") === names.join("\n")) continue;
    select.replaceChildren(...names.map((name) => node("option", { value: name }, name)));
    select.value = names.includes(before) && before ? before : chosen;
  }
}

function chart() {
  const { Chart, D, M, columns, colour } = S.scene, zoom = stage.chart ? stage.chart.zoom : null;
  const top = fresh("diagram-top"), x = () => byId("x").value, y = () => byId("y").value;
  const made = new Chart(byId("diagram"), top, {
    marks: true, jumps: true, at: () => M - 1, xName: x, yName: y, hides: () => false, tip,
    pick: (frame) => { if (frame >= 0) grab(columns.get(D.control)[frame]); },
    lines: () => D.branches.map((b) => ({ x: columns.get(x()), y: columns.get(y()), begin: b.begin, end: b.end, colour: colour("c0") })),
  });
  byId("tip").hidden = true;
  const draw = made.draw.bind(made);
  made.draw = () => { draw(); trail(); };
  made.zoom = zoom;
  stage.chart = made;
}

// What the path is at the place of the pointer.
function tip(frame, x, y) {
  const box = byId("tip"), { D, M, equation, eventsAt, stability } = S.scene;
  box.hidden = frame < 0 || frame === M - 1;
  if (box.hidden) return;
  const names = new Set([D.control, byId("x").value, byId("y").value]);
  box.replaceChildren(...eventsAt(frame).map((e) => node("b", {}, e.words)), ...[...names].map((name) => node("div", {}, equation(name, frame, 6))), node("div", {}, stability(frame)));
  const left = x + box.offsetWidth + 24 > this.top.clientWidth ? x - box.offsetWidth - 14 : x + 16;
  box.style.left = `${Math.max(left, 0)}px`;
  box.style.top = `${Math.max(Math.min(y + 14, this.top.clientHeight - box.offsetHeight), 0)}px`;
}

// While parameters change a little the scale of the drawing stays: what changes is seen.
function mechanism() {
  const { Drawing, D } = S.scene, old = stage.drawing;
  byId("sketch-figure").hidden = !D.sketch;
  if (!D.sketch) { stage.drawing = null; return; }
  write(row());
  const made = new Drawing(fresh("sketch"), D.sketch, picture), near = old && Math.abs(Math.log(made.size / old.size)) < 0.35;
  if (old) Object.assign(made, { turn: old.turn, tilt: old.tilt, zoom: old.zoom, shift: old.shift });
  if (near && made.solid === old.solid) Object.assign(made, { size: old.size, centre: old.centre, half: old.half });
  byId("larger").textContent = made.times === 1 ? "" : `; displacements × ${made.times}`;
  stage.drawing = made;
}

// Values to be drawn: those of the present state, or of a state on the way of a jump, as far as they are known there.
function row() {
  const film = stage.film, known = film ? film.fall.length : 0;
  if (!film) return [S.now.values, S.now.codes];
  const share = (performance.now() - film.begun) / (known ? FALL : JUMP);
  if (share >= 1) { stage.film = null; return [S.now.values, S.now.codes]; }
  return known ? film.fall[Math.floor(share * known)] : [film.from, S.now.codes];
}

function write([values, states]) {
  const { M, columns, D, codes, degree, from } = S.scene, width = D.unilateral.length;
  D.names.forEach((name, i) => { const v = from[i] === undefined ? NaN : values[from[i]]; columns.get(name)[M - 1] = v === null ? NaN : v; });
  for (let k = 0; k < width; k++) codes[(M - 1) * width + k] = states[k];
  degree[M - 1] = S.now.degree;
}

function picture() {
  if (stage.asked) return;
  stage.asked = true;
  requestAnimationFrame(() => {
    stage.asked = false;
    stage.frames += 1;
    if (!S.scene || !S.now) return;
    write(row());
    if (stage.chart.frame) { stage.chart.cursor(); trail(); } else stage.chart.draw();
    if (stage.drawing) stage.drawing.draw(S.scene.M - 1);
    const words = stage.film && stage.film.fall.length ? "The fall: states of falling energy, not in real time" : "The mechanism now";
    if (byId("shown").textContent !== words) byId("shown").textContent = words;
    if (stage.film) picture();
  });
}

function whole() {
  if (!S.scene) return;
  stage.chart.draw();
  picture();
}

// Where the system has been, and its jumps, over the path.
function trail() {
  const canvas = byId("trail"), ratio = window.devicePixelRatio || 1, w = canvas.clientWidth, h = canvas.clientHeight;
  if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(h * ratio)) { canvas.width = Math.round(w * ratio); canvas.height = Math.round(h * ratio); }
  const c = canvas.getContext("2d"), made = stage.chart, i = S.names.get(byId("x").value), j = S.names.get(byId("y").value);
  c.setTransform(ratio, 0, 0, ratio, 0, 0);
  c.clearRect(0, 0, w, h);
  if (i === undefined || j === undefined || !made.frame) return;
  const [l, t, r, b] = made.frame;
  c.save();
  c.beginPath(); c.rect(l, t, r - l, b - t); c.clip();
  c.strokeStyle = c.fillStyle = S.scene.colour("alert");
  c.lineWidth = 4.5; c.globalAlpha = 0.28; c.lineJoin = c.lineCap = "round";
  c.beginPath();
  let down = false;
  for (const at of stage.trail) {
    if (!at) { down = false; continue; }
    c[down ? "lineTo" : "moveTo"](made.X(at[i]), made.Y(at[j]));
    down = true;
  }
  c.stroke();
  c.globalAlpha = 1; c.lineWidth = 1.8;
  const arrows = new Map(); // those that look the same are one, with all their numbers
  for (const { from, to, number } of stage.jumps) {
    const ends = [made.X(from[i]), made.Y(from[j]), made.X(to[i]), made.Y(to[j])], key = ends.map((v) => Math.round(v / 3)).join();
    if (!arrows.has(key)) arrows.set(key, { ends, numbers: [] });
    arrows.get(key).numbers.push(number);
  }
  for (const { ends, numbers } of arrows.values()) arrow(c, ends.slice(0, 2), ends.slice(2), numbers);
  c.restore();
}

function arrow(c, a, b, numbers) {
  const turn = Math.atan2(b[1] - a[1], b[0] - a[0]), place = [0, 1].map((i) => a[i] + 0.36 * (b[i] - a[i]));
  const words = (numbers.length > 3 ? "… " : "") + numbers.slice(-3).join(", ");
  c.setLineDash([4, 3]);
  c.beginPath(); c.moveTo(...a); c.lineTo(...b); c.stroke();
  c.setLineDash([]);
  c.beginPath(); c.moveTo(...b);
  for (const s of [-1, 1]) c.lineTo(b[0] - 10 * Math.cos(turn + s * 0.4), b[1] - 10 * Math.sin(turn + s * 0.4));
  c.fill();
  c.font = "600 11px system-ui, sans-serif"; c.textAlign = "center"; c.textBaseline = "middle";
  const ink = c.fillStyle, wide = Math.max(18, c.measureText(words).width + 12);
  c.beginPath(); c.roundRect(place[0] - wide / 2, place[1] - 9, wide, 18, 9); c.fill();
  c.fillStyle = S.scene.colour("paper");
  c.fillText(words, place[0], place[1] + 0.5);
  c.fillStyle = ink;
}

// Add what came to the trail; a jump is a break in it, an arrow, a flash and a short film.
function follow(state) {
  for (const one of state.news) {
    if (!one.jump) continue;
    const [from, to] = one.jump, fall = one.fall || [];
    stage.jumps = [...stage.jumps, { from, to, number: one.number }].slice(-MOST_JUMPS);
    if (!calm.matches) stage.film = { from, fall, begun: performance.now() };
    const figure = byId("sketch-figure");
    figure.classList.add("flash");
    setTimeout(() => figure.classList.remove("flash"), 120);
  }
  stage.trail.push(...(state.asked === "move" ? state.way : [null, state.values]));
  if (stage.trail.length > MOST_TRAIL) stage.trail.splice(0, stage.trail.length - MOST_TRAIL);
}

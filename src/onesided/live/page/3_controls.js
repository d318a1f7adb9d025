// Handle, parameters, numbers and the list of what happened. One request of a kind is under way at a time; none of the
// turns of the handle is lost, and of parameters the latest values count.
const MOST_LISTED = 200, MOST_VALUES = 120;
const handle = byId("handle");

wire.handlers.model = (message) => {
  const written = S.model && editor.value !== lines(S.text); // a text that is not accepted stays in the editor
  const other = !S.model || S.model.names.join("\n") !== message.names.join("\n");
  S.model = message;
  S.shown = message.version; // a server that was started again counts anew
  S.names = new Map(message.names.map((name, i) => [name, i]));
  S.parameters = new Map(message.parameters.map((one) => [one.name, one.value]));
  S.scene = other ? null : S.scene;
  S.text = message.text;
  S.tried.clear();
  Object.assign(stage, { trail: [], jumps: [], film: null });
  if (other) Object.assign(stage, { drawing: null });
  document.title = `${message.title} – live`;
  byId("title").textContent = message.title;
  byId("file").textContent = message.file;
  byId("control").textContent = message.control;
  [handle.min, handle.max] = message.bounds.map(String);
  [byId("low").textContent, byId("high").textContent] = message.bounds.map((v) => told(v));
  handle.disabled = false;
  handle.setAttribute("aria-label", message.control);
  byId("saving").hidden = !message.saves;
  document.querySelector('[data-save="model"]').hidden = !message.text;
  byId("events").replaceChildren();
  byId("nothing").hidden = false;
  sliders();
  shown(message, written);
};

wire.handlers.state = (message) => {
  S.now = message;
  S.version = message.version;
  if (message.asked === "move") S.moving = false;
  if (message.asked === "change") { decided(message.serial, true); S.changing = false; stage.trail = []; stage.jumps = []; if (!S.note) trouble(""); }
  if (message.asked === "hello" || message.asked === "edit" || message.asked === "restart") { S.target = null; S.moving = S.changing = false; }
  if (S.target === null) handle.value = String(message.p);
  if (message.asked !== "rest") follow(message);
  list(message.news);
  numbers();
  picture();
  keep();
  pump();
};

// Values that were tried are kept once they are accepted; those that are refused go back in their sliders.
function decided(serial, accepted) {
  for (const [one, values] of S.tried) {
    if (one > serial) continue;
    S.tried.delete(one);
    if (accepted) for (const [name, value] of Object.entries(values)) S.parameters.set(name, value);
  }
}

function back() {
  const open = new Set([S.changes, ...S.tried.values()].flatMap((values) => Object.keys(values)));
  [...byId("parameters").children].forEach((line, i) => {
    const { name, range } = S.model.parameters[i];
    if (!open.has(name)) line.show(S.parameters.get(name), range, true);
  });
}

wire.handlers.error = (message) => {
  S.moving = S.changing = false;
  if (message.asked === "change") { decided(message.serial, false); back(); }
  if (message.asked === "edit" || (message.spot && message.asked !== "hello")) refused(message);
  else trouble(message.words);
  if (message.asked === "hello") { if (shelf) shelf.removeItem(KEPT); if (!wire.again) { wire.again = true; send("hello", { standing: null }); } }
  pump();
};
wire.handlers.cancelled = (message) => { S.moving = S.changing = false; if (message.asked === "change") { decided(message.serial, false); back(); } pump(); };

function pump() {
  if (!S.now) return;
  if (!S.changing && Object.keys(S.changes).length) {
    const serial = send("change", { parameters: S.changes });
    S.changing = serial > 0;
    if (S.changing) { S.tried.set(serial, S.changes); S.changes = {}; }
  }
  if (!S.moving && S.turns.length) {
    S.moving = send("move", { turns: S.turns.slice(-200) }) > 0;
    if (S.moving) S.turns = [];
  }
}

// Bring p somewhere: the value, and on the way there only where the sense of the hand changes.
function grab(p) {
  const value = Math.min(Math.max(p, S.model.bounds[0]), S.model.bounds[1]), n = S.turns.length;
  S.target = value;
  handle.value = String(value);
  if (n > 1 && (S.turns[n - 1] - S.turns[n - 2]) * (value - S.turns[n - 1]) >= 0) S.turns[n - 1] = value;
  else S.turns.push(value);
  pump();
}
handle.addEventListener("input", () => grab(Number(handle.value)));
handle.addEventListener("keydown", (event) => {
  const [low, high] = S.model ? S.model.bounds : [0, 1], step = (high - low) / 200;
  const moves = { ArrowRight: step, ArrowUp: step, ArrowLeft: -step, ArrowDown: -step, PageUp: 10 * step, PageDown: -10 * step };
  if (event.key in moves) grab(Number(handle.value) + moves[event.key]);
  else if (event.key === "Home" || event.key === "End") grab(event.key === "Home" ? low : high);
  else return;
  event.preventDefault();
});

function sliders() {
  const box = byId("parameters"), names = S.model.parameters.map((one) => one.name);
  byId("no-parameters").hidden = names.length > 0;
  const rows = [...box.children];
  if (rows.length === names.length && rows.every((one, i) => one.dataset.name === names[i])) {
    rows.forEach((one, i) => one.show(S.model.parameters[i].value, S.model.parameters[i].range));
    return;
  }
  box.replaceChildren(...S.model.parameters.map(slider));
}

function slider({ name, value, range }) {
  const bar = node("input", { type: "range", step: "any", "aria-label": name });
  const exact = node("input", { type: "number", step: "any", "aria-label": `${name}, as a number` });
  const line = node("div", { class: "parameter", "data-name": name }, node("label", { title: name }, name), bar, exact);
  line.show = (now, [low, high], always = false) => {
    if (!always && (document.activeElement === bar || document.activeElement === exact)) return;
    [bar.min, bar.max] = [Math.min(low, now), Math.max(high, now)].map(String);
    bar.value = String(now);
    exact.value = String(Number(now.toPrecision(6)));
  };
  const set = (now) => {
    if (!Number.isFinite(now)) return;
    S.changes[name] = now;
    pump();
  };
  bar.addEventListener("input", () => { exact.value = String(Number(Number(bar.value).toPrecision(4))); set(Number(bar.value)); });
  exact.addEventListener("change", () => {
    const now = exact.valueAsNumber;
    if (now < Number(bar.min)) bar.min = String(now);
    if (now > Number(bar.max)) bar.max = String(now);
    bar.value = String(now);
    set(now);
  });
  line.show(value, range);
  return line;
}

function fill(table, entries) {
  const body = table.tBodies[0];
  while (body.rows.length < entries.length) body.append(node("tr"));
  while (body.rows.length > entries.length) body.lastChild.remove();
  entries.forEach((entry, i) => {
    const line = body.rows[i];
    while (line.cells.length < entry.length) line.append(line.cells.length ? node("td") : node("th", { scope: "row" }));
    entry.forEach((words, k) => { if (line.cells[k].textContent !== words) line.cells[k].textContent = words; });
  });
}

// The largest value of a column along the path: what is round-off beside it is zero.
function size(name) {
  const column = S.scene ? S.scene.columns.get(name) : undefined;
  if (!column) return 0;
  if (!S.scene.sizes.has(name)) S.scene.sizes.set(name, column.reduce((most, v) => Math.max(most, Math.abs(v) || 0), 0));
  return S.scene.sizes.get(name);
}

function numbers() {
  const sure = S.now.exact; // between computed points numbers are about right
  const get = (name) => {
    const v = S.now.values[S.names.get(name)];
    if (!Number.isFinite(v)) return "–";
    return (sure ? "" : "≈ ") + told(Math.abs(v) < 1e-14 * size(name) ? 0 : v, sure ? 8 : 4);
  };
  byId("value").textContent = told(S.now.p);
  byId("blocked").textContent = S.now.note;
  handle.setAttribute("aria-valuetext", `${S.model.control} = ${told(S.now.p)}`);
  const names = S.scene ? S.scene.D.shown : [S.model.control, ...S.model.coordinates];
  fill(byId("values"), names.slice(0, MOST_VALUES).map((name) => [name, get(name)]));
  const words = S.scene ? S.scene.states : () => ["open", "closed, no force", "closed"];
  byId("contacts-box").hidden = !S.model.unilateral.length;
  fill(byId("constraints"), S.model.unilateral.slice(0, 60).map((name, k) => [name, words(name)[S.now.codes[k]], get("gap " + name), get("reaction " + name)]));
}

function list(news) {
  const box = byId("events");
  for (const one of news) {
    const button = node("button", { type: "button", title: one.why }, node("b", {}, String(one.number)), node("span", {}, one.words));
    button.addEventListener("click", () => grab(one.p));
    box.prepend(node("li", { class: one.event }, button));
  }
  while (box.children.length > MOST_LISTED) box.lastChild.remove();
  byId("nothing").hidden = box.children.length > 0;
}

// The wire to the session: requests out, answers in; where the server goes away the page says so and comes back.
const byId = (id) => document.getElementById(id);
const told = (value, digits = 6) => (Number.isFinite(value) ? String(Number(value.toPrecision(digits))).replaceAll("-", "−") : "–");
function node(tag, attributes, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes || {})) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

const S = {
  model: null, names: new Map(), now: null, version: 0, shown: 0, scene: null, note: "",
  turns: [], changes: {}, tried: new Map(), moving: false, changing: false, target: null, text: "", parameters: new Map(),
};
const KEPT = "onesided-live" + location.pathname;

const shelf = document.documentElement.dataset.bridge === "1" ? null : sessionStorage; // frames of notebooks have none
const wire = { socket: null, serial: 0, sent: new Map(), tries: 0, again: false, handlers: {} };
const bridged = document.documentElement.dataset.bridge === "1"; // inside a notebook: the widget carries messages

function send(kind, body = {}) {
  const serial = ++wire.serial;
  wire.sent.set(serial, performance.now());
  const message = { kind, serial, ...body };
  if (bridged) parent.postMessage({ onesided: message }, "*");
  else if (wire.socket && wire.socket.readyState === 1) wire.socket.send(JSON.stringify(message));
  else return 0;
  pulse();
  return serial;
}

function receive(message) {
  const begun = wire.sent.get(message.serial);
  if (begun !== undefined && !(message.kind === "model")) {
    byId("pulse").dataset.ms = (performance.now() - begun).toFixed(1);
    for (const old of wire.sent.keys()) if (old <= message.serial) wire.sent.delete(old);
  }
  (wire.handlers[message.kind] || (() => {}))(message);
  pulse();
}

let waiting = 0;
function pulse() {
  clearTimeout(waiting);
  const open = bridged || (wire.socket && wire.socket.readyState === 1);
  const show = (state, words) => { byId("pulse").dataset.state = state; byId("pulse").textContent = words; };
  if (!open) show("lost", wire.tries ? "no server" : "connecting …");
  else if (!wire.sent.size) show("live", "live");
  else waiting = setTimeout(() => show("busy", S.now ? "computing …" : "compiling …"), S.now ? 250 : 0);
}

// What is needed to go on elsewhere: after a reload, or with a server that was started again.
function standing() {
  if (!S.model || !S.now) return shelf && JSON.parse(shelf.getItem(KEPT) || "null");
  const q = S.model.coordinates.map((name) => S.now.values[S.names.get(name)]);
  const parameters = { ...Object.fromEntries(S.parameters), ...S.now.memory };
  return q.every(Number.isFinite) ? { text: S.text, parameters, p: S.now.p, q } : null;
}

function keep() {
  const now = standing();
  try { if (now && shelf) shelf.setItem(KEPT, JSON.stringify(now)); } catch { /* no room: a reload starts anew */ }
}

function connect() {
  if (bridged) {
    window.addEventListener("message", (event) => { if (event.source === parent && event.data.onesided) receive(event.data.onesided); });
    send("hello", { standing: null });
    return;
  }
  const socket = new WebSocket(`ws://${location.host}${location.pathname}socket`);
  wire.socket = socket;
  socket.onopen = () => {
    wire.tries = 0;
    wire.again = false;
    Object.assign(S, { moving: false, changing: false, turns: [], changes: {} });
    wire.sent.clear();
    trouble("");
    send("hello", { standing: standing() });
  };
  socket.onmessage = (event) => receive(JSON.parse(event.data));
  socket.onclose = (event) => {
    wire.tries += 1;
    wire.sent.clear();
    const why = event.code === 1013 ? "Too many pages are open: close one." : "The server does not answer: was it stopped? This page tries again, and goes on from where it is.";
    trouble(why, true);
    pulse();
    setTimeout(connect, Math.min(4000, 250 * 2 ** Math.min(wire.tries, 5)));
  };
}

function trouble(words, lost = false) {
  const box = byId("trouble");
  box.hidden = !words;
  box.textContent = words;
  box.dataset.lost = String(lost);
}

function good(words) {
  const box = byId("told");
  box.hidden = !words;
  box.textContent = words;
  if (words) setTimeout(() => { if (box.textContent === words) box.hidden = true; }, 5000);
}

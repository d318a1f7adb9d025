// What a reader may take along: pictures, the table, and the state shown as Python or as the start of a model file.
const fileName = (document.title.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 40) || "onesided");
const SHARP = 3; // pixels of a PNG for one of the screen

function picture(what, paint, canvas, format) {
  const w = Math.max(canvas.clientWidth, 320), h = Math.max(canvas.clientHeight, 200);
  const paper = (c) => { c.fillStyle = colour("paper"); c.fillRect(0, 0, w, h); c.font = FONT; c.lineJoin = "round"; paint(c, w, h); };
  if (format === "svg") {
    const pen = new SvgPen(w, h);
    paper(pen);
    save(`${fileName}-${what}.svg`, pen.file, "image/svg+xml");
    return;
  }
  const sheet = element("canvas", { width: w * SHARP, height: h * SHARP }), c = sheet.getContext("2d");
  c.setTransform(SHARP, 0, 0, SHARP, 0, 0);
  paper(c);
  sheet.toBlob((blob) => save(`${fileName}-${what}.png`, blob));
}

// A cell that no spreadsheet takes for a formula.
const cell = (text) => `"${(/^[=+@\-\t\r]/.test(text) ? "'" : "") + text.replaceAll('"', '""')}"`;

// Computed points only, one row each, numbers with all digits.
function csv() {
  const head = ["part", ...D.names, ...(D.stability ? ["negative modes"] : []), ...D.unilateral.map((name) => `state ${name}`)];
  const lines = [head.map(cell).join(",")], table = D.names.map((name) => columns.get(name));
  D.branches.forEach((b) => {
    for (let i = b.begin; i < b.end; i++) if (exact[i]) {
      const row = [cell(b.label), ...table.map((column) => (Number.isFinite(column[i]) ? column[i] : "")), ...(D.stability ? [degree[i]] : [])];
      lines.push([...row, ...D.unilateral.map((name, k) => states(name)[state(i, k)])].map(String).map((t) => (t.includes(", ") ? `"${t}"` : t)).join(","));
    }
  });
  return lines.join("\n") + "\n";
}

const whereWords = (f) => `${D.branches[branchOf(f)].label}, point ${source[f]}` + (exact[f] ? "" : ", interpolated after it: a start, not yet an equilibrium");
const missing = () => D.coordinates.filter((name) => !columns.has(name)).length;
const valueOf = (name, f) => { const text = String(columns.get(name)[f]); return /[.e]|Infinity|NaN/.test(text) ? text : text + ".0"; };
const parametersOf = (f) => Object.entries(D.parameters[D.stated[branchOf(f)]]);

function asPython(f) {
  const part = D.branches.length > 1 ? `.paths[${branchOf(f)}]` : "";
  const table = (prefix) => `{${D.coordinates.map((name) => `${JSON.stringify(name)}: ${valueOf(prefix + name, f)}`).join(", ")}}`;
  const lines = ["import onesided", "", `# ${whereWords(f)}`];
  lines.push(D.model ? 'system, task = onesided.load("model.toml")  # the model at the end of this page' : "system = ...  # the one that was stated in Python");
  const own = parametersOf(f);
  if (own.length) lines.push(`system = system.replace(parameters={${own.map(([name, text]) => `${JSON.stringify(name)}: ${text}`).join(", ")}})`);
  const many = missing() > 0;
  if (many) lines.push('result = onesided.load_result("results")  # the folder of this result');
  lines.push(`q = ${many ? `result${part}.q[${source[f]}]` : table("")}`);
  if (D.velocities) {
    lines.push(`v = ${many ? `result.v[${source[f]}]` : table("velocity ")}`);
    const t = columns.get("t"), end = t[f] < t[M - 1] ? valueOf("t", M - 1) : `${valueOf("t", f)} + ${t[M - 1] - t[0] || 1}`;
    lines.push(`motion = onesided.simulate(system, q, v, (${valueOf("t", f)}, ${end}), control=${valueOf(D.parameter, f)})`);
  } else {
    lines.push(`found = onesided.solve(system, q, p=${valueOf(D.control, f)}, throw=False)  # found.status: what is special`);
    lines.push("state = found.value");
  }
  return lines.join("\n") + "\n";
}

function asToml(f) {
  const key = (name) => (/^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name));
  const lines = [`# ${whereWords(f)}`, "# put these keys into the model file; its tables keep their other keys"];
  const own = D.model ? parametersOf(f) : [];
  if (own.length) lines.push("[parameters]", ...own.map(([name, text]) => `${key(name)} = ${text}`), "");
  lines.push("[start]");
  if (missing()) lines.push(`# ${missing()} coordinates are not on this page: take them from the result`);
  for (const name of D.coordinates) if (columns.has(name)) lines.push(`${key(name)} = ${valueOf(name, f)}`);
  lines.push("", "[control]", `start = ${valueOf(D.parameter, f)}`);
  if (D.velocities) {
    lines.push("", "[motion.velocities]");
    for (const name of D.coordinates) if (columns.has("velocity " + name)) lines.push(`${key(name)} = ${valueOf("velocity " + name, f)}`);
  }
  return lines.join("\n") + "\n";
}

// A text to copy or to save, shown in a dialog.
function offer(title, text, name) {
  const dialog = byId("text");
  byId("text-title").textContent = title;
  byId("text-body").value = text;
  byId("text-copy").onclick = async () => {
    byId("text-body").select();
    const done = await (navigator.clipboard ? navigator.clipboard.writeText(text).then(() => true, () => false) : false) || document.execCommand("copy");
    byId("text-copy").textContent = done ? "Copied" : "Press Ctrl + C";
  };
  byId("text-copy").textContent = "Copy";
  byId("text-save").onclick = () => save(name, text, "text/plain");
  dialog.showModal();
}

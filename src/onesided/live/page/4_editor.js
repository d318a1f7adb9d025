// The text of the model: run on change, errors at their line; and files to save.
const PAUSE_MS = 350, LINE = 20, PAD = 8;
const editor = byId("text");
let later = 0;

// As a browser writes the ends of lines.
const lines = (text) => text.replace(/\r\n?/g, "\n");

function shown(model, written) {
  byId("model").hidden = !model.text;
  const text = lines(model.text);
  if (!written && editor.value !== text) editor.value = text;
  if (editor.value === text) right();
  gutter();
}

function gutter() {
  const count = editor.value.split("\n").length;
  byId("gutter").textContent = Array.from({ length: count }, (_, i) => i + 1).join("\n");
  scrolled();
}

function scrolled() {
  byId("gutter").scrollTop = editor.scrollTop;
  const mark = byId("wrong-line");
  if (!mark.hidden) mark.style.top = `${PAD + (Number(mark.dataset.line) - 1) * LINE - editor.scrollTop}px`;
}

function right() {
  byId("wrong").hidden = byId("wrong-line").hidden = true;
  editor.removeAttribute("aria-invalid");
  byId("editor-state").textContent = "";
}

function refused(message) {
  const mark = byId("wrong-line");
  byId("wrong").textContent = message.words;
  byId("wrong").hidden = false;
  editor.setAttribute("aria-invalid", "true");
  byId("editor-state").textContent = message.spot ? `– wrong at line ${message.spot[0]}; the last model that is right stays` : "– not right; the last model that is stays";
  mark.hidden = !message.spot;
  if (message.spot) mark.dataset.line = String(message.spot[0]);
  scrolled();
}

function edited() {
  clearTimeout(later);
  gutter();
  byId("editor-state").textContent = "…";
  later = setTimeout(() => send("edit", { text: editor.value }), PAUSE_MS);
}
editor.addEventListener("input", edited);
editor.addEventListener("scroll", scrolled);
editor.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  event.preventDefault();
  clearTimeout(later);
  send("edit", { text: editor.value });
});
byId("wrong").addEventListener("click", () => {
  const line = Number(byId("wrong-line").dataset.line || 1);
  const before = editor.value.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  editor.focus();
  editor.setSelectionRange(before, before);
  editor.scrollTop = Math.max(0, (line - 5) * LINE);
});

const ENDINGS = { model: ".toml", report: ".html", picture: ".svg" };
const asking = byId("asking");

function ask(what, name, words, replace) {
  Object.assign(asking.dataset, { what, replace: replace ? "1" : "" });
  byId("asking-title").textContent = `Save ${what}`;
  byId("asking-name").value = name;
  byId("asking-words").textContent = words;
  byId("asking-yes").textContent = replace ? "Replace it" : "Save";
  if (!asking.open) asking.showModal();
  byId("asking-name").select();
}
for (const button of document.querySelectorAll("[data-save]")) {
  const what = button.dataset.save;
  button.addEventListener("click", () => {
    const stem = (S.model.file || "live").replace(/\.toml$/, "").replace(/[^A-Za-z0-9_ .+()-]/g, "-") || "live";
    ask(what, `${stem}${what === "model" ? "-changed" : ""}${ENDINGS[what]}`, what === "picture" ? "Ending .svg, .pdf or .png; into the folder of the model." : "Into the folder of the model.", false);
  });
}
function saved() {
  const { what, replace } = asking.dataset, name = byId("asking-name").value.trim();
  asking.close();
  send("save", { what, name, replace: replace === "1" && name === asking.dataset.name });
}
byId("asking-yes").addEventListener("click", saved);
byId("asking-name").addEventListener("keydown", (event) => { if (event.key === "Enter") { event.preventDefault(); saved(); } });
wire.handlers.occupied = (message) => { asking.dataset.name = message.name; ask(message.what, message.name, "There is a file of this name.", true); };
wire.handlers.saved = (message) => good(`Saved: ${message.name} in ${message.folder}`);

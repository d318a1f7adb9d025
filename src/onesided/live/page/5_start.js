// Begin.
byId("restart").addEventListener("click", () => { S.target = null; send("restart"); });
byId("theme").addEventListener("click", () => {
  const dark = getComputedStyle(document.documentElement).getPropertyValue("--dark").trim() === "1";
  document.documentElement.dataset.theme = dark ? "light" : "dark";
  again();
});
// Colours may be remembered by the parts that draw: they are made anew.
function again() {
  if (!S.scene) return;
  const parts = drawn();
  S.scene = { ...S.scene, ...parts };
  chart();
  mechanism();
  whole();
}
for (const id of ["x", "y"]) byId(id).addEventListener("change", () => { stage.chart.zoom = null; whole(); });
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", again);
new ResizeObserver(() => whole()).observe(byId("diagram"));
new ResizeObserver(() => picture()).observe(byId("sketch-figure"));
window.addEventListener("pagehide", keep);
connect();

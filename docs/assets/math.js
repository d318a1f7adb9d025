/* Formulas are typeset in the page by KaTeX, which lies beside it: no network. */
document.addEventListener("DOMContentLoaded", () => {
  const macros = { "\\T": "^{\\mathrm{T}}", "\\L": "\\mathcal{L}" };
  for (const place of document.querySelectorAll(".arithmatex")) {
    const text = place.textContent.trim();
    katex.render(text.slice(2, -2), place, { displayMode: text.startsWith("\\["), macros, throwOnError: false });
  }
});

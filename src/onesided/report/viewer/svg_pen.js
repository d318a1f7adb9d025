// A pen that writes SVG where a canvas would be painted: as much of its context as our drawings use.
const LOOKS = { fillStyle: "#000", strokeStyle: "#000", lineWidth: 1, globalAlpha: 1, font: FONT, textAlign: "start",
  textBaseline: "alphabetic", lineCap: "butt", lineJoin: "miter", dash: [], turns: "", clipped: "" };
const ANCHORS = new Map([["center", "middle"], ["right", "end"], ["end", "end"]]);
const LIFTS = new Map([["top", 0.8], ["middle", 0.35], ["bottom", -0.2]]); // of the letters, in sizes of the font

const SPACE = ["http:", "", "www.w3.org", "2000", "svg"].join("/"); // a name, not an address: pages hold no addresses

class SvgPen {
  constructor(w, h) {
    Object.assign(this, LOOKS, { w, h, parts: [], stack: [], d: "", clips: 0 });
    this.ruler = document.createElement("canvas").getContext("2d");
  }

  n(value) { return String(Math.round(value * 100) / 100); }
  safe(text) { return String(text).replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll('"', "&quot;"); }
  save() { this.stack.push(Object.fromEntries(Object.keys(LOOKS).map((key) => [key, this[key]]))); }
  restore() { Object.assign(this, this.stack.pop()); }
  translate(x, y) { this.turns += ` translate(${this.n(x)} ${this.n(y)})`; }
  rotate(angle) { this.turns += ` rotate(${this.n((angle * 180) / Math.PI)})`; }
  setLineDash(dash) { this.dash = dash; }
  beginPath() { this.d = ""; }
  closePath() { this.d += "Z"; }
  moveTo(x, y) { this.d += `M${this.n(x)} ${this.n(y)}`; }
  lineTo(x, y) { this.d += `${this.d ? "L" : "M"}${this.n(x)} ${this.n(y)}`; }
  rect(x, y, w, h) { this.moveTo(x, y); this.lineTo(x + w, y); this.lineTo(x + w, y + h); this.lineTo(x, y + h); this.closePath(); }
  fillRect(x, y, w, h) { this.beginPath(); this.rect(x, y, w, h); this.fill(); }
  clearRect() { this.d = ""; }
  measureText(text) { this.ruler.font = this.font; return this.ruler.measureText(text); }

  arc(x, y, r, begin, end) {
    const stop = Math.min(end, begin + 2 * Math.PI), at = (turn) => `${this.n(x + r * Math.cos(turn))} ${this.n(y + r * Math.sin(turn))}`;
    const middle = (begin + stop) / 2, sweep = `A${this.n(r)} ${this.n(r)} 0 0 1 `;
    this.d += `${this.d && !this.d.endsWith("Z") ? "L" : "M"}${at(begin)}${sweep}${at(middle)}${sweep}${at(stop)}`;
  }

  clip() {
    this.clips += 1;
    this.parts.push(`<clipPath id="clip${this.clips}"><path d="${this.d}"/></clipPath>`);
    this.clipped = ` clip-path="url(#clip${this.clips})"`;
  }

  around() {
    const alpha = this.globalAlpha < 1 ? ` opacity="${this.n(this.globalAlpha)}"` : "";
    return alpha + (this.turns ? ` transform="${this.turns.trim()}"` : "") + this.clipped;
  }

  line() {
    const dash = this.dash.length ? ` stroke-dasharray="${this.dash.join(" ")}"` : "";
    return `stroke="${this.safe(this.strokeStyle)}" stroke-width="${this.n(this.lineWidth)}" stroke-linecap="${this.lineCap}" stroke-linejoin="${this.lineJoin}"${dash}`;
  }

  stroke() { if (this.d) this.parts.push(`<path d="${this.d}" fill="none" ${this.line()}${this.around()}/>`); }
  fill() { if (this.d) this.parts.push(`<path d="${this.d}" fill="${this.safe(this.fillStyle)}"${this.around()}/>`); }

  text(words, x, y, look) {
    const size = parseFloat(this.font.match(/[0-9.]+px/)[0]), lift = (LIFTS.get(this.textBaseline) || 0) * size;
    const weight = this.font.startsWith("bold") || this.font.startsWith("600") ? ' font-weight="600"' : "";
    const anchor = ANCHORS.get(this.textAlign) || "start";
    this.parts.push(`<text x="${this.n(x)}" y="${this.n(y + lift)}" font-family="system-ui, sans-serif" font-size="${size}"${weight} text-anchor="${anchor}" ${look}${this.around()}>${this.safe(words)}</text>`);
  }

  fillText(words, x, y) { this.text(words, x, y, `fill="${this.safe(this.fillStyle)}"`); }
  strokeText(words, x, y) { this.text(words, x, y, `fill="none" ${this.line()}`); }

  get file() {
    return `<svg xmlns="${SPACE}" width="${this.w}" height="${this.h}" viewBox="0 0 ${this.w} ${this.h}">\n${this.parts.join("\n")}\n</svg>\n`;
  }
}

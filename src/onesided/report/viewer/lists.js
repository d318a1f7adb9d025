// The lists of what happens and of branches, each with a filter that the diagram obeys.
const holds = (text, words) => words.toLowerCase().split(/\s+/).every((word) => text.toLowerCase().includes(word));

class EventList {
  constructor(list, filter, kind, changed) {
    Object.assign(this, { items: [...list.querySelectorAll("li")], filter, kind, here: -1 });
    this.buttons = [...list.querySelectorAll("button")];
    for (const [name, words] of D.kinds) kind.append(element("option", { value: name }, words));
    const again = () => { this.apply(); changed(); };
    filter.addEventListener("input", again);
    kind.addEventListener("change", again);
    filter.parentElement.parentElement.hidden = this.buttons.length < 6;
  }

  hides(e) { return (this.kind.value && e.kind !== this.kind.value) || !holds(e.words, this.filter.value.trim()); }
  apply() { this.items.forEach((item, i) => { item.hidden = this.buttons.length > 0 && this.hides(D.events[i]); }); }

  mark(here) {
    if (here === this.here) return;
    if (this.here >= 0) this.buttons[this.here].removeAttribute("aria-current");
    if (here >= 0) this.buttons[here].setAttribute("aria-current", "true");
    this.here = here;
  }
}

const MOST_ALIKE = 12; // of more branches, those that look like another are pale until asked for
class BranchList {
  constructor(list, filter, alike, go, changed) {
    Object.assign(this, { filter, alike, told: D.branches.map((b) => this.words(b)) });
    this.items = D.branches.map((b, i) => {
      const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
      swatch.style.background = D.branches.length > MOST_ALIKE ? "var(--muted)" : `var(--c${b.colour % 6})`;
      const button = element("button", { type: "button" }, swatch, `${b.label}`, element("small", {}, this.told[i].slice(b.label.length + 2)));
      button.addEventListener("click", () => go(b.begin));
      return element("li", {}, button);
    });
    list.append(...this.items);
    for (const input of [filter, alike]) input.addEventListener("input", () => { this.apply(); changed(); });
    alike.checked = D.branches.length <= MOST_ALIKE;
    alike.parentElement.hidden = !D.branches.some((b) => b.alike);
    filter.parentElement.parentElement.hidden = D.branches.length < 6;
    this.apply();
  }

  words({ begin, end, label }) {
    const control = columns.get(D.control), worst = D.stability ? degree.subarray(begin, end) : [];
    const [low, high] = worst.length ? [Math.min(...sampledFrom(worst)), Math.max(...sampledFrom(worst))] : [0, 0];
    const told = !D.stability ? "" : high === 0 ? ", stable" : low === 0 ? ", partly stable" : ", unstable";
    return `${label}, ${D.control} ${plain(control[begin], 4)} … ${plain(control[end - 1], 4)}${told}`;
  }

  hides(i) { return (D.branches[i].alike && !this.alike.checked) || !holds(this.told[i], this.filter.value.trim()); }
  apply() { this.items.forEach((item, i) => { item.hidden = this.hides(i); }); }
  mark(branch) { this.items.forEach((item, i) => item.firstChild.toggleAttribute("data-here", i === branch)); }
}

// Few enough numbers for functions of many arguments.
const sampledFrom = (values) => { const step = Math.ceil(values.length / 5000); return values.filter((_, i) => i % step === 0 || i === values.length - 1); };

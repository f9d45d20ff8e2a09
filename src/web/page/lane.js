/* SPDX-License-Identifier: Apache-2.0 */
// The lane of a GPU: identity and state, busy, power, memory by owner.
import { STEPS, Trace } from "./draw.js";
import { detailsOf, sayAgain } from "./details.js";
import { GIB, gib, known, make, say, whole } from "./words.js";

const HELD = 0x4 | 0x8 | 0x20 | 0x40 | 0x80;
const GONE = new Set(["lost", "error"]);
const SILENT = new Set([...GONE, "hung", "stale"]);
export const isSilent = (device) => SILENT.has(device.state);

// Whether clocks are held back by heat or a brake, or more than slightly by the
// power cap.
function isHeld(device) {
  const reasons = device.clocks_event_reasons & HELD;
  return Boolean(reasons) && (Boolean(reasons & ~0x4) || !device.slight);
}

function mean(values) {
  const there = values.filter(known);
  return there.length ? there.reduce((a, b) => a + b, 0) / there.length : null;
}

export class Lane {
  constructor(identity, toggle) {
    this.identity = identity;
    this.series = { busy: [], power: [], held: [] };
    this.frame = null;
    this.open = false;
    this.build(toggle);
  }

  build(toggle) {
    const { label, model, name } = this.identity;
    this.element = make("li", "lane");
    this.who = make("button", "who");
    this.who.type = "button";
    this.who.setAttribute("aria-expanded", "false");
    this.who.addEventListener("click", () => toggle(this));
    this.state = make("span", "state", "reading");
    this.facts = make("span", "facts");
    this.who.append(make("span", "index", label), make("span", "model", model ?? name), this.state, this.facts);
    this.busy = this.graph("busy");
    this.power = this.graph("power");
    this.busyText = this.figures("utilisation");
    this.powerText = this.figures("power");
    this.buildMemory();
    this.why = make("div", "why");
    this.why.hidden = true;
    this.busy.box.append(this.why);
    this.element.append(this.who, this.busy.box, this.busyText.box, this.power.box, this.powerText.box, this.memory);
  }

  graph(kind) {
    const box = make("div", `graph ${kind}`), canvas = make("canvas");
    canvas.setAttribute("aria-hidden", "true");
    box.append(canvas);
    return { box, trace: new Trace(canvas, kind) };
  }

  figures(what) {
    const box = make("div", "figures"), value = make("span", "value live", "—"), of = make("span", "of");
    box.append(make("span", "sr", `${what} `), value, of);
    return { box, value, of };
  }

  buildMemory() {
    this.memory = make("div", "memory");
    this.bar = make("div", "bar");
    this.bar.setAttribute("role", "img");
    this.used = make("span", "value");
    this.shares = make("ul", "shares");
    this.memory.append(this.bar, this.used, this.shares);
  }

  // Takes over a history: arrays with the newest step last.
  remember(history) {
    const past = history ?? {};
    this.series.busy = [...(past.gpu_utilization_percent ?? [])];
    this.series.power = [...(past.power_watts ?? [])];
    this.series.held = (past.held ?? this.series.busy).map((value) => past.held !== undefined && value === 1);
  }

  add(device, columns) {
    const held = isHeld(device), silent = isSilent(device);
    const values = {
      busy: silent ? null : device.gpu_utilization_percent ?? null,
      power: silent ? null : device.power_watts ?? null, held,
    };
    for (const [name, array] of columns ? Object.entries(this.series) : []) {
      for (let i = 1; i < columns; i++) array.push(name === "held" ? false : null);
      array.push(values[name]);
      if (array.length > STEPS) array.splice(0, array.length - STEPS);
    }
    this.frame = device;
    this.values = values;
  }

  step(columns) {
    if (this.scale()) { this.redraw(); return; }
    this.busy.trace.step(columns, this.values.busy, this.values.held);
    this.power.trace.step(columns, this.values.power, this.values.held);
  }

  // Sets the graph's upper edge to the power limit; returns whether it changed.
  scale() {
    const f = this.frame ?? {};
    const top = f.power_limit_enforced_watts ?? f.power_limit_watts ??
      Math.max(100, ...this.series.power.filter(known));
    const changed = top !== this.power.trace.top;
    this.power.trace.top = top;
    return changed;
  }

  redraw() {
    this.scale();
    this.busy.trace.draw(this.series.busy, this.series.held);
    this.power.trace.draw(this.series.power, this.series.held);
  }

  tell() {
    const f = this.frame;
    if (!f) return;
    const gone = GONE.has(f.state);
    this.element.className = `lane s-${f.state}` + (f.slight ? " slight" : "") + (gone ? " gone" : "");
    this.who.setAttribute("aria-label", `GPU ${this.identity.label} ${this.identity.model ?? ""} ${f.words}`);
    say(this.state, `${f.glyph} ${f.words}`);
    this.state.title = f.words;
    this.why.hidden = !gone;
    say(this.why, f.why ?? "");
    say(this.facts, gone ? "" : this.factsText());
    this.tellFigures();
    this.tellMemory();
  }

  factsText() {
    const f = this.frame;
    return [[f.temperature_celsius, "°C"], [known(f.sm_clock_hertz) ? f.sm_clock_hertz / 1e6 : null, "MHz"]]
      .filter(([value]) => known(value)).map(([value, unit]) => `${whole(value)} ${unit}`).join(" · ");
  }

  tellFigures() {
    const f = this.frame, limit = f.power_limit_enforced_watts ?? f.power_limit_watts;
    const usual = mean(this.series.busy);
    say(this.busyText.value, `${whole(f.gpu_utilization_percent)} %`);
    say(this.busyText.of, usual === null ? "" : `mean ${whole(usual)}`);
    say(this.powerText.value, `${whole(f.power_watts)} W`);
    say(this.powerText.of, known(limit) ? `of ${whole(limit)}` : "");
    this.busyText.box.classList.toggle("dim", !f.gpu_utilization_percent);
  }

  tellMemory() {
    const f = this.frame, total = f.memory_total_bytes, owners = f.owners ?? [];
    const text = `${gib(f.memory_used_bytes)} of ${whole(known(total) ? total / GIB : null)} GiB` +
      (f.memory_unified ? " unified" : "");
    say(this.used, text);
    this.bar.setAttribute("aria-label",
      `memory ${text}` + owners.map((o) => `, ${o.name} ${gib(o.bytes)}`).join(""));
    while (this.bar.children.length > owners.length) this.bar.lastChild.remove();
    while (this.shares.children.length > owners.length) this.shares.lastChild.remove();
    owners.forEach((owner, i) => this.tellOwner(owner, i, total));
  }

  tellOwner(owner, i, total) {
    const part = this.bar.children[i] ?? this.bar.appendChild(make("i"));
    part.style.width = `${total > 0 ? (100 * owner.bytes) / total : 0}%`;
    part.style.background = `var(--owner-${owner.owner})`;
    let item = this.shares.children[i];
    if (!item) {
      item = this.shares.appendChild(make("li"));
      item.append(make("i", "swatch"), make("span"));
    }
    item.firstChild.style.background = `var(--owner-${owner.owner})`;
    say(item.lastChild, `${owner.name} ${gib(owner.bytes)}`);
  }

  // Shows the values of `back` steps ago; null means the current ones.
  point(back) {
    const at = (series) => series[series.length - 1 - back];
    if (back === null) { this.tell(); return; }
    say(this.busyText.value, `${whole(at(this.series.busy))} %`);
    say(this.powerText.value, `${whole(at(this.series.power))} W`);
  }

  toggle(open) {
    this.open = open;
    this.who.setAttribute("aria-expanded", String(open));
    this.details?.remove();
    this.details = null;
  }

  // While the lane is open, shows all values: the last details and processes.
  tellDetails(values, processes) {
    const details = detailsOf(this.identity, values, this.frame, processes);
    if (this.details && sayAgain(this.details, details)) return;
    this.details?.remove();
    this.details = details;
    this.element.append(details);
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
// The list of hosts: one row per host, those in trouble first.
import { age, kilowatts, known, make, part, say } from "./words.js";

const bad = { lost: "fail", error: "fail", hung: "fail", fault: "fail", alert: "fail",
  hot: "warn", degraded: "warn", held: "warn", stale: "warn" };
const STALE = 5; // seconds without a frame
// A host that has recovered keeps its position this long (as in `top --host`).
const STAYS_MS = 10000;

export function isAway(host) {
  return Boolean(host.why) || !(host.age_seconds < STALE * 3);
}

function rank(host) {
  if (isAway(host)) return 0;
  const levels = host.gpus.map((gpu) => bad[gpu.state]);
  return levels.includes("fail") ? 1 : levels.includes("warn") ? 2 : 3;
}

function square(gpu) {
  const level = bad[gpu.state], element = make("span", `square ${level ?? ""}`);
  element.textContent = level ? gpu.glyph : "";
  element.title = gpu.words;
  if (!level) {
    const busy = Math.round(gpu.busy ?? 0);
    element.style.background = `color-mix(in srgb, var(--work-4) ${busy}%, transparent)`;
  }
  return element;
}

function stateOf(host) {
  if (host.why) return host.why;
  if (isAway(host)) return "no frames";
  const found = host.gpus.filter((gpu) => bad[gpu.state]);
  if (!host.gpus.length) return "no GPU";
  return found.length ? found.map((gpu) => `GPU ${gpu.label} ${gpu.words}`).join(", ")
    : `${host.gpus.filter((gpu) => gpu.state === "busy").length} of ${host.gpus.length} busy`;
}

class Row {
  constructor(name) {
    this.element = make("tr");
    this.cells = Array.from({ length: 6 }, (_, i) => this.element.appendChild(make("td", i > 3 ? "num" : "")));
    this.link = this.cells[0].appendChild(make("a", "", name));
    this.told = this.cells[0].appendChild(make("span", "told"));
    this.bar = make("div", "bar");
    this.used = make("span");
    this.cells[3].append(this.bar, this.used);
    this.part = this.bar.appendChild(make("i"));
    this.bar.setAttribute("role", "img");
    this.rank = Infinity;
  }

  // Moves a host up at once when its state gets worse, but down only some time
  // after it gets better, so that brief changes do not move rows.
  place(host, now) {
    const at = host.why === "connecting" ? Infinity : rank(host);
    if (at <= this.rank) this.better = undefined;
    else this.better ??= now;
    if (this.better === undefined || now - this.better >= STAYS_MS) this.rank = at;
  }

  tell(host) {
    const level = ["fail-text", "fail-text", "warn-text", ""][rank(host)];
    say(this.link, host.name);
    say(this.told, host.told ? ` calls itself ${host.told}` : "");
    this.link.href = `#host=${encodeURIComponent(host.name)}`;
    this.tellSquares(host);
    say(this.cells[2], stateOf(host));
    this.cells[2].className = level;
    const total = host.memory_total_bytes, text = part(host.memory_used_bytes, total);
    say(this.used, text);
    this.bar.setAttribute("aria-label", `memory ${text}`);
    this.part.style.width = `${total > 0 && known(host.memory_used_bytes)
      ? (100 * host.memory_used_bytes) / total : 0}%`;
    say(this.cells[4], kilowatts(host.power_watts));
    say(this.cells[5], age(host.age_seconds));
    this.element.classList.toggle("dim", isAway(host));
  }

  tellSquares(host) {
    const text = JSON.stringify(host.gpus);
    if (text === this.squares) return;
    this.squares = text;
    this.cells[1].replaceChildren(...host.gpus.map(square),
      make("span", "sr", `${host.gpus.length} GPUs`));
  }
}

export class Hosts {
  constructor(root, picker) {
    this.body = root.querySelector("tbody");
    this.picker = picker;
    this.rows = new Map();
    this.list = [];
    picker.addEventListener("change", () => {
      location.hash = picker.value ? `host=${encodeURIComponent(picker.value)}` : "";
    });
  }

  put(list) { this.list = list; }
  get many() { return this.list.length > 1; }

  find(name) { return this.list.find((host) => host.name === name); }

  tell(current) {
    const focus = document.activeElement, now = performance.now();
    for (const host of this.list) {
      if (!this.rows.has(host.name)) this.rows.set(host.name, new Row(host.name));
      this.rows.get(host.name).place(host, now);
    }
    const place = (host) => this.rows.get(host.name).rank;
    const sorted = [...this.list].sort((a, b) => place(a) - place(b) || a.name.localeCompare(b.name));
    sorted.forEach((host, i) => {
      const row = this.rows.get(host.name);
      row.tell(host);
      if (this.body.children[i] !== row.element) this.body.insertBefore(row.element, this.body.children[i] ?? null);
    });
    if (focus !== document.activeElement && focus.isConnected) focus.focus();
    for (const [name, row] of this.rows)
      if (!this.list.some((host) => host.name === name)) { row.element.remove(); this.rows.delete(name); }
    this.tellPicker(current);
  }

  tellPicker(current) {
    const names = ["", ...this.list.map((host) => host.name)], key = names.join("\n");
    if (key !== this.names)
      this.picker.replaceChildren(...names.map((name) => new Option(name || "all hosts", name)));
    this.names = key;
    this.picker.value = current ?? "";
  }
}

/* SPDX-License-Identifier: Apache-2.0 */
// The table of processes, sorted by one column and filtered by words. Rows are
// kept and moved, never rebuilt.
import { filterOf } from "./filter.js";
import { duration, make, say, size, whole } from "./words.js";

const percent = (v) => whole(v);
// The columns: title, name of the value, its format, and the CSS class.
const columns = [
  ["GPU", "label", (v) => v, ""], ["PID", "pid", (v) => String(v), "num"], ["USER", "user", (v) => v ?? "—", ""],
  ["GPU MEM", "gpu_memory_bytes", size, "num"], ["SM%", "sm_utilization_percent", percent, "num"],
  ["BW%", "memory_utilization_percent", percent, "num optional"], ["CPU%", "cpu_percent", percent, "num optional"],
  ["HOST", "host_memory_bytes", size, "num optional"], ["TIME", "running_seconds", duration, "num optional"],
  ["COMMAND", "command", (v) => v ?? "—", "command"],
];
const up = new Set(["label", "user", "command", "pid"]);

function order(a, b) {
  if (a === b) return 0;
  if (a === undefined || a === null) return 1;
  if (b === undefined || b === null) return -1;
  return typeof a === "number" ? a - b : String(a).localeCompare(String(b), "en", { numeric: true });
}

export class Processes {
  constructor(root) {
    this.root = root;
    this.body = root.querySelector("tbody");
    this.rows = new Map();
    this.list = [];
    this.by = "label";
    this.descending = false;
    this.holds = () => true;
    this.buildHeadings();
    root.querySelector("#filter").addEventListener("input", (event) => this.filter(event.target.value));
  }

  buildHeadings() {
    this.headings = new Map();
    for (const [title, key, , kind] of columns) {
      const heading = make("th", kind), button = make("button", "", title);
      heading.scope = "col";
      button.type = "button";
      button.addEventListener("click", () => this.sort(key));
      heading.append(button);
      this.headings.set(key, heading);
      this.root.querySelector("thead tr").append(heading);
    }
    this.markHeading();
  }

  markHeading() {
    for (const [key, heading] of this.headings) {
      if (key === this.by) heading.setAttribute("aria-sort", this.descending ? "descending" : "ascending");
      else heading.removeAttribute("aria-sort");
    }
  }

  sort(key) {
    this.descending = key === this.by ? !this.descending : !up.has(key);
    this.by = key;
    this.markHeading();
    this.tell();
  }

  filter(text) {
    const bad = this.root.querySelector("#bad");
    try {
      this.holds = filterOf(text);
      say(bad, "");
    } catch (error) {
      say(bad, error.message);
    }
    this.tell();
  }

  // Takes a "processes" event; null if there is no host.
  put(event) {
    this.list = (event?.processes ?? []).map((p) => ({ ...p, command: p.command ?? p.name }));
    this.nobody = event?.none;
    this.heard = Boolean(event);
  }

  // Returns the processes of a GPU, including those of its MIG devices.
  of(label) {
    return this.list.filter((p) => p.label === label || p.label.startsWith(`${label}:`));
  }

  shown() {
    const sign = this.descending ? -1 : 1;
    return this.list.filter(this.holds).sort((a, b) => sign * order(a[this.by], b[this.by]) ||
      order(a.label, b.label) || a.pid - b.pid);
  }

  rowOf(p) {
    const key = `${p.label} ${p.pid}`;
    let row = this.rows.get(key);
    if (row) return row;
    row = make("tr");
    for (const [, , , kind] of columns) row.append(make("td", kind));
    row.firstChild.append(make("i", "swatch"), make("span"));
    this.rows.set(key, row);
    row.key = key;
    return row;
  }

  tell() {
    const shown = this.shown(), none = this.root.querySelector("#none"), there = new Set();
    shown.forEach((p, i) => {
      const row = this.rowOf(p);
      there.add(row.key);
      columns.forEach(([, key, write], c) =>
        say(c ? row.children[c] : row.firstChild.lastChild, write(p[key])));
      row.firstChild.firstChild.style.background = `var(--owner-${p.owner})`;
      if (this.body.children[i] !== row) this.body.insertBefore(row, this.body.children[i] ?? null);
    });
    for (const [key, row] of this.rows)
      if (!there.has(key)) { row.remove(); this.rows.delete(key); }
    say(this.root.querySelector("#shown"),
      shown.length === this.list.length ? String(this.list.length) : `${shown.length} of ${this.list.length}`);
    none.hidden = !this.heard || shown.length > 0;
    say(none, this.list.length ? "No process matches the filter." : this.nobody === undefined ||
      /no running/i.test(this.nobody) ? "Nothing runs on these GPUs." : this.nobody);
  }
}

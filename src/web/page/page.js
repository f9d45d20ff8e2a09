/* SPDX-License-Identifier: Apache-2.0 */
// The page: reads the stream of events and shows them. Rows are kept; a frame
// changes only texts and one step of each graph. Nothing is drawn while the
// page is hidden.
import { STEPS, forgetColours } from "./draw.js";
import { Hosts } from "./hosts.js";
import { Lane, isSilent } from "./lane.js";
import { Processes } from "./processes.js";
import { GIB, age, clock, kilowatts, known, make, say, whole } from "./words.js";

const $ = (id) => document.getElementById(id);
const asked = () => new URLSearchParams(location.hash.slice(1)).get("host");
const state = {
  source: null, retry: null, // the stream, and the timer that reconnects
  host: asked(),             // the host shown; null: this machine
  refused: false,            // the hub has no such host
  hello: null, frame: null, details: new Map(), alerts: [],
  lanes: new Map(),          // by uuid
  last: 0,                   // time of the last frame, by the machine's clock
  heard: 0,                  // when that frame arrived, by our own clock
  pointing: null,
};
const hosts = new Hosts($("hosts"), $("host"));
const processes = new Processes($("processes"));

// ---- the connection ----

const isList = () => hosts.many && !state.host;

function link(word, text) {
  document.body.dataset.link = word;
  say($("link").lastElementChild, text);
}

// The entry of the host shown in the list of hosts, if there is a list.
const here = () => (state.host ? hosts.find(state.host) : hosts.list[0]);
const patience = () => 1000 * Math.max(5, 3 * (state.hello?.interval_seconds ?? 1));
const isOld = () => performance.now() - state.heard > patience();
// Why the hub cannot reach the host, although our stream from the hub works, or
// "".
const unheard = () => (hosts.many && here()?.why) || "";

function away() {
  const why = unheard() || "trying again";
  link("away", state.last ? `Last frame ${clock(state.last)}, ${why}` : `no answer, ${why}`);
}

function tellLink() {
  if (unheard() || isOld()) away();
  else link("live", "live");
}

function connect() {
  clearTimeout(state.retry);
  state.source?.close();
  const source = new EventSource("api/v1/events" + (state.host ? `/${encodeURIComponent(state.host)}` : ""));
  state.source = source;
  source.onopen = () => {
    state.refused = false;
    if (!state.last) link("connecting", "connecting…");
  };
  source.onerror = () => {
    away();
    // After a refusal, browsers do not reconnect by themselves.
    if (source.readyState !== EventSource.CLOSED) return;
    state.retry = setTimeout(connect, 5000);
    state.refused = true;
    tellNotice();
  };
  for (const [name, take] of Object.entries(events))
    source.addEventListener(name, (event) => { if (source === state.source) take(JSON.parse(event.data)); });
}

function forget() {
  Object.assign(state, { host: asked(), refused: false, hello: null, frame: null, alerts: [], last: 0, pointing: null });
  state.details.clear();
  state.lanes.clear();
  processes.put(null);
  $("lanes").replaceChildren(make("li", "outline"), make("li", "outline"));
  link("connecting", "connecting…");
  tellAll();
}

// ---- events of the stream ----

// How many columns the graphs advance: none for the frame with which the
// history ends, and one if the machine's clock was set back.
function columnsTo(time) {
  if (!state.last) return 1;
  const passed = (time - state.last) / state.hello.interval_seconds;
  return passed === 0 ? 0 : Math.max(1, Math.min(STEPS, Math.round(passed)));
}

const events = {
  hello(hello) {
    state.hello = hello;
    state.frame = null;
    state.last = hello.history?.time ?? 0;
    buildLanes();
  },
  frame(frame) {
    if (!state.hello || (state.frame && frame.time === state.last)) return;
    const columns = columnsTo(frame.time);
    state.frame = frame;
    state.last = frame.time;
    state.heard = performance.now();
    for (const device of frame.devices) state.lanes.get(device.uuid)?.add(device, columns);
    tellLink();
    if (document.hidden || isList()) return;
    for (const lane of state.lanes.values()) if (lane.frame && columns) lane.step(columns);
    tellFrame();
  },
  details(details) {
    for (const device of details.devices) state.details.set(device.uuid, device);
    if (!document.hidden) tellOpen();
  },
  processes(event) {
    processes.put(event);
    if (document.hidden) return;
    processes.tell();
    tellOpen();
  },
  alert(event) {
    state.alerts = event.alerts;
    tellAlerts();
  },
  hosts(event) {
    hosts.put(event.hosts);
    if (state.frame) tellLink();
    if (document.hidden) return;
    tellHosts();
    tellHead();
  },
};

// ---- lanes ----

function buildLanes() {
  const list = $("lanes"), old = new Map(state.lanes), history = state.hello.history?.devices ?? {};
  state.lanes.clear();
  for (const identity of state.hello.devices) {
    const lane = old.get(identity.uuid) ?? new Lane(identity, toggle);
    lane.remember(history[identity.uuid]);
    state.lanes.set(identity.uuid, lane);
  }
  list.replaceChildren(...[...state.lanes.values()].map((lane) => lane.element));
  list.classList.toggle("many", state.lanes.size > 8);
  list.classList.toggle("few", state.lanes.size < 3);
  for (const lane of state.lanes.values()) lane.redraw();
  for (const ago of document.querySelectorAll(".ago")) say(ago, `${age(STEPS * state.hello.interval_seconds)} ago`);
  tellAll();
}

function toggle(lane) {
  for (const other of state.lanes.values())
    if (other !== lane && other.open) other.toggle(false);
  lane.toggle(!lane.open);
  tellOpen();
}

function tellOpen() {
  for (const lane of state.lanes.values())
    if (lane.open) lane.tellDetails(state.details.get(lane.identity.uuid), processes.of(lane.identity.label));
}

// ---- the head ----

// Sums over the GPUs that answer; MIG devices are part of their GPUs.
function sums() {
  const uuids = new Map(state.hello.devices.map((d) => [d.uuid, d]));
  const gpus = state.frame.devices.filter((d) => !known(uuids.get(d.uuid)?.mig_index));
  const well = gpus.filter((d) => !isSilent(d));
  // Returns the sum over the GPUs that have the value; undefined if none has.
  const add = (key) => well.reduce((sum, d) => (known(d[key]) ? (sum ?? 0) + d[key] : sum), undefined);
  const count = (name) => gpus.filter((d) => d.state === name).length;
  return { gpus, well, used: add("memory_used_bytes"), total: add("memory_total_bytes"), watts: add("power_watts"),
    limit: add("power_limit_enforced_watts"), lost: count("lost"), error: count("error"), stale: count("stale") + count("hung") };
}

function sumsText(s) {
  const gibs = (bytes) => whole(known(bytes) ? bytes / GIB : undefined);
  const parts = [`${gibs(s.used)} of ${gibs(s.total)} GiB`,
    kilowatts(s.watts) + (s.limit ? ` of ${kilowatts(s.limit)}` : "")];
  if (s.well.length < s.gpus.length)
    parts.unshift([`${s.well.length} of ${s.gpus.length} GPUs`, s.lost && `${s.lost} lost`, s.error && `${s.error} in error`,
      s.stale && `${s.stale} stale`].filter(Boolean).join(", "));
  return parts.join(" · ");
}

function tellHead() {
  const hello = state.hello, one = state.frame && !isList();
  say($("name"), hosts.many ? "" : state.host ?? hello?.hostname ?? "");
  say($("version"), hello ? `gpukit ${hello.gpukit_version}` : "");
  say($("machine"), !hello || isList() ? "" : [modelText(), hello.driver_version && `driver ${hello.driver_version}`,
    hello.cuda_version && `CUDA ${hello.cuda_version}`].filter(Boolean).join(" · "));
  say($("sums"), one ? sumsText(sums()) : "");
  say($("clock"), state.last ? clock(state.last) : "");
  document.title = [state.alerts.length && !isList() ? `(${state.alerts.length})` : "",
    isList() ? "hosts" : state.host ?? hello?.hostname ?? "", "gpukit"].filter(Boolean).join(" ");
}

function modelText() {
  const gpus = state.hello.devices.filter((d) => !known(d.mig_index));
  const models = new Set(gpus.map((d) => d.model ?? d.name));
  if (!gpus.length) return "no GPU";
  return models.size === 1 ? `${gpus.length} × ${[...models][0]}` : `${gpus.length} GPUs`;
}

function tellNotice() {
  const silent = state.refused && state.host ? `No host '${state.host}' is here.`
    : !state.frame && here()?.why || "";
  const empty = state.hello && !state.hello.devices.length;
  $("notice").hidden = !silent && !empty || isList();
  $("notice").classList.toggle("fail", Boolean(silent));
  say($("notice"), silent || (empty ? "This machine has no GPU. To see some: gpukit fake -- gpukit web" : ""));
}

const alertWords = { hung: "does not answer", held: "held back", alert: "error", error: "in error", fault: "must be mended" };

// Returns a text without values that change constantly, because screen readers
// read it out.
function alertText(alert) {
  const identity = state.hello?.devices.find((d) => d.uuid === alert.uuid);
  const why = alert.why && alert.why !== `GPU is ${alert.state}` ? ` · ${alert.why}` : "";
  const who = ["GPU", alert.label, identity?.model].filter(Boolean).join(" ");
  return `${alert.glyph} ${who}: ${alertWords[alert.state] ?? alert.state}` +
    `${why} · since ${alert.since_before ? "before " : ""}${clock(alert.since)}`;
}

function tellAlerts() {
  const box = $("alerts"), count = $("count"), list = isList() ? [] : state.alerts;
  list.slice(0, 3).forEach((alert, i) => {
    const line = box.children[i] ?? box.appendChild(make("p"));
    line.className = alert.level;
    say(line, alertText(alert) + (i === 2 && list.length > 3 ? ` · +${list.length - 3} more` : ""));
  });
  while (box.children.length > Math.min(3, list.length)) box.lastChild.remove();
  count.hidden = !list.length;
  count.classList.toggle("warn", !list.some((alert) => alert.level === "fail"));
  say(count, `${list.length} alert${list.length === 1 ? "" : "s"}`);
}

function tellHosts() {
  $("picker").hidden = !hosts.many;
  $("hosts").hidden = !isList();
  $("one").hidden = isList();
  if (hosts.many) hosts.tell(hosts.find(state.host)?.name);
  tellNotice();
}

function tellFrame() {
  for (const lane of state.lanes.values()) lane.tell();
  if (state.pointing !== null) point(state.pointing);
  tellOpen();
  tellHead();
}

function tellAll() {
  if (state.frame) tellFrame();
  tellHead();
  tellAlerts();
  tellHosts();
  processes.tell();
}

function lookAgain() {
  if (document.hidden) return;
  for (const lane of state.lanes.values()) lane.redraw();
  tellAll();
}

// ---- the pointer: marks the same time in all graphs ----

function point(share) {
  const steps = STEPS - 1 - Math.min(STEPS - 1, Math.floor(share * STEPS));
  state.pointing = share;
  $("lanes").classList.add("pointing");
  $("lanes").style.setProperty("--cursor", `${100 * share}%`);
  for (const lane of state.lanes.values()) lane.point(steps);
  say($("past"), clock(state.last - steps * state.hello.interval_seconds));
}

function unpoint() {
  if (state.pointing === null) return;
  state.pointing = null;
  $("lanes").classList.remove("pointing");
  say($("past"), "");
  tellFrame();
}

$("lanes").addEventListener("pointermove", (event) => {
  const graph = event.target.closest(".graph"), box = graph?.getBoundingClientRect();
  if (!graph || !state.frame) { unpoint(); return; }
  point(Math.max(0, Math.min(1, (event.clientX - box.left) / box.width)));
});
$("lanes").addEventListener("pointerleave", unpoint);

// ---- keys ----

function moveFocus(by) {
  const buttons = [...document.querySelectorAll(isList() ? "#hosts a" : "#lanes .who")];
  const at = buttons.indexOf(document.activeElement);
  buttons[Math.max(0, Math.min(buttons.length - 1, at < 0 ? 0 : at + by))]?.focus();
}

function back() {
  const open = [...state.lanes.values()].find((lane) => lane.open);
  if (document.activeElement === $("filter")) $("filter").blur();
  else if (open) { open.toggle(false); open.who.focus(); }
  else if (hosts.many) location.hash = "";
}

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches("input, select");
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") back();
  else if (typing) return;
  else if (event.key === "ArrowDown") moveFocus(1);
  else if (event.key === "ArrowUp") moveFocus(-1);
  else if (event.key === "/") $("filter").focus();
  else return;
  event.preventDefault();
});

// ---- time without frames ----

setInterval(() => { if (document.body.dataset.link === "live" && isOld()) away(); }, 1000);

document.addEventListener("visibilitychange", lookAgain);
window.addEventListener("hashchange", () => { forget(); connect(); });
matchMedia("(prefers-color-scheme: light)").addEventListener("change", () => { forgetColours(); lookAgain(); });
connect();

/* SPDX-License-Identifier: Apache-2.0 */
// All known values of a GPU, in the sections of the device screen of `top`.
import { duration, halfUp, known, make, say, size } from "./words.js";

const number = (unit, digits = 0) => (v) => `${halfUp(v).toFixed(digits)}${unit}`;
const percent = number(" %"), watts = number(" W"), celsius = number(" °C"), plain = number("");
const mhz = (v) => `${Math.round(v / 1e6)} MHz`;
const yes = (v) => (v ? "yes" : "no");
const on = (v) => (v ? "on" : "off");
const rate = (v) => `${size(v)}/s`;

// The sections in order. A row is a title, the name of a value, its format, and
// the name of its maximum.
const sections = [
  ["Now", [["Busy", "gpu_utilization_percent", percent],
    ["Memory bandwidth", "memory_utilization_percent", percent],
    ["Memory used", "memory_used_bytes", size], ["Performance state", "performance_state", (v) => `P${v}`]]],
  ["Power", [["Draw", "power_watts", number(" W", 1)], ["Limit in force", "power_limit_enforced_watts", watts],
    ["Limit", "power_limit_watts", watts], ["Default", "power_limit_default_watts", watts],
    ["Lowest limit", "power_limit_min_watts", watts], ["Highest limit", "power_limit_max_watts", watts],
    ["Energy", "energy_joules", (v) => `${halfUp(v / 3.6e6).toFixed(2)} kWh`]]],
  ["Clocks and throttling", [["SM clock", "sm_clock_hertz", mhz, "sm_clock_max_hertz"],
    ["Memory clock", "memory_clock_hertz", mhz, "memory_clock_max_hertz"],
    ["Graphics clock", "graphics_clock_hertz", mhz, "graphics_clock_max_hertz"],
    ["Video clock", "video_clock_hertz", mhz, "video_clock_max_hertz"],
    ["Throttle reasons", "clocks_event_reasons", reasons]]],
  ["Temperature", [["GPU", "temperature_celsius", celsius], ["Memory", "memory_temperature_celsius", celsius],
    ["Slowdown temperature", "temperature_slowdown_celsius", celsius],
    ["Shutdown temperature", "temperature_shutdown_celsius", celsius], ["Fan", "fan_speed_percent", percent]]],
  ["Errors", [["Last Xid", "xid_last", plain], ["ECC corrected", "ecc_errors_corrected_volatile_total", plain],
    ["ECC uncorrected", "ecc_errors_uncorrected_volatile_total", plain],
    ["Remapped rows, corrected", "remapped_rows_corrected", plain],
    ["Remapped rows, uncorrected", "remapped_rows_uncorrected", plain],
    ["Remapping pending", "remapped_rows_pending", yes], ["Remapping failed", "remapped_rows_failed", yes]]],
  ["Memory", [["Used", "memory_used_bytes", size], ["Free", "memory_free_bytes", size],
    ["Reserved", "memory_reserved_bytes", size], ["Total", "memory_total_bytes", size],
    ["BAR1 used", "bar1_used_bytes", size, "bar1_total_bytes"]]],
  ["Links", [["PCIe generation", "pcie_link_generation", plain, "pcie_link_generation_max"],
    ["PCIe width", "pcie_link_width", (v) => `x${v}`, "pcie_link_width_max"],
    ["PCIe RX", "pcie_receive_bytes_per_second", rate], ["PCIe TX", "pcie_transmit_bytes_per_second", rate]]],
  ["Media", [["Encoder", "encoder_utilization_percent", percent], ["Decoder", "decoder_utilization_percent", percent],
    ["JPEG", "jpeg_utilization_percent", percent], ["Optical flow", "optical_flow_utilization_percent", percent]]],
  ["Settings", [["Persistence mode", "persistence_mode", on], ["MIG mode", "mig_mode", on], ["ECC", "ecc_mode", on],
    ["Compute mode", "compute_mode", (v) => ["default", "exclusive thread", "prohibited", "exclusive process"][v] ?? v],
    ["Display", "display_active", on]]],
];

const identities = [["Name", "name"], ["UUID", "uuid"], ["Bus", "bus_id"], ["Device file", "minor_number"],
  ["VBIOS", "vbios_version"], ["Compute capability", "compute_capability"], ["GPU instance", "gpu_instance"],
  ["Compute instance", "compute_instance"]];

const reasonWords = [[0x1, "idle"], [0x2, "application clocks"], [0x4, "power cap"], [0x8, "hardware"],
  [0x10, "sync boost"], [0x20, "heat"], [0x40, "heat (hardware)"], [0x80, "power brake"], [0x100, "display clocks"]];

function reasons(bits) {
  const words = reasonWords.filter(([bit]) => bits & bit).map(([, word]) => word);
  return words.length ? words.join(", ") : "none";
}

function section(title, rows) {
  const element = make("section"), list = make("dl");
  for (const [name, text, key] of rows) {
    const value = make("dd", "", text);
    if (key) value.dataset.key = key;
    list.append(make("dt", "", name), value);
  }
  element.append(make("h3", "", title), list);
  return element;
}

const written = (all, [name, key, write, most]) =>
  [name, write(all[key]) + (known(all[most]) ? ` of ${write(all[most])}` : ""), key];

const processRows = (processes) =>
  processes.map((p) => [`${p.pid} ${p.user ?? ""} ${p.command}`, size(p.gpu_memory_bytes)]);

// `values` are the last details; they may be older than `now`, the last frame.
export function detailsOf(identity, values, now, processes) {
  const element = make("div", "details"), all = { ...values, ...now }, missing = [];
  if (processes.length) element.append(section("Processes", processRows(processes)));
  for (const [title, rows] of sections) {
    const there = rows.filter(([, key]) => known(all[key]));
    for (const [name, key] of rows) if (!known(all[key])) missing.push(`${title}: ${name}`);
    if (there.length) element.append(section(title, there.map((row) => written(all, row))));
  }
  const ids = identities.filter(([, key]) => known(identity[key])).map(([name, key]) => [name,
    key === "minor_number" ? `/dev/nvidia${identity[key]}` : String(identity[key])]);
  element.append(section("Identity", ids));
  if (known(now?.age_seconds) && now.age_seconds > 5)
    element.prepend(make("p", "warn-text", `These values are ${duration(now.age_seconds)} old.`));
  if (values && missing.length) element.append(make("p", "dim", `Not supported, or not read: ${missing.join(", ")}`));
  return element;
}

// Copies the texts of another element; returns false if its rows differ.
export function sayAgain(element, other) {
  const rows = (of) => [...of.querySelectorAll("dt, h3")].map((e) => e.textContent).join("\n");
  if (rows(element) !== rows(other)) return false;
  const texts = other.querySelectorAll("dd, p");
  const places = element.querySelectorAll("dd, p");
  if (texts.length !== places.length) return false;
  places.forEach((place, i) => say(place, texts[i].textContent));
  return true;
}

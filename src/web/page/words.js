/* SPDX-License-Identifier: Apache-2.0 */
// Formats values as `top` does.
export const GIB = 2 ** 30;

// Rounds like gk_half_up() of base/round.h, so that all screens show the same.
export const halfUp = (value) => value * (1 + 1e-12);
export const known = (value) => value !== undefined && value !== null;
export const whole = (value) => (known(value) ? String(Math.round(value)) : "—");
export const gib = (bytes) => (known(bytes) ? halfUp(bytes / GIB).toFixed(1) : "—");

export function size(bytes) {
  if (!known(bytes)) return "—";
  if (bytes >= GIB) return `${gib(bytes)} GiB`;
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}

export function kilowatts(watts) {
  if (!known(watts)) return "—";
  return watts >= 1000 ? `${halfUp(watts / 1000).toFixed(1)} kW` : `${Math.round(watts)} W`;
}

// Returns a text such as "12.0 of 80 GiB"; an unknown value is a dash.
export function part(used, total) {
  return `${gib(used)} of ${known(total) ? whole(total / GIB) : "—"} GiB`;
}

export function duration(seconds) {
  if (!known(seconds)) return "—";
  const s = Math.floor(seconds), two = (n) => String(n).padStart(2, "0");
  if (s >= 86400) return `${Math.floor(s / 86400)}d ${Math.floor(s / 3600) % 24}h`;
  return `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}`;
}

export function age(seconds) {
  if (!known(seconds)) return "—";
  for (const [unit, sign] of [[86400, "d"], [3600, "h"], [60, "m"]])
    if (seconds >= unit) return `${Math.floor(seconds / unit)}${sign}`;
  return `${Math.floor(seconds)}s`;
}

export const clock = (seconds) =>
  new Date(seconds * 1000).toLocaleTimeString("en-GB");

// Sets a text only if it differs, to avoid a new layout.
export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

export function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (known(text)) element.textContent = text;
  return element;
}

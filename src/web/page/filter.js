/* SPDX-License-Identifier: Apache-2.0 */
// Selects processes by the words of `top`'s filter, with the same meaning
// (src/tui/model/filter.c): all must match; "!" before a word negates it.
import { pattern } from "./posix.js";

const WORDS = 16;
const floating = /^(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?/i;
const Ki = 2 ** 10;
const sizes = { "": 1, b: 1 };
["k", "m", "g", "t"].forEach((sign, i) => {
  for (const end of ["", "i", "ib"]) sizes[sign + end] = Ki ** (i + 1);
  sizes[`${sign}b`] = 1000 ** (i + 1);
});
const spans = { "": 1e9, ns: 1, us: 1e3, ms: 1e6, s: 1e9, m: 60e9, min: 60e9, h: 3600e9, d: 86400e9 };

// ---- numbers, typed or received, in one unit ----

function scaled(text, units) {
  const number = floating.exec(text)?.[0], unit = text.slice(number?.length).toLowerCase();
  return number && Object.hasOwn(units, unit) ? Math.floor(Number(number) * units[unit] + 0.5) : NaN;
}

function percent(text, parts) {
  const number = /^\d/.test(text) ? floating.exec(text)[0] : "";
  const value = ["", "%"].includes(text.slice(number.length)) && number ? Number(number) : NaN;
  return value <= 1e6 ? Math.trunc(value * parts) : NaN;
}

const units = {
  bytes: { read: (text) => scaled(text, sizes), told: (v) => v, wanted: "a size, as 4GiB" },
  span: { read: (text) => scaled(text, spans), told: (v) => v * 1e9, wanted: "a time, as 2h" },
  percent: { read: (text) => percent(text, 1), told: (v) => v, wanted: "a percentage, as 50" },
  centi: { read: (text) => percent(text, 100), told: (v) => Math.round(v * 100), wanted: "a percentage, as 50" },
  plain: { read: (text) => (/^-?\d+$/.test(text) ? Number(text) : NaN), told: (v) => v, wanted: "a number, as 16" },
};
const numbers = {
  mem: ["gpu_memory_bytes", units.bytes], sm: ["sm_utilization_percent", units.percent],
  enc: ["encoder_utilization_percent", units.percent], dec: ["decoder_utilization_percent", units.percent],
  cpu: ["cpu_percent", units.centi], host: ["host_memory_bytes", units.bytes], time: ["running_seconds", units.span],
  threads: ["threads", units.plain], nice: ["nice", units.plain],
  "io-read": ["io_read_bytes_per_second", units.bytes], "io-write": ["io_written_bytes_per_second", units.bytes],
  read: ["io_read_bytes", units.bytes], written: ["io_written_bytes", units.bytes],
};

function compares(name, sign, text) {
  const [key, unit] = numbers[name], limit = unit.read(text);
  if (!(Math.abs(limit) < 9.2e18)) throw new Error(unit.wanted);
  return (p) => p[key] !== undefined && (sign === "<" ? unit.told(p[key]) < limit : unit.told(p[key]) > limit);
}

// ---- words with a colon ----

function ranges(text) {
  const list = text.split(",").map((part) => /^(\d+)(?:-(\d+))?$/.exec(part));
  const pairs = list.map((part) => part && [Number(part[1]), Number(part[2] ?? part[1])]);
  if (!pairs.every((pair) => pair && pair[0] <= pair[1])) throw new Error("numbers, as 0-3,5");
  return (number) => pairs.some(([from, to]) => number >= from && number <= to);
}

// The letters that stand for a type of process: X means both C and G.
const types = { C: "C", G: "G", X: "CG" };
function ofType(text) {
  const wanted = types[text.toUpperCase()];
  if (!wanted) throw new Error("C, G or X");
  return (p) => [...wanted].every((type) => types[p.type]?.includes(type));
}

function matches(text) {
  try {
    const regex = pattern(text);
    return (p) => regex.test(p.command ?? "") || regex.test(p.name ?? "");
  } catch {
    throw new Error("a regular expression");
  }
}

const within = (key, holds) => (text) => (p) => holds(p[key] ?? "", text);
const keys = {
  name: matches,
  user: (text) => { const users = text.split(","); return (p) => Boolean(p.user) && users.includes(p.user); },
  gpu: (text) => { const among = ranges(text); return (p) => among(parseInt(p.label, 10)); },
  type: ofType,
  rank: (text) => { const among = ranges(text); return (p) => p.rank !== undefined && among(p.rank); },
  container: within("container", (id, text) => id.startsWith(text)),
  pod: within("pod", (uid, text) => uid.startsWith(text)),
  cwd: within("cwd", (directory, text) => directory.includes(text)),
  state: within("stat", (letter, text) => letter !== "" && text.includes(letter)),
};

// ---- words ----

const holdsText = (text) => (p) => String(p.pid).includes(text) ||
  [p.command, p.name].some((own) => own?.toLowerCase().includes(text.toLowerCase()));

function condition(word) {
  const [, key, value] = /^([a-z]+):(.*)$/s.exec(word) ?? [];
  if (Object.hasOwn(keys, key)) {
    if (!value) throw new Error("something behind it");
    return keys[key](value);
  }
  const [, name, sign, text] = /^([a-z-]+)([<>])(.*)$/s.exec(word) ?? [];
  return Object.hasOwn(numbers, name) ? compares(name, sign, text) : holdsText(word);
}

function wordOf(text, quoted, plain) {
  const word = quoted ?? plain;
  try {
    return condition(word);
  } catch (error) {
    throw new Error(`${word.slice(0, 40)}: wanted ${error.message}`, { cause: error });
  }
}

// Returns a function that says whether to show a process; throws an Error with
// a message for the user.
export function filterOf(text) {
  const words = [...text.matchAll(/(!(?=[^ ]))?(?:"([^"]*)"?|([^ ]+))/g)];
  if (words.length > WORDS) throw new Error(`more than ${WORDS} words`);
  const all = words.map(([whole, not, quoted, plain]) => {
    const holds = wordOf(whole, quoted, plain);
    return not ? (p) => !holds(p) : holds;
  });
  return (p) => all.every((holds) => holds(p));
}

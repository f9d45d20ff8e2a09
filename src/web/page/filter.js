// Which processes are shown, in the words of the filter of `top`: all must
// hold, and "!" before one means that it must not.
const numbers = {
  mem: "gpu_memory_bytes", sm: "sm_utilization_percent", enc: "encoder_utilization_percent",
  dec: "decoder_utilization_percent", cpu: "cpu_percent", host: "host_memory_bytes", time: "running_seconds",
};
const sizes = { k: 10, m: 20, g: 30, t: 40 };
const spans = { s: 1, m: 60, h: 3600, d: 86400 };

function bytes(text) {
  const match = /^(\d+(?:\.\d+)?)([kmgt])?(i?b)?$/i.exec(text);
  if (!match) throw new Error(`'${text}' is no size: 4GiB`);
  const [, digits, unit, rest] = match;
  if (!unit) return Number(digits);
  const power = sizes[unit.toLowerCase()];
  return Number(digits) * (rest?.toLowerCase() === "b" ? 1000 ** (power / 10) : 2 ** power);
}

function seconds(text) {
  const match = /^(\d+(?:\.\d+)?)([smhd])?$/.exec(text);
  if (!match) throw new Error(`'${text}' is no time: 1h`);
  return Number(match[1]) * (spans[match[2]] ?? 1);
}

function plain(text) {
  if (!/^\d+(\.\d+)?$/.test(text)) throw new Error(`'${text}' is no number`);
  return Number(text);
}

const limit = (name, text) =>
  (/_bytes$/.test(numbers[name]) ? bytes : name === "time" ? seconds : plain)(text);

function ranges(text) {
  const list = text.split(",").map((part) => /^(\d+)(?:-(\d+))?$/.exec(part));
  if (list.includes(null)) throw new Error(`'${text}' is no list: 0-3,5`);
  return list.map(([, from, to]) => [Number(from), Number(to ?? from)]);
}

const named = {
  user: (text) => { const users = text.split(","); return (p) => users.includes(p.user); },
  gpu: (text) => {
    const list = ranges(text);
    return (p) => list.some(([from, to]) => { const gpu = parseInt(p.label, 10); return gpu >= from && gpu <= to; });
  },
  type: (text) => (p) => [...text.toUpperCase()].every((type) => p.type === type || p.type === "X"),
  name: (text) => { const pattern = new RegExp(text, "i"); return (p) => pattern.test(p.command ?? p.name ?? ""); },
};

function condition(word) {
  const compared = /^([a-z-]+)([<>])(.+)$/.exec(word);
  if (compared && numbers[compared[1]]) {
    const [, name, sign, text] = compared, than = limit(name, text), key = numbers[name];
    return (p) => p[key] !== undefined && (sign === ">" ? p[key] > than : p[key] < than);
  }
  const colon = /^([a-z]+):(.+)$/.exec(word);
  if (colon && named[colon[1]]) return named[colon[1]](colon[2]);
  const text = word.replace(/^"|"$/g, "");
  return (p) => `${p.command ?? p.name ?? ""}`.includes(text) || String(p.pid).includes(text);
}

// A function that says whether a process is shown; throws an Error with words
// for the user.
export function filterOf(text) {
  const words = (text.match(/!?"[^"]*"|\S+/g) ?? []).map((word) => {
    const not = word.startsWith("!") && word.length > 1;
    const holds = condition(not ? word.slice(1) : word);
    return not ? (p) => !holds(p) : holds;
  });
  return (p) => words.every((holds) => holds(p));
}

/* SPDX-License-Identifier: Apache-2.0 */
// Translates a POSIX extended regular expression, which `top` uses, into one
// for browsers. Throws an Error if it is invalid.
const classes = {
  alnum: "a-zA-Z0-9", alpha: "a-zA-Z", blank: " \\t", cntrl: "\\x00-\\x1f\\x7f", digit: "0-9", graph: "!-~",
  lower: "a-z", print: " -~", punct: "!-\\/:-@\\[-`{-~", space: "\\s", upper: "A-Z", xdigit: "0-9a-fA-F",
};
const words = { "<": "\\b(?=\\w)", ">": "\\b(?<=\\w)", "`": "^", "'": "$", w: "\\w", W: "\\W", s: "\\s", S: "\\S",
  b: "\\b", B: "\\B" };
const literal = (c) => c.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");

// Returns the translation of the bracket expression that begins at `from`, and
// where the expression ends.
function bracket(text, from) {
  const not = text[from + 1] === "^", first = from + 1 + not;
  let at = first, out = not ? "[^" : "[";
  while (at < text.length && (text[at] !== "]" || at === first)) {
    const named = /^\[([:.=])(.*?)\1\]/.exec(text.slice(at));
    if (named) {
      const [whole, sign, name] = named;
      if (sign === ":" ? !Object.hasOwn(classes, name) : name.length !== 1) throw new Error("no such class");
      out += sign === ":" ? classes[name] : literal(name);
      at += whole.length;
    } else {
      const range = text[at] === "-" && at !== first && text[at + 1] !== "]";
      out += range ? "-" : literal(text[at]);
      at += 1;
    }
  }
  if (at >= text.length) throw new Error("[ without ]");
  return [`${out}]`, at + 1];
}

class Translation {
  constructor(text) {
    this.text = text;
    this.at = 0;
    this.out = "";
    this.atom = -1; // start of what "*" would repeat; -1: nothing
    this.open = []; // where groups begin
    this.closed = 0;
  }

  put(piece, length = 1) {
    this.atom = this.out.length;
    this.out += piece;
    this.at += length;
  }

  // In POSIX a repetition can be repeated, so "a+?" is still greedy.
  repeat(sign, length) {
    if (this.atom < 0) throw new Error("nothing to repeat");
    const what = this.out.slice(this.atom);
    this.out = `${this.out.slice(0, this.atom)}(?:${what})${sign}`;
    this.at += length;
  }

  interval() {
    const found = /^\{(\d*)(?:(,)(\d*))?\}/.exec(this.text.slice(this.at));
    if (!found || (!found[1] && !found[2])) throw new Error("{ without numbers");
    const [whole, from, comma, to] = found;
    this.repeat(`{${from || 0}${comma ?? ""}${to ?? ""}}`, whole.length);
  }

  escape() {
    const c = this.text[this.at + 1];
    if (c === undefined) throw new Error("a \\ at the end");
    if (/[1-9]/.test(c) && Number(c) > this.closed) throw new Error(`\\${c} without a group`);
    if (Object.hasOwn(words, c)) this.put(`(?:${words[c]})`, 2);
    else if (/[1-9]/.test(c)) this.put(`(?:\\${c})`, 2);
    else this.put(/[a-z]/.test(c) ? "[]" : literal(c), 2); // like glibc, where case counts: "\\d" matches nothing
  }

  begin(piece) {
    this.out += piece;
    this.at += 1;
    this.atom = -1;
  }

  close() {
    const from = this.open.pop();
    if (from === undefined) { this.put("\\)"); return; }
    this.put(")");
    this.closed += 1;
    this.atom = from;
  }

  step() {
    const c = this.text[this.at];
    if (c === "\\") this.escape();
    else if (c === "[") { const [piece, end] = bracket(this.text, this.at); this.put(piece, end - this.at); }
    else if ("*+?".includes(c)) this.repeat(c, 1);
    else if (c === "{") this.interval();
    else if (c === "(") { this.open.push(this.out.length); this.begin("("); }
    else if (c === ")") this.close();
    else if (c === "|" || c === "^") this.begin(c);
    else if (c === ".") this.put("[^]");
    else this.put(c === "$" ? "$" : literal(c));
  }

  whole() {
    while (this.at < this.text.length) this.step();
    if (this.open.length) throw new Error("( without )");
    return this.out;
  }
}

export const pattern = (text) => new RegExp(new Translation(text).whole(), "i");

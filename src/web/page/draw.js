/* SPDX-License-Identifier: Apache-2.0 */
// Draws a GPU's history into a canvas, one column per step. For a new step it
// shifts the picture by one column and draws only the new one.
export const STEPS = 300;
const COLUMN = 2, HEIGHT = 96, CREST = 4;

const colour = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(name).trim();

let palette = null;

// The theme's colours, which are read again when the theme changes.
function colours() {
  palette ??= {
    body: { busy: colour("--work-body"), power: colour("--power-body") },
    work: [1, 2, 3, 4].map((i) => colour(`--work-${i}`)),
    power: colour("--power"), warn: colour("--warn"),
  };
  return palette;
}
export function forgetColours() { palette = null; }

export class Trace {
  // kind is "busy" or "power"; top is the value at the upper edge.
  constructor(canvas, kind) {
    this.canvas = canvas;
    this.kind = kind;
    this.top = 100;
    canvas.width = STEPS * COLUMN;
    canvas.height = HEIGHT;
    this.context = canvas.getContext("2d", { alpha: true });
  }

  crest(share, held) {
    const c = colours();
    if (held) return c.warn;
    if (this.kind === "power") return c.power;
    return c.work[Math.min(3, Math.floor(share * 4))];
  }

  // Column 0 is the newest. Draws nothing for null, which means unknown.
  column(index, value, held) {
    const x = (STEPS - 1 - index) * COLUMN, c = this.context;
    c.clearRect(x, 0, COLUMN, HEIGHT);
    if (value === null || value === undefined || !(this.top > 0)) return;
    const share = Math.max(0, Math.min(1, value / this.top));
    const height = Math.max(CREST, Math.round(share * HEIGHT));
    c.fillStyle = colours().body[this.kind];
    c.fillRect(x, HEIGHT - height, COLUMN, height);
    c.fillStyle = this.crest(share, held);
    c.fillRect(x, HEIGHT - height, COLUMN, CREST);
  }

  // Draws all columns. values and held have the newest step last; held says
  // whether clocks were held back.
  draw(values, held) {
    this.context.clearRect(0, 0, this.canvas.width, HEIGHT);
    for (let i = 0; i < values.length && i < STEPS; i++)
      this.column(i, values[values.length - 1 - i], held?.[held.length - 1 - i]);
  }

  step(columns, value, held) {
    const c = this.context, by = columns * COLUMN;
    c.globalCompositeOperation = "copy";
    c.drawImage(this.canvas, -by, 0);
    c.globalCompositeOperation = "source-over";
    this.column(0, value, held);
  }
}

"""Draws text with ANSI colours as an SVG: tools/ansi-to-svg.py TITLE <in >out.

For the README's picture:
    gpukit fake --load ... -- gpukit stat --boxed --color | ansi-to-svg.py ...
"""
import html
import itertools
import re
import sys
import unicodedata

COLORS = ["#5c6370", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd",
          "#56b6c2", "#dcdfe4"]
CELL_W, CELL_H, MARGIN, BAR = 7.8, 17, 14, 30


def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


class Style:
    """The style that SGR escapes have set so far."""

    def __init__(self):
        self.color, self.bold, self.dim, self.reverse = None, False, False, False

    def take(self, code):
        if code == 0:
            self.__init__()
        elif code in (1, 2, 7):
            setattr(self, {1: "bold", 2: "dim", 7: "reverse"}[code], True)
        elif code == 22:
            self.bold = self.dim = False
        elif code == 27:
            self.reverse = False
        elif code == 39:
            self.color = None
        elif 30 <= code <= 37 or 90 <= code <= 97:
            self.color = COLORS[code % 10]


def is_braille(char):
    return "\u2800" <= char <= "\u28ff"


def spans(line):
    """Yields (column, text, style) of a line with SGR escapes; Braille apart
    from the rest."""
    column, style = 0, Style()
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b["):
            for code in part[2:-1].split(";"):
                style.take(int(code or 0))
            continue
        for _, run in itertools.groupby(part, is_braille):
            text = "".join(run)
            yield column, text, style
            column += width(text)


# Bits of a Braille character: column and row of their dots.
DOTS = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]


def braille(text, x, y, color):
    """Dots as a path: fonts differ in how wide they make these characters."""
    path = ""
    for i, char in enumerate(text):
        for bit, (right, down) in enumerate(DOTS):
            if ord(char) >> bit & 1:
                path += (f"M{x + i * CELL_W + 1.4 + right * CELL_W / 2:.1f} "
                         f"{y + 1.6 + down * CELL_H / 4:.1f}h1.8v1.8h-1.8z")
    return f'<path d="{path}" fill="{color}"/>' if path else ""


def draw(column, text, style, top):
    x = MARGIN + column * CELL_W
    length = width(text) * CELL_W
    color, out = style.color or "#dcdfe4", ""
    if style.reverse:
        out = (f'<rect x="{x:.1f}" y="{top:.1f}" width="{length:.1f}" '
               f'height="{CELL_H}" fill="{color}"/>')
        color = "#282c34"
    if not text.strip():
        return out
    if is_braille(text[0]):
        return out + braille(text, x, top, color)
    extra = (' font-weight="bold"' if style.bold else "") + (
        ' opacity="0.6"' if style.dim else "")
    return (f'{out}<text x="{x:.1f}" y="{top + 0.8 * CELL_H:.1f}" '
            f'textLength="{length:.1f}" xml:space="preserve" '
            f'fill="{color}"{extra}>{html.escape(text)}</text>')


def main():
    lines = sys.stdin.read().rstrip("\n").split("\n")
    columns = max(width(re.sub(r"\x1b\[[0-9;]*m", "", x)) for x in lines)
    w = columns * CELL_W + 2 * MARGIN
    h = len(lines) * CELL_H + BAR + MARGIN
    print(f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:.0f}" '
          f'height="{h:.0f}" font-family="monospace" font-size="13">'
          f'<rect width="100%" height="100%" rx="8" fill="#282c34"/>'
          f'<text x="50%" y="20" fill="#abb2bf" text-anchor="middle">'
          f'{html.escape(sys.argv[1])}</text>')
    for row, line in enumerate(lines):
        for span in spans(line):
            print(draw(*span, BAR + row * CELL_H))
    print("</svg>")


if __name__ == "__main__":
    main()

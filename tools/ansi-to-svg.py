"""Draws text with ANSI colours as an SVG: tools/ansi-to-svg.py TITLE <in >out.

For the README's picture:
    gpukit fake --load ... -- gpukit stat --boxed --color | ansi-to-svg.py ...
"""
import html
import re
import sys
import unicodedata

COLORS = ["#5c6370", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd",
          "#56b6c2", "#dcdfe4"]
CELL_W, CELL_H, MARGIN, BAR = 7.8, 17, 14, 30


def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def spans(line):
    """Yields (column, text, color, bold, dim) of a line with SGR escapes."""
    column, color, bold, dim = 0, None, False, False
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if not part.startswith("\x1b["):
            if part:
                yield column, part, color, bold, dim
            column += width(part)
            continue
        for code in [int(c or 0) for c in part[2:-1].split(";")]:
            if code == 0:
                color, bold, dim = None, False, False
            elif code == 1:
                bold = True
            elif code == 2:
                dim = True
            elif code == 22:
                bold = dim = False
            elif code == 39:
                color = None
            elif 30 <= code <= 37 or 90 <= code <= 97:
                color = COLORS[code % 10]


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
        y = BAR + (row + 0.8) * CELL_H
        for column, text, color, bold, dim in spans(line):
            if not text.strip():
                continue
            style = (' font-weight="bold"' if bold else "") + (
                ' opacity="0.6"' if dim else "")
            print(f'<text x="{MARGIN + column * CELL_W:.1f}" y="{y:.1f}" '
                  f'textLength="{width(text) * CELL_W:.1f}" xml:space="preserve" '
                  f'fill="{color or "#dcdfe4"}"{style}>'
                  f"{html.escape(text)}</text>")
    print("</svg>")


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: Apache-2.0
"""Converts text with ANSI colours to SVG.

    gpukit fake --load ... -- gpukit stat --boxed --color |
        python3 tools/ansi_svg.py TITLE >picture.svg

tools/film.py uses it for moving pictures.
"""
import html
import itertools
import re
import sys
import unicodedata

SIXTEEN = ["#5c6370", "#e06c75", "#98c379", "#e5c07b", "#61afef", "#c678dd",
           "#56b6c2", "#dcdfe4"]
FRONT, BACK, TITLE = "#dcdfe4", "#1c1f26", "#abb2bf"
CELL_W, CELL_H, MARGIN, BAR = 7.8, 17, 14, 30
# SGR codes that set a flag (22 to 29 clear them).
FLAGS = {1: "bold", 2: "dim", 4: "underline", 7: "reverse"}
ENDS = {22: ("bold", "dim"), 24: ("underline",), 27: ("reverse",)}


def width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1
               for c in text)


def of_256(number):
    """A colour of xterm's table: 16 names, a cube of 6 x 6 x 6, 24 greys."""
    if number < 16:
        return SIXTEEN[number % 8]
    if number >= 232:
        return "#" + f"{8 + 10 * (number - 232):02x}" * 3
    steps = [0, 95, 135, 175, 215, 255]
    cube = number - 16
    return "#%02x%02x%02x" % (steps[cube // 36], steps[cube // 6 % 6],
                              steps[cube % 6])


class Style:
    """The style that the SGR escapes so far have set."""

    def __init__(self):
        self.front = self.back = None
        self.bold = self.dim = self.underline = self.reverse = False

    def take(self, codes):
        """Applies the numbers between ESC [ and m."""
        codes = iter(codes)
        for code in codes:
            if code == 0:
                self.__init__()
            elif code in FLAGS:
                setattr(self, FLAGS[code], True)
            elif code in ENDS:
                for name in ENDS[code]:
                    setattr(self, name, False)
            else:
                self.take_color(code, codes)

    def take_color(self, code, codes):
        if code in (38, 48):
            color = (of_256(next(codes, 7)) if next(codes, 5) == 5 else
                     "#%02x%02x%02x" % tuple(next(codes, 0) for _ in "rgb"))
        elif 30 <= code % 60 <= 37 or 40 <= code % 60 <= 47:
            color = SIXTEEN[code % 10]
        elif code in (39, 49):
            color = None
        else:
            return
        if code % 60 // 10 == 3:
            self.front = color
        else:
            self.back = color

    def colors(self):
        """Returns the foreground, and the background unless it is the
        picture's."""
        front, back = self.front or FRONT, self.back
        return (back or BACK, front) if self.reverse else (front, back)


def is_braille(char):
    return "\u2800" <= char <= "\u28ff"


def spans(line):
    """Yields (column, text, style) for a line with SGR escapes; Braille
    characters separately."""
    column, style = 0, Style()
    for part in re.split(r"(\x1b\[[0-9;:]*m)", line):
        if part.startswith("\x1b["):
            style.take([int(code or 0)
                        for code in re.split("[;:]", part[2:-1])])
            continue
        for _, run in itertools.groupby(part, is_braille):
            text = "".join(run)
            yield column, text, style
            column += width(text)


# The dots of a Braille character, by bit: column and row.
DOTS = [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2), (0, 3), (1, 3)]
DOT = 1.8


def braille(text, x, y, color):
    """Draws the dots as short strokes, because fonts give these characters
    different widths."""
    dots = sorted((down, 2 * i + right) for i, char in enumerate(text)
                  for bit, (right, down) in enumerate(DOTS)
                  if ord(char) >> bit & 1)
    path = ""
    for down, row in itertools.groupby(dots, lambda dot: dot[0]):
        at = None
        for _, column in row:
            path += (f"m{(column - at) * CELL_W / 2 - DOT:.1f} 0"
                     if at is not None else
                     f"M{x + 1.4 + column * CELL_W / 2:.1f} "
                     f"{y + 1.6 + DOT / 2 + down * CELL_H / 4:.1f}")
            path += f"h{DOT}"
            at = column
    return (f'<path d="{path}" stroke="{color}" stroke-width="{DOT}"/>'
            if path else "")


def draw_span(column, text, style, top):
    x = MARGIN + column * CELL_W
    length = width(text) * CELL_W
    (front, back), out = style.colors(), ""
    if back:
        out = (f'<rect x="{x:.1f}" y="{top:.1f}" width="{length:.1f}" '
               f'height="{CELL_H}" fill="{back}"/>')
    if not text.strip():
        return out
    if is_braille(text[0]):
        return out + braille(text, x, top, front)
    extra = "".join(words for flag, words in [
        (style.bold, ' font-weight="bold"'), (style.dim, ' opacity="0.6"'),
        (style.underline, ' text-decoration="underline"')] if flag)
    return (f'{out}<text x="{x:.1f}" y="{top + 0.8 * CELL_H:.1f}" '
            f'textLength="{length:.1f}" xml:space="preserve" '
            f'fill="{front}"{extra}>{html.escape(text)}</text>')


SGR = r"\x1b\[[0-9;:]*m"


def apart(lines):
    """Starts each line with the style in force: tmux does not end a style at
    the end of a line."""
    carried = ""
    for line in lines:
        yield carried + line
        for escape in re.findall(SGR, line):
            ends = re.match(r"\x1b\[0*[;m]", escape)
            carried = escape if ends else carried + escape


def draw_row(row, line):
    """Draws a line of text at its row; returns nothing for a blank line."""
    return "".join(draw_span(*span, BAR + row * CELL_H)
                   for span in spans(line))


def columns_of(lines):
    return max(width(re.sub(SGR, "", x)) for x in lines)


def picture(title, columns, rows, body):
    """Draws the terminal's frame around its rows."""
    w = columns * CELL_W + 2 * MARGIN
    h = rows * CELL_H + BAR + MARGIN
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{w:.0f}" '
            f'height="{h:.0f}" viewBox="0 0 {w:.0f} {h:.0f}" '
            f'font-family="monospace" font-size="13">'
            f'<rect width="100%" height="100%" rx="8" fill="{BACK}"/>'
            f'<text x="50%" y="20" fill="{TITLE}" text-anchor="middle">'
            f'{html.escape(title)}</text>\n{body}\n</svg>')


def main():
    lines = sys.stdin.read().rstrip("\n").split("\n")
    rows = [draw_row(row, line) for row, line in enumerate(apart(lines))]
    print(picture(sys.argv[1], columns_of(lines), len(lines),
                  "\n".join(rows)))


if __name__ == "__main__":
    main()

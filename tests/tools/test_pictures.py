# SPDX-License-Identifier: Apache-2.0
"""tools/ansi_svg.py and tools/film.py draw the pictures of the documents."""

import os
import re
import sys
import xml.etree.ElementTree as ET

import pytest

from conftest import ROOT

sys.path.insert(0, os.path.join(ROOT, "tools"))
import ansi_svg
import film


@pytest.mark.parametrize("codes, front, back", [
    ("31", "#e06c75", None),
    ("91", "#e06c75", None),
    ("44", "#dcdfe4", "#61afef"),
    ("38;5;203", "#ff5f5f", None),
    ("38;5;236", "#303030", None),
    ("48;5;16;38;5;231", "#ffffff", "#000000"),
    ("38;2;1;2;3", "#010203", None),
    ("38:5:203", "#ff5f5f", None),
    ("31;39", "#dcdfe4", None),
    ("31;7", "#1c1f26", "#e06c75"),
    ("31;44;0", "#dcdfe4", None),
])
def test_colours_are_those_of_the_terminal(codes, front, back):
    (_, text, style), = ansi_svg.spans(f"\x1b[{codes}mx")
    assert (text, style.colors()) == ("x", (front, back))


def test_every_dot_of_braille_is_a_stroke():
    drawn = ansi_svg.braille("\u28ff\u2801", 0, 0, "red")
    assert drawn.count("h1.8") == 8 + 1
    assert ansi_svg.braille("\u2800", 0, 0, "red") == ""


def test_a_row_says_its_text_where_it_stands():
    drawn = ansi_svg.draw_row(2, "\x1b[1mab\x1b[0m  <c")
    (x1, y1), (x2, y2) = re.findall(r'<text x="([\d.]+)" y="([\d.]+)"', drawn)
    assert float(x2) - float(x1) == pytest.approx(2 * ansi_svg.CELL_W)
    assert y1 == y2
    assert "&lt;c" in drawn


def test_a_style_goes_on_in_the_next_line():
    red, plain, bold = "\x1b[31m", "\x1b[0m", "\x1b[0;1m"
    assert list(ansi_svg.apart([f"a{red}b", "c", f"d{plain}", "e", f"{bold}f",
                                f"g{plain}"])) == [
        f"a{red}b", f"{red}c", f"{red}d{plain}", f"{plain}e",
        f"{plain}{bold}f", f"{bold}g{plain}"]


def test_a_row_is_drawn_once_for_all_times_at_which_it_stands():
    frames = [(["a", "x"], 1), (["a", "y"], 2), (["a", "x"], 1)]
    assert list(film.intervals(frames)) == [
        (0, "a", [(0, 4)]), (1, "x", [(0, 1), (3, 4)]), (1, "y", [(1, 3)])]


@pytest.mark.parametrize("stands, css", [
    ([(0, 4)], ""),
    ([(0, 1), (3, 4)], "0.00%{V}25.00%{H}75.00%{V}"),
    ([(1, 3)], "0%{H}25.00%{V}75.00%{H}"),
])
def test_when_a_row_is_to_be_seen(stands, css):
    css = css.replace("V", "visibility:visible").replace(
        "H", "visibility:hidden")
    assert film.keyframes(stands, 4) == css


def test_without_motion_the_last_picture_stands():
    frames = [(["first"], 1), (["last"], 1)]
    drawn = ET.fromstring(film.animate("t", 10, 1, frames))
    hidden = {g.find("{*}text").text: g.get("visibility")
              for g in drawn.findall("{*}g")}
    assert hidden == {"first": "hidden", "last": None}

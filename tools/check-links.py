#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the targets of links in Markdown files exist in this repository:
files, and the headings of anchors. Does not check addresses outside."""

import functools
import os
import re
import sys

import rooms

FENCE = re.compile(r"^(```|~~~).*?^\1\s*?$", re.M | re.S)
CODE = re.compile(r"(`+)(?!`).+?(?<!`)\1(?!`)", re.S)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)|^\s*\[[^\]]+\]:\s*(\S+)"
                  r"|\b(?:href|src|srcset)=\"([^\"]+)\"", re.M)
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$", re.M)
NAMED = re.compile(r"\b(?:id|name)=\"([^\"]+)\"")


def slug_of(heading):
    """The anchor that forges generate for a heading."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    return re.sub(r"[^\w\- ]", "", text.lower()).replace(" ", "-")


@functools.cache
def read_text(path):
    """Returns a file without its blocks of code."""
    with open(path, encoding="utf-8") as f:
        return FENCE.sub("", f.read())


@functools.cache
def anchors_of(path):
    text = read_text(path)
    found, often = set(NAMED.findall(text)), {}
    for heading in HEADING.findall(text):
        slug = slug_of(heading)
        count = often[slug] = often.get(slug, -1) + 1
        found.add(f"{slug}-{count}" if count else slug)
    return found


def why_broken(source, link):
    """Returns what is wrong with a link of a file, or None."""
    if ELSEWHERE.match(link):
        return None
    path, _, anchor = link.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(source), path)) \
        if path else source
    if not os.path.exists(target):
        return "there is no such file"
    if anchor and target.endswith(".md") and anchor not in anchors_of(target):
        return f"{target} has no such heading"
    return None


def main(*paths):
    os.chdir(rooms.ROOT)
    bad = 0
    for source in paths or rooms.list_tracked("*.md"):
        for groups in LINK.findall(CODE.sub("", read_text(source))):
            link = "".join(groups)
            why = why_broken(source, link)
            if why:
                bad += 1
                print(f"links: {source}: {link}: {why}", file=sys.stderr)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

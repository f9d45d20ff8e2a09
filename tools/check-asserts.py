#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a function whose comment demands a lock of its caller begins
with GK_ASSERT.

The comment is above the function, above its declaration or the group of
declarations that it is in, or in the heading of a section, "/* ---- rows; the
caller holds rows.lock ---- */", which holds for all functions down to the next
heading. DEMANDS are the phrases that demand a lock, FREE those that mention a
lock but do not. --list prints the functions found, and never fails.
"""

import collections
import os
import re
import sys

import rooms

DEMANDS = re.compile(
    r"\bcallers? (must )?(holds?|locks?)\b"
    r"|\blocks? (is|are) held\b"
    r"|\b(with|under) ((the|its|a|an|his|their)( [\w']+){0,2} )?"
    r"([\w.>-]+[._>])?(lock|mutex)(?!\w)", re.IGNORECASE)
FREE = re.compile(
    r"\bno locks?\b|\bwithout (the|a) lock\b|\btakes? (the|its|a) lock\b"
    r"|\bholds? no lock\b", re.IGNORECASE)

TOKEN = re.compile(
    r"/\*.*?\*/|//[^\n]*"
    r"|\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*'"
    r"|^[ \t]*\#(?:\\\n|[^\n])*"
    r"|\n[ \t]*\n|[{};]", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"/\* -{4} ")
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)\s*(?=[^\s;])", re.DOTALL)
NAME = re.compile(r"(\w+)\s*\(")
NO_FUNCTION = re.compile(r"\s*(typedef|struct\s*\w*\s*$|enum|union|_Static)|=")
# Declarations may come first, up to the empty line after them.
ASSERTED = re.compile(r"\{\n(?:(?:\t[^\n]+\n)+\n)?(?:\tGK_ASSERT\()")

Function = collections.namedtuple(
    "Function", "path line name is_static demands body")


def demands_lock(comment):
    words = re.sub(r"\s*\n[\s*]*", " ", comment.strip("/* \n"))
    return bool(DEMANDS.search(words)) and not FREE.search(words)


def name_function(head):
    """Returns the name of the function in a declaration or a head of a
    definition."""
    head = ATTRIBUTE.sub("", head)
    found = NAME.search(head)
    if not found or NO_FUNCTION.search(head[:found.start()]):
        return None
    return found[1] if head[:found.start()].strip() else None


class Reader:
    """Reads a file; the demand of a comment holds for the declarations below
    it, up to an empty line or the end of a definition."""

    def __init__(self, path, text):
        self.path, self.text, self.functions = path, text, []
        self.start = self.depth = 0
        self.above = self.section = False
        self.head = None

    def head_until(self, end):
        return re.sub(r"/\*.*?\*/", "", self.text[self.start:end],
                      flags=re.DOTALL)

    def add(self, head, begin, body):
        name = name_function(head)
        if name:
            self.functions.append(Function(
                self.path, self.text.count("\n", 0, begin) + 1, name,
                "static" in head.split(), self.above or self.section, body))

    def read_brace(self, token):
        self.depth += 1 if token[0] == "{" else -1
        if self.depth == 1 and token[0] == "{":
            self.head = self.head_until(token.start()), token.start()
        elif self.depth == 0:
            self.add(*self.head, self.text[self.head[1]:token.end()])
            self.above, self.start = False, token.end()

    def read_outside(self, token):
        word, begun = token[0], self.head_until(token.start()).strip()
        if word == ";":
            self.add(begun, token.start(), None)
            self.start = token.end()
        elif HEADING.match(word):
            self.section, self.above = demands_lock(word), False
        elif word.startswith("/*") and not begun:
            self.above, self.start = demands_lock(word), token.end()
        elif (word.isspace() or word.lstrip().startswith("#")) and not begun:
            self.above, self.start = False, token.end()

    def read(self):
        for token in TOKEN.finditer(self.text):
            if token[0] in "{}":
                self.read_brace(token)
            elif not self.depth:
                self.read_outside(token)
        return self.functions


def read_functions():
    for path in rooms.list_tracked("src/*.c", "src/*.h"):
        with open(path, encoding="utf-8") as f:
            yield from Reader(path, f.read()).read()


def find_definitions(function, defined):
    """Returns the definitions of a declaration: in its own file for a static
    one, in its folder for one of a header, if there is any."""
    if function.body:
        return [function]
    found = [d for d in defined[function.name]
             if d.path == function.path or not d.is_static]
    folder = os.path.dirname(function.path)
    return [d for d in found if os.path.dirname(d.path) == folder] or found


def main(argv):
    os.chdir(rooms.ROOT)
    functions = list(read_functions())
    defined = collections.defaultdict(list)
    for f in functions:
        if f.body:
            defined[f.name].append(f)
    bad = {}
    for f in functions:
        if not f.demands:
            continue
        definitions = find_definitions(f, defined)
        if "--list" in argv:
            print(f"{f.path}:{f.line}: {f.name}")
        if not definitions:
            bad[f.path, f.line] = f"{f.name}() is defined nowhere"
        for d in definitions:
            if not ASSERTED.match(d.body):
                bad[d.path, d.line] = (
                    f"{d.name}() demands a lock ({f.path}:{f.line}) and does"
                    " not begin with GK_ASSERT")
    if "--list" in argv:
        return 0
    for (path, line), text in sorted(bad.items()):
        print(f"asserts: {path}:{line}: {text}", file=sys.stderr)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

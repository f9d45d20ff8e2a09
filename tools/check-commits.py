#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that titles of commits are `area: imperative` with at most 60
characters, above a body that says why. Checks the commits after FIRST; older
ones predate the rule."""

import os
import re
import subprocess
import sys

import rooms

FIRST = "1a58b5f793a6b36f63b6b91497b1ee79a7b38088"
MOST = 60
AREA = r"(?:[a-z0-9][\w.+/-]*|[A-Z]+)"  # a room, or a file such as CHANGELOG
TITLE = re.compile(rf"{AREA}(?:, {AREA})*: (\w[\w'-]*)")
# Words that are no imperative. There is no dictionary of verbs, so a noun may
# pass, but these are common beginnings of titles that describe instead of ask.
NO_VERB = re.compile(
    r"(?:an?|the|this|these|that|those|it|its|they|their|we|our|one|two|three"
    r"|four|five|six|seven|eight|nine|ten|\d.*|no|not|new|some|all|any|each"
    r"|every|more|less|other|both|what|who|whose|where|when|why|how|which|if"
    r"|is|are|was|in|on|of|for|with|without|from|to|by|at|and|or|but|only|also"
    r"|\w+(?:ed|ing)|\w+[^s'u]s)", re.I)
# Verbs that look like other words.
VERBS = {"bring", "embed", "exceed", "feed", "need", "proceed", "seed", "shed",
         "speed", "spring", "string", "bias", "focus"}


def git(*words):
    return subprocess.run(["git", *words], text=True, capture_output=True,
                          check=False)


def why_refused(title, body):
    """Returns what is wrong with a commit's message, or None."""
    found = TITLE.match(title)
    if not found:
        return "is not 'area: imperative'"
    verb = found[1].lower()
    if verb not in VERBS and NO_VERB.fullmatch(verb):
        return f"begins with '{found[1]}', which is no verb in the imperative"
    if len(title) > MOST:
        return f"has {len(title)} characters, {MOST} at most"
    if not body.strip():
        return "has no body that says why"
    return None


def main(first=FIRST):
    os.chdir(rooms.ROOT)
    if git("cat-file", "-e", f"{first}^{{commit}}").returncode:
        print("commits: not checked: this clone has not the commit from which "
              "on they are", file=sys.stderr)
        return 0
    told = git("log", "-z", "--no-merges", "--format=%h%n%s%n%b",
               f"{first}..HEAD").stdout
    bad = 0
    for message in filter(None, told.split("\0")):
        name, title, body = message.split("\n", 2)
        why = why_refused(title, body)
        if why:
            bad += 1
            print(f"commits: {name} '{title}' {why}", file=sys.stderr)
    return bad > 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))

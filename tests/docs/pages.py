#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of README.md and docs/ as a reader would paste them:

    tests/docs/pages.py [--installed] [PAGE...]

A block whose fence is marked `sh` runs. Further words on the fence:
    install         installs a package that `./run package` has built; runs only
                    with --installed, first, in the current directory, which
                    holds those packages
    source          needs the source tree, in which it runs; left out with
                    --installed
    until-stopped   each command runs until it is interrupted
    root            needs root; left out for other users

The blocks of a page run in one shell, from top to bottom, in an empty home. The
command `gpukit` is the first one on PATH. Where there is no driver, they run on
a made-up machine. A page fails if a command fails. Needs only Python, a shell
and timeout(1), because it also runs on bare systems.
"""

import argparse
import collections
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
NOT_RUN = os.path.join(ROOT, "tests", "docs-not-run.txt")

FENCE = re.compile(r"^( *)```(.*)\n((?:.*\n)*?)\1```$", re.M)
# The first four GPUs have work; the others are free for the examples.
MACHINE = ["--quiet", "--gpus", "a100-sxm4-80gb:8", "--load",
           "train:0-1,mem=60GiB,util=90", "--load", "infer:2-3,mem=20GiB"]
PAGE_SECONDS, UNTIL_STOPPED_SECONDS = 600, 2

Block = collections.namedtuple("Block", "line words text")

PROLOGUE = """\
until_stopped() {
	timeout --signal=INT --kill-after=10 %d sh -c "$1" || [ $? = 124 ]
}
at() {
	echo "$1" >"$DOCS_AT"
}
"""


def pages():
    """README.md first; pages about changing gpukit have tests of their own."""
    names = sorted(name for name in os.listdir(os.path.join(ROOT, "docs"))
                   if name.endswith(".md") and not name.startswith("HOWTO_ADD"))
    return ["README.md"] + [f"docs/{name}" for name in names]


def read(page):
    with open(os.path.join(ROOT, page), encoding="utf-8") as file:
        return file.read()


def blocks(page):
    """All fenced blocks of a page."""
    text = read(page)
    for found in FENCE.finditer(text):
        indent, words, body = found.groups()
        body = re.sub(rf"^{indent}", "", body, flags=re.M)
        yield Block(text.count("\n", 0, found.start()) + 2, words.split(), body)


def runs(block, installed):
    without = {"source" if installed else "install"}
    if os.geteuid():
        without.add("root")
    return block.words[:1] == ["sh"] and not without & set(block.words)


def commands(text):
    """The commands of a block: lines, joined where a backslash ends them."""
    joined = re.sub(r"\\\n\s*", "", text)
    return [line for line in joined.splitlines()
            if line.strip() and not line.startswith("#")]


def script(page, installed):
    """(what installs the command, the rest of the page)"""
    parts = {True: [], False: []}
    for block in blocks(page):
        if not runs(block, installed):
            continue
        text = block.text
        if "until-stopped" in block.words:
            text = "".join(f"until_stopped {shlex.quote(one)}\n"
                           for one in commands(text))
        if "source" in block.words:
            text = f"cd {shlex.quote(ROOT)}\n{text}cd\n"
        # sh -e goes on after a failed `a && b`.
        parts["install" in block.words].append(
            f"at {block.line}\n{text}[ $? = 0 ] || exit 1\n")
    prologue = PROLOGUE % UNTIL_STOPPED_SECONDS
    return tuple(prologue + "".join(parts[one]) if parts[one] else ""
                 for one in (True, False))


def has_driver(env):
    return subprocess.run(["gpukit", "stat"], env=env, check=False,
                          stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL).returncode == 0


def run_script(text, directory, env, wrapper=()):
    """Returns (exit status, output); ends all that it has started."""
    path = env["DOCS_AT"] + ".sh"
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    with tempfile.TemporaryFile("w+", encoding="utf-8",
                                errors="replace") as out:
        with subprocess.Popen([*wrapper, "sh", "-e", path], cwd=directory, env=env,
                              stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                              start_new_session=True) as process:
            try:
                status = process.wait(PAGE_SECONDS)
            except subprocess.TimeoutExpired:
                status = "out of time"
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        out.seek(0)
        return status, out.read()


def run(page, env, installed=False):
    """Runs a page; returns None, or what went wrong and where."""
    scratch = tempfile.mkdtemp(prefix="gpukit-docs-")
    home = os.path.join(scratch, "home")
    os.mkdir(home)
    env = {**env, "HOME": home, "TMPDIR": scratch,
           "DOCS_AT": os.path.join(scratch, "at")}
    try:
        wrapper = [] if has_driver(env) else ["gpukit", "fake", *MACHINE, "--"]
        status, output = run_script(script(page, installed)[1], home, env,
                                    wrapper)
        if status == 0:
            return None
        with open(env["DOCS_AT"], encoding="utf-8") as at:
            line = at.read().strip()
        return (f"{page}:{line}: the block fails ({status}):\n"
                + output[-3000:])
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def install(env):
    """Runs the blocks of README.md that install; returns the environment in
    which the command is found."""
    text = script("README.md", True)[0]
    scratch = tempfile.mkdtemp(prefix="gpukit-docs-")
    path = os.path.join(scratch, "path")
    env = {**env, "DOCS_AT": os.path.join(scratch, "at")}
    status, output = run_script(
        f"{text}printf %s \"$PATH\" >{shlex.quote(path)}\n", os.getcwd(), env)
    if status != 0:
        sys.exit(f"README.md: installing fails ({status}):\n{output}")
    with open(path, encoding="utf-8") as file:
        return {**env, "PATH": file.read()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--installed", action="store_true",
                        help="also install; leave out what needs the sources")
    parser.add_argument("page", nargs="*")
    chosen = parser.parse_args()
    env = {name: value for name, value in os.environ.items()
           if not name.startswith(("GPUKIT_", "LD_", "CUDA_"))
           and name != "XDG_RUNTIME_DIR"}
    if chosen.installed:
        env = install(env)
    failed = 0
    for page in chosen.page or pages():
        if not script(page, chosen.installed)[1]:
            continue
        wrong = run(page, env, chosen.installed)
        failed += wrong is not None
        print(wrong or f"{page}: ok", flush=True)
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

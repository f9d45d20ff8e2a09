# SPDX-License-Identifier: Apache-2.0
"""A copy of the sources, built separately, in which mutate.py tries
mutants."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys

LEFT_OUT = (".git", "build", "docs", "__pycache__", ".pytest_cache")
LIMIT_S = 300  # for a test that was never timed
# how many times longer than without a mutant, before it counts as endless
SLOWER = 10
# after which a ctest is ended itself: it waits for the children that a killed
# test leaves, as long as they keep its output open
PATIENCE_S = 5
MEMORY = 8 << 30  # per test, because a mutant may allocate without end


class Failed(Exception):
    """A command of the build failed; the text is its output."""


class Tree:
    """A copy of the sources with a build of its own."""

    def __init__(self, root, folder):
        self.source = os.path.join(folder, "tree")
        self.build = os.path.join(folder, "build")
        self.changed = None
        venv = os.path.join(root, "build", "venv", "bin", "python")
        self.python = venv if os.path.exists(venv) else sys.executable
        copy_tree(root, self.source)

    def run(self, *command, limit=None, seconds=None):
        """Runs a command and returns its output. Kills its remaining processes
        before it returns, at most `seconds` later."""
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, errors="replace",
                              stderr=subprocess.STDOUT,
                              env=environment(self.build), cwd=self.source,
                              start_new_session=True,
                              preexec_fn=limit) as process:
            try:
                output = process.communicate(timeout=seconds)[0]
            except subprocess.TimeoutExpired as late:
                raise Failed(f"{command[0]} took over {seconds} s") from late
            finally:
                end_session(process.pid)
        if process.returncode:
            raise Failed(output)
        return output

    def configure(self):
        self.run("cmake", "-S", self.source, "-B", self.build, "-G", "Ninja",
                 "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1",
                 "-DGPUKIT_TESTS=ON", "-DGPUKIT_WERROR=OFF",
                 # A changed library does not require programs to be linked
                 # again.
                 "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON")

    def targets(self):
        told_by_ninja = self.run("ninja", "-C", self.build, "-t", "targets",
                                 "all")
        return {line.split(":")[0] for line in told_by_ninja.split("\n")}

    def tests(self):
        """Returns those that are a program, test-NAME."""
        told_by_ctest = self.run("ctest", "--test-dir", self.build,
                                 "--show-only=json-v1")
        targets = self.targets()
        return [test["name"] for test in json.loads(told_by_ctest)["tests"]
                if f"test-{test['name']}" in targets]

    def files_of(self, test):
        """Returns the sources of the program and of all libraries that it
        loads."""
        told_by_ninja = self.run("ninja", "-C", self.build, "-t", "inputs",
                                 f"test-{test}")
        return {os.path.relpath(path, self.source)
                for path in told_by_ninja.split("\n") if path.endswith(".c")}

    def make(self, tests):
        """Builds the programs of these tests, test-NAME, with the libraries
        they load; for pytest files all of src."""
        programs = [f"test-{name}" for name in tests if not is_pytest(name)]
        if len(programs) < len(tests):
            programs += [name for name in self.targets()
                         if re.fullmatch("src/[^/]+/all", name)]
        self.run("ninja", "-C", self.build, *programs)

    def passes(self, test, seconds=None):
        """seconds: its time without a mutant."""
        limit_s = LIMIT_S if seconds is None else 10 + SLOWER * seconds
        try:
            if is_pytest(test):
                self.run(self.python, "-m", "pytest", "-qx", "-p",
                         "no:cacheprovider", test, limit=limit_core,
                         seconds=limit_s)
            else:
                self.run("ctest", "--test-dir", self.build, "--timeout",
                         f"{limit_s:.0f}", "-R", f"^{re.escape(test)}$",
                         limit=limit_memory, seconds=limit_s + PATIENCE_S)
        except Failed:
            return False
        return True

    def put(self, path, text):
        """Writes a mutant and reverts the previous one."""
        if self.changed:
            write(*self.changed)
        full = os.path.join(self.source, path)
        with open(full, encoding="utf-8") as f:
            self.changed = full, f.read()
        write(full, text)


def is_pytest(test):
    return test.endswith(".py")


def environment(build):
    """The environment of a user without settings for gpukit, in which Python
    tests find the build."""
    return {**{k: v for k, v in os.environ.items()
               if not k.startswith(("GPUKIT_", "LD_"))}, "GPUKIT_BUILD": build}


def limit_core():
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    limit_core()


def end_session(session):
    """Kills the processes of a test's session."""
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getsid(int(pid)) == session:
                os.kill(int(pid), signal.SIGKILL)
        except OSError:
            pass


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def copy_tree(root, to):
    """Makes `to` equal to the root. Does not touch equal files, so that the
    next build there is quick."""
    wanted = set()
    for folder, folders, files in os.walk(root):
        folders[:] = [name for name in folders if name not in LEFT_OUT]
        inside = os.path.relpath(folder, root)
        os.makedirs(os.path.join(to, inside), exist_ok=True)
        for name in files:
            path = os.path.normpath(os.path.join(inside, name))
            wanted.add(path)
            copy_file(os.path.join(root, path), os.path.join(to, path))
    for folder, _, files in os.walk(to):
        for name in files:
            path = os.path.join(folder, name)
            if os.path.relpath(path, to) not in wanted:
                os.remove(path)


def copy_file(source, to):
    if not os.path.isfile(source):
        return
    with open(source, "rb") as f:
        content = f.read()
    if os.path.isfile(to):
        with open(to, "rb") as f:
            if f.read() == content:
                return
    shutil.copy2(source, to)
    os.utime(to)

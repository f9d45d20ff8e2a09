"""A copy of the sources, built apart, in which mutate.py tries mutants."""

import json
import os
import re
import resource
import shutil
import signal
import subprocess

LEFT_OUT = (".git", "build", "docs", "__pycache__", ".pytest_cache")
LIMIT_S = 60  # for one test that was never timed
SLOWER = 10  # times than without a mutant: it loops for ever
MEMORY = 8 << 30  # of a test's own: a mutant may allocate for ever


class Failed(Exception):
    """A command of the build failed; its text is what it printed."""


class Tree:
    """A copy of the sources with a build of its own."""

    def __init__(self, root, folder):
        self.source = os.path.join(folder, "tree")
        self.build = os.path.join(folder, "build")
        self.changed = None
        copy_tree(root, self.source)

    def run(self, *command, limit=None):
        """Its output; what it started is dead when this returns."""
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, errors="replace",
                              stderr=subprocess.STDOUT, env=environment(),
                              start_new_session=True,
                              preexec_fn=limit) as process:
            try:
                output = process.communicate()[0]
            finally:
                end_session(process.pid)
        if process.returncode:
            raise Failed(output)
        return output

    def configure(self):
        self.run("cmake", "-S", self.source, "-B", self.build, "-G", "Ninja",
                 "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_C_FLAGS_DEBUG=-O1",
                 "-DGPUKIT_TESTS=ON", "-DGPUKIT_WERROR=OFF",
                 # A library that changes inside changes no program.
                 "-DCMAKE_LINK_DEPENDS_NO_SHARED=ON")

    def tests(self):
        told_by_ctest = self.run("ctest", "--test-dir", self.build,
                                 "--show-only=json-v1")
        return [test["name"] for test in json.loads(told_by_ctest)["tests"]]

    def files_of(self, test):
        """The sources of the program and of all libraries that it loads."""
        told_by_ninja = self.run("ninja", "-C", self.build, "-t", "inputs",
                                 f"test-{test}")
        return {os.path.relpath(path, self.source)
                for path in told_by_ninja.split("\n") if path.endswith(".c")}

    def make(self, tests):
        """The programs of these tests, test-NAME, with what they load."""
        self.run("ninja", "-C", self.build,
                 *(f"test-{name}" for name in tests))

    def passes(self, test, seconds=None):
        """seconds: what it took without a mutant."""
        limit_s = LIMIT_S if seconds is None else 10 + SLOWER * seconds
        try:
            self.run("ctest", "--test-dir", self.build, "--timeout",
                     f"{limit_s:.0f}", "-R", f"^{re.escape(test)}$",
                     limit=limit_memory)
        except Failed:
            return False
        return True

    def put(self, path, text):
        """Writes a mutant; what the one before it changed is as it was."""
        if self.changed:
            write(*self.changed)
        full = os.path.join(self.source, path)
        with open(full, encoding="utf-8") as f:
            self.changed = full, f.read()
        write(full, text)


def environment():
    """That of a user who has not set anything of ours."""
    return {k: v for k, v in os.environ.items()
            if not k.startswith(("GPUKIT_", "LD_"))}


def limit_memory():
    resource.setrlimit(resource.RLIMIT_DATA, (MEMORY, MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def end_session(session):
    """Ends what a test left behind: the processes of its session."""
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
    """Makes `to` like the root; what is alike is not touched, so that the
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

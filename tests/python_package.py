# SPDX-License-Identifier: Apache-2.0
"""Python programs that use the package of the build tree."""

import os
import subprocess
import sys

import pytest

from conftest import BUILD, clean_env

PACKAGE = os.path.join(BUILD, "python")


def run(code, *args, **env):
    """The output of a program, which must succeed."""
    done = subprocess.run([sys.executable, "-c", code, *args], text=True,
                          capture_output=True, check=False, timeout=120,
                          env=clean_env(PYTHONPATH=PACKAGE, **env))
    assert done.returncode == 0, done.stderr
    return done.stdout


def check_built():
    """CI has Python's headers; without them the build has no package. Each test
    file calls this."""
    built = os.path.exists(os.path.join(PACKAGE, "gpukit", "_core.abi3.so"))
    if not built and not os.environ.get("CI"):
        pytest.skip("cannot:package-of-python: it was not built, for want of "
                    "Python's headers", allow_module_level=True)
    assert built, "./run build has made no build/python"


@pytest.fixture(name="program")
def program_on_machine(machine):
    """program(CODE, OPTION...) returns what the code prints on a new machine;
    the code can use `core`, and program.machine is the last program's."""

    def start(code, *options):
        start.machine = machine(*options)
        return run("from gpukit import _core as core\n" + code,
                   **start.machine.env)

    return start

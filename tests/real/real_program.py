# SPDX-License-Identifier: Apache-2.0
"""Programs from PyPI as a user runs them: each has a Python of its own,
build/real/NAME, which `./run real` makes from tests/real/NAME.txt."""

import os
import subprocess
import tempfile

from conftest import BUILD, GPUKIT, clean_env


class Program:
    """A package with its Python; called with a script, it runs that."""

    def __init__(self, name, *options):
        """options: of the launcher, for all its scripts."""
        self.name, self.options = name, options
        self.venv = os.path.join(BUILD, "real", name)
        self.python = os.path.join(self.venv, "bin", "python")

    def __call__(self, script, *options, around=(), **env):
        """The output of a script, which must succeed. The script is a file,
        since a process that it spawns reads it again; around: a command that
        runs the launcher."""
        assert os.access(self.python, os.X_OK), f"missing: ./run real {self.name}"
        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(script)
            file.flush()
            done = subprocess.run(
                [*around, GPUKIT, "fake", *self.options, *options, "--",
                 self.python, file.name], text=True, capture_output=True,
                stdin=subprocess.DEVNULL, check=False, timeout=300,
                env=clean_env(**env))
        assert done.returncode == 0, (done.stdout, done.stderr)
        return done

# SPDX-License-Identifier: Apache-2.0
"""`gpukit smi` on a machine that it may change."""

import os
import subprocess

from conftest import FAKE_DIR, GPUKIT, clean_env


class Smi:
    def __init__(self, one, generation="", allowed="all"):
        self.one = one
        assert one.ctl("set", f"permission={allowed}").returncode == 0
        self.env = clean_env(GPUKIT_MACHINE=one.path, LD_LIBRARY_PATH=(
            os.path.join(FAKE_DIR, generation)))

    def __call__(self, *args):
        done = subprocess.run([GPUKIT, "smi", *args], text=True, timeout=60,
                              capture_output=True, env=self.env, check=False)
        assert done.stderr == "", (args, done.stderr)
        return done.returncode, done.stdout

    def values(self, field):
        status, out = self(f"--query-gpu={field}",
                           "--format=csv,noheader,nounits")
        assert status == 0, out
        return out.splitlines()

    def told(self, field):
        """A field of a query, or a value of the machine."""
        if "-" in field:
            return [gpu["values"][field]["value"]
                    for gpu in self.one.show()["gpus"]]
        return self.values(field)

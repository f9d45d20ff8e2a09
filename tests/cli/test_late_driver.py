# SPDX-License-Identifier: Apache-2.0
"""Commands on a machine whose driver never starts end and say so."""

import subprocess
import time

from conftest import GPUKIT, clean_env

VERBS = (("stat",), ("select",), ("top", "--once"), ("smi", "-L"))


def test_no_command_waits_for_a_driver_for_ever(machine):
    """They run at once, since each waits ten seconds."""
    on = machine("--gpus", "h100:2")
    subprocess.run([GPUKIT, "fake", "ctl", "fail", "all",
                    "nvmlDeviceGetCount_v2=hang"], check=True,
                   capture_output=True, env=clean_env(**on.env))
    began = time.monotonic()
    running = [subprocess.Popen([GPUKIT, *verb], text=True,
                                stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT,
                                env=clean_env(**on.env)) for verb in VERBS]
    said = {verb: (each.communicate(timeout=60)[0], each.returncode)
            for verb, each in zip(VERBS, running)}
    assert time.monotonic() - began < 40
    for verb, (text, status) in said.items():
        assert status not in (0, None), (verb, text)
        if verb[0] != "smi":  # smi has nvidia-smi's words
            assert "does not answer; see `dmesg" in text, (verb, text)

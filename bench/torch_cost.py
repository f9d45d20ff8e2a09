# SPDX-License-Identifier: Apache-2.0
"""What PyTorch's operators and training steps cost on the made-up machine over
the plain run on the CPU; only where build/venv-torch is."""

import json
import os
import subprocess

SMALL = ("relu_", "relu", "add_", "mm 64")


def steps(root, python, device, around=()):
    program = os.path.join(root, "bench", "torch_steps.py")
    told = subprocess.run(
        [*around, python, program, device], check=True, capture_output=True,
        text=True, env={**os.environ, "OMP_NUM_THREADS": "2",
                        "XDG_CACHE_HOME": os.path.join(root, "build",
                                                       "torch-cache")}).stdout
    return json.loads(told.splitlines()[-1])


def rows(table, root, gpukit):
    python = os.path.join(root, "build", "venv-torch", "bin", "python")
    if not os.path.exists(python):
        return
    machine = [gpukit, "fake", "--quiet", "--gpus", "h100:1", "--"]
    found = steps(root, python, "cuda", machine)
    plain = steps(root, python, "cpu")
    for name in SMALL:
        table.add(f"PyTorch: {name}, over the CPU's {plain[name] * 1e6:.1f}",
                  (found[name] - plain[name]) * 1e6, "us", most=4)
    for name, most in (("relu of 256 Ki", 1.2), ("rand of 256 Ki", 1.5),
                       ("randn of 256 Ki", 1.5), ("GPT", 1.15),
                       ("ResNet-18", 1.15)):
        table.add(f"PyTorch: {name}, of the CPU's {plain[name] * 1e3:.3g} ms",
                  found[name] / plain[name], "x", most=most)

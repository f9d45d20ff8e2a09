# SPDX-License-Identifier: Apache-2.0
"""`gpukit fake --report` after a training has PyTorch's own figures, and those
that follow from the sizes of its tensors."""

import json
import subprocess

from conftest import GPUKIT
from torch_program import python, torch_env

MIB = 1 << 20

# Weights of 1 and 2 MiB without biases; batches of 512 x 256 (0.5 MiB).
TRAINING = """
import sys, torch
from torch import nn
made = {"adam": lambda p: torch.optim.Adam(p, foreach=False),
        "sgd": lambda p: torch.optim.SGD(p, 0.1)}[sys.argv[1]]
model = nn.Sequential(nn.Linear(256, 1024, bias=False), nn.Tanh(),
                      nn.Linear(1024, 512, bias=False)).cuda()
optimizer = made(model.parameters())
x = torch.ones(512, 256, device="cuda")
for step in range(5):
    optimizer.zero_grad()
    model(x).sum().backward()
    optimizer.step()
print(torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
"""


def reported(program, *words, gpus="h100:1", tmp_path):
    path = tmp_path / "report.json"
    done = subprocess.run(
        [GPUKIT, "fake", "--gpus", gpus, "--report", path, "--", python(),
         "-c", program, *words], env=torch_env(TMPDIR=str(tmp_path)),
        text=True, capture_output=True, check=False, timeout=600)
    assert not done.returncode, done.stderr
    # Nothing is left of the files that were passed on.
    assert not list(tmp_path.glob("gpukit-report*"))
    return done, json.loads(path.read_text())["pytorch"]


def test_a_training_is_told_by_what_it_was_made_of(tmp_path):
    done, (row,) = reported(TRAINING, "adam", tmp_path=tmp_path)
    allocated, reserved = map(int, done.stdout.split())
    assert row["allocated_peak_bytes"] == allocated
    assert row["reserved_peak_bytes"] == reserved
    made = row["categories"]
    assert sum(made.values()) == allocated
    assert made["parameters"] == 3 * MIB
    # Two moments each; the step counts are on the host.
    assert made["optimizer"] == 6 * MIB
    assert made["other"] >= MIB // 2
    assert made["rounding"] < 65536
    # 2 MiB after the first layer, 2 after the second, 1 at the end.
    assert row["phase"] == "backward"
    assert 4 * MIB <= made["activations"] <= 8 * MIB
    assert row["phases"]["backward"] == allocated - made["rounding"]
    assert row["phases"]["forward"] < row["phases"]["backward"]
    # In a step all gradients exist, and no activations.
    assert row["phases"]["optimizer"] >= 12 * MIB
    assert "process %d, GPU 0: " % row["pid"] in done.stderr


def test_an_optimizer_without_state_has_none(tmp_path):
    _, (row,) = reported(TRAINING, "sgd", tmp_path=tmp_path)
    assert row["categories"]["optimizer"] == 0
    assert row["categories"]["parameters"] == 3 * MIB


def test_the_smallest_gpu_is_one_that_has_the_room(tmp_path):
    """30 GiB: with a tenth and overhead more than the 32 of an RTX 5090."""
    _, (row,) = reported("""
import torch
weight = torch.nn.Parameter(torch.empty(30 << 30, dtype=torch.uint8,
                                        device="cuda"), requires_grad=False)
""", tmp_path=tmp_path)
    assert row["categories"]["parameters"] == 30 << 30
    assert row["needed_least_bytes"] == 30 << 30
    assert row["needed_most_bytes"] == (33 << 30) + 512 * MIB
    assert row["smallest_gpu_perhaps"] == "NVIDIA GeForce RTX 5090"
    assert row["smallest_gpu"] == "NVIDIA A100-PCIE-40GB"


def test_what_a_killed_training_told_is_kept(tmp_path):
    path = tmp_path / "report.json"
    done = subprocess.run(
        [GPUKIT, "fake", "--gpus", "t4:2", "--quiet", "--report", path, "--",
         python(), "-c", TRAINING + """
import os, signal
os.kill(os.getpid(), signal.SIGKILL)
""", "sgd"], env=torch_env(CUDA_VISIBLE_DEVICES="1"), text=True,
        capture_output=True, check=False, timeout=600)
    assert done.returncode == 137, done.stderr
    (row,) = json.loads(path.read_text())["pytorch"]
    assert row["device"] == 1
    assert row["categories"]["parameters"] == 3 * MIB


def test_the_peak_is_that_of_the_whole_run(tmp_path):
    """A loop that resets peaks, as many do in each epoch, hides none."""
    for reset in ("reset_peak_memory_stats", "reset_max_memory_allocated",
                  "reset_accumulated_memory_stats"):
        _, (row,) = reported(f"""
import torch
model = torch.nn.Linear(8, 8).cuda()
optimizer = torch.optim.SGD(model.parameters(), 0.1)
for size in (1, 40, 2, 1):
    large = torch.empty(size << 20, device="cuda")
    optimizer.zero_grad()
    model(torch.ones(2, 8, device="cuda")).sum().backward()
    optimizer.step()
    del large
    torch.cuda.empty_cache()
    torch.cuda.{reset}()
torch.cuda.reset_peak_memory_stats(0)
""", tmp_path=tmp_path)
        assert 160 * MIB <= row["allocated_peak_bytes"] < 162 * MIB, reset
        assert row["reserved_peak_bytes"] >= 160 * MIB
        assert row["categories"]["other"] >= 160 * MIB
        assert sum(row["categories"].values()) == row["allocated_peak_bytes"]

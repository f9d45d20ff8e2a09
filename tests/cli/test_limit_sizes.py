# SPDX-License-Identifier: Apache-2.0
"""`gpukit limit --memory` is tested here: valid sizes, sizes that are too
small, and --strict."""

import json
import subprocess

import pytest

from conftest import GPUKIT
from limit_tools import fails, make, policy_of

MIB = 1 << 20


@pytest.mark.parametrize("size", ["8", "1MiB", "100MiB", "0=8", "4GiB,1=50MiB"])
def test_less_than_a_context_is_refused(gpukit, group, size):
    done = gpukit("limit", "--group", group, "--memory", size, "--", "echo")
    fails(done, 2, "less than one context needs")
    assert group not in gpukit.ok("limit", "ls")  # nothing was made


def test_set_refuses_it_too(gpukit, group):
    before = make(gpukit, group, "--memory", "4GiB")
    fails(gpukit("limit", "set", group, "--memory", "100MiB"), 2,
          "less than one context needs")
    assert policy_of(gpukit, group) == before


def test_where_contexts_are_free_little_is_enough(gpukit, group):
    policy = make(gpukit, group, "--memory", "100MiB", "--contexts", "free")
    assert policy["memory_bytes"][0] == 100 * MIB
    fails(gpukit("limit", "--contexts", "free", "--memory", "8", "--", "true"),
          2, "less than one allocation needs")


def totals(gpukit, one):
    told = gpukit.json("stat", "--json", env=one.env)["devices"]
    return [gpu["memory_total_bytes"] for gpu in told]


def test_a_part_of_what_each_gpu_has(gpukit, group, machine):
    one = machine("--gpus", "h100,l4")
    large, small = totals(gpukit, one)
    gpukit.ok("limit", "--group", group, "--memory", "50%,1=25%", "--",
              "true", env=one.env)
    memory = policy_of(gpukit, group)["memory_bytes"]
    assert memory[0] == large // 2
    assert memory[1] == small // 4
    assert set(memory[2:]) == {small // 2}  # for GPUs that may be added
    gpukit.ok("limit", "set", group, "--memory", "0=10%", env=one.env)
    memory = policy_of(gpukit, group)["memory_bytes"]
    assert memory[0] == large // 10 and memory[1] == small // 4


def test_the_part_is_of_the_gpu_inside_of_a_group_too(gpukit, group, machine):
    one = machine("--gpus", "h100")
    (total,) = totals(gpukit, one)
    gpukit.ok("limit", "--group", group, "--memory", "50%", "--", GPUKIT,
              "limit", "set", group, "--memory", "40%", env=one.env)
    assert policy_of(gpukit, group)["memory_bytes"][0] == total * 40 // 100


@pytest.mark.parametrize("hook", [None, "0", "1"])
def test_the_command_sees_its_part(gpukit, machine, hook):
    """Its environment is unchanged: NVML reports the limit to it."""
    one = machine("--gpus", "h100")
    (total,) = totals(gpukit, one)
    env = {**one.env, "HOOK_NVML_ENABLE": hook} if hook else one.env
    told = json.loads(gpukit.ok(
        "limit", "--memory", "50%", "--", GPUKIT, "stat", "--json", env=env))
    assert told["devices"][0]["memory_total_bytes"] == (
        total if hook == "0" else total // 2)


def test_there_must_be_such_a_gpu(gpukit, machine):
    one = machine("--gpus", "h100")
    fails(gpukit("limit", "--memory", "3=50%", "--", "true", env=one.env), 1,
          "no GPU 3")
    for wrong in ("0%", "101%", "-5%", "%", "5.5%", "000000000000030x%"):
        fails(gpukit("limit", "--memory", wrong, "--", "true", env=one.env), 2,
              "--memory")


def static(tmp_path):
    program = tmp_path / "static"
    done = subprocess.run(["cc", "-static", "-o", program, "-xc", "-"],
                          text=True, check=False, capture_output=True,
                          input="int main(void) { return 3; }")
    if done.returncode:
        pytest.skip("no such compiler here")
    return program


def test_strict_does_not_run_what_is_not_reached(gpukit, group, tmp_path):
    program = static(tmp_path)
    script = tmp_path / "script"
    script.write_text(f"#!{program}\n")
    script.chmod(0o755)
    for command in (program, script):
        assert gpukit("limit", "--", command).returncode == 3
        fails(gpukit("limit", "--strict", "--group", group, "--", command), 1,
              "statically linked", "runs without limits")
    assert group not in gpukit.ok("limit", "ls")
    assert gpukit.ok("limit", "--strict", "--", "echo", "ran") == "ran\n"

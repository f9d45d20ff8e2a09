# SPDX-License-Identifier: Apache-2.0
"""`gpukit limit audit` finds what the ledger does not know, and `verify`
measures what a known load gets."""

import json
import os
import signal
import subprocess
import sys

import pytest

from conftest import GPUKIT, ROOT, clean_env, needed
from limit_shells import GIB, MIB, SHELL, hami

CONTEXT = 518 * MIB


def assert_fits(told, what):
    """Validates against the schema's part of that name."""
    jsonschema = needed("jsonschema", "the schema")
    with open(os.path.join(ROOT, "docs", "limit.schema.json"),
              encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.validate(told, {"$defs": schema["$defs"],
                               "$ref": f"#/$defs/{what}"})


def audit(gpukit, one, name, status):
    done = gpukit("limit", "audit", name, "--json", env=one.env)
    assert (done.returncode, done.stderr) == (status, ""), done
    told = json.loads(done.stdout)
    assert_fits(told, "audit")
    assert told["agrees"] is (status == 0) is (not told["differences"])
    return told


def test_a_ledger_that_knows_all_agrees(machine, shell, gpukit, tmp_path):
    one = machine("--gpus", "h100:2")
    cache = tmp_path / "x.cache"
    first, second = shell(hami(one, cache)).start(), shell(hami(one, cache))
    second.start(1)
    assert first("alloc(100 << 20)") == second("alloc(7)") == 0
    told = audit(gpukit, one, cache, 0)
    assert told["process_count"] == 2
    held = [gpu["ledger_bytes"] for gpu in told["devices"]]
    assert held == [gpu["driver_bytes"] for gpu in told["devices"]]
    assert held == [CONTEXT + 100 * MIB, CONTEXT + 2 * MIB]
    text = gpukit.ok("limit", "audit", cache, env=one.env)
    assert text.count("\n") == 1 and "they agree" in text
    # Other programs on the same GPU do not belong to the group.
    shell(one.env).start()
    audit(gpukit, one, cache, 0)


def free_of(env, **more):
    """The same environment without the library."""
    return {**{k: v for k, v in env.items() if k != "LD_PRELOAD"}, **more}


def test_a_process_that_the_library_does_not_reach_is_named(
        machine, shell, gpukit, tmp_path):
    one = machine("--gpus", "h100")
    cache = tmp_path / "x.cache"
    shell(hami(one, cache)).start()
    escaped = shell(free_of(hami(one, cache))).start()
    assert escaped("alloc(300 << 20)") == 0
    (found,) = audit(gpukit, one, cache, 1)["differences"]
    assert (found["pid"], found["index"]) == (escaped.pid, 0)
    assert (found["in_ledger"], found["in_driver"]) == (False, True)
    assert found["driver_bytes"] == CONTEXT + 300 * MIB
    assert found["ledger_bytes"] is None
    text = gpukit("limit", "audit", cache, env=one.env).stdout
    assert str(escaped.pid) in text and "818.0MiB" in text
    assert "it is not in the ledger" in text and "they differ" in text
    escaped.end()
    audit(gpukit, one, cache, 0)


CHILD = ("import os, subprocess, sys\n"
         "env = {k: v for k, v in os.environ.items() if k[:4] not in "
         "('CUDA', 'GPUK', 'LD_P') or k == 'GPUKIT_MACHINE'}\n"
         "sys.exit(subprocess.run([sys.executable, sys.argv[1]], "
         "env=env).returncode)")


def test_so_is_one_that_cleared_its_environment(machine, shell, gpukit,
                                                tmp_path):
    """Its parent belongs to the group."""
    one = machine("--gpus", "h100")
    cache = tmp_path / "x.cache"
    shell(hami(one, cache)).start()
    process = subprocess.Popen(
        [sys.executable, "-c", CHILD, SHELL], stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True, env=clean_env(**hami(one, cache)))
    try:
        process.stdin.write("[nvml_init(), cu_init(), use(0), os.getpid()]\n")
        process.stdin.flush()
        told = json.loads(process.stdout.readline())
        assert told[:3] == [0, 0, 0]
        (found,) = audit(gpukit, one, cache, 1)["differences"]
        assert found["pid"] == told[3] and not found["in_ledger"]
    finally:
        process.stdin.close()
        process.wait(timeout=60)


def test_contexts_that_do_not_count_are_no_difference(machine, shell, gpukit,
                                                      tmp_path):
    one = machine("--gpus", "h100")
    cache = tmp_path / "x.cache"
    shell(hami(one, cache)).start().end()
    gpukit.ok("limit", "set", cache, "--contexts", "free")
    mine = shell(hami(one, cache)).start()
    assert mine("alloc(100 << 20)") == 0
    told = audit(gpukit, one, cache, 0)
    assert told["devices"][0]["ledger_bytes"] == 100 * MIB
    assert told["devices"][0]["driver_bytes"] == CONTEXT + 100 * MIB


def test_follow_tells_changes(machine, shell, gpukit, tmp_path):
    one = machine("--gpus", "h100")
    cache = tmp_path / "x.cache"
    shell(hami(one, cache)).start()
    with subprocess.Popen(
            [GPUKIT, "limit", "audit", cache, "--follow", "--interval", "0.2",
             "--json"], text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=clean_env(**one.env)) as following:
        try:
            assert json.loads(following.stdout.readline())["agrees"]
            escaped = shell(free_of(hami(one, cache))).start()
            while True:
                told = json.loads(following.stdout.readline())
                if told["differences"]:
                    break
            assert told["differences"][0]["pid"] == escaped.pid
        finally:
            following.send_signal(signal.SIGINT)
        assert following.wait(timeout=60) == 1
        assert following.stderr.read() == ""


def test_what_cannot_be_audited(machine, gpukit):
    one = machine("--gpus", "h100")
    done = gpukit("limit", "audit", "nobodys", env=one.env)
    assert done.returncode == 1 and "no group 'nobodys'" in done.stderr
    done = gpukit("limit", "audit", env=one.env)
    assert done.returncode == 2 and "no group;" in done.stderr


# ---- verify ----

@pytest.mark.parametrize("words,memory,compute", [
    ((), 2 * GIB, 30),
    (("--memory", "1GiB", "--compute", "50"), GIB, 50),
])
def test_a_known_load_gets_what_is_granted(machine, gpukit, words, memory,
                                           compute):
    one = machine("--gpus", "h100:2")
    done = gpukit("limit", "verify", "--seconds", "2", "--gpu", "1", "--json",
                  *words, env=one.env)
    told = json.loads(done.stdout)
    assert done.returncode == (0 if told["kept"] else 1), done
    assert_fits(told, "verify")
    assert told["index"] == 1
    got = told["memory"]
    assert got["granted_bytes"] == memory and got["kept"] is True
    assert 0 <= memory - got["got_bytes"] < 4 * MIB
    assert got["allocated_bytes"] <= got["got_bytes"] - CONTEXT
    time = told["compute"]
    assert time["granted_percent"] == compute and time["launches"] > 10
    # It gets less where other programs use the processors.
    assert compute / 4 < time["got_percent"] < compute + 10
    assert time["kept"] is (abs(time["got_percent"] - compute) <= 3)


def test_it_says_what_it_found(machine, gpukit):
    one = machine("--gpus", "h100")
    told = gpukit("limit", "verify", "--seconds", "1", env=one.env).stdout
    lines = [line.split() for line in told.splitlines()]
    assert lines[1] == ["granted", "got"]
    assert lines[2] == ["memory", "2048MiB", "2048MiB", "kept"]
    assert lines[3][:2] == ["time", "30%"]


def test_what_cannot_be_verified(machine, gpukit):
    one = machine("--gpus", "h100")
    for words, status, said in [
            (("--memory", "100GiB"), 1, "are free"),
            (("--gpu", "3"), 1, "no GPU 3"),
            (("--memory", "none"), 2, "nothing to verify")]:
        done = gpukit("limit", "verify", *words, env=one.env)
        assert done.returncode == status and said in done.stderr, done

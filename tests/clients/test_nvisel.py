# SPDX-License-Identifier: Apache-2.0
"""`gpukit select` is compared with nvitop's nvisel on the same idle machine."""

import os
import subprocess
import sys

import pytest

from conftest import FAKE_DIR, GPUKIT, clean_env

NVISEL = os.path.join(os.path.dirname(sys.executable), "nvisel")
SPLIT = ["--mig", "0=3g.40gb+2g.20gb+1g.10gb", "--mig", "1=1g.10gb+1g.10gb"]
MACHINES = {
    "busy": ["--gpus", "a100-sxm4-80gb:8",
             "--load", "train:0-3,mem=60GiB", "--load", "idle:6,mem=4GiB",
             "--load", "infer:4-5,n=2,mem=24GiB"],
    "mixed": ["--gpus", "h100:2,t4:2,a100-sxm4-80gb:2,v100-sxm2-32gb:2",
              "--load", "infer:1+2+4,mem=10GiB"],
    "mig": ["--gpus", "a100-sxm4-80gb:4", *SPLIT,
            "--load", "train:2,mem=70GiB"],
    "all-mig": ["--gpus", "a100-sxm4-80gb:2", *SPLIT],
    "none": ["--gpus", "none"],
}
OPTIONS = [
    "", "-n 1", "-n 2", "-C 3", "-c 2 -C 2", "-n 3 -S", "--no-sort",
    "-n 2 -c 8 -C 9", "-C 0", "-n 0",
    "-f 30GiB", "-f 5000M -n 2", "--min-free-memory 0.05TB", "-t 30gb",
    "-t 1", "-t 81GB", "-t 90GB", "-f 79Gi --tol 40", "-t 90GB --tol 50",
    "--tolerance 100 -f 4TiB", "-f 4TB --tol 99", "-f 30g",
    "-G 0", "-G 5", "-G 50", "-G 200", "-M 3", "-M 40 -G 60",
    "-G 0 --tol 60", "-G 30 -M 10 -f 20GiB --tol 30 -n 2",
    "-O uuid", "-O index -n 1", "--format uuid -C 2", "-0 -C 2",
    "--null -O uuid -c 1", "-s : -C 3", "--sep + -C 2", "--newline",
    "--separator ab -S",
    "-i", "-i 0", "-i 2,1", "-i 3,1,0 -S", "--inherit 1 -n 1", "-i 0,0",
    "--account-as-free", "--account-as-free root -C 3",
    "--account-as-free nobody daemon --count 1", "-f 30GiB --account-as-free",
]
# Arguments that nvisel gets wrong, with our status; our stdout is empty.
STRICTER = {"-c 9": 4, "-c 3 -f 79.9GiB": 4, "-c 2 -C 1": 2, "-i 0,x": 3,
            "-i 99": 3}


def both(env, words):
    """The answers of both: status, stdout, the value on stderr."""
    told = []
    for argv in ([GPUKIT, "select", "--allow-empty"], [NVISEL]):
        done = subprocess.run([*argv, *words], capture_output=True,
                              env=clean_env(**env), timeout=60, check=False,
                              stdin=subprocess.DEVNULL)
        told.append((done.returncode, done.stdout,
                     [line for line in done.stderr.splitlines()
                      if line.startswith(b"CUDA_VISIBLE_DEVICES=")]))
    return told


@pytest.mark.slow
@pytest.mark.parametrize("kind", MACHINES)
def test_the_choice_is_nvisels(machine, kind):
    env = machine("--frozen", *MACHINES[kind]).env
    others = []
    for line in OPTIONS:
        ours, theirs = both(env, line.split())
        # Nothing is chosen with -0: nvisel prints a device without a name. It
        # skips a bad entry, which we refuse.
        if (ours[0] == 3 and not ours[1]) or \
                (theirs[1] == b"\0" and not ours[1]):
            others.append(line)
            continue
        # Too few devices: nvisel prints them all the same.
        if ours[0] == theirs[0] == 4:
            assert ours[1:] == (b"", [])
            others.append(line)
            continue
        assert ours == theirs, line
    assert len(others) <= (16 if kind in ("none", "all-mig") else 6), others


@pytest.mark.parametrize("variable", ["1", "2,0", "", "-1", None])
def test_the_environment_is_inherited_as_by_nvisel(machine, variable):
    env = machine("--frozen", *MACHINES["busy"]).env
    if variable is not None:
        env["CUDA_VISIBLE_DEVICES"] = variable
    for words in (["-i"], []):
        ours, theirs = both(env, words)
        assert ours == theirs


def test_what_nvisel_gets_wrong_is_an_error(machine):
    env = machine("--frozen", *MACHINES["busy"]).env
    for line, status in STRICTER.items():
        ours, theirs = both(env, line.split())
        assert ours == (status, b"", []), line
        assert theirs != ours, line


def test_feeding_nvidia_smi(machine):
    m = machine("--frozen", "--gpus", "a100-sxm4-80gb:3", "--load",
                "idle:1,mem=10GiB")
    smi = os.path.join(FAKE_DIR, "bin", "nvidia-smi")
    done = subprocess.run(
        ["sh", "-c", f"{GPUKIT} select -0 -O uuid -n 3 | xargs -0 -I '{{}}' "
         f"{smi} --id='{{}}' --query-gpu=index,memory.free --format=csv"],
        text=True, capture_output=True, env=clean_env(**m.env), timeout=60,
        check=True)
    lines = done.stdout.splitlines()
    assert lines[::2] == ["index, memory.free [MiB]"] * 3
    assert [line.split(",")[0] for line in lines[1::2]] == ["2", "0", "1"]
    free = [int(line.split()[1]) for line in lines[1::2]]
    assert free[0] == free[1] == free[2] + 10240

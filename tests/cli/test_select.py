# SPDX-License-Identifier: Apache-2.0
"""`gpukit select` is tested here: options, exit codes, JSON, waiting,
reserving."""

import collections
import json
import os
import signal
import subprocess
import threading
import time

import pytest

from conftest import GPUKIT, clean_env
from tools import alive, wait_until

FOUR = ["--gpus", "a100-sxm4-80gb:4"]


@pytest.fixture
def select(machine, tmp_path):
    """select(OPTION...) on a machine made by select.make(OPTION...)."""

    class Select:
        env = {}
        made = None

        def make(self, *options):
            self.made = machine(*options)
            self.env = {**self.made.env,
                        "GPUKIT_RESERVATIONS": str(tmp_path / "locks")}
            return self.made

        def start(self, *words, **how):
            return subprocess.Popen(
                [GPUKIT, "select", *map(str, words)], text=True,
                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, env=clean_env(**self.env), **how)

        def __call__(self, *words, status=0):
            started = self.start(*words)
            out, err = started.communicate(timeout=60)
            assert started.returncode == status, (words, out, err)
            return out if not status else err

    return Select()


def fails(select, status, *words, says=()):
    """Checks the status, that stdout is empty, and that stderr is one line with
    these words."""
    started = select.start(*words)
    out, err = started.communicate(timeout=60)
    assert (started.returncode, out) == (status, ""), (words, out, err)
    assert err.startswith("gpukit select: "), err
    if status != 2:
        assert err.count("\n") == 1, err
    for word in says:
        assert word in err, err


def test_without_a_driver_the_status_is_1(gpukit):
    done = gpukit("select", "--nvml", "/nonexistent.so")
    assert (done.returncode, done.stdout) == (1, "")
    assert "gpukit fake -- gpukit select" in done.stderr


def test_a_driver_that_refuses_is_2(select):
    select.make(*FOUR).ctl("fail", "driver-mismatch")
    fails(select, 2, says=["mismatch"])


@pytest.mark.parametrize("words, part", [
    (["-c", "2", "-C", "1"], "--min-count 2 exceeds --max-count 1"),
    (["-f", "much"], "4GiB"), (["-f", ""], "4GiB"), (["-f", "+5G"], "4GiB"),
    (["-f", "5 G"], "4GiB"), (["-f", "5P"], "4GiB"), (["-t", "0x10"], "4GiB"),
    (["-t", "9999999E"], "4GiB"), (["-f", "5KiBs"], "4GiB"),
    (["-G", "-3"], "--max-gpu-utilization"), (["-M", "5.5"], "number"),
    (["--tol", "x"], "--tolerance"), (["-n", "-1"], "--count"),
    (["-O", "gpu"], "index or uuid"), (["-0", "--newline"], "--null"),
    (["-s", ":", "-0"], "--null"), (["--json", "-0"], "--json"),
    (["--reserve"], "command"),
    (["--reserve", "--reserved", "--", "true"], "excludes --reserved"),
    (["--", "true"], "--reserve"),
    (["stray"], "--reserve"), (["--wait=soon"], "--wait"),
    (["--nvml", ""], "--nvml"),
])
def test_wrong_usage_is_2(select, words, part):
    fails(select, 2, *words, says=[part])


def test_too_few_devices_say_why_and_print_nothing(select):
    select.make(*FOUR, "--load", "train:0-2,mem=60GiB", "--frozen")
    fails(select, 4, "-n", "2", "-f", "50GiB",
          says=["1 of the 2 devices", "3 without enough free memory"])
    fails(select, 4, "-c", "9", "--json", says=["4 of the 9"])
    select.made.ctl("fail", "3", "lost")
    fails(select, 4, "-n", "1", "-f", "50GiB", says=["1 not answering"])
    assert "3" not in select().split(",")


@pytest.mark.parametrize("value, bad", [
    ("0,x", "'x'"), ("7", "'7'"), ("GPU-zz,0", "'GPU-zz'"), ("0,1,0", "'0'"),
    ("0,,1", "''")])
def test_a_bad_entry_is_named(select, value, bad):
    select.make(*FOUR)
    fails(select, 3, "-i", value, says=[bad, value])
    select.env["CUDA_VISIBLE_DEVICES"] = value
    fails(select, 3, "-i", says=[bad, "CUDA_VISIBLE_DEVICES"])
    assert select("-C", "1") == "3\n"


def test_json_tells_the_chosen_and_why_not_the_others(select):
    m = select.make(*FOUR, "--load", "train:0-1,mem=60GiB", "--frozen")
    told = json.loads(select("--json", "-C", "1", "-f", "50GiB"))
    gpus = m.show()["gpus"]
    assert told["schema"] == 1 and told["cuda_visible_devices"] == "3"
    assert [d["uuid"] for d in told["devices"]] == [gpus[3]["uuid"]]
    assert [(d["index"], d.get("refused")) for d in told["others"]] == [
        (2, None), (0, "min_free_memory"), (1, "min_free_memory")]
    for device in told["devices"] + told["others"]:
        assert device["memory_total_bytes"] == 80 << 30
        assert device["constraints_loosened"] == 0
        assert device["mig_index"] is None
    told = json.loads(select("--json", "-C", "0"))
    assert told["devices"] == [] and len(told["others"]) == 4
    told = json.loads(select("--json", "-O", "uuid", "-n", "2"))
    assert told["cuda_visible_devices"] == ",".join(
        gpu["uuid"] for gpu in gpus[:1:-1])
    assert not told["others"][0].get("refused")


def test_gpus_of_several_models_ask_for_an_order(select):
    select.make("--gpus", "t4:1,a100-sxm4-80gb:1")

    def told(*words):
        return select.start(*words).communicate(timeout=60)[1]

    assert "CUDA_DEVICE_ORDER" in told()
    assert "CUDA_DEVICE_ORDER" not in told("-O", "uuid")
    select.made.ctl("fail", "1", "lost")
    assert "CUDA_DEVICE_ORDER" not in told()
    select.made.ctl("clear", "1", "lost")
    assert "CUDA_DEVICE_ORDER" in told()
    select.env["CUDA_DEVICE_ORDER"] = "PCI_BUS_ID"
    assert "CUDA_DEVICE_ORDER" not in told()


# ---- topology ----

def indices(text):
    return [int(word) for word in text.strip().split(",")]


def test_two_islands_give_one_of_them(select):
    select.make("--gpus", "a100-sxm4-80gb:4,h100:4", "--frozen",
                "--load", "idle:3,mem=1GiB", "--load", "idle:4,mem=1GiB")
    # The four with the most free memory are on both islands.
    assert len({i // 4 for i in indices(select("-n", "4"))}) == 2
    assert sorted(indices(select("-n", "4", "--topology"))) in (
        [0, 1, 2, 3], [4, 5, 6, 7])
    # With a GPU of the first island lost, only the second is left.
    select.made.ctl("fail", "0", "lost")
    assert sorted(indices(select("-n", "4", "--topology"))) == [4, 5, 6, 7]


def test_pairs_of_cards_stay_together(select):
    select.make("--gpus", "a100-pcie-40gb:8", "--topology", "nvl", "--frozen",
                "--load", "idle:7,mem=1GiB")
    a, b = sorted(indices(select("-n", "2", "--topology")))
    assert a // 2 == b // 2
    four = sorted(indices(select("-n", "4", "--topology")))
    assert [i // 2 for i in four[::2]] == [i // 2 for i in four[1::2]]
    assert four in ([0, 1, 2, 3], [4, 5, 6, 7])


# ---- reservations ----

def test_the_command_gets_its_devices_and_its_status_is_ours(select):
    m = select.make(*FOUR)
    show = 'echo "$CUDA_VISIBLE_DEVICES $CUDA_DEVICE_ORDER"; exit 7'
    started = select.start("--reserve", "-n", "2", "--", "sh", "-c", show)
    assert started.communicate(timeout=60) == ("3,2 PCI_BUS_ID\n", "")
    assert started.returncode == 7
    out = select("--reserve", "-n", "1", "-O", "uuid", "sh", "-c",
                 'echo "$CUDA_VISIBLE_DEVICES"')
    assert out.strip() == m.show()["gpus"][3]["uuid"]
    fails(select, 127, "--reserve", "--", "no-such-command-here",
          says=["command not found"])
    fails(select, 126, "--reserve", "--", "/etc/passwd", says=["ermission"])
    # Nothing stays reserved.
    assert select("-C", "1") == "3\n"


def begin(select, *words):
    """Starts a command that prints its devices and holds them until it ends."""
    return subprocess.Popen(
        [GPUKIT, "select", "--reserve", *words, "--", "sh", "-c",
         'echo "$CUDA_VISIBLE_DEVICES"; exec cat >&2'], text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL, env=clean_env(**select.env))


def hold(select, *words):
    """The same, and waits until it has them."""
    started = begin(select, *words)
    started.devices = started.stdout.readline().strip()
    return started


def name_of(pid):
    with open(f"/proc/{pid}/comm", encoding="ascii") as f:
        return f.read().strip()


def end(*started):
    for one in started:
        one.kill()
        one.wait(timeout=60)
        one.stdin.close()
        one.stdout.close()


def test_reserved_devices_are_passed_over(select):
    select.make(*FOUR)
    holder = hold(select, "-n", "3")
    assert holder.devices == "3,2,1"
    assert select() == "0\n"
    assert select("--reserved") == "3,2,1,0\n"
    fails(select, 4, "-n", "2", says=["1 of the 2", "3 reserved"])
    fails(select, 4, "--reserve", "-n", "2", "--", "true",
          says=["3 reserved"])
    told = json.loads(select("--json"))
    assert [d.get("refused") for d in told["others"]] == ["reserved"] * 3
    end(holder)
    assert select() == "3,2,1,0\n"


def test_a_command_may_choose_among_its_own(select):
    select.make(*FOUR)
    out = select("--reserve", "-n", "2", "--", "sh", "-c",
                 f"{GPUKIT} select -i -n 1; {GPUKIT} select")
    assert out == "3\n3,2,1,0\n"


def test_machines_do_not_share_reservations(select, machine):
    select.make(*FOUR)
    holder = hold(select, "-n", "4")
    other = machine(*FOUR)
    select.env["GPUKIT_MACHINE"] = other.env["GPUKIT_MACHINE"]
    assert select() == "3,2,1,0\n"
    end(holder)


def test_a_killed_holder_frees_at_once(select):
    select.make(*FOUR)
    waited = []
    for _ in range(5):
        holder = hold(select, "-n", "4")
        fails(select, 4, "-n", "1")
        wait_until(lambda pid=holder.pid: name_of(pid) == "cat")
        waiter = select.start("--reserve", "--wait", "-n", "4", "--",
                              "date", "+%s.%N")
        wait_until(lambda: os.path.exists(f"/proc/{waiter.pid}/fd"))
        time.sleep(0.3)
        killed = time.time()
        holder.send_signal(signal.SIGKILL)
        out, err = waiter.communicate(timeout=60)
        assert waiter.returncode == 0, err
        waited.append(float(out) - killed)
        end(holder)
    # The lock is free at once; a waiter looks every 50 ms and then reads the
    # GPUs, which may be slow on a busy host, but not always. A waiter that has
    # just begun to sleep for a second would need the rest of it.
    assert min(waited) < 0.5, waited


def test_children_keep_the_reservation(select, tmp_path):
    """The command is killed while its worker still computes."""
    select.make(*FOUR)
    pid = tmp_path / "pid"
    holder = subprocess.Popen(
        [GPUKIT, "select", "--reserve", "-n", "4", "--", "sh", "-c",
         f"sleep 1000 & echo $! >{pid}; exec sleep 1000"],
        stdin=subprocess.DEVNULL, env=clean_env(**select.env))
    wait_until(lambda: pid.exists() and pid.read_text().strip())
    child = int(pid.read_text())
    holder.kill()
    holder.wait(timeout=60)
    fails(select, 4, "-n", "1", says=["4 reserved"])
    os.kill(child, signal.SIGKILL)
    wait_until(lambda: not alive(child))
    assert select("-n", "4") == "3,2,1,0\n"


def race(select, index, log, counts):
    """One caller, which logs when it had which device."""
    done = subprocess.run(
        [GPUKIT, "select", "--reserve", "--wait", "300", "-n",
         str(counts[index % len(counts)]), "--", "sh", "-c",
         'echo "+ $CUDA_VISIBLE_DEVICES $$" >>"$LOG"; sleep 0.0$(($$ % 10));'
         ' echo "- $CUDA_VISIBLE_DEVICES $$" >>"$LOG"'],
        stdin=subprocess.DEVNULL, env=clean_env(**select.env, LOG=str(log)),
        text=True, capture_output=True, timeout=400, check=False)
    if done.returncode:
        raise AssertionError(done.stderr)


def test_fifty_racing_callers_never_share_a_device(select, tmp_path):
    select.make(*FOUR)
    log = tmp_path / "log"
    failed = []

    def caller(index):
        try:
            race(select, index, log, [1, 2, 1, 3])
        except AssertionError as error:
            failed.append(error)

    threads = [threading.Thread(target=caller, args=(i,)) for i in range(50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
    holders, used = {}, collections.Counter()
    lines = log.read_text().splitlines()
    assert len(lines) == 100
    for line in lines:
        sign, devices, pid = line.split()
        for device in devices.split(","):
            if sign == "+":
                assert device not in holders, (line, holders)
                holders[device] = pid
                used[device] += 1
            else:
                assert holders.pop(device) == pid
    assert set(used) == {"0", "1", "2", "3"} and not holders
    assert sum(used.values()) == 50 // 4 * 7 + 3


def test_without_waiting_nobody_fails_who_need_not(select):
    """Four callers at once for one device each of four: all get one."""
    select.make(*FOUR)
    for _ in range(5):
        started = [begin(select, "-n", "1") for _ in range(4)]
        told = [one.stdout.readline() for one in started]
        end(*started)
        assert sorted(told) == ["0\n", "1\n", "2\n", "3\n"]


def test_all_users_share_the_file(select, tmp_path):
    select.make(*FOUR)
    select("--reserve", "--", "true")
    path = tmp_path / "locks"
    assert path.stat().st_mode & 0o777 == 0o666
    assert path.stat().st_size == 0
    path.unlink()
    path.symlink_to("/etc/passwd")
    fails(select, 1, "--reserve", "--", "true", says=[str(path)])


def test_where_the_locks_are_unless_told(select):
    select.make(*FOUR)
    del select.env["GPUKIT_RESERVATIONS"]
    assert select("-n", "1") == "3\n"
    shared = os.stat("/run/lock").st_mode & 0o002 if os.path.isdir(
        "/run/lock") else 0
    path = f"{'/run/lock' if shared else '/dev/shm'}/gpukit-reservations"
    # The process that creates the file has it under another name in /proc.
    held = select("--reserve", "-n", "1", "--", "sh", "-c",
                  "stat -Lc %d:%i /proc/$$/fd/*; true")
    made = os.stat(path)
    assert f"{made.st_dev}:{made.st_ino}" in held.splitlines()


# ---- waiting ----

def test_waiting_ends_when_there_are_enough(select):
    m = select.make(*FOUR, "--load", "idle:all,mem=60GiB")
    waiter = select.start("--wait", "60", "-n", "1", "-f", "70GiB")
    time.sleep(0.5)
    assert waiter.poll() is None
    listed = subprocess.run([GPUKIT, "stat", "--json"], text=True, check=True,
                            capture_output=True, env=clean_env(**m.env))
    gpu = json.loads(listed.stdout)["devices"][2]
    os.kill(gpu["processes"][0]["pid"], signal.SIGKILL)
    out, err = waiter.communicate(timeout=60)
    assert (waiter.returncode, out) == (0, "2\n"), err


def test_nobody_waits_for_more_devices_than_there_are(select):
    select.make(*FOUR, "--mig", "0=3g.40gb+3g.40gb")
    fails(select, 4, "--wait", "-n", "6", says=["6 devices", "no more"])
    fails(select, 4, "-n", "4", says=["3 of the 4", "one MIG device only"])


def test_waiting_has_an_end(select):
    select.make(*FOUR, "--load", "idle:all,mem=60GiB")
    begun = time.monotonic()
    fails(select, 4, "--wait", "0.4", "-f", "70GiB", says=["0 of the 1"])
    assert 0.4 <= time.monotonic() - begun < 20
    waiter = select.start("--wait", "-n", "1", "-f", "70GiB")
    time.sleep(0.3)
    waiter.send_signal(signal.SIGTERM)
    waiter.communicate(timeout=20)
    assert waiter.returncode == -signal.SIGTERM


def test_no_device_at_all_is_told_and_is_no_choice(select):
    select.make("--gpus", "h100-80gb-hbm3", "--gpus", "h100-mig", "--frozen")
    fails(select, 1, "-f", "900GiB", says=["no device to choose",
                                           "MIG devices without enough"])
    assert select("-f", "900GiB", "--allow-empty") == "\n"
    fails(select, 2, "--wait", "--allow-empty", says=["excludes"])

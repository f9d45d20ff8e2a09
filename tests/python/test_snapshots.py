# SPDX-License-Identifier: Apache-2.0
"""Snapshots turn into words later what was read at once, on the fake machine.
"""

from python_package import check_built, program_on_machine

check_built()
program = program_on_machine

MACHINE = ("--frozen", "--gpus", "h100:1,a100:1,rtx4090:1", "--mig",
           "1=3g.40gb+2g.20gb", "--load", "train:0,n=2,mem=2GiB",
           "--load", "infer:1:0")
ASKED_NOBODY = """
import gpukit, os, sys
from gpukit import _core, host
def told(shots):
    return [{key: repr(shot[key]) for key in shot
             if key not in ("device", "host")} for shot in shots]
gpukit.take_snapshots()
taken = gpukit.take_snapshots()
alone = [device.as_snapshot() for device in gpukit.Device.all()]
before = told(gpukit.take_snapshots().devices)
def refuse(*args, **named):
    raise AssertionError("somebody is asked")
for name in ("read", "explain", "identify", "processes", "snapshot",
             "mig_slots", "links"):
    setattr(_core, name, refuse)
sys.addaudithook(lambda event, args: event in ("open", "os.listdir")
                 and str(args[0]).startswith("/proc") and refuse())
print(told(taken.devices) == before and told(alone) == before[:2] + before[4:])
print(len(taken.devices), len(told(taken.gpu_processes)))
print({type(shot.host.status) for shot in taken.gpu_processes})
"""


def test_reading_a_snapshot_asks_nobody(program):
    out = program(ASKED_NOBODY, *MACHINE)
    assert out.splitlines() == ["True", "5 3", "{<class 'str'>}"]


def test_all_snapshots_are_those_of_each_device(program):
    out = program("""
import gpukit
for shot in gpukit.take_snapshots().devices:
    own = gpukit.Device(shot.real.index).as_snapshot()
    assert list(shot) == list(own) and len(shot) > 35
    print([key for key in shot if shot[key] != own[key]])
""", *MACHINE)
    assert out.splitlines() == ["[]"] * 5


def test_a_process_that_ended_is_what_it_was(program):
    out = program("""
import gpukit, os, signal, time
shot, = gpukit.take_snapshots().gpu_processes
os.kill(shot.pid, signal.SIGKILL)
while shot.real.is_running() and shot.real.host.status() != "zombie":
    time.sleep(0.01)
print(shot.is_running, shot.status, shot.name, shot.host.cmdline[0],
      shot.gpu_memory_human)
""", "--gpus", "a100:1", "--load", "infer:0,mem=2GiB")
    assert out.startswith(("True running gpukit-load gpukit-load 2",
                           "True sleeping gpukit-load gpukit-load 2")), out


def test_what_somebody_sets_stays(program):
    out = program("""
import gpukit, pickle
shot = gpukit.Device(0).as_snapshot()
shot.power_usage = 7
shot["mine"] = 8
print(shot.power_usage, shot.mine, "mine" in shot, len(shot) == len([*shot]),
      "_fill" in dir(shot), "sm_clock" in dir(shot))
again = pickle.loads(pickle.dumps(gpukit.Device(0).as_snapshot()))
print(again.power_limit, again.memory_total == gpukit.Device(0).memory_total())
""", "--gpus", "a100:1")
    assert out.splitlines() == ["7 8 True True False True", "400000 True"]


def test_arguments_are_quoted_as_command_join_quotes_them(program):
    """The core joins arguments that need no quotes, Python the rest."""
    out = program("""
import gpukit
from gpukit.process import STATES
from gpukit.utils import command_join
import datetime
gpukit.take_snapshots()
row, = core.snapshot(0, (core.M_POWER,)).processes
for args in (["a", "b=c"], ["a", "b c"], ["a", ""], ["one"], ["a", "é"], [],
             ["/bin/true", "-c", "print('x')"], ["a", "$b"], ["a", "b;c"]):
    told = core.told(type(row)((*row[:8], args, *row[9:])), 2**40, gpukit.NA,
                     STATES, command_join, datetime.timedelta)
    wanted = args or ["No Such Process"]
    assert told["cmdline"] == wanted, told
    assert told["command"] == command_join(wanted), told
for ns in (0, 59 * 10**9, 3599 * 10**9, 3600 * 10**9, 345599 * 10**9,
           345600 * 10**9, 10**15 + 1, None):
    values = list(row.values)
    values[core.PM_RUN_TIME] = values[core.PM_RSS] = ns
    told = core.told(type(row)((*row[:4], tuple(values), *row[5:])), None,
                     gpukit.NA, STATES, command_join, datetime.timedelta)
    seconds = gpukit.NA if ns is None else ns / 1e9
    assert told["running_time_in_seconds"] == seconds, told
    assert told["running_time_human"] == gpukit.utils.timedelta2human(seconds)
    assert told["host_memory_human"] == (
        gpukit.NA if ns is None else gpukit.utils.bytes2human(ns))
    assert told["memory_percent"] is gpukit.NA
    assert ns is None or told["running_time"].total_seconds() == \\
        datetime.timedelta(seconds=seconds).total_seconds()
print(told["running_time"])
""", "--gpus", "a100:1", "--load", "infer:0")
    assert out == "N/A\n"


def test_a_collector_tells_of_the_host_what_the_core_does(program):
    out = program("""
import gpukit
c = gpukit.ResourceMetricCollector()
host = core.snapshot().host
def told(cpu, *rest):
    return c._host_numbers(type(host)((*host[:3], cpu, *rest)))
GiB = 2**30
print(told(None, None, None, None, None, None))
print(told(1234, (150, 25, 7), 8 * GiB, 2 * GiB, 4 * GiB, 3 * GiB))
print(told(None, (0, 0, 0), 3 * GiB, 2 * GiB, 0, 0))
""", "--gpus", "a100:1")
    nan = "nan"
    assert [row.strip("[]").split(", ") for row in out.splitlines()] == [
        [nan] * 7,
        ["12.3", "75.0", "25.0", "6.0", "1.5", "0.25", "0.07"],
        # The CPU share is the last known one; without swap, 0 is used.
        ["12.3", "33.3", "0.0", "1.0", "0.0", "0.0", "0.0"]]


def test_a_process_has_the_newest_values_whoever_is_asked_first(program):
    out = program("""
import copy, gpukit, pickle
def take():
    return gpukit.take_snapshots().gpu_processes[0]
first, last = take(), take()
assert first.real is last.real
held = last.real
held.set_gpu_memory(5)
assert copy.copy(first).real is held and first.real.gpu_memory() == 5
take()
print(held.gpu_memory(), first.gpu_memory)
del first, last
older = take()
held.update_gpu_status()
held.set_gpu_memory(7)
print(older.real is held, held.gpu_memory(), older.gpu_memory)
shot = take()
again = pickle.loads(pickle.dumps(shot))
print(again.real == shot.real, again.gpu_memory == shot.gpu_memory)
""", "--gpus", "a100:1", "--load", "infer:0,mem=2GiB")
    held, first = out.split("\n")[0].split()
    assert held == first and int(held) == 2 << 30
    assert out.splitlines()[1].split()[:2] == ["True", "7"]
    assert out.splitlines()[2] == "True True"

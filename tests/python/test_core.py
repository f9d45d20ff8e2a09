# SPDX-License-Identifier: Apache-2.0
"""gpukit._core on the fake machine is compared with `gpukit fake ctl` and with
NVML through ctypes."""

import getpass
import json
import os

from conftest import GPUKIT, NVML
from python_package import check_built, program_on_machine, run

check_built()
program = program_on_machine


def test_one_metric_is_what_nvml_says(program):
    """The second source is NVML itself, on a machine whose clock is stopped."""
    code = NVML + """
power = ctypes.c_uint()
assert nvml.nvmlDeviceGetPowerUsage(device(1), ctypes.byref(power)) == 0
print(core.read(1, -1, (core.M_POWER, core.M_TEMP)) ==
      (power.value, temperature(1)))
"""
    assert program(code, "--gpus", "h100:2", "--frozen").split() == ["True"]


def test_identity_is_the_machines(program):
    told = program("d = core.identify(1)\n"
                   "print(d.index, d.mig_index, d.name, d.uuid, sep='|')",
                   "--gpus", "a100-sxm4-80gb:2").strip().split("|")
    shown = program.machine.show()["gpus"][1]
    assert told == ["1", "-1", shown["name"], shown["uuid"]]


def test_the_order_of_values_is_that_of_the_question(program):
    out = program("print(core.read(0, -1, (core.M_MEM_TOTAL, core.M_MEM_USED,"
                  " core.M_MEM_FREE, core.M_MEM_TOTAL)))",
                  "--gpus", "h100:1", "--frozen",
                  "--load", "idle:0,mem=3GiB")
    total, used, free, again = eval(out)
    assert used == 3 << 30 and total == again and used + free < total


def test_an_absent_value_has_a_reason(program):
    out = program("""
from gpukit import _core as core
ids = (core.M_POWER, core.M_FAN)
print(core.read(0, -1, ids)[1])
for why, nvml in core.explain(0, -1, ids):
    print(why, nvml, core.reason(why))
""", "--gpus", "h100:1")
    assert out.splitlines() == ["None", "0 0 present", "2 3 not supported"]


def test_no_such_device(program):
    out = program("""
from gpukit._errors import NVMLError
for ask in (lambda: core.identify(2), lambda: core.read(2, -1, ()),
            lambda: core.processes(2), lambda: core.links(2),
            lambda: core.identify(0, 3), lambda: core.processes(0, 3)):
    try:
        ask()
        print("nothing")
    except NVMLError as e:
        print(type(e).__name__, e.value, e.name)
""", "--gpus", "h100:2").splitlines()
    assert out[:4] == ["NVMLError_InvalidArgument 2 "
                       "NVML_ERROR_INVALID_ARGUMENT"] * 4
    assert all(line.startswith("NVMLError_") for line in out[4:])


def test_wrong_questions_are_refused(program):
    out = program("""
for args in ((0, -1, (100000,)), (0, -1, (-1,)), (0, -1, ("power",)),
             (0, -1, [core.M_POWER]), (-1, -1, ())):
    try:
        print(core.read(*args))
    except Exception as e:
        print(type(e).__name__)
""", "--gpus", "h100:1").split()
    assert out == ["ValueError", "ValueError", "TypeError", "TypeError",
                   "NVMLError_InvalidArgument"]


def test_a_lost_gpu_comes_back(program):
    """While it is away its values are absent, but no other GPU's."""
    program("pass", "--gpus", "h100:2")
    machine = program.machine
    code = """
import subprocess, sys
from gpukit import _core as core
from gpukit._errors import NVMLError
ids = (core.M_TEMP, core.M_POWER_INSTANT)
def ctl(*args):
    subprocess.run([sys.argv[1], "fake", "ctl", "--name", sys.argv[2], *args],
                   check=True)
def look():
    values = core.read(0, -1, ids)
    print([v is None for v in values], core.explain(0, -1, ids),
          [v is None for v in core.read(1, -1, ids)])
    try:
        core.identify(0); core.processes(0); core.links(0)
        print("well")
    except NVMLError as e:
        print(type(e).__name__, e.value, e)
look()
ctl("fail", "0", "lost")
look()
ctl("clear", "0")
look()
"""
    told = run(code, GPUKIT, machine.path, **machine.env)
    well = ["[False, False] ((0, 0), (0, 0)) [False, False]", "well"]
    assert told.splitlines() == well + [
        "[True, True] ((5, 15), (5, 15)) [False, False]",
        "NVMLError_GpuIsLost 15 GPU is lost"] + well


def test_processes_of_one_device(program):
    out = program("""
for use in core.processes(0) + core.processes(1):
    print(use.types, use.gpu_memory >> 30, use.mig_index)
print(len(core.processes(2)))
""", "--gpus", "h100:3", "--load", "train:0,mem=3GiB",
                  "--load", "infer:1,mem=5GiB")
    assert out.splitlines() == ["1 3 -1", "1 5 -1", "0"]


def test_processes_of_mig_devices(program):
    out = program("""
print([(u.mig_index, u.gpu_memory >> 30) for u in core.processes(0)])
print([(u.mig_index, u.gpu_memory >> 30) for u in core.processes(0, 1)])
print(core.processes(0, 0))
print(core.mig_slots(0), core.identify(0, 1).uuid[:4])
""", "--gpus", "h100:1", "--mig", "0=3g.40gb+3g.40gb",
                  "--load", "train:0:1,mem=2GiB")
    assert out.splitlines() == ["[(1, 2)]", "[(1, 2)]", "[]", "7 MIG-"]


def test_cuda_visible_devices_by_libgpukits_parser(program):
    out = program("""
import json
second = core.identify(1).uuid
values = [None, "", "1,0", "0,5,1", "0,0", "0,00", "+1", second, second[:12],
          "0," + second, "-1,0", " 1 , 0"]
for value in values:
    print(json.dumps(core.cuda_visible(value, "PCI_BUS_ID")))
""", "--gpus", "h100:2").splitlines()
    assert [json.loads(line) for line in out] == [
        [[[0, -1], [1, -1]], -1], [[], -1], [[[1, -1], [0, -1]], -1],
        [[[0, -1]], 2], [[], 2], [[], 2], [[[1, -1]], -1], [[[1, -1]], -1],
        [[[1, -1]], -1], [[[0, -1]], 2], [[], 0], [[[1, -1], [0, -1]], -1]]


def test_selection(program):
    out = program("""
G = 1 << 30
print(core.select())
print(core.select(most=1), core.select(min_free=70 * G))
print(core.select(min_free=70 * G, free_accounts=["root", "nobody"]))
print(core.select(devices=[(2, -1), (0, -1)], sort=False))
print(core.select(devices=[]))
""", "--gpus", "h100:3", "--frozen", "--load", "idle:0,mem=30GiB",
                  "--load", "idle:2,mem=60GiB").splitlines()
    assert out[0] == "[(1, -1), (0, -1), (2, -1)]"
    assert out[1] == "[(1, -1)] [(1, -1)]"
    if getpass.getuser() == "root":
        assert out[2] == "[(2, -1), (1, -1), (0, -1)]"
    assert out[3:] == ["[(2, -1), (0, -1)]", "[]"]


def test_a_snapshot_has_what_was_asked_for(program):
    out = program("""
ids = (core.M_TEMP, core.M_MEM_USED)
s = core.snapshot(0, ids)
print([d.index for d in s.devices], [v[1] >> 30 for v in s.values], s.healths)
print([(p.device, p.args[0], p.values[core.PM_GPU_MEM] >> 30, p.uid)
       for p in s.processes])
print(s.values[0][0] == core.read(0, -1, ids)[0], len(core.snapshot().values[0])
      == len(core.metrics()))
print(core.snapshot(core.WITHOUT_PROCESSES, ids).processes)
""", "--gpus", "h100:2", "--frozen", "--load", "idle:1,mem=4GiB")
    assert out.splitlines() == [
        "[0, 1] [0, 4] [0, 0]", f"[(1, 'gpukit-load', 4, {os.getuid()})]",
        "True True", "[]"]


def test_a_snapshot_without_the_host(program):
    out = program("""
for with_ in (0, core.WITHOUT_HOST, 0):
    host = core.snapshot(with_, (core.M_TEMP,)).host
    print(host.hostname != "", host.boot_ns > 0, host.mem_total)
    if with_:
        print(host.cpus, host.load_centi, host.swap_total)
""", "--gpus", "t4")
    with open("/proc/meminfo", encoding="utf-8") as file:
        total = int(file.readline().split()[1]) * 1024
    assert out.splitlines() == [
        f"True True {total}", "True True None", "1 None None",
        f"True True {total}"]


def test_a_forked_child_opens_anew(program):
    """Threads of the parent ask all the time; the child has none of them."""
    out = program("""
import os, threading
ids = (core.M_TEMP,)
stop = False
def ask():
    while not stop:
        core.read(0, -1, ids); core.snapshot(0, ids); core.processes(0)
threads = [threading.Thread(target=ask) for _ in range(3)]
for t in threads: t.start()
codes = set()
for _ in range(20):
    pid = os.fork()
    if not pid:
        s = core.snapshot(0, ids)
        os._exit(s.values[0] != core.read(0, -1, ids) or core.count() != 2)
    codes.add(os.waitpid(pid, 0)[1])
stop = True
for t in threads: t.join()
print(codes)
""", "--gpus", "h100:2", "--frozen")
    assert out.split() == ["{0}"]


def test_others_run_while_the_driver_is_waited_for(program):
    """The PCIe counters take 20 ms each in the driver; meanwhile a second
    thread counts, which it could not do if the GIL were held."""
    out = program("""
import sys, threading, time
sys.setswitchinterval(100)  # nobody runs but when another one lets him
core.open()
done = threading.Event()
counted = 0
def ask():
    global meanwhile
    before = counted
    core.read(0, -1, (core.M_PCIE_TX, core.M_PCIE_RX))
    meanwhile = counted - before
    done.set()
t = threading.Thread(target=ask)
t.start()
while not done.is_set():
    counted += 1
    time.sleep(0)
t.join()
print(meanwhile > 10)
""", "--gpus", "h100:1", "--latency", "real")
    assert out.split() == ["True"]


def test_many_threads_close_and_open(program):
    out = program("""
import threading
ids = (core.M_TEMP,)
wrong = []
def ask(i):
    for k in range(100):
        if core.read(i % 2, -1, ids) != before[i % 2]: wrong.append(k)
        if i == 3: core.close()
        if core.snapshot(0, ids).values != before: wrong.append(-k)
before = [core.read(i, -1, ids) for i in (0, 1)]
threads = [threading.Thread(target=ask, args=(i,)) for i in range(6)]
for t in threads: t.start()
for t in threads: t.join()
print(wrong)
""", "--gpus", "h100:2", "--frozen")
    assert out.split() == ["[]"]


def test_without_a_driver():
    out = run("""
from gpukit import _core as core
from gpukit._errors import NVMLError
try:
    core.count()
except NVMLError as e:
    print(type(e).__name__, e.value)
""")
    assert out.strip() == "NVMLError_LibraryNotFound 12"


def test_nothing_is_left_behind(program):
    """Each function, and each way to fail, runs a thousand times."""
    out = program("""
import os
ids = tuple(range(30))
def attempt(ask, *args, **kwargs):
    try:
        ask(*args, **kwargs)
    except Exception:
        pass
def all_of_them():
    for ask, args in ((core.read, (0, -1, ids)), (core.explain, (1, -1, ids)),
                      (core.identify, (0,)), (core.identify, (7,)),
                      (core.read, (0, -1, (1, "x"))), (core.links, (0,)),
                      (core.processes, (0,)), (core.versions, ()),
                      (core.cuda_visible, ("1,0,7", "PCI_BUS_ID")),
                      (core.cuda_visible, (1, 2)), (core.nvml_errors, ()),
                      (core.metrics, ()), (core.handle, (0,)),
                      (core.mig_slots, (0,)), (core.snapshot, (0, ids)),
                      (core.snapshot, (0, (1, None)))):
        attempt(ask, *args)
    for wanted in ({"devices": [(1, -1), (0, -1)]}, {"devices": [None]},
                   {"free_accounts": ["root", "nobody"]}, {"most": "x"},
                   {"free_accounts": [1]}):
        attempt(core.select, **wanted)
def pages():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1])
for _ in range(200): all_of_them()
before = pages()
for _ in range(1000): all_of_them()
print((pages() - before) * os.sysconf("SC_PAGESIZE") < 512 << 10)
""", "--gpus", "h100:2", "--load", "idle:0,mem=1GiB")
    assert out.split() == ["True"]

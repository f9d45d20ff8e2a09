# SPDX-License-Identifier: Apache-2.0
"""The cost of what Python programs call, in microseconds, as JSON:

    python bench/python_cost.py nvitop|gpukit ROUNDS CALL...

Each figure is the median of the rounds. What is read whole is: every field of every snapshot, and its text.
"""

import gc
import importlib
import json
import statistics
import sys
import time

package = importlib.import_module(sys.argv[1])
ROUNDS, NAMES = int(sys.argv[2]), sys.argv[3:]
ROUND_S = 0.15  # of one round at least


def read_whole(shots):
    for shot in shots:
        for name in shot.keys():  # noqa: SIM118 - no dict
            shot[name]


def as_snapshots():
    return [device.as_snapshot() for device in DEVICES]


def turn(call):
    """Microseconds of a call, the mean of a round."""
    calls, began = 0, time.perf_counter()
    while True:
        call()
        calls += 1
        spent = time.perf_counter() - began
        if spent >= ROUND_S:
            return 1e6 * spent / calls


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        return int(f.read().rpartition(")")[2].split()[1])


DEVICES = package.Device.all()
# The collector tells of processes that are children of this one; nvitop's
# forgets them unless somebody keeps it.
ROOT = package.HostProcess(parent_of(next(iter(DEVICES[0].processes()))))


def collector(pids):
    made = package.ResourceMetricCollector(interval=3600, root_pids=pids)
    return made.activate("bench")


ALL, ALONE = collector({ROOT.pid}), collector(())


def whole_take():
    shots = package.take_snapshots()
    read_whole(shots.devices)
    read_whole(shots.gpu_processes)


CALLS = {
    "as_snapshot": as_snapshots,
    "as_snapshot, read": lambda: read_whole(as_snapshots()),
    "as_snapshot, text": lambda: [repr(shot) for shot in as_snapshots()],
    "take_snapshots": package.take_snapshots,
    "take_snapshots, read": whole_take,
    "take_snapshots, text": lambda: repr(package.take_snapshots()),
    "select_devices": package.select_devices,
    "tick": ALL.take_snapshots,
    "tick, read": lambda: (ALL.take_snapshots(), ALL.collect()),
    "tick, devices alone": ALONE.take_snapshots,
}


def main():
    found = {name: [] for name in NAMES}
    for name in NAMES:
        CALLS[name]()
    gc.collect()
    for _ in range(ROUNDS):
        for name in NAMES:
            found[name].append(turn(CALLS[name]))
    counts = [len(part) for part in package.take_snapshots()]
    keys = [len(one.collect()) for one in (ALL, ALONE)]
    print(json.dumps({"us": {k: statistics.median(v) for k, v in found.items()},
                      "counts": counts + keys}))


main()

# SPDX-License-Identifier: Apache-2.0
"""What calls of the Python package cost, beside nvitop's on the same machine in
the same run."""

import json
import os
import statistics
import subprocess
import sys
import tempfile

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "python_cost.py")
STARTS, TURNS, ROUNDS = 20, 3, 3
IMPORTS = [("import of the package", "import {}"),
           ("import of Device and take_snapshots",
            "from {} import Device, take_snapshots")]
IMPORT_MS, TIMES = 15, 20
# (call of python_cost.py, title, whether it is to be TIMES faster). Snapshots
# are told at once and worded when read: a program pays between the two.
CALLS = [
    ("as_snapshot", "as_snapshot of 8 devices", True),
    ("as_snapshot, read", "the same, every field read", False),
    ("as_snapshot, text", "the same, printed", False),
    ("take_snapshots", "take_snapshots", True),
    ("take_snapshots, read", "the same, every field read", False),
    ("take_snapshots, text", "the same, printed", False),
    ("select_devices", "select_devices", True),
    ("tick", "a tick of the collector", True),
    ("tick, read", "the same, and collect()", False),
    ("tick, devices alone", "a tick without processes", False),
]
PACKAGES = ("gpukit", "nvitop")


def run(env, *argv):
    return subprocess.run([sys.executable, *argv], env=env, text=True,
                          check=True, capture_output=True).stdout


def import_ms(env, package, statement):
    """In a fresh process, whose byte code is there, as pip leaves it."""
    return 1e3 * float(run(
        env, "-c", "import time\nbegan = time.perf_counter()\n"
        f"{statement.format(package)}\nprint(time.perf_counter() - began)"))


def add_imports(table, env):
    for title, statement in IMPORTS:
        found = [[import_ms(env, package, statement) for package in PACKAGES]
                 for _ in range(STARTS + 1)][1:]  # the first one compiles
        ours, theirs = (statistics.median(one) for one in zip(*found))
        table.add(f"python: {title} / nvitop", ours, "ms", theirs,
                  most=IMPORT_MS)


def calls(env, names):
    """{call: microseconds} of each package; they must tell as much."""
    turns = [[json.loads(run(env, PROGRAM, package, str(ROUNDS), *names))
              for package in PACKAGES] for _ in range(TURNS)]
    counts = {tuple(one["counts"]) for turn in turns for one in turn}
    if len(counts) != 1:
        raise RuntimeError(f"the packages do not tell the same: {counts}")
    return [{name: statistics.median(one["us"][name] for one in column)
             for name in names} for column in zip(*turns)]


def add_calls(table, env, latency, rows_):
    ours, theirs = calls(env, [name for name, _, _ in rows_])
    for name, title, wanted in rows_:
        unit, scale = ("ms", 1e-3) if latency == "real" else ("us", 1)
        title = title.replace("the same", name.partition(",")[0])
        table.add(f"python: {title} / nvitop, latency {latency}",
                  scale * ours[name], unit, scale * theirs[name],
                  times=TIMES if wanted else None)


def rows(table, latency, build, env):
    """With latency, what counts is that nobody pays for PCIe."""
    with tempfile.TemporaryDirectory(prefix="gpukit-bench-") as compiled:
        env = {**env, "PYTHONPATH": os.path.join(build, "python"),
               "PYTHONPYCACHEPREFIX": compiled}
        env.pop("PYTHONDONTWRITEBYTECODE", None)
        if latency == "none":
            add_imports(table, env)
        add_calls(table, env, latency,
                  CALLS if latency == "none" else CALLS[:2])

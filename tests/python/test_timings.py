# SPDX-License-Identifier: Apache-2.0
"""timings() reports the calls of NVML, and how long they took."""

from python_package import check_built, program_on_machine

check_built()
program = program_on_machine


def test_calls_within_are_counted_and_no_others(program):
    out = program("""
from gpukit._timings import timings
ids = (core.M_POWER, core.M_TEMP)
core.read(0, -1, ids)
for rounds in (1, 3):
    with timings() as t:
        for _ in range(rounds):
            core.read(0, -1, ids)
    core.read(0, -1, ids)
    print([(row.name, row.calls) for row in sorted(t.rows, key=lambda r: r.name)])
row = t["nvmlDeviceGetPowerUsage"]
print(0 < row.longest <= row.total == row.own < 1)
print(str(t).splitlines()[0].split()[:2], "nvmlDeviceGetPowerUsage" in str(t))
""", "--gpus", "h100:1")
    assert out.splitlines() == [
        "[('nvmlDeviceGetPowerUsage', 1), ('nvmlDeviceGetTemperatureV', 1)]",
        "[('nvmlDeviceGetPowerUsage', 3), ('nvmlDeviceGetTemperatureV', 3)]",
        "True", "['calls', 'self'] True"]


def test_one_at_a_time(program):
    out = program("""
from gpukit._timings import timings
t = timings()
print(t.rows)
with t:
    core.read(0, -1, (core.M_POWER,))
    try:
        with timings():
            print("two")
    except RuntimeError as error:
        print(error)
    core.read(0, -1, (core.M_POWER,))
    print(t["nvmlDeviceGetPowerUsage"].calls)
print(t["nvmlDeviceGetPowerUsage"].calls)
try:
    with timings() as failed:
        core.read(0, -1, (core.M_POWER,))
        raise OSError
except OSError:
    print(failed["nvmlDeviceGetPowerUsage"].calls)
with t:
    pass
print(t.rows, len(str(t).splitlines()))
try:
    t["nothing"]
except KeyError as error:
    print(error)
""", "--gpus", "h100:1")
    assert out.splitlines() == [
        "[]", "timings are already being counted, in all threads", "2", "2", "1",
        "[] 1", "'nothing'"]

# SPDX-License-Identifier: Apache-2.0
"""Weaknesses that GPU limiters have had, with one test or more for each; see
docs/LIMIT-HAMI.md. Figures are compared with the fake driver's own."""

import os
import shutil
import signal
import subprocess
import time

import pytest

from conftest import ROOT, clean_env, preload
from limit_shells import GIB, MIB, VGPU, hami
from tools import wait_until

CALLS = os.path.join(ROOT, "tests", "limit", "weakness_calls.py")
OUT_OF_MEMORY = 2
H100 = "h100-80gb-hbm3"


@pytest.fixture
def program(shell):
    """program(ENV) starts a shell that knows the calls of weakness_calls.py,
    with a context on `device` unless that is None."""

    def start(env, device=0):
        one = shell(env)
        one(f"exec(open({CALLS!r}).read(), globals())")
        return one.start(device) if device is not None else one

    return start


@pytest.fixture
def cache(tmp_path):
    return tmp_path / "vgpu.cache"


def held(machine, program, device=0):
    """{pid: bytes} as the driver reports it to a program without a limit."""
    judge = program(machine.env, None)
    assert judge("nvml_init()") == 0
    return dict(map(tuple, judge(f"processes({device})")))


def fits(limit, used, size):
    """How many pieces of a size fit beside what is used."""
    return (limit - used) // size


# ---- 1: slots are compacted, and the limit is lost ----

def test_weakness_01_slots_compacted(machine, program, cache):
    one = machine("--gpus", H100)
    env = hami(one, cache, "3072m")
    a, b, c = (program(env) for _ in range(3))
    assert a("alloc(100 << 20)") == 0
    assert b("alloc(200 << 20)") == 0
    a.end()
    assert c("alloc(300 << 20)") == 0
    used = sum(held(one, program).values())
    more = [b("alloc(1200 << 20)"), c("alloc(1000 << 20)")]
    assert more == [0, OUT_OF_MEMORY]
    left, total = c("info()")
    assert (total, left) == (3 * GIB, 3 * GIB - used - 1200 * MIB)
    assert c(f"alloc({left // (2 * MIB) * 2 * MIB})") == 0
    assert b("alloc(2 << 20)") == OUT_OF_MEMORY
    assert sum(held(one, program).values()) <= 3 * GIB


# ---- 2: CUDA_VISIBLE_DEVICES breaks the maps ----

@pytest.mark.parametrize("visible", ["1,0", "uuid", "1"])
def test_weakness_02_visible_devices(machine, program, cache, visible):
    one = machine("--gpus", H100 + ":2")
    if visible == "uuid":
        visible = ",".join(one.show(i)["gpus"][0]["uuid"] for i in (1, 0))
    env = hami(one, cache, "1024m", CUDA_DEVICE_MEMORY_LIMIT_1="3072m",
               CUDA_VISIBLE_DEVICES=visible)
    first = program(env, 0)  # this is GPU 1
    assert first("total(0)") == 3 * GIB
    used = 3 * GIB - first("info()")[0]
    assert first("granted(alloc, 256 << 20)") == \
        fits(3 * GIB, used, 256 * MIB)
    assert sum(held(one, program, 1).values()) <= 3 * GIB
    if visible == "1":
        return
    second = program(env, 1)
    used = GIB - second("info()")[0]
    assert second("granted(alloc, 256 << 20)") == fits(GIB, used, 256 * MIB)
    assert sum(held(one, program, 0).values()) <= GIB


# ---- 3: the holder of the lock dies ----

def test_weakness_03_lock_holder_killed(machine, program, cache):
    """Nobody waits for killed or stopped processes. (The stopped one is idle:
    within the fake driver it might hold a lock of that driver.)"""
    one = machine("--gpus", H100)
    env = hami(one, cache, "8g")
    survivor, stopped = program(env), program(env)
    stopped.process.send_signal(signal.SIGSTOP)
    try:
        for turn in range(8):
            victim = program(env)
            victim.ask(f"storm({turn + 1} << 20)")
            time.sleep(0.003 * turn)  # wherever it is then
            victim.kill()
            took, result = survivor("elapsed(alloc, 2 << 20)")
            assert result == 0 and took < 1, (turn, took)
            assert survivor("free()") == 0
        living = sorted([survivor.pid, stopped.pid])
        wait_until(lambda: sorted(held(one, program)) == living, 20)
        both = held(one, program)
        assert 8 * GIB - survivor("info()")[0] == sum(both.values())
    finally:
        stopped.process.send_signal(signal.SIGCONT)


# ---- 4: each start waits for all others ----

def test_weakness_04_slow_start(machine, program, cache):
    one = machine("--gpus", H100)
    env = hami(one, cache, "60g")
    stopped = program(env)  # whatever it holds is not needed
    stopped.process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        many = [program(env, None) for _ in range(12)]
        for other in many:
            other.ask("[cu_init(), use(0), alloc(1 << 20)]")
        assert [other.answer() for other in many] == [[0, 0, 0]] * 12
        assert time.monotonic() - began < 30
    finally:
        stopped.process.send_signal(signal.SIGCONT)


# ---- 5 to 7: time ---- These tests show that there is a limit: a program
# without one has more than four fifths. How exact it is depends on the load of
# the host.

SECONDS = 3


def share_of(programs, way="kernel"):
    """The part of the time in which a GPU worked for programs that want all of
    it."""
    for one in programs:
        one.ask(f"busy({SECONDS}, {way!r})")
    return share_worked(sorted(span for one in programs
                               for span in one.answer()))


def share_worked(worked):
    """The part of the time that these spans cover, from the first to the last.
    """
    covered = until = 0
    for begin, end in worked:
        covered += max(0, end - max(begin, until))
        until = max(until, end)
    return covered / (until - worked[0][0])


@pytest.mark.parametrize("way", ["kernel", "graph"])
def test_weakness_05_graphs(machine, program, cache, way):
    one = machine("--gpus", H100)
    mine = program(hami(one, cache, CUDA_DEVICE_SM_LIMIT="25"))
    assert 0.05 < share_of([mine], way) < 0.5


def test_weakness_06_share_of_the_second_gpu(machine, program, cache):
    """Two processes of a container share one part of the second GPU."""
    one = machine("--gpus", H100 + ":2")
    env = hami(one, cache, "9g", CUDA_DEVICE_SM_LIMIT_1="40")
    assert 0.1 < share_of([program(env, 1), program(env, 1)]) < 0.6
    assert share_of([program(env, 0)]) > 0.5


def test_weakness_06_ranks_that_wait_for_each_other(machine, program, cache):
    """Kernels of two ranks, each on a GPU, wait for each other: both make
    progress, and neither GPU works much more than its share of the time."""
    one = machine("--gpus", H100 + ":2")
    env = hami(one, cache, "9g", CUDA_DEVICE_SM_LIMIT="40")
    ranks = [program(env, rank) for rank in (0, 1)]
    flags = ranks[0]("share_flags()")
    assert ranks[1](f"open_flags({flags!r})") == 0
    for rank, each in enumerate(ranks):
        each.ask(f"meet({rank}, 20)")
    for each in ranks:
        assert 0 < share_worked(each.answer()) < 0.6


def test_weakness_07_no_utilization_from_the_driver(machine, program, cache):
    one = machine("--gpus", "b200")
    for name in ("nvmlDeviceGetProcessUtilization",
                 "nvmlDeviceGetProcessesUtilizationInfo"):
        done = one.ctl("fail", f"{name}=NVML_ERROR_NOT_SUPPORTED")
        assert done.returncode == 0, done.stderr
    env = hami(one, cache, CUDA_DEVICE_SM_LIMIT="25")
    assert 0.05 < share_of([program(env)]) < 0.5


# ---- 8: pools ----

def test_weakness_08_pools(machine, program, cache):
    one = machine("--gpus", H100)
    mine = program(hami(one, cache, "1024m"))
    before = mine("info()")[0]
    count = fits(before, 0, 256 * MIB)
    assert mine("granted(pool, 256 << 20)") == count > 0
    assert sum(held(one, program).values()) <= GIB
    # Freed as memory of pools, and as other memory.
    if count > 1:
        assert mine("free_async()") == 0
    assert mine("free()") == 0
    assert mine("[free_async() for _ in range(len(kept))]") == [0] * max(
        0, count - 2)
    assert mine("trim()") == 0
    assert mine("info()")[0] == before


# ---- 9: arrays, modules, contexts ----

def test_weakness_09_arrays_and_contexts(machine, program, cache):
    one = machine("--gpus", H100)
    env = hami(one, cache, "2048m")
    mine = program(env)
    context = 2 * GIB - mine("info()")[0]
    assert context == held(one, program)[mine.pid] > 100 * MIB
    count = mine("granted(array, 256 << 20)")
    used = sum(held(one, program).values())
    assert used <= 2 * GIB < used + 264 * MIB
    assert count >= 5
    assert program(env, None)("[cu_init(), use(0)]") == [0, OUT_OF_MEMORY]


# ---- 10: memory of the dead stays, and the use falls below 0 ----

@pytest.mark.parametrize("end", ["end", "kill"])
def test_weakness_10_memory_of_the_dead(machine, program, cache, end):
    one = machine("--gpus", H100)
    env = hami(one, cache, "4g")
    survivor = program(env)
    before = survivor("info()")[0]
    other = program(env)
    assert other("alloc(1500 << 20)") == 0
    assert survivor("info()")[0] < before - 1500 * MIB
    getattr(other, end)()
    wait_until(lambda: survivor("info()")[0] == before, 5)


def test_weakness_10_memory_of_forked_children(machine, program, cache):
    one = machine("--gpus", H100)
    parent = program(hami(one, cache, "4g"), None)
    child = ("[cu_init(), use(0), alloc(100 << 20), info()[1]]")
    assert parent(f"child({child!r})") == [0, 0, 0, 4 * GIB]
    assert parent("[nvml_init(), cu_init(), use(0)]") == [0, 0, 0]
    wait_until(lambda: list(held(one, program)) == [parent.pid], 20)
    mine = held(one, program)
    wait_until(lambda: parent("info()")[0] == 4 * GIB - mine[parent.pid], 5)


def test_weakness_10_no_underflow(machine, program, cache):
    one = machine("--gpus", H100)
    mine = program(hami(one, cache, "4g"))
    before = mine("info()")
    assert mine("[(alloc(s), free()) for s in range(1, 2000)] and info()") == \
        before
    assert mine("cuda.cuMemFree_v2(ctypes.c_ulonglong(12345))") != 0
    assert mine("alloc(8) or cuda.cuMemFree_v2(kept[-1])") == 0
    assert mine("free()") != 0  # a second time
    assert mine("info()") == before
    assert mine("memory(0)")[0]["used"] == held(one, program)[mine.pid]


# ---- 11: virtual memory management ----

def test_weakness_11_vmm_location(machine, program, cache):
    one = machine("--gpus", H100 + ":2")
    env = hami(one, cache, "2g", CUDA_DEVICE_MEMORY_LIMIT_1="1g")
    mine = program(env, 0)
    before = mine("info()")[0]
    count = mine("granted(create, 256 << 20, 1)")
    assert count == fits(GIB, 0, 256 * MIB)
    assert mine("info()")[0] == before
    assert sum(held(one, program, 1).values()) <= GIB
    assert mine("release()") == 0
    assert mine("create(256 << 20, 1)") == 0
    assert mine("create(2 << 20, 1)") == OUT_OF_MEMORY


# ---- 12: programs that do not use GPUs ----

def test_weakness_12_dlsym_of_others(program):
    plain, mine = (program(env, None) for env in (
        {}, {"LD_PRELOAD": preload(VGPU), "CUDA_DEVICE_MEMORY_LIMIT": "1g"}))
    for _ in range(2):
        assert mine("symbol(-1, 'malloc')") != 0
        assert mine("symbol(0, 'curl_easy_init')") == 0
        assert mine("symbol(0, 'nvmlInit_v2')") == 0
        assert mine("symbol(0, 'cuInit')") == 0
    assert mine("handlers()") == plain("handlers()")
    assert mine("maps('libcuda')") is False
    assert mine("maps('libnvidia')") is False


# ---- 13: private symbols of the C library ----

def test_weakness_13_glibc_private():
    told = subprocess.run(["readelf", "-W", "--dyn-syms", "--version-info",
                           VGPU], capture_output=True, text=True, check=True,
                          env=clean_env()).stdout
    assert "GLIBC_2." in told
    assert "GLIBC_PRIVATE" not in told
    assert "_dl_sym" not in told


# ---- 14: lookups ----

def test_weakness_14_proc_address(machine, program, cache):
    one = machine("--gpus", H100)
    mine, plain = program(hami(one, cache, "2g")), program(one.env)
    for name in ("cuMemcpyHtoD", "cuLaunchKernel", "cuMemAlloc", "cuCtxCreate",
                 "cuNoSuchThing"):
        for flags in (0, 1, 2):
            for version in (2000, 3020, 11040, 13000):
                line = f"proc({name!r}, {flags}, {version})"
                limited, found = mine(line), plain(line)
                assert limited[0::2] == found[0::2], line
                assert bool(limited[1]) == bool(found[1]), line
    legacy, per_thread = (mine(f"proc('cuMemcpyHtoD', {flags})")[1]
                          for flags in (1, 2))
    assert legacy != per_thread


@pytest.mark.parametrize("how", [
    "named('cuMemAllocAsync', s)", "named('cuMemAllocAsync_ptsz', s)",
    "alloc_by_proc('cuMemAllocAsync', s)",
    "alloc_by_proc('cuMemAllocAsync', s, 2)"])
def test_weakness_14_variants_are_limited(machine, program, cache, how):
    one = machine("--gpus", H100)
    mine = program(hami(one, cache, "2g"))
    room = mine("info()")[0]
    assert mine(f"granted(lambda s: {how}, 256 << 20)") == \
        fits(room, 0, 256 * MIB)
    assert sum(held(one, program).values()) <= 2 * GIB


def test_weakness_14_null_and_no_limit(machine, program, cache):
    one = machine("--gpus", H100)
    mine = program(hami(one, cache, "2g"))
    plain = program(one.env)
    assert mine("info_of_nothing()")[0] == plain("info_of_nothing()")[0]
    free = {**one.env, "LD_PRELOAD": preload(VGPU)}
    unlimited = program(free)
    assert unlimited("total(0)") == plain("total(0)") > 60 * GIB


# ---- 15: containment ----

@pytest.fixture
def team(gpukit, request):
    """A group of 2 GiB: its name and the environment of its members. Must be
    the first fixture of a test, so that it is removed last."""
    name = f"w{os.getpid()}.{abs(hash(request.node.nodeid)) % 10 ** 9}"
    gpukit.ok("limit", "--group", name, "--memory", "2GiB", "--", "true")
    told = gpukit.json("limit", "show", name, "--json")["groups"][0]
    yield name, {"LD_PRELOAD": preload(VGPU),
                 "GPUKIT_LIMIT_GROUP": told["path"]}
    gpukit("limit", "rm", name)


def test_weakness_15_hot_update(team, machine, program, gpukit):
    one = machine("--gpus", H100)
    name, env = team
    mine = program({**one.env, **env})
    assert mine("alloc(1 << 30)") == 0
    assert mine("alloc(1 << 30)") == OUT_OF_MEMORY
    gpukit.ok("limit", "set", name, "--memory", "4GiB")
    assert mine("info()")[1] == 4 * GIB
    assert mine("alloc(1 << 30)") == 0
    gpukit.ok("limit", "set", name, "--memory", "1GiB")
    assert mine("alloc(2 << 20)") == OUT_OF_MEMORY
    assert mine("[free(), free(), alloc(2 << 20)]") == [0, 0, 0]


def test_weakness_15_environment_of_the_tenant(team, machine, program):
    one = machine("--gpus", H100)
    _, env = team
    mine = program({**one.env, **env, "CUDA_DEVICE_MEMORY_LIMIT": "70g",
                    "CUDA_DEVICE_MEMORY_LIMIT_0": "70g"})
    assert mine("total(0)") == 2 * GIB
    path = env["GPUKIT_LIMIT_GROUP"]
    assert os.stat(os.path.join(path, "policy")).st_mode & 0o077 == 0


def test_weakness_15_a_group_that_is_gone_refuses(team, machine, program):
    one = machine("--gpus", H100)
    _, env = team
    gone = {**env, "GPUKIT_LIMIT_GROUP": env["GPUKIT_LIMIT_GROUP"] + ".gone"}
    mine = program({**one.env, **gone}, None)
    assert mine("[cu_init(), use(0), alloc(1 << 20)]")[-1] != 0
    assert held(one, program).get(mine.pid, 0) == 0


def test_weakness_15_replaced_library(team, machine, program, tmp_path):
    one = machine("--gpus", H100)
    _, env = team
    library = tmp_path / "libvgpu.so"
    shutil.copy(VGPU, library)
    env = {**one.env, **env, "LD_PRELOAD": preload(library)}
    old = program(env)
    assert old("alloc(64 << 20)") == 0
    shutil.copy(VGPU, tmp_path / "new")
    os.rename(tmp_path / "new", library)
    new = program(env)
    assert [p("alloc(64 << 20)") for p in (old, new, old)] == [0, 0, 0]
    assert old("info()")[0] == new("info()")[0] == 2 * GIB - sum(
        held(one, program).values())


def test_weakness_15_processes_are_seen(team, machine, program, gpukit):
    one = machine("--gpus", H100)
    _, env = team
    mine = program({**one.env, **env})
    seen = mine("processes(0)")
    assert seen == [[mine.pid, held(one, program)[mine.pid]]]
    rows = gpukit.ok("smi", "--query-compute-apps=pid", "--format=csv,noheader",
                     env={**one.env, **env})
    assert rows.split() == [str(mine.pid)]

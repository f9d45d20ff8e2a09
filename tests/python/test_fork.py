# SPDX-License-Identifier: Apache-2.0
"""A child that is forked while other threads hold the package's locks works
like any other process, on the fake machine; if it hangs, its alarm ends it."""

from python_package import check_built, program_on_machine

check_built()
program = program_on_machine

FORK = """
import os, signal, threading, time
import gpukit
d = gpukit.Device(0)
def in_child(work):
    pid = os.fork()
    if not pid:
        signal.alarm(20)
        try:
            work()
            os._exit(0)
        except BaseException as error:
            print("child:", repr(error), flush=True)
            os._exit(1)
    print(os.waitpid(pid, 0)[1], flush=True)
def hold(lock):
    held = threading.Event()
    def keep():
        with lock:
            held.set()
            threading.Event().wait()
    threading.Thread(target=keep, daemon=True).start()
    held.wait()
"""


def test_a_oneshot_of_another_thread_is_over_in_the_child(program):
    """The other thread's values are gone, and the lock is free."""
    out = program(FORK + """
class Shot:
    def __enter__(self): d.oneshot().__enter__(); d._cache["x"] = 1
    def __exit__(self, *exc): pass
hold(Shot())
def work():
    assert d._cache is None
    with d.oneshot():
        assert d._cache == {} and d.temperature() > 0
in_child(work)
""", "--gpus", "h100:1")
    assert out.split() == ["0"]


def test_a_oneshot_of_the_forking_thread_goes_on_in_the_child(program):
    out = program(FORK + """
with d.oneshot():
    before = d.temperature()
    def work():
        assert d.temperature() == before and d._cache
        d._lock.release()
        d._lock.acquire()
    in_child(work)
pid = None
with d.oneshot():
    pid = os.fork()
if not pid:
    signal.alarm(20)
    with d.oneshot():
        d.temperature()
    os._exit(0)
print(os.waitpid(pid, 0)[1])
""", "--gpus", "h100:1")
    assert out.split() == ["0", "0"]


def test_processes_can_be_made_in_the_child(program):
    out = program(FORK + """
hold(gpukit.HostProcess.INSTANCE_LOCK)
hold(gpukit.GpuProcess.INSTANCE_LOCK)
def work():
    assert gpukit.HostProcess().pid == os.getpid()
    assert len(d.processes()) == 1
    assert len(gpukit.take_snapshots().gpu_processes) == 1
in_child(work)
""", "--gpus", "h100:1", "--load", "idle:0")
    assert out.split() == ["0"]


def test_a_cache_serves_the_child(program):
    out = program(FORK + """
stuck, reached = False, threading.Event()
def clock():
    if stuck and threading.current_thread() is not threading.main_thread():
        reached.set()
        threading.Event().wait()
    return 0.0
@gpukit.ttl_cache(ttl=10.0, timer=clock)
def twice(x):
    return 2 * x
twice(1)
stuck = True
threading.Thread(target=twice, args=(1,), daemon=True).start()
reached.wait()
def work():
    assert (twice(1), twice(2)) == (2, 4)
in_child(work)
""", "--gpus", "h100:1")
    assert out.split() == ["0"]


def test_a_collector_serves_the_child(program):
    out = program(FORK + """
c = gpukit.ResourceMetricCollector(interval=0.05, root_pids=())
sample, reached = c._sample, threading.Event()
def stick():
    if threading.current_thread() is threading.main_thread():
        return sample()
    reached.set()
    threading.Event().wait()
c._sample = stick
with c(tag="parent"):
    reached.wait()
    def work():
        c._sample = sample
        assert c.collect()["parent/gpu:0/temperature (C)/last"] > 0
        with c(tag="child"):
            assert c._thread.is_alive()
            assert "parent/child/gpu:0/temperature (C)/last" in c.collect()
    in_child(work)
    os._exit(0)
""", "--gpus", "h100:1")
    assert out.split() == ["0"]


def test_children_of_busy_threads_all_work(program):
    out = program(FORK + """
stop = False
c = gpukit.ResourceMetricCollector(interval=0.001, root_pids=())
def ask():
    while not stop:
        with d.oneshot():
            d.memory_info()
        d.processes(); gpukit.take_snapshots()
threads = [threading.Thread(target=ask) for _ in range(3)]
for t in threads: t.start()
def work():
    with d.oneshot():
        assert d.memory_info().used >= 0
    assert len(d.processes()) == 1 and c.collect()
    assert len(gpukit.take_snapshots().gpu_processes) == 1
with c(tag="t"):
    for _ in range(20): in_child(work)
stop = True
for t in threads: t.join()
""", "--gpus", "h100:1", "--load", "idle:0")
    assert out.split() == ["0"] * 20

# SPDX-License-Identifier: Apache-2.0
"""The classic use, without the launcher: four libraries in LD_PRELOAD and the
default machine. nvitop runs in full screen while CUDA programs come and go."""

import os
import random
import signal
import subprocess
import sys
import time

import cuda_programs
from conftest import FAKE_DIR, clean_env
from peers import NVITOP
from screen import Terminal
from test_nvitop import MAIN, processes, used

LIBRARIES = ("libcudart.so.12", "libcuda.so.1", "libnvidia-ml.so.1",
             "libcublas.so.12")
MIB = 1 << 20

HELD = """
import pynvml as n
n.nvmlInit()
for i in range(n.nvmlDeviceGetCount()):
    for p in n.nvmlDeviceGetComputeRunningProcesses(
            n.nvmlDeviceGetHandleByIndex(i)):
        print(i, p.pid, p.usedGpuMemory)
"""


class Classic:
    """nvitop on the default machine, and CUDA programs beside it."""

    def __init__(self, directory, seed=6):
        self.env = clean_env(
            LD_LIBRARY_PATH=FAKE_DIR,
            LD_PRELOAD=":".join(os.path.join(FAKE_DIR, name)
                                for name in LIBRARIES),
            XDG_CONFIG_HOME=str(directory))
        self.program = cuda_programs.driver("hold_driver")
        self.chance = random.Random(seed)
        self.programs = {}  # pid: (Popen, gpu, MiB)
        self.seen = self.ended = 0
        self.terminal = Terminal([NVITOP], self.env)
        self.terminal.wait_for(MAIN)

    def start(self, gpu, mib, seconds=3600):
        one = subprocess.Popen([self.program, str(gpu), str(mib),
                                str(seconds)], env=self.env,
                               stdout=subprocess.PIPE, text=True)
        assert one.stdout.readline() == "ready\n", one.wait()
        self.programs[one.pid] = (one, gpu, mib)

    def stop(self, pid):
        one = self.programs.pop(pid)[0]
        one.send_signal(self.chance.choice([signal.SIGKILL, signal.SIGTERM,
                                            signal.SIGINT]))
        one.wait()
        one.stdout.close()
        self.ended += 1

    def change(self):
        if len(self.programs) >= 6 or (self.programs
                                       and self.chance.random() < 0.4):
            self.stop(self.chance.choice(list(self.programs)))
        else:
            self.start(self.chance.randrange(8),
                       self.chance.randrange(10, 20000))

    def held(self):
        """{gpu: {pid: bytes}} as NVML reports it to another program."""
        told = subprocess.run([sys.executable, "-c", HELD], env=self.env,
                              capture_output=True, text=True, check=True,
                              timeout=60).stdout
        found = {}
        for line in told.splitlines():
            gpu, pid, size = map(int, line.split())
            found.setdefault(gpu, {})[pid] = size
        return found

    def check(self):
        """Checks that the screen shows every program with its memory, and no
        other."""
        held = self.held()
        mine = {pid: (gpu, mib) for pid, (_, gpu, mib)
                in self.programs.items()}
        assert {pid: gpu for gpu in held for pid in held[gpu]} == {
            pid: gpu for pid, (gpu, _) in mine.items()}
        for pids in held.values():
            for pid, size in pids.items():
                # A context takes some memory, but not much.
                assert 0 <= size - mine[pid][1] * MIB < 1024 * MIB
        text = self.terminal.wait_for(lambda text: self.agrees(text, held))
        self.seen += len(mine)
        return text

    @staticmethod
    def agrees(text, held):
        shown = processes(text)
        return (shown.keys() == held.keys() and all(
            shown[gpu].keys() == held[gpu].keys() and all(
                abs(shown[gpu][pid] - size) <= size / 100
                for pid, size in held[gpu].items())
            for gpu in held) and [
                abs(total - sum(held.get(gpu, {}).values())) <=
                max(total / 100, MIB)
                for gpu, total in enumerate(used(text))] == [True] * 8)

    def run(self, seconds):
        end = time.monotonic() + seconds
        step = 0
        while time.monotonic() < end:
            self.change()
            self.terminal.draw_for(0.3)
            assert self.terminal.process.poll() is None, self.terminal.text
            step += 1
            if step % 5 == 0:
                self.check()
        self.check()

    def close(self):
        for pid in list(self.programs):
            self.stop(pid)
        self.terminal.close()

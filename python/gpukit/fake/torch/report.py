# SPDX-License-Identifier: Apache-2.0
"""Reports the GPU memory of a training run for `gpukit fake --report`: the
peak of the caching allocator, what it consisted of and when it was reached.

The allocator keeps a history of allocations and frees. When a peak has risen,
the history is walked back from now to the moment of the peak; the blocks in
use then are attributed to parameters, gradients or optimizer state.
"""

import atexit
import gc
import json
import os
import re
import sys
import threading

PHASES = ("forward", "backward", "optimizer")
CATEGORIES = ("parameters", "gradients", "optimizer", "activations", "other",
              "rounding")
# The maximum length of the history in events. An event takes about 200 bytes.
_EVENTS = 1 << 17
# The optimizer has its state from the second step on, and memory use repeats
# after the third step.
_FIRST_STEPS = 3


class Device:
    """The data about one GPU. Peaks are 0 until something is allocated."""

    def __init__(self, index):
        self.index = index
        self.allocated = self.reserved = 0
        self.phase = None
        self.phases = dict.fromkeys(PHASES, 0)
        self.categories = None


def live_blocks(segments):
    """Returns a dict {address: requested bytes} of the blocks in use now."""
    live = {}
    for segment in segments:
        address = segment["address"]
        for block in segment["blocks"]:
            if block["state"] == "active_allocated":
                live[block.get("address", address)] = block["requested_size"]
            address += block["size"]
    return live


def events_of(trace):
    """Returns the events as tuples (is an allocation, address, bytes). The
    oldest comes first."""
    kinds = {"alloc": True, "free_requested": False}
    return [(kinds[e["action"]], e["addr"], e["size"]) for e in trace
            if e["action"] in kinds]


def allocations_before(events, count):
    """Returns for each event how many allocations the process had made before
    it. count: how many it has made until now."""
    numbers, left = [0] * len(events), count
    for i in range(len(events) - 1, -1, -1):
        left -= events[i][0]
        numbers[i] = left
    return numbers


def totals(events, now):
    """Returns for each event how many bytes were in use after it. now: how
    many are in use after the last event."""
    after, total = [0] * len(events), now
    for i in range(len(events) - 1, -1, -1):
        after[i] = total
        allocates, _, size = events[i]
        total += -size if allocates else size
    return after


def what_lay(events, at, live):
    """Returns a dict {address: bytes} of the blocks that were in use after
    event `at` and still are, and the total size of the blocks that were in use
    then but no longer are."""
    still, gone = dict(live), {}
    for allocates, address, size in reversed(events[at + 1:]):
        if not allocates:
            gone[address] = size
        elif address in gone:
            del gone[address]
        else:
            still.pop(address, None)
    return still, sum(gone.values())


def _tensors(torch, tree):
    if isinstance(tree, torch.Tensor):
        yield tree
    elif isinstance(tree, dict):
        for one in tree.values():
            yield from _tensors(torch, one)
    elif isinstance(tree, (list, tuple)):
        for one in tree:
            yield from _tensors(torch, one)


def _plain(tensor):
    """Returns this process's part of a distributed tensor, and any other
    tensor unchanged."""
    return getattr(tensor, "_local_tensor", tensor)


def owners(torch):
    """Returns a dict {(device, address): category} of all blocks whose use is
    known. Searches all live objects, so that programs need not register
    them."""
    named = {}

    def name(tensor, category):
        tensor = _plain(tensor)
        try:
            address = tensor.untyped_storage().data_ptr()
        except (RuntimeError, NotImplementedError):
            return  # it has no bytes, or consists of other tensors
        if tensor.is_cuda:
            named.setdefault((tensor.device.index, address), category)

    found = [one for one in gc.get_objects()
             if issubclass(type(one), (torch.nn.Parameter,
                                       torch.optim.Optimizer))]
    optimizers = [one for one in found
                  if isinstance(one, torch.optim.Optimizer)]
    parameters = [one for one in found if isinstance(one, torch.nn.Parameter)]
    parameters += [one for optimizer in optimizers
                   for group in optimizer.param_groups
                   for one in group["params"]]
    for one in parameters:
        name(one, "parameters")
        if one.grad is not None:
            name(one.grad, "gradients")
    for optimizer in optimizers:
        for one in _tensors(torch, dict(optimizer.state)):
            name(one, "optimizer")
    return named


class Watch:
    """Watches the memory of one process, from its first use of CUDA on."""

    def __init__(self, torch, folder):
        self._torch = torch
        self._folder = folder
        self._pid = None
        self._devices = {}
        self._lock = threading.RLock()
        self._phase = "forward"
        self._looks = 0
        self._marks = {}  # device -> [(allocations so far, phase)]
        self._history = torch.cuda.memory._record_memory_history
        torch.cuda._lazy_call(self._begin)

    # ---- phases ----

    def _begin(self):
        self._pid = os.getpid()
        self._devices = {index: Device(index) for index
                         in range(self._torch.cuda.device_count())}
        self._record()
        self._watch_backward()
        self._watch_optimizers()
        self._torch.cuda.memory._record_memory_history = self._give_up
        self._watch_resets()
        atexit.register(self._look)

    def _is_ours(self):
        """Whether this is the watched process. A forked child is not: CUDA
        does not work there."""
        return os.getpid() == self._pid

    def _record(self):
        """Restarts the history."""
        self._history(None)
        self._history("all", context=None, max_entries=_EVENTS)
        for index in self._devices:
            self._marks[index] = [(self._allocations(index), self._phase)]

    def _give_up(self, *args, **options):
        """Ends the report if the program uses the history itself, because
        there is only one."""
        self._pid = None
        return self._history(*args, **options)

    def _watch_resets(self):
        """Makes _look() run before each reset of the peaks by the program."""
        for name in ("_cuda_resetPeakMemoryStats",
                     "_cuda_resetAccumulatedMemoryStats"):
            reset = getattr(self._torch._C, name)

            def look_and_reset(device, reset=reset):
                self._look(is_step=False)
                reset(device)
                if self._is_ours():
                    with self._lock:
                        self._record()

            setattr(self._torch._C, name, look_and_reset)

    def _watch_backward(self):
        autograd = self._torch.autograd
        run = autograd._engine_run_backward

        def run_backward(*args, **options):
            outer = self._enter("backward")
            try:
                return run(*args, **options)
            finally:
                self._enter(outer)

        autograd._engine_run_backward = run_backward

    def _watch_optimizers(self):
        from torch.optim import optimizer

        def before(*_):
            self._enter("optimizer")

        def after(*_):
            self._look()
            self._enter("forward")

        optimizer.register_optimizer_step_pre_hook(before)
        optimizer.register_optimizer_step_post_hook(after)

    def _stats(self, index):
        return self._torch._C._cuda_memoryStats(index)

    def _enter(self, phase):
        """Enters a phase and returns the previous one."""
        before, self._phase = self._phase, phase
        if before != phase and self._is_ours():
            with self._lock:
                for index, marks in self._marks.items():
                    marks.append((self._allocations(index), phase))
        return before

    def _allocations(self, index):
        return self._stats(index)["allocation"]["all"]["allocated"]

    # ---- peaks ----

    def _look(self, is_step=True):
        """Called after each step, and before peaks are reset. If a peak has
        risen since the previous call, finds out what memory it consisted
        of."""
        if not self._is_ours():
            return
        try:
            with self._lock:
                self._look_alone(is_step)
                self._record()
        except Exception as error:  # the program must continue
            sys.stderr.write("gpukit: --report: PyTorch's memory: "
                             f"{type(error).__name__}: {error}\n")

    def _look_alone(self, is_step):
        risen = [device for device in self._devices.values()
                 if self._has_risen(device)]
        self._looks += is_step
        if risen or (is_step and self._looks <= _FIRST_STEPS):
            self._explain(risen)
            self._write()

    def _has_risen(self, device):
        stats = self._stats(device.index)
        allocated = stats["allocated_bytes"]["all"]["peak"]
        device.reserved = max(device.reserved,
                              stats["reserved_bytes"]["all"]["peak"])
        if allocated <= device.allocated:
            return False
        device.allocated = allocated
        return True

    def _explain(self, risen):
        snapshot = self._torch.cuda.memory._snapshot()
        named = owners(self._torch) if risen else {}
        for device in self._devices.values():
            events = events_of(snapshot["device_traces"][device.index])
            live = live_blocks([one for one in snapshot["segments"]
                                if one["device"] == device.index])
            if events:
                at = self._find_peak(device, events, sum(live.values()),
                                     device in risen)
                if device in risen:
                    self._explain_peak(device, *what_lay(events, at, live),
                                       named)

    def _find_peak(self, device, events, now, risen):
        """Returns the index of the event at which the peak was reached. Also
        updates the peaks of all phases."""
        after = totals(events, now)
        phases = [self._phase_at(device.index, number) for number in
                  allocations_before(events, self._allocations(device.index))]
        for phase, total in zip(phases, after):
            device.phases[phase] = max(device.phases[phase], total)
        at = max(range(len(after)), key=after.__getitem__)
        if risen:
            device.phase = phases[at]
        return at

    @staticmethod
    def _explain_peak(device, still, gone, named):
        made = dict.fromkeys(CATEGORIES, 0)
        for address, size in still.items():
            made[named.get((device.index, address), "other")] += size
        made["activations"] = gone
        made["rounding"] = max(0, device.allocated - sum(made.values()))
        device.categories = made

    def _phase_at(self, index, number):
        phase = "forward"
        for since, one in self._marks[index]:
            if since > number:
                break
            phase = one
        return phase

    # ---- output ----

    def _write(self):
        rows = [{"device": self._uuid(one.index),
                 "allocated_peak_bytes": one.allocated,
                 "reserved_peak_bytes": one.reserved,
                 "phase": one.phase, "phases": one.phases,
                 "categories": one.categories}
                for one in self._devices.values() if one.categories]
        told = {"pid": self._pid, "version": self._torch.__version__,
                "capability": self._least_capability(), "devices": rows}
        path = os.path.join(self._folder, f"{self._pid}.json")
        with open(path + ".new", "w", encoding="utf-8") as f:
            json.dump(told, f)
        os.replace(path + ".new", path)

    def _least_capability(self):
        """The lowest compute capability for which this PyTorch contains code.
        70 means 7.0."""
        numbers = [re.match(r"sm_(\d+)", one)
                   for one in self._torch.cuda.get_arch_list()]
        return min((int(one[1]) for one in numbers if one), default=0)

    def _uuid(self, index):
        return f"GPU-{self._torch.cuda.get_device_properties(index).uuid}"


def begin(folder):
    import torch

    Watch(torch, folder)

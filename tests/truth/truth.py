# SPDX-License-Identifier: Apache-2.0
"""The kinds of rows, how each is run, and the list of all rows.

A row names one function and proves that its answer is true: by a change of the
machine that the answer follows, or by the profiles that it equals.
"""

import glob
import importlib
import os
import re
import subprocess
import time

from conftest import GPUKIT, ROOT, Machine, clean_env
from nvml_client import FRONT, Refused, answer

HERE = os.path.dirname(os.path.abspath(__file__))
PATIENCE_S = 60
ONE_GPU = ("--gpus", "a100-sxm4-80gb")

# ---- how to ask ----


def of_device(*args, pick=None):
    """Calls function(handle, *args); returns the result, or what pick makes
    from it. A callable among the args is called each time, since a struct must
    be new."""
    def ask(client):
        told = client.call(client.function, client.device, *fresh(args))
        return pick(told) if pick else told
    return ask


def of_system(*args, pick=None):
    """Calls function(*args)."""
    def ask(client):
        told = client.call(client.function, *fresh(args))
        return pick(told) if pick else told
    return ask


def fresh(args):
    return [arg() if callable(arg) and not isinstance(arg, type) else arg
            for arg in args]


# ---- what changes the machine; apply(run) does it ----


class Ctl:
    """`gpukit fake ctl ARG...`."""

    def __init__(self, *args):
        self.args = args

    def apply(self, run):
        done = run.machine.ctl(*self.args)
        assert done.returncode == 0, done.stderr


class Load:
    """`gpukit fake load SPEC`, ended with the row or by LoadEnds."""

    def __init__(self, spec):
        self.spec = spec

    def apply(self, run):
        # pylint: disable-next=consider-using-with
        run.loads.append(subprocess.Popen(
            [GPUKIT, "fake", "load", "--name", run.machine.path, self.spec],
            env=clean_env()))


class LoadEnds:
    """Ends all loads that the row started."""

    def apply(self, run):
        run.end_loads()


class Another:
    """Another machine with these options of `gpukit fake`, used through the
    library at front."""

    def __init__(self, *options, front=FRONT):
        self.options, self.front = options, front

    def apply(self, run):
        run.start(*self.options, front=self.front)


class Does:
    """Anything else: does(client), such as NVML's own setters."""

    def __init__(self, does):
        self.does = does

    def apply(self, run):
        self.does(run.client)


class Waits:
    """Lets time pass."""

    def __init__(self, seconds=0.0):
        self.seconds = seconds

    def apply(self, _):
        time.sleep(self.seconds)


# ---- a run of a row ----


class Run:
    """The machine of a row and the loads on it."""

    def __init__(self, client, directory):
        self.client, self.directory = client, directory
        self.machines, self.loads = [], []
        self.at_end = []  # what a change must undo
        client.keep = {}

    @property
    def machine(self):
        return self.machines[-1]

    def start(self, *options, front=FRONT):
        name = os.path.join(self.directory, f"machine{len(self.machines)}")
        self.machines.append(Machine(name, *options))
        self.client.attach(self.machine, front)

    def calls(self, function):
        """How often the function was called on the machines of this run."""
        total = 0
        for machine in self.machines:
            for line in machine.ctl("coverage").stdout.splitlines()[1:]:
                count, _, name = line.split()
                total += int(count) if name == function else 0
        return total

    def end_loads(self):
        for load in self.loads:
            load.terminate()
        for load in self.loads:
            load.wait(timeout=30)
        self.loads = []

    def stop(self):
        self.client.detach()
        for take_back in self.at_end:
            take_back()
        self.end_loads()
        for machine in self.machines:
            machine.stop()


def matches(told, wanted):
    """Whether an answer is as wanted, a predicate or an exact value; a refusal
    matches only the same refusal."""
    if isinstance(told, Refused) or isinstance(wanted, Refused):
        return told == wanted
    return bool(wanted(told)) if callable(wanted) else told == wanted


def await_answer(ask, client, wanted, what):
    end = time.monotonic() + PATIENCE_S
    while True:
        told = answer(ask, client)
        if matches(told, wanted):
            return told
        assert time.monotonic() < end, f"{what}: {told!r}"
        time.sleep(0.02)


# ---- the kinds ----


class Row:
    """What all kinds of rows have: a function, how to call it, on which GPU of
    which machine, with which driver (for a function newer than the default
    one), what is done first, and the load."""

    # pylint: disable-next=too-many-arguments
    def __init__(self, function, ask, *, machine=ONE_GPU, gpu=0, load=None,
                 driver=None, given=()):
        self.function, self.ask = function, ask
        self.machine, self.gpu, self.load = machine, gpu, load
        self.driver, self.given = driver, given

    @property
    def kind(self):
        return type(self).__name__

    def more(self, _):
        """Further options of the machine."""
        return ()

    def run(self, run):
        run.client.function, run.client.gpu = self.function, self.gpu
        options = self.driver and ("--driver", self.driver) or ()
        run.start(*self.machine, *self.more(run), *options,
                  front=front_of(self.driver))
        for change in self.given:
            change.apply(run)
        if self.load:
            Load(self.load).apply(run)
        self.prove(run)
        assert self.function == "nvmlErrorString" or \
            run.calls(self.function), f"{self.function} was never called"


class Changes(Row):
    """The answer is `before`; then the machine changes (one change or a list),
    and it becomes `after`. Either is a value or a predicate; one of them may be
    Refused(NAME)."""

    # pylint: disable-next=too-many-arguments
    def __init__(self, function, ask, change, *, before, after, **more):
        super().__init__(function, ask, **more)
        self.change = change if isinstance(change, list) else [change]
        self.before, self.after = before, after

    def prove(self, run):
        first = await_answer(self.ask, run.client, self.before, "before")
        for change in self.change:
            change.apply(run)
        last = await_answer(self.ask, run.client, self.after, "after")
        assert first != last, f"nothing changed: {first!r}"
        for told in (first, last):
            assert told != Refused("GPU_IS_LOST"), "every function says so"
        assert not (isinstance(first, Refused) and isinstance(last, Refused))


class Sets(Row):
    """A setter. call(client) calls it and ask(client) is another function that
    sees its effect. Users other than root are refused with NO_PERMISSION and
    change nothing (root=False: anybody may); what root's process sets, this
    process sees."""

    # pylint: disable-next=too-many-arguments
    def __init__(self, function, call, ask, *, before, after, root=True,
                 **more):
        super().__init__(function, ask, **more)
        self.call, self.before, self.after = call, before, after
        self.root = root

    def prove(self, run):
        client = run.client
        first = await_answer(self.ask, client, self.before, "before")
        told = client.being("nobody", self.call, client)
        if self.root:
            assert told == Refused("NO_PERMISSION"), told
            assert answer(self.ask, client) == first, "changed all the same"
            told = client.being("root", self.call, client)
        assert not isinstance(told, Refused), told
        last = await_answer(self.ask, client, self.after, "after")
        assert first != last, f"nothing changed: {first!r}"
        assert not isinstance(last, Refused)


class Constant(Row):
    """Constant in hardware: on each profile it equals the key of its YAML (or,
    with expect=, what expect(profile) returns, which may be Refused(NAME)), and
    it is not the same on all of them. also= has keys in which one more profile,
    made for the test, differs from the first."""

    # pylint: disable-next=too-many-arguments
    def __init__(self, function, ask, key=None, *, expect=None, only=None,
                 also=None, **more):
        super().__init__(function, ask, machine=(), **more)
        self.profiles = profiles(only)
        self.expect = expect or if_known(key)
        self.also = also
        if also:
            self.profiles.append(self.profiles[0] | also)

    def more(self, run):
        names = [profile["id"] for profile in self.profiles]
        if self.also:
            names[-1] = os.path.join(run.directory, "made.yaml")
            lines = {"inherits": names[0], "source": "made"} | self.also
            with open(names[-1], "w", encoding="utf-8") as file:
                file.writelines(f"{key}: {value}\n"
                                for key, value in lines.items())
        return "--gpus", ",".join(names)

    def prove(self, run):
        seen = []
        for gpu, told_by in enumerate(self.profiles):
            run.client.gpu = gpu
            told, wanted = answer(self.ask, run.client), self.expect(told_by)
            assert told == wanted, f"{told_by['id']}: {told!r} != {wanted!r}"
            seen.append(told)
        assert not all(isinstance(told, Refused) for told in seen)
        assert any(told != seen[0] for told in seen), \
            f"the same on every profile: {seen}"


# ---- profiles ----


def number_or_text(text):
    text = text.split(" #")[0].strip()
    if text.startswith('"'):
        return text.strip('"')
    return int(text, 0) if re.fullmatch(r"-?\d+|0x[0-9a-fA-F]+", text) \
        else text


# What stands for a key that a profile leaves out.
MISSING = {"own_memory": 1, "bar1_mib": 0, "l2_cache_kib": 0,
           "pci_subsystem_id": 0, "encoders": 0, "decoders": 0,
           "jpeg_engines": 0, "optical_flow_engines": 0, "nvlinks": 0,
           "nvlink_version": 0, "nvlink_mbps": 0} | dict.fromkeys((
               "vbios", "board_part_number", "inforom_image", "inforom_oem",
               "inforom_ecc", "pcie_generation", "pcie_width",
               "memory_power_idle_mw", "power_limit_mw", "power_min_mw",
               "power_max_mw", "temperature_slowdown_c",
               "temperature_shutdown_c", "temperature_max_operating_c",
               "temperature_target_c", "memory_temperature_max_c", "ecc",
               "row_remap_banks", "mig", "gsp", "c2c"), "none")


def if_known(key):
    """The value of the key, or not supported if it is "none"."""
    return lambda board: (Refused("NOT_SUPPORTED") if board[key] == "none"
                          else board[key])


def profile(name):
    """The flat keys of profiles/NAME.yaml, including inherited ones."""
    path = os.path.join(ROOT, "profiles", f"{name}.yaml")
    with open(path, encoding="utf-8") as file:
        own = {key: number_or_text(text) for key, text in re.findall(
            r"^(\w+):[ \t]*(\S.*)$", file.read(), re.M)}
    whole = profile(own["inherits"]) if "inherits" in own else MISSING
    return whole | own | {"id": name}


def profiles(only=None):
    """All unsplit profiles with memory of their own: others refuse more, see
    rows_mig.py and tests/cli/test_fake_boards.py."""
    names = sorted(os.path.basename(path).removesuffix(".yaml") for path in
                   glob.glob(os.path.join(ROOT, "profiles", "*.yaml")))
    found = [profile(name) for name in only or names]
    return [one for one in found if only or (
        "mig_layout" not in one and one["own_memory"])]


# ---- all rows ----


def all_rows():
    """(row, its file) for every rows_*.py, sorted by function."""
    found = []
    for path in sorted(glob.glob(os.path.join(HERE, "rows_*.py"))):
        name = os.path.basename(path).removesuffix(".py")
        found += [(row, name) for row in importlib.import_module(name).ROWS]
    return sorted(found, key=lambda pair: pair[0].function)


def front_of(driver):
    """The library of a driver generation; None: the default one."""
    return os.path.join(os.path.dirname(FRONT), driver,
                        os.path.basename(FRONT)) if driver else FRONT


def strong_symbols(library=FRONT):
    """The functions that the front implements: its strong symbols."""
    listed = subprocess.run(["nm", "-D", library], check=True, text=True,
                            capture_output=True).stdout
    return set(re.findall(r" T (nvml\w+)$", listed, re.M))


def answered():
    """All functions that answer, with a row or without."""
    silent = ("refuses", "always 0")
    return {row.function for row, _ in all_rows()}.union(
        name for name, why in refused().items() if not why.startswith(silent))


def refused():
    """{function: why it has no row}, from refused.txt."""
    with open(os.path.join(HERE, "refused.txt"), encoding="utf-8") as file:
        lines = [line.split(None, 1) for line in file
                 if line.strip() and not line.startswith("#")]
    return {line[0]: "".join(line[1:]).strip() for line in lines}

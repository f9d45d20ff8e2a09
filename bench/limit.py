# SPDX-License-Identifier: Apache-2.0
"""What libvgpu.so costs a program: without it and with it in one run, on a driver
that does nothing, so that only the difference is ours."""

import os
import statistics
import subprocess
import time

# (figure, title, most beside native)
CALLS = [
    ("launch_ns", "a launch", 15),
    ("alloc_free_alone_ns", "cuMemAlloc and cuMemFree", 150),
    ("alloc_free_among_ns", "the same among 100,000 others", 150),
    ("get_info_ns", "cuMemGetInfo", 200),
]
# /bin/true, which uses no GPU
IDLE_US, IDLE_ROUNDS = 50, 2500
START_MS, TOGETHER, TOGETHER_MS = 2, 300, 1000
ROUNDS, TURNS = 20, 5
# An allocation while so many processes load code, on the made-up machine
LOADERS, BESIDE_SECONDS, BESIDE_ROUNDS, BESIDE_TIMES = 3, "1", 5, 3
# What a group is allowed; none of it is reached.
LIMITS = {"memory": ["--memory", "64GiB"],
          "memory and time": ["--memory", "64GiB", "--compute", "90"]}


class Group:
    """A group while the `with` lasts; env is for programs in it."""

    def __init__(self, build, options):
        self.gpukit = os.path.join(build, "bin", "gpukit")
        self.name = f"bench{os.getpid()}"
        self.options = options

    def __enter__(self):
        self.env = native()
        told = subprocess.run(
            [self.gpukit, "limit", "--group", self.name, *self.options, "--",
             "sh", "-c", "echo $LD_PRELOAD; echo $GPUKIT_LIMIT_GROUP"],
            check=True, capture_output=True, text=True, env=self.env).stdout
        self.env["LD_PRELOAD"], self.env["GPUKIT_LIMIT_GROUP"] = told.split()
        return self

    def __exit__(self, *_):
        subprocess.run([self.gpukit, "limit", "rm", self.name], check=False,
                       env=native())


def native():
    return {name: value for name, value in os.environ.items()
            if name not in ("LD_PRELOAD", "GPUKIT_LIMIT_GROUP")}


def driven(env, null):
    return {**env, "LD_LIBRARY_PATH": null}


def calls(program, env):
    told = subprocess.run([program], check=True, capture_output=True,
                          text=True, env=env).stdout
    return {name: float(value) for name, value in
            (line.split() for line in told.splitlines())}


def least_calls(program, envs):
    """The least of several turns: nothing makes a call faster than it is."""
    turns = [[calls(program, env) for env in envs] for _ in range(TURNS)]
    return [{name: min(one[name] for one in column) for name in column[0]}
            for column in zip(*turns)]


def start_ms(program, env):
    began = time.monotonic()
    subprocess.run([program, "start"], check=True, env=env)
    return 1e3 * (time.monotonic() - began)


def together_ms(program, env):
    began = time.monotonic()
    many = [subprocess.Popen([program, "start"], env=env)
            for _ in range(TOGETHER)]
    if sum(one.wait() != 0 for one in many):
        raise RuntimeError("a program of many that start does not start")
    return 1e3 * (time.monotonic() - began)


def take_turns(measure, program, envs, rounds, pick):
    """One after the other each round, so that a busy machine is busy for all."""
    found = [[measure(program, env) for env in envs] for _ in range(rounds)]
    return [pick(column) for column in zip(*found)]


def add(table, title, unit, limited, native_, most):
    table.add(f"limit: {title}: more than native", limited - native_, unit,
              most=most)


def idle_rows(table, build):
    program = os.path.join(build, "bench", "bench-limit-start")
    libraries = [os.path.join(build, "lib", "gpukit", "libvgpu.so"),
                 os.path.join(build, "bench", "libempty.so")]
    told = subprocess.run([program, str(IDLE_ROUNDS), *libraries], check=True,
                          capture_output=True, text=True, env=native()).stdout
    without, ours, empty = [[float(us) for us in line.split()]
                            for line in told.splitlines()]
    # The median is that of a machine with its load.
    for i, (what, most) in enumerate([("least", IDLE_US), ("median", None)]):
        add(table, f"/bin/true, {what}", "us", ours[i], without[i], most)
        add(table, f"/bin/true with an empty library, {what}", "us", empty[i],
            without[i], None)


def beside_us(program, options):
    gpukit = os.path.join(os.path.dirname(program), "..", "bin", "gpukit")
    limit = [gpukit, "limit", *options, "--"] if options else []
    told = subprocess.run(
        [gpukit, "fake", "--gpus", "h100:1", "--", *limit, program,
         BESIDE_SECONDS, str(LOADERS)],
        check=True, capture_output=True, text=True, env=native()).stdout
    return int(told) / 1e3


def beside_row(table, build):
    program = os.path.join(build, "bench", "bench-limit-beside")
    without, with_ = take_turns(beside_us, program, [[], LIMITS["memory"]],
                                BESIDE_ROUNDS, statistics.median)
    table.add(f"limit: cuMemAlloc beside {LOADERS} processes that load code, "
              "99th percentile", with_, "us", without,
              most=BESIDE_TIMES * without)


def rows(table, build):
    idle_rows(table, build)
    beside_row(table, build)
    program = os.path.join(build, "bench", "bench-limit-cost")
    null = os.path.join(build, "bench", "null")
    for what, options in LIMITS.items():
        with Group(build, options) as group:
            envs = [driven(env, null) for env in (native(), group.env)]
            found = least_calls(program, envs)
            for name, title, most in CALLS:
                add(table, f"{title}, {what}", "ns", found[1][name],
                    found[0][name], most)
            without, with_ = take_turns(start_ms, program, envs, ROUNDS,
                                        min)
            add(table, f"start of a process, {what}", "ms", with_, without,
                START_MS)
            without, with_ = take_turns(together_ms, program, envs, 3,
                                        statistics.median)
            add(table, f"{TOGETHER} processes at once, {what}", "ms", with_,
                without, TOGETHER_MS)

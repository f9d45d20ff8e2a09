# SPDX-License-Identifier: Apache-2.0
"""The cost of two builds, measured in turns, so that a busy machine is busy for
both.

    build/venv/bin/python bench/alternate.py OLD NEW [--rounds 10]

OLD and NEW are build trees with the benchmarks in them. In each round each of
them is measured once, and the order changes from round to round. Prints for
each figure the median of OLD, of NEW, the median of the rounds' ratios, in how
many rounds NEW took over 5 % more, and at the end the geometric mean of the
ratios. Only figures of which less is better are compared.

The peak memory of one program differs by 5 % with the way in which its files
were written: a page fault maps the pages that the page cache keeps together (seen
on Linux 6.18). Copy both trees into a tmpfs to compare it.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys

WORSE = 1.05
# CPU time of these is taken on a made-up machine of 8 GPUs and 32 processes.
COMMANDS = {
    "stat": ["stat"],
    "stat --boxed": ["stat", "--boxed"],
    "stat --json": ["stat", "--json"],
    "smi": ["smi"],
    "smi -q -x": ["smi", "-q", "-x"],
    "top -1": ["top", "-1"],
    "select": ["select"],
    "record, 50 samples": ["record", "-i", "0.01", "--count", "50", "-o",
                           "/dev/null"],
}
RUNS = 20  # of each command a round; the least counts
PLOT_ROWS = 320_000
SPEEDS = ("warm_percent", "cold_percent", "allreduce_gbs", "memcpy_gbs",
          "openblas_ms", "fft_peer_ms", "sgemm_over_percent")


def commands(bench):
    with bench.Machine("none") as machine:
        for name, argv in COMMANDS.items():
            runs = [bench.measure([bench.GPUKIT, *argv], machine.env)
                    for _ in range(RUNS)]
            for quantity in ("wall", "cpu", "rss"):
                yield f"{name}: {quantity}", min(r[quantity] for r in runs)


def libraries(bench):
    cuda = bench.cuda.figures(bench.GPUKIT, *bench.CUDA, bench.FFT, bench.BLAS)
    yield from bench.nvml().items()
    yield from ((name, value) for name, value in cuda.items()
                if name not in SPEEDS)


def limiter(bench):
    limit = bench.limit
    program = os.path.join(bench.BUILD, "bench", "bench-limit-cost")
    with limit.Group(bench.BUILD, limit.LIMITS["memory and time"]) as group:
        env = limit.driven(group.env,
                           os.path.join(bench.BUILD, "bench", "null"))
        for name, value in limit.least_calls(program, [env])[0].items():
            yield f"limit: {name}", value
        yield "limit: start_ms", min(limit.start_ms(program, env)
                                     for _ in range(limit.ROUNDS))
        yield "limit: together_ms", min(limit.together_ms(program, env)
                                        for _ in range(3))


def plot(bench):
    seconds, memory = bench.plot.measure(
        [bench.GPUKIT, "plot", "-", "--per-pid", "--summary"], PLOT_ROWS)
    yield "plot: CPU", seconds
    yield "plot: memory", memory


def figures():
    """Prints the figures of the build that GPUKIT_BUILD names."""
    import bench  # reads GPUKIT_BUILD

    found = {}
    for part in (commands, libraries, limiter, plot):
        found.update(part(bench))
    json.dump(found, sys.stdout)


def measured(build):
    told = subprocess.run([sys.executable, __file__, "--figures"], check=True,
                          text=True, stdout=subprocess.PIPE,
                          env={**os.environ, "GPUKIT_BUILD": build})
    # A command may have printed before the figures.
    return json.loads(told.stdout[told.stdout.rindex("{"):])


def take_turns(builds, rounds):
    """[(figures of old, figures of new)], one for each round."""
    found = []
    for turn in range(rounds):
        order = (0, 1) if turn % 2 == 0 else (1, 0)
        pair = {i: measured(builds[i]) for i in order}
        found.append((pair[0], pair[1]))
        print(f"round {turn + 1} of {rounds}", file=sys.stderr)
    return found


def report(found):
    names = [name for name in found[0][0] if name in found[0][1]]
    means = []
    print("| figure | old | new | ratio | rounds over 5 % |")
    print("|---|--:|--:|--:|--:|")
    for name in names:
        old, new = ([pair[i][name] for pair in found] for i in (0, 1))
        ratios = [b / a for a, b in zip(old, new) if a > 0 and b > 0]
        if not ratios:
            continue
        means.append(statistics.median(ratios))
        print(f"| {name} | {statistics.median(old):.4g} | "
              f"{statistics.median(new):.4g} | {means[-1]:.3f} | "
              f"{sum(ratio > WORSE for ratio in ratios)} |")
    mean = math.exp(statistics.fmean(map(math.log, means)))
    print(f"\n{len(means)} figures, {len(found)} rounds; "
          f"geometric mean {mean:.4f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("builds", nargs=2, metavar="BUILD")
    parser.add_argument("--rounds", type=int, default=10)
    options = parser.parse_args()
    report(take_turns(options.builds, options.rounds))


if __name__ == "__main__":
    if sys.argv[1:] == ["--figures"]:
        figures()
    else:
        main()

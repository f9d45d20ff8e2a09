# SPDX-License-Identifier: Apache-2.0
"""The cost of the made-up machine's CUDA libraries to a program."""

import subprocess

# The lines that are printed: (title, unit, most, least) as far as it is
# wanted.
WANTED = {
    "init_ms": ("CUDA: cuInit", "ms", 5, None),
    "look_ups_us": ("CUDA: cuGetProcAddress of every function, 637 times",
                    "us", None, None),
    "malloc_free_touched_ns": (
        "CUDA: cudaMalloc and cudaFree of 1 MiB that was touched", "ns", 3000,
        None),
    "launch_ns": ("CUDA: an empty launch, queued", "ns", 3000, None),
    "graph_us": ("CUDA: launch of a graph of 100 empty kernels", "us", 60,
                 None),
    "graph_single_us": ("CUDA: 100 empty launches beside it", "us", None,
                        None),
    "warm_percent": ("CUDA: 1 GiB to the GPU, of memcpy's speed", "%", None,
                     95),
    "cold_percent": (
        "CUDA: 1 GiB to new memory, of memcpy's into a new memfd", "%", None,
        90),
    "malloc_free_alone_ns": ("CUDA: cudaMalloc and cudaFree of 1000 bytes",
                             "ns", None, None),
    "malloc_free_among_ns": ("CUDA: the same among 100,000 others", "ns", None,
                             None),
    "ipc_open_us": ("CUDA: opening memory of another process", "us", 100,
                    None),
    "ipc_close_us": ("CUDA: closing it", "us", None, None),
    "map_us": ("CUDA: cuMemMap of 2 MiB", "us", None, None),
    "unmap_us": ("CUDA: cuMemUnmap of it", "us", None, None),
}


def figures(gpukit, *programs):
    told = "".join(subprocess.run(
        [gpukit, "fake", "--gpus", "a100-sxm4-80gb", "--", program],
        check=True, capture_output=True, text=True).stdout
        for program in programs)
    return {name: float(value) for name, value in
            (line.split() for line in told.splitlines())}


def rows(table, gpukit, programs):
    found = figures(gpukit, *programs)
    for name, (title, unit, most, least) in WANTED.items():
        table.add(title, found[name], unit, most=most, least=least)


def fft(table, gpukit, program):
    found = figures(gpukit, program)
    table.add("cuFFT: 1 Mi complex numbers, beside FFTW itself",
              found["fft_ms"], "ms", found["fft_peer_ms"], times=0.9)

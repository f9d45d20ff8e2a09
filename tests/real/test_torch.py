# SPDX-License-Identifier: Apache-2.0
"""PyTorch runs without our operators: with the kernels of its libraries and
none of its own. Values are compared with those that it computes without a GPU.
"""

import pytest

from real_program import Program

TORCH = Program("torch", "--no-torch")

BEGIN = """
import torch
from torch.testing import assert_close

torch.manual_seed(7)
A, B = torch.randn(64, 96), torch.randn(96, 32)
MIB, GIB = 1 << 20, 1 << 30

def same(function, *tensors):
    found = function(*[one.cuda() for one in tensors])
    assert found.is_cuda
    assert_close(found.cpu(), function(*tensors))
"""

PROPERTIES = """
assert torch.cuda.device_count() == 8
one = torch.cuda.get_device_properties(3)
assert one.name == "NVIDIA A100-SXM4-80GB"
assert (one.major, one.minor, one.multi_processor_count) == (8, 0, 108)
assert torch.cuda.mem_get_info(3)[1] == one.total_memory
assert torch.cuda.can_device_access_peer(0, 1)
"""

PRODUCTS = """
for dtype in (torch.float32, torch.float64, torch.float16, torch.bfloat16,
              torch.complex64):
    a, b = A.to(dtype), B.to(dtype)
    if dtype.is_complex:
        a, b = torch.complex(A, A.flip(0)), torch.complex(B, B.flip(1))
    same(torch.mm, a, b)
    same(torch.bmm, torch.stack([a, a * 2, -a]), torch.stack([b, b / 2, b]))
    same(torch.mv, a, b[:, 0].contiguous())
    same(torch.mm, b.t(), a.t())
same(torch.dot, A[0], A[1])
same(torch.dot, A[0].double(), A[1].double())
same(torch.addmm, B[0], A, B)
same(torch.nn.functional.linear, A, B.t(), B[0])
same(torch.nn.functional.linear, A.half(), B.t().half(), B[0].half())
"""

BYTES = """
a = torch.randint(-128, 128, (64, 48), dtype=torch.int8)
b = torch.randint(-128, 128, (48, 32), dtype=torch.int8)
found = torch._int_mm(a.cuda(), b.cuda()).cpu()
assert found.dtype == torch.int32
assert torch.equal(found, a.int() @ b.int())
"""

FLOATS_OF_8_BITS = """
a = torch.randn(64, 48).to(torch.float8_e4m3fn)
b = torch.randn(32, 48).to(torch.float8_e4m3fn)
for dtype in (torch.bfloat16, torch.float16, torch.float32):
    found = torch._scaled_mm(
        a.cuda(), b.cuda().t(), scale_a=torch.tensor(0.5).cuda(),
        scale_b=torch.tensor(3.0).cuda(), out_dtype=dtype)
    assert_close(found.cpu(), (1.5 * (a.double() @ b.double().T)).to(dtype))
"""

TRANSFORMS = """
z = torch.view_as_complex(torch.randn(5, 64, 2))
same(torch.fft.fft, z)
same(torch.fft.fft2, z)
same(torch.fft.fft, z.to(torch.complex128))
same(torch.fft.rfft, A)
"""

# Blocks below 1 MiB come from segments of 2 MiB, those of 10 MiB and more have
# segments of their own, in steps of 2 MiB.
ALLOCATOR = """
torch.cuda.init()
before, total = torch.cuda.mem_get_info()
small = torch.empty(1000, dtype=torch.uint8, device="cuda")
assert torch.cuda.memory_allocated() == 1024
assert torch.cuda.memory_reserved() == 2 * MIB
large = torch.empty(12 * MIB, dtype=torch.uint8, device="cuda")
assert torch.cuda.memory_allocated() == 1024 + 12 * MIB
assert torch.cuda.memory_reserved() == 14 * MIB
assert torch.cuda.mem_get_info()[0] == before - 14 * MIB
del large
assert torch.cuda.memory_allocated() == 1024
assert torch.cuda.max_memory_allocated() == 1024 + 12 * MIB
assert torch.cuda.memory_reserved() == 14 * MIB
torch.cuda.empty_cache()
assert torch.cuda.memory_reserved() == 2 * MIB
assert torch.cuda.mem_get_info() == (before - 2 * MIB, total)
stats = torch.cuda.memory_stats()
assert stats["allocation.all.allocated"] == 2
assert stats["allocation.all.freed"] == 1
assert stats["num_alloc_retries"] == stats["num_ooms"] == 0
"""

OUT_OF_MEMORY = """
free, total = torch.cuda.mem_get_info()
kept = torch.arange(1000).cuda()
try:
    torch.empty(200 * GIB, dtype=torch.uint8, device="cuda:0")
    raise AssertionError("200 GiB were found")
except torch.OutOfMemoryError as error:
    told = str(error)
assert told.startswith(
    "CUDA out of memory. Tried to allocate 200.00 GiB. GPU 0 has a total "
    f"capacity of {total / GIB:.2f} GiB of which {(free - 2 * MIB) / GIB:.2f} "
    "GiB is free."), told
assert torch.cuda.memory_stats()["num_ooms"] == 1
assert torch.equal(kept.cpu(), torch.arange(1000))
torch.empty(70 * GIB, dtype=torch.uint8, device="cuda")
"""

# Freed memory is extended in place; without this setting it is given back and
# 60 GiB are requested a second time.
EXPANDABLE = """
tensors = [torch.full((10 * MIB,), i, dtype=torch.uint8).cuda()
           for i in range(40)]
for i, one in enumerate(tensors):
    assert (one.cpu() == i).all()
(segment,) = torch.cuda.memory_snapshot()
assert segment["is_expandable"] and segment["total_size"] == 400 * MIB
del tensors, one
for size in (50, 60):
    torch.empty(size * GIB, dtype=torch.uint8, device="cuda")
    assert torch.cuda.memory_reserved() == size * GIB
assert torch.cuda.memory_stats()["num_alloc_retries"] == 0
"""

OF_THE_DRIVER = """
assert torch.cuda.get_allocator_backend() == "cudaMallocAsync"
before = torch.cuda.mem_get_info()[0]
one = torch.full((12 * MIB,), 5, dtype=torch.uint8).cuda()
assert (one.cpu() == 5).all()
assert torch.cuda.memory_allocated() == 12 * MIB
assert torch.cuda.mem_get_info()[0] == before - 12 * MIB
del one
torch.cuda.synchronize()
assert torch.cuda.memory_allocated() == 0
assert torch.cuda.max_memory_allocated() == 12 * MIB
torch.cuda.empty_cache()
assert torch.cuda.mem_get_info()[0] == before
try:
    torch.empty(200 * GIB, dtype=torch.uint8, device="cuda")
    raise AssertionError("200 GiB were found")
except torch.OutOfMemoryError:
    pass
"""

TWO_PROCESSES = """
import torch.multiprocessing

def double(tensors, answers):
    there = tensors.get()
    answers.put(there.cpu().sum().item())
    there.copy_(there.cpu() * 2)
    torch.cuda.synchronize()
    answers.put("doubled")

if __name__ == "__main__":
    spawn = torch.multiprocessing.get_context("spawn")
    tensors, answers = spawn.Queue(), spawn.Queue()
    child = spawn.Process(target=double, args=(tensors, answers))
    child.start()
    mine = torch.arange(1000.0).cuda()
    tensors.put(mine)
    assert answers.get() == 499500
    assert answers.get() == "doubled"
    assert torch.equal(mine.cpu(), torch.arange(1000.0) * 2)
    child.join()
    assert child.exitcode == 0
"""

GLOO = """
import os, tempfile
import torch.distributed
import torch.multiprocessing

def add(rank, place):
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{place}/meet", rank=rank, world_size=2)
    mine = (torch.arange(100.0) * (rank + 1)).to(f"cuda:{rank}")
    torch.distributed.all_reduce(mine)
    assert torch.equal(mine.cpu(), torch.arange(100.0) * 3)
    torch.distributed.destroy_process_group()

if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        torch.multiprocessing.spawn(add, (place,), nprocs=2)
"""

LOADER = """
from torch.utils.data import DataLoader, TensorDataset

rows = TensorDataset(torch.arange(1000.0).reshape(100, 10))
seen = []
for (batch,) in DataLoader(rows, batch_size=16, pin_memory=True,
                           num_workers=2):
    assert batch.is_pinned()
    seen.append(batch.to("cuda", non_blocking=True))
torch.cuda.synchronize()
assert torch.equal(torch.cat([one.cpu() for one in seen]), rows.tensors[0])
"""

STREAMS = """
import time

stream, begin, end = torch.cuda.Stream(), *[
    torch.cuda.Event(enable_timing=True) for _ in range(2)]
pinned, back = A.pin_memory(), torch.empty(64, 32).pin_memory()
with torch.cuda.stream(stream):
    begin.record()
    b = B.pin_memory().to("cuda", non_blocking=True)
    product = torch.mm(pinned.to("cuda", non_blocking=True), b)
torch.cuda.current_stream().wait_stream(stream)
back.copy_(product, non_blocking=True)
begin.synchronize()
time.sleep(0.05)
end.record()
end.synchronize()
assert end.query() and stream.query()
assert_close(back, A @ B)
assert 45 < begin.elapsed_time(end) < 5000
"""

BETWEEN_GPUS = """
import io

on_five = A.to("cuda:5")
there = on_five.to("cuda:2")
assert there.device.index == 2 and torch.equal(there.cpu(), A)
file = io.BytesIO()
torch.save(there, file)
file.seek(0)
back = torch.load(file)
assert back.device.index == 2 and torch.equal(back.cpu(), A)
"""

# The size and the SMs are those of NVIDIA's table of A100 profiles.
PART_OF_A_GPU = """
assert torch.cuda.device_count() == 1
one = torch.cuda.get_device_properties(0)
assert one.name == "NVIDIA A100-SXM4-80GB MIG 3g.40gb"
assert one.multi_processor_count == 42
torch.empty(38 * GIB, dtype=torch.uint8, device="cuda")
try:
    torch.empty(40 * GIB, dtype=torch.uint8, device="cuda")
    raise AssertionError("more than there is was found")
except torch.OutOfMemoryError as error:
    assert f"of {one.total_memory / GIB:.2f} GiB" in str(error), error
same(torch.mm, A, B)
"""

OWN_KERNEL = """
for own in (lambda: torch.zeros(3, device="cuda"), lambda: A.cuda() + 1,
            lambda: torch.cuda.graph(torch.cuda.CUDAGraph()).__enter__()):
    try:
        own()
        raise AssertionError("a kernel of machine code ran")
    except torch.AcceleratorError as error:
        assert "no kernel image is available" in str(error), error
same(torch.mm, A, B)
"""


@pytest.mark.parametrize("script", [
    PROPERTIES, PRODUCTS, BYTES, TRANSFORMS, ALLOCATOR, OUT_OF_MEMORY,
    TWO_PROCESSES, GLOO, LOADER, STREAMS, BETWEEN_GPUS], ids=[
    "properties", "products", "bytes", "transforms", "allocator",
    "out of memory", "two processes", "gloo", "loader", "streams",
    "between GPUs"])
def test_it_works(script):
    assert "refused" not in TORCH(BEGIN + script).stderr


def test_floats_of_8_bits():
    TORCH(BEGIN + FLOATS_OF_8_BITS, "--gpus", "h100:1")


@pytest.mark.parametrize("script", [EXPANDABLE, TWO_PROCESSES],
                         ids=["one", "two processes"])
def test_expandable_segments(script):
    assert "refused" not in TORCH(
        BEGIN + script,
        PYTORCH_CUDA_ALLOC_CONF="expandable_segments:True").stderr


def test_the_allocator_of_the_driver():
    assert "refused" not in TORCH(
        BEGIN + OF_THE_DRIVER,
        PYTORCH_CUDA_ALLOC_CONF="backend:cudaMallocAsync").stderr


def test_a_part_of_a_gpu():
    TORCH(BEGIN + PART_OF_A_GPU, "--gpus", "a100-sxm4-80gb:1",
          "--mig", "0=3g.40gb+1g.10gb")


def test_its_own_kernels_are_refused_and_named():
    told = TORCH(BEGIN + OWN_KERNEL).stderr
    assert "gpukit fake: refused: an image without PTX for compute " \
        "capability 8.0" in told


# torch.cuda's own monitors, by NVML.
MONITORS = """
import torch

for index, one in enumerate(OURS):
    assert torch.cuda.utilization(index) == one["gpu_utilization_percent"]
    assert torch.cuda.memory_usage(index) == one["memory_utilization_percent"]
    assert torch.cuda.temperature(index) == one["temperature_celsius"]
    assert torch.cuda.power_draw(index) == round(one["power_watts"] * 1000)
    assert torch.cuda.clock_rate(index) * 1000000 == one["sm_clock_hertz"]
    told = torch.cuda.list_gpu_processes(index)
    assert sorted(re.findall(r"process +(\\d+) uses +([0-9.]+) MB", told)) \
        == sorted((str(pid), f"{held:.3f}") for gpu, pid, held in PROCESSES
                  if gpu == index), told
"""


@pytest.mark.parametrize("driver", [535, 580, 610])
def test_its_monitors(driver):
    TORCH.compare(MONITORS, "--frozen", "--gpus", "h100:2", "--load",
                  "train:0,n=2,mem=5GiB", "--load", "idle:1,mem=3GiB",
                  "--driver", str(driver))

# SPDX-License-Identifier: Apache-2.0
"""Operators of tensors on fake GPUs: values, views, sizes, devices."""

import os
import subprocess

from conftest import BUILD, GPUKIT
from torch_program import python, run, torch_env


def test_a_network_trains_as_on_the_cpu():
    out = run("""
def train(device):
    torch.manual_seed(3)
    net = nn.Sequential(nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.ReLU(),
                        nn.MaxPool2d(2), nn.Flatten(), nn.Linear(6 * 49, 10))
    net.to(device)
    adam = torch.optim.Adam(net.parameters(), 1e-3)
    draw = torch.Generator().manual_seed(1)
    x = torch.randn(16, 1, 16, 16, generator=draw).to(device)
    y = torch.randint(0, 10, (16,), generator=draw).to(device)
    for _ in range(30):
        adam.zero_grad()
        loss = F.cross_entropy(net(x), y)
        loss.backward()
        adam.step()
    return loss.item()
print(train("cpu"), train("cuda"))
""").stdout.split()
    assert abs(float(out[0]) / float(out[1]) - 1) < 1e-6
    assert float(out[0]) < 1


def test_results_share_what_they_share_on_the_cpu():
    run("""
a = torch.arange(12.).reshape(3, 4)
b = a.cuda()
b.t()[1].mul_(10)
a.t()[1].mul_(10)
same(b, a)
assert b.relu_() is b
assert b.expand(2, 3, 4).untyped_storage().data_ptr() == b.data_ptr()
same(torch.complex(b, -b).conj() @ torch.complex(b, b).t(),
     torch.complex(a, -a).conj() @ torch.complex(a, a).t())
""")


def test_an_out_of_another_size_gets_the_size_of_the_result():
    run("""
import warnings
warnings.simplefilter("ignore")
a = torch.randn(40, 50)
for out in (torch.empty(0), torch.empty(7, 3), torch.empty(50, 40).t()):
    there = out.cuda()
    kept = there
    torch.mul(a.cuda(), 2, out=there)
    assert there is kept
    same(there, a * 2)
""")


def test_copies_cast_and_turn_around_between_devices():
    run("""
a = torch.randn(5, 6)
b = torch.empty(6, 5, dtype=torch.float64, device="cuda:1")
b.t().copy_(a.cuda(0))
same(b, a.t().double())
same(a.cuda(1).to("cuda:0", torch.half).t(), a.t().half())
assert torch.equal(a.t().cuda().to("cpu", torch.bfloat16), a.t().bfloat16())
""")


def test_what_is_made_costs_its_bytes_of_the_device():
    run("""
x = torch.ones(1 << 20, device="cuda")
y = x + 1
assert torch.cuda.memory_allocated() == 8 << 20
del y
assert torch.cuda.memory_allocated() == 4 << 20
raises(lambda: torch.zeros(25 << 30, device="cuda"),
       torch.OutOfMemoryError, "79.1", "100.00 GiB")
""")


def test_without_it_torch_is_as_it_was():
    out = run("""
import sys
assert "_gpukit_torch.install" not in sys.modules
raises(lambda: torch.arange(3, device="cuda"), RuntimeError, "kernel image")
""", options=["--no-torch"])
    assert not out.stderr


def test_a_program_that_runs_already_may_use_a_machine():
    done = subprocess.run(
        [python(), "-c", """
import gpukit.fake
gpukit.fake.use("h100:2", "--quiet")
import torch
print((torch.ones(3, device="cuda:1") * 2).sum().item())
"""], text=True, capture_output=True, check=False,
        env=torch_env(PYTHONPATH=os.path.join(BUILD, "python"),
                      GPUKIT_COMMAND=GPUKIT))
    assert done.stdout.split() == ["6.0"], done.stderr


def test_on_no_made_up_machine_nothing_is_imported():
    folder = os.path.join(BUILD, "lib", "gpukit", "fake", "python")
    out = subprocess.check_output(
        [python(), "-c", "import sys, torch\n"
         "print(*[n for n in sys.modules if 'gpukit' in n])"],
        env=torch_env(PYTHONPATH=folder), text=True)
    assert out.split() == ["_gpukit_torch"]


def test_a_built_library_that_others_can_write_is_not_loaded():
    program = """
import os, shutil, sys, tempfile
from _gpukit_torch import build
found = build.find()
assert found
os.environ["XDG_CACHE_HOME"] = there = tempfile.mkdtemp()
folder = os.path.join(build.cache(), build.key())
os.makedirs(folder)
shutil.copy(found, folder)
assert build.find()
os.chmod(folder, 0o777)
assert not build.find()
os.chmod(folder, 0o755)
os.chmod(os.path.join(folder, build.NAME), 0o666)
assert not build.find()
shutil.rmtree(there)
"""
    run(program)

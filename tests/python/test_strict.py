# SPDX-License-Identifier: Apache-2.0
"""Answers that would be wrong or missing."""

import os
import subprocess
import sys

import pytest

from conftest import clean_env
from python_package import PACKAGE, check_built, program_on_machine

check_built()
program = program_on_machine
SPLIT = ("--gpus", "h100:2", "--mig", "0=3g.40gb+2g.20gb", "--load",
         "idle:0:1,mem=1GiB", "--load", "idle:1,mem=1GiB")


def test_a_process_of_a_split_gpu_tells_its_part(program):
    out = program("""
import gpukit
whole, other = gpukit.Device.all()
parts = whole.mig_devices()
(process,) = whole.processes().values()
print((process.gpu_instance_id(), process.compute_instance_id()) == (
    parts[1].gpu_instance_id(), parts[1].compute_instance_id()))
print(process.as_snapshot().gpu_instance_id == process.gpu_instance_id())
(process,) = other.processes().values()
print(process.gpu_instance_id(), process.compute_instance_id())
""", *SPLIT)
    assert out.splitlines() == ["True", "True", "N/A N/A"]


@pytest.mark.parametrize("wrong", [
    "Device(0).mig_device(-1)", "Device((0, -1))", "MigDevice((0, -1))",
    "Device(-1)", "Device(1 << 32)", "Device((0, 1 << 32))", "Device(1 << 70)",
    "Device(0).mig_device(99)", "Device(99)", "Device((1 << 32, 0))"])
def test_no_other_device_stands_for_one_that_is_not_there(program, wrong):
    out = program(f"""
import gpukit
from gpukit import Device, MigDevice
try:
    print({wrong})
except gpukit.NVMLError as error:
    print(error.value in (2, 6))
""", *SPLIT)
    assert out.split() == ["True"]


def test_a_function_that_there_is_not_is_told_of_once(program):
    out = program("""
import io, logging
from gpukit import libnvml
told = io.StringIO()
logging.basicConfig(stream=told)
for _ in range(3):
    print(libnvml.nvmlQuery("nvmlDeviceGetFooBar", 0))
print(libnvml.nvmlQuery("nvmlBar", ignore_function_not_found=True))
try:
    libnvml.nvmlQuery("nvmlDeviceGetFooBar", 0, ignore_errors=False)
except libnvml.NVMLError_FunctionNotFound as error:
    print(error.value)
print(told.getvalue().count("nvmlDeviceGetFooBar"), told.getvalue().count("\\n"),
      "ERROR" in told.getvalue())
""", "--gpus", "h100:1")
    assert out.splitlines() == ["N/A"] * 4 + ["13", "1 1 True"]


def test_the_library_opens_in_a_with(program):
    out = program("""
from gpukit import libnvml
with libnvml as library:
    print(library is libnvml)
""", "--gpus", "h100:1")
    assert out.split() == ["True"]


CATCH = """
import {first}
import {second}
import pickle
for module in (pynvml, gpukit):
    for wrong in (99, (0, 5)):
        try:
            gpukit.Device(wrong)
        except module.NVMLError as error:
            again = pickle.loads(pickle.dumps(error))
            print(again == error, type(again) is type(error),
                  isinstance(error, gpukit.NVMLError), str(error) != "")
try:
    gpukit.Device(99)
except pynvml.NVMLError_InvalidArgument as error:
    print(error.value)
"""


@pytest.mark.parametrize("first, second", [("pynvml", "gpukit"),
                                           ("gpukit", "pynvml")])
def test_nvidia_ml_py_catches_our_errors(program, first, second):
    pytest.importorskip("pynvml")
    out = program(CATCH.format(first=first, second=second), "--gpus", "h100:1")
    assert out.splitlines() == ["True True True True"] * 4 + ["2"]


def test_without_a_driver_there_is_nothing_to_take():
    """There are no devices then; counting them is an error."""
    code = """
import gpukit
print(gpukit.Device.all(), *map(list, gpukit.take_snapshots()))
try:
    gpukit.Device.count()
except gpukit.NVMLError as error:
    print(error.value)
"""
    done = subprocess.run([sys.executable, "-c", code], text=True,
                          capture_output=True, check=False,
                          env=clean_env(PYTHONPATH=PACKAGE,
                                        LD_LIBRARY_PATH=os.devnull))
    assert (done.returncode, done.stdout) == (0, "[] [] []\n12\n"), done.stderr


def test_cuda_devices_cost_one_look_at_the_machine(program):
    out = program("""
import gpukit
devices = gpukit.Device.cuda.all()
with gpukit.timings() as t:
    again = gpukit.Device.cuda.all()
print(again == devices, [d.cuda_index for d in again] == list(range(8)))
print(t["wait for the GPUs"].calls)
""", "--gpus", "h100:8")
    assert out.splitlines() == ["True True", "1"]


def test_a_stand_in_for_pynvml_breaks_no_error(program):
    """Other projects' tests put a mock in the module's place."""
    out = program("""
import sys
from unittest.mock import MagicMock
sys.modules["pynvml"] = MagicMock()
import gpukit
try:
    gpukit.Device(99)
except gpukit.NVMLError as error:
    print(error.value)
""")
    assert out == "2\n"

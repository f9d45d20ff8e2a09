# SPDX-License-Identifier: Apache-2.0
"""The callbacks are tested without their frameworks
(tests/real/test_training.py has those); TensorBoard itself reads what is
written for it."""

import json

import pytest

from conftest import needed
from python_package import check_built, program_on_machine, run

check_built()
program = program_on_machine

H100 = ("--frozen", "--gpus", "h100:1", "--load", "idle:0,mem=3GiB")


def test_tensorboard_reads_the_collectors_metrics(program, tmp_path):
    needed("tensorboard", "this test")  # and tensorboardX, which comes with it
    out = program(f"""
import json, re
import tensorboardX
from tensorboard.backend.event_processing.event_accumulator import (
    EventAccumulator)
import gpukit
from gpukit.callbacks.tensorboard import add_scalar_dict

class Both:
    def __init__(self, writer):
        self.writer, self.told = writer, []
    def add_scalar(self, name, value, global_step, walltime):
        self.told.append((name, value, global_step))
        self.writer.add_scalar(name, value, global_step, walltime)

collector = gpukit.ResourceMetricCollector(root_pids={{1}}, interval=3600)
with tensorboardX.SummaryWriter({str(tmp_path)!r}) as writer:
    both = Both(writer)
    for step in 5, 7:
        with collector(tag="train"):
            add_scalar_dict(both, "resources", collector.collect(), step)
    add_scalar_dict(both, "", {{"fan": gpukit.NA, "loss": 0.25}}, 9, 1000.5)
events = EventAccumulator({str(tmp_path)!r})
events.Reload()
tags = events.Tags()["scalars"]
def read(name):  # tags have neither spaces nor brackets
    return events.Scalars(re.sub(r"[^-/\\w.]", "_", name))
wrong = [row for row in both.told if row[1] == row[1] and not any(
    one.step == row[2] and abs(one.value - row[1]) <= 1e-6 * abs(row[1])
    for one in read(row[0]))]
gpu = "resources/train/gpu:0/"
print(json.dumps([
    len(tags), len(both.told), wrong,
    [(one.step, one.value) for one in read(
        gpu + "memory_used (MiB)/mean")],
    [one.value for one in read(gpu + "temperature (C)/last")],
    [(one.step, one.value, one.wall_time) for one in read("loss")],
    "fan" in tags]))
""", *H100)
    count, told, wrong, used, hot, loss, fan = json.loads(out)
    temperature = program.machine.show()["gpus"][0]["values"]["temperature"]
    assert (wrong, fan) == ([], False)
    assert count > 30 and told == 2 * (count - 1) + 1
    assert used == [[5, 3072.0], [7, 3072.0]]
    assert hot == [temperature["value"]] * 2
    assert loss == [[9, 0.25, 1000.5]]


# As much of a trainer as the logger uses; every second step is logged.
TRAINER = """
import os
from types import SimpleNamespace as Part
from gpukit.callbacks._lightning import StepLogger
class Trainer:
    device_ids, is_global_zero = [0], True
    strategy = Part(root_device=Part(type="cpu"))
    def __init__(self):
        self.steps, self.rows = 0, []
        self.loggers = [self]
        self._logger_connector = Part(should_update_logs=False)
        self.fit_loop = Part(epoch_loop=Part(_batches_that_stepped=0))
    def log_metrics(self, found, step):
        self.rows.append((step, sorted(found)))
    def train(self, callback, steps=4):
        callback.on_train_start(self, None)
        callback.on_train_epoch_start(self, None)
        for step in range(steps):
            self.fit_loop.epoch_loop._batches_that_stepped = step
            self._logger_connector.should_update_logs = step % 2 == 1
            callback.on_train_batch_start(self, None, None, step)
            callback.on_train_batch_end(self, None, None, None, step)
        return self.rows
"""


def test_a_trainer_logs_only_what_it_asks_for_where_it_logs(program):
    out = program(TRAINER + """
print(Trainer().train(StepLogger(memory_utilization=False)))
print(Trainer().train(StepLogger(
    gpu_utilization=False, memory_utilization=False, intra_step_time=True,
    inter_step_time=True), 3))
trainer = Trainer()
trainer.is_global_zero = False
print(trainer.train(StepLogger()))
trainer = Trainer()
trainer.strategy.root_device.type = "cuda"
trainer.device_ids = [1, 1]
os.environ["CUDA_VISIBLE_DEVICES"] = "1,0"
print(trainer.train(StepLogger(memory_utilization=False), 2))
print(trainer.train(StepLogger(memory_utilization=False,
                               gpu_utilization=False)) == trainer.rows[:1])
""", "--gpus", "h100:2")
    util = [f"gpu_id: {i}/utilization.gpu (%)" for i in (0, 1)]
    turned = ["gpu_id: 1 (physical index: 0)/utilization.gpu (%)"]
    times = ["batch_time/inter_step (ms)", "batch_time/intra_step (ms)"]
    assert out.splitlines() == [
        str([(1, util), (3, util)]), str([(1, times)]), "[]",
        str([(1, turned)]), "True"]


KERAS = """
import sys
from types import ModuleType
keras = sys.modules["keras"] = ModuleType("keras")
sys.modules["keras.callbacks"] = keras.callbacks = ModuleType("c")
keras.callbacks.Callback = object
from gpukit.callbacks.keras import GpuStatsLogger, _numbers
"""


def test_gpus_are_named_as_keras_names_them(program):
    out = program(KERAS + """
print([list(_numbers(gpus)) for gpus in (
    2, [1], ["1"], ("GPU:1", "/gpu:0"), ["/device:GPU:11"])], _numbers(None))
for wrong in ["cpu:0"], ["GPU:"], ["GPU:x"], [-1], [None]:
    try:
        print(_numbers(wrong))
    except ValueError as error:
        print(error)
""", "--gpus", "h100:2")
    assert out.splitlines() == [
        "[[0, 1], [1], [1], [1, 0], [11]] None"] + [
            f"not a GPU: {gpu}" for gpu in
            ("'cpu:0'", "'GPU:'", "'GPU:x'", "-1", "None")]


@pytest.mark.parametrize("code", [
    KERAS + "made = GpuStatsLogger", TRAINER + "made = StepLogger"],
    ids=["keras", "lightning"])
def test_without_a_driver_it_cannot_be_made(code):
    out = run(code + """
import gpukit
try:
    print(gpukit.Device.count(), "GPUs", made())
except gpukit.NVMLError as error:
    print(error.name)
""")
    assert out.strip() == "NVML_ERROR_LIBRARY_NOT_FOUND"

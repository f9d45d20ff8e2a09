# SPDX-License-Identifier: Apache-2.0
"""The package's callbacks run in Lightning, in Keras (on PyTorch) and in
PyTorch's SummaryWriter. All compute on the CPU, since torch has its kernels
only as machine code; the GPUs whose figures they log are fake."""

import pytest

from conftest import GPUKIT
from python_package import PACKAGE
from real_program import Program

TRAINING = Program("training")

# GPU 0 has three GiB in use, GPU 1 has a fan; their clock is stopped.
MACHINE = ("--frozen", "--gpus", "h100:1,rtx4090:1", "--load",
           "idle:0,mem=3GiB")

BEGIN = """
import os, subprocess, warnings
warnings.filterwarnings("ignore")

def put(gpu, *values):
    subprocess.check_call([os.environ["GPUKIT_COMMAND"], "fake", "ctl", "set",
                           str(gpu), *values])

put(0, "temperature=71", "utilization=64", "memory-utilization=12")
put(1, "temperature=40", "utilization=5", "memory-utilization=2", "fan=37")
H100 = {"utilization.gpu (%)": 64, "utilization.memory (%)": 12,
        "memory.used (MiB)": 3072, "memory.free (MiB)": 81559 - 479 - 3072,
        "temperature.gpu (C)": 71}
RTX = {"utilization.gpu (%)": 5, "utilization.memory (%)": 2,
       "memory.used (MiB)": 0, "memory.free (MiB)": 24130,
       "temperature.gpu (C)": 40, "fan.speed (%)": 37}
def prefixed(prefix, values):
    return {f"{prefix}/{key}": value for key, value in values.items()}
ALL = {**prefixed("gpu_id: 0", H100), **prefixed("gpu_id: 1", RTX)}
TURNED = {**prefixed("gpu_id: 0 (physical index: 1)", RTX),
          **prefixed("gpu_id: 1 (physical index: 0)", H100)}
INTRA, INTER = "batch_time/intra_step (ms)", "batch_time/inter_step (ms)"
def without_times(found):
    return {k: v for k, v in found.items() if k not in (INTRA, INTER)}
"""

# Two epochs of four batches; every second step is logged.
LIGHTNING = """
import torch
from torch.utils.data import DataLoader, TensorDataset
import NAME as pl
from gpukit.callbacks.MODULE import GpuStatsLogger

class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(4, 1)
    def training_step(self, batch, at):
        loss = self.layer(batch[0]).square().mean()
        self.log("loss", loss)
        return loss
    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.01)

class Kept(pl.loggers.logger.Logger):
    name, version = "kept", 0
    def __init__(self):
        super().__init__()
        self.rows = []
    def log_hyperparams(self, *args, **kwargs):
        pass
    def log_metrics(self, metrics, step=None):
        self.rows.append((step, metrics))

def train(callback, logger):
    trainer = pl.Trainer(
        max_epochs=2, accelerator="cpu", devices=1, logger=logger,
        callbacks=[callback], log_every_n_steps=2, enable_checkpointing=False,
        enable_progress_bar=False, enable_model_summary=False)
    trainer.fit(Net(), DataLoader(TensorDataset(torch.ones(16, 4)),
                                  batch_size=4))

first, second = Kept(), Kept()
train(GpuStatsLogger(fan_speed=True, temperature=True, intra_step_time=True,
                     inter_step_time=True), [first, second])
assert str(first.rows) == str(second.rows)
losses = [step for step, row in first.rows if "loss" in row]
logged = [(step, row) for step, row in first.rows if INTRA in row]
assert losses == [1, 3, 5, 7] == [step for step, _ in logged]
for step, row in logged:
    assert without_times(row) == TURNED, row
    assert 0 < row[INTRA] < 60000 and 0 < row[INTER] < 60000, row

os.environ["CUDA_VISIBLE_DEVICES"] = "0"
kept = Kept()
train(GpuStatsLogger(memory_utilization=False), kept)
assert [row for _, row in kept.rows if "loss" not in row] == [
    {"gpu_id: 0/utilization.gpu (%)": 64}] * 4

from EXCEPTIONS import MisconfigurationException
try:
    train(GpuStatsLogger(), False)
    raise AssertionError("there is no logger")
except MisconfigurationException as error:
    assert "logger" in str(error)
"""

KERAS = """
import csv
import keras
import numpy as np
from gpukit.callbacks.keras import GpuStatsLogger

class Kept(keras.callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.rows = []
    def on_train_batch_end(self, batch, logs=None):
        self.rows.append(dict(logs))
        put(0, "temperature=%d" % (71 + len(self.rows) % 2))

def fit(*callbacks):
    model = keras.Sequential([keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    return model.fit(np.ones((8, 4)), np.ones((8, 1)), batch_size=4, epochs=2,
                     verbose=0, callbacks=[*callbacks]).history

kept = Kept()
told = fit(GpuStatsLogger(fan_speed=True, temperature=True,
                          intra_step_time=True, inter_step_time=True), kept,
           keras.callbacks.CSVLogger("log.csv"))
HOT = {**ALL, "gpu_id: 0/temperature.gpu (C)": 72}
MEAN = {**ALL, "gpu_id: 0/temperature.gpu (C)": 71.5}
for row, wanted in zip(kept.rows, (ALL, HOT, ALL, HOT), strict=True):
    assert without_times({k: v for k, v in row.items() if k != "loss"}) \\
        == wanted, row
    assert row[INTRA] > 0
assert [INTER in row for row in kept.rows] == [False, True, False, True]
assert {key: values for key, values in told.items() if key in ALL} == {
    key: [value, value] for key, value in MEAN.items()}
with open("log.csv") as file:
    rows = list(csv.DictReader(file))
assert [{key: float(row[key]) for key in ALL} for row in rows] == [MEAN] * 2

def seen(*args):
    kept.rows.clear()
    fit(GpuStatsLogger(*args, memory_utilization=False), kept)
    return sorted(set(kept.rows[0]) - {"loss"})
assert seen([1]) == seen(["/GPU:1"]) == ["gpu_id: 1/utilization.gpu (%)"]
assert seen(1) == seen(["/device:GPU:0"]) == ["gpu_id: 0/utilization.gpu (%)"]
for wrong, error in (["cpu:0"], ValueError), (3, RuntimeError):
    try:
        GpuStatsLogger(wrong)
        raise AssertionError(wrong)
    except error as told:
        assert "cpu:0" in str(told) or "2" in str(told), told
"""

TENSORBOARD = """
from torch.utils.tensorboard import SummaryWriter
from tensorboard.backend.event_processing.event_accumulator import (
    EventAccumulator)
from gpukit import Device
from gpukit.callbacks.tensorboard import add_scalar_dict

with SummaryWriter("runs") as writer:
    for step in range(3):
        put(0, f"temperature={50 + step}")
        shot = Device(0).as_snapshot()
        add_scalar_dict(writer, "gpu", {
            "temperature": shot.temperature, "fan": shot.fan_speed,
            "used": shot.memory_used}, global_step=step)
events = EventAccumulator("runs")
events.Reload()
assert set(events.Tags()["scalars"]) == {"gpu/temperature", "gpu/used"}
assert [(one.step, one.value) for one in events.Scalars("gpu/temperature")
        ] == [(0, 50), (1, 51), (2, 52)]
assert [one.value for one in events.Scalars("gpu/used")] == [3 << 30] * 3
"""


def train(script, **env):
    return TRAINING("import os, tempfile; os.chdir(tempfile.mkdtemp())\n" +
                    BEGIN + script, *MACHINE, PYTHONPATH=PACKAGE,
                    GPUKIT_COMMAND=GPUKIT, **env)


@pytest.mark.parametrize("name, module", [
    ("lightning.pytorch", "lightning"),
    ("pytorch_lightning", "pytorch_lightning")])
def test_lightning(name, module):
    script = LIGHTNING.replace("NAME", name).replace("MODULE", module)
    train(script.replace("EXCEPTIONS", name + ".utilities.exceptions"),
          CUDA_VISIBLE_DEVICES="1,0")


def test_keras():
    train(KERAS, KERAS_BACKEND="torch", KERAS_TORCH_DEVICE="cpu")


def test_the_writer_of_pytorch():
    train(TENSORBOARD)


# What Lightning itself tells of a GPU: it reads nvidia-smi, and 0 is what it
# makes of a value that is absent.
LIGHTNING_STATS = """
from NAME.accelerators.cuda import CUDAAccelerator, get_nvidia_gpu_stats

assert CUDAAccelerator.auto_device_count() == len(OURS)
for index, one in enumerate(OURS):
    told = get_nvidia_gpu_stats(f"cuda:{index}")
    assert told == {
        "utilization.gpu (%)": one["gpu_utilization_percent"],
        "memory.used (MB)": mib(one, "used"),
        "memory.free (MB)": mib(one, "free"),
        "utilization.memory (%)": one["memory_utilization_percent"],
        "fan.speed (%)": one["fan_speed_percent"] or 0,
        "temperature.gpu (°C)": one["temperature_celsius"],
        "temperature.memory (°C)": one["memory_temperature_celsius"] or 0
    }, (told, one)
"""


@pytest.mark.parametrize("name", ["lightning.pytorch", "pytorch_lightning"])
def test_what_lightning_tells_of_gpus(name):
    TRAINING.compare(LIGHTNING_STATS.replace("NAME", name), "--no-torch",
                     "--frozen", "--gpus", "h100:1,rtx3090:1", "--load",
                     "train:0,n=2,mem=5GiB", "--load", "idle:1,mem=3GiB")

# SPDX-License-Identifier: Apache-2.0
"""What a training does with memory: it runs out and continues with a smaller
batch, pins what it loads, saves what it learned, shares tensors."""

import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from training import DEVICE, FOLDER, begin, drawn, tell

ON_GPU = DEVICE == "cuda"
GIB = 1 << 30


def retried():
    """Batches of 64, 32, 16 GiB and so on, until one fits."""
    size = 64 * GIB
    tried = 0
    while True:
        try:
            torch.empty(size + 4 * GIB, dtype=torch.uint8, device=DEVICE)
            return tried, size // GIB
        except torch.OutOfMemoryError:
            tried += 1
            size //= 2


def loaded():
    """The sum of what two workers load into pinned memory."""
    x, = drawn((40, 5))
    data = TensorDataset(x.cpu(), torch.arange(40))
    loader = DataLoader(data, 7, num_workers=2, pin_memory=ON_GPU)
    total = torch.zeros(5, device=DEVICE)
    for part, numbers in loader:
        assert part.is_pinned() == ON_GPU
        part = part.to(DEVICE, non_blocking=True)
        total += (part * numbers.to(DEVICE, non_blocking=True)[:, None]).sum(0)
    return total.tolist()


def kept():
    """A model is saved on one device and loaded onto the other."""
    torch.manual_seed(5)
    model = nn.Linear(4, 3).to(DEVICE)
    path = os.path.join(FOLDER, f"{DEVICE}.model.pt")
    torch.save(model.state_dict(), path)
    again = nn.Linear(4, 3)
    again.load_state_dict(torch.load(path, map_location="cpu"))
    x, = drawn((2, 4))
    moved = torch.load(path, map_location=DEVICE)
    assert moved["weight"].device.type == DEVICE
    return again(x.cpu()).tolist(), model(x).tolist()


def add_to(tensor, done):
    tensor.add_(1)
    torch.empty(0, device=DEVICE)
    if ON_GPU:
        torch.cuda.synchronize()
    done.set()


def shared():
    """Another process adds to a tensor of ours."""
    spawn = torch.multiprocessing.get_context("spawn")
    done = spawn.Event()
    tensor = torch.arange(6., device=DEVICE)
    child = spawn.Process(target=add_to, args=(tensor, done))
    child.start()
    assert done.wait(60)
    child.join()
    return tensor.tolist()


if __name__ == "__main__":
    begin()
    tell(retried=retried() if ON_GPU else None, loaded=loaded(), kept=kept(),
         shared=shared())

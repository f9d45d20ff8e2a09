# SPDX-License-Identifier: Apache-2.0
"""What the training programs share. Each is started as

    python PROGRAM.py DEVICE FOLDER

and prints its losses as JSON. DEVICE is cuda or cpu. Nothing else differs,
except that a run on cuda writes the masks of its dropouts into FOLDER, and the
run on cpu reads them, since two devices never draw the same numbers.
"""

import json
import os
import sys

import torch

DEVICE, FOLDER = sys.argv[1:3]


class Dropout(torch.nn.Dropout):
    """torch's dropout; on the CPU, with the masks of the GPU's run."""

    calls = 0

    def forward(self, x):
        if not self.training:
            return x
        path = os.path.join(FOLDER, f"{Dropout.calls}.pt")
        Dropout.calls += 1
        if not x.is_cuda:
            return x * torch.load(path) * (1 / (1 - self.p))
        y = super().forward(x)
        torch.save((y != 0).cpu(), path)
        return y


def begin():
    torch.set_num_threads(1)
    torch.manual_seed(1)


def train(model, optimizer, loss_of, batches):
    """Trains; returns the loss before each step."""
    losses = []
    for batch in batches:
        optimizer.zero_grad()
        loss = loss_of(model, batch)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


def drawn(*shapes, seed=2):
    """Normal numbers that are the same everywhere, on DEVICE."""
    source = torch.Generator().manual_seed(seed)
    return [torch.randn(shape, generator=source).to(DEVICE)
            for shape in shapes]


def classes(count, of, seed=3):
    source = torch.Generator().manual_seed(seed)
    return torch.randint(of, (count,), generator=source).to(DEVICE)


def tell(**told):
    print(json.dumps(told))

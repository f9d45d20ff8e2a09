# SPDX-License-Identifier: Apache-2.0
"""Trains recurrent networks to add: LSTM in two layers with the dropout between
them turned off, bidirectional GRU, packed sequences."""

import torch
from torch import nn
from torch.nn.functional import mse_loss
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from training import DEVICE, begin, drawn, tell, train


class Summer(nn.Module):
    def __init__(self, kind, **options):
        super().__init__()
        self.rnn = kind(4, 12, batch_first=True, **options)
        width = 24 if options.get("bidirectional") else 12
        self.out = nn.Linear(width, 1)

    def forward(self, x, lengths=None):
        if lengths is not None:
            x = pack_padded_sequence(x, lengths, batch_first=True)
        x, _ = self.rnn(x)
        if lengths is not None:
            x, _ = pad_packed_sequence(x, batch_first=True)
        return self.out(x[:, -1])


def learn(model, lengths=None):
    model = model.to(DEVICE)

    def loss_of(model, batch):
        return mse_loss(model(batch, lengths), batch.sum((1, 2))[:, None])

    batches = [drawn((6, 9, 4), seed=step)[0] for step in range(15)]
    return train(model, torch.optim.Adam(model.parameters(), 1e-2), loss_of,
                 batches)


begin()
tell(lstm=learn(Summer(nn.LSTM, num_layers=2)),
     gru=learn(Summer(nn.GRU, bidirectional=True)),
     relu=learn(Summer(nn.RNN, nonlinearity="relu")),
     packed=learn(Summer(nn.LSTM), torch.tensor([9, 9, 7, 4, 2, 1])))

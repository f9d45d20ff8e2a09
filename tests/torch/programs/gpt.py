# SPDX-License-Identifier: Apache-2.0
"""Trains a small GPT: causal attention as PyTorch chooses it, layer norms, tied
embeddings; in float32, in bfloat16 by autocast, and with checkpoints."""

import torch
from torch import autocast, bfloat16, nn
from torch.nn.functional import cross_entropy, gelu, \
    scaled_dot_product_attention
from torch.utils.checkpoint import checkpoint

from training import DEVICE, Dropout, begin, tell, train

WORDS, WIDTH, HEADS, LENGTH = 64, 32, 4, 24


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.up = nn.Linear(WIDTH, 4 * WIDTH)
        self.down = nn.Linear(4 * WIDTH, WIDTH)
        self.drop = Dropout(0.1)

    def forward(self, x):
        q, k, v = (part.unflatten(2, (HEADS, -1)).transpose(1, 2)
                   for part in self.qkv(self.norm1(x)).chunk(3, 2))
        attended = scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.drop(self.out(attended.transpose(1, 2).flatten(2)))
        return x + self.down(gelu(self.up(self.norm2(x))))


class GPT(nn.Module):
    def __init__(self, checkpoints=False):
        super().__init__()
        self.words = nn.Embedding(WORDS, WIDTH)
        self.places = nn.Embedding(LENGTH, WIDTH)
        self.blocks = nn.ModuleList(Block() for _ in range(2))
        self.norm = nn.LayerNorm(WIDTH)
        self.checkpoints = checkpoints

    def forward(self, tokens):
        x = self.words(tokens) + self.places.weight[:tokens.shape[1]]
        for block in self.blocks:
            x = checkpoint(block, x, use_reentrant=False) \
                if self.checkpoints else block(x)
        return self.norm(x) @ self.words.weight.t()


def tokens(step):
    source = torch.Generator().manual_seed(step)
    return torch.randint(WORDS, (4, LENGTH + 1), generator=source).to(DEVICE)


def loss_of(model, batch):
    out = model(batch[:, :-1])
    return cross_entropy(out.flatten(0, 1).float(), batch[:, 1:].flatten())


def loss_in_halves(model, batch):
    with autocast(DEVICE, dtype=bfloat16):
        return loss_of(model, batch)


def learn(loss, checkpoints=False):
    torch.manual_seed(4)
    model = GPT(checkpoints).to(DEVICE)
    if checkpoints:
        for block in model.blocks:
            block.drop = nn.Identity()
    optimizer = torch.optim.AdamW(model.parameters(), 3e-3, fused=True)
    losses = train(model, optimizer, loss, map(tokens, range(8)))
    norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    return losses + [norm.item()]


begin()
tell(float32=learn(loss_of), checkpoints=learn(loss_of, True),
     bfloat16=learn(loss_in_halves))

# SPDX-License-Identifier: Apache-2.0
"""Sparse, compressed and nested tensors work on fake GPUs."""

import pytest

from torch_program import run

BOTH = """
import warnings
warnings.simplefilter("ignore")

def sparse(device):
    return torch.tensor([[0, 1., 2], [0, 0, 3], [4, 0, 0]],
                        device=device).to_sparse()

def nested(device):
    return torch.nested.nested_tensor([torch.arange(2.) + 1, torch.arange(3.)],
                                      device=device)

def dense(t):
    return t.to_padded_tensor(0) if t.is_nested else t.to_dense()

def both(function):
    same(dense(function("cuda")), dense(function("cpu")))
"""

PROGRAMS = {
    "products": """
both(lambda d: sparse(d) @ torch.arange(9., device=d).reshape(3, 3))
both(lambda d: torch.sparse.mm(sparse(d), sparse(d)))
both(lambda d: sparse(d).to_sparse_csr() @ torch.ones(3, 2, device=d))
""",
    "element by element": """
both(lambda d: sparse(d) + sparse(d))
both(lambda d: sparse(d) * sparse(d))
both(lambda d: sparse(d).mul_(2))
both(lambda d: sparse(d).add_(sparse(d)))
both(lambda d: torch.sparse.softmax(sparse(d), 1))
""",
    "compressed": """
both(lambda d: sparse(d).to_sparse_csr() * 3)
both(lambda d: sparse(d).to_sparse_csc().to_sparse_csr())
both(lambda d: sparse(d).to_sparse_bsr((1, 1)))
""",
    "copies": """
there = sparse("cpu").cuda()
assert there.is_cuda and there.values().is_cuda
assert torch.equal(there.to("cuda:1").cpu().to_dense(),
                   sparse("cpu").to_dense())
""",
    "nested": """
both(nested)
both(lambda d: nested(d) * 2 + nested(d))
both(lambda d: torch.nested.nested_tensor([torch.ones(2, 3), torch.ones(4, 3)],
                                          device=d).softmax(-1))
""",
    "gradients": """
def train(device):
    torch.manual_seed(0)
    table = nn.Embedding(5, 3, sparse=True).to(device)
    adam = torch.optim.SparseAdam(table.parameters())
    for _ in range(3):
        adam.zero_grad()
        table(torch.tensor([1, 2, 1], device=device)).pow(2).sum().backward()
        adam.step()
    return table.weight.detach()
both(train)
""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_they_are_what_they_are_on_the_cpu(name):
    run(BOTH + PROGRAMS[name])

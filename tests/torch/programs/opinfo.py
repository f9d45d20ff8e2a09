# SPDX-License-Identifier: Apache-2.0
"""Runs PyTorch's own table of operators, with its samples of each, on the GPU
and compares it with the CPU, forward and, where the table says so, backward.

    python opinfo.py PART PARTS DTYPE... [--only OPERATOR...]

Runs PART of PARTS of the operators, by name, or only some of them. Prints a
JSON object a line for each operator and type: how many samples were compared,
forward and backward; for a type that CUDA refuses, how many were refused and
how many accepted; and the first difference or error, if any. Needs one GPU.
"""

import itertools
import json
import sys
import warnings
import zlib

import torch
from torch.testing import assert_close
from torch.testing._internal.common_methods_invocations import op_db
from torch.utils._pytree import tree_flatten, tree_map

SAMPLES = 5
# Operators that return unwritten memory: shapes without values.
UNWRITTEN = ("empty", "new_empty", "empty_like", "empty_strided",
             "new_empty_strided", "empty_permuted")
DRAWING = ("bernoulli", "multinomial", "normal", "uniform", "cauchy",
           "exponential", "geometric", "log_normal", "nn.functional.rrelu",
           "nn.functional.fractional_max_pool2d",
           "nn.functional.fractional_max_pool3d",
           "nn.functional.multi_head_attention_forward")


def moved(tree, device):
    return tree_map(lambda one: one.detach().to(device)
                    .requires_grad_(one.requires_grad)
                    if isinstance(one, torch.Tensor) else one, tree)


def placed(sample, device):
    """A sample's input, arguments and options on a device."""
    value, args, options = moved((sample.input, sample.args, sample.kwargs),
                                 device)
    if "device" in options:
        options["device"] = device
    return value, args, options


def draws(op, sample):
    """CUDA's generator draws other numbers than the CPU's."""
    return op.name in UNWRITTEN or op.name in DRAWING or \
        sample.kwargs.get("dropout_p") or \
        any(part in op.name for part in ("rand", "dropout", "lowrank"))


def tensors(tree):
    return [one for one in tree_flatten(tree)[0]
            if isinstance(one, torch.Tensor)]


def same_forms(found, expected):
    for one, other in zip(found, expected):
        assert one.shape == other.shape, (one.shape, other.shape)
        assert one.dtype == other.dtype, (one.dtype, other.dtype)
        assert one.is_cuda, "the result is not on the GPU"
        if one.layout == torch.strided:
            assert one.stride() == other.stride() or one.numel() < 2 or \
                1 in one.shape or 0 in one.shape, \
                (one.stride(), other.stride())


def same(found, expected, drawn):
    found, expected = tensors(found), tensors(expected)
    assert len(found) == len(expected), (len(found), len(expected))
    same_forms(found, expected)
    if drawn:
        return
    for one, other in zip(found, expected):
        assert_close(one.detach().cpu(), other.detach(), equal_nan=True)


def gradients(op, sample, device):
    """Gradients of the sum of all results for all inputs that have gradients.
    """
    sample = placed(sample, device)
    results = [one for one in tensors(op(sample[0], *sample[1], **sample[2]))
               if one.requires_grad]
    inputs = [one for one in tensors(sample) if one.requires_grad]
    if not results or not inputs:
        return None
    total = sum(one.to_dense().abs().sum() for one in results)
    return torch.autograd.grad(total, inputs, allow_unused=True)


def forward(op, sample, device):
    value, args, options = placed(sample, device)
    return op(value, *args, **options)


def on_cpu(action, *arguments):
    """The CPU's result, or None if it refuses too."""
    try:
        return action(*arguments, "cpu")
    except Exception:
        return None


def is_refused(op, sample):
    try:
        forward(op, sample, "cuda")
    except RuntimeError:  # including NotImplementedError
        return True
    return False


def compare(op, sample, dtype, counts):
    expected = on_cpu(forward, op, sample)
    if expected is None:
        return
    # The table says for each type whether CUDA has it; for an empty operand no
    # kernel is called.
    if dtype not in op.supported_dtypes("cuda"):
        if all(one.numel() for one in tensors(placed(sample, "cpu"))):
            counts["refused" if is_refused(op, sample) else "taken"] += 1
        return
    drawn = draws(op, sample)
    same(forward(op, sample, "cuda"), expected, drawn)
    counts["forward"] += 1
    if not dtype.is_floating_point or not op.supports_autograd:
        return
    expected = on_cpu(gradients, op, sample)
    if expected is None:
        return
    found = gradients(op, sample, "cuda")
    assert [one is None for one in found] == [one is None for one in expected]
    if not drawn:
        same(found, expected, drawn)
    counts["backward"] += 1


def try_operator(op, dtype):
    counts = {"forward": 0, "backward": 0, "refused": 0, "taken": 0}
    miss = None
    try:
        samples = list(itertools.islice(op.sample_inputs(
            "cpu", dtype, requires_grad=dtype.is_floating_point and
            op.supports_autograd), SAMPLES))
    except Exception as error:
        return counts, None, f"no samples: {error}"
    for sample in samples:
        try:
            compare(op, sample, dtype, counts)
        except Exception as error:
            miss = miss or f"{type(error).__name__}: {error}".splitlines()[0]
    # Some samples need no kernel with types: sums, products by element.
    if counts["taken"] and not counts["refused"]:
        miss = miss or "CUDA refuses this type"
    return counts, miss, None


def main():
    part, parts = int(sys.argv[1]), int(sys.argv[2])
    names = sys.argv[3:]
    only = []
    if "--only" in names:
        at = names.index("--only")
        names, only = names[:at], names[at + 1:]
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    for dtype in (getattr(torch, name) for name in names):
        for op in op_db:
            if dtype not in op.dtypes or \
               zlib.crc32(op.name.encode()) % parts != part or \
               (only and op.formatted_name not in only):
                continue
            torch.manual_seed(1)
            counts, miss, left_out = try_operator(op, dtype)
            print(json.dumps({
                "operator": op.formatted_name, "dtype": str(dtype)[6:],
                **counts, "miss": miss, "left_out": left_out}), flush=True)


main()

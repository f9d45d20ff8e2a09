# SPDX-License-Identifier: Apache-2.0
"""The programs of tests/torch/programs have the same losses to six digits on
fake GPUs and on the CPU. Where the CPU has no bfloat16 instructions, PyTorch's
convolutions round after every product and ours once: those losses drift apart.
"""

import pytest

from torch_program import needs, on_both, run_file, told

ROUNDED = {"llama_in_bfloat16": 1e-4, "mixed": 1e-2}


def same(found, expected, rel=1e-6):
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name in expected:
            same(found[name], expected[name], ROUNDED.get(name, rel))
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            same(one, other, rel)
    else:
        assert found == pytest.approx(expected, rel=rel), (found, expected)


@pytest.mark.parametrize("program", ["cnn.py", "lstm.py", "gpt.py"])
def test_losses_are_those_of_the_cpu(program, tmp_path):
    same(*on_both(program, folder=tmp_path))


def test_memory_is_handled_as_on_a_gpu(tmp_path):
    found, expected = on_both("memory.py", folder=tmp_path, gpus="rtx-4090:1")
    # 68 and 36 GiB do not fit into 24, but 20 do.
    assert found.pop("retried") == [2, 16]
    assert expected.pop("retried") is None
    same(found, expected)


def test_four_ranks_learn_what_one_process_learns(tmp_path):
    needs(2, 6)  # fully_shard
    ranks = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]
    found = told(run_file([*ranks, "4", "parallel.py", "cuda", str(tmp_path)],
                          "h100:4"))
    expected = told(run_file([*ranks, "1", "parallel.py", "cpu",
                              str(tmp_path)]))
    assert found.pop("gathered") == [[0, 1, 2, 3], 2.0]
    assert expected.pop("gathered") == [[0], 0.0]
    same(found, expected)


@pytest.mark.parametrize("name", [
    "resnet", "boxes", "vision_transformer", "efficient_net", "llama",
    "llama_in_bfloat16", "bert", "trainer", "accelerated", "lightning",
    "adapted"])
def test_models_of_pypi_learn_as_on_the_cpu(name, tmp_path):
    found, expected = on_both("zoo.py", name, folder=tmp_path)
    same({name: found}, {name: expected})

"""Programs of tests/torch/programs on made-up GPUs and on the CPU: the same
losses to six digits."""

import pytest

from torch_venv import both, needs_torch, run, told

pytestmark = needs_torch


def same(found, expected):
    """Lists of lists of numbers, to six digits."""
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name in expected:
            same(found[name], expected[name])
    elif isinstance(expected, list):
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            same(one, other)
    else:
        assert found == pytest.approx(expected, rel=1e-6), (found, expected)


@pytest.mark.parametrize("program", ["cnn.py", "lstm.py", "gpt.py"])
def test_losses_are_those_of_the_cpu(program, tmp_path):
    found, expected = both(program, tmp_path)
    same(found, expected)


def test_memory_is_handled_as_on_a_gpu(tmp_path):
    found, expected = both("memory.py", tmp_path, "rtx-4090:1")
    # 68 and 36 GiB do not fit into 24, 20 do.
    assert found.pop("retried") == [2, 16]
    assert expected.pop("retried") is None
    same(found, expected)


def test_four_ranks_learn_what_one_process_learns(tmp_path):
    ranks = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node"]
    found = told(run([*ranks, "4", "parallel.py", "cuda", str(tmp_path)],
                     "h100:4"))
    expected = told(run([*ranks, "1", "parallel.py", "cpu", str(tmp_path)]))
    assert found.pop("gathered") == [[0, 1, 2, 3], 2.0]
    assert expected.pop("gathered") == [[0], 0.0]
    same(found, expected)


@pytest.mark.parametrize("name", [
    "resnet", "boxes", "vision_transformer", "efficient_net", "llama",
    "llama_in_bfloat16", "bert", "trainer", "accelerated", "lightning",
    "adapted"])
def test_models_of_pypi_learn_as_on_the_cpu(name, tmp_path):
    found, expected = [
        told(run(["zoo.py", device, str(tmp_path), name], where))
        for device, where in (("cuda", "h100:1"), ("cpu", None))]
    same(found, expected)

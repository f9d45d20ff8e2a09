"""The table of operators: nothing is refused without a reason."""

import json
import subprocess

import pytest

from conftest import GPUKIT
from torch_program import PYTHON, run, torch_env


@pytest.fixture(scope="module")
def table():
    run("")  # builds, or skips
    return json.loads(subprocess.check_output(
        [GPUKIT, "fake", "--quiet", "--", PYTHON, "-m", "_gpukit_torch",
         "--table", "--json"], env=torch_env(), text=True))


def test_of_a_gpus_operators_at_most_25_are_refused(table):
    dense = [row for row in table if row["key"] == "CUDA"]
    assert len(dense) > 1200
    assert sum(row["fate"] == "refused" for row in dense) <= 25


def test_what_is_refused_has_a_reason_and_nothing_else_has(table):
    for row in table:
        assert bool(row["reason"]) == (row["fate"] == "refused"), row


def test_the_table_has_what_the_dispatcher_has(table):
    found = run("""
names = torch._C._dispatch_get_registrations_for_dispatch_key("CUDA")
print("\\n".join(n for n in names if n.startswith("aten::")))
""").stdout.split()
    dense = {row["operator"] for row in table if row["key"] == "CUDA"}
    assert set(found) - dense <= {"aten::cudnn_is_acceptable"}


def test_a_refused_operator_is_an_error_with_its_name():
    out = run("""
raises(lambda: torch._cslt_compress(torch.ones(32, 32, device="cuda").half()),
       NotImplementedError, "_cslt_compress", "cuSPARSELt")
raises(lambda: torch.quantize_per_tensor(torch.ones(3, device="cuda"), 1., 0,
                                         torch.qint8),
       NotImplementedError, "made-up GPU")
""", options=["--refusals=error"], check=False)
    assert out.returncode == 3

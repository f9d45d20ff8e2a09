# SPDX-License-Identifier: Apache-2.0
"""In the table of operators nothing is refused without a reason."""

import json
import subprocess

import pytest

from conftest import GPUKIT
from torch_program import PYTHON, run, torch_env


@pytest.fixture(scope="module")
def table():
    run("")  # builds the library, or skips
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


def test_operators_of_other_libraries_run_by_their_kernels_for_the_cpu(tmp_path):
    source = tmp_path / "twice.cpp"
    source.write_text("""
#include <ATen/ATen.h>
#include <torch/library.h>
static at::Tensor twice(const at::Tensor &t) { return t * 2 + t.is_cpu(); }
static at::Tensor alone(const at::Tensor &t) { return t * 3; }
TORCH_LIBRARY(twice, m) {
	m.def("twice(Tensor t) -> Tensor");
	m.def("alone(Tensor t) -> Tensor");
}
TORCH_LIBRARY_IMPL(twice, CPU, m) { m.impl("twice", twice); }
TORCH_LIBRARY_IMPL(twice, CUDA, m) {
	m.impl("twice", twice);
	m.impl("alone", alone);
}
""")
    run(f"""
import os, subprocess
from _gpukit_torch import build
here = os.path.dirname(torch.__file__)
env = {{k: v for k, v in os.environ.items() if not k.startswith("LD_")}}
subprocess.run(["c++", build._standard(torch.__version__), "-O0", "-fPIC", "-shared", "-w",
                f"-D_GLIBCXX_USE_CXX11_ABI={{int(torch._C._GLIBCXX_USE_CXX11_ABI)}}",
                "-isystem", here + "/include", "{source}",
                "-L" + here + "/lib", "-ltorch_cpu", "-lc10",
                "-o", "{tmp_path}/twice.so"], check=True, env=env)
torch.ops.load_library("{tmp_path}/twice.so")
one = torch.ones(3, device="cuda")
same(torch.ops.twice.twice(one), torch.full((3,), 3.))
same(torch.ops.twice.alone(one), torch.full((3,), 3.))
""")

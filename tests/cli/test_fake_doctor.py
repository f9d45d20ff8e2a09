# SPDX-License-Identifier: Apache-2.0
"""What `gpukit fake doctor` says of a program is true when it runs."""

import json
import os
import random
import re
import shutil
import subprocess
import sys

import pytest

import cuda_programs
from conftest import FAKE_DIR, GPUKIT, ROOT, clean_env, sanitized

PTX, CODE = "ptx", "code"

# nvcc's flags: (images with kernels, reasons why it does not run on an A100)
WAYS = {
    "default": ([], ["static-runtime"]),
    "shared": (["-cudart", "shared"], []),
    "arch": (["-cudart", "shared", "-arch=sm_80"], []),
    "all-major": (["-cudart", "shared", "-arch=all-major"], ["new-ptx"]),
    "ptx": (["-cudart", "shared", "-arch=compute_80"], []),
    "two": (["-cudart", "shared", "-gencode",
             "arch=compute_80,code=[sm_80,compute_80]", "-gencode",
             "arch=compute_90,code=compute_90"], []),
    "code": (["-cudart", "shared", "-gencode",
              "arch=compute_86,code=sm_86"], ["no-ptx"]),
    "new": (["-cudart", "shared", "-arch=compute_90"], ["new-ptx"]),
    "fast": (["-cudart", "shared", "--compress-mode=speed"], []),
    "small": (["-cudart", "shared", "--compress-mode=size"], []),
    "plain": (["-cudart", "shared", "--no-compress"], []),
    "code-default": (["-gencode", "arch=compute_86,code=sm_86"],
                     ["static-runtime", "no-ptx"]),
    "rdc": (["-cudart", "shared", "-rdc=true"], []),
    "rdc-code": (["-cudart", "shared", "-rdc=true", "-gencode",
                  "arch=compute_86,code=sm_86"], ["no-ptx"]),
    "rdc-ptx": (["-cudart", "shared", "-rdc=true", "-arch=compute_80"],
                []),
    "one-kind": (["-cudart", "shared", "-gencode",
                  "arch=compute_90a,code=compute_90a"], ["new-ptx"]),
    "some-kind": (["-cudart", "shared", "-gencode",
                   "arch=compute_90a,code=compute_90a", "-gencode",
                   "arch=compute_80,code=compute_80"], []),
    "rdc-new": (["-cudart", "shared", "-rdc=true", "-arch=sm_90"],
                ["new-ptx"]),
}


def built(way, source="vector_add"):
    flags, _ = WAYS[way]
    path = os.path.join(cuda_programs.SOURCES, source + ".cu")
    return cuda_programs.made(
        os.path.join(cuda_programs.OUT, f"{source}-{way}"),
        [path, cuda_programs.NVCC],
        lambda to: cuda_programs.run(cuda_programs.NVCC, *flags, path, "-o",
                                     to, env=cuda_programs.environment()))


def look(gpukit, *paths, code=None):
    done = gpukit("fake", "doctor", "--json", *paths)
    assert done.stderr == ""
    found = json.loads(done.stdout)
    assert done.returncode == int(not all(one["runs"] for one in found))
    if code is not None:
        assert done.returncode == code
    return found


def runs(program):
    done = subprocess.run([GPUKIT, "fake", "--", program],
                          capture_output=True, text=True, check=False,
                          timeout=60, env=clean_env())
    return done.returncode == 0


@pytest.mark.parametrize("way", WAYS)
def test_it_says_what_comes_true(gpukit, way):
    program = built(way)
    (found,) = look(gpukit, program)
    assert [r["code"] for r in found["reasons"]] == WAYS[way][1]
    assert found["runs"] == runs(program)


def test_gpukit_itself_carries_no_runtime(gpukit):
    """The strings that it looks for must not be found in itself."""
    (found,) = look(gpukit, GPUKIT, code=0)
    assert not found["runtime"]["nvidia_inside"]
    done = gpukit("fake", "--", "nvidia-smi", "-L")
    assert done.returncode == 0 and done.stderr == ""


@pytest.mark.parametrize("way", ["default", "shared", "code", "rdc",
                                 "rdc-code"])
def test_the_launcher_says_it_of_what_it_starts(gpukit, way):
    done = gpukit("fake", "--", built(way))
    assert ("NVIDIA's own CUDA runtime" in done.stderr) == (way == "default")
    assert ("only as machine code" in done.stderr) == way.endswith("code")
    assert (done.returncode == 0) == (way in ("shared", "rdc"))


def test_nvidias_runtime_tells_that_the_driver_is_not_nvidias():
    done = subprocess.run([GPUKIT, "fake", "--", built("default")],
                          capture_output=True, text=True, check=False,
                          timeout=60, env=clean_env())
    assert "cudaErrorStubLibrary" in done.stdout + done.stderr


def test_it_knows_the_runtime_of_a_program(gpukit):
    for way, expected in (("default", (None, True, 0)),
                          ("shared", ("libcudart.so.13", False, 0))):
        (found,) = look(gpukit, built(way))
        runtime = found["runtime"]
        assert (runtime["shared"], runtime["nvidia_inside"],
                runtime["gpukit_inside"]) == expected
        assert not runtime["driver"]
    (found,) = look(gpukit, cuda_programs.static("vector_add"), code=0)
    assert found["runtime"] == {"shared": None, "nvidia_inside": False,
                                "gpukit_inside": 13, "driver": False}
    (found,) = look(gpukit, cuda_programs.driver("vector_add_driver"), code=0)
    assert found["runtime"] == {"shared": None, "nvidia_inside": False,
                                "gpukit_inside": 0, "driver": True}
    (found,) = look(gpukit, "/bin/sh", code=0)
    assert found["runtime"] == {"shared": None, "nvidia_inside": False,
                                "gpukit_inside": 0, "driver": False}


@pytest.mark.parametrize("way", ["default", "static"])
def test_a_stripped_program_keeps_its_runtime(gpukit, tmp_path, way):
    program = (cuda_programs.static("vector_add") if way == "static"
               else built(way))
    (before,) = look(gpukit, program)
    stripped = str(tmp_path / "stripped")
    shutil.copy(program, stripped)
    cuda_programs.run("strip", stripped)
    (after,) = look(gpukit, stripped)
    for key in ("runtime", "images", "reasons"):
        assert after[key] == before[key]


def test_the_runtime_of_cuda_12_is_known_too(gpukit):
    nvidia = os.path.join(cuda_programs.TOOLKIT_12, "lib", "libcudart.so.12")
    (found,) = look(gpukit, nvidia, code=0)
    assert found["kind"] == "library" and found["runtime"]["nvidia_inside"]
    (found,) = look(gpukit, os.path.join(FAKE_DIR, "libcudart.so.12"), code=0)
    assert found["runtime"]["gpukit_inside"] == 12


def test_the_runtime_of_cuda_12_gives_way_to_ours(gpukit):
    if sanitized():
        pytest.skip("no auditor in a build with a sanitizer")
    nvidia = os.path.join(cuda_programs.TOOLKIT_12, "lib", "libcudart.so.12")
    count = ("import ctypes, sys; n = ctypes.c_int();"
             "print(ctypes.CDLL(sys.argv[1]).cudaGetDeviceCount("
             "ctypes.byref(n)), n.value)")
    told = gpukit.ok("fake", "--", sys.executable, "-c", count, nvidia)
    assert told == "0 8\n"


def test_it_lists_the_images(gpukit):
    (found,) = look(gpukit, built("two"))
    images = [(i["kind"], i["arch"], i["packing"]) for i in found["images"]
              if not i["without_kernels"]]
    assert images == [(CODE, 80, "none"), (PTX, 80, "zstd"),
                      (PTX, 90, "zstd")]
    packings = {way: {i["packing"] for i in look(gpukit, built(way))[0]["images"]
                      if i["kind"] == PTX}
                for way in ("fast", "small", "plain")}
    assert packings == {"fast": {"lz4"}, "small": {"zstd"}, "plain": {"none"}}
    (found,) = look(gpukit, built("rdc"))
    assert any(i["to_be_linked"] and i["kind"] == PTX for i in found["images"])


# Sums by the tensor cores are not executed yet, and are refused at the launch.
TENSOR = """
#include <mma.h>
#include <cstdio>
__global__ void product(half *a, half *b, float *to)
{
	using namespace nvcuda::wmma;
	fragment<matrix_a, 16, 16, 16, half, row_major> left;
	fragment<matrix_b, 16, 16, 16, half, col_major> right;
	fragment<accumulator, 16, 16, 16, float> sum;
	fill_fragment(sum, 0.0f);
	load_matrix_sync(left, a, 16);
	load_matrix_sync(right, b, 16);
	mma_sync(sum, left, right, sum);
	store_matrix_sync(to, sum, 16, mem_row_major);
}
__global__ void plain(int *at) { *at = 1; }
int main()
{
	product<<<1, 32>>>(nullptr, nullptr, nullptr);
	if (cudaGetLastError() != cudaErrorNotSupported)
		return 2;
	int *at;
	cudaMalloc(&at, 4);
	plain<<<1, 1>>>(at);
	return cudaDeviceSynchronize() ? 3 : 0;
}
"""


TWO_FILES = ("""
__device__ int twice(int);
__global__ void work(int *at) { *at = twice(21); }
int main()
{
	int *at, host = 0;
	cudaMalloc(&at, 4);
	work<<<1, 1>>>(at);
	cudaMemcpy(&host, at, 4, cudaMemcpyDeviceToHost);
	return host != 42;
}
""", "__device__ int twice(int x) { return 2 * x; }\n")


@pytest.mark.parametrize("arch", ["sm_75", "compute_75"])
def test_device_code_of_two_files_is_linked(gpukit, tmp_path, arch):
    files = [str(tmp_path / f"{i}.cu") for i in range(2)]
    for path, text in zip(files, TWO_FILES):
        with open(path, "w", encoding="ascii") as file:
            file.write(text)
    program = tmp_path / "program"
    cuda_programs.run(cuda_programs.NVCC, "-cudart", "shared", "-rdc=true",
                      f"-arch={arch}", *files, "-o", str(program),
                      env=cuda_programs.environment())
    (found,) = look(gpukit, program, code=0)
    assert (found["kernels"], found["kernels_refused"]) == (1, 0)
    assert runs(program)


def test_it_names_the_kernels_that_will_be_refused(gpukit, tmp_path):
    (tmp_path / "tensor.cu").write_text(TENSOR)
    program = tmp_path / "tensor"
    cuda_programs.run(cuda_programs.NVCC, "-cudart", "shared",
                      "-arch=compute_80", str(tmp_path / "tensor.cu"), "-o",
                      str(program), env=cuda_programs.environment())
    (found,) = look(gpukit, program, code=1)
    assert [r["code"] for r in found["reasons"]] == ["refused-instruction"]
    assert (found["kernels"], found["kernels_refused"]) == (2, 1)
    (refused,) = found["refused"]
    assert "product" in refused["kernel"]
    assert refused["instruction"].startswith("wmma.")
    assert runs(program)
    (found,) = look(gpukit, built("shared"), code=0)
    assert (found["kernels"], found["kernels_refused"]) == (1, 0)


CALLS = """
#include <cstdio>
int main()
{
	return cudaGraphicsUnmapResources(0, nullptr, 0) == cudaErrorNotSupported
		? cudaFree(nullptr) : 9;
}
"""

CALLS_DRIVER = """
int cuInit(unsigned);
int cuCheckpointProcessGetState(int, void *);
int main(void)
{
	return cuInit(0) || cuCheckpointProcessGetState(1, 0) != 801;
}
"""


def test_it_names_the_calls_that_will_be_refused(gpukit, tmp_path):
    """What the doctor predicts is what is reported when the program runs."""
    (tmp_path / "calls.cu").write_text(CALLS)
    program = tmp_path / "calls"
    cuda_programs.run(cuda_programs.NVCC, "-cudart", "shared",
                      str(tmp_path / "calls.cu"), "-o", str(program),
                      env=cuda_programs.environment())
    (tmp_path / "driver.c").write_text(CALLS_DRIVER)
    driver = tmp_path / "driver"
    cuda_programs.run("cc", str(tmp_path / "driver.c"), "-o", str(driver),
                      os.path.join(FAKE_DIR, "libcuda.so.1"))
    for path, refused, asked in (
            (program, "cudaGraphicsUnmapResources", "cudaFree"),
            (driver, "cuCheckpointProcessGetState", "cuInit")):
        (found,) = look(gpukit, path, code=1)
        assert [r["code"] for r in found["reasons"]] == ["refused-call"]
        assert found["refused_calls"] == [refused]
        assert found["calls_refused"] == 1 < found["calls"]
        told = gpukit("fake", "doctor", path).stdout
        assert refused in told and asked not in told
        done = gpukit("fake", "--", path)
        assert done.returncode == 0
        assert f"refused: {refused} of " in done.stderr
        assert done.stderr.count("\n") == 1


def test_a_library_that_computes_is_no_reason(gpukit, tmp_path):
    """Only the functions that our cuBLAS refuses are a reason: its weak
    symbols."""
    library = os.path.join(FAKE_DIR, "libcublas.so.13")
    names = cuda_programs.run("nm", "-D", "--defined-only", library)
    weak = re.search(r" W (cublas\w+)", names).group(1)
    for name, reasons in (("cublasCreate_v2", []), (weak, ["refused-call"])):
        source = tmp_path / f"{name}.c"
        source.write_text(f"int {name}(void);\n"
                          f"int main(void) {{ return {name}(); }}\n")
        program = tmp_path / name
        cuda_programs.run("cc", str(source), "-o", str(program), library)
        (found,) = look(gpukit, program)
        assert [r["code"] for r in found["reasons"]] == reasons
        assert found["refused_calls"] == ([name] if reasons else [])
        assert found["calls"] == 1


def test_a_library_that_ours_stands_for_asks_nobody(gpukit):
    for name in ("libcuda.so.1", "libcudart.so.13"):
        (found,) = look(gpukit, os.path.join(FAKE_DIR, name))
        assert (found["calls"], found["calls_refused"]) == (0, 0)


def test_files_of_kernels(gpukit, tmp_path):
    source = os.path.join(cuda_programs.SOURCES, "vector_add.cu")
    for kind, flags, expected in (
            ("cubin", ["-arch=sm_80"], (CODE, ["no-ptx"])),
            ("ptx", ["-arch=compute_80"], (PTX, [])),
            ("fatbin", ["-arch=compute_80"], (PTX, [])),
            ("fatbin", ["-arch=compute_90"], (PTX, ["new-ptx"]))):
        out = tmp_path / f"kernels.{kind}"
        cuda_programs.run(cuda_programs.NVCC, f"-{kind}", *flags, source,
                          "-o", str(out), env=cuda_programs.environment())
        (found,) = look(gpukit, out)
        assert found["kind"] == "image of kernels"
        assert (found["images"][0]["kind"],
                [r["code"] for r in found["reasons"]]) == expected
        assert found["kernels"] == (not expected[1])


def test_ptx_for_one_kind_of_gpu(gpukit):
    """sm_90a is not older than 10.0, but no other kind of GPU runs it."""
    for way, gpus, reasons in (("one-kind", "h100", []),
                               ("one-kind", "b200", ["other-ptx"]),
                               ("some-kind", "h100", []),
                               ("some-kind", "b200", [])):
        program = built(way)
        done = gpukit("fake", "doctor", "--json", "--gpus", gpus, program)
        (found,) = json.loads(done.stdout)
        assert [r["code"] for r in found["reasons"]] == reasons
        done = gpukit("fake", "--gpus", gpus, "--", program)
        assert (done.returncode == 0) == (not reasons)


def test_text_that_is_no_ptx(gpukit, tmp_path):
    (tmp_path / "broken.ptx").write_text(
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k( {}\n")
    (found,) = look(gpukit, tmp_path / "broken.ptx", code=1)
    assert [r["code"] for r in found["reasons"]] == ["bad-ptx"]


def test_an_object_is_linked_later(gpukit, tmp_path):
    (tmp_path / "part.cu").write_text(TWO_FILES[0])
    out = tmp_path / "part.o"
    cuda_programs.run(cuda_programs.NVCC, "-dc", "-arch=compute_75",
                      str(tmp_path / "part.cu"), "-o", str(out),
                      env=cuda_programs.environment())
    (found,) = look(gpukit, out, code=0)
    assert found["kind"] == "object"


def test_the_machine_decides(gpukit):
    program = built("new")
    assert gpukit("fake", "doctor", program).returncode == 1
    done = gpukit("fake", "doctor", "--gpus", "h100-sxm5-80gb:2", program)
    assert done.returncode == 0 and "runs     yes" in done.stdout
    done = gpukit("fake", "doctor", "--gpus", "h100-sxm5-80gb,t4", program)
    assert done.returncode == 1


def test_it_says_what_to_do_and_that_helps(gpukit):
    told = gpukit("fake", "doctor", built("default")).stdout
    assert "-cudart shared" in told
    assert "-DCMAKE_CUDA_RUNTIME_LIBRARY=Shared" in told
    flag = re.search(r'NVCC_APPEND_FLAGS="(-L[^"]+)"', told).group(1)
    assert os.path.exists(os.path.join(flag[2:], "libcudart_static.a"))
    told = gpukit("fake", "doctor", "--gpus", "t4", built("code")).stdout
    assert "arch=compute_75,code=compute_75" in told
    told = gpukit("fake", "doctor", "--gpus", "v100-sxm2-32gb",
                  built("code")).stdout
    assert "compute_70" in told and "nvcc of CUDA 13 begins with 75" in told
    told = gpukit("fake", "doctor", built("code")).stdout
    flags = re.search(r'NVCC_APPEND_FLAGS="(-gencode [^"]+)"', told).group(1)
    out = os.path.join(cuda_programs.OUT, "mended")
    cuda_programs.run(
        cuda_programs.NVCC, *WAYS["code"][0],
        os.path.join(cuda_programs.SOURCES, "vector_add.cu"), "-o", out,
        env=cuda_programs.environment(NVCC_APPEND_FLAGS=flags))
    assert gpukit("fake", "doctor", out).returncode == 0


def test_scripts_directories_and_what_is_nothing(gpukit, tmp_path):
    script = tmp_path / "train.py"
    script.write_text("#!/usr/bin/env python3\n")
    told = gpukit.ok("fake", "doctor", script)
    assert "script for /usr/bin/env python3" in told
    done = gpukit("fake", "doctor", os.path.join(ROOT, "README.md"))
    assert done.returncode == 1 and "neither a program" in done.stdout
    look(gpukit, os.path.join(ROOT, "README.md"), code=1)

    package = tmp_path / "package"
    (package / "deep").mkdir(parents=True)
    shutil.copy("/bin/true", package / "tool")
    shutil.copy(built("shared"), package / "deep" / "thing.so")
    (found,) = look(gpukit, package, code=0)
    assert found["path"].endswith("deep/thing.so")
    shutil.copy(built("default"), package / "deep" / "other.so")
    assert len(look(gpukit, package, code=1)) == 2
    (tmp_path / "empty").mkdir()
    assert "nothing of CUDA" in gpukit.ok("fake", "doctor", tmp_path / "empty")


def test_errors_and_usage(gpukit, tmp_path):
    done = gpukit("fake", "doctor", tmp_path / "missing")
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "No such file" in done.stderr
    done = gpukit("fake", "doctor", tmp_path / "missing", "/bin/sh")
    assert done.returncode == 1 and "/bin/sh: a program" in done.stdout
    assert gpukit("fake", "doctor").returncode == 2
    for gpus in ("nonsense", "none"):
        assert gpukit("fake", "doctor", "--gpus", gpus, "/bin/sh"
                      ).returncode == 2


def damaged(whole, kind, chance):
    if kind == "cut":
        return whole[:chance.randrange(len(whole))]
    changed = bytearray(whole)
    # The header, the tables after it and the fat binaries have most to break.
    for _ in range(chance.randrange(1, 40)):
        where = chance.choice([0, len(whole) - 3000, whole.find(
            b"\x50\xed\x55\xba")])
        changed[(where + chance.randrange(3000)) % len(changed)] = \
            chance.randrange(256)
    return bytes(changed)


@pytest.mark.parametrize("kind", ["cut", "changed"])
def test_damaged_files_do_no_harm(gpukit, tmp_path, kind):
    chance = random.Random(6)
    paths = []
    for way in ("two", "small", "rdc"):
        with open(built(way), "rb") as file:
            whole = file.read()
        for i in range(100):
            paths.append(tmp_path / f"{way}{i}")
            paths[-1].write_bytes(damaged(whole, kind, chance))
    done = gpukit("fake", "doctor", "--json", *paths)
    assert done.returncode in (0, 1) and done.stderr == ""
    assert len(json.loads(done.stdout)) == len(paths)

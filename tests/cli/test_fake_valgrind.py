# SPDX-License-Identifier: Apache-2.0
"""Programs that cannot start with an auditor run on the fake machine: under
valgrind, however that is started, and with a sanitizer of threads or leaks."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, GPUKIT, clean_env, sanitized

VALGRIND = shutil.which("valgrind")
pytestmark = pytest.mark.skipif(
    sanitized(), reason="this build sets no LD_AUDIT")
needs_valgrind = pytest.mark.skipif(not VALGRIND, reason="no valgrind here")
SUPPRESSIONS = os.path.join(BUILD, "share", "gpukit", "valgrind",
                            "gpukit.supp")

PROGRAM = """
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	void *driver = dlopen("libcuda.so.1", RTLD_NOW), *context;
	int (*init)(unsigned) = dlsym(driver, "cuInit");
	int (*retain)(void **, int) = dlsym(driver, "cuDevicePrimaryCtxRetain");
	int (*set)(void *) = dlsym(driver, "cuCtxSetCurrent");
	int (*take)(void **, size_t) = dlsym(driver, "cuMemAlloc_v2");
	void *memory;
	if (init(0) || retain(&context, 0) || set(context) ||
	    take(&memory, 1 << 20))
		return 1;
	printf("%s\\n", getenv("LD_AUDIT") ? "audited" : "alone");
	return argc > 1 ? *(char *)malloc(1) == 'x' : 0;
}
"""


@pytest.fixture(name="program", scope="module")
def a_program(tmp_path_factory):
    return build(tmp_path_factory.mktemp("program"))


def build(directory, *flags):
    source = directory / "program.c"
    source.write_text(PROGRAM)
    made = directory / "program"
    done = subprocess.run([shutil.which("cc") or "gcc", "-g", "-o", made,
                           source, "-ldl", *flags], capture_output=True,
                          text=True, check=False)
    return str(made) if done.returncode == 0 else None


def on_one_gpu(gpukit, *command, **kwargs):
    return gpukit("fake", "--gpus", "t4", *command, timeout=300, **kwargs)


@needs_valgrind
def test_by_its_name_the_launcher_says_so(gpukit, program):
    done = on_one_gpu(gpukit, "--", VALGRIND, program)
    assert (done.returncode, done.stdout) == (0, "alone\n"), done.stderr
    assert "ERROR SUMMARY: 0 errors" in done.stderr
    told = [line for line in done.stderr.splitlines()
            if line.startswith("gpukit fake: ")]
    assert len(told) == 1 and "LD_AUDIT, which is not set" in told[0]


@needs_valgrind
def test_within_a_script_it_is_found_as_well(gpukit, program):
    """The file of suppressions is passed too, after the options that are set.
    """
    done = on_one_gpu(
        gpukit, "--", "sh", "-c", f"true; exec env {VALGRIND} {program}",
        env={"VALGRIND_OPTS": "--leak-check=full --show-leak-kinds=all"})
    assert (done.returncode, done.stdout) == (0, "alone\n"), done.stderr
    assert "ERROR SUMMARY: 0 errors" in done.stderr
    assert "possibly lost: 0 bytes" in done.stderr
    assert re.search(r"suppressed: [1-9][\d,]* bytes", done.stderr)
    assert "gpukit fake" not in done.stderr


@needs_valgrind
def test_defects_of_the_program_are_told(gpukit, program):
    """Reads memory that was never written, and leaks it."""
    done = on_one_gpu(gpukit, "-q", "--", VALGRIND, "--leak-check=full",
                      program, "x")
    assert "uninitialised value" in done.stderr
    assert "1 bytes in 1 blocks are definitely lost" in done.stderr
    assert "gpukit fake" not in done.stderr


@needs_valgrind
def test_the_launcher_itself_under_valgrind(program):
    done = subprocess.run(
        [VALGRIND, "--trace-children=yes", GPUKIT, "fake", "--gpus", "t4",
         "--", program], capture_output=True, text=True, env=clean_env(),
        timeout=300, check=False)
    assert (done.returncode, done.stdout) == (0, "alone\n"), done.stderr
    summaries = re.findall(r"ERROR SUMMARY: (\d+)", done.stderr)
    assert summaries and set(summaries) == {"0"}, done.stderr


@needs_valgrind
@pytest.mark.parametrize("words", [["top", "-1"], ["stat", "--json"],
                                   ["smi", "-q"], ["select"]], ids=" ".join)
def test_the_command_is_clean(gpukit, machine, words):
    env = machine().env
    done = subprocess.run([VALGRIND, "-q", "--leak-check=full", GPUKIT,
                           *words], capture_output=True, text=True,
                          env=clean_env(**env), timeout=300, check=False)
    plain = gpukit(*words, env=env)
    assert done.returncode == plain.returncode, done.stderr
    assert not re.search(r"==\d+==", done.stderr), done.stderr


def test_the_options_of_valgrind_name_our_file(gpukit):
    out = gpukit.ok("fake", "--", "env", env={"VALGRIND_OPTS": "-v"})
    assert f"VALGRIND_OPTS=-v --suppressions={SUPPRESSIONS}\n" in out
    out = gpukit.ok("fake", "--", GPUKIT, "fake", "--", "env")
    assert f"VALGRIND_OPTS=--suppressions={SUPPRESSIONS}\n" in out


@pytest.mark.parametrize("flag", ["thread", "leak", "address", "undefined"])
def test_sanitized_programs_start(gpukit, tmp_path, flag):
    """Two of the sanitizers have more thread-local data than there is room for.
    """
    program = build(tmp_path, f"-fsanitize={flag}")
    assert program, f"the compiler has no -fsanitize={flag}"
    left_out = flag in ("thread", "leak")
    done = on_one_gpu(gpukit, "--", program)
    assert (done.returncode, done.stdout) == (
        0, "alone\n" if left_out else "audited\n"), done.stderr
    assert ("LD_AUDIT, which is not set" in done.stderr) == left_out


def test_gdb_runs_a_program(gpukit, program):
    gdb = shutil.which("gdb")
    assert gdb, "gdb is one of the tests' packages"
    done = on_one_gpu(gpukit, "--", gdb, "-q", "-batch", "-ex", "run",
                      program)
    assert "audited\n" in done.stdout and "exited normally" in done.stdout

# SPDX-License-Identifier: Apache-2.0
"""libvgpu.so is preloaded in other ways than by LD_PRELOAD alone: by the
linker's option, beside other such libraries, and under an auditor; and into
programs that look names up at unusual moments, with two copies of the driver,
with none, and while the library is replaced."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import (FAKE_DIR, GPUKIT, ROOT, clean_env,
                      sanitized)
from test_limit_lookup import FAKE, SOURCES, VGPU, run

pytestmark = pytest.mark.skipif(
    sanitized(), reason="the program is none of a sanitizer's")

DRIVER = os.path.join(FAKE_DIR, "libcuda.so.1")
LOADER = "/lib64/ld-linux-x86-64.so.2"


def compiled(directory, name, *flags, compiler="cc"):
    run(compiler, "-O1", "-g", "-Wall", "-Werror",
        os.path.join(SOURCES, name + ".c"), "-o", directory / name, "-ldl",
        *flags)
    return directory / name


def output(*args, preload="", **env):
    more = {"LD_PRELOAD": str(preload)} if preload else {}
    return run(*args, env=clean_env(**env, **more))


def on_a_machine(*args, preload=""):
    return output(*FAKE, "env", *([f"LD_PRELOAD={preload}"] if preload else []),
                  *args)


@pytest.fixture(scope="module", name="where")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("moments")


@pytest.fixture(scope="module", name="moments")
def moments_program(where):
    return compiled(where, "moments")


@pytest.fixture(scope="module", name="linked")
def linked_program(where):
    return compiled(where, "linked", DRIVER)


def test_direct_calls_without_a_driver_say_that_there_is_none(where):
    library = where / "libgone.so"
    empty = where / "empty.c"
    empty.write_text("")
    names = ["cuInit", "cuMemGetInfo_v2", "nvmlInit_v2",
             "nvmlDeviceGetMemoryInfo"]
    had = where / "had.c"
    had.write_text("".join(f"void {name}(void) {{}}\n" for name in names))
    run("cc", "-shared", "-fPIC", had, "-o", library)
    program = compiled(where, "direct", library, "-Wl,-z,lazy")
    run("cc", "-shared", "-fPIC", empty, "-o", library)
    lines = output(program, preload=VGPU).splitlines()
    assert lines == ["100 100 12 12", "1 2 clean", "(nil)",
                     f"{program}: undefined symbol: cuInit"]


def test_names_are_found_at_odd_moments_as_without_it(moments):
    without = output(moments)
    assert "first found found malloc\n" in without
    assert "signal no no cuInit\n" in without
    assert output(moments, preload=VGPU) == without


@pytest.mark.skipif(not os.path.exists(LOADER), reason="no linker of x86-64")
def test_the_linker_may_preload_it_by_an_option(moments):
    assert output(LOADER, "--preload", VGPU, moments) == output(moments)


def test_an_auditor_may_look_on(moments):
    auditor = os.path.join(FAKE_DIR, "libgpukit-audit.so")
    assert (output(moments, preload=VGPU, LD_AUDIT=auditor) ==
            output(moments, LD_AUDIT=auditor))


@pytest.mark.parametrize("sanitizer", ["address", "undefined", "thread"])
def test_programs_with_a_sanitizer_find_their_names(where, sanitizer):
    program = where / f"moments-{sanitizer}"
    run("clang", "-O1", f"-fsanitize={sanitizer}",
        os.path.join(SOURCES, "moments.c"), "-o", program, "-ldl")
    # Without the library too, dlsym in a signal handler is reported.
    quiet = {"TSAN_OPTIONS": "report_signal_unsafe=0"}
    assert (output(program, preload=VGPU, **quiet) ==
            output(program, **quiet))


def test_a_driver_is_found_by_its_path_and_twice(moments, where):
    for name in "ab":
        (where / name).mkdir()
        shutil.copy(DRIVER, where / name / "libcuda.so.1")
    copies = [where / name / "libcuda.so.1" for name in "ab"]
    one = on_a_machine(moments, DRIVER)
    assert on_a_machine(moments, DRIVER, preload=VGPU) == one
    assert "\n0 0 0 1 13" in one
    assert (on_a_machine(moments, *copies, preload=VGPU) ==
            on_a_machine(moments, *copies))


@pytest.mark.parametrize("tracer_first", [True, False])
def test_another_library_that_is_preloaded_sees_what_it_sees_without(
        where, linked, moments, tracer_first):
    tracer = where / f"tracer{tracer_first}.so"
    run("cc", "-O1", "-shared", "-fPIC", os.path.join(SOURCES, "tracer.c"),
        "-o", tracer, "-ldl")
    both = (f"{tracer}:{VGPU}" if tracer_first else f"{VGPU}:{tracer}")
    for args in ((linked,), (moments,)):
        without = on_a_machine(*args, preload=tracer)
        assert "traced: " in without
        assert on_a_machine(*args, preload=both) == without


def test_it_may_be_replaced_under_a_running_program(where, linked):
    mine, new = where / "libvgpu.so", where / "libvgpu.so.new"
    shutil.copy(VGPU, mine)
    with subprocess.Popen(
            [*FAKE, "env", f"LD_PRELOAD={mine}", linked, "wait"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=clean_env()) as running:
        assert running.stdout.readline() == "0 0 0\n"
        new.write_bytes(b"\0" * os.path.getsize(VGPU))
        os.replace(new, mine)
        rest, _ = running.communicate("on\n", timeout=60)
    assert (running.returncode, rest) == (0, "0 1\n")


def test_it_does_nothing_when_a_program_starts():
    dynamic = run("readelf", "--wide", "--dynamic", VGPU)
    assert "(INIT" not in dynamic
    assert "NOW" not in dynamic
    needed = re.findall(r"NEEDED.*\[(.*)\]", dynamic)
    assert {name.split(".")[0] for name in needed} <= {
        "libc", "ld-linux-x86-64", "ld-linux-aarch64"}
    segments = run("readelf", "--wide", "--segments", VGPU)
    assert segments.count("  LOAD ") == 2
    assert "GNU_RELRO" not in segments


@pytest.mark.parametrize("policy", ["fixed", "elastic"])
def test_a_cancelled_thread_holds_up_nobody(where, policy):
    program = compiled(where, "cancelled", "-lpthread",
                       "-I" + os.path.join(ROOT, "src"))
    assert output(*FAKE, GPUKIT, "limit", "--memory", "2GiB", "--compute",
                  "30", "--policy", policy, "--", program) == "cancelled\n"

"""What docs/DEBUG-LIMIT.md says of debugging libvgpu.so: its steps of gdb stop
in the hook, in its file and at its line."""

import os
import re
import shutil

import pytest

from conftest import GPUKIT, ROOT, clean_env, sanitized
from test_limit_lookup import FAKE, VGPU, run
from test_limit_moments import compiled, output

pytestmark = pytest.mark.skipif(
    sanitized(), reason="the program is none of a sanitizer's")

PAGE = os.path.join(ROOT, "docs", "DEBUG-LIMIT.md")
ROOM = os.path.join(ROOT, "src", "limit", "preload")


def steps(directory):
    with open(PAGE, encoding="utf-8") as file:
        text = re.search(r"```gdb\n(.*?)```", file.read(), re.S)[1]
    path = directory / "steps"
    path.write_text(text.replace("build/lib/gpukit/libvgpu.so", VGPU))
    return path


def lines_of(function):
    """(file, the lines of a function)"""
    for name in sorted(os.listdir(ROOM)):
        if not name.endswith(".c"):
            continue
        with open(os.path.join(ROOM, name), encoding="utf-8") as file:
            text = file.read()
        found = re.search(rf"^\w+ {function}\(.*?^}}", text, re.S | re.M)
        if found:
            first = text[:found.start()].count("\n") + 1
            return name, range(first, first + found[0].count("\n") + 1)
    raise AssertionError(f"no hook {function}")


def stop(directory, *program):
    return run(*FAKE, "gdb", "-nx", "-q", "-batch", "-x", steps(directory),
               "--args", *program, env=clean_env(), cwd=ROOT)


@pytest.mark.skipif(not shutil.which("gdb"), reason="no gdb here")
@pytest.mark.parametrize("function", ["nvmlDeviceGetMemoryInfo",
                                      "nvmlDeviceGetMemoryInfo_v2"])
def test_a_breakpoint_stops_in_the_hook(tmp_path, function):
    program = ((GPUKIT, "smi") if function.endswith("_v2")
               else (compiled(tmp_path, "memory_info"), ))
    out = stop(tmp_path, *program)
    found = re.search(rf"^#0  {function} \(.* at .*/(\w+\.c):(\d+)$", out,
                      re.M)
    assert found, out
    file, lines = lines_of(function)
    assert found[1] == file
    assert int(found[2]) in lines
    assert re.search(rf"^{function}.* in section .text of .*/libvgpu.so$", out,
                     re.M)


def test_it_has_debug_sections_and_exports_its_hooks():
    assert ".debug_info" in run("readelf", "-SW", VGPU)
    assert " T nvmlDeviceGetMemoryInfo" in run("nm", "-D", VGPU)


def test_its_decisions_are_traced(tmp_path):
    program = compiled(tmp_path, "memory_info")
    trace = tmp_path / "trace"
    output(*FAKE, "env", f"LD_PRELOAD={VGPU}", f"GPUKIT_LOG=debug:{trace}",
           program)
    text = trace.read_text()
    assert "limit: hooks stand before libnvidia-ml.so.1\n" in text
    assert "limit: dlsym of nvmlDeviceGetMemoryInfo: hooked\n" in text
    assert ("limit: dlsym of nvmlDeviceGetHandleByIndex_v2: not hooked\n"
            in text)

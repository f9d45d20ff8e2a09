# SPDX-License-Identifier: Apache-2.0
"""What docs/DEBUG-LIMIT.md says about debugging libvgpu.so is true: its gdb
steps stop in the hook, in its file and at its line."""

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


def page():
    with open(PAGE, encoding="utf-8") as file:
        return file.read()


def steps(directory, place=0):
    text = re.findall(r"```gdb\n(.*?)```", page(), re.S)[place]
    path = directory / "steps"
    path.write_text(text.replace("build/lib/gpukit/libvgpu.so", VGPU))
    return path


def sources(*endings):
    """{path: text} of the limiter's sources."""
    found = {}
    for folder, _, names in os.walk(os.path.dirname(ROOM)):
        for name in names:
            if name.endswith(endings):
                path = os.path.join(folder, name)
                with open(path, encoding="utf-8") as file:
                    found[path] = file.read()
    return found


def lines_of(function):
    """(file, the lines of the function)"""
    for path, text in sorted(sources(".c").items()):
        found = re.search(rf"^\w+ {function}\(.*?^}}", text, re.S | re.M)
        if found:
            first = text[:found.start()].count("\n") + 1
            return os.path.basename(path), range(
                first, first + found[0].count("\n") + 1)
    raise AssertionError(f"no hook {function}")


def stop(directory, *program, place=0):
    return run(*FAKE, "gdb", "-nx", "-q", "-batch", "-x",
               steps(directory, place), "--args", *program, env=clean_env(),
               cwd=ROOT)


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


@pytest.mark.skipif(not shutil.which("gdb"), reason="no gdb here")
def test_the_name_that_is_looked_up_is_shown(tmp_path):
    out = stop(tmp_path, GPUKIT, "smi", place=1)
    assert re.search(r'^0x[0-9a-f]+:\s+"nvmlInit_v2"$', out, re.M), out
    assert re.search(r"^#1 .* in look_up_symbol ", out, re.M), out


def test_the_linker_tells_of_it(tmp_path):
    """Runs the lines of the page as a shell does."""
    lines = [line.strip() for line in page().splitlines()]
    at = next(i for i, line in enumerate(lines) if "LD_DEBUG=libs" in line)
    command = f"{lines[at]} {lines[at + 1]}".replace(
        "$PWD/build/lib/gpukit/libvgpu.so", VGPU)
    assert "calling init" in run("sh", "-c", command, cwd=tmp_path,
                                 env=clean_env())


def test_functions_are_in_the_files_that_hami_s_users_are_told():
    """Each cell has names, followed by the file that contains them."""
    with open(os.path.join(ROOT, "docs", "LIMIT-HAMI.md"),
              encoding="utf-8") as file:
        table = file.read().split("| HAMi-core | does | here |")[1]
    rows = [row.split("|")[3]
            for row in table.split("\n\n")[0].splitlines()[2:]]
    assert len(rows) > 15
    code = "\n".join(sources(".c", ".h", ".S").values())
    for row in rows:
        for names, name in re.findall(r"((?:`\w+`,? ?)*)\(?`([\w/]+\.[chS])`",
                                      row):
            path = os.path.join(ROOT if name.startswith("src/") else ROOM, name)
            with open(path, encoding="utf-8") as file:
                text = file.read()
            for function in re.findall(r"\w+", names):
                assert re.search(rf"\b{function}\(", text), (function, name)
        for word in re.findall(r"`(\w+)`", row):
            assert re.search(rf"\b{word}\(", code), word


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

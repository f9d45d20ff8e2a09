# SPDX-License-Identifier: Apache-2.0
"""Other projects find an installed libgpukit and use it."""

import os
import re
import shutil
import subprocess

import pytest

from conftest import BUILD, ROOT, clean_env, sanitized

EXAMPLE = os.path.join(ROOT, "examples", "monitor.c")

pytestmark = pytest.mark.skipif(
    sanitized(), reason="a program without the sanitizer cannot load it")

PROJECT = """
cmake_minimum_required(VERSION 3.22)
project(uses LANGUAGES C)
find_package(gpukit 0.1 REQUIRED)
add_executable(monitor monitor.c)
target_link_libraries(monitor PRIVATE gpukit::gpukit)
"""


@pytest.fixture(scope="module", name="prefix")
def installed(tmp_path_factory):
    """Only the parts of an installation that they need, moved to another place,
    as in the build of a package."""
    top = tmp_path_factory.mktemp("use")
    subprocess.run(["cmake", "--install", BUILD, "--prefix", "/first"],
                   check=True, capture_output=True, stdin=subprocess.DEVNULL,
                   env=clean_env(DESTDIR=str(top)))
    moved = top / "second"
    shutil.copytree(top / "first" / "include", moved / "include")
    shutil.copytree(top / "first" / "lib", moved / "lib", symlinks=True,
                    ignore=lambda *_: ["gpukit"] if _[0].endswith("/lib")
                    else [])
    shutil.rmtree(top / "first")
    return moved


def see(program, machine, prefix):
    """The first frame of the monitor on a machine of two GPUs."""
    on = machine("--gpus", "h100:2", "--load", "train:1,mem=3GiB")
    env = clean_env(**on.env)
    env["LD_LIBRARY_PATH"] += f":{prefix}/lib"
    with subprocess.Popen(["stdbuf", "-oL", str(program)], text=True,
                          stdout=subprocess.PIPE, env=env) as running:
        lines = [running.stdout.readline() for _ in range(3)]
        running.kill()
    assert lines[0].startswith("0 NVIDIA H100 80GB HBM3  ")
    assert lines[1].startswith("1 NVIDIA H100 80GB HBM3  ")
    assert "  3072 MiB  " in lines[1]
    assert lines[2].startswith("  gpukit-load train gpu=1")


def test_the_example_has_forty_lines():
    """The first line, the licence, does not count."""
    with open(EXAMPLE, encoding="utf-8") as f:
        assert len(f.readlines()[1:]) <= 40


def test_by_pkg_config(prefix, machine, tmp_path):
    flags = subprocess.run(
        ["pkg-config", "--cflags", "--libs", "gpukit"], text=True, check=True,
        capture_output=True,
        env=clean_env(PKG_CONFIG_PATH=f"{prefix}/lib/pkgconfig")).stdout
    program = tmp_path / "monitor"
    subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-Werror", EXAMPLE,
                    "-o", program, *flags.split()], check=True)
    see(program, machine, prefix)


def test_by_cmake(prefix, machine, tmp_path):
    shutil.copy(EXAMPLE, tmp_path)
    (tmp_path / "CMakeLists.txt").write_text(PROJECT)
    build = tmp_path / "build"
    subprocess.run(["cmake", "-S", tmp_path, "-B", build,
                    f"-DCMAKE_PREFIX_PATH={prefix}"], check=True,
                   capture_output=True, env=clean_env())
    subprocess.run(["cmake", "--build", build], check=True,
                   capture_output=True, env=clean_env())
    see(build / "monitor", machine, prefix)


def test_another_version_is_refused_by_cmake(prefix, tmp_path):
    (tmp_path / "CMakeLists.txt").write_text(PROJECT.replace("0.1", "0.99"))
    done = subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / "build",
                           f"-DCMAKE_PREFIX_PATH={prefix}"], text=True,
                          capture_output=True, check=False, env=clean_env())
    assert done.returncode and "gpukit" in done.stderr


@pytest.mark.parametrize("installed_version, wanted, compatible", [
    ("0.1.0", "0.1", True), ("0.9.2", "0.1", True), ("0.1.0", "0.2", False),
    ("0.9.2", "1.0", False), ("1.0.0", "0.9", False)])
def test_cmake_accepts_the_versions_that_readme_promises(
        tmp_path, installed_version, wanted, compatible):
    with open(f"{BUILD}/gpukit-config-version.cmake", encoding="utf-8") as f:
        text = f.read()
    ours = re.search(r'PACKAGE_VERSION "([\d.]+)"', text)[1]
    text = text.replace(f'"{ours}"', f'"{installed_version}"')
    major, minor = wanted.split(".")
    script, version = tmp_path / "ask.cmake", tmp_path / "version.cmake"
    version.write_text(text)
    script.write_text(
        f"set(PACKAGE_FIND_VERSION {wanted})\n"
        f"set(PACKAGE_FIND_VERSION_MAJOR {major})\n"
        f"set(PACKAGE_FIND_VERSION_MINOR {minor})\n"
        f"include({version})\nmessage(\"is ${{PACKAGE_VERSION_COMPATIBLE}}\")\n")
    told = subprocess.run(["cmake", "-P", script], text=True,
                          capture_output=True, check=True).stderr
    assert told == f"is {'TRUE' if compatible else 'FALSE'}\n"

# SPDX-License-Identifier: Apache-2.0
"""The wheel with the command and the drop-in libraries, which tools/wheel.py
makes: `pip install` of the file is all that it needs."""

import base64
import csv
import filecmp
import glob
import hashlib
import io
import os
import re
import shutil
import stat
import subprocess
import sys
import zipfile

import pytest

import wheels
from conftest import BUILD, ROOT, clean_env, needed
from python_package import check_built

check_built()
needed("pip", "the test of wheels")
pytestmark = wheels.GROUP

sys.path.insert(0, os.path.join(ROOT, "tools"))
from elf_needs import needs_of  # noqa: E402
from wheel import links_text, tree_files  # noqa: E402


@pytest.fixture(scope="module", name="here")
def environment(tmp_path_factory):
    return wheels.Environment(tmp_path_factory.mktemp("wheel") / "venv",
                              [wheels.gpukit_wheel()])


@pytest.fixture(name="links")
def directory_of_links(monkeypatch):
    """Nothing is laid; returns a function that lists what is."""
    top = f"/dev/shm/gpukit-links-{os.geteuid()}"

    def listed(here):
        return sorted(
            name for name in os.listdir(top)
            if os.readlink(f"{top}/{name}/libgpukit-fake.so").startswith(
                here.path))

    def full(here):
        return [f"{top}/{name}" for name in listed(here)]

    yield full


def test_the_archive_is_a_wheel():
    """Every file is in RECORD, none is a link, and the command is one of its
    scripts."""
    path = wheels.gpukit_wheel()
    assert re.search(r"/gpukit-[\d.]+-cp39-abi3-linux_\w+\.whl$", path)
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        kinds = {entry.filename: entry.external_attr >> 16
                 for entry in archive.infolist()}
        record = next(name for name in names if name.endswith("/RECORD"))
        rows = list(csv.reader(io.StringIO(archive.read(record).decode())))
        assert [row[0] for row in rows] == names == [
            *sorted(set(names) - {record}), record]
        for name, digest, size in rows[:-1]:
            data = archive.read(name)
            want = base64.urlsafe_b64encode(hashlib.sha256(data).digest())
            assert digest == "sha256=" + want.rstrip(b"=").decode(), name
            assert int(size) == len(data)
    assert all(stat.S_ISREG(kind) for kind in kinds.values())
    (command,) = [name for name in names if name.endswith("/scripts/gpukit")]
    assert stat.S_IMODE(kinds[command]) == 0o755
    whole = [os.path.basename(name) for name in names]
    assert whole.count("libgpukit-fake.so") == 1
    assert whole.count("libvgpu.so") == 1
    assert os.path.getsize(path) < 60e6


def test_the_same_input_makes_the_same_bytes(tmp_path):
    """For the small wheel; the other is made by the same functions."""
    one = wheels.made(tmp_path / "1", "nvitop", SOURCE_DATE_EPOCH="1700000000")
    two = wheels.made(tmp_path / "2", "nvitop", SOURCE_DATE_EPOCH="1700000000")
    other = wheels.made(tmp_path / "3", "nvitop",
                        SOURCE_DATE_EPOCH="1800000000")
    assert filecmp.cmp(one, two, shallow=False)
    assert not filecmp.cmp(one, other, shallow=False)


def test_a_tree_without_its_links_and_files_of_one_prefix(tmp_path):
    for name in ("bin/gpukit", "lib/gpukit/fake/libcuda.so.1",
                 "lib/gpukit/fake/470/libcuda.so.1", "share/man/man1/gpukit.1",
                 "lib/gpukit/fake/python/a/b.py", "share/gpukit/manifest.txt",
                 "share/gpukit/systemd/gpukit-web.service"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    fake = tmp_path / "lib/gpukit/fake"
    for link, target in {"libcuda.so": "libcuda.so.1",
                         "580/libcuda.so.1": "../libcuda.so.1",
                         "580/libcuda.so": "libcuda.so.1",
                         "bin/nvidia-smi": "../../../../bin/gpukit"}.items():
        (fake / link).parent.mkdir(exist_ok=True)
        (fake / link).symlink_to(target)
    tree = os.path.realpath(tmp_path)
    assert sorted(tree_files(tree)) == [
        "lib/gpukit/fake/470/libcuda.so.1", "lib/gpukit/fake/libcuda.so.1",
        "lib/gpukit/fake/python/a/b.py", "share/man/man1/gpukit.1"]
    assert links_text(tree, "9.0").splitlines() == [
        "gpukit 9.0", "470/libcuda.so.1 470/libcuda.so.1",
        "580/libcuda.so libcuda.so.1", "580/libcuda.so.1 libcuda.so.1",
        "bin/nvidia-smi ../../../bin/gpukit", "libcuda.so libcuda.so.1",
        "libcuda.so.1 libcuda.so.1", "python python"]


def test_a_promise_of_an_older_libc_is_refused(tmp_path):
    done = wheels.wheel(tmp_path, "gpukit", "--tree", BUILD, "--glibc", "2.2")
    assert done.returncode == 1
    assert re.search(r"^wheel: .* needs glibc 2\.\d+$", done.stderr)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["bin/gpukit", "lib/gpukit/libvgpu.so"])
def test_what_a_file_needs_is_read_from_it(name):
    """As readelf reads it."""
    path = os.path.join(BUILD, name)
    with open(path, "rb") as file:
        machine, libraries, versions = needs_of(file.read())

    def readelf(option):
        return subprocess.run(["readelf", "-W", option, path], text=True,
                              capture_output=True, check=True).stdout

    assert machine.replace("_", "-") in readelf("-h").lower().replace("_", "-")
    assert libraries == re.findall(r"\(NEEDED\).*\[(.*)\]", readelf("-d"))
    needs = readelf("-V").split(".gnu.version_r")[1]
    relr = {"2.36"} if "Name: GLIBC_ABI_DT_RELR" in needs else set()
    assert set(versions) == relr | set(
        re.findall(r"Name: GLIBC_(2[\d.]*)", needs))
    assert versions


def test_what_is_not_elf_needs_nothing():
    assert needs_of(b"#!/bin/sh\n") is None
    assert needs_of(b"\x7fELF") is None


def test_its_commands_work(here):
    told = here.ok("gpukit", "fake", "--gpus", "h100:2", "--", "gpukit", "top",
                   "-1")
    assert told.count("H100 80GB HBM3") == 2
    told = here.ok("gpukit", "fake", "--gpus", "h100:1", "--", "python", "-m",
                   "gpukit", "-1")
    assert "H100 80GB HBM3" in told and "GPUKIT" in told
    told = here.ok("gpukit", "fake", "--gpus", "t4:1", "--", "gpukit", "limit",
                   "--memory", "1GiB", "--", "nvidia-smi",
                   "--query-gpu=memory.total", "--format=csv,noheader")
    assert told == "1024 MiB\n"


LOADS = """
import ctypes, os
n = ctypes.c_int()
runtime = ctypes.CDLL("libcudart.so.12")
assert runtime.cudaGetDeviceCount(ctypes.byref(n)) == 0
maps = open("/proc/self/maps").read().split()
print(n.value, *sorted({os.path.basename(path) for path in maps
                        if "/lib/gpukit/fake/" in path}))
print({os.path.dirname(path)[-4:] for path in maps if "/libcuda.so" in path})
"""


def test_every_driver_and_one_core(here):
    """A generation's libraries come from its directory; the core is loaded
    once."""
    for driver in ("535", "610"):
        out = here.ok("gpukit", "fake", "--gpus", "h100:3", "--driver", driver,
                      "--", "python", "-c", LOADS)
        count, generation = out.splitlines()
        assert count.split()[0] == "3"
        assert count.split().count("libgpukit-fake.so") == 1
        assert generation == str({"/" + driver})


def test_python_without_an_activated_environment(here):
    """`use()` finds the command beside Python."""
    done = subprocess.run(
        [here.python, "-c",
         "import gpukit.fake; gpukit.fake.use('t4:2'); import gpukit\n"
         "print(gpukit.Device.count())"], text=True, capture_output=True,
        env=clean_env(PATH="/usr/bin:/bin"), cwd="/", check=False)
    assert done.stdout == "2\n", done.stderr


def test_the_links_are_laid_once_and_privately(here, links):
    here.ok("gpukit", "fake", "--", "true")
    (laid,) = links(here)
    assert stat.S_IMODE(os.stat(laid).st_mode) == 0o700
    before = os.stat(laid).st_ctime_ns
    here.ok("gpukit", "fake", "--", "true")
    assert links(here) == [laid]
    assert os.stat(laid).st_ctime_ns == before
    listed = glob.glob(f"{laid}/**/*", recursive=True)
    dangling = [path for path in listed if not os.path.exists(path)]
    assert len(listed) > 250 and dangling == []


def test_they_are_those_of_the_build_tree(here, links):
    """Each leads to the file to which the build tree's link leads."""
    here.ok("gpukit", "fake", "--", "true")
    (laid,) = links(here)
    tree = os.path.join(BUILD, "lib", "gpukit", "fake")
    there = {os.path.relpath(path, tree) for path in
             glob.glob(f"{tree}/*.so*") + glob.glob(f"{tree}/[0-9bc]*/*")}
    assert len(there) > 250
    for name in there:
        ours = os.path.realpath(os.path.join(laid, name))
        theirs = os.path.realpath(os.path.join(tree, name))
        assert os.path.relpath(ours, here.path) == os.path.relpath(
            theirs, BUILD), name


def test_many_that_start_together_lay_them_once(here, links):
    here.ok("gpukit", "fake", "--", "true")
    for path in links(here):
        shutil.rmtree(path)
    env = clean_env()
    started = [subprocess.Popen([here.command("gpukit"), "fake", "--",
                                 here.command("gpukit"), "stat"], env=env,
                                stdout=subprocess.PIPE) for _ in range(8)]
    assert [(one.wait(), one.stdout.close())[0] for one in started] == [0] * 8
    (laid,) = links(here)
    assert glob.glob(os.path.dirname(laid) + "/unfinished-*") == []


def test_another_version_has_new_links(here, links):
    here.ok("gpukit", "fake", "--", "true")
    (before,) = links(here)
    path = os.path.join(here.path, "lib", "gpukit", "fake", "links")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        with open(path, "w", encoding="utf-8") as file:
            file.write(re.sub(r"^gpukit .*", "gpukit 99.0", text))
        here.ok("gpukit", "fake", "--", "true")
        (after,) = links(here)
        assert after != before and not os.path.exists(before)
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


LONG = "y" * 5000 + " z"


@pytest.mark.parametrize("line", ["/etc/passwd x", "../../x y", "x",
                                  "x /etc/passwd", LONG],
                         ids=["absolute", "above", "one", "target", "long"])
def test_a_broken_list_is_refused(here, line):
    path = os.path.join(here.path, "lib", "gpukit", "fake", "links")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    try:
        with open(path, "a", encoding="utf-8") as file:
            file.write(line + "\n")
        done = here.run("gpukit", "fake", "--", "true")
        assert done.returncode == 1
        assert done.stderr.startswith(
            "gpukit fake: cannot find the drop-in libraries: ")
        assert done.stderr.count("\n") == 1
    finally:
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def test_another_users_directory_is_not_used(here, private_shm):
    """With /dev/shm taken and no XDG_RUNTIME_DIR there is no place; with one,
    the links are there."""
    done = private_shm(
        'mkdir -m 777 /dev/shm/gpukit-links-0\n'
        'mkdir -m 700 "$HERE/run"\n'
        f'{here.command("gpukit")} fake -- true || echo refused\n'
        f'XDG_RUNTIME_DIR="$HERE/run" {here.command("gpukit")} fake -- true\n'
        'ls "$HERE/run"; ls /dev/shm/gpukit-links-0'.replace(
            "$HERE", here.path))
    assert done.stdout == "refused\ngpukit-links\n", done.stderr
    assert "permission denied" in done.stderr


def test_uninstalling_leaves_no_file(tmp_path):
    there = wheels.Environment(tmp_path / "venv", [wheels.gpukit_wheel()])
    there.ok("gpukit", "fake", "--", "true")
    there.pip("uninstall", "-y", "gpukit")
    left = [os.path.join(path, name) for path, _, names in os.walk(there.path)
            for name in names]
    assert [path for path in left if "gpukit" in path] == []

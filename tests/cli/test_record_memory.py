# SPDX-License-Identifier: Apache-2.0
"""`gpukit record` runs out of memory: each allocation fails once, and each time
it either does everything or reports an error, and never crashes."""

import shutil
import subprocess

import pytest

from conftest import GPUKIT, clean_env, sanitized

# Counts allocations while the options are read and the recording begins; the
# AT-th is refused. Other threads belong to the driver.
SOURCE = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
static long count, at = -2;

static int refused(void)
{
    const char *text;

    if (gettid() != getpid())
        return 0;
    if (at == -2)
        at = (text = getenv("REFUSED_AT")) ? strtol(text, NULL, 10) : -1;
    if (++count != at)
        return 0;
    (void)!write(9, "x", 1);
    errno = ENOMEM;
    return 1;
}

void *malloc(size_t n) { return refused() ? NULL : __libc_malloc(n); }
void *calloc(size_t n, size_t m)
{ return refused() ? NULL : __libc_calloc(n, m); }
void *realloc(void *p, size_t n)
{ return refused() ? NULL : __libc_realloc(p, n); }
"""


@pytest.fixture(scope="module")
def refusing(tmp_path_factory):
    """The path of a library that refuses one allocation."""
    if sanitized():
        pytest.skip("the sanitizer has an allocator of its own")
    place = tmp_path_factory.mktemp("refusing")
    source, library = place / "refuse.c", place / "refuse.so"
    source.write_text(SOURCE)
    subprocess.run([shutil.which("gcc") or "cc", "-shared", "-fPIC", "-O1",
                    "-o", library, source], check=True)
    return library


def sweep(library, place, env, *args):
    """The outcomes when the first, the second... allocation is refused, until
    none is left to refuse: (exit status, stderr, rows in x.csv) of each."""
    came = []
    for at in range(1, 100000):
        for path in place.iterdir():
            path.unlink()
        done = subprocess.run(
            ["sh", "-c", 'exec 9>refused; exec "$@"', "sh", "env",
             f"LD_PRELOAD={library}", f"REFUSED_AT={at}", GPUKIT, "record",
             *map(str, args)], text=True, capture_output=True, cwd=place,
            stdin=subprocess.DEVNULL, check=False, timeout=60,
            env=clean_env(**env))
        if not (place / "refused").read_text():
            return came
        assert {p.name for p in place.iterdir()} <= {"refused", "x.csv"}
        file = place / "x.csv"
        text = file.read_text() if file.exists() else ""
        came.append((done.returncode, done.stderr, text.count("\n") - 1))
    raise AssertionError("there is no end")


def test_each_allocation_fails_once(refusing, machine, tmp_path):
    made = machine("--gpus", "a100-sxm4-80gb:1", "--load", "train:0,mem=1GiB")
    place = tmp_path / "place"
    place.mkdir()
    came = sweep(refusing, place, {**made.env, "HOME": str(place)},
                 "--output=~/x.csv", "--match", "tra.n", "--count", 1)
    assert len(came) > 50
    for status, told, rows in came:
        if status:
            assert status == 1 and told.startswith("gpukit record: "), came
            assert told.count("\n") == 1, came
        else:
            assert told == "" and rows == 1, came
    options = [told for _, told, _ in came if "options" in told]
    assert len(options) == 1, came


def test_pids_without_memory(refusing, tmp_path):
    """There is no driver: errors before that are reported first."""
    came = sweep(refusing, tmp_path, {}, "-o", "x.csv", "--pid", "1", "--pid",
                 "1,1", "--nvml", "/nonexistent.so")
    assert all(status == 1 and told for status, told, _ in came), came
    assert sum("out of memory" in told for _, told, _ in came) > 5
    assert sum("the options" in told for _, told, _ in came) == 1

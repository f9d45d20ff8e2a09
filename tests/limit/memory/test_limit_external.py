# SPDX-License-Identifier: Apache-2.0
"""Memory that a program imports from another API counts where NVML does not
report what the process holds. The fake driver has no such memory, so this uses
bench's driver, in which every call succeeds."""

import json
import os
import subprocess

import pytest

from conftest import BUILD, GPUKIT, clean_env, sanitized

pytestmark = pytest.mark.skipif(
    sanitized(), reason="the program is none of a sanitizer's")

NULL = os.path.join(BUILD, "bench", "null")
PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
struct description { int type; int pad; void *handle[2]; unsigned long long size;
	unsigned flags, reserved[16]; };
int cuInit(unsigned);
int cuDevicePrimaryCtxRetain(void **, int);
int cuImportExternalMemory(void **, const struct description *);
int cuDestroyExternalMemory(void *);
static int import(void **out, unsigned long long gib)
{
	struct description d = {.type = 1, .size = gib << 30};
	return cuImportExternalMemory(out, &d);
}
static int show(void)
{
	fflush(stdout);
	return system("env -u LD_PRELOAD $GPUKIT limit show --json");
}
int main(void)
{
	void *ctx, *a, *b;
	int first, over, again;
	if (cuInit(0) || cuDevicePrimaryCtxRetain(&ctx, 0))
		return 3;
	first = import(&a, 3);
	over = import(&b, 2);
	show();
	again = cuDestroyExternalMemory(a) || import(&b, 2);
	show();
	fprintf(stderr, "%d %d %d\n", first, over, again);
	return cuDestroyExternalMemory(b) || show();
}
"""


def external_gib(report):
    device = report["groups"][0]["devices"][0]
    return device["kinds"]["external"] / 2**30, device["refused"]


def test_memory_of_other_apis_counts(tmp_path):
    source = tmp_path / "external.c"
    source.write_text(PROGRAM)
    program = tmp_path / "external"
    subprocess.run(["cc", source, "-o", program,
                    os.path.join(NULL, "libcuda.so.1")], check=True)
    done = subprocess.run(
        [GPUKIT, "limit", "--memory", "4GiB", "--contexts", "free", "--",
         program], capture_output=True, text=True, check=True, timeout=60,
        env=clean_env(LD_LIBRARY_PATH=NULL, NULL_NVML_NOBODY="1",
                      GPUKIT=GPUKIT))
    assert done.stderr == "0 2 0\n"
    decoder, text, reports = json.JSONDecoder(), done.stdout, []
    while text.strip():
        report, end = decoder.raw_decode(text)
        reports.append(external_gib(report))
        text = text[end:].lstrip()
    assert reports == [(3, 1), (2, 1), (0, 1)]

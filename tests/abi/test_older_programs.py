# SPDX-License-Identifier: Apache-2.0
"""A program compiled against version 0.1 still runs: it is compiled with that
version's header, which tests/data/gpukit-0.1 keeps, and runs with today's
library."""

import os
import re
import subprocess

import pytest

import libgpukit
from conftest import ROOT, clean_env, sanitized

THEN = os.path.join(ROOT, "tests", "data", "gpukit-0.1")

pytestmark = pytest.mark.skipif(
    sanitized(), reason="a program without the sanitizer cannot load it")

# Uses everything that has a size or an offset: arrays, details, lists, links.
PROGRAM = r"""
#include <gpukit/gpukit.h>
#include <stdio.h>

static void tell(const char *name, struct gk_value value)
{
	if (value.why)
		printf("  %s: %s\n", name, gk_absence_text(value.why));
	else
		printf("  %s: %lld\n", name, (long long)value.v);
}

static void tell_device(struct gk *gk, const struct gk_device *d)
{
	const enum gk_metric asked[] = {GK_M_MEM_TOTAL};
	struct gk_link links[GK_LINKS_MAX];
	struct gk_value value;
	size_t count = 0;

	printf("%u %s %s %u\n", d->index, d->name, d->bus_id,
	       d->process_count);
	for (int m = 0; m < GK_M_COUNT; m++)
		printf("  %s %s\n", gk_metrics[m].name,
		       gk_absence_text(d->m[m].why));
	tell("total", d->m[GK_M_MEM_TOTAL]);
	printf("  links %u, samples %u\n", d->detail->link_count,
	       d->detail->samples[GK_SAMPLED_COUNT - 1].why);
	for (unsigned i = 0; i < d->detail->link_count; i++)
		printf("  to %s\n", gk_link_end_name(d->detail->links[i].end));
	if (!gk_read_links(gk, d->index, links, &count, NULL) && count)
		tell("speed", links[count - 1].m[GK_L_SPEED]);
	if (!gk_read(gk, d->index, -1, asked, 1, &value, NULL))
		tell("asked", value);
}

int main(void)
{
	struct gk_options options = GK_OPTIONS_DEFAULT;
	struct gk_snapshot *snap;
	struct gk *gk = NULL;

	options.with = GK_WITH_DETAIL | GK_WITH_TOPOLOGY;
	if (gk_open(&options, NULL, &gk) || gk_snapshot_take(gk, &snap))
		return 1;
	for (size_t i = 0; i < snap->device_count; i++)
		tell_device(gk, &snap->devices[i]);
	for (size_t i = 0; i < snap->process_count; i++)
		printf("%s %s\n", snap->processes[i].name,
		       snap->processes[i].command);
	printf("%u links, near %s\n", snap->topology->peers[1].nvlinks,
	       snap->topology->places[0].cpus);
	gk_snapshot_free(snap);
	return gk_close(gk);
}
"""


def build(folder, name, include):
    source, program = folder / f"{name}.c", folder / name
    source.write_text(PROGRAM)
    subprocess.run(["gcc", "-Wall", "-Wextra", "-Werror", "-I", include,
                    source, "-o", program, libgpukit.LIBRARY], check=True)
    return program


def run(program, machine):
    env = clean_env(**machine.env)
    env["LD_LIBRARY_PATH"] += f":{os.path.dirname(libgpukit.LIBRARY)}"
    done = subprocess.run([program], text=True, capture_output=True,
                          check=False, env=env)
    assert done.returncode == 0, done
    return done.stdout


def test_a_program_of_0_1_runs(machine, tmp_path):
    old = build(tmp_path, "old", THEN)
    new = build(tmp_path, "new", libgpukit.INCLUDE)
    versions = subprocess.run(["readelf", "-V", old], text=True, check=True,
                              capture_output=True).stdout
    assert set(re.findall(r"GPUKIT_[0-9.]+", versions)) == {"GPUKIT_0.1"}
    one = machine("--gpus", "h100:2", "--load", "train:1,mem=3GiB")
    told = run(old, one)
    now = iter(run(new, one).splitlines())
    assert all(line in now for line in told.splitlines())
    assert "\n1 NVIDIA H100 80GB HBM3 " in told
    assert "\n  total: 85520809984\n" in told
    assert told.count("  to switch\n") == 36
    assert "\n18 links, near " in told and "gpukit-load" in told


def declared(include):
    text = subprocess.run(
        ["gcc", "-E", "-P", "-I", include, "-x", "c", "-"], check=True,
        input="#include <gpukit/gpukit.h>\n", text=True,
        capture_output=True).stdout
    return set(libgpukit.functions(text)), dict(re.findall(
        r"(\bgk_\w+)\(([^;{]*)\);", " ".join(text.split())))


def test_what_0_1_declared_is_declared_alike():
    """No name is removed and no parameter changes; functions may be added."""
    (old, then), (new, now) = declared(THEN), declared(libgpukit.INCLUDE)
    assert len(old) > 30 and old < new
    assert {name: now[name] for name in then} == then
    assert "gk_links" in new - old

# SPDX-License-Identifier: Apache-2.0
"""`gpukit fake --replay` makes a machine whose NVML answers follow a recording.
"""

import json
import os
import subprocess
import time

import pytest

from conftest import GPUKIT, NVML, clean_env, preload
from tools import alive, one_line, wait_until

VALUES = {"temperature": 71, "power": 234567, "utilization": 83,
          "memory-utilization": 41, "sm-clock": 1111, "memory-clock": 1212,
          "pstate": 3, "energy": 987654321, "encoder": 12, "decoder": 13,
          "ecc-corrected": 7}
KEYS = ("name", "uuid", "bus_id", "serial", "minor_number",
        "compute_capability", "vbios_version", "memory_total_bytes",
        "memory_used_bytes", "memory_reserved_bytes",
        "temperature_celsius", "power_watts", "gpu_utilization_percent",
        "memory_utilization_percent", "sm_clock_hertz",
        "memory_clock_hertz", "performance_state", "energy_joules",
        "encoder_utilization_percent", "decoder_utilization_percent",
        "ecc_errors_corrected_volatile_total", "power_limit_watts",
        "power_limit_max_watts", "fan_speed_percent", "pcie_link_generation",
        "pcie_link_width", "health")
PROCESS_KEYS = ("command", "args", "name", "types", "gpu_memory_bytes",
                "sm_utilization_percent", "memory_utilization_percent")


def on(*options, script, **env):
    done = subprocess.run([GPUKIT, "fake", *map(str, options), "--", "sh",
                           "-ec", script], text=True, capture_output=True,
                          env=clean_env(G=GPUKIT, **env), timeout=120,
                          check=False)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """(tape, the output of `stat --json` while it was recorded)"""
    path = tmp_path_factory.mktemp("tape") / "x.tape"
    text = on("--gpus", "h100:1,rtx-4090:2", "--seed", 77, "--load",
              "train:0+1,n=2,mem=3GiB,util=40", "--driver", "570", "--frozen",
              script='"$G" fake ctl set 0 ' +
              " ".join(f"{k}={v}" for k, v in VALUES.items()) +
              ' >/dev/null; "$G" fake ctl set 1 extra-memory=1073741824 fan=66'
              f' >/dev/null; "$G" record --snapshots --count 1 -o {path}; '
              '"$G" stat --json')
    return path, json.loads(text)


def test_the_machine_is_the_one_recorded(recorded):
    path, before = recorded
    after = json.loads(on("--replay", path, script='"$G" stat --json'))
    assert after["driver_version"] == before["driver_version"]
    assert len(after["devices"]) == 3
    for a, b in zip(after["devices"], before["devices"]):
        assert {k: a[k] for k in KEYS} == {k: b[k] for k in KEYS}
        assert len(a["processes"]) == len(b["processes"])
        key = lambda p: p["command"]  # noqa: E731
        for p, q in zip(sorted(a["processes"], key=key),
                        sorted(b["processes"], key=key)):
            wanted = {k: q[k] for k in PROCESS_KEYS}
            assert {k: p[k] for k in PROCESS_KEYS} == wanted
            assert p["pid"] != q["pid"]


# Preloaded: copies a file when it gets its name, before anybody can have
# written to it.
WHEN_IT_APPEARS = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int linkat(int from_dir, const char *from, int dir, const char *path, int flags)
{
    int (*real)(int, const char *, int, const char *, int) =
        (int (*)(int, const char *, int, const char *, int))
            dlsym(RTLD_NEXT, "linkat");
    int c, r = real(from_dir, from, dir, path, flags);
    FILE *in = fopen(path, "r"), *out = fopen(getenv("COPY"), "w");

    if (r || !in || !out)
        abort();
    while ((c = getc(in)) != EOF)
        putc(c, out);
    fclose(in);
    fclose(out);
    return r;
}
"""


def test_the_file_is_whole_when_it_appears(recorded, tmp_path):
    source, shim = tmp_path / "shim.c", tmp_path / "shim.so"
    source.write_text(WHEN_IT_APPEARS)
    subprocess.run([os.environ.get("CC", "cc"), "-O1", "-shared", "-fPIC",
                    "-o", shim, source, "-ldl"], check=True, timeout=120)
    path, before = recorded
    early = tmp_path / "early"
    on("--replay", path, script="unset LD_PRELOAD; true",
       LD_PRELOAD=preload(shim), COPY=str(early))
    told = json.loads(on(
        "--driver", "570", EARLY=str(early),
        script='GPUKIT_MACHINE="$EARLY" "$G" stat --json'))
    keys = ("name", "uuid", "bus_id", "serial", "minor_number")
    assert [[d[k] for k in keys] for d in told["devices"]] == \
        [[d[k] for k in keys] for d in before["devices"]]


def test_any_client_sees_it(recorded, tmp_path):
    script = tmp_path / "client.py"
    script.write_text(NVML + "print(count(), name(0), temperature(0))")
    path, before = recorded
    out = on("--replay", path, script=f"python3 {script}")
    assert out == f"3 {before['devices'][0]['name']} 71\n"


@pytest.fixture(scope="module")
def story(tmp_path_factory):
    """A recording of a second each at 40, 60 and 80 degrees; the GPU is lost in
    the second one, and its process ends before the third."""
    path = tmp_path_factory.mktemp("tape") / "x.tape"
    on("--gpus", "a100:2", script=f'''
set_to() {{ "$G" fake ctl set 1 temperature=$1 >/dev/null; }}
record() {{ "$G" record --snapshots --append -i 0.1 --count 10 -o {path}; }}
"$G" fake load train:1,mem=2GiB & load=$!; trap "kill $load" EXIT
while ! "$G" stat -c | grep -q gpukit-load; do sleep 0.02; done
set_to 40; record
"$G" fake ctl fail 0 lost >/dev/null; set_to 60; record
"$G" fake ctl clear 0 lost >/dev/null
trap - EXIT; kill $load; wait $load || true
set_to 80; record
''')
    return path


# Ends between two reports: until then the machine exists.
WATCH = ('trap "exit 7" TERM; while :; do "$G" stat --json --why; '
         'sleep 0.02; done')


def reports(text):
    decoder, at, found = json.JSONDecoder(), 0, []
    while at < len(text.rstrip()):
        report, at = decoder.raw_decode(text, at)
        found.append(report)
        at += len(text[at:]) - len(text[at:].lstrip())
    return found


def test_it_follows_the_recording(story):
    """It plays slowly, so that a busy host has time to look at each second."""
    began = time.monotonic()
    process = subprocess.Popen(
        [GPUKIT, "fake", "--replay", str(story), "--speed", "0.4",
         "--until-end", "--", "sh", "-c", WATCH], stdout=subprocess.PIPE,
        text=True, stderr=subprocess.PIPE, env=clean_env(G=GPUKIT))
    out, err = process.communicate(timeout=120)
    assert process.returncode == 7 and err == ""
    assert 2.5 / 0.4 < time.monotonic() - began < 100
    seen = []
    for report in reports(out):
        gpu, other = report["devices"][1], report["devices"][0]
        state = (gpu["temperature_celsius"], other["health"] == "lost",
                 len(gpu["processes"]))
        if not seen or seen[-1] != state:
            seen.append(state)
    # The values of one snapshot are set one after the other.
    for state in ((40, False, 1), (60, True, 1), (80, False, 0)):
        assert state in seen, seen
    assert [s[0] for s in seen] == sorted(s[0] for s in seen)


def test_frozen_is_the_first_snapshot(story):
    out = on("--replay", story, "--frozen", script='sleep 1; "$G" stat --json')
    assert json.loads(out)["devices"][1]["temperature_celsius"] == 40


def test_nobody_is_left(story):
    out = on("--replay", story, "--frozen", script='"$G" stat --json')
    pid = json.loads(out)["devices"][1]["processes"][0]["pid"]
    wait_until(lambda: not alive(pid))


def test_a_recording_of_it_is_the_same(recorded, tmp_path):
    path, _ = recorded
    again = tmp_path / "again.tape"
    on("--replay", path,
       script=f'"$G" record --snapshots --count 1 -o {again}')
    show = '"$G" stat --json'
    first = json.loads(on("--replay", path, script=show))
    second = json.loads(on("--replay", again, script=show))
    for a, b in zip(first["devices"], second["devices"]):
        assert {k: a[k] for k in KEYS} == {k: b[k] for k in KEYS}


def test_mig_devices_are_played(tmp_path):
    path = tmp_path / "mig.tape"
    before = json.loads(on(
        "--gpus", "a100:2", "--mig", "0=3g.40gb+2g.20gb(1c+1c)+1g.10gb",
        "--load", "train:0:0+0:2,mem=2GiB", "--load", "train:1,mem=1GiB",
        script=f'"$G" record --snapshots --count 1 -o {path}; '
        '"$G" stat --json'))
    after = json.loads(on("--replay", path, script='"$G" stat --json'))

    def shape(report):
        return [(d["label"], d["name"], d["memory_total_bytes"],
                 [(p["command"], p["gpu_memory_bytes"])
                  for p in d["processes"]]) for d in report["devices"]]

    assert len(before["devices"]) == 6
    assert sum(len(d["processes"]) for d in before["devices"]) == 3
    assert shape(after) == shape(before)


def test_what_cannot_be_played(gpukit, recorded, tmp_path):
    path, _ = recorded
    other = tmp_path / "x.csv"
    other.write_text("a,b\n" * 20)
    one_line(gpukit("fake", "--replay", other, "--", "true"), 1,
             "not a recording")
    one_line(gpukit("fake", "--replay", "/nonexistent", "--", "true"), 1,
             "not found")
    one_line(gpukit("fake", "--replay", path, "--gpus", "t4", "--", "true"),
             2, "--gpus")

# SPDX-License-Identifier: Apache-2.0
"""`gpukit limit` is tested here while programs run: show, ls, set, suspend,
top."""

import json
import os
import pty
import select
import signal
import subprocess

import pytest

from conftest import BUILD, GPUKIT, ROOT, clean_env, needed, preload
from limit_shells import hami
from limit_tools import GIB, LIBRARY, directory, fails, make

# pylint: disable=redefined-outer-name
KNOWN = os.path.join(BUILD, "tests", "limit")

# ---- use ----

@pytest.fixture
def holder(machine, group):
    """test_alloc_hold in a group of 2 GiB: (name, machine, process, bytes)."""
    made = machine("--gpus", "h100-80gb-hbm3:2")
    with subprocess.Popen(
            [GPUKIT, "limit", "--group", group, "--memory", "2GiB", "--",
             os.path.join(KNOWN, "test_alloc_hold"), "2GiB"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=clean_env(**made.env)) as process:
        word, held = process.stdout.readline().split()
        assert word == "holding"
        yield group, made, process, int(held)
        process.stdin.close()
        assert process.wait(60) == 0


def test_show_tells_what_is_held_by_whom(gpukit, holder):
    name, _, process, held = holder
    one = gpukit.json("limit", "show", name, "--json")["groups"][0]
    device = one["devices"][0]
    assert device["index"] == 0
    assert device["uuid"].startswith("GPU-")
    assert device["memory_limit_bytes"] == 2 * GIB
    assert device["kinds"]["data"] == held
    assert device["kinds"]["context"] == device["context_bytes"]
    assert device["memory_used_bytes"] == held + device["context_bytes"]
    assert device["memory_peak_bytes"] == device["memory_used_bytes"]
    assert device["memory_total_bytes"] > 60 * GIB
    assert device["refused"] == 1
    mine, = one["processes"]
    assert mine["pid"] == process.pid
    in_first = os.stat("/proc/self/ns/pid").st_ino == 4026531836
    assert mine["host_pid"] == (process.pid if in_first else None)
    assert mine["command"] == "test_alloc_hold"
    assert mine["devices"][0]["memory_used_bytes"] == \
        device["memory_used_bytes"]


def test_show_and_ls_in_words(gpukit, holder):
    name, _, process, _ = holder
    text = gpukit.ok("limit", "show", name)
    assert f"group: {name}" in text
    assert "memory: 2048MiB of each GPU" in text
    assert "contexts: count as memory" in text
    assert str(process.pid) in text and "test_alloc_hold" in text
    row = next(line for line in gpukit.ok("limit", "ls").splitlines()
               if line.startswith(name))
    assert "2048MiB" in row and row.endswith("fixed")


def test_a_limit_below_what_is_held_is_told(gpukit, holder):
    name, *_ = holder
    done = gpukit("limit", "set", name, "--memory", "1GiB")
    assert done.returncode == 0
    assert "holds" in done.stderr and "1024MiB" in done.stderr
    assert "gets no more" in done.stderr and done.stderr.count("\n") == 1


def test_a_group_in_use_is_not_removed(gpukit, holder):
    name, *_ = holder
    fails(gpukit("limit", "rm", name), 1, "running processes", name)


def test_json_follows_its_schema(gpukit, holder):
    with open(os.path.join(ROOT, "docs", "limit.schema.json"),
              encoding="utf-8") as file:
        schema = json.load(file)
    validator = needed("jsonschema", "the schema").Draft202012Validator(schema)
    validator.validate(gpukit.json("limit", "ls", "--json"))
    validator.validate(gpukit.json("limit", "show", holder[0], "--json"))


@pytest.mark.parametrize("options, measured", [
    ([], False), (["--compute", "90"], True),
    (["--compute", "90", "--policy", "off"], False)])
def test_time_that_nobody_measures_is_not_0(gpukit, group, machine, shell,
                                            options, measured):
    make(gpukit, group, *options)
    env = {"LD_PRELOAD": preload(LIBRARY),
           "GPUKIT_LIMIT_GROUP": os.path.join(directory(), group)}
    mine = shell({**machine("--gpus", "t4").env, **env}).start()
    assert mine("load()") == mine("launch()") == 0
    one = gpukit.json("limit", "show", group, "--json")["groups"][0]
    for told in (one["devices"][0], one["processes"][0]["devices"][0]):
        assert (told["busy_ns"] is not None) == measured
    assert (one["devices"][0]["compute_percent"] is not None) == measured


def waits(process):
    """Whether it gives no answer for a while."""
    return not select.select([process.process.stdout], [], [], 0.3)[0]


@pytest.mark.parametrize("line", ["alloc(2 << 20)", "launch()"])
def test_work_of_a_suspended_group_waits(gpukit, group, machine, shell, line):
    make(gpukit, group, "--memory", "2GiB")
    env = {"LD_PRELOAD": preload(LIBRARY),
           "GPUKIT_LIMIT_GROUP": os.path.join(directory(), group)}
    mine = shell({**machine("--gpus", "t4").env, **env}).start()
    assert mine("load()") == 0
    assert mine(line) == 0
    gpukit.ok("limit", "suspend", group)
    mine.ask(line)
    assert waits(mine)
    gpukit.ok("limit", "resume", group)
    assert mine.answer() == 0
    gpukit.ok("limit", "suspend", group)
    mine.ask(line)
    assert waits(mine)
    mine.kill()


def test_launches_of_processes_that_ended_are_told(gpukit, group, machine,
                                                   shell):
    make(gpukit, group)
    env = {"LD_PRELOAD": preload(LIBRARY),
           "GPUKIT_LIMIT_GROUP": os.path.join(directory(), group)}
    one = machine("--gpus", "t4")
    for _ in range(3):
        mine = shell({**one.env, **env}).start()
        assert mine("load()") == 0
        assert mine("[launch() for _ in range(100)]") == [0] * 100
        mine.end()
    told = gpukit.json("limit", "show", group, "--json")["groups"][0]
    # A thread notes launches in batches, and ends before it notes the last.
    assert 290 <= told["devices"][0]["launches"] <= 300


def test_many_processes_of_a_group_are_told(gpukit, group, machine, shell):
    make(gpukit, group, "--memory", "8GiB,1=4GiB")
    env = {"LD_PRELOAD": preload(LIBRARY),
           "GPUKIT_LIMIT_GROUP": os.path.join(directory(), group)}
    one = machine("--gpus", "t4:2")
    first = shell({**one.env, **env}).start(0)
    second = shell({**one.env, **env}).start(1)
    assert first("[alloc(100 << 20), alloc(1)]") == [0, 0]
    assert second("[alloc(1 << 30), alloc(4 << 30)]") == [0, 2]
    told = gpukit.json("limit", "show", group, "--json")["groups"][0]
    assert [p["pid"] for p in told["processes"]] == [first.pid, second.pid]
    for index, holder_, kinds, refused in (
            (0, first, 102 << 20, 0), (1, second, 1 << 30, 1)):
        seen = dict(map(tuple, holder_(f"processes({index})")))
        device = told["devices"][index]
        mine = [p["devices"][index] for p in told["processes"]]
        assert device["kinds"]["data"] == kinds
        assert device["refused"] == refused == mine[index]["refused"]
        assert device["memory_used_bytes"] == sum(seen.values())
        assert mine[index]["memory_used_bytes"] == seen[holder_.pid]
        assert mine[1 - index]["memory_used_bytes"] == 0
    assert told["devices"][1]["memory_limit_bytes"] == 4 * GIB
    text = gpukit.ok("limit", "show", group)
    assert "memory: 8192MiB of each GPU, 4096MiB of GPU 1" in text
    assert "GPU 1: context" in text


def test_a_group_is_named_by_its_path_too(gpukit, group, machine, shell,
                                          tmp_path):
    """A group from HAMi's environment has the path of its region file."""
    make(gpukit, group, "--memory", "1GiB")
    path = os.path.join(directory(), group)
    told = gpukit.json("limit", "show", path, "--json")["groups"][0]
    assert told["policy"]["memory_bytes"] == [GIB] * 16
    assert told["path"] == path
    cache = tmp_path / "vgpu.cache"
    mine = shell(hami(machine("--gpus", "t4"), cache)).start()
    gpukit.ok("limit", "set", cache, "--memory", "3GiB")
    told = gpukit.json("limit", "show", cache, "--json")["groups"][0]
    assert told["path"] == str(cache)
    assert told["processes"][0]["pid"] == mine.pid
    assert mine("total(0)") == 3 * GIB


# ---- top ----

def run_on_terminal(env, *words, columns=100):
    """A terminal and a process on it."""
    primary, secondary = pty.openpty()
    process = subprocess.Popen(
        [GPUKIT, "limit", *words], stdin=secondary, stdout=secondary,
        stderr=secondary, start_new_session=True,
        env=clean_env(TERM="xterm", COLUMNS=str(columns), **env))
    os.close(secondary)
    return primary, process


def read_until(terminal, end):
    text = b""
    while end not in text:
        assert select.select([terminal], [], [], 60)[0], text
        text += os.read(terminal, 65536)
    return text.decode()


@pytest.mark.parametrize("ending", [b"q", b"Q", b"\x03"])
def test_top_draws_until_q(gpukit, group, ending):
    make(gpukit, group, "--memory", "1GiB")
    terminal, process = run_on_terminal({"NO_COLOR": "1"}, "top", group,
                                        "--interval", "0.1")
    first = read_until(terminal, b"\033[J")
    assert "gpukit limit top" in first and group in first
    assert "\033[1m" not in first
    read_until(terminal, b"\033[J")
    if ending == b"\x03":
        process.send_signal(signal.SIGINT)
    else:
        os.write(terminal, ending)
    read_until(terminal, b"\033[?1049l")
    assert process.wait(60) == 0
    os.close(terminal)


def test_top_is_a_table_where_there_is_no_terminal(gpukit, group):
    make(gpukit, group)
    text = gpukit.ok("limit", "top", group)
    assert text.splitlines()[0].split()[0] == "GROUP"
    assert text.splitlines()[1].startswith(group)
    assert "\033" not in text


def test_narrow_tables_leave_columns_out(gpukit, group):
    make(gpukit, group)
    wide = gpukit.ok("limit", "top", group, env={"COLUMNS": "200"})
    narrow = gpukit.ok("limit", "top", group, env={"COLUMNS": "60"})
    assert "PEAK" in wide and "PEAK" not in narrow
    assert "USED" in narrow
    gpukit.ok("limit", "set", group, "--memory", "2GiB,3=1GiB")
    # Names are truncated, figures never.
    least = gpukit.ok("limit", "top", group, env={"COLUMNS": "20"})
    title, row = least.splitlines()
    assert title.split() == ["GROUP", "GPU", "USED"]
    name, *figures = row.split()
    assert len(row) == 20 and group.startswith(name)
    assert figures == ["3", "0B"]
    assert max(map(len, narrow.splitlines())) <= 60
    assert max(map(len, wide.splitlines())) <= 200


def test_top_json_is_an_object_a_line(gpukit, group):
    make(gpukit, group)
    with subprocess.Popen([GPUKIT, "limit", "top", group, "--json", "-i",
                           "0.1"], stdout=subprocess.PIPE, text=True,
                          env=clean_env()) as top:
        frames = [json.loads(top.stdout.readline()) for _ in range(3)]
        top.send_signal(signal.SIGTERM)
        assert top.wait(60) == 0
    times = [frame["unix_seconds"] for frame in frames]
    assert times == sorted(set(times))
    assert frames[0]["groups"][0]["name"] == group

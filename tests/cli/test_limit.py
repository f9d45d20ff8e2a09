# SPDX-License-Identifier: Apache-2.0
"""`gpukit limit` is tested here: options, running commands, groups, the MPS
backend."""

import json
import os
import pty
import signal
import socket
import subprocess
import sys

import pytest

import can
from conftest import GPUKIT, clean_env
from limit_tools import GIB, LIBRARY, directory, fails, make, policy_of
from tools import alive, wait_until

SHELL = ("import os, json; print(json.dumps({k: os.environ.get(k) for k in "
         "('LD_PRELOAD', 'GPUKIT_LIMIT_GROUP')}))")


# ---- options ----

@pytest.mark.parametrize("words, part", [
    (["--memory", "much"], "4GiB"), (["--memory", "0"], "none"),
    (["--memory", "1G,2G"], "1=2G"), (["--memory", "16=1G"], "0 to 15"),
    (["--memory", "-1=1G"], "0 to 15"), (["--memory", ""], "4GiB"),
    (["--memory", "1G,"], "1="), (["--memory", "1=,1G"], "4GiB"),
    (["--compute", "0"], "1 to 100"), (["--compute", "101"], "1 to 100"),
    (["--compute", "x"], "1 to 100"), (["--compute", "30,1=0"], "1 to 100"),
    (["--compute", "30%%"], "1 to 100"), (["--priority", "2"], "0 to 1"),
    (["--policy", "fair"], "--policy"), (["--contexts", "no"], "--contexts"),
    (["--oversubscribe=maybe"], "--oversubscribe"),
    (["--backend", "mig"], "hooks or mps"), (["--group", "a/b"], "letters"),
    (["--group", ".a"], "letters"), (["--group", ""], "letters"),
    (["--group", "x" * 64], "letters"), ([], "no command"),
    (["--frobnicate"], "frobnicate"), (["--group", "f\303\274r"], "letters"),
])
def test_wrong_usage_is_2(gpukit, words, part):
    command = [] if not words else ["--", "true"]
    fails(gpukit("limit", *words, *command), 2, part)


@pytest.mark.parametrize("words, part", [
    (["set"], "no group;"), (["set", "a", "b"], "unexpected argument 'b' after 'a'"),
    (["rm"], "no group;"), (["suspend"], "no group;"),
    (["resume"], "no group;"), (["ls", "a"], "takes no name"),
    (["set", "a"], "--memory 4GiB"), (["top", "--interval", "0"], "time"),
    (["set", "a", "--priority", "x"], "number"),
])
def test_wrong_usage_of_a_verb_is_2(gpukit, words, part):
    fails(gpukit("limit", *words), 2, part)


def test_help_names_the_verbs(gpukit):
    text = gpukit.ok("limit", "--help")
    for word in ("--memory", "ls", "show", "set", "suspend", "top", "rm"):
        assert word in text
    assert "limit" in gpukit.ok("help")


# ---- running ----

def test_a_command_gets_the_library_and_a_group_that_ends_with_it(gpukit):
    told = json.loads(gpukit.ok("limit", "--", sys.executable, "-c", SHELL))
    assert told["LD_PRELOAD"].split(":")[-1] == LIBRARY
    path = told["GPUKIT_LIMIT_GROUP"]
    assert os.path.dirname(path) == directory()
    assert os.path.basename(path).startswith("run-")
    assert not os.path.exists(path)


def test_what_was_preloaded_stays(gpukit):
    env = {"LD_PRELOAD": os.environ.get("GPUKIT_PRELOAD", "libc.so.6")}
    told = json.loads(gpukit.ok("limit", "--", sys.executable, "-c", SHELL,
                                env=env))
    assert told["LD_PRELOAD"] == env["LD_PRELOAD"] + ":" + LIBRARY


@pytest.mark.parametrize("named", [False, True])
def test_the_status_is_the_commands(gpukit, group, named):
    words = ["limit", *(["--group", group] if named else []), "--"]
    assert gpukit(*words, "sh", "-c", "exit 7").returncode == 7
    done = gpukit(*words, "sh", "-c", "kill -KILL $$")
    assert done.returncode == (-signal.SIGKILL if named else 137)


@pytest.mark.parametrize("named", [False, True])
def test_no_command_is_127_and_one_that_cannot_run_is_126(gpukit, group,
                                                          named, tmp_path):
    words = ["limit", *(["--group", group] if named else []), "--"]
    fails(gpukit(*words, "/nonexistent"), 127, "command not found")
    fails(gpukit(*words, tmp_path), 126, "Permission denied")


@pytest.mark.parametrize("number", [
    signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT,
    signal.SIGUSR1, signal.SIGUSR2])
def test_signals_are_passed_on(number):
    with subprocess.Popen(
            [GPUKIT, "limit", "--", sys.executable, "-c",
             "import signal, sys\n"
             f"signal.signal({int(number)}, lambda *_: sys.exit(42))\n"
             "print('up', flush=True)\nwhile True: signal.pause()"],
            stdout=subprocess.PIPE, text=True, env=clean_env()) as launcher:
        assert launcher.stdout.readline() == "up\n"
        launcher.send_signal(number)
        assert launcher.wait(60) == 42


# print() may be interrupted within another print().
COUNTS = """
import os, signal
got = []
def say(*words):
    os.write(1, (' '.join(map(str, words)) + '\\n').encode())
def count(*_):
    got.append(1)
    say('got', len(got))
def end(*_):
    say('all', len(got))
    os._exit(0)
signal.signal(signal.SIGINT, count)
signal.signal(signal.SIGTERM, end)
print('up', flush=True)
while True:
    signal.pause()
"""


@pytest.mark.parametrize("send", [os.killpg, os.kill])
def test_one_signal_reaches_the_command_once(send):
    """The signal goes to the whole process group, or to the launcher alone."""
    with subprocess.Popen(
            [GPUKIT, "limit", "--", sys.executable, "-c", COUNTS],
            stdout=subprocess.PIPE, text=True, env=clean_env(),
            start_new_session=True) as launcher:
        assert launcher.stdout.readline() == "up\n"
        send(launcher.pid, signal.SIGINT)
        assert launcher.stdout.readline() == "got 1\n"
        # The launcher forwards one signal after the other.
        os.kill(launcher.pid, signal.SIGTERM)
        assert launcher.communicate(timeout=60)[0] == "all 1\n"


def test_a_terminal_interrupts_the_command_once():
    pid, terminal = pty.fork()
    if not pid:
        os.execve(GPUKIT, [GPUKIT, "limit", "--", sys.executable, "-c",
                           COUNTS], clean_env())
    with os.fdopen(terminal, "r+b", buffering=0) as file:
        def read_until(text):
            seen = b""
            while text not in seen:
                seen += file.read(1024)
            return seen
        read_until(b"up")
        file.write(b"\x03")
        read_until(b"got 1")
        os.kill(pid, signal.SIGTERM)
        assert b"all 1" in read_until(b"all 1\r\n")
    assert os.waitpid(pid, 0)[1] == 0


def test_a_killed_launcher_ends_its_command_and_the_next_removes_the_group(
        gpukit):
    with subprocess.Popen(
            [GPUKIT, "limit", "--", sys.executable, "-c",
             "import os; print(os.getpid(), os.environ['GPUKIT_LIMIT_GROUP'], "
             "flush=True); input()"], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env=clean_env()) as launcher:
        pid, path = launcher.stdout.readline().split()
        assert os.path.isdir(path)
        launcher.kill()
        wait_until(lambda: not alive(int(pid)))
    # The next launcher removes it; that may be another test's.
    gpukit.ok("limit", "--", "true")
    assert not os.path.exists(path)


def test_who_is_left_behind_keeps_the_group_before_it_uses_a_gpu(gpukit):
    read, write = os.pipe()
    code = ("import os, subprocess; print(os.environ['GPUKIT_LIMIT_GROUP'], "
            f"subprocess.Popen(['cat'], stdin={read}, stdout=2).pid)")
    done = subprocess.run(
        [GPUKIT, "limit", "--", sys.executable, "-c", code], check=True,
        stdout=subprocess.PIPE, text=True, pass_fds=[read], env=clean_env())
    path, pid = done.stdout.split()
    os.close(read)
    gpukit.ok("limit", "--", "true")
    assert os.path.isdir(path)
    os.close(write)
    wait_until(lambda: not alive(int(pid)))
    gpukit.ok("limit", "--", "true")
    assert not os.path.exists(path)


def test_a_group_that_runs_is_no_orphan(gpukit):
    code = ("import os, subprocess, sys; subprocess.run([sys.argv[1], "
            "'limit', '--', 'true'], env={k: v for k, v in os.environ.items() "
            "if k[:3] not in ('LD_', 'GPU')}); "
            "print(os.path.isdir(os.environ['GPUKIT_LIMIT_GROUP']))")
    assert gpukit.ok("limit", "--", sys.executable, "-c", code,
                     GPUKIT) == "True\n"


def test_groups_do_not_nest_but_the_same_one_is_joined(gpukit, group):
    inner = [GPUKIT, "limit", "--memory", "1GiB", "--", "true"]
    fails(gpukit("limit", "--group", group, "--memory", "1GiB", "--", *inner),
          1, group, "do not nest")
    same = [GPUKIT, "limit", "--group", group, "--", "echo", "in"]
    assert gpukit.ok("limit", "--group", group, "--", *same) == "in\n"


def test_inside_and_outside_of_a_made_up_machine(gpukit):
    count = ("import ctypes; l = ctypes.CDLL('libcuda.so.1'); n = "
             "ctypes.c_int(); assert not l.cuInit(0); "
             "l.cuDeviceGetCount(ctypes.byref(n)); print(n.value)")
    command = [sys.executable, "-c", count]
    fake = ["fake", "--gpus", "t4:3", "--"]
    limit = ["limit", "--memory", "4GiB", "--"]
    assert gpukit.ok(*fake, GPUKIT, *limit, *command) == "3\n"
    assert gpukit.ok(*limit, GPUKIT, *fake, *command) == "3\n"


# ---- what cannot be reached ----

def compiled(tmp_path, *flags):
    source, program = tmp_path / "a.c", tmp_path / "a.out"
    source.write_text("int main(void) { return 3; }\n")
    done = subprocess.run(["cc", source, "-o", program, *flags], check=False,
                          capture_output=True)
    if done.returncode:
        pytest.skip("no such compiler here")
    return program


@pytest.mark.parametrize("flags", [["-static"], ["-static-pie"]])
def test_a_static_program_is_told_of_and_run(gpukit, tmp_path, flags):
    program = compiled(tmp_path, *flags)
    done = gpukit("limit", "--", program)
    fails(done, 3, str(program), "statically linked", "runs without limits")


def test_a_script_of_a_static_interpreter_is_told_of(gpukit, tmp_path):
    program = compiled(tmp_path, "-static")
    script = tmp_path / "script"
    script.write_text(f"#! {program} -x\n")
    script.chmod(0o755)
    fails(gpukit("limit", "--", script), 3, "statically linked")


def test_a_program_of_other_rights_is_told_of(gpukit, tmp_path):
    program = compiled(tmp_path)
    can.need("other-users")
    os.chown(program, 12345, 12345)
    program.chmod(0o4755)
    fails(gpukit("limit", "--", program), 3, "set-user-ID")


@pytest.mark.parametrize("content", [b"", b"\x7fELF", b"#!", b"#!\n",
                                     b"\x7fELF\2\1\1" + bytes(57),
                                     b"\x7fELF\2\1\1" + b"a" * 4000],
                         ids=["empty", "magic", "script", "line", "zeros", "a"])
def test_what_is_no_program_is_not_judged(gpukit, tmp_path, content):
    program = tmp_path / "odd"
    program.write_bytes(content)
    program.chmod(0o755)
    done = gpukit("limit", "--", program)
    assert done.returncode in (0, 1, 126, 127), done
    assert done.returncode >= 0


def test_ordinary_programs_are_not_told_of(gpukit):
    assert gpukit("limit", "--", "true").stderr == ""
    assert gpukit("limit", "--", "sh", "-c", "true").stderr == ""


# ---- groups ----

def test_a_named_group_stays_with_its_limits(gpukit, group):
    policy = make(gpukit, group, "--memory", "8GiB,1=512M", "--compute",
                  "30,15=100%", "--policy", "elastic", "--priority", "0",
                  "--contexts", "free", "--oversubscribe")
    assert policy == {
        "memory_bytes": [8 * GIB, 512 << 20] + [8 * GIB] * 14,
        "compute_percent": [30] * 15 + [100], "policy": "elastic",
        "priority": 0, "suspended": False, "contexts": "free",
        "oversubscribe": True, "oom_killer": False}


def test_without_options_nothing_is_limited(gpukit, group):
    assert make(gpukit, group) == {
        "memory_bytes": [None] * 16, "compute_percent": [None] * 16,
        "policy": "fixed", "priority": 1, "suspended": False,
        "contexts": "count", "oversubscribe": False, "oom_killer": False}


def test_who_joins_may_say_the_same_limits_and_no_others(gpukit, group):
    make(gpukit, group, "--memory", "2GiB")
    gpukit.ok("limit", "--group", group, "--memory", "2048M", "--", "true")
    gpukit.ok("limit", "--group", group, "--", "true")
    fails(gpukit("limit", "--group", group, "--memory", "3GiB", "--", "true"),
          1, "other limits", f"gpukit limit set {group}")


def test_set_changes_what_it_names_and_leaves_the_rest(gpukit, group):
    before = make(gpukit, group, "--memory", "2GiB", "--compute", "50")
    gpukit.ok("limit", "set", group, "--memory", "3=1GiB", "--policy", "off")
    after = policy_of(gpukit, group)
    before["memory_bytes"][3] = GIB
    before["policy"] = "off"
    assert after == before
    told = gpukit.json("limit", "set", group, "--memory", "none", "--json")
    assert told["groups"][0]["policy"]["memory_bytes"] == [None] * 16


def test_suspend_and_resume(gpukit, group):
    make(gpukit, group)
    gpukit.ok("limit", "suspend", group)
    assert policy_of(gpukit, group)["suspended"] is True
    assert "suspended" in gpukit.ok("limit", "show", group)
    told = gpukit.json("limit", "resume", group, "--json")
    assert told["groups"][0]["policy"]["suspended"] is False


def test_rm_removes(gpukit, group):
    make(gpukit, group)
    assert gpukit.ok("limit", "rm", group) == ""
    assert not os.path.exists(os.path.join(directory(), group))
    fails(gpukit("limit", "rm", group), 1, "no group", group)


@pytest.mark.parametrize("verb", [["show"], ["rm"], ["suspend"], ["resume"],
                                  ["top"], ["set", "--compute", "3"]])
@pytest.mark.parametrize("name, part", [
    ("nobody.has.this", "no group"), ("a b", "not a group name"),
    ("", "not a group name"),
    ("..", "not a group name"), ("\033[31m", "not a group name"),
    ("x" * 300, "not a group name")])
def test_a_group_that_is_not_there(gpukit, verb, name, part):
    done = gpukit("limit", verb[0], name, *verb[1:])
    fails(done, 1, part)
    assert "\033" not in done.stderr


def test_no_groups(private_shm):
    done = private_shm('"$G" limit ls; "$G" limit ls --json; '
                       '"$G" limit show || echo $?')
    text, rest = done.stdout.split("\n", 1)
    assert text == "no groups"
    told, end = json.JSONDecoder().raw_decode(rest)
    assert told["groups"] == []
    assert rest[end:].strip() == "1"
    assert "no groups" in done.stderr


def test_show_means_the_own_group_or_the_only_one(private_shm):
    done = private_shm(
        '"$G" limit --group one -- true; "$G" limit show | head -1; '
        '"$G" limit --group two -- "$G" limit show | head -1; '
        '"$G" limit show || true')
    assert done.stdout == "group: one\ngroup: two\n"
    assert "which group: " in done.stderr
    assert "one" in done.stderr and "two" in done.stderr


def test_a_strangers_directory_is_not_believed(private_shm):
    done = private_shm(
        'mkdir -m 777 /dev/shm/gpukit-limit-0; '
        '"$G" limit --group x -- echo ran || echo $?')
    assert done.stdout == "1\n"
    assert done.stderr.count("\n") == 1 and "owner" in done.stderr


def test_odd_files_among_groups_harm_nobody(private_shm):
    done = private_shm(
        '"$G" limit --group good --memory 1GiB -- true\n'
        'cd /dev/shm/gpukit-limit-0\n'
        'mkdir empty "bad name" .hidden; touch file; ln -s / link\n'
        'mkdir torn; head -c 10 good/policy >torn/policy; : >torn/ledger\n'
        '"$G" limit ls; "$G" limit ls --json')
    assert done.returncode == 0, done
    table, told = done.stdout.split("{", 1)
    rows = table.splitlines()
    assert any(row.startswith("good") and "1024MiB" in row
               for row in rows), table
    assert "bad name" not in table and "hidden" not in table
    groups = {g["name"]: g for g in json.loads("{" + told)["groups"]}
    assert groups["good"]["error"] is None
    assert groups["torn"]["error"] and groups["torn"]["policy"] is None


# ---- mps ----

def mps(gpukit, *words, env=None, command=("true",)):
    return gpukit("limit", "--backend", "mps", *words, "--", *command,
                  env=env)


def test_mps_says_what_is_missing(gpukit, tmp_path):
    env = {"CUDA_MPS_PIPE_DIRECTORY": str(tmp_path), "PATH": "/nowhere"}
    fails(mps(gpukit, env=env), 1, "no daemon listens", str(tmp_path),
          "nvidia-cuda-mps-control", "--backend hooks")
    program = tmp_path / "nvidia-cuda-mps-control"
    program.write_text("")
    program.chmod(0o755)
    env["PATH"] = str(tmp_path)
    fails(mps(gpukit, env=env), 1, "start one", "-d")


def test_a_made_up_machine_has_no_mps(gpukit):
    fails(mps(gpukit, env={"GPUKIT_MACHINE": "x"}), 1, "made-up machine")


@pytest.mark.parametrize("words", [["--group", "x"], ["--policy", "fixed"],
                                   ["--contexts", "free"],
                                   ["--oversubscribe"]])
def test_mps_takes_no_options_of_groups(gpukit, words):
    fails(mps(gpukit, *words), 2, "each process separately")


@pytest.fixture
def daemon(tmp_path):
    """A socket like the daemon's; nobody has to answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as control:
        control.bind(str(tmp_path / "control"))
        control.listen()
        yield {"CUDA_MPS_PIPE_DIRECTORY": str(tmp_path)}


def test_mps_sets_the_variables_of_its_clients(gpukit, daemon):
    command = [sys.executable, "-c",
               "import os, json; print(json.dumps({k: v for k, v in "
               "os.environ.items() if k[:9] in ('CUDA_MPS_', 'GPUKIT_LI')}))"]
    told = json.loads(mps(gpukit, "--memory", "0=4GiB,2=1536M", "--compute",
                          "30", "--priority", "1", env=daemon,
                          command=command).stdout)
    assert told == {**daemon, "CUDA_MPS_ACTIVE_THREAD_PERCENTAGE": "30",
                    "CUDA_MPS_PINNED_DEVICE_MEM_LIMIT": "0=4096M,2=1536M",
                    "CUDA_MPS_CLIENT_PRIORITY": "1"}
    fails(mps(gpukit, "--compute", "30,1=40", env=daemon), 2,
          "one share for all")


def test_a_dead_daemon_does_not_listen(gpukit, daemon, tmp_path):
    os.rename(tmp_path / "control", tmp_path / "other")
    fails(mps(gpukit, env={**daemon, "PATH": "/nowhere"}), 1, "no daemon")

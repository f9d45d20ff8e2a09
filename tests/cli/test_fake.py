"""`gpukit fake`: the launcher, its load processes, and ctl."""

import concurrent.futures
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import tempfile
import time

import pytest

from conftest import GPUKIT, NVML, clean_env

MAGIC = 0x314D54494B555047


def one_line(done, code, *parts):
    """Failed with that code, and told it in one line that holds the parts."""
    assert done.returncode == code, (done.stdout, done.stderr)
    assert done.stdout == ""
    assert done.stderr.startswith("gpukit fake: "), done.stderr
    assert done.stderr.count("\n") == 1, done.stderr
    for part in parts:
        assert part in done.stderr
    return done.stderr


def alive(pid):
    """Runs, and is no zombie."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as f:
            return f.read().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def children(pid):
    with open(f"/proc/{pid}/task/{pid}/children", encoding="ascii") as f:
        return [int(word) for word in f.read().split()]


def cmdline(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as f:
        return f.read().decode().split("\0")[:-1]


def wait_until(what, seconds=20):
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "never happened"
        time.sleep(0.01)


# ---- the command ----

@pytest.mark.parametrize("command, status", [
    (["true"], 0),
    (["sh", "-c", "exit 7"], 7),
    (["sh", "-c", "exit 255"], 255),
    (["sh", "-c", "kill -9 $$"], 137),
    (["sh", "-c", "kill -TERM $$"], 143),
])
def test_exit_status_is_the_commands(gpukit, command, status):
    done = gpukit("fake", "--", *command)
    assert (done.returncode, done.stdout, done.stderr) == (status, "", "")


def test_a_command_that_cannot_be_run(gpukit):
    one_line(gpukit("fake", "--", "gpukit-no-such"), 127,
             "gpukit-no-such: command not found")
    one_line(gpukit("fake", "--", "/etc/passwd"), 126, "/etc/passwd: ")


def test_the_command_sees_the_machine(gpukit):
    out = gpukit.ok("fake", "--gpus", "h100:2,t4", "--", sys.executable, "-c",
                    "import ctypes\n"
                    "n = ctypes.CDLL('libnvidia-ml.so.1')\n"
                    "assert n.nvmlInit_v2() == 0\n"
                    "c = ctypes.c_uint()\n"
                    "assert n.nvmlDeviceGetCount_v2(ctypes.byref(c)) == 0\n"
                    "print(c.value)\n")
    assert out == "3\n"


def test_arguments_after_the_dashes_are_the_commands(gpukit):
    out = gpukit.ok("fake", "--", "echo", "--gpus", "none", "--", "-x")
    assert out == "--gpus none -- -x\n"
    assert gpukit.ok("fake", "printf", "%s", "--gpus") == "--gpus"


def test_the_machine_goes_with_the_command(gpukit, tmp_path):
    path = tmp_path / "machine"
    assert gpukit.ok("fake", "--name", path, "--", "ls", path) == f"{path}\n"
    assert not path.exists()
    assert gpukit("fake", "--name", path, "--load", "train:0,mem=1TiB", "--",
                  "true").returncode == 1
    assert not path.exists()


def test_a_relative_path_holds_where_the_command_goes(gpukit, tmp_path):
    out = gpukit.ok("fake", "--name", "./sub.machine", "--", "sh", "-c",
                    "cd / && $0 fake ctl show 0 | head -1", GPUKIT,
                    cwd=tmp_path)
    assert out.startswith(f"machine {tmp_path}/./sub.machine, ")


def test_seed_makes_the_uuids(gpukit):
    def uuid(*options):
        text = gpukit.ok("fake", *options, "--", GPUKIT, "fake", "ctl", "show")
        return re.findall("GPU-[0-9a-f-]{36}", text)

    assert len(set(uuid())) == 8
    assert uuid("--seed", 1) == uuid("--seed", 1) != uuid("--seed", 2)


# ---- signals ----

COUNT_SIGNALS = """
import signal, sys, time
got = []
for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
    signal.signal(s, lambda n, f: got.append(n))
print("up", flush=True)
end = time.monotonic() + 20
while not got and time.monotonic() < end:
    time.sleep(0.01)
time.sleep(0.3)
print(*got, flush=True)
sys.exit(3)
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"])
def test_a_signal_is_passed_on(gpukit, name):
    number = getattr(signal, name)
    with subprocess.Popen([GPUKIT, "fake", "--", sys.executable, "-c",
                           COUNT_SIGNALS], stdout=subprocess.PIPE,
                          text=True, env=clean_env()) as launcher:
        assert launcher.stdout.readline() == "up\n"
        launcher.send_signal(number)
        assert launcher.stdout.readline() == f"{int(number)}\n"
        assert launcher.wait(timeout=30) == 3


def test_a_command_that_dies_of_the_signal(gpukit):
    with subprocess.Popen([GPUKIT, "fake", "--", "sh", "-c",
                           "echo up; exec sleep 100"],
                          stdout=subprocess.PIPE, text=True,
                          env=clean_env()) as launcher:
        assert launcher.stdout.readline() == "up\n"
        launcher.terminate()
        assert launcher.wait(timeout=30) == 143


def on_a_terminal(*args):
    """Runs `gpukit fake ...` on a terminal, types ^C after its line "up"."""
    pid, tty = pty.fork()
    if not pid:
        os.execve(GPUKIT, [GPUKIT, "fake", *args], clean_env())
    text = b""
    typed = False
    try:
        while True:
            text += os.read(tty, 4096)
            if b"up\r\n" in text and not typed:
                typed = True
                os.write(tty, b"\x03")
    except OSError:
        pass  # the end of a terminal
    status = os.waitpid(pid, 0)[1]
    os.close(tty)
    return os.waitstatus_to_exitcode(status), text.decode()


def test_the_terminal_interrupts_the_command_and_no_load(gpukit):
    code = COUNT_SIGNALS.replace(
        "sys.exit(3)", "import os, subprocess; print(subprocess.run("
        f"['{GPUKIT}', 'fake', 'ctl', 'show', '0'], text=True,"
        "capture_output=True).stdout.splitlines()[2], flush=True)")
    status, text = on_a_terminal("--load", "idle:0,n=2", "--",
                                 sys.executable, "-c", code)
    assert status == 0
    assert text.replace("^C", "").split()[:2] == ["up", "2"], text
    assert "2 processes" in text


def test_what_the_terminal_sent_is_not_passed_on(gpukit):
    """The command has left the terminal's group: it wants no ^C."""
    code = ("import os\nos.setpgid(0, 0)\n" +
            COUNT_SIGNALS.replace("+ 20", "+ 0.5"))
    status, text = on_a_terminal("--", sys.executable, "-c", code)
    assert status == 3
    assert text.replace("^C", "").split() == ["up"], text


# ---- options that are wrong ----

@pytest.mark.parametrize("options, code, parts", [
    (["--gpus", "t5"], 2, ["no profile 't5'", "h100-80gb-hbm3", "t4"]),
    (["--gpus", ""], 2, ["no profile ''"]),
    (["--gpus", "t4:0"], 2, ["'t4:0'", "1 to 64"]),
    (["--gpus", "t4:x"], 2, ["'t4:x'", "1 to 64"]),
    (["--gpus", "t4:65"], 2, ["at most 64"]),
    (["--gpus", "t4:64,h100"], 2, ["at most 64"]),
    (["--gpus", "t4:99999999999"], 2, ["at most 64"]),
    (["--gpus", "/no/such.yaml"], 2, ["/no/such.yaml: No such file"]),
    (["--name", ".."], 2, ["--name: '..'"]),
    (["--name", ""], 2, ["--name: ''"]),
    (["--name", "/no/such/dir/m"], 1, ["/no/such/dir/m cannot be made"]),
    (["--load", "dance:0"], 2, ["'dance'", "train, infer, idle"]),
    (["--load", "train:8"], 2, ["no GPU 8", "has 8"]),
    (["--load", "train:2-1"], 2, ["'2-1' is no GPU"]),
    (["--load", "train:x"], 2, ["'x' is no GPU", "all"]),
    (["--load", "train:0-"], 2, ["'0-' is no GPU"]),
    (["--load", "train:"], 2, ["'' is no GPU"]),
    (["--load", "train:0,speed=1"], 2, ["'speed'", "mem, util, period"]),
    (["--load", "train:0,util"], 2, ["util=", "0 to 100"]),
    (["--load", "train:0,util=101"], 2, ["util=101", "0 to 100"]),
    (["--load", "train:0,mem=lots"], 2, ["mem=lots", "60GiB"]),
    (["--load", "train:0,period=0s"], 2, ["period=0s", "1ms"]),
    (["--load", "train:0,n=0"], 2, ["n=0", "1 to 64"]),
    (["--load", "idle:0,util=5"], 2, ["'util'", "mem, n"]),
    (["--load", "train:0,mem=90GiB"], 1,
     ["GPU 0", "79.4 GiB free", "90.0 GiB", "lower mem="]),
    (["--load", "train:0+1,mem=30GiB", "--load", "infer:1,n=2,mem=30GiB"], 1,
     ["GPU 1", "90.0 GiB"]),
])
def test_wrong_options_are_told_in_one_line(gpukit, options, code, parts):
    one_line(gpukit("fake", *options, "--", "echo", "ran"), code, *parts)


@pytest.mark.parametrize("options", [
    [], ["--latency", "slow", "--", "true"], ["--seed", "x", "--", "true"],
    ["--no-such", "--", "true"]])
def test_usage_errors_end_with_2(gpukit, options):
    done = gpukit("fake", *options)
    assert done.returncode == 2
    assert done.stderr.startswith("gpukit fake: ")
    assert "--help" in done.stderr


def test_help_tells_the_options(gpukit):
    text = gpukit.ok("fake", "--help")
    for word in ("--gpus", "--load", "--latency", "--name", "ctl", "load"):
        assert word in text


def test_a_wrong_profile_is_told(gpukit, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text("inherits: t4\nmemory_mb: 1\n")
    one_line(gpukit("fake", "--gpus", f"{path}:2", "--", "true"), 2,
             f"{path}:2: unknown key 'memory_mb'; did you mean 'memory_mib'?")


def test_a_profile_of_the_user(gpukit, tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text('inherits: t4\nmemory_mib: 8192\nmark: "Fake "\n')
    shown = gpukit.json("fake", "--gpus", f"{path}:2,h200", "--", GPUKIT,
                        "fake", "ctl", "show", "--json")
    assert [gpu["profile"] for gpu in shown["gpus"]] == ["mine", "mine",
                                                         "h200"]
    assert shown["gpus"][0]["memory_total"] == 8192 << 20


def test_profiles_of_another_directory(gpukit, tmp_path):
    (tmp_path / "zz.yaml").write_text("fans: x\n")
    done = gpukit("fake", "--gpus", "t4", "--", "true",
                  env={"GPUKIT_PROFILES": str(tmp_path)})
    one_line(done, 2, f"no profile 't4' in {tmp_path}; there are zz")


@pytest.mark.parametrize("gpus, count", [("none", 0), ("t4:64", 64),
                                         ("t4:32,h100:32", 64)])
def test_how_many_gpus_there_can_be(machine, gpus, count):
    one = machine("--gpus", gpus)
    assert one.python("print(count())") == str(count)
    assert len(one.show()["gpus"]) == count


# ---- load ----

def test_load_is_real_processes(machine):
    one = machine("--load", "train:0-1,n=2,mem=20GiB,util=80", "--load",
                  "infer:3,enc=40", "--load", "idle:all")
    loads = [cmdline(pid) for pid in children(one.process.pid)]
    loads = [args for args in loads if args[0] == "gpukit-load"]
    assert len(loads) == 2 * 2 + 1 + 8
    assert ["gpukit-load", "train", "gpu=1", "mem=20GiB", "util=80",
            "period=30s", "membw=55", "seed=3"] in loads
    gpus = one.show()["gpus"]
    assert [gpu["processes"] for gpu in gpus] == [3, 3, 1, 2, 1, 1, 1, 1]
    assert gpus[0]["memory_used"] == (40 << 30) + (427 << 20)
    assert gpus[2]["memory_used"] == 427 << 20
    pid = children(one.process.pid)[0]
    with open(f"/proc/{pid}/comm", encoding="ascii") as f:
        assert f.read() == "gpukit-load\n"


def test_load_keeps_a_gpu_busy(machine):
    one = machine("--load", "train:0,util=100,membw=50")
    wait_until(lambda: one.show(0)["gpus"][0]["values"]["utilization"]["value"]
               >= 15)
    other = one.show(1)["gpus"][0]["values"]
    assert other["utilization"]["value"] == 0


def test_load_ends_with_the_command(machine):
    one = machine("--load", "train:all")
    pids = children(one.process.pid)
    assert len(pids) == 9
    one.stop()
    assert not any(alive(pid) for pid in pids)


def test_load_ends_with_a_killed_launcher(machine):
    one = machine("--load", "train:all,n=4,mem=1GiB")
    pids = [pid for pid in children(one.process.pid)
            if cmdline(pid)[0] == "gpukit-load"]
    assert len(pids) == 32
    one.kill()
    wait_until(lambda: not any(alive(pid) for pid in pids))


def test_load_on_a_running_machine(machine):
    one = machine()
    with subprocess.Popen([GPUKIT, "fake", "load", "--name", one.path,
                           "train:2,mem=8GiB", "idle:2,mem=1GiB"],
                          env=clean_env()) as load:
        wait_until(lambda: one.show(2)["gpus"][0]["processes"] == 2)
        assert one.show(2)["gpus"][0]["memory_used"] == 9 << 30
        load.send_signal(signal.SIGINT)
        assert load.wait(timeout=30) == 0
    assert one.show(2)["gpus"][0]["processes"] == 0


def test_load_that_does_not_fit_starts_nothing(gpukit, machine):
    one = machine("--load", "idle:1,mem=70GiB")
    done = gpukit("fake", "load", "--name", one.path, "train:0-1,mem=20GiB")
    one_line(done, 1, "GPU 1", "9.4 GiB free", "20.0 GiB")
    assert one.show(0)["gpus"][0]["processes"] == 0


# ---- ctl ----

def test_set_is_seen_at_once_and_clear_takes_it_back(machine):
    one = machine()
    assert one.python("print(temperature(3) == 95)") == "False"
    assert one.ctl("set", 3, "temperature=95", "power=250W",
                   "extra-memory=4GiB").returncode == 0
    values = one.show(3)["gpus"][0]
    assert values["values"]["temperature"] == {"value": 95, "unit": "C",
                                               "set": True}
    assert values["values"]["power"]["value"] == 250000
    assert values["memory_used"] == 4 << 30
    assert one.python("print(temperature(3), temperature(2) == 95)") == \
        "95 False"
    assert "* temperature            95 C" in one.ctl("show", 3).stdout
    assert one.ctl("clear", 3, "temperature").returncode == 0
    values = one.show(3)["gpus"][0]["values"]
    assert not values["temperature"]["set"] and values["power"]["set"]
    wait_until(lambda: one.python("print(temperature(3) < 95)") == "True")
    assert one.ctl("clear", 3).returncode == 0
    assert not any(v["set"] for v in one.show(3)["gpus"][0]["values"].values())


@pytest.mark.parametrize("text, value", [
    ("power=250", 250), ("power=250mW", 250), ("power=0.25kW", 250000),
    ("power=250.5w", 250500), ("utilization=7%", 7), ("sm-clock=1.2GHz", 1200),
    ("pcie-tx=2GB/s", 2000000), ("clocks-event-reasons=0x14", 20),
    ("energy=5J", 5000), ("bar1-used=512MiB", 512 << 20), ("pstate=8", 8)])
def test_units(machine, text, value):
    one = machine()
    assert one.ctl("set", "0", text).returncode == 0
    shown = one.show(0)["gpus"][0]["values"][text.split("=")[0]]
    assert (shown["value"], shown["set"]) == (value, True)


def test_fail_breaks_a_gpu_for_a_running_process(machine):
    one = machine("--gpus", "t4:3")
    program = ("import sys\n"
               "d = device(1)\n"
               "t = ctypes.c_uint()\n"
               "for line in sys.stdin:\n"
               "    print(nvml.nvmlDeviceGetTemperature(d, 0,"
               " ctypes.byref(t)), temperature(0) > 0, flush=True)\n")
    with subprocess.Popen([sys.executable, "-c", NVML + program], text=True,
                          stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=clean_env(**one.env)) as reader:
        def ask():
            reader.stdin.write("\n")
            reader.stdin.flush()
            return reader.stdout.readline()

        assert ask() == "0 True\n"
        assert one.ctl("fail", 1, "lost").returncode == 0
        assert ask() == "15 True\n"  # NVML_ERROR_GPU_IS_LOST
        assert [gpu["lost"] for gpu in one.show()["gpus"]] == [False, True,
                                                               False]
        assert one.ctl("clear", "0-1", "lost").returncode == 0
        assert ask() == "0 True\n"
        reader.stdin.close()


def test_lists_of_gpus(machine):
    one = machine()
    assert one.ctl("set", "0,2-3+7", "fan=0").returncode == 1  # passive
    assert one.ctl("set", "0,2-3+7", "temperature=77").returncode == 0
    assert [gpu["index"] for gpu in one.show()["gpus"]
            if gpu["values"]["temperature"]["set"]] == [0, 2, 3, 7]
    assert [gpu["index"] for gpu in one.show("5-6")["gpus"]] == [5, 6]


def test_coverage_counts_calls_and_refusals(machine):
    one = machine()
    assert one.ctl("coverage").stdout == "no calls\n"
    one.python("device(0); device(1)\n"
               "for i in range(3): temperature(0)\n"
               "assert nvml.nvmlDeviceClearCpuAffinity(device(0)) == 3\n")
    rows = [line.split() for line in
            one.ctl("coverage").stdout.splitlines()[1:]]
    assert rows[0][1:] == ["1", "nvmlDeviceClearCpuAffinity"]
    assert ["3", "0", "nvmlDeviceGetTemperature"] in rows
    assert ["6", "0", "nvmlDeviceGetHandleByIndex_v2"] in rows


def test_a_function_can_be_made_slow(machine):
    one = machine()
    code = ("d = device(0); t = ctypes.c_uint(); s = time.monotonic()\n"
            "nvml.nvmlDeviceGetTemperature(d, 0, ctypes.byref(t))\n"
            "print(time.monotonic() - s)")
    key = "latency.nvmlDeviceGetTemperature"
    assert float(one.python(code)) < 0.05
    assert one.ctl("set", f"{key}=60ms").returncode == 0
    assert f"* {key} 60 ms" in one.ctl("show").stdout
    assert 0.06 <= float(one.python(code)) < 0.5
    assert one.ctl("set", f"{key}=0").returncode == 0
    assert float(one.python(code)) < 0.05


def test_the_latency_model_can_be_switched(gpukit, machine):
    one = machine("--latency", "real")
    assert one.show()["latency"] == "real"
    assert one.ctl("set", "latency=none").returncode == 0
    assert one.show()["latency"] == "none"
    assert one.ctl("set", "0", "latency=real").returncode == 0
    assert one.show()["latency"] == "real"


def test_reset_takes_everything_back(machine):
    one = machine()
    one.python("temperature(0)")
    assert one.ctl("set", "all", "temperature=99",
                   "latency.nvmlInit_v2=1ms").returncode == 0
    assert one.ctl("fail", "all", "lost").returncode == 0
    assert one.ctl("reset").returncode == 0
    shown = one.show()
    assert shown["added_latency_ns"] == {}
    for gpu in shown["gpus"]:
        assert not gpu["lost"]
        assert not any(value["set"] for value in gpu["values"].values())
    assert one.ctl("coverage").stdout == "no calls\n"


@pytest.mark.parametrize("args, code, parts", [
    (["dance"], 2, ["'dance' is no verb", "coverage"]),
    (["set", "0"], 2, ["usage: gpukit fake ctl set"]),
    (["set", "8", "fan=1"], 2, ["no GPU 8"]),
    (["set", "-", "fan=1"], 2, ["'-' is no GPU"]),
    (["set", "0", "temprature=9"], 2, ["no value 'temprature'",
                                       "temperature"]),
    (["set", "0", "temperature=151"], 2, ["temperature=151", "0 to 150 C"]),
    (["set", "0", "temperature=hot"], 2, ["temperature=hot", "0 to 150 C"]),
    (["set", "0", "temperature=-1"], 2, ["0 to 150 C"]),
    (["set", "0", "power=5V"], 2, ["power=5V", "mW"]),
    (["set", "0", "power"], 2, ["'power' is no KEY=VALUE"]),
    (["set", "temperature=9"], 2, ["of which GPU"]),
    (["set", "latency=slow"], 2, ["latency=slow", "none, real"]),
    (["set", "latency.nvmlFoo=1ms"], 2, ["latency.nvmlFoo",
                                         "no such function"]),
    (["set", "latency.nvmlInit_v2=x"], 2, ["nvmlInit_v2=x", "50ms"]),
    (["set", "0", "fan=50"], 1, ["GPU 0", "has no fan"]),
    (["fail", "0", "bored"], 2, ["'bored'", "lost"]),
    (["fail", "0"], 2, ["usage: gpukit fake ctl fail GPU lost"]),
    (["clear", "0", "nothing"], 2, ["no value 'nothing'"]),
    (["show", "9"], 2, ["no GPU 9"]),
    (["show", "1", "2"], 2, ["usage: gpukit fake ctl show [GPU]"]),
])
def test_wrong_ctl_is_told_in_one_line(machine, args, code, parts):
    one_line(machine().ctl(*args), code, *parts)


def test_nothing_is_set_when_one_of_many_is_wrong(machine):
    one = machine()
    assert one.ctl("set", 0, "temperature=50", "power=x").returncode == 2
    assert not one.show(0)["gpus"][0]["values"]["temperature"]["set"]


# ---- which machine ----

def test_ctl_finds_the_only_machine(private_shm):
    done = private_shm("""
        $G fake ctl show 2>&1 && exit 9
        $G fake ctl ls
        $G fake --name only -- sh -c 'unset GPUKIT_MACHINE
            $G fake ctl show 0 | head -1
            $G fake ctl ls
            $G fake --name other -- sh -c "unset GPUKIT_MACHINE
                \\$G fake ctl show 2>&1; \\$G fake ctl show 0 --name only" |
                sed -n 1,2p'
        ls /dev/shm/gpukit-*""")
    lines = done.stdout.splitlines()
    assert lines[0] == ("gpukit fake: no made-up machine is there; `gpukit "
                        "fake -- CMD` makes one"), done
    assert lines[1] == "no machines"
    assert lines[2].startswith("machine /dev/shm/gpukit-0/only, driver ")
    assert lines[4].split()[:3] == ["only", "8", "0"]
    assert lines[4].endswith("running")
    assert lines[5].startswith("gpukit fake: which machine? There are only, "
                               "other; say --name")
    assert lines[6].startswith("machine /dev/shm/gpukit-0/only, ")
    assert len(lines) == 7


def test_ctl_never_makes_a_machine(private_shm):
    done = private_shm("$G fake ctl show --name default; ls /dev/shm")
    assert done.stdout == ""
    assert "no machine at /dev/shm/gpukit-0/default" in done.stderr


def test_a_name_that_is_taken(gpukit, machine):
    one = machine()
    done = gpukit("fake", "--name", one.path, "--", "true")
    one_line(done, 1, f"machine {one.path} is there already", "--name")
    assert one.show()["gpus"]


def test_many_launchers_at_once(gpukit):
    def launch(i):
        return gpukit("fake", "--gpus", f"t4:{i + 1}", "--load",
                      "train:all,mem=1GiB", "--", GPUKIT, "fake", "ctl",
                      "show", "--json")

    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for i, done in enumerate(pool.map(launch, range(8))):
            assert done.returncode == 0, done.stderr
            assert done.stdout.count('"uuid"') == i + 1
            assert done.stdout.count('"processes": 1') == i + 1


# ---- orphans ----

def test_the_next_launcher_removes_an_orphan(private_shm):
    done = private_shm("""
        $G fake --name x -- sh -c 'kill -9 $PPID' || :
        $G fake ctl ls | tail -1
        $G fake --name y -- ls /dev/shm/gpukit-0""")
    lines = done.stdout.splitlines()
    assert lines[0].split()[0] == "x" and lines[0].endswith("orphan"), done
    assert lines[1:] == ["y"]


def test_an_orphan_that_is_in_use_stays(private_shm):
    done = private_shm("""
        $G fake --name x -- sh -c '$G fake load --name x idle:0 &
            until $G fake ctl show 0 | grep -q "1 process"; do :; done
            echo $! > /dev/shm/pid
            kill -9 $PPID' || :
        $G fake ctl ls | tail -1
        $G fake -- ls /dev/shm/gpukit-0
        kill -INT $(cat /dev/shm/pid)
        while kill -0 $(cat /dev/shm/pid) 2>/dev/null; do :; done
        echo --
        $G fake --name y -- ls /dev/shm/gpukit-0""")
    before, after = done.stdout.split("--\n")
    lines = before.splitlines()
    assert lines[0].split()[:3] == ["x", "8", "1"], done
    assert lines[0].endswith("launcher dead")
    assert "x" in lines[1:]
    assert after == "y\n"


def test_a_machine_of_a_foreign_pid_namespace_stays(private_shm):
    done = private_shm("""
        unshare --pid --fork --mount-proc sh -c '
            $G fake --name x -- sh -c "kill -9 \\$PPID"; :'
        $G fake ctl ls | tail -1
        $G fake --name y -- ls /dev/shm/gpukit-0""")
    lines = done.stdout.splitlines()
    assert lines[0].endswith("launcher in another pid namespace"), done
    assert lines[1:] == ["x", "y"]


def test_equal_pids_in_two_namespaces_do_not_collide(private_shm):
    done = private_shm("""
        for i in 1 2; do
            unshare --pid --fork --mount-proc sh -c '
                $G fake -- sh -c "kill -9 \\$PPID"; :'
        done
        ls /dev/shm/gpukit-0""")
    first, second = done.stdout.split()
    assert second == first + "-1", done


@pytest.mark.parametrize("setting", ["LD_LIBRARY_PATH=$lib",
                                     "LD_PRELOAD=$lib/libnvidia-ml.so.1"])
def test_the_default_machine_needs_no_launcher(private_shm, setting):
    done = private_shm(f"""
        lib=$(dirname $(dirname $G))/lib/gpukit/fake
        {setting} {sys.executable} -c "
import ctypes
n = ctypes.CDLL('libnvidia-ml.so.1')
assert n.nvmlInit_v2() == 0
c = ctypes.c_uint()
assert n.nvmlDeviceGetCount_v2(ctypes.byref(c)) == 0
print(c.value)"
        $G fake --name y -- ls /dev/shm/gpukit-0
        $G fake ctl show --json --name default | grep -c uuid""")
    assert done.stdout.splitlines() == ["8", "default", "y", "8"], done


# ---- machine files that are none ----

def test_a_full_shm(private_shm):
    done = private_shm("$G fake -- true; ls /dev/shm/gpukit-0", size="64k")
    assert done.returncode == 1
    assert "no space left for a machine" in done.stderr
    assert done.stderr.count("\n") == 1
    done = private_shm("$G fake --name /dev/shm/m -- true || :; "
                       "ls -A /dev/shm", size="64k")
    assert done.stdout == ""


def header(version, size):
    return struct.pack("<QII", MAGIC, version, size) + bytes(4096)


@pytest.mark.parametrize("content, part", [
    (b"", "is no machine file"),
    (b"garbage" * 1000, "is no machine file"),
    (header(99, 4096), "another version"),
    (header(1, 12345), "another version"),
])
@pytest.mark.parametrize("verb", ["ctl", "load"])
def test_a_file_that_is_no_machine(gpukit, tmp_path, verb, content, part):
    path = tmp_path / "m"
    path.write_bytes(content)
    done = gpukit("fake", verb, "--name", path,
                  "show" if verb == "ctl" else "idle:0")
    one_line(done, 1, str(path), part)
    assert path.read_bytes() == content


def test_a_machine_that_is_cut_short(gpukit, machine):
    one = machine()
    size = os.path.getsize(one.path)
    with open(one.path, "rb") as f:
        head = f.read(size // 2)
    cut = one.path + ".cut"
    with open(cut, "wb") as f:
        f.write(head)
    one_line(gpukit("fake", "ctl", "show", "--name", cut), 1,
             "is no machine file")


def test_ls_tells_what_is_no_machine(private_shm):
    done = private_shm("mkdir -m 700 /dev/shm/gpukit-0; "
                       "echo x > /dev/shm/gpukit-0/junk; $G fake ctl ls; "
                       "$G fake --name y -- ls /dev/shm/gpukit-0")
    assert "junk" in done.stdout and "damaged data" in done.stdout
    assert done.stdout.splitlines()[-2:] == ["junk", "y"]


def test_an_unreadable_machine(machine):
    """As another user, for root may read everything."""
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        os.chmod(directory, 0o755)
        path = os.path.join(directory, "m")
        with open(path, "wb") as f:
            f.write(header(1, 1))
        os.chmod(path, 0)

        def drop():
            if not os.getuid():
                os.setgroups([])
                os.setgid(65534)
                os.setuid(65534)

        done = subprocess.run([GPUKIT, "fake", "ctl", "show", "--name", path],
                              text=True, capture_output=True, check=False,
                              env=clean_env(), preexec_fn=drop, timeout=60)
        one_line(done, 1, path, "not readable and writable for you")

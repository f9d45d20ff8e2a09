# SPDX-License-Identifier: Apache-2.0
"""`gpukit top` as a command is tested here: options, environment, config file,
reports."""

import getpass
import json
import os
import pty
import re
import subprocess

import pytest

import can
from conftest import GPUKIT

PROCESS = re.compile(r"^│\s+(\d+)\s+(\d+) (\S+)\s+(\S+)\s+(\S+)", re.M)
GPU = re.compile(r"^│\s+(\d+)  \S+ +O[nf]", re.M)
LOADS = ("--load", "train:0,mem=1GiB,util=20", "--load",
         "infer:2,n=2,mem=2GiB,util=30", "--frozen")


def gpus(text):
    return [int(index) for index in GPU.findall(text)]


def pids(text):
    return [int(row[1]) for row in PROCESS.findall(text)]


@pytest.fixture
def top(gpukit, machine, tmp_path):
    """top(OPTION..., **environment) on a machine of four GPUs and three
    processes; there is no terminal."""
    made = machine("--gpus", "a100:4", *LOADS)

    def run(*options, **env):
        return gpukit("top", *options, env={
            **made.env, "XDG_CONFIG_HOME": str(tmp_path), "LC_ALL": "C.UTF-8",
            "COLUMNS": "100", **env})

    run.machine = made
    return run


def configure(tmp_path, text):
    (tmp_path / "gpukit").mkdir(exist_ok=True)
    (tmp_path / "gpukit" / "top.yaml").write_text(text)


def test_once_is_the_report_in_boxes(gpukit, top):
    def steady(text):
        """The text without what changes with time."""
        return re.sub(r"[\d.:]+|[▏▎▍▌▋▊▉█ ]+", "", text)

    done = top("-1")
    assert done.returncode == 0 and done.stderr == ""
    assert steady(done.stdout) == steady(gpukit.ok(
        "stat", "--boxed", env={**top.machine.env, "LC_ALL": "C.UTF-8",
                                "COLUMNS": "100"}))
    for options in ((), ("--once",)):
        again = top(*options)
        assert again.returncode == 0
        assert gpus(again.stdout) == [0, 1, 2, 3]
        assert len(pids(again.stdout)) == 3


def test_monitor_wants_a_terminal(top):
    for options in (("-m",), ("--monitor=full",), ("-m", "compact")):
        done = top(*options)
        assert done.returncode == 1
        assert gpus(done.stdout) == [0, 1, 2, 3]
        assert "terminal" in done.stderr and done.stderr.count("\n") == 1


def test_a_terminal_that_nobody_knows(top):
    """The report is printed instead of the viewer, and stderr says why."""
    ours, theirs = pty.openpty()
    try:
        done = subprocess.run(
            [GPUKIT, "top"], stdin=theirs, stdout=theirs, stderr=subprocess.PIPE,
            text=True, check=False, timeout=60,
            env={**os.environ, **top.machine.env, "TERM": "nobodys-terminal"})
    finally:
        os.close(theirs)
        os.close(ours)
    assert done.returncode == 0
    assert "'nobodys-terminal'" in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("options, wanted", [
    (("-o", "0", "2"), [0, 2]), (("--only", "3"), [3]), (("-o", "1,2"), [1, 2]),
    (("-o", "2", "-ov"), [2]), (("-ov",), [1, 3]), (("--only-visible",), [1, 3]),
])
def test_gpus(top, options, wanted):
    done = top(*options, CUDA_VISIBLE_DEVICES="3,1")
    assert done.returncode == 0, done.stderr
    assert gpus(done.stdout) == wanted


def test_a_gpu_that_is_not_there(top):
    done = top("-o", "0", "9")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("gpukit top: no GPU 9")


def test_processes(top):
    everything = pids(top("-1").stdout)
    first, *others = everything
    user = getpass.getuser()
    for options, wanted in (
            (("-p", first), [first]), (("--pid", *others), others),
            (("-u",), everything), (("-u", "nobody", user), everything),
            (("-u", "nobody"), []), (("-c",), everything),
            (("-C",), everything), (("-g",), []), (("-G",), []),
            (("-o", "2", "-p", *everything), others)):
        done = top(*options)
        assert done.returncode == 0, (options, done.stderr)
        assert pids(done.stdout) == wanted, options


@pytest.mark.parametrize("options, says", [
    (("-1", "-m"), "exclude"), (("--interval", "0.001"), "--interval"),
    (("--interval", "x"), "--interval"), (("-o", "x"), "--only"),
    (("-p", "0"), "--pid"), (("-p", "x"), "--pid"),
    (("x",), "unexpected argument 'x'"),
    (("--gpu-util-thresh", "10"), "two percentages"),
    (("--gpu-util-thresh", "10", "100"), "two percentages"),
    (("--mem-util-thresh", "0", "10"), "two percentages"),
    (("--mem-util-thresh", "5"), "such as 10 80"),
    (("-m", "high"), "--monitor must be auto, full or compact, not 'high'"),
    (("--theme", "pink"), "--theme must be auto, dark, light, mono or "),
    (("--keys", "emacs"), "--keys must be standard or vi, not"),
    (("--nonsense",), "nonsense"),
])
def test_wrong_usage(top, options, says):
    done = top(*options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert says in done.stderr


def test_help_and_version(top):
    for options in (("-h",), ("--help",)):
        done = top(*options)
        assert done.returncode == 0
        for option in ("-1", "-m", "-U", "-o", "-u", "-p", "-c", "-C", "-g",
                       "-G", "--interval", "--readonly", "--colorful",
                       "--force-color", "--light", "--gpu-util-thresh",
                       "--mem-util-thresh", "--only-visible"):
            assert option in done.stdout
    for options in (("-V",), ("--version",)):
        done = top(*options)
        assert done.returncode == 0
        assert re.fullmatch(r"gpukit [\d.]+( \(\w+\))?\n", done.stdout)


def test_timings(top, tmp_path):
    done = top("-1", "--timings")
    assert done.returncode == 0 and pids(done.stdout)
    assert "nvmlDeviceGetUtilizationRates" in done.stderr
    done = top("-1", "--timings", "--timings-sort", "cumulative")
    assert "nvmlDeviceGetUtilizationRates" in done.stderr
    file = tmp_path / "trace.json"
    assert top("-1", f"--timings={file}").stderr == ""
    names = {event["name"] for event in
             json.loads(file.read_text())["traceEvents"]}
    assert "nvmlDeviceGetUtilizationRates" in names
    done = top("-1", "--timings-sort", "size")
    assert done.returncode == 2 and "--timings-sort must be" in done.stderr


def test_looks(top):
    assert top("-1").stdout.isascii() is False
    assert top("-1", "-U").stdout.isascii()
    assert top("-1", "--no-unicode").stdout.isascii()
    assert top("-1", LC_ALL="C").stdout.isascii()
    assert "\x1b[" not in top("-1").stdout
    assert "\x1b[" in top("-1", "--force-color").stdout
    assert "\x1b[" in top("-1", "--force-color", NO_COLOR="1").stdout


def gpu_color(text):
    """The number of the ANSI colour of GPU 0's index."""
    return re.search(r"\x1b\[([\d;]+)m\s+0  A100", text).group(1)


def test_thresholds(top):
    """GPU 0 is busy for some 20 % and holds 1 %."""
    light, moderate, heavy = (
        gpu_color(top("-1", "--force-color", "--gpu-util-thresh", low, high)
                  .stdout)
        for low, high in ((60, 90), (5, 90), (1, 5)))
    assert len({light, moderate, heavy}) == 3
    for name in ("GPUKIT_GPU_UTILIZATION_THRESHOLDS",
                 "NVITOP_GPU_UTILIZATION_THRESHOLDS"):
        done = top("-1", "--force-color", **{name: "1,5"})
        assert gpu_color(done.stdout) == heavy
    both = top("-1", "--force-color", GPUKIT_GPU_UTILIZATION_THRESHOLDS="5,90",
               NVITOP_GPU_UTILIZATION_THRESHOLDS="1,5")
    assert gpu_color(both.stdout) == moderate
    option = top("-1", "--force-color", "--gpu-util-thresh", "60", "90",
                 GPUKIT_GPU_UTILIZATION_THRESHOLDS="1,5")
    assert gpu_color(option.stdout) == light


def test_later_sources_win(top, tmp_path):
    configure(tmp_path, "gpu-util-thresh: [1, 5]\n")
    heavy = gpu_color(top("-1", "--force-color").stdout)
    moderate = gpu_color(top(
        "-1", "--force-color",
        GPUKIT_GPU_UTILIZATION_THRESHOLDS="5,90").stdout)
    light = gpu_color(top(
        "-1", "--force-color", "--gpu-util-thresh", "60", "90",
        GPUKIT_GPU_UTILIZATION_THRESHOLDS="5,90").stdout)
    assert len({light, moderate, heavy}) == 3


@pytest.mark.parametrize("name, value", [
    ("MONITOR_MODE", "high"), ("MONITOR_ALWAYS", "maybe"),
    ("MONITOR_THEME", "pink"), ("GPU_UTILIZATION_THRESHOLDS", "1"),
    ("MEMORY_UTILIZATION_THRESHOLDS", "90,200")])
def test_wrong_variables(top, name, value):
    """Our own variables are checked; other programs' variables are not."""
    done = top("-1", **{f"GPUKIT_{name}": value})
    assert done.returncode == 2
    assert f"GPUKIT_{name} must be" in done.stderr
    assert top("-1", **{f"NVITOP_{name}": value}).returncode == 0


def test_a_wrong_config_file(top, tmp_path):
    configure(tmp_path, "mode: full\nalerts:\n  temprature: 80\n")
    done = top("-1")
    assert done.returncode == 1
    assert done.stdout == ""
    path = tmp_path / "gpukit" / "top.yaml"
    assert done.stderr == (f"gpukit top: {path}:3: alerts.temprature: no such "
                           "key; is it alerts.temperature?\n")
    assert top("--help").returncode == 0


@pytest.mark.parametrize("what, cure", [
    ("file", "chmod go-w"), ("directory", "chmod go-w"),
    ("foreign", "chown 0 ")])
def test_a_config_file_of_others_names_no_program(top, tmp_path, what, cure):
    """Its other settings are used; a line gives the reason and the remedy."""
    configure(tmp_path, "alerts: {command: ['true']}\n"
              "gpu-util-thresh: [1, 5]\n")
    directory = tmp_path / "gpukit"
    directory.chmod(0o700)
    path = directory / "top.yaml"
    path.chmod(0o600)
    ours = top("-1", "--force-color")
    assert (ours.returncode, ours.stderr) == (0, "")
    if what == "foreign":
        can.need("other-users")
        os.chown(path, 12345, 12345)
    else:
        (path if what == "file" else directory).chmod(0o777)
    told = top("-1", "--force-color")
    assert told.returncode == 0
    assert told.stderr.startswith("gpukit top: alerts.command is not run: ")
    assert told.stderr.count("\n") == 1
    assert cure in told.stderr and str(directory) in told.stderr
    assert gpu_color(told.stdout) == gpu_color(ours.stdout) == "31"
    path.write_text("gpu-util-thresh: [1, 5]\n")
    assert top("-1").stderr == ""  # none of its settings needs trust


def test_the_home_directory_s_config_file(top, tmp_path):
    os.makedirs(tmp_path / "home" / ".config" / "gpukit")
    (tmp_path / "home" / ".config" / "gpukit" / "top.yaml").write_text("x: 1\n")
    done = top("-1", HOME=str(tmp_path / "home"), XDG_CONFIG_HOME="")
    assert done.returncode == 1 and ":1: x: no such key" in done.stderr
    relative = top("-1", HOME=str(tmp_path / "home"),
                   XDG_CONFIG_HOME="relative")
    assert relative.returncode == 1


def test_nobody_reads(top, gpukit):
    """A reader that closes the pipe is not an error."""
    done = gpukit("fake", "--", "sh", "-c",
                  f"{gpukit.path} top -1 | true; {gpukit.path} top -1 "
                  "| head -n 1 | wc -l")
    assert done.returncode == 0 and done.stderr == ""


def test_no_driver(gpukit):
    done = gpukit("top", "-1")
    if done.returncode == 0:
        pytest.skip("there is a driver")
    assert done.returncode == 1
    assert "no NVIDIA driver" in done.stderr

# SPDX-License-Identifier: Apache-2.0
"""`gpukit plot` draws recordings with the real gnuplot."""

import html
import json
import os
import re
import stat
import subprocess

import pytest

from conftest import GPUKIT, clean_env

HEADER = "timestamp,gpu_index,pid,cmd,gpu_mem_mib,sm_util_pct,mem_util_pct\n"
SYSTEM = "timestamp,used_mib,sys_used_mib,cpu_cores,cpu_pct\n"
DEVICES = "timestamp,gpu_index,power_watts,temperature_celsius\n"


def rows(gpus=2, seconds=60, command="train"):
    return "".join(f"2026-11-21T09:00:{s:02d},{g},{100 + g},{command},"
                   f"{1000 + 10 * s + g},{s},5\n"
                   for s in range(seconds) for g in range(gpus))


@pytest.fixture(name="recording")
def fixture_recording(tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(HEADER + rows())
    return path


@pytest.mark.parametrize("suffix, magic", [
    ("png", b"\x89PNG\r\n\x1a\n"), ("svg", b"<?xml"), ("pdf", b"%PDF-"),
    ("PNG", b"\x89PNG\r\n\x1a\n")])
def test_formats(gpukit, recording, tmp_path, suffix, magic):
    picture = tmp_path / f"out.{suffix}"
    assert gpukit.ok("plot", recording, "--output", picture) == ""
    assert picture.read_bytes().startswith(magic)
    assert stat.S_IMODE(picture.stat().st_mode) == 0o666 & ~umask()


def umask():
    old = os.umask(0)
    os.umask(old)
    return old


def svg(gpukit, tmp_path, *args):
    picture = tmp_path / "out.svg"
    gpukit.ok("plot", *args, "-o", picture)
    return picture.read_text(encoding="utf-8")


def texts(picture):
    """The drawn words, without those of gnuplot's own script."""
    return "\n".join(html.unescape(t).strip() for t in
                     re.findall(r"<text[^>]*>(.*?)</text>", picture, re.S))


def test_the_usual_panels(gpukit, recording, tmp_path):
    text = texts(svg(gpukit, tmp_path, recording))
    assert "busy %" in text and "memory GiB" in text
    assert "power" not in text and "temperature" not in text
    text = texts(svg(gpukit, tmp_path, recording, "--cpu", "--util",
                     "--power", "--temperature"))
    assert "not recorded: CPU, power, temperature" in text
    assert "busy %" in text


def test_without_options_a_picture_is_made_here(gpukit, recording, tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    assert gpukit.ok("plot", recording, cwd=here) == "log.png\n"
    assert (here / "log.png").read_bytes().startswith(b"\x89PNG")


def test_lines(gpukit, recording, tmp_path):
    text = texts(svg(gpukit, tmp_path, recording))
    assert "GPU 0  59" in text and "GPU 1  59" in text
    text = texts(svg(gpukit, tmp_path, recording, "--gpu", "1"))
    assert "GPU 1" not in text and "mean" in text and "1 GPU" in text
    text = texts(svg(gpukit, tmp_path, recording, "--per-pid"))
    assert "59  100" in text and "1.6  101" in text
    text = texts(svg(gpukit, tmp_path, recording, "--pid", "101"))
    assert "GPU 0" not in text and "1 GPU" in text


def test_columns_by_name(gpukit, recording, tmp_path):
    text = texts(svg(gpukit, tmp_path, recording, "-c",
                     "memory,mem_util_pct", "--column", "sm_util_pct"))
    assert re.findall("memory GiB|mem_util_pct %|busy %", text) == \
        ["memory GiB", "mem_util_pct %", "busy %"]
    done = gpukit("plot", recording, "-c", "nonsense", "-o",
                  tmp_path / "a.png")
    assert done.returncode == 1 and "none of these columns" in done.stderr


@pytest.mark.parametrize("options, first, last", [
    (("--from", "09:00:30"), "09:00:30", "09:00:59"),
    (("--to", "20s"), "09:00:00", "09:00:20"),
    (("--from", "-10s", "--to", "2026-11-21T09:00:55"), "09:00:49",
     "09:00:55")])
def test_a_stretch_of_time(gpukit, recording, tmp_path, options, first, last):
    text = texts(svg(gpukit, tmp_path, recording, *options))
    assert f"{first} to {last}" in text


def test_a_stretch_without_rows(gpukit, recording, tmp_path):
    done = gpukit("plot", recording, "-o", tmp_path / "a.png", "--from", "2h")
    assert done.returncode == 1
    assert "no row matches the chosen times" in done.stderr
    with open(recording, encoding="ascii") as f:
        done = subprocess.run([GPUKIT, "plot", "-", "--from", "-1m", "--term"],
                              stdin=f, capture_output=True, text=True,
                              check=False, env=clean_env())
    assert done.returncode == 1 and "need a regular file" in done.stderr


def test_two_runs_over_each_other(gpukit, recording, tmp_path):
    other = tmp_path / "other.csv"
    other.write_text(HEADER + rows(2, 30).replace("T09:", "T17:"))
    text = texts(svg(gpukit, tmp_path, "--compare", recording, other))
    assert "0:00:00 to 0:00:59" in text
    assert "A  59" in text and "B  29" in text
    assert f"A  {recording}" in text and f"B  {other}" in text


def test_pages(gpukit, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(HEADER + rows(40, 3))
    assert "GPUs: 16 of 40" in texts(svg(gpukit, tmp_path, path))
    gpukit.ok("plot", path, "--all", "-o", tmp_path / "p.svg")
    pages = [texts((tmp_path / f"p-{i}.svg").read_text(encoding="utf-8"))
             for i in (1, 2, 3)]
    found = [int(g) for page in pages
             for g in re.findall(r"^GPU (\d+)$", page, re.M)]
    assert found == list(range(40))


def test_values_under_the_pointer(gpukit, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(HEADER + rows(1, 60).replace(
        ",0,100", ",\"0');alert('x\",100"))
    picture = svg(gpukit, tmp_path, path)
    shown = re.findall(r"showHypertext\(evt,'([^']*)'\)", picture)
    assert len(shown) > 200 and "alert('x" not in "".join(shown)
    assert any(re.fullmatch(r"09:00:2\d  GPU 0.*alert.* 2\d %", s)
               for s in shown)
    # A mark reacts from its left edge to that of the next one: there its time
    # is the axis' time; the axis is a minute wide from pixel 76 on.
    marks = re.findall(r"showHypertext\(evt,'09:00:(\d\d).*?translate\("
                       r"([\d.]+),.*?scale\(([\d.]+)\)", picture, re.S)
    for second, x, half in marks[:100]:
        pixels = float(x) - 1.148 * float(half) - 76
        assert abs(pixels / (1026 - 76) * 59 - int(second)) < 1.5
    # The picture is self-contained: nothing is fetched.
    links = re.findall(r"(?:href|src)\s*=\s*['\"]([^'\"]*)", picture)
    assert all(link.startswith(("#", "data:")) for link in links), links


def test_kinds_together(gpukit, recording, tmp_path):
    system, devices = tmp_path / "s.csv", tmp_path / "d.csv"
    system.write_text(SYSTEM + "2026-11-21T09:00:10,5,20000,1/2,7.5\n"
                               "2026-11-21T09:00:20,,20100,1,8\n")
    devices.write_text(DEVICES + "2026-11-21T09:00:10,3,300.5,60\n")
    text = texts(svg(gpukit, tmp_path, recording, system, devices))
    for words in ("host memory GiB", "CPU % of a core", "power W",
                  "temperature °C", "GPU 3"):
        assert words in text, words


def test_json_rows(gpukit, tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(
        {"timestamp": f"2026-11-21T09:00:{s:02d}", "gpu_index": 0, "pid": 7,
         "cmd": 'a "quoted" é\n', "gpu_mem_mib": 2048,
         "sm_util_pct": None if s % 2 else s}) + "\n" for s in range(20))
        + "broken\n")
    done = gpukit("plot", path, "--summary", "--json")
    assert "1 broken row skipped" in done.stderr
    process, = json.loads(done.stdout)["recordings"][0]["processes"]
    assert process["command"] == 'a "quoted" é\n' and process["pid"] == 7
    assert process["busy_percent"] == {"mean": 10, "max": 18}
    assert process["memory_mib"]["mean"] == 2048


def test_names_are_never_commands(gpukit, tmp_path):
    evil = tmp_path / "it's '; system('touch pwned') $HOME `id`\n.csv"
    evil.write_text(HEADER + rows(1, 5, '"a\'b; system(\'touch pwned\')'
                                        '\n`touch pwned` $HOME ""x"""'))
    text = texts(svg(gpukit, tmp_path, evil, "--per-pid"))
    assert "`id`" in text and "$HOME" in text
    assert not list(tmp_path.glob("pwned")) and not os.path.exists("pwned")
    name = tmp_path / "o'; $(touch pwned)\n.png"
    gpukit.ok("plot", evil, "-o", name, "--title", "a\nb'c\\")
    assert name.read_bytes().startswith(b"\x89PNG")


def test_broken_rows_are_counted(gpukit, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(HEADER + rows(1, 10) + "garbage\n2026-11-21T09:00:30,0\n"
                    + 'a"b,c\n' + rows(1, 20) + HEADER + rows(1, 5)
                    + "2026-11-21T09:00:59,0,1,cut")
    done = gpukit("plot", path, "-o", tmp_path / "out.png")
    assert done.returncode == 0
    assert done.stderr == (f"gpukit plot: '{path}': 4 broken rows skipped\n")


def test_one_broken_row_is_one(gpukit, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text("\ufeff" + HEADER + rows(1, 2) + "x\n", encoding="utf-8")
    done = gpukit("plot", path, "-o", tmp_path / "out.png")
    assert done.returncode == 0
    assert done.stderr == f"gpukit plot: '{path}': 1 broken row skipped\n"


def test_values_below_zero(gpukit, tmp_path):
    path = tmp_path / "log.csv"
    path.write_text(DEVICES + "2026-11-21T09:00:00,0,5,-20\n"
                              "2026-11-21T09:00:10,0,9,-20\n")
    text = texts(svg(gpukit, tmp_path, path, "--temperature", "--power"))
    assert re.search(r"^-20$", text, re.M)
    assert not re.search(r"^-[1-4]$", text, re.M)


@pytest.mark.parametrize("gpus", [2, 5])
def test_a_gpu_that_was_always_lost_is_told(gpukit, tmp_path, gpus):
    path = tmp_path / "log.csv"
    path.write_text("timestamp,gpu_index,health,power_watts\n" + "".join(
        f"2026-11-21T09:00:{s:02d},{g},{'ok' if g else 'lost'},"
        f"{100 + s if g else ''}\n" for s in range(9) for g in range(gpus)))
    text = texts(svg(gpukit, tmp_path, path))
    between = "\n" if gpus > 3 else ": "
    assert f"GPU 0{between}lost all the time" in text
    assert "108" in text
    shown = in_terminal(path, COLUMNS="80")
    assert re.search(r"^GPU 0 +lost all the time$", shown, re.M)


def test_on_a_dark_ground(gpukit, recording, tmp_path):
    grounds = [re.search(r"<(?:rect|polygon|path)[^>]*fill *= *['\"]"
                         r"(#14171c|rgb\( *20, *23, *28\))",
                         svg(gpukit, tmp_path, recording, *options))
               for options in ((), ("--dark",))]
    assert not grounds[0] and grounds[1]


@pytest.mark.parametrize("content, words", [
    ("", "is not a recording"), ("a,b\n1,2\n", "is not a recording"),
    (HEADER, "no rows"), (HEADER + "x\n", "no rows"),
    ("\x00" * 100, "is not a recording")])
def test_nothing_to_draw(gpukit, tmp_path, content, words):
    path, picture = tmp_path / "log.csv", tmp_path / "out.png"
    path.write_text(content)
    picture.write_text("precious")
    done = gpukit("plot", path, "-o", picture)
    assert done.returncode == 1 and words in done.stderr
    assert done.stdout == "" and picture.read_text() == "precious"


@pytest.mark.parametrize("args", [
    (), ("-o", "x.gif", "f"), ("-o", ".png", "f"), ("--json", "f"),
    ("--from", "noon", "f"), ("--gpu", ",", "f"), ("--compare", "f"),
    ("--compare", "a", "b", "c", "d"), ("-c", "a,b,c,d,e,f,g,h,i", "f"),
    ("-o", "a.png", "--term", "f"), ("--size", "1x1", "-o", "a.png", "f"),
    ("--size", "axb", "-o", "a.png", "f"), ("--nonsense", "f")])
def test_usage(gpukit, args):
    done = gpukit("plot", *args)
    assert done.returncode == 2 and done.stderr and not done.stdout


def test_what_cannot_be_opened_or_written(gpukit, recording, tmp_path):
    done = gpukit("plot", tmp_path / "none.csv", "-o", tmp_path / "a.png")
    assert done.returncode == 1 and "not found" in done.stderr
    done = gpukit("plot", recording, "-o", tmp_path / "no" / "a.png")
    assert done.returncode == 1 and "cannot write" in done.stderr
    done = gpukit("plot", tmp_path, "-o", tmp_path / "a.png")
    assert done.returncode == 1 and "cannot read" in done.stderr
    done = gpukit("plot", recording, "--show")
    assert done.returncode == 1 and "display" in done.stderr


def test_a_gnuplot_without_windows(gpukit, recording):
    """There is no such display, whatever windows gnuplot supports."""
    done = gpukit("plot", recording, "--show", env={"DISPLAY": ":987"})
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "gnuplot cannot draw" in done.stderr


def test_no_gnuplot(gpukit, recording, tmp_path):
    done = gpukit("plot", recording, "-o", tmp_path / "a.png",
                  env={"PATH": str(tmp_path)})
    assert done.returncode == 1 and "gnuplot-nox" in done.stderr
    assert done.stderr.count("\n") == 1 and not (tmp_path / "a.png").exists()


def test_a_gnuplot_that_fails(gpukit, recording, tmp_path):
    program = tmp_path / "gnuplot"
    program.write_text("#!/bin/sh\necho boom >&2\nexit 3\n")
    program.chmod(0o755)
    done = gpukit("plot", recording, "-o", tmp_path / "a.png",
                  env={"PATH": f"{tmp_path}:{os.environ['PATH']}"})
    assert done.returncode == 1 and "boom" in done.stderr
    assert not (tmp_path / "a.png").exists()


def in_terminal(*args, **env):
    return subprocess.run([GPUKIT, "plot", "--term", *args], text=True,
                          capture_output=True, check=True,
                          env=clean_env(**env)).stdout


def test_in_the_terminal(recording):
    shown = in_terminal(recording, COLUMNS="100")
    lines = shown.splitlines()
    assert "busy %" in shown and "\x1b" not in shown
    assert max(map(len, lines)) <= 100 and len(lines) < 20
    assert "GPU 1" in shown and "max 59" in shown
    # The traces rise from left to right as the values do.
    bottom = next(line for line in lines if "max 59" in line)
    cells = [c for c in bottom[:50] if "\u2800" < c <= "\u28ff"]
    assert len(cells) > 20 and cells[0] < cells[-1] == "\u28ff"


def test_owners_in_the_terminal(recording):
    shown = in_terminal(recording, "--per-pid", COLUMNS="100",
                        CLICOLOR_FORCE="1")
    assert "59 100" in shown and "1.6 101" in shown
    # All memory used by a GPU's only process has its colour.
    owner = re.search(r"\x1b\[0;38;5;(\d+)m1\.6 100", shown)[1]
    assert re.search(rf"\x1b\[0;38;5;{owner}m[\u2801-\u28ff]{{20}}", shown)


def test_a_terminal_that_cannot_be_written_to(recording):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([GPUKIT, "plot", recording, "--term"],
                              stdout=full, stderr=subprocess.PIPE, text=True,
                              env=clean_env(), check=False)
    assert done.returncode == 1 and "cannot write" in done.stderr


def test_a_pipe_with_a_name(gpukit, tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", 'cat >"$1"', "sh", pipe], text=True,
                          stdin=subprocess.PIPE) as writer:
        writer.stdin.write(HEADER + rows())
        writer.stdin.close()
        assert "GPU 1" in texts(svg(gpukit, tmp_path, pipe))
    assert writer.returncode == 0


@pytest.mark.parametrize("columns", [12, 40, 80, 120, 200])
def test_in_any_terminal_every_panel_has_room(recording, tmp_path, columns):
    path = tmp_path / "log.csv"
    path.write_text(DEVICES.strip() + ",memory_used_bytes,sm_util_pct\n" +
                    "".join(f"2026-11-21T09:00:{s:02d},{g},{100 + s},60,"
                            f"5000000000,{s}\n" for s in range(60)
                            for g in range(5)))
    shown = in_terminal(path, COLUMNS=str(columns))
    for title in ("busy %", "memory GiB", "power W", "temperature °C"):
        assert title in shown, title
    assert max(map(len, shown.splitlines())) <= max(columns, 48)
    for gpu in range(5):
        assert f"GPU {gpu}" in shown


def test_snapshots(gpukit, machine, tmp_path):
    made = machine("--gpus", "h100:2", "--load", "train:0-1,mem=9GiB")
    tape = tmp_path / "tape"
    gpukit.ok("record", "--snapshots", "--interval", "0.05", "--count", "20",
              "--output", tape, env=made.env)
    text = texts(svg(gpukit, tmp_path, tape, "--cpu", "-c",
                     "sm_clock_hertz,host_memory_bytes"))
    assert "GPU 0" in text and "GPU 1" in text and "2 × H100" in text
    assert "sm_clock_hertz MHz" in text and "host_memory_bytes MiB" in text
    assert "CPU" in text and "not recorded" not in text
    assert re.search(r"9\.0  \d+", texts(svg(gpukit, tmp_path, tape,
                                             "--per-pid")))
    whole = tape.read_bytes()
    tape.write_bytes(whole[:len(whole) - 20])
    done = gpukit("plot", tape, "-o", tmp_path / "out.png")
    assert done.returncode == 0 and "is damaged" in done.stderr
    tape.write_bytes(whole[:20])
    done = gpukit("plot", tape, "-o", tmp_path / "out.png")
    assert done.returncode == 1 and "cannot read" in done.stderr


@pytest.mark.parametrize("options", [
    (), ("--devices",), ("--system", "1"), ("--children", "--pid", "1")])
def test_what_record_writes(gpukit, machine, tmp_path, options):
    made = machine("--gpus", "h100:2", "--load", "train:0-1,mem=9GiB")
    log = tmp_path / "log.csv"
    gpukit.ok("record", *options, "--interval", "0.05", "--count", "5", "-o",
              log, env=made.env)
    picture = tmp_path / "out.png"
    done = gpukit("plot", log, "-o", picture, "--util", "--power", "--cpu")
    if len(log.read_text().splitlines()) > 1:
        assert done.returncode == 0 and not done.stderr
        assert picture.read_bytes().startswith(b"\x89PNG")
    else:
        assert done.returncode == 1 and "no rows" in done.stderr


def test_a_curve_for_each_gpu_is_the_usual(gpukit, recording, tmp_path):
    assert svg(gpukit, tmp_path, recording, "--per-gpu", "--title", "x") == \
        svg(gpukit, tmp_path, recording, "--title", "x").replace(
            "plot <", "plot --per-gpu <")


def test_a_tilde_is_ones_home(gpukit, recording, tmp_path):
    env = {"HOME": str(tmp_path)}
    (tmp_path / "sub").mkdir()
    gpukit.ok("plot", "~/log.csv", "--output=~/sub/x.svg", env=env)
    assert (tmp_path / "sub" / "x.svg").exists()
    root = gpukit("plot", "~no-such-user/log.csv", "--summary", env=env)
    assert root.returncode == 2
    assert "no such user" in root.stderr.splitlines()[0]
    assert str(recording) == str(tmp_path / "log.csv")


@pytest.mark.parametrize("stamp", ["2026/11/21 09:00", "2026-11-21 09:00",
                                   "2026/11/21T09:00"])
def test_dates_with_slashes(gpukit, tmp_path, stamp):
    path = tmp_path / "slashes.csv"
    path.write_text(HEADER + rows().replace("2026-11-21T09:00", stamp))
    plain = tmp_path / "plain.csv"
    plain.write_text(HEADER + rows())
    for more in ([], ["--from", f"{stamp}:10", "--to", f"{stamp}:20"],
                 ["--from", stamp[:10]]):
        told = [json.loads(gpukit.ok("plot", "--json", "--summary", each,
                                     *more)) for each in (path, plain)]
        for each in told:
            del each["recordings"][0]["file"]
        assert told[0] == told[1]


@pytest.mark.parametrize("stamp", ["2026/11-21 09:00", "2026-11/21 09:00",
                                   "2026:11:21 09:00", "2026/13/21 09:00"])
def test_dates_of_two_minds_are_none(gpukit, tmp_path, stamp):
    path = tmp_path / "wrong.csv"
    path.write_text(HEADER + rows(seconds=1)
                    + rows(seconds=1).replace("2026-11-21T09:00", stamp))
    done = gpukit("plot", "--summary", path)
    assert "2 broken rows skipped" in done.stderr

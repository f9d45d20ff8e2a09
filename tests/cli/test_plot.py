"""`gpukit plot`: pictures of recordings, drawn by the true gnuplot."""

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
    return re.findall(r"<text>.*?</text>", picture, re.S) and \
        re.sub(r"<[^>]*>", " ", picture)


def test_panels(gpukit, recording, tmp_path):
    text = texts(svg(gpukit, tmp_path, recording))
    assert "GPU memory" in text and "System memory" in text
    assert "no system memory" in text
    assert "Power" not in text and "GPU utilisation" not in text
    text = texts(svg(gpukit, tmp_path, recording, "--cpu", "--util",
                     "--power", "--temperature"))
    for title in ("CPU", "GPU utilisation", "Power", "Temperature",
                  "no power", "no temperature", "no CPU time"):
        assert title in text, title


def test_lines(gpukit, recording, tmp_path):
    assert "GPU 1" not in texts(svg(gpukit, tmp_path, recording))
    text = texts(svg(gpukit, tmp_path, recording, "--per-gpu"))
    assert "GPU 0" in text and "GPU 1" in text
    text = texts(svg(gpukit, tmp_path, recording, "--per-pid"))
    assert "100 train" in text and "101 train" in text


def test_kinds_together(gpukit, recording, tmp_path):
    system, devices = tmp_path / "s.csv", tmp_path / "d.csv"
    system.write_text(SYSTEM + "2026-11-21T09:00:10,5,20000,1/2,7.5\n"
                               "2026-11-21T09:00:20,,20100,1,8\n")
    devices.write_text(DEVICES + "2026-11-21T09:00:10,3,300.5,60\n")
    text = texts(svg(gpukit, tmp_path, recording, system, devices, "--cpu",
                     "--power", "--temperature"))
    assert "no system memory" not in text and "no power" not in text
    assert "GPU 3" in text


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
    assert re.search(r"\s-20\s", text)
    assert not re.search(r"\s-[1-9]\s", text)


@pytest.mark.parametrize("content, words", [
    ("", "is no recording"), ("a,b\n1,2\n", "is no recording"),
    (HEADER, "no rows"), (HEADER + "x\n", "no rows"),
    ("\x00" * 100, "is no recording")])
def test_nothing_to_draw(gpukit, tmp_path, content, words):
    path, picture = tmp_path / "log.csv", tmp_path / "out.png"
    path.write_text(content)
    picture.write_text("precious")
    done = gpukit("plot", path, "-o", picture)
    assert done.returncode == 1 and words in done.stderr
    assert done.stdout == "" and picture.read_text() == "precious"


@pytest.mark.parametrize("args", [
    (), ("x.csv",), ("-o", "x.gif", "f"), ("-o", ".png", "f"),
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


def test_in_the_terminal(recording):
    with open(recording, encoding="ascii") as f:
        done = subprocess.run([GPUKIT, "plot", "-", "--term"], stdin=f,
                              capture_output=True, text=True, check=True,
                              env=clean_env(COLUMNS="100"))
    lines = done.stdout.splitlines()
    assert "GPU memory" in done.stdout and "\x1b" not in done.stdout
    assert max(len(line.rstrip()) for line in lines) <= 100
    assert 20 <= len(lines) <= 24


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
        assert "GPU 1" in texts(svg(gpukit, tmp_path, pipe, "--per-gpu"))
    assert writer.returncode == 0


def test_in_a_small_terminal_every_panel_has_room(recording):
    options = ["--cpu", "--util", "--power", "--temperature"]
    done = subprocess.run([GPUKIT, "plot", recording, "--term", *options],
                          capture_output=True, text=True, check=True,
                          env=clean_env(COLUMNS="12", LINES="5"))
    for title in ("GPU memory", "System memory", "CPU", "GPU utilisation",
                  "Power", "Temperature"):
        assert done.stdout.count(title) == 1, title
    assert len(done.stdout.splitlines()) >= 6 * 8


def test_snapshots(gpukit, machine, tmp_path):
    made = machine("--gpus", "h100:2", "--load", "train:0-1,mem=9GiB")
    tape = tmp_path / "tape"
    gpukit.ok("record", "--snapshots", "--interval", "0.05", "--count", "20",
              "--output", tape, env=made.env)
    text = texts(svg(gpukit, tmp_path, tape, "--per-gpu", "--power",
                     "--temperature", "--util", "--cpu"))
    assert "GPU 0" in text and "GPU 1" in text and "gpukit-load" in text
    assert " no " not in text
    assert "gpukit-load" in texts(svg(gpukit, tmp_path, tape, "--per-pid"))
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

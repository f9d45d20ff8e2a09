# SPDX-License-Identifier: Apache-2.0
"""`gpukit smi` is tested here: options, messages and exit codes, and its place
on PATH."""

import datetime
import os
import re
import signal
import subprocess
import time
import xml.etree.ElementTree as ET

import pytest

from conftest import FAKE_DIR, GPUKIT, clean_env

INVALID = ("Invalid combination of input arguments. Please run "
           "'nvidia-smi -h' for help.\n")


class Smi:
    def __init__(self, one, generation=""):
        self.one = one
        self.env = clean_env(GPUKIT_MACHINE=one.path, LD_LIBRARY_PATH=(
            os.path.join(FAKE_DIR, generation)))

    def __call__(self, *args):
        return subprocess.run([GPUKIT, "smi", *args], text=True, timeout=60,
                              capture_output=True, env=self.env, check=False)

    def ok(self, *args):
        done = self(*args)
        assert done.returncode == 0, (args, done.stdout, done.stderr)
        return done.stdout

    def rows(self, *args):
        return [line.split(", ") for line in
                self.ok(*args, "--format=csv,noheader").splitlines()]


@pytest.fixture
def smi(machine):
    return Smi(machine("--gpus", "a100-sxm4-80gb:3", "--load",
                       "train:0,mem=5GiB,n=2"))


def launch(gpukit, command, *options):
    """The output of a shell on a fake machine."""
    done = gpukit("fake", *options, "--", "sh", "-c", command)
    assert done.returncode == 0, (done.stdout, done.stderr)
    return done.stdout


def test_both_spellings_of_a_field_give_the_canonical_title(smi):
    out = smi.ok("--query-gpu=gpu_name,gpu_uuid,clocks.sm,"
                 "clocks_throttle_reasons.active", "--format=csv")
    assert out.splitlines()[0] == (
        "name, uuid, clocks.current.sm [MHz], clocks_event_reasons.active")


def test_formats_of_csv(smi):
    query = "--query-gpu=index,memory.total"
    full = smi.ok(query, "--format=csv").splitlines()
    assert full[:2] == ["index, memory.total [MiB]", "0, 81920 MiB"]
    assert smi.ok(query, "--format=csv,nounits").splitlines()[:2] == [
        full[0], "0, 81920"]
    assert smi.ok(query, "--format=csv,noheader").splitlines() == full[1:]
    assert smi.ok(query, "--format=nounits,noheader,csv").splitlines() == [
        line.replace(" MiB", "") for line in full[1:]]


def test_an_option_takes_its_argument_both_ways(smi):
    assert smi.ok("--query-gpu", "index", "--format", "csv,noheader", "-i",
                  "1") == "1\n"
    assert smi.ok("--query-gpu=index", "--format=csv,noheader",
                  "--id=1") == "1\n"


@pytest.mark.parametrize("args, message", [
    (["--query-gpu=nonsense", "--format=csv"],
     'Field "nonsense" is not a valid field to query.\n\n'),
    (["--query-gpu=index,,name", "--format=csv"],
     'Field "" is not a valid field to query.\n\n'),
    (["--query-compute-apps=temperature.gpu", "--format=csv"],
     'Field "temperature.gpu" is not a valid field to query.\n\n'),
    (["--query-gpu=index"], '"--format=" switch is missing. Please run '
                            "'nvidia-smi -h' for help.\n\n"),
    (["--query-gpu=index", "--format=xml"],
     '"xml" is not a valid format option.\n\n'),
    (["-q", "-d", "NONSENSE"], INVALID + "\n"),
    (["-q", "-d", ""], INVALID + "\n"),
    (["-q", "-x", "-d", "MEMORY"], INVALID + "\n"),
    (["-x"], INVALID + "\n"),
    (["-L", "-q"], INVALID + "\n"),
    (["-l", "0"], INVALID + "\n"),
    (["--loop="], INVALID + "\n"),
    (["-lms", "soon"], INVALID + "\n"),
    (["--format=csv"], INVALID + "\n"),
    (["pmon", "-s", "x"], INVALID + "\n"),
    (["dmon", "-c", "-1"], INVALID + "\n"),
    (["--query-gpu=index", "--query-compute-apps=pid", "--format=csv"],
     INVALID + "\n"),
    (["topo"], INVALID + "\n"),
    (["mig"], INVALID + "\n"),
])
def test_wrong_usage(smi, args, message):
    done = smi(*args)
    assert (done.returncode, done.stdout) == (2, message)


@pytest.mark.parametrize("args, option, why", [
    (["--nonsense"], "--nonsense", "not recognized"),
    (["-lms100"], "-lms100", "not recognized"),
    (["-L=3"], "-L=3", "not recognized"),
    (["topo", "-x"], "-x", "not recognized"),
    (["-lms"], "-lms", "missing its value"),
    (["-pm"], "-pm", "missing its value"),
    (["--query-gpu"], "--query-gpu", "missing its value"),
    (["mig", "-i"], "-i", "missing its value"),
])
def test_wrong_options(smi, args, option, why):
    done = smi(*args)
    assert (done.returncode, done.stdout) == (
        255, f"ERROR: Option {option} is {why}. Please run 'nvidia-smi -h' "
             "for help.\n")


def test_fields_of_other_drivers_are_unknown(machine):
    old = Smi(machine("--gpus", "t4", "--driver", "590"), "590")
    done = old("--query-gpu=kmd_version", "--format=csv")
    assert (done.returncode, done.stdout) == (
        2, 'Field "kmd_version" is not a valid field to query.\n\n')
    new = Smi(machine("--gpus", "t4", "--driver", "610"), "610")
    assert new.rows("--query-gpu=kmd_version") == [["610.57.04"]]


def test_without_a_driver(gpukit, machine):
    done = gpukit("smi", env={"LD_LIBRARY_PATH": ""})
    assert done.returncode == 12
    assert "couldn't find libnvidia-ml.so" in done.stdout
    one = machine("--gpus", "t4")
    assert one.ctl("fail", "driver-not-loaded").returncode == 0
    done = Smi(one)()
    assert done.returncode == 9
    assert "couldn't communicate with the NVIDIA driver" in done.stdout
    assert one.ctl("clear", "driver-not-loaded").returncode == 0
    assert one.ctl("fail", "driver-mismatch").returncode == 0
    done = Smi(one)("-L")
    assert (done.returncode, done.stdout) == (
        18, "Failed to initialize NVML: Driver/library version mismatch\n")


def test_gpus_are_chosen_by_index_uuid_and_bus(smi):
    rows = smi.rows("--query-gpu=index,uuid,pci.bus_id")
    for index, uuid, bus in rows:
        for name in (index, uuid, bus, bus.lower(), bus[4:], bus[9:]):
            assert smi.rows("--query-gpu=index", "-i", name) == [[index]]
    assert smi.rows("--query-gpu=index,count", "-i",
                    f"{rows[2][1]},0") == [["0", "3"], ["2", "3"]]
    for name in ("3", "GPU-0", "0000:ff:00.0", "", "0,7"):
        done = smi("--query-gpu=index", "--format=csv", f"--id={name}")
        assert (done.returncode, done.stdout) == (
            6, "No devices were found\n"), name


def test_no_gpus(machine):
    done = Smi(machine("--gpus", "none"))("-L")
    assert (done.returncode, done.stdout) == (6, "No devices were found\n")


def test_memory_is_rounded_up(smi):
    rows = smi.rows("--query-gpu=memory.used,memory.reserved,memory.free,"
                    "memory.total", "-i", "1")
    assert rows[0][3] == "81920 MiB"
    assert smi.one.ctl("set", "1", "extra-memory=1").returncode == 0
    used = smi.rows("--query-gpu=memory.used", "-i", "1")[0][0]
    assert used == "1 MiB"


def test_a_gpu_that_hangs_tells_no_old_values(smi):
    started = subprocess.Popen(
        [GPUKIT, "smi", "--query-gpu=temperature.gpu", "-lms", "100",
         "--format=csv,noheader", "-i", "1"],
        text=True, stdout=subprocess.PIPE, env=smi.env)
    try:
        assert started.stdout.readline().strip().isdigit()
        assert smi.one.ctl("fail", "1", "hang").returncode == 0
        lines = [started.stdout.readline()]
        while lines[-1].strip().isdigit() and len(lines) < 50:
            lines.append(started.stdout.readline())
        lines.append(started.stdout.readline())
        assert lines[-2:] == ["[Unknown Error]\n"] * 2, lines
    finally:
        started.kill()
        started.wait()
        started.stdout.close()
        smi.one.ctl("clear", "1", "hang")


def test_names_that_are_long_and_not_ascii(machine, tmp_path):
    profile = tmp_path / "mine.yaml"
    name = "Gerät ☃ mit recht langem Namen"
    profile.write_text(f'inherits: t4\nsource: mine\nname: "{name}"\n',
                       encoding="utf-8")
    smi = Smi(machine("--gpus", str(profile)))
    smi.env["LC_ALL"] = "C.UTF-8"
    assert f"GPU 0: {name} (UUID: GPU-" in smi.ok("-L")
    table = smi.ok().splitlines()[1:]
    assert any(line.startswith("|   0  " + name[:24] + "...    ")
               for line in table)
    assert {len(line) for line in table if line} == {91}


def test_processes(smi):
    rows = smi.rows("--query-compute-apps=pid,name,used_memory,gpu_uuid")
    uuid = smi.rows("--query-gpu=uuid", "-i", "0")[0][0]
    assert [row[1] for row in rows] == ["gpukit-load"] * 2
    assert {row[3] for row in rows} == {uuid}
    assert all(re.fullmatch(r"\d+ MiB", row[2]) for row in rows)
    assert smi.rows("--query-compute-apps=pid", "-i", "1") == []
    out = smi.ok("pmon", "-c", "1", "-s", "um").splitlines()
    assert out[0].split()[1:] == ("gpu pid type sm mem enc dec jpg ofa fb "
                                  "ccpm command").split()
    mine = [line.split() for line in out[2:]]
    assert [(row[0], row[1]) for row in mine[:2]] == [
        ("0", row[0]) for row in rows]
    assert mine[2] == ["1"] + ["-"] * 11
    assert mine[0][9] == rows[0][2].split()[0]
    table = smi.ok()
    for row in rows:
        assert re.search(rf"\|    0   N/A  N/A +{row[0]} +C   gpukit-load +"
                         rf"{row[2].replace(' ', '')} \|\n", table)


def test_accounts_pages_and_clocks(machine):
    smi = Smi(machine("--gpus", "v100-sxm2-32gb", "--load", "train:0"))
    assert smi.one.ctl("set", "0", "accounting=1").returncode == 0
    assert smi.rows("--query-gpu=accounting.mode") == [["Enabled"]]
    deadline = time.monotonic() + 20
    while not (rows := smi.rows(
            "--query-accounted-apps=pid,gpu_util,max_memory_usage,time")):
        assert time.monotonic() < deadline, "no account"
        time.sleep(0.1)
    assert re.fullmatch(r"\d+ MiB", rows[0][2]), rows
    pages = smi.rows("--query-retired-pages=retired_pages.address,"
                     "retired_pages.cause")
    assert pages == [["[N/A]", "Single Bit ECC"], ["[N/A]", "Double Bit ECC"]]
    clocks = smi.rows("--query-supported-clocks=memory,graphics")
    assert len(clocks) > 10 and clocks[0][0].endswith(" MHz")


def test_repetition(smi):
    begin = time.monotonic()
    done = subprocess.Popen(
        [GPUKIT, "smi", "--query-gpu=index", "--format=csv", "-lms", "50",
         "-i", "0"], stdout=subprocess.PIPE, text=True, env=smi.env)
    lines = [done.stdout.readline() for _ in range(6)]
    done.send_signal(signal.SIGINT)
    done.wait(timeout=20)
    done.stdout.close()
    assert lines == ["index\n"] + ["0\n"] * 5
    assert time.monotonic() - begin >= 0.2


def test_a_loop_without_a_number_is_of_5_seconds(smi):
    """Measured by its own clock."""
    started = subprocess.Popen(
        [GPUKIT, "smi", "-l", "--query-gpu=index,timestamp",
         "--format=csv,noheader"],
        text=True, stdout=subprocess.PIPE, env=smi.env)
    try:
        lines = [started.stdout.readline().strip().split(", ")
                 for _ in range(4)]
        assert [index for index, _ in lines] == ["0", "1", "2", "0"]
        first, *_, last = (datetime.datetime.strptime(
            told, "%Y/%m/%d %H:%M:%S.%f") for _, told in lines)
        assert 4.5 < (last - first).total_seconds() < 9
    finally:
        started.send_signal(signal.SIGINT)
        assert started.wait() == -signal.SIGINT
        started.stdout.close()


def test_dmon_shows_all_groups(smi):
    out = smi.ok("dmon", "-s", "pucvmet", "-c", "2", "-o", "DT", "-i",
                 "0,2").splitlines()
    titles = out[0].split()
    assert titles == (
        "#Date Time gpu pwr gtemp mtemp sm mem enc dec jpg ofa mclk pclk "
        "pviol tviol fb bar1 ccpm sbecc dbecc pci rxpci txpci").split()
    assert len(out) == 6
    for line in out[2:]:
        assert len(line) == len(out[0])
        assert re.match(r" \d{8}    \d\d:\d\d:\d\d       [02] ", line)
        assert len(line.split()) == len(titles)


def test_output_goes_to_a_file(smi, tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old\n" * 100, encoding="ascii")
    assert smi.ok("--query-gpu=index", "--format=csv", "-f", str(path)) == ""
    assert path.read_text(encoding="ascii") == "index\n0\n1\n2\n"
    done = smi("-L", "-f", str(tmp_path / "none" / "out"))
    assert done.returncode == 1
    assert "No such file" in done.stderr


def test_a_full_disk_is_an_error(smi):
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([GPUKIT, "smi"], stdout=full, text=True,
                              stderr=subprocess.PIPE, env=smi.env,
                              check=False)
    assert done.returncode == 1
    assert "No space left" in done.stderr


def test_sections_of_the_log(smi):
    text = smi.ok("-q", "-d", "MEMORY,TEMPERATURE", "-i", "0")
    groups = re.findall(r"^    (\S.*?)\s*$", text, re.M)
    assert groups == ["FB Memory Usage", "BAR1 Memory Usage",
                      "Conf Compute Protected Memory Usage", "Temperature"]
    text = smi.ok("-q", "-d", "PIDS", "-i", "0")
    assert re.search(r"^        Process ID {24}: \d+$", text, re.M)
    clocks = smi.ok("-q", "-d", "SUPPORTED_CLOCKS", "-i", "0")
    assert "        Memory" in clocks and "            Graphics" in clocks


def test_sections_with_samples(smi):
    text = smi.ok("-q", "-d", "POWER,UTILIZATION,CLOCK", "-i", "0")
    for title, unit in [("Power", r"\d+\.\d\d W"),
                        ("GPU Utilization", r"\d+ %"),
                        ("Memory Utilization", r"\d+ %"),
                        ("ENC Utilization", r"\d+ %"),
                        ("DEC Utilization", r"\d+ %"),
                        ("SM Clock", r"\d+ MHz"),
                        ("Memory Clock", r"\d+ MHz")]:
        found = re.search(
            rf"^    {title} Samples\n +Duration +: \d+\.\d\d sec\n"
            rf" +Number of Samples +: (\d+)\n +Max +: ({unit})\n"
            rf" +Min +: ({unit})\n +Avg +: ({unit})$", text, re.M)
        assert found and int(found[1]) > 10, (title, text)
        high, low, mean = (float(found[i].split()[0]) for i in (2, 3, 4))
        assert low <= mean <= high
    assert "Samples" not in smi.ok("-q")


def names(element):
    return [child.tag for child in element]


def test_xml_is_the_log(smi):
    root = ET.fromstring(smi.ok("-q", "-x"))
    assert root.tag == "nvidia_smi_log"
    assert names(root)[:5] == ["timestamp", "driver_version", "cuda_version",
                               "attached_gpus", "gpu"]
    gpus = root.findall("gpu")
    assert [gpu.findtext("uuid") for gpu in gpus] == [
        row[0] for row in smi.rows("--query-gpu=uuid")]
    gpu = gpus[0]
    assert gpu.get("id") == gpu.findtext("pci/pci_bus_id")
    order = names(gpu)
    wanted = """product_name product_brand product_architecture display_mode
        display_attached display_active persistence_mode addressing_mode
        mig_mode mig_devices accounting_mode accounting_mode_buffer_size
        driver_model serial uuid pdi minor_number vbios_version multigpu_board
        board_id board_part_number gpu_part_number gpu_fru_part_number
        platformInfo inforom_version inforom_bbx_flush gpu_operation_mode
        c2c_mode gpu_virtualization_mode gpu_recovery_action
        gsp_firmware_version ibmnpu pci fan_speed performance_state
        clocks_event_reasons clocks_event_reasons_counters
        sparse_operation_mode fb_memory_usage bar1_memory_usage
        cc_protected_memory_usage compute_mode utilization encoder_stats
        fbc_stats dram_encryption_mode ecc_mode ecc_errors retired_pages
        remapped_rows temperature supported_gpu_target_temp
        gpu_power_readings gpu_memory_power_readings module_power_readings power_smoothing
        power_profiles clocks applications_clocks
        default_applications_clocks deferred_clocks max_clocks
        max_customer_boost_clocks clock_policy fabric supported_clocks
        processes accounted_processes capabilities""".split()
    assert order == wanted
    assert gpu.findtext("fb_memory_usage/total") == "81920 MiB"
    assert gpu.findtext("pci/pci_bus") == gpu.get("id").split(":")[1]
    assert len(gpu.findall("processes/process_info")) == 2
    assert gpu.findtext("processes/process_info/type") == "C"
    assert gpu.find("supported_clocks/supported_mem_clock") is not None


def test_xml_of_mig_devices_and_of_strange_names(machine, tmp_path):
    profile = tmp_path / "mine.yaml"
    profile.write_text('inherits: h100-mig\nsource: mine\n'
                       'name: "A <b> & \\"c\\""\n', encoding="ascii")
    smi = Smi(machine("--gpus", str(profile)))
    gpu = ET.fromstring(smi.ok("-q", "-x")).find("gpu")
    assert gpu.findtext("product_name") == 'A <b> & "c"'
    migs = gpu.findall("mig_devices/mig_device")
    assert [mig.findtext("index") for mig in migs] == ["0", "1", "2", "3"]
    path = "device_attributes/shared/multiprocessor_count"
    assert [mig.findtext(path) for mig in migs] == ["60", "32", "16", "16"]


def test_topology_tells_links_and_paths(machine):
    smi = Smi(machine("--gpus", "a100-sxm4-80gb:2", "--topology", "hgx"))
    rows = [line.split("\t") for line in smi.ok("topo", "-m").splitlines()]
    assert rows[1][:3] == ["GPU0", " X ", "NV12"]
    assert rows[2][:3] == ["GPU1", "NV12", " X "]
    smi = Smi(machine("--gpus", "t4:3"))
    rows = [line.split("\t") for line in smi.ok("topo", "-m").splitlines()]
    assert rows[1][2] in ("PIX", "PXB", "PHB", "NODE", "SYS")
    some = [line.split("\t") for line in
            smi.ok("topo", "-m", "-i", "0,2").splitlines()]
    assert some[0] == rows[0][:2] + rows[0][3:]
    assert some[1] == rows[1][:2] + rows[1][3:]
    assert some[2] == rows[3][:2] + rows[3][3:] and some[3] == [""]


@pytest.mark.parametrize("args, words", [
    (["-h"], ["--query-gpu=", "pmon", "dmon", "topo", "mig"]),
    (["pmon", "-h"], ["--select="]),
    (["dmon", "--help"], ["violations"]),
    (["topo", "-h"], ["--matrix"]),
    (["mig", "-h"], ["-lgi", "-lci"]),
    (["--help-query-gpu"], ['"memory.used"', '"name" or "gpu_name"',
                            '"clocks.max.memory" or "clocks.max.mem"']),
    (["--help-query-compute-apps"], ['"used_gpu_memory" or "used_memory"']),
    (["--help-query-accounted-apps"], ['"max_memory_usage"']),
    (["--help-query-retired-pages"], ['"retired_pages.cause"']),
    (["--help-query-remapped-rows"], ['"remapped_rows.pending"']),
    (["--help-query-supported-clocks"], ['"graphics" or "gr"']),
])
def test_help_needs_no_driver(gpukit, args, words):
    out = gpukit.ok("smi", *args, env={"LD_LIBRARY_PATH": ""})
    for word in words:
        assert word in out


# ---- on the machine's PATH ----

LOGGER = """
import subprocess
def ask(*args):
    return subprocess.run(["nvidia-smi", *args], check=True, text=True,
                          capture_output=True).stdout
gpus = dict(reversed(line.split(", ")) for line in ask(
    "--query-gpu=index,uuid", "--format=csv,noheader").splitlines())
apps = [line.split(", ") for line in ask(
    "--query-compute-apps=pid,gpu_uuid,used_memory",
    "--format=csv,noheader,nounits").splitlines()]
monitor = {}
for line in ask("pmon", "-c", "1", "-s", "um").splitlines():
    word = line.split()
    if word[0] == "#" or word[1] == "-":
        continue
    monitor[word[0], word[1]] = word[3], word[-1]
for pid, uuid, mib in apps:
    sm, name = monitor[gpus[uuid], pid]
    print(gpus[uuid], int(mib) > 0, sm == "-" or 0 <= int(sm) <= 100, name)
"""


def test_a_program_that_logs_by_nvidia_smi(gpukit, tmp_path):
    program = tmp_path / "logger.py"
    program.write_text(LOGGER, encoding="ascii")
    out = launch(gpukit, f"python3 {program}", "--gpus", "h100:2", "--load",
                 "train:all")
    assert out == "0 True True gpukit-load\n1 True True gpukit-load\n"


def test_uuids_that_were_selected_are_asked_for(gpukit):
    out = launch(gpukit, "gpukit() { " + GPUKIT + ' "$@"; }; '
                 "gpukit select -0 -O uuid -n 2 | xargs -0 -I {} nvidia-smi "
                 "--id={} --query-gpu=index,memory.free --format=csv",
                 "--gpus", "h100:2")
    assert re.fullmatch(r"(index, memory\.free \[MiB\]\n[01], \d+ MiB\n){2}",
                        out), out


def test_the_name_on_path(gpukit):
    out = launch(gpukit, "command -v nvidia-smi; nvidia-smi -L", "--gpus",
                 "l4:2")
    lines = out.splitlines()
    assert lines[0].endswith("/lib/gpukit/fake/bin/nvidia-smi")
    assert [line.split(" (")[0] for line in lines[1:]] == [
        "GPU 0: NVIDIA L4", "GPU 1: NVIDIA L4"]


def test_gpus_side_by_side(machine):
    """The form is ours; the values are those of a query."""
    smi = Smi(machine("--gpus", "a100-sxm4-80gb:4,t4", "--load", "train:0",
                      "--frozen"))
    for width, blocks in (("80", [2, 2, 1]), ("200", [5]), ("9", [1] * 5)):
        smi.env["COLUMNS"] = width
        told = [block.splitlines() for block in
                smi.ok("-col").rstrip().split("\n\n")]
        assert [len(block[0].split()) - 1 for block in told] == blocks
        if width == "80":
            assert all(len(line) <= 80 for block in told for line in block)
        columns = {}
        for block in told:
            for line in block:
                cells = columns.setdefault(line[:14].rstrip(), [])
                cells += [line[at:at + 27].rstrip()
                          for at in range(14, 14 + 28 * len(block[0].split())
                                          - 28, 28)]
        wanted = smi.rows("--query-gpu=index,name,pci.bus_id,temperature.gpu,"
                          "power.draw,memory.used,memory.total,fan.speed,"
                          "compute_mode,mig.mode.current")
        assert [list(row) for row in zip(*(columns[name] for name in (
            "GPU", "Name", "Bus-Id", "Temperature", "Power", "Memory used",
            "Memory", "Fan", "Compute mode", "MIG mode")))] == [
                [cell.strip("[]") if i != 3 else cell + " C"
                 for i, cell in enumerate(row)] for row in wanted]
    assert smi.ok("-col", "-i", "3").splitlines()[0].split() == ["GPU", "3"]


def test_columns_go_with_a_summary_only(smi):
    for args in (["-col", "-q"], ["-col", "-x"], ["-col", "-pm", "1"],
                 ["-col", "--format=csv"], ["-col", "-L"]):
        assert smi(*args).returncode == 2, args

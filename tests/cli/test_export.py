# SPDX-License-Identifier: Apache-2.0
"""`gpukit export` is tested here: pages, values, names, wrong usage."""

import json
import re
import signal
import socket
import time

import pytest

import can
from exporter import BUILT, EIGHT, Exporter, Metrics, export
from tools import wait_until

OPENMETRICS = {"Accept": "application/openmetrics-text;version=1.0.0,"
                         "text/plain;version=0.0.4;q=0.5"}

pytestmark = BUILT
assert export  # the fixture


# ---- pages ----

def test_the_pages(export):
    e = export(EIGHT)
    status, headers, body = e.get("/metrics")
    assert status == 200
    assert headers["Content-Type"] == \
        "text/plain; version=0.0.4; charset=utf-8"
    assert headers["Cache-Control"] == "no-store"
    assert "gpukit_device_up" in body
    assert e.get("/healthz")[::2] == (200, "ok\n")
    assert e.get("/")[0] == 200
    for path in ("/metrics/", "/nope", "/METRICS", "/../etc/passwd"):
        assert e.get(path)[0] == 404, path
    for method in ("POST", "PUT", "DELETE", "BREW"):
        status, headers, _ = e.get("/metrics", method=method)
        assert (status, headers["Allow"]) == (405, "GET, HEAD")
    status, headers, body = e.get("/metrics", method="HEAD")
    assert (status, body) == (200, "") and int(headers["Content-Length"]) > 99


@pytest.mark.parametrize("accept, wanted", [
    (None, False), ("", False), ("*/*", False), ("text/plain", False),
    ("application/openmetrics-text", True),
    (OPENMETRICS["Accept"], True),
    ("text/plain,application/openmetrics-text;q=0.4", False),
    ("application/openmetrics-text;q=0,text/plain;q=0.1", False)])
def test_the_format_is_what_the_client_accepts(export, accept, wanted):
    e = export(["--gpus", "t4:1"])
    headers = {} if accept is None else {"Accept": accept}
    _, headers, body = e.get("/metrics", headers)
    assert ("openmetrics" in headers["Content-Type"]) == wanted
    assert body.endswith("# EOF\n") == wanted


# ---- values ----

def test_every_family_has_type_and_help_and_base_units(export):
    e = export(EIGHT, "--all", "--processes", "--pcie")
    seen = []

    def are_the_same():
        """Whether both pages have the same metrics. They may be of different
        frames, so that a metric appears only in the second; it then comes in
        the next frame."""
        seen[:] = e.next_metrics(), Metrics(e.get("/metrics", OPENMETRICS)[2])
        return set(seen[0]) == set(seen[1])

    wait_until(are_the_same)
    plain, opened = seen
    assert len(plain["gpukit_cores"]) == 8
    for name, series in plain.items():
        assert re.fullmatch("gpukit_[a-z0-9_]+", name), name
        assert plain.types[name] in ("gauge", "counter"), name
        assert len(plain.helps[name]) > 5, name
        assert (plain.types[name] == "counter") == name.endswith("_total")
        assert not re.search("percent|_mib|_mhz|milli", name), name
        if name.endswith("_ratio"):
            assert all(0 <= value <= 64 for _, value in series), name
    for name in opened:
        family = re.sub("(_total|_info)$", "", name)
        kind = opened.types[family]
        assert {"counter": "_total", "info": "_info"}.get(kind, "") == \
            name[len(family):], name
        unit = re.search("_(bytes|seconds|joules|watts|hertz|celsius|ratio)"
                         "(_per_second)?$", family)
        assert opened.units.get(family) == (unit and unit[0][1:]), name
    assert sum(map(len, plain.values())) > 1200


def test_the_values_are_those_of_stat(export, gpukit):
    e = export(["--gpus", "a100-sxm4-80gb:2,t4:1", "--frozen", "--load",
                "train:0,mem=30GiB"], "--processes")
    export.made.ctl("set", "1", "temperature=77", "energy=123456789")
    e.until(lambda m: m.of(
        "gpukit_energy_joules_total", gpu="1") == 123456.789)
    m = e.next_metrics()
    stat = gpukit.json("stat", "--json", env=export.made.env)
    for device in stat["devices"]:
        gpu = {"gpu": str(device["index"]), "uuid": device["uuid"]}
        for name, key, scale in [
                ("gpu_utilization_ratio", "gpu_utilization_percent", 100),
                ("memory_used_bytes", "memory_used_bytes", 1),
                ("power_watts", "power_watts", 1),
                ("temperature_celsius", "temperature_celsius", 1),
                ("sm_clock_hertz", "sm_clock_hertz", 1),
                ("energy_joules_total", "energy_joules", 1)]:
            assert m.of("gpukit_" + name, **gpu) == pytest.approx(
                device[key] / scale), (name, device["index"])
        assert m.of("gpukit_device_up", **gpu) == 1
        # An absent value is absent: the passive boards have no fan.
        assert (device["fan_speed_percent"] is not None) == any(
            have["uuid"] == device["uuid"]
            for have, _ in m.get("gpukit_fan_speed_ratio", []))
    assert m.of("gpukit_temperature_celsius", gpu="1") == 77
    process = stat["devices"][0]["processes"][0]
    assert m.of("gpukit_process_gpu_memory_bytes", gpu="0",
                pid=str(process["pid"])) == 30 << 30
    assert m.of("gpukit_processes", gpu="0") == 1
    assert "NaN" not in m.text


def test_counters_count(export):
    e = export(["--gpus", "h100:2"])
    e.until(lambda m: m.of("gpukit_xid_errors_total", gpu="1") == 0)
    export.made.ctl("fail", "1", "xid=31")
    m = e.until(lambda m: m.of("gpukit_xid_errors_total", gpu="1") == 1)
    assert m.of("gpukit_xid_last", gpu="1") == 31
    assert m.of("gpukit_xid_errors_total", gpu="0") == 0
    first = m.of("gpukit_energy_joules_total", gpu="0")
    e.until(lambda m: m.of("gpukit_energy_joules_total", gpu="0") > first)
    assert m.of("gpukit_pcie_replay_total", gpu="0") == 0


def test_a_lost_gpu_stays_and_is_down(export):
    e = export(["--gpus", "t4:2"])
    export.made.ctl("fail", "0", "lost")
    m = e.until(lambda m: m.of("gpukit_device_up", gpu="0") == 0 and
                m.of("gpukit_device_up", gpu="1") == 1)
    assert not [1 for have, _ in m["gpukit_power_watts"]
                if have["gpu"] == "0"]
    assert e.get("/healthz")[0] == 200


def test_a_gpu_that_hangs_blocks_nobody(machine):
    m = machine("--gpus", "t4:2")
    m.ctl("fail", "0", "nvmlDeviceGetPowerUsage=hang")
    e = Exporter(m.env, "-i", "0.1", "--timeout", "0.3")
    try:
        e.until(lambda m: m.of("gpukit_device_up", gpu="0") == 0 and
                m.of("gpukit_device_up", gpu="1") == 1 and
                m.of("gpukit_power_watts", gpu="1") > 0)
    finally:
        assert e.stop()[0] == 0


def test_mig_devices_have_labels_of_their_own(export):
    e = export(["--gpus", "a100-sxm4-80gb:1", "--mig", "0=3g.40gb+2g.20gb"])
    m = e.next_metrics()
    infos = {have["gpu"]: have for have, _ in m["gpukit_device_info"]}
    assert set(infos) == {"0", "0:0", "0:1"}
    assert infos["0:1"]["parent_uuid"] == infos["0"]["uuid"]
    assert infos["0:1"]["uuid"].startswith("MIG-")
    assert m.of("gpukit_memory_total_bytes", gpu="0:0") > \
        m.of("gpukit_memory_total_bytes", gpu="0:1") > 0


# ---- processes ----

def test_processes_are_shown_only_when_asked_for(export):
    e = export(EIGHT)
    assert "gpukit_process" not in e.next_metrics().text
    assert e.json()["devices"][0]["processes"] is None


def test_their_number_has_a_cap(export):
    e = export(["--gpus", "t4:1", "--load", "idle:0,mem=100MiB,n=6",
                "--load", "idle:0,mem=2GiB,n=2"],
               "--processes", "--max-processes", "3")
    m = e.until(lambda m: m.of("gpukit_processes") == 8)
    sizes = sorted(value for _, value in m["gpukit_process_gpu_memory_bytes"])
    assert sizes == [100 << 20, 2 << 30, 2 << 30]
    assert m.of("gpukit_processes_left_out") == 5
    assert len(m["gpukit_process_info"]) == 3


def test_command_lines_are_shown_only_when_asked_for(export):
    e = export(EIGHT, "--processes")
    assert "mem=30GiB" not in e.next_metrics().text
    body = e.get("/api/v1/snapshot")[2]
    assert "mem=30GiB" not in body and "gpukit-load" in body
    e = export(EIGHT, "--processes", "--commands")
    assert 'command="gpukit-load train gpu=0 mem=30GiB' in \
        e.next_metrics().text
    assert "mem=30GiB" in e.get("/api/v1/snapshot")[2]


# ---- one reading for all ----

def readings(made):
    """How often NVML was called for each function; a thread waits for Xids."""
    told = json.loads(made.ctl("coverage", "--json").stdout)
    return {row["function"]: row["calls"] for row in told
            if "Event" not in row["function"]}


def test_scrapes_read_nothing(export):
    """A thousand scrapes of one frame see one frame and read nothing."""
    e = export(["--gpus", "a100-sxm4-80gb:8"], "-i", "1000")

    def stands():
        """The last reading has its frame too."""
        before = e.metrics().of("gpukit_frames_total")
        time.sleep(1)
        return e.metrics().of("gpukit_frames_total") == before

    wait_until(stands)
    asked = readings(export.made)
    connection = e.connection()
    bodies = set()
    for _ in range(1000):
        connection.request("GET", "/metrics")
        bodies.add(connection.getresponse().read().decode())
    assert len(bodies) == 1
    assert readings(export.made) == asked
    assert asked["nvmlDeviceGetPowerUsage"] == 8


# ---- names of other exporters ----

DCGM = """SM_CLOCK MEM_CLOCK MEMORY_TEMP GPU_TEMP POWER_USAGE
TOTAL_ENERGY_CONSUMPTION PCIE_REPLAY_COUNTER GPU_UTIL MEM_COPY_UTIL ENC_UTIL
DEC_UTIL XID_ERRORS FB_FREE FB_USED FB_RESERVED UNCORRECTABLE_REMAPPED_ROWS
CORRECTABLE_REMAPPED_ROWS ROW_REMAP_FAILURE""".split()


def test_names_of_dcgm(export, gpukit):
    e = export(["--gpus", "a100-sxm4-80gb:2", "--frozen", "--mig",
                "1=3g.40gb", "--load", "train:0,mem=30GiB"],
               "--names", "dcgm", "--hostname", "node-1")
    wanted = {"DCGM_FI_DEV_" + name for name in DCGM}
    m = e.until(lambda m: set(m) >= wanted and any(
        "GPU_I_ID" in have for have, _ in m["DCGM_FI_DEV_FB_USED"]))
    assert set(m) - {"DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"} == wanted
    gpu = gpukit.json("stat", "--json", env=export.made.env)["devices"][0]
    have, used = m["DCGM_FI_DEV_FB_USED"][0]
    assert have == {
        "gpu": "0", "UUID": gpu["uuid"], "pci_bus_id": gpu["bus_id"],
        "device": "nvidia0", "modelName": "NVIDIA A100-SXM4-80GB",
        "Hostname": "node-1", "DCGM_FI_DRIVER_VERSION": "580.95.05"}
    assert used == gpu["memory_used_bytes"] >> 20
    assert m["DCGM_FI_DEV_POWER_USAGE"][0][1] == gpu["power_watts"]
    assert m["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"][0][1] == pytest.approx(
        gpu["energy_joules"] * 1000)
    assert m["DCGM_FI_DEV_SM_CLOCK"][0][1] == gpu["sm_clock_hertz"] / 1e6
    assert m.types["DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"] == "counter"
    mig = [have for have, _ in m["DCGM_FI_DEV_FB_USED"]
           if "GPU_I_ID" in have]
    assert len(mig) == 1 and mig[0]["gpu"] == "1"
    assert mig[0]["GPU_I_PROFILE"] == "3g.40gb"
    # DCGM's blank values never appear.
    assert "9223372036854775" not in m.text
    assert e.get("/metrics", OPENMETRICS)[1]["Content-Type"].startswith(
        "text/plain")


NVITOP = """nvitop_info host_uptime_Second host_cpu_percent_Percentage
host_virtual_memory_total_MiB host_virtual_memory_used_MiB
host_virtual_memory_free_MiB host_virtual_memory_percent_Percentage
host_swap_memory_total_MiB host_swap_memory_used_MiB
host_swap_memory_free_MiB host_swap_memory_percent_Percentage
host_load_average_1m_Percentage host_load_average_5m_Percentage
host_load_average_15m_Percentage host_net_io_tx_data_MiB
host_net_io_rx_data_MiB host_net_io_tx_packets_Packet
host_net_io_rx_packets_Packet host_disk_io_read_data_MiB
host_disk_io_write_data_MiB gpu_utilization_Percentage
gpu_memory_utilization_Percentage gpu_encoder_utilization_Percentage
gpu_decoder_utilization_Percentage gpu_memory_total_MiB gpu_memory_used_MiB
gpu_memory_free_MiB gpu_memory_percent_Percentage gpu_clock_sm_MHz
gpu_clock_memory_MHz gpu_clock_graphics_MHz gpu_clock_video_MHz
gpu_power_usage_W gpu_power_limit_W gpu_temperature_C
gpu_fan_speed_Percentage gpu_pcie_tx_throughput_MiBps
gpu_pcie_rx_throughput_MiBps gpu_nvlink_total_tx_throughput_MiBps
gpu_nvlink_total_rx_throughput_MiBps gpu_nvlink_mean_tx_throughput_MiBps
gpu_nvlink_mean_rx_throughput_MiBps gpu_nvlink_tx_throughput_MiBps
gpu_nvlink_rx_throughput_MiBps process_info_info
process_running_time_Second process_cpu_percent_Percentage
process_rss_memory_MiB process_memory_percent_Percentage
process_gpu_memory_MiB process_gpu_sm_utilization_Percentage
process_gpu_memory_utilization_Percentage
process_gpu_encoder_utilization_Percentage
process_gpu_decoder_utilization_Percentage""".split()
# Only where file systems are on the host's own disks.
MOUNTS = {f"host_disk_usage_{name}" for name in
          ("total_MiB", "used_MiB", "free_MiB", "percent_Percentage")}


def test_names_of_nvitop(export, gpukit):
    e = export(["--gpus", "a100-sxm4-80gb:2", "--load",
                "train:0-1,mem=30GiB"], "--names", "nvitop", "--processes",
               "--pcie", "--hostname", "node-1")
    link = "gpu_nvlink_total_tx_throughput_MiBps"
    m = e.until(lambda m: m.of(link, index="0") > 0 and
                set(m) >= set(NVITOP))
    assert set(m) - MOUNTS == set(NVITOP)
    assert set(m.types.values()) == {"gauge"}
    gpu = gpukit.json("stat", "--json", env=export.made.env)["devices"][0]
    have, total = m["gpu_memory_total_MiB"][0]
    assert have == {"hostname": "node-1", "index": "0", "uuid": gpu["uuid"],
                    "devicename": "NVIDIA A100-SXM4-80GB"}
    assert total == 81920
    assert m.of("gpu_memory_percent_Percentage", index="0") == 37.5
    have, held = m["process_gpu_memory_MiB"][0]
    assert (have["username"], held) == (
        gpu["processes"][0]["user"], 30 * 1024)
    assert m["process_info_info"][0][0]["command"] == "gpukit-load"
    assert m["process_info_info"][0][0]["status"] in (
        "sleeping", "running", "disk-sleep")
    # There are twelve links, whose values add up to the total.
    sent = [value for have, value in m["gpu_nvlink_tx_throughput_MiBps"]
            if have["index"] == "0"]
    assert len(sent) == 12 and sum(sent) == pytest.approx(
        m.of("gpu_nvlink_total_tx_throughput_MiBps", index="0"), rel=0.01)
    assert sum(sent) > 0
    assert m.of("nvitop_info", device_count="2", cuda_driver_version="13.0",
                driver_version="580.95.05") == 1


def test_names_of_nvidia_gpu_exporter_are_nvidia_smis(export, gpukit):
    """The values are those of `smi --query-gpu`, in base units."""
    e = export(["--gpus", "rtx-4090:2", "--frozen",
                "--load", "train:0,mem=8GiB"], "--names", "nvidia_smi",
               "--processes")
    fields = {"memory.used": ("memory_used_bytes", 1 << 20),
              "utilization.gpu": ("utilization_gpu_ratio", .01),
              "clocks.current.sm": ("clocks_current_sm_clock_hz", 1e6),
              "power.draw": ("power_draw_watts", 1),
              "power.default_limit": ("power_default_limit_watts", 1),
              "temperature.gpu": ("temperature_gpu", 1),
              "fan.speed": ("fan_speed_ratio", .01),
              "encoder.stats.averageFps": ("encoder_stats_average_fps", 1),
              "pcie.link.width.current": ("pcie_link_width_current", 1)}
    told = e.until(lambda m: all(len(m["nvidia_smi_" + name]) == 2
                                 for name, _ in fields.values()))
    done = gpukit("smi", "--query-gpu=uuid," + ",".join(fields),
                  "--format=csv,noheader,nounits", env=export.made.env)
    for line in done.stdout.splitlines():
        uuid, *cells = line.split(", ")
        for (name, scale), cell in zip(fields.values(), cells):
            assert told.of("nvidia_smi_" + name,
                           uuid=uuid.removeprefix("GPU-")) == pytest.approx(
                float(cell) * scale), name
    assert told["nvidia_smi_driver_version"][0][1] == 580.95
    assert told["nvidia_smi_pstate"][0][1] in range(16)
    have = told["nvidia_smi_gpu_info"][0][0]
    assert have["name"] == "NVIDIA GeForce RTX 4090"
    assert (have["driver_version"], have["index"]) == ("580.95.05", "0")
    app, held = told["nvidia_smi_compute_app_used_memory_bytes"][0]
    assert (app["process_name"], held) == ("gpukit-load", 8 << 30)
    # Texts are no numbers, and what the board lacks is absent.
    assert not {"nvidia_smi_name", "nvidia_smi_serial",
                "nvidia_smi_uuid"} & set(told)


def test_names_of_opentelemetry(export, gpukit):
    e = export(["--gpus", "a100-sxm4-80gb:2", "--frozen", "--load",
                "train:0,mem=30GiB"], "--names", "otel")
    told = e.metrics()
    gpu = gpukit.json("stat", "--json", env=export.made.env)["devices"][0]
    have, used = told["hw_gpu_memory_usage_bytes"][0]
    assert have["hw_id"] == gpu["uuid"] and have["hw_type"] == "gpu"
    assert have["hw_vendor"] == "NVIDIA"
    assert used == gpu["memory_used_bytes"]
    assert told.of("hw_gpu_utilization_ratio", hw_id=gpu["uuid"],
                   hw_gpu_task="general") == (
        gpu["gpu_utilization_percent"] / 100)
    assert told.of("hw_gpu_memory_utilization_ratio",
                   hw_id=gpu["uuid"]) == pytest.approx(
        used / gpu["memory_total_bytes"], abs=1e-6)
    assert told.of("hw_energy_joules_total", hw_id=gpu["uuid"]) == (
        pytest.approx(gpu["energy_joules"]))
    states = {have["hw_state"]: value for have, value in told["hw_status"]
              if have["hw_id"] == gpu["uuid"]}
    assert states == {"ok": 1, "degraded": 0, "failed": 0}
    assert told.types["hw_errors_total"] == "counter"


# ---- wrong usage ----

@pytest.mark.parametrize("words, part", [
    (["--port", "70000"], "--port"), (["--port", "x"], "--port"),
    (["--names", "zabbix"], "gpukit, dcgm, nvitop"), (["stray"], "stray"),
    (["--tls-cert", "x"], "need each other"),
    (["--tls-client-ca", "x"], "needs"),
    (["--commands"], "--processes"), (["--max-processes", "0"], "from 1"),
    (["--all", "--names", "dcgm"], "--all"), (["-i", "0"], "--interval"),
    (["--nvml", ""], "--nvml")])
def test_wrong_usage_is_2(gpukit, words, part):
    done = gpukit("export", *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert part in done.stderr


def test_failures_are_one_line(gpukit, machine, tmp_path):
    env = machine("--gpus", "t4:1").env
    users = tmp_path / "users"
    users.write_text("ann:x\n")
    users.chmod(0o644)
    empty = tmp_path / "empty"
    empty.write_text("# nobody\n")
    empty.chmod(0o600)
    bad = tmp_path / "bad"
    bad.write_text("nothing:\n")
    bad.chmod(0o600)
    junk = tmp_path / "junk.pem"
    junk.write_text("no certificate")
    junk.chmod(0o600)
    taken = socket.create_server(("127.0.0.1", 0))
    port = taken.getsockname()[1]
    for words, part in [
            (["--auth", users], "chmod 600"), (["--auth", empty], "USER"),
            (["--auth", bad], "USER:PASSWORD"),
            (["--auth", tmp_path / "none"], "No such file"),
            (["--auth", tmp_path], "regular file"),
            (["--tls-cert", junk, "--tls-key", junk], "certificate"),
            (["--port", port], "Address already in use"),
            (["--listen", "no.such.host.invalid"], "no.such.host.invalid"),
            (["--listen", "203.0.113.9"], "203.0.113.9")]:
        done = gpukit("export", *words, env=env)
        assert done.returncode == 1, (words, done.stderr)
        assert done.stderr.startswith("gpukit export: "), done.stderr
        assert done.stderr.count("\n") == 1 and part in done.stderr, (
            words, done.stderr)
    taken.close()


def test_it_listens_at_home_only(export):
    e = export(["--gpus", "t4:1"])
    assert e.host == "127.0.0.1"
    with open("/proc/net/tcp", encoding="ascii") as f:
        here = [line.split()[1] for line in f
                if line.split()[1].endswith(f":{e.port:04X}")
                and line.split()[3] == "0A"]
    assert here == [f"0100007F:{e.port:04X}"]


@can.needed("ipv6")
def test_ipv6(machine):
    e = Exporter(machine("--gpus", "t4:1").env, "--listen", "::1")
    assert e.get("/healthz")[0] == 200
    assert e.stop() == (0, "")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_it_well(machine, number):
    e = Exporter(machine("--gpus", "t4:1").env)
    idle = socket.create_connection((e.host, e.port))
    begun = time.monotonic()
    assert e.stop(number) == (0, "")
    assert time.monotonic() - begun < 8  # a request may take ten seconds
    idle.close()


def test_the_service_manager_is_told(machine, tmp_path):
    path = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(path)
        told.settimeout(20)
        env = {**machine("--gpus", "t4:1").env, "NOTIFY_SOCKET": path}
        e = Exporter(env)
        assert told.recv(100) == b"READY=1"
        assert e.stop()[0] == 0
        assert told.recv(100) == b"STOPPING=1"

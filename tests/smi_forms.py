# SPDX-License-Identifier: Apache-2.0
"""Compares `nvidia-smi -q -x` of a made-up machine with what a real one said.

tests/data/smi-xml has a table for each capture: the elements of its first GPU in
order, with their values. `python3 tests/smi_forms.py GPUKIT FAKE_DIR` prints how
a build differs from each."""

import csv
import glob
import os
import re
import subprocess
import sys
from collections import namedtuple
from xml.etree import ElementTree

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data",
                    "smi-xml")
TABLES = sorted(glob.glob(os.path.join(DATA, "*.csv")))
HEADS = ("profile", "dtd", "driver_version", "cuda_version")
Differences = namedtuple("Differences", "missing extra order forms values")

# What is individual: to a board, to its host or to the moment. Each has the
# form of its values, or their range, or how near to the capture's they are, and
# why.
AtMost = namedtuple("AtMost", "element")  # 0 to the value of another element
Near = namedtuple("Near", "factor less more")  # value / factor - less, ...
POWER = Near(2, 0, 0)
DEVICE_GEN = "pci/pci_gpu_link_info/pcie_gen/max_device_link_gen"
INDIVIDUAL = [
    # element, how, why
    ("serial", r"\d{13}", "of the board"),
    ("uuid", r"GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", "of the board"),
    ("pdi", r"0x[0-9a-f]{1,16}", "of the chip"),
    ("minor_number", r"\d+", "of the host"),
    ("board_id", r"0x[0-9a-f]{1,6}", "place in the host"),
    ("pci/pci_domain", r"[0-9A-F]{4}", "place in the host"),
    ("pci/pci_bus", r"[0-9A-F]{2}", "place in the host"),
    ("pci/pci_device", r"[01][0-9A-F]", "place in the host"),
    ("pci/pci_bus_id", r"[0-9A-F]{8}:[0-9A-F]{2}:[01][0-9A-F]\.0",
     "place in the host"),
    ("gsp_firmware_version", r"N/A|\d+\.\d+\.\d+", "the driver's version"),
    ("platformInfo/chassis_serial_number", r"\d{13}", "of the rack"),
    ("platformInfo/slot_number", r"\d{1,2}", "place in the rack"),
    ("platformInfo/tray_index", r"\d{1,2}", "place in the rack"),
    ("platformInfo/host_id", r"\d", "place in the rack"),
    ("platformInfo/module_id", r"\d", "place on the baseboard"),
    ("gpu_module_id", r"\d", "the same"),
    ("platformInfo/gpu_fabric_guid", r"0x[0-9a-f]{1,16}", "of the board"),
    ("inforom_bbx_flush/latest_timestamp", r"N/A|\d{4}(/\d\d){2} .*",
     "when the board last wrote; some virtual machines hide it"),
    ("inforom_bbx_flush/latest_duration", r"N/A|\d{1,6} us", "of that write"),
    ("gpu_virtualization_mode/virtualization_mode", r"None|Pass-Through",
     "None on bare metal, Pass-Through in a virtual machine"),
    ("addressing_mode", r"None|HMM", "HMM needs a kernel that supports it"),
    ("persistence_mode", r"Enabled|Disabled", "a setting"),
    ("vbios_version", r"\d\d(\.[0-9A-F]{2}){4}", "boards have several"),
    ("board_part_number", r"\d{3}-\d[A-Z0-9]{4}-[A-Z0-9]{4}-\d{3}",
     "customers have their own"),
    ("display_mode", r"Enabled|Disabled", "the same as display_attached"),
    ("display_attached", r"Yes|No", "a display, or the emulated one"),
    ("performance_state", r"P[08]", "hosts can keep boards at P0"),
    ("power_readings/power_state", r"P[08]", "the same"),
    ("gpu_power_readings/power_state", r"P[08]", "the same"),
    ("module_power_readings/power_state", r"P[08]", "the same"),
    ("pci/pci_gpu_link_info/pcie_gen/max_link_gen", AtMost(DEVICE_GEN),
     "the slot"),
    ("pci/pci_gpu_link_info/pcie_gen/current_link_gen", AtMost(DEVICE_GEN),
     "the slot, and lower at rest"),
    ("pci/pci_gpu_link_info/pcie_gen/device_current_link_gen",
     AtMost(DEVICE_GEN), "the same"),
    ("clocks/graphics_clock", AtMost("max_clocks/graphics_clock"),
     "lower at rest"),
    ("clocks/sm_clock", AtMost("max_clocks/sm_clock"), "lower at rest"),
    ("clocks/video_clock", AtMost("max_clocks/video_clock"), "lower at rest"),
    ("clocks/mem_clock", AtMost("max_clocks/mem_clock"),
     "lower at rest, a few MHz below the maximum at times"),
    ("pci/pci_gpu_link_info/link_widths/current_link_width", r"(1|2|4|8|16)x",
     "the slot"),
    ("pci/pci_gpu_link_info/pcie_gen/max_host_link_gen", r"N/A|\d",
     "of the host; N/A in a virtual machine"),
    ("pci/replay_counter", (0, 1e4), "errors of the link"),
    ("pci/tx_util", (0, 1e6), "traffic of the moment, KB/s"),
    ("pci/rx_util", (0, 1e6), "traffic of the moment, KB/s"),
    ("clocks_event_reasons_counters/clocks_event_reasons_counters_sw_power_cap",
     (0, 1e13), "time under the power limit since the driver was loaded"),
    ("clocks_event_reasons/clocks_event_reason_gpu_idle",
     r"Active|Not Active", "a board at rest may be held by its power limit"),
    ("clocks_event_reasons/clocks_event_reason_sw_power_cap",
     r"Active|Not Active", "the same"),
    ("ecc_errors/aggregate/dram_correctable", (0, 100),
     "errors of the board's life"),
    ("fb_memory_usage/used", (0, 25), "what the tool and a desktop take, MiB"),
    ("fb_memory_usage/free", AtMost("fb_memory_usage/total"),
     "what the others leave: test_memory_adds_up"),
    ("bar1_memory_usage/used", (0, 8), "mappings of the moment, MiB"),
    ("bar1_memory_usage/free", AtMost("bar1_memory_usage/total"),
     "what they leave"),
    ("temperature/gpu_temp", Near(1, 19, 19), "the room"),
    ("temperature/memory_temp", Near(1, 19, 19), "the room"),
    ("temperature/gpu_temp_tlimit", Near(1, 19, 19), "the room"),
    ("power_readings/power_draw", POWER, "the moment"),
    ("gpu_power_readings/power_draw", POWER, "the moment"),
    ("gpu_power_readings/average_power_draw", POWER, "the moment"),
    ("gpu_power_readings/instant_power_draw", POWER, "the moment"),
    ("gpu_memory_power_readings/power_draw", POWER, "the moment"),
    ("gpu_memory_power_readings/average_power_draw", POWER, "the moment"),
    ("module_power_readings/power_draw", POWER, "the moment"),
    ("module_power_readings/average_power_draw", POWER, "the moment"),
    ("module_power_readings/instant_power_draw", POWER, "the moment"),
    ("fabric/cliqueId", r"\d{1,5}", "of the partition"),
    ("fabric/clusterUuid", r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}",
     "of the partition"),
]
RANGES = {element: of for element, of, _ in INDIVIDUAL}


def read_table(path):
    """(heads, [(element, value)...]) of a capture; a value { is a group."""
    with open(path, encoding="ascii") as file:
        rows = list(csv.reader(line for line in file if line[0] != "#"))[1:]
    assert tuple(row[0] for row in rows[:len(HEADS)]) == HEADS
    return dict(rows[:len(HEADS)]), [tuple(row) for row in rows[len(HEADS):]]


def clocks(element):
    """(memory clock, graphics clocks) of <supported_clocks>, abridged."""
    for memory in element:
        mhz = [int(clock.text.split()[0]) for clock in memory
               if clock.tag != "value"]
        yield memory.find("value").text, f"{mhz[0]}..{mhz[-1]} {len(mhz)}"


def elements(parent, path=""):
    """(path, value) of everything in an element, like read_table()."""
    for child in parent:
        here = path + child.tag
        if child.tag == "supported_clocks" and len(child):
            for memory, mhz in clocks(child):
                yield f"{here}/{memory}", mhz
        elif len(child):
            yield here, "{"
            yield from elements(child, here + "/")
        else:
            yield here, (child.text or "").strip()


def form_of(value):
    """A value's form: 0 for a number, words as they are."""
    value = re.sub(r"0x[0-9A-Fa-f]+", "0x0", value)
    value = re.sub(r"[A-Z]\d{3}\.\d{4}\.\d\d\.\d\d", "inforom", value)
    value = re.sub(r"^[0-9A-F]{8}$", "0", value)
    return re.sub(r"-?\d+", "0", value)


def number_of(value):
    """The number that a value begins with, or None."""
    number = re.match(r"-?\d+(\.\d+)?", value)
    return float(number[0]) if number else None


def bounds(how, element, capture):
    """Lowest and highest number that an individual element may have, or None;
    capture is a dict of all elements of the capture."""
    if isinstance(how, AtMost):
        highest = number_of(capture.get(how.element, ""))
        return None if highest is None else (0, highest)
    if isinstance(how, Near):
        here = number_of(capture[element])
        return None if here is None else (here / how.factor - how.less,
                                          here * how.factor + how.more)
    return how


def is_in_range(element, value, capture):
    how = RANGES.get(element)
    if isinstance(how, str):
        return re.fullmatch(how, value) is not None
    limits = bounds(how, element, capture)
    number = number_of(value)
    return bool(limits and number is not None and
                limits[0] <= number <= limits[1])


def compare(wanted, mine):
    """Differences of two lists of (element, value). The form of an individual
    value is that of the capture, or else it is in its range. What a capture has
    as not told is left out with all in it."""
    untold = tuple(element for element, value in wanted if value == "not told")
    inside = tuple(element + "/" for element in untold)
    wanted, mine = ([one for one in elements if one[0] not in untold and
                     not one[0].startswith(inside)]
                    for elements in (wanted, mine))
    there, here = [w[0] for w in wanted], [m[0] for m in mine]
    told, capture = dict(mine), dict(wanted)
    forms, values = [], []
    for element, value in wanted:
        own = told.get(element)
        if own is None or own == value:
            continue
        if is_in_range(element, own, capture) and is_in_range(element, value,
                                                              capture):
            continue
        same = form_of(own) == form_of(value)
        (values if same else forms).append((element, value, own))
    common = [e for e in there if e in told]
    order = common != [e for e in here if e in set(there)]
    return Differences([e for e in there if e not in told],
                       [e for e in here if e not in set(there)], order, forms,
                       values)


def read_xml(text):
    """(dtd, cuda version, [(element, value)...]) of the first GPU."""
    dtd = re.search(r"nvsmi_device_v(\d+)\.dtd", text)[1]
    root = ElementTree.fromstring(text)
    return (dtd, root.findtext("cuda_version"),
            list(elements(root.find("gpu"))))


def ask(gpukit, fake_dir, profile, driver):
    """-q -x of a machine with one such board, as a user's tools print it."""
    return subprocess.run(
        [gpukit, "fake", "--gpus", profile, "--driver", driver, "-q", "--",
         "sh", "-ec", '"$0" fake ctl set permission=none >/dev/null; exec "$1" -q -x', gpukit,
         os.path.join(fake_dir, "bin", "nvidia-smi")],
        text=True, capture_output=True, check=True, timeout=120).stdout


def report(gpukit, fake_dir, driver_of=lambda version: version):
    """Prints how a build differs from each capture."""
    for path in TABLES:
        heads, wanted = read_table(path)
        text = ask(gpukit, fake_dir, heads["profile"],
                   driver_of(heads["driver_version"]))
        dtd, cuda, mine = read_xml(text)
        d = compare(wanted, mine)
        print(f"{os.path.basename(path)}: {len(wanted)} elements, "
              f"{len(d.missing)} missing, {len(d.extra)} extra, "
              f"order {'differs' if d.order else 'same'}, "
              f"{len(d.forms)} forms, {len(d.values)} values differ; "
              f"dtd {heads['dtd']} {dtd}, cuda {heads['cuda_version']} {cuda}")
        for name in ("missing", "extra", "forms", "values"):
            for one in getattr(d, name):
                print(f"    {name}: {one}")


if __name__ == "__main__":
    OTHER = dict(pair.split("=") for pair in sys.argv[3:])
    report(sys.argv[1], sys.argv[2], lambda v: OTHER.get(v, v))

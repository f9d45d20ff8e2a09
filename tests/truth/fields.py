# SPDX-License-Identifier: Apache-2.0
"""The ids of nvmlDeviceGetFieldValues: how they are asked for, and what a row
of the table of ids is."""

import ctypes
import os

import pynvml

from conftest import ROOT, core_function
from nvml_client import Refused

ALL_LINKS = 0xffffffff
MEMBERS = {pynvml.NVML_VALUE_TYPE_DOUBLE: "dVal",
           pynvml.NVML_VALUE_TYPE_UNSIGNED_INT: "uiVal",
           pynvml.NVML_VALUE_TYPE_UNSIGNED_LONG_LONG: "ullVal",
           pynvml.NVML_VALUE_TYPE_SIGNED_INT: "siVal"}


def ids():
    """{tail of the name: id} of src/abi/nvml/nvml_fields.def."""
    found = {}
    path = os.path.join(ROOT, "src", "abi", "nvml", "nvml_fields.def")
    with open(path, encoding="utf-8") as file:
        for line in file:
            if line.startswith("NVML_FIELD(NVML_FI_"):
                name, number = line[19:].rstrip(")\n").split(", ")
                found[name] = (int(number) if number.isdigit()
                               else found[number.removeprefix("NVML_FI_")])
    del found["MAX"]
    return found


IDS = ids()


def name_and_scope(key):
    """Keys are NAME or (NAME, scope)."""
    return key if isinstance(key, tuple) else (key, 0)


def entries_of(keys):
    entries = (pynvml.c_nvmlFieldValue_t * len(keys))()
    for entry, key in zip(entries, keys):
        name, scope = name_and_scope(key)
        entry.fieldId, entry.scopeId = IDS[name], scope
    return entries


def told(client, keys):
    """{key: its number, or its Refused}, from one call."""
    keys = list(keys)
    entries = entries_of(keys)
    code = client.raw("nvmlDeviceGetFieldValues", client.device, len(keys),
                      ctypes.byref(entries))
    if code:
        raise Refused(code)
    return {key: Refused(entry.nvmlReturn) if entry.nvmlReturn
            else getattr(entry.value, MEMBERS[entry.valueType])
            for key, entry in zip(keys, entries)}


class Core:  # pylint: disable=too-few-public-methods
    """Changes the machine by a function of its core: function(machine, ARG...).
    """

    def __init__(self, function, *args):
        self.function, self.args = function, args

    def apply(self, run):
        machine = ctypes.c_void_p()
        path = run.machine.path.encode()
        assert core_function("gkf_machine_open")(
            path, ctypes.byref(machine)) == 0
        assert core_function(self.function)(machine, *self.args) == 0
        core_function("gkf_machine_close")(machine)


class Group:  # pylint: disable=too-few-public-methods
    """Ids that one change affects: {key: (before, after)}. Either is a value or
    a predicate, and after differs from before; grows=: ids that only grow, from
    any value."""

    # pylint: disable-next=too-many-arguments
    def __init__(self, name, change, fields, *, grows=(), gpus="h100:2",
                 load=None):
        self.name, self.gpus, self.load = name, gpus, load
        self.change = change if isinstance(change, list) else [change]
        self.fields, self.grows = fields, grows
        self.keys = [*fields, *grows]

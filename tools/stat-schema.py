#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Updates docs/stat.schema.json from the tables of metrics in include/gpukit,
and from the bounds of other numbers in src/core/read/bounds.def.

stat-schema.py           writes the file
stat-schema.py --check   exits with 1 and names what is out of date, if
anything is
"""
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCHEMA = os.path.join(ROOT, "docs", "stat.schema.json")
# Units whose numbers are printed with a fraction.
FRACTIONS = {"CENTIPERCENT", "MILLIWATT", "MILLIJOULE", "NANOSECOND"}
ON_REQUEST = {"DETAIL", "EVENT", "HOST_ASKED"}
ROW = re.compile(r"^(\w+)\((?:\w+,\s*\"(\w+)\"|(\w+)),\s*(.*?)\s*"
                 r"((?:\"[^\"]*\"\s*)+)\)$", re.S | re.M)


def rows(*path):
    """Returns (name, [columns between name and help], help) of a .def file."""
    with open(os.path.join(ROOT, *path), encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    for _, name, bare, columns, words in ROW.findall(text):
        yield (name or bare, [c.strip() for c in columns.split(",")[:-1]],
               "".join(re.findall(r"\"([^\"]*)\"", words)))


def table(name):
    return rows("include", "gpukit", name)


def ends(least, most):
    """Parses a row's bounds, such as 1e15 and -9.5; prints integers without a
    fraction."""
    return {"minimum": int(float(least)), "maximum": int(float(most))}


def value(unit, least, most, text):
    kind = "number" if unit in FRACTIONS else "integer"
    return {"type": [kind, "null"], **ends(least, most), "description": text}


def fill_metrics(into, metrics):
    """Metrics are keys of the object; those read only on request are
    optional."""
    for name, (unit, _, tier, least, most), text in table(metrics):
        into["properties"].setdefault(name, value(unit, least, most, text))
        into["properties"][name].update(ends(least, most))
        if tier not in ON_REQUEST and name not in into["required"]:
            into["required"].append(name)


def whole(properties):
    return {"type": "object", "additionalProperties": False,
            "required": [name for name in properties if name != "why"],
            "properties": properties}


def facts():
    texts = {name: {"type": ["string", "null"], "description": text}
             for name, _, text in table("texts.def")}
    return whole({**texts, "why": {
        "type": "object", "additionalProperties": {"type": "string"}}})


def link():
    fixed = {
        "index": {"type": "integer", "description": "NVML's number of it"},
        "end": {"enum": ["unknown", "gpu", "switch", "cpu"],
                "description": "what it leads to"},
        "remote_bus_id": {"type": ["string", "null"]},
    }
    values = {name: value(unit, least, most, text)
              for name, (unit, _, least, most), text in table("links.def")}
    return whole({**fixed, **values, "why": {
        "type": "object", "additionalProperties": {"type": "string"}}})


def place():
    peer = whole({
        "path": {"enum": ["unknown", "self", "one board", "one PCIe switch",
                          "PCIe switches", "host bridge", "one NUMA node",
                          "between NUMA nodes"],
                 "description": "what lies between the two GPUs"},
        "nvlinks": {"type": "integer", "description": "active NVLinks that "
                    "lead there, by switches too"},
    })
    return whole({
        "cpus": {"type": ["string", "null"], "description": "CPUs near to "
                 "the GPU, as 0-15,32-47"},
        "numa_nodes": {"type": ["string", "null"], "description": "NUMA nodes "
                       "of host memory near to the GPU"},
        "numa_node": {"type": ["integer", "null"], "description": "NUMA node "
                      "of the GPU's memory"},
        "peers": {"type": "array", "items": peer, "description": "the way to "
                  "each GPU, in NVML's order"},
    })


def fill_bounds(parts, top):
    """Sets the bounds of numbers besides metrics, by key, at every level."""
    place, device = (parts[p]["properties"] for p in ("place", "device"))
    metrics = {name for part in ("metrics.def", "process_metrics.def")
               for name, _, _ in table(part)}
    objects = [(top, ()), (parts["host"]["properties"], ()),
               (device, metrics), (parts["process"]["properties"], metrics),
               (device["age_seconds"]["properties"], ()), (place, ()),
               (place["peers"]["items"]["properties"], ())]
    for _, (_, least, most, _), keys in rows("src", "core", "read",
                                             "bounds.def"):
        for key in keys.split():
            for properties, others in objects:
                if key in properties and key not in others:
                    properties[key].update(ends(least, most))


def fill(schema):
    parts = schema["$defs"]
    fill_metrics(parts["device"], "metrics.def")
    fill_metrics(parts["process"], "process_metrics.def")
    parts.update(facts=facts(), link=link(), place=place())
    device = parts["device"]["properties"]
    device["facts"] = {"$ref": "#/$defs/facts"}
    device["links"] = {"type": "array", "items": {"$ref": "#/$defs/link"},
                       "description": "NVLinks, with --detail"}
    device["age_seconds"]["properties"]["detail"] = {
        "type": "number", "description": "what --detail adds"}
    schema["properties"]["topology"] = {
        "type": "array", "items": {"$ref": "#/$defs/place"},
        "description": "where the GPUs are, in NVML's order, with --detail"}
    fill_bounds(parts, schema["properties"])


def main():
    with open(SCHEMA, encoding="utf-8") as file:
        before = file.read()
    schema = json.loads(before)
    fill(schema)
    after = json.dumps(schema, indent="\t", ensure_ascii=False) + "\n"
    if "--check" in sys.argv:
        if json.loads(before) != schema:
            sys.exit("docs/stat.schema.json lacks a metric: run "
                     "tools/stat-schema.py")
        return
    with open(SCHEMA, "w", encoding="utf-8") as file:
        file.write(after)


if __name__ == "__main__":
    main()

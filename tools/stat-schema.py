#!/usr/bin/env python3
"""Brings docs/stat.schema.json up to the tables of metrics in include/gpukit.

stat-schema.py           writes the file
stat-schema.py --check   1 and the name of what is missing, if it is not so
"""
import json
import os
import re
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SCHEMA = os.path.join(ROOT, "docs", "stat.schema.json")
# Units whose numbers have a fraction when they are printed.
FRACTIONS = {"CENTIPERCENT", "MILLIWATT", "MILLIJOULE", "NANOSECOND"}
ON_REQUEST = {"DETAIL", "EVENT", "HOST_ASKED"}
ROW = re.compile(r"^(\w+)\(\w+,\s*\"(\w+)\",\s*(.*?)\s*"
                 r"((?:\"[^\"]*\"\s*)+)\)$", re.S | re.M)


def rows(table):
    """(name, [columns between name and help], help) of a .def file."""
    path = os.path.join(ROOT, "include", "gpukit", table)
    with open(path, encoding="utf-8") as file:
        text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
    for _, name, columns, words in ROW.findall(text):
        yield (name, re.findall(r"\w+", columns),
               "".join(re.findall(r"\"([^\"]*)\"", words)))


def value(unit, text):
    kind = "number" if unit in FRACTIONS else "integer"
    return {"type": [kind, "null"], "description": text}


def fill_metrics(into, table):
    """Metrics are keys of the object; those read on request need not be."""
    for name, (unit, _, tier), text in rows(table):
        if name not in into["properties"]:
            into["properties"][name] = value(unit, text)
        if tier not in ON_REQUEST and name not in into["required"]:
            into["required"].append(name)


def whole(properties):
    return {"type": "object", "additionalProperties": False,
            "required": [name for name in properties if name != "why"],
            "properties": properties}


def facts():
    texts = {name: {"type": ["string", "null"], "description": text}
             for name, _, text in rows("texts.def")}
    return whole({**texts, "why": {
        "type": "object", "additionalProperties": {"type": "string"}}})


def link():
    fixed = {
        "index": {"type": "integer", "description": "NVML's number of it"},
        "end": {"enum": ["unknown", "gpu", "switch", "cpu"],
                "description": "what it leads to"},
        "remote_bus_id": {"type": ["string", "null"]},
    }
    values = {name: value(unit, text)
              for name, (unit, _), text in rows("links.def")}
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
                      "that the memory of the GPU is"},
        "peers": {"type": "array", "items": peer, "description": "the way to "
                  "each GPU, in NVML's order"},
    })


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

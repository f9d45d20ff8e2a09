# SPDX-License-Identifier: Apache-2.0
"""Reads the facts of an NVML header: every function, type and constant.

Works on any header that declares NVML, NVIDIA's or ours, through the C
compiler: the preprocessed text gives names and types, a program compiled
against the header gives sizes, offsets and values. Does not depend on the
tests.
"""

import os
import re
import subprocess

# Without this NVIDIA's header renames nvmlInit to nvmlInit_v2, and so on.
DEFINES = ["-DNVML_NO_UNVERSIONED_FUNC_DEFS"]
CC = os.environ.get("CC", "cc")

# Macros that are not facts of the ABI, each with the reason. Names of NVIDIA's
# header that we do not declare must be here or the test fails.
LEFT_OUT = {
    "DECLDIR": "how the header marks exports on Windows",
    "DEPRECATED": "compiler attribute",
    "NVML_NO_UNVERSIONED_FUNC_DEFS": "given on the command line",
    "NVML_MCDM_SUPPORT": "empty switch of Windows builds",
    "NVML_STRUCT_VERSION": "helper; its results are compared",
    "NVML_DEVICE_PCI_BUS_ID_FMT_ARGS": "helper for printf",
    "NVML_GPU_FABRIC_HEALTH_GET": "helper; shifts and widths are compared",
    "NVML_GPU_FABRIC_HEALTH_TEST": "helper; shifts and widths are compared",
    "NVML_CUDA_DRIVER_VERSION_MAJOR": "helper: v / 1000",
    "NVML_CUDA_DRIVER_VERSION_MINOR": "helper: v % 1000 / 10",
    "NVML_NVLINK_ERROR_COUNTER_BER_GET": "helper; shifts are compared",
    "NVML_255_MASK_BIT_SET": "helper on nvmlMask255_t",
    "NVML_255_MASK_BIT_GET": "helper on nvmlMask255_t",
    "NVML_255_MASK_BIT_SET_PTR": "helper on nvmlMask255_t",
    "NVML_255_MASK_BIT_GET_PTR": "helper on nvmlMask255_t",
    "NVML_POWER_SMOOTHING_IDX_FROM_FIELD_VAL": "helper on field ids",
    "NVML_VGPU_VIRTUALIZATION_CAP_MIGRATION": "bit range 0:0, no C value",
    "NVML_VGPU_PGPU_VIRTUALIZATION_CAP_MIGRATION": "bit range 0:0",
    "nvmlEccBitType_t": "type by macro there, by typedef here",
}

# Names that only we declare, each with the reason.
OURS = {
    "NVML_EXPORT": "visibility of the prototypes",
    "nvml_field_id": "the enum that holds the NVML_FI_ values",
    "nvmlEccBitType_t": "type by macro there, by typedef here",
    "nvmlPciInfo_v2_t": "record of callers older than _v3",
}

PROGRAM = r"""
#include <stddef.h>
#include <stdio.h>
#include "%s"

#define TEXT(x) _Generic((x), char *: (x), default: "")
#define NUMBER(x) ((long long)_Generic((x), char *: 0, default: (x)))
#define TYPE(x) _Generic((x), char *: "string", int: "int", \
	unsigned int: "unsigned int", long: "long", unsigned long: \
	"unsigned long", long long: "long long", unsigned long long: \
	"unsigned long long", default: "other")
#define CONSTANT(name, x) printf("constant %%s\t%%s %%lld%%s\n", name, \
	TYPE(x), NUMBER(x), TEXT(x))
#define FIELD(t, f) printf("layout %%s\toffset %%zu size %%zu\n", #t "." #f, \
	offsetof(t, f), sizeof(((t *)0)->f))
#define SIZE(t) printf("layout %%s\tsize %%zu align %%zu\n", #t, sizeof(t), \
	_Alignof(t))

int main(void)
{
%s
	return 0;
}
"""


def compiler(args, text=None):
    done = subprocess.run([CC, "-std=gnu17", *args], input=text,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout


def without_system_headers(text):
    """Preprocessed text without what <...> headers gave, by its line markers.
    """
    out, system = [], False
    for line in text.splitlines():
        m = re.match(r'# \d+ "[^"]*"(.*)', line)
        if m:
            system = "3" in m[1].split()
        elif not system:
            out.append(line)
    return "\n".join(out)


def squeeze(text):
    """One spelling for each type, whatever its blanks and short forms."""
    text = re.sub(r"\s+", " ", text.replace("*", " * ")).strip()
    text = re.sub(r"\bunsigned(?! (int|char|short|long))", "unsigned int",
                  text)
    return re.sub(r"\bsigned (?=long|int|short)", "", text)


def split_top(text, separator):
    """Splits at the separators that are outside all brackets."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        depth += (c in "{([") - (c in "})]")
        if c == separator and depth == 0:
            parts.append(text[start:i].strip())
            start = i + 1
    parts.append(text[start:].strip())
    return [p for p in parts if p]


def declarator(text):
    """('unsigned int * [4]', 'name') of a field or a parameter."""
    m = re.match(r"(.*?)\b(\w+)\s*((?:\[[^]]*\]\s*)*)$", squeeze(text))
    extent = re.sub(r"[()\s]", "", m[3])
    return (m[1].strip() + " " + extent).strip(), m[2]


def fields(body, prefix=""):
    """[(path, type)] of a struct's members, nested ones included."""
    out = []
    for part in split_top(body, ";"):
        m = re.match(r"(struct|union)\s*\w*\s*\{(.*)\}\s*(\w*)\s*(\[.*\])?$",
                     part, re.S)
        if not m:
            kind, name = declarator(part)
            out.append((prefix + name, kind))
            continue
        path = prefix
        if m[3]:
            extent = re.sub(r"[()\s]", "", m[4] or "")
            out.append((prefix + m[3], f"{m[1]} {extent}"))
            path += m[3] + ("[0]" if m[4] else "") + "."
        out += fields(m[2], path)
    return out


def parameters(text):
    kinds = []
    for part in split_top(text, ","):
        part = squeeze(part)
        kinds.append(part if " " not in part else declarator(part)[0])
    return ", ".join(kinds)


class Header:
    """The names that a header declares; facts() adds what the compiler knows.
    Other APIs derive from it."""

    function = r"nvml\w+"
    defines = DEFINES
    system = "#include <stddef.h>\n"    # what it may include
    not_compared = {**LEFT_OUT, **OURS}
    # Enums whose constants are listed with their enum.
    enum = r"\w+_t"

    def __init__(self, path):
        self.path = os.path.abspath(path)
        self.facts_by_name = {}
        self.aggregates = {}
        self.constants = []
        text = without_system_headers(compiler(
            [*self.defines, "-E", "-D__attribute__(x)=", self.path]))
        text = re.sub(r"_Static_assert\s*\(.*?\)\s*;", "", text, flags=re.S)
        for statement in split_top(text, ";"):
            self._statement(statement)
        self._macros()

    def _statement(self, s):
        m = re.match(r"(typedef )?\s*(struct|union|enum)\s*(\w*)\s*"
                     r"\{(.*)\}\s*([\w\s,]*)$", s, re.S)
        if m:
            names = split_top(m[5], ",") or [m[3]]
            self._aggregate(m[2], m[4], names)
            return
        m = re.match(r"typedef\b(.*)$", s, re.S)
        if m:
            kind, name = declarator(m[1])
            self.facts_by_name["typedef " + name] = kind
            return
        m = re.match(rf"(.*?)\b({self.function})\s*\((.*)\)$", squeeze(s),
                     re.S)
        if not m:
            raise RuntimeError("not understood: " + s[:200])
        self.facts_by_name["function " + m[2]] = (
            m[1].strip() + " (" + parameters(m[3]) + ")")

    def _aggregate(self, kind, body, names):
        for name in names:
            self.facts_by_name[f"{kind} {name}"] = "declared"
            if kind != "enum":
                self.aggregates[name] = fields(body)
                for path, of in self.aggregates[name]:
                    self.facts_by_name[f"member {name}.{path}"] = of
        if kind == "enum":
            for item in split_top(body, ","):
                constant = item.split("=")[0].strip()
                self.constants.append(constant)
                if re.fullmatch(self.enum, names[0]):
                    self.facts_by_name["enumerator " + constant] = names[0]

    def _macros(self):
        plain = set(compiler(["-E", "-dM", "-xc", "-"],
                             self.system).splitlines())
        for line in compiler([*self.defines, "-E", "-dM",
                              self.path]).splitlines():
            m = re.match(r"#define (\w+)(\(?)(.*)", line)
            name = m[1]
            if line in plain or name in self.not_compared:
                continue
            if re.match(r"_|GPUKIT_ABI_", name):
                continue                        # include guards
            if m[2]:
                self.facts_by_name["helper " + name] = "declared"
            else:
                self.constants.append(name)

    def facts(self, workdir):
        """{'kind name': 'value'} for everything the header declares."""
        lines = []
        for name, members in self.aggregates.items():
            lines.append(f"SIZE({name});")
            lines += [f"FIELD({name}, {path});" for path, _ in members]
        lines += [f'CONSTANT("{c}", {c});' for c in self.constants]
        source = os.path.join(workdir, "facts.c")
        binary = os.path.join(workdir, "facts")
        with open(source, "w", encoding="utf-8") as f:
            f.write(PROGRAM % (self.path, "\n".join(lines)))
        compiler([*self.defines, "-w", "-o", binary, source])
        out = subprocess.run([binary], capture_output=True, text=True,
                             check=True).stdout
        facts = dict(self.facts_by_name)
        facts.update(line.split("\t") for line in out.splitlines())
        return facts


def differences(theirs, ours, left_out=LEFT_OUT, only_ours=OURS):
    """One line for each fact that differs."""
    out = []
    for key in sorted(theirs.keys() | ours.keys()):
        name = re.split(r"[ .]", key)[1]
        if key not in ours:
            if name not in left_out:
                out.append(f"missing here: {key} = {theirs[key]}")
        elif key not in theirs:
            if name not in only_ours:
                out.append(f"only here: {key} = {ours[key]}")
        elif theirs[key] != ours[key]:
            out.append(f"differs: {key}: NVIDIA {theirs[key]}, "
                       f"here {ours[key]}")
    return out

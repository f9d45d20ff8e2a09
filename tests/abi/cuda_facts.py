# SPDX-License-Identifier: Apache-2.0
"""Reads the facts of a CUDA driver API header, NVIDIA's or ours."""

import os
import re

from abi_tables import cuda_symbols
from conftest import ROOT
from nvml_facts import Header, parameters, split_top, squeeze

ABI = os.path.join(ROOT, "src", "abi", "cuda")


def abi_text(name):
    with open(os.path.join(ABI, name), encoding="utf-8") as f:
        return f.read()


def rows():
    """[(symbol, base, since, stream)] of all exports."""
    return sorted(symbol[:4] for symbol in cuda_symbols())


def newer_names():
    """Names that came after CUDA 13.0: those declared by cuda_newer.h, and
    functions."""
    text = re.sub(r"/\*.*?\*/", "", abi_text("cuda_newer.h"), flags=re.S)
    known = "".join(abi_text(name) for name in os.listdir(ABI)
                    if re.fullmatch(r"cuda_(?!newer)\w+\.h", name))
    return ({name for name in re.findall(r"\b\w+\b", text)
             if not re.search(rf"\b{name}\b", known)} |
            {symbol for symbol, _, since, _ in rows() if since > 13000})



# Names of NVIDIA's header that we do not declare, each with the reason.
LEFT_OUT = {
    "CUDAAPI": "calling convention of Windows",
    "CUDA_CB": "calling convention of Windows",
    "CU_UUID_HAS_BEEN_DEFINED": "guard of one type",
}

# Names that only we declare, each with the reason.
OURS = {
    "CUDA_EXPORT": "visibility of the prototypes",
    **{"CUDA_EXTERNAL_" + name: "members that the runtime has as well"
       for name in ("HANDLE", "SIGNAL", "WAIT", "PARAMS")},
    "cuProfilerInitialize": "of cudaProfiler.h",
    "cuProfilerStart": "of cudaProfiler.h",
    "cuProfilerStop": "of cudaProfiler.h",
    "CUoutput_mode": "of cudaProfiler.h",
    "CU_OUT_KEY_VALUE_PAIR": "of cudaProfiler.h",
    "CU_OUT_CSV": "of cudaProfiler.h",
    "CUDA_ERROR_STREAM_DETACHED": "of CUDA 13.1",
    "CUDA_ERROR_GRAPH_RECAPTURE_FAILURE": "of CUDA 13.3",
}


class CudaHeader(Header):
    function = r"cu\w+"
    # With this NVIDIA's header declares the functions and structs of older
    # versions too, without renaming; _ODR omits what it has for itself.
    defines = ["-D__CUDA_API_VERSION_INTERNAL",
               "-D__CUDA_API_VERSION_INTERNAL_ODR"]
    system = "#include <stddef.h>\n#include <stdint.h>\n#include <stdlib.h>\n"
    not_compared = {**LEFT_OUT, **OURS}
    enum = r"\w+"

    def _statement(self, s):
        m = re.match(r"typedef (.*?)\(\s*\*\s*(\w+)\s*\)\s*\((.*)\)$",
                     squeeze(s), re.S)
        if not m:
            super()._statement(s)
            return
        self.facts_by_name["typedef " + m[2]] = (
            f"{m[1].strip()} (*) ({parameters(m[3])})")


def pointer_types(text):
    """{name: {CUDA version: parameters}} from cudaTypedefs.h."""
    out = {}
    for s in split_top(text, ";"):
        m = re.match(r"typedef CUresult \(\s*\*\s*PFN_(cu\w+?)_v(\d+)"
                     r"(_ptds|_ptsz)?\s*\)\s*\((.*)\)$", squeeze(s), re.S)
        if m:
            out.setdefault((m[1], m[3] or ""), {})[int(m[2])] = parameters(
                m[4])
    return out

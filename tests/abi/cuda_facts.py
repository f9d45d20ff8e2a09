"""Reads the facts of a CUDA driver API header, NVIDIA's or ours."""

import re

from nvml_facts import Header, parameters, split_top, squeeze

# Names of NVIDIA's header that we do not declare, each with the reason.
LEFT_OUT = {
    "CUDAAPI": "calling convention of Windows",
    "CUDA_CB": "calling convention of Windows",
    "CU_UUID_HAS_BEEN_DEFINED": "guard of one type",
}

# Names that only we declare, each with the reason.
OURS = {
    "CUDA_EXPORT": "visibility of the prototypes",
    "cuProfilerInitialize": "of cudaProfiler.h",
    "cuProfilerStart": "of cudaProfiler.h",
    "cuProfilerStop": "of cudaProfiler.h",
    "CUoutput_mode": "of cudaProfiler.h",
    "CU_OUT_KEY_VALUE_PAIR": "of cudaProfiler.h",
    "CU_OUT_CSV": "of cudaProfiler.h",
}


class CudaHeader(Header):
    function = r"cu\w+"
    # With it NVIDIA's header declares the functions and structs of older
    # versions too, and renames none; _ODR leaves out what it has for itself.
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
    """{name: {CUDA version: parameters}} of cudaTypedefs.h."""
    out = {}
    for s in split_top(text, ";"):
        m = re.match(r"typedef CUresult \(\s*\*\s*PFN_(cu\w+?)_v(\d+)"
                     r"(_ptds|_ptsz)?\s*\)\s*\((.*)\)$", squeeze(s), re.S)
        if m:
            out.setdefault((m[1], m[3] or ""), {})[int(m[2])] = parameters(
                m[4])
    return out

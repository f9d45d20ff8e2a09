# SPDX-License-Identifier: Apache-2.0
"""Reads the facts of the CUDA runtime's headers, NVIDIA's or ours."""

import os
import re

from cuda_facts import CudaHeader
from nvml_facts import (Header, compiler, parameters, split_top, squeeze,
                        without_system_headers)

# Names of NVIDIA's headers that we do not declare, each with the reason.
LEFT_OUT = {
    "cudaDataType_t": "of the libraries above the runtime",
    "cudaEmulationMantissaControl": "of the libraries above the runtime",
    "cudaEmulationMantissaControl_t": "of the libraries above the runtime",
    "cudaEmulationSpecialValuesSupport": "of the libraries above the runtime",
    "cudaEmulationSpecialValuesSupport_t": "of the libraries above",
    "cudaEmulationStrategy": "of the libraries above the runtime",
    "cudaEmulationStrategy_t": "of the libraries above the runtime",
    "cudaRoundMode": "of device code",
    "cudaRoundNearest": "of device code",
    "cudaRoundZero": "of device code",
    "cudaRoundPosInf": "of device code",
    "cudaRoundMinInf": "of device code",
}

# Names that only we declare, each with the reason.
OURS = {
    "cudaProfilerStart": "of cuda_profiler_api.h",
    "cudaProfilerStop": "of cuda_profiler_api.h",
    "__cudaGetKernel": "of C++ headers, compared by emitted()",
    "__cudaGetProcAddress": "exported, declared nowhere",
    "__cudaInitModule": "of C++ headers, compared by emitted()",
    "__cudaLaunchKernel": "of C++ headers, compared by emitted()",
    "__cudaLaunchKernel_ptsz": "of C++ headers, compared by emitted()",
    "__cudaPopCallConfiguration": "of C++ headers, compared by emitted()",
    "__cudaPushCallConfiguration": "of C++ headers, compared by emitted()",
    "__cudaRegisterFatBinary": "of C++ headers, compared by emitted()",
    "__cudaRegisterFatBinaryEnd": "of C++ headers, compared by emitted()",
    "__cudaRegisterFunction": "of C++ headers, compared by emitted()",
    "__cudaRegisterHostVar": "exported, declared nowhere",
    "__cudaRegisterManagedVar": "of C++ headers, compared by emitted()",
    "__cudaRegisterUnifiedTable": "exported, declared nowhere",
    "__cudaRegisterVar": "of C++ headers, compared by emitted()",
    "__cudaUnregisterFatBinary": "of C++ headers, compared by emitted()",
}

# Headers and types that NVIDIA's take from EGL, OpenGL and VDPAU.
FOREIGN = {
    "EGL/egl.h": "",
    "EGL/eglext.h": "typedef void *EGLStreamKHR; typedef void *EGLImageKHR;"
                    "typedef void *EGLSyncKHR; typedef int EGLint;",
    "GL/gl.h": "typedef unsigned int GLuint; typedef unsigned int GLenum;",
    "vdpau/vdpau.h": "typedef unsigned int VdpDevice;"
                     "typedef unsigned int VdpVideoSurface;"
                     "typedef unsigned int VdpOutputSurface;"
                     "typedef int VdpStatus; typedef int VdpGetProcAddress("
                     "VdpDevice d, unsigned int f, void **p);",
}

ALL = """#include <cuda_runtime_api.h>
#include <cuda_gl_interop.h>
#include <cuda_egl_interop.h>
#include <cuda_vdpau_interop.h>
"""

# The names that are compared in both: the runtime's own.
NAMES = re.compile(r"\w+ (cuda|__cuda|CUDA_EGL|CUDART_VERSION|dim3|uint3)")

# In NVIDIA's header x, y and z are one declaration; size and alignment are
# compared.
VECTORS = re.compile(r"\w+ (dim3|uint3)\.")


def without_bodies(text):
    """Preprocessed text without the bodies of inline functions."""
    text = re.sub(r"__asm__ *\([^()]*\)", "", text)
    while True:
        shorter = re.sub(r"(\)\s*)\{[^{}]*\}", r"\1;", text)
        if shorter == text:
            return text
        text = shorter


# Macros that name types.
TYPES = {"cudaStreamAttrID", "cudaStreamAttrValue", "cudaKernelNodeAttrID",
         "cudaKernelNodeAttrValue"}


class CudartHeader(CudaHeader):
    function = r"(?:__)?cuda\w+"
    not_compared = TYPES

    def __init__(self, path, flags):
        self.path = os.path.abspath(path)
        self.facts_by_name = {}
        self.aggregates = {}
        self.constants = []
        self.tags = {}                  # structs without a typedef
        self.defines = [*CudaHeader.defines, *flags]
        text = without_system_headers(compiler(
            [*self.defines, "-E", "-D__attribute__(x)=", "-D__inline__=",
             "-D__restrict=", "-xc", self.path]))
        text = re.sub(r"_Static_assert\s*\(.*?\)\s*;", "", text, flags=re.S)
        for statement in split_top(without_bodies(text), ";"):
            statement = re.sub(r"\bextern\b", "", statement).strip()
            if re.match(r"#|static\b", statement):
                continue
            self._statement(statement)
        self._macros()
        self.constants = [c for c in self.constants
                          if NAMES.match("constant " + c)]
        self.aggregates = {name: members for name, members in
                           self.aggregates.items()
                           if NAMES.match("struct " + name)}

    def _statement(self, s):
        if re.match(r"(struct|union|enum) \w+$", s):
            return                      # a mere forward declaration
        m = re.match(r"(struct|union) (\w+)\s*\{", squeeze(s))
        if m:
            self.tags[m[2]] = m[1]
        m = re.match(r"typedef (.*?)\(\s*\*?\s*(\w+)\s*\)?\s*\((.*)\)$",
                     squeeze(s), re.S)
        if m:                           # its parameters may have no names
            self.facts_by_name["typedef " + m[2]] = f"{m[1]}({squeeze(m[3])})"
        elif NAMES.search("x " + squeeze(s).split("(")[0].split()[-1]) or \
                re.match(r"(typedef )?(struct|union|enum)\b[^{]*\{", s):
            Header._statement(self, s)

    def facts(self, workdir):
        """Treats every struct as a typedef too."""
        wrapper = os.path.join(workdir, "wrapper.h")
        with open(wrapper, "w", encoding="utf-8") as f:
            f.write(f'#include "{self.path}"\n')
            for name in self.aggregates:
                if "typedef " + name not in self.facts_by_name and \
                        name in self.tags:
                    kind = self.tags[name]
                    f.write(f"typedef {kind} {name} {name};\n")
        self.path = wrapper
        found = super().facts(workdir)
        return {k: v for k, v in found.items()
                if NAMES.match(k) and not VECTORS.match(k)}


def emitted(text):
    """{name: prototype} of the functions that nvcc emits calls to, from its C++
    headers."""
    text = re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)
    found = re.findall(r"extern(?: \"C\")?([\w\s*]*?)CUDARTAPI\s+(__cuda\w+)\s*"
                       r"\(([^()]*)\)\s*;", text)
    out = {}
    for kind, name, given in found:
        kind = re.sub(r"__host__|__device__", "", kind)
        given = re.sub(r"=\s*\w+", "", given)
        given = re.sub(r"\*\s*(,|$)", r"*unnamed\1", given.strip())
        out[name] = f"{squeeze(kind)} ({parameters(given)})"
    return out

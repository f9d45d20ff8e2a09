# SPDX-License-Identifier: Apache-2.0
"""Roots and driver libraries for the tests of `gpukit doctor`."""

import functools
import subprocess
import tempfile

VERSION = "580.95.05"
KERNEL = "6.1.0-27-amd64"

# A driver with one GPU that lacks all functions but these. VERSION is in the
# file's name only, as in NVIDIA's.
NVML = """
#include <stdio.h>
#include <stdlib.h>
int nvmlInit_v2(void) { char *s = getenv("STUB_INIT"); return s ? atoi(s) : 0; }
#ifndef LACKING
int nvmlShutdown(void) { return 0; }
#endif
int nvmlDeviceGetCount_v2(unsigned *count)
{
	char *s = getenv("STUB_GPUS");
	*count = s ? atoi(s) : 1;
	return 0;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned i, void **device)
{
	*device = (void *)(8L * (i + 1));
	return 0;
}
int nvmlDeviceGetName(void *device, char *name, unsigned len)
{
	return snprintf(name, len, "NVIDIA Stub") < 0;
}
int nvmlSystemGetDriverVersion(char *version, unsigned len)
{
	return snprintf(version, len, "%s", VERSION) < 0;
}
"""

# access(2) is refused as by a cgroup of devices.
DENIED = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
int faccessat(int dir, const char *path, int mode, int flags)
{
	int (*next)(int, const char *, int, int) = dlsym(RTLD_NEXT, "faccessat");
	if (!strncmp(path, "dev/nvidia", 10)) {
		errno = EPERM;
		return -1;
	}
	return next(dir, path, mode, flags);
}
"""


@functools.cache
def compiled(source, *flags):
    """A library, as bytes: many tests use the same."""
    with tempfile.NamedTemporaryFile() as to:
        subprocess.run(["cc", "-shared", "-fPIC", "-w",
                        f'-DVERSION="{VERSION}"', "-x", "c", "-", "-o", to.name,
                        *flags], text=True, input=source, check=True)
        with open(to.name, "rb") as file:
            return file.read()


def library(folder, soname, source="", version=VERSION, *flags):
    """A library in a folder as drivers have it: its file is named after the
    version, and soname leads to it."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / soname.replace(".so.1", f".so.{version}")
    path.write_bytes(compiled(source, *flags))
    (folder / soname).symlink_to(path.name)
    return folder


def driver(folder, version=VERSION, *flags):
    """A folder for LD_LIBRARY_PATH with NVML and libcuda."""
    library(folder, "libnvidia-ml.so.1", NVML, version, *flags)
    return library(folder, "libcuda.so.1", "", version)


class Root:
    """A directory for --root: a Debian with a GPU and its driver."""

    def __init__(self, path):
        self.path = path
        path.mkdir(mode=0o755)
        self.write("etc/os-release", 'ID=debian\nPRETTY_NAME="Debian 12"\n')
        self.write("proc/sys/kernel/osrelease", KERNEL + "\n")
        self.write("proc/self/mounts", "proc /proc proc rw,relatime 0 0\n")
        self.write("proc/modules", "nvidia_uvm 1 0 - Live 0x0\n"
                   "nvidia 1 0 - Live 0x0\n")
        self.write("proc/driver/nvidia/version",
                   "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  "
                   f"{VERSION}  Release Build\nGCC version: gcc 12.2.0\n")
        self.link("proc/self/ns/pid", "pid:[4026531836]")
        self.write(f"lib/modules/{KERNEL}/modules.dep",
                   "updates/dkms/nvidia.ko:\n")
        for name in ("nvidiactl", "nvidia0", "nvidia-uvm"):
            self.write(f"dev/{name}", "", 0o666)
        self.folder("dev/shm", 0o777)
        self.gpu("0000:01:00.0", "nvidia")

    def folder(self, name, mode=0o755):
        (self.path / name).mkdir(parents=True, exist_ok=True)
        (self.path / name).chmod(mode)

    def write(self, name, text, mode=0o644):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        path.chmod(mode)

    def link(self, name, to):
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        path.symlink_to(to)

    def remove(self, *names):
        for name in names:
            (self.path / name).unlink()

    def gpu(self, bus_id, taker):
        at = f"sys/bus/pci/devices/{bus_id}"
        self.write(f"{at}/vendor", "0x10de\n")
        self.write(f"{at}/class", "0x030200\n")
        if taker:
            self.link(f"{at}/driver", f"../../../bus/pci/drivers/{taker}")
        else:
            (self.path / at / "driver").unlink(missing_ok=True)

    def unload(self):
        """As after a boot without the module."""
        self.write("proc/modules", "ext4 1 0 - Live 0x0\n")
        self.remove("proc/driver/nvidia/version", "dev/nvidiactl",
                    "dev/nvidia0", "dev/nvidia-uvm")
        self.gpu("0000:01:00.0", None)


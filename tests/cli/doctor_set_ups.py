# SPDX-License-Identifier: Apache-2.0
"""Broken set-ups for the tests of `gpukit doctor`: each function breaks a
patient, and returns the check that notices it, its state, its finding, and a
part of what to do."""

import json
import re
import shutil
import subprocess

from conftest import GPUKIT, clean_env, preload
from doctor_roots import DENIED, Root, compiled, driver, library

# Variables of the machine on which the tests run.
FOREIGN = ("CUDA_VISIBLE_DEVICES", "DISPLAY", "KUBERNETES_SERVICE_HOST",
           "NVIDIA_DRIVER_CAPABILITIES", "NVIDIA_VISIBLE_DEVICES", "NO_COLOR",
           "WAYLAND_DISPLAY", "XDG_CONFIG_HOME", "container")


# The CPUs may be busy with other tests.
PATIENTLY = ("--timeout", "10")


class Patient:
    def __init__(self, path):
        self.path = path
        self.root = Root(path / "root")
        self.libraries = path / "lib"
        self.env = {"LD_LIBRARY_PATH": str(self.libraries), "LC_ALL": "C.UTF-8",
                    "HOME": str(path)}
        self.words = ["--root", str(self.root.path), *PATIENTLY]
        self.user = None
        self.command = GPUKIT

    def run(self, *words, **more):
        if not self.libraries.exists():
            driver(self.libraries)
        env = {name: value for name, value in clean_env(**self.env).items()
               if name not in FOREIGN or name in self.env}
        return subprocess.run([self.command, "doctor", *self.words, *words],
                              stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, timeout=60, env=env,
                              user=self.user, **more)

    def report(self):
        done = self.run("--json")
        assert done.stderr == ""
        report = json.loads(done.stdout)
        assert done.returncode == (0 if report["well"] else 1), done.stdout
        return report


def no_driver(p):
    p.root.unload()
    p.root.remove("lib/modules/6.1.0-27-amd64/modules.dep")
    p.libraries.mkdir()
    return ("driver", "bad", "no NVIDIA driver: there is no libnvidia-ml.so.1",
            "sudo apt install nvidia-driver")


def no_gpu(p):
    shutil.rmtree(p.root.path / "sys")
    p.root.unload()
    shutil.rmtree(p.root.path / "sys")
    p.libraries.mkdir()
    return ("hardware", "bad", "no NVIDIA GPU on the PCI bus", "gpukit fake --")


def no_library_for_the_module(p):
    p.libraries.mkdir()
    return ("driver", "bad", "the kernel module is loaded, but there is no "
            "libnvidia-ml.so.1", "sudo apt install nvidia-driver")


def a_container_without_gpus(p):
    p.root.write(".dockerenv", "")
    p.libraries.mkdir()
    return ("driver", "bad", "this container has no libnvidia-ml.so.1",
            "docker run --gpus all")


def a_container_for_compute_only(p):
    p.root.write(".dockerenv", "")
    p.libraries.mkdir()
    p.env["NVIDIA_DRIVER_CAPABILITIES"] = "compute"
    return ("driver", "bad", "this container has no libnvidia-ml.so.1: "
            "NVIDIA_DRIVER_CAPABILITIES=compute has no utility",
            "NVIDIA_DRIVER_CAPABILITIES=compute,utility")


def a_pod_without_device_files(p):
    p.root.folder("var/run/secrets/kubernetes.io")
    p.root.remove("dev/nvidiactl", "dev/nvidia0", "dev/nvidia-uvm")
    return ("nodes", "bad", "this container has no /dev/nvidiactl",
            "nvidia.com/gpu: 1")


def the_library_is_no_library(p):
    p.libraries.mkdir()
    (p.libraries / "libnvidia-ml.so.1").write_text("no")
    return ("driver", "bad", f"it cannot be loaded: "
            f"{p.libraries}/libnvidia-ml.so.1: file too short",
            "install the driver's libraries again")


def the_library_is_another(p):
    driver(p.libraries, "580.95.05", "-DLACKING")
    return ("driver", "bad", f"{p.libraries}/libnvidia-ml.so.580.95.05 lacks "
            "nvmlShutdown: it is no driver library", "nvidia-driver")


def a_stub_is_in_the_way(p):
    p.libraries = p.path / "cuda" / "lib64" / "stubs"
    p.env["LD_LIBRARY_PATH"] = str(p.libraries)
    p.env["STUB_INIT"] = "12"
    return ("driver", "bad", f"{p.libraries}/libnvidia-ml.so.580.95.05 is the "
            "CUDA toolkit's stub, not a driver",
            "take its directory out of LD_LIBRARY_PATH")


def the_driver_was_updated(p):
    driver(p.libraries, "580.105.08")
    p.env["STUB_INIT"] = "18"
    return ("version", "bad", "the library is of driver 580.105.08, the loaded "
            "kernel module of 580.95.05", "reboot")


def the_driver_refuses_the_update(p):
    p.env["STUB_INIT"] = "18"
    return ("driver", "bad", "it does not start: RM has detected an NVML/RM "
            "version mismatch. (18)", "reboot")


def the_driver_refuses_the_user(p):
    p.env["STUB_INIT"] = "4"
    return ("driver", "bad", "it does not start: Insufficient Permissions (4)",
            "see the device files' rights")


def the_driver_lists_no_gpu(p):
    p.env["STUB_GPUS"] = "0"
    return ("gpus", "bad", "the driver lists no GPU", "dmesg")


def the_module_is_not_loaded(p):
    p.root.unload()
    p.env["STUB_INIT"] = "9"
    return ("module", "bad", "nvidia is not loaded", "sudo modprobe nvidia")


def the_module_may_not_be_signed(p):
    p.root.unload()
    p.env["STUB_INIT"] = "9"
    p.root.write("sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-"
                 "00e098032b8c", b"\x06\x00\x00\x00\x01")
    return ("module", "bad", "nvidia is not loaded, and Secure Boot is on: it "
            "may not be signed", "mokutil")


def the_module_is_for_another_kernel(p):
    p.root.unload()
    p.env["STUB_INIT"] = "9"
    p.root.write("proc/sys/kernel/osrelease", "6.1.0-28-amd64\n")
    return ("module", "bad", "nvidia is built for Linux 6.1.0-27-amd64, not "
            "for 6.1.0-28-amd64, which runs", "dkms autoinstall")


def nouveau_has_the_gpu(p):
    p.root.unload()
    p.root.write("proc/modules", "nouveau 1 0 - Live 0x0\n")
    p.root.gpu("0000:01:00.0", "nouveau")
    p.libraries.mkdir()
    return ("hardware", "bad", "1 of 1 GPUs: nouveau has taken it "
            "(0000:01:00.0)", "install NVIDIA's driver")


def a_virtual_machine_has_one(p):
    p.root.gpu("0000:02:00.0", "vfio-pci")
    return ("hardware", "warn", "1 of 2 GPUs: vfio-pci has taken it "
            "(0000:02:00.0)", "virtual machines")


def the_driver_does_not_take_one(p):
    p.root.gpu("0000:02:00.0", None)
    return ("hardware", "warn", "1 of 2 GPUs: no driver has taken it "
            "(0000:02:00.0)", "dmesg")


def no_file_of_cuda(p):
    p.root.remove("dev/nvidia-uvm")
    return ("uvm", "warn", "there is no /dev/nvidia-uvm: CUDA programs do not "
            "start", "sudo nvidia-modprobe -u -c 0")


def the_cgroup_denies(p):
    (p.path / "denied.so").write_bytes(compiled(DENIED))
    p.env["LD_PRELOAD"] = preload(p.path / "denied.so")
    return ("nodes", "bad", "the cgroup of this process denies /dev/nvidiactl",
            "srun --gres=gpu:1")


def libcuda_is_old(p):
    driver(p.libraries)
    (p.libraries / "libcuda.so.1").unlink()
    library(p.libraries, "libcuda.so.1", "", "535.183.01")
    return ("cuda", "warn", "libcuda is of driver 535.183.01, NVML of "
            "580.95.05", "remove")


def libcuda_is_a_stub(p):
    stubs = library(p.path / "stubs", "libcuda.so.1")
    p.env["LD_LIBRARY_PATH"] = f"{stubs}:{p.libraries}"
    return ("cuda", "warn", f"{stubs}/libcuda.so.580.95.05 is the CUDA "
            "toolkit's stub: CUDA programs do not start", "LD_LIBRARY_PATH")


def programs_see_nothing(p):
    p.env["CUDA_VISIBLE_DEVICES"] = ""
    return ("visible", "warn", "'' hides all GPUs from CUDA programs",
            "unset CUDA_VISIBLE_DEVICES")


def programs_see_a_wrong_number(p):
    p.env["CUDA_VISIBLE_DEVICES"] = "0,7"
    return ("visible", "warn", "'0,7' names no device from '7' on: programs "
            "see 1", "unset CUDA_VISIBLE_DEVICES")


def wsl_without_its_device(p):
    p.root.write("proc/sys/kernel/osrelease",
                 "5.15.153.1-microsoft-standard-WSL2\n")
    p.libraries.mkdir()
    return ("wsl", "bad", "WSL has no /dev/dxg, so no GPU: it is WSL 1, or "
            "Windows has no driver", "wsl --update")


def no_shared_memory(p):
    (p.root.path / "dev/shm").rmdir()
    return ("shm", "bad", "there is no /dev/shm", "mount -t tmpfs")


def no_proc(p):
    shutil.rmtree(p.root.path / "proc/self")
    return ("processes", "bad", "/proc is not mounted", "mount -t proc")


def limits_that_nothing_enforces(p):
    p.env["CUDA_DEVICE_MEMORY_LIMIT"] = "4g"
    return ("limiter", "warn", "CUDA_DEVICE_MEMORY_LIMIT is set, but no library "
            "enforces limits", "gpukit limit -- CMD")


def a_machine_that_is_not_in_use(p):
    p.env["GPUKIT_MACHINE"] = "/dev/shm/none"
    return ("made_up", "warn", "GPUKIT_MACHINE is set, but the driver is not "
            "gpukit's", "unset GPUKIT_MACHINE")


def a_locale_that_is_not_installed(p):
    p.env["LC_ALL"] = "tlh_QO.UTF-8"
    return ("locale", "warn", "LC_ALL=tlh_QO.UTF-8 is not installed: only "
            "ASCII is drawn", "export LC_ALL=C.UTF-8")


def a_locale_without_utf_8(p):
    p.env["LC_ALL"] = "C"
    return ("locale", "warn", "LC_ALL=C is not UTF-8: only ASCII is drawn",
            "export LC_ALL=C.UTF-8")


def a_wrong_configuration(p):
    path = p.path / ".config" / "gpukit" / "top.yaml"
    path.parent.mkdir(parents=True)
    path.write_text("colour: red\n")
    return ("config", "bad", re.compile(rf"top does not start: {path}:1: .+"),
            "repair or remove")


def a_relative_configuration(p):
    p.env["XDG_CONFIG_HOME"] = "config"
    return ("config", "warn", "XDG_CONFIG_HOME=config is relative, so it is "
            "ignored", "export XDG_CONFIG_HOME")


def no_gpus_for_docker(p):
    p.env["PATH"] = str(p.path / "bin")
    (p.path / "bin").mkdir()
    (p.path / "bin" / "docker").touch(0o755)
    return ("toolkit", "warn", "containers get no GPUs: nvidia-container-"
            "toolkit is not installed", "sudo apt install nvidia-container")


SET_UPS = (
    no_driver, no_gpu, no_library_for_the_module, a_container_without_gpus,
    a_container_for_compute_only, a_pod_without_device_files,
    the_library_is_no_library, the_library_is_another, a_stub_is_in_the_way,
    the_driver_was_updated, the_driver_refuses_the_update,
    the_driver_refuses_the_user, the_driver_lists_no_gpu,
    the_module_is_not_loaded, the_module_may_not_be_signed,
    the_module_is_for_another_kernel, nouveau_has_the_gpu,
    a_virtual_machine_has_one, the_driver_does_not_take_one, no_file_of_cuda,
    the_cgroup_denies, libcuda_is_old, libcuda_is_a_stub, programs_see_nothing,
    programs_see_a_wrong_number, wsl_without_its_device, no_shared_memory,
    no_proc, limits_that_nothing_enforces, a_machine_that_is_not_in_use,
    a_locale_that_is_not_installed, a_locale_without_utf_8,
    a_wrong_configuration, a_relative_configuration, no_gpus_for_docker,
)

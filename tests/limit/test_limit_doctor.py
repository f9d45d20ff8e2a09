# SPDX-License-Identifier: Apache-2.0
"""`gpukit limit doctor`: whether a process is limited, and if not, why. Each
case is a real process of that kind."""

import contextlib
import json
import os
import shutil
import subprocess
import threading
import time

import jsonschema
import pytest

import can
from conftest import BUILD, GPUKIT, ROOT, clean_env
from limit_shells import hami
from limit_tools import LIBRARY, directory, fails, make
from stranger import NOBODY, run_as

# pylint: disable=redefined-outer-name
HOLD = os.path.join(BUILD, "tests", "limit", "test_alloc_hold")


@contextlib.contextmanager
def running(*command, until=b"", **env):
    """A process that lives until the end of the block, after it has printed a
    line that begins with `until`."""
    with subprocess.Popen(command, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, env=env) as process:
        line = process.stdout.readline()
        assert line.startswith(until), line
        try:
            yield process
        finally:
            process.stdin.close()
            process.wait(60)


def waiting(*before, **env):
    """A process without GPUs."""
    return running(*before, "sh", "-c", "echo here; read line; :",
                   until=b"here", **env)


def holding(size, *before, **env):
    return running(*before, HOLD, size, until=b"holding", **env)


def within(name, *options):
    return [GPUKIT, "limit", "--group", name, *options, "--"]


def told(pid, env=None, status=0, limited=True):
    """{check: (state, finding, do)} of a process, as JSON and as text."""
    where = clean_env(**(env or {}))
    done = subprocess.run([GPUKIT, "limit", "doctor", str(pid), "--json"],
                          text=True, capture_output=True, env=where,
                          check=False, timeout=60)
    assert (done.returncode, done.stderr) == (status, ""), done
    answer = json.loads(done.stdout)
    with open(os.path.join(ROOT, "docs", "limit.schema.json"),
              encoding="utf-8") as f:
        schema = json.load(f)
    jsonschema.validate(answer, schema["$defs"]["doctor"])
    assert answer["pid"] == pid
    assert answer["limited"] == (status == 0 and limited)
    text = subprocess.run([GPUKIT, "limit", "doctor", str(pid)], text=True,
                          capture_output=True, env=where, check=False,
                          timeout=60).stdout
    assert text.splitlines()[0].endswith(
        ": limited") == answer["limited"]
    for check in answer["checks"]:
        # A ledger's numbers may change between both.
        assert check["state"] == "absent" or check["title"] in text
        assert not check["do"] or f"do: {check['do']}\n" in text
    return {check["id"]: (check["state"], check["finding"], check["do"])
            for check in answer["checks"]}


def test_a_limited_process(machine, group):
    env = machine("--gpus", "h100-80gb-hbm3").env
    with holding("2GiB", *within(group, "--memory", "2GiB"),
                 **clean_env(**env)) as process:
        found = told(process.pid, env)
        assert found["library"] == ("ok", LIBRARY, None)
        assert found["limits"] == (
            "ok", f"group {group}; memory: 2048MiB of each GPU; "
                  "time: 100% of each GPU", None)
        state, text, todo = found["ledger"]
        assert (state, todo) == (
            "warn", f"if it needs more: gpukit limit set {group} "
                    "--memory SIZE")
        one, = ask(group)["processes"]
        used = one["devices"][0]["memory_used_bytes"]
        assert f"holds {used >> 20}MiB of GPU 0; 1 allocation refused" in text
        assert found["driver"] == (
            "ok", f"it lists the process with {used >> 20}MiB of GPU 0, as "
                  "the ledger does", None)


def ask(name):
    done = subprocess.run([GPUKIT, "limit", "show", name, "--json"],
                          capture_output=True, env=clean_env(), check=True)
    return json.loads(done.stdout)["groups"][0]


def test_a_process_that_has_not_used_a_gpu(group):
    with waiting(*within(group, "--memory", "2GiB"), **clean_env()) as one:
        found = told(one.pid)
        assert found["ledger"][:2] == ("ok", "it has not used a GPU yet")
        assert found["driver"][0] == "unknown"
        assert "no NVIDIA driver" in found["driver"][1]


def test_suspended_and_without_limits(gpukit, group):
    make(gpukit, group)
    with waiting(*within(group), **clean_env()) as process:
        state, text, todo = told(process.pid, limited=False)["limits"]
        assert (state, todo) == (
            "warn", f"gpukit limit set {group} --memory SIZE")
        assert "limits nothing" in text
        gpukit.ok("limit", "suspend", group)
        state, text, todo = told(process.pid, limited=False)["limits"]
        assert (state, todo) == ("warn", f"gpukit limit resume {group}")
        gpukit.ok("limit", "resume", group)


def test_a_limit_below_a_context(machine, shell, tmp_path):
    env = hami(machine("--gpus", "h100-80gb-hbm3"), tmp_path / "x.cache",
               "100m")
    program = shell(env)
    assert program("cu_init()") == 0
    assert program("use(0)") != 0
    state, text, todo = told(program.pid, status=1)["limits"]
    assert (state, todo) == (
        "bad", f"gpukit limit set {tmp_path}/x.cache --memory SIZE")
    assert "a context on GPU 0 needs 518" in text


def test_a_process_without_limits(machine):
    env = machine("--gpus", "h100-80gb-hbm3").env
    with waiting(**clean_env()) as process:
        found = told(process.pid, env, status=1)
        assert found["library"][0] == "absent"
        assert found["limits"][0] == "bad"
        assert "gpukit limit -- CMD" in found["limits"][2]
        assert found["driver"] == ("ok", "it does not list the process", None)


def test_a_process_that_uses_a_gpu_without_limits(machine):
    made = machine("--gpus", "h100-80gb-hbm3", "--load", "train:0,mem=4GiB")
    done = subprocess.run([GPUKIT, "stat", "--json"], capture_output=True,
                          env=clean_env(**made.env), check=True)
    load, = json.loads(done.stdout)["devices"][0]["processes"]
    found = told(load["pid"], made.env, status=1)
    assert found["driver"] == (
        "bad", "it lists the process with 4096MiB of GPU 0, which no ledger "
               "counts", "end it, and start it within limits")


def test_the_preloaded_library_is_lost(group, gpukit):
    make(gpukit, group, "--memory", "2GiB")
    path = os.path.join(directory(), group)
    with waiting(**clean_env(GPUKIT_LIMIT_GROUP=path)) as process:
        found = told(process.pid, status=1)
        assert found["library"][0] == "bad"
        assert "no libvgpu.so in its LD_PRELOAD" in found["library"][1]
        assert found["limits"][0] == "ok"
        assert found["ledger"][0] == "unknown"


def test_the_preloaded_library_is_missing(group, gpukit, tmp_path):
    make(gpukit, group, "--memory", "2GiB")
    path = os.path.join(directory(), group)
    missing = str(tmp_path / "libvgpu.so")
    with waiting(**clean_env(GPUKIT_LIMIT_GROUP=path,
                             LD_PRELOAD=missing)) as process:
        state, text, _ = told(process.pid, status=1)["library"]
        assert (state, text) == (
            "bad", f"it is to preload {missing}, which it cannot read: "
                   "No such file or directory")


def test_the_preloaded_library_is_closed_to_its_user(open_dir):
    """Root can read it; the process cannot."""
    can.need("other-users")
    library = os.path.join(open_dir, "libvgpu.so")
    shutil.copy(LIBRARY, library)
    os.chmod(library, 0o600)
    with waiting("setpriv", "--reuid", str(NOBODY), "--clear-groups",
                 **clean_env(LD_PRELOAD=library,
                             CUDA_DEVICE_MEMORY_LIMIT="2g")) as process:
        found = told(process.pid, status=1)
    assert found["library"][1] == (
        f"it is to preload {library}, which it cannot read: "
        "Permission denied")
    assert found["limits"][:2] == ("ok", "those of HAMi's variables")


def compiled(tmp_path, name, *flags, source="int gpukit_nothing;\n"):
    program = tmp_path / name
    done = subprocess.run(["cc", "-xc", "-", "-o", program, *flags],
                          input=source, text=True, capture_output=True,
                          check=False)
    assert done.returncode == 0, done
    return str(program)


WAITS = """
#include <stdio.h>
int main(void) { puts("here"); fflush(stdout); return getchar() > 0; }
"""


@pytest.mark.parametrize("flag", ["-static", "-static-pie"])
def test_a_static_program(group, tmp_path, flag):
    program = compiled(tmp_path, "waits", flag, source=WAITS)
    with running(*within(group, "--memory", "2GiB"), program, until=b"here",
                 **clean_env()) as process:
        state, text, todo = told(process.pid, status=1)["library"]
        assert state == "bad"
        assert "statically linked" in text
        assert "link it dynamically" in todo


def test_a_program_of_other_rights(group, tmp_path):
    can.need("other-users")
    program = compiled(tmp_path, "waits", source=WAITS)
    os.chown(program, 12345, 12345)
    os.chmod(program, 0o4755)
    tmp_path.chmod(0o755)
    with running(*within(group, "--memory", "2GiB"), program, until=b"here",
                 **clean_env()) as process:
        state, text, _ = told(process.pid, status=1)["library"]
        assert state == "bad"
        assert "set-user-ID" in text


def test_another_limiters_library(tmp_path):
    library = compiled(tmp_path, "libvgpu.so", "-shared", "-fPIC")
    with waiting(**clean_env(LD_PRELOAD=library,
                             CUDA_DEVICE_MEMORY_LIMIT="2g")) as process:
        state, text, todo = told(process.pid, status=1)["library"]
        assert state == "bad"
        assert text.startswith(f"{library} is not gpukit's")
        assert "LIMIT-HAMI.md" in todo


CHROOT = """
#include <stdio.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	return chroot("/tmp") || chdir("/") || puts("here") < 0 ||
	       fflush(stdout) || getchar() > 0;
}
"""


def test_another_limiters_library_after_chroot(tmp_path):
    can.need("other-users")
    library = compiled(tmp_path, "libvgpu.so", "-shared", "-fPIC")
    program = compiled(tmp_path, "changes", source=CHROOT)
    with running(program, until=b"here", **clean_env(
            LD_PRELOAD=library, CUDA_DEVICE_MEMORY_LIMIT="2g")) as process:
        text = told(process.pid, status=1)["library"][1]
        assert text.startswith(f"{library} is not gpukit's")


def test_a_replaced_library(tmp_path, group, gpukit):
    make(gpukit, group, "--memory", "2GiB")
    library = str(tmp_path / "libvgpu.so")
    shutil.copy(LIBRARY, library)
    path = os.path.join(directory(), group)
    with waiting(**clean_env(GPUKIT_LIMIT_GROUP=path,
                             LD_PRELOAD=library)) as process:
        os.remove(library)
        state, text, todo = told(process.pid)["library"]
        assert state == "warn"
        assert text.startswith(f"{library} was replaced or removed")
        assert "restart" in todo


def test_hamis_variables(tmp_path):
    region = str(tmp_path / "x.cache")
    env = {"LD_PRELOAD": LIBRARY, "CUDA_DEVICE_MEMORY_SHARED_CACHE": region,
           "CUDA_DEVICE_MEMORY_LIMIT": "2g"}
    with waiting(**clean_env(**env)) as process:
        state, text, _ = told(process.pid)["limits"]
        assert state == "ok"
        assert f"{region} is made when it uses a GPU" in text
    env["CUDA_DEVICE_MEMORY_LIMIT"] = "0"
    with waiting(**clean_env(**env)) as process:
        told(process.pid, limited=False)
    env["CUDA_DEVICE_MEMORY_LIMIT"] = "a lot"
    with waiting(**clean_env(GPUKIT_LOG="off", **env)) as process:
        found = told(process.pid, status=1)
        assert found["limits"][0] == "bad"
        assert found["limits"][1].startswith(
            "CUDA_DEVICE_MEMORY_LIMIT=a lot is not a size")
        assert "refused" in found["limits"][1]
        assert found["messages"][0] == "warn"


def test_hamis_region_before_and_after_its_life(machine, shell, tmp_path):
    """It is made with the first context, and its removal changes nothing for
    processes that use it."""
    made = machine("--gpus", "h100-80gb-hbm3")
    program = shell(hami(made, tmp_path / "x.cache", "4g"))
    assert program("cu_init()") == 0
    assert not os.path.exists(tmp_path / "x.cache")
    state, text, _ = told(program.pid, made.env)["limits"]
    assert state == "ok"
    assert "x.cache is made when it uses a GPU" in text
    assert program("use(0)") == 0
    assert told(program.pid, made.env)["driver"][0] == "ok"
    os.remove(tmp_path / "x.cache")
    found = told(program.pid, made.env)
    assert found["limits"][0] == "warn"
    assert "x.cache was removed; its limits stay" in found["limits"][1]
    assert found["ledger"][0] == "unknown"
    assert found["driver"][0] == "ok"
    assert found["driver"][1].endswith("cannot be compared with the ledger")
    assert program("alloc(5 << 30)") != 0


def users_region(pid):
    state, text, _ = told(pid)["limits"]
    assert state == "ok"
    return text


def test_the_region_is_that_of_the_processs_user(open_build):
    """If no variable names it, its path contains the user."""
    library = os.path.join(open_build, "lib", "gpukit", "libvgpu.so")
    env = clean_env(LD_PRELOAD=library, CUDA_DEVICE_MEMORY_LIMIT="2g")
    user = ["setpriv", "--reuid", str(NOBODY), "--clear-groups"]
    with waiting(*user, **env) as process:
        assert f"/tmp/cudevshr-{NOBODY}.cache" in users_region(process.pid)


def test_the_region_of_a_user_namespace():
    can.need("user-namespaces")
    env = clean_env(LD_PRELOAD=LIBRARY, CUDA_DEVICE_MEMORY_LIMIT="2g")
    with waiting("unshare", "--user", "--map-user", "4321", **env) as process:
        assert "/tmp/cudevshr-4321.cache" in users_region(process.pid)


def test_a_group_is_named_by_its_path(group, gpukit):
    """The library takes nothing else, and refuses the work."""
    make(gpukit, group, "--memory", "2GiB")
    with waiting(**clean_env(LD_PRELOAD=LIBRARY,
                             GPUKIT_LIMIT_GROUP=group)) as process:
        state, text, _ = told(process.pid, status=1)["limits"]
        assert (state, text) == (
            "bad", f"group {group}: its path is not absolute; GPU work is "
                   "refused")


# Two variables of one name, which neither a shell nor Python makes.
TWICE = """
#include <unistd.h>
int main(void) {
	char *const argv[] = {"sh", "-c", "echo here; read line; :", 0};
	char *const env[] = {"GPUKIT_LIMIT_GROUP=/first",
			     "GPUKIT_LIMIT_GROUP=/second", 0};
	return execve("/bin/sh", argv, env);
}
"""


def test_of_equal_variables_the_first_counts(tmp_path):
    with running(compiled(tmp_path, "twice", source=TWICE),
                 until=b"here") as process:
        text = told(process.pid, status=1)["limits"][1]
        assert text.startswith("group first does not exist")


def test_its_own_variables_do_not_matter():
    """The doctor's environment says nothing about another process."""
    with waiting(**clean_env()) as process:
        found = told(process.pid, {"CUDA_DEVICE_MEMORY_LIMIT": "a lot"},
                     status=1)
        assert found["limits"][1].startswith("none: ")


def test_a_process_in_another_mount_namespace(tmp_path):
    """Paths are those of the process, not the doctor's."""
    can.need("mounts-of-root")
    library = str(tmp_path / "inside" / "libvgpu.so")
    os.mkdir(tmp_path / "inside")
    script = (f"mount -t tmpfs none {tmp_path}/inside && "
              f"cp {LIBRARY} {library} && export LD_PRELOAD={library} && "
              "exec sh -c 'echo here; read line; :'")
    with running("unshare", "-m", "sh", "-c", script, until=b"here",
                 **clean_env(CUDA_DEVICE_MEMORY_LIMIT="2g")) as process:
        assert not os.path.exists(library)
        assert told(process.pid)["library"] == ("ok", library, None)


def test_mps_limits():
    with waiting(**clean_env(
            CUDA_MPS_ACTIVE_THREAD_PERCENTAGE="30")) as process:
        state, text, _ = told(process.pid)["limits"]
        assert (state, "MPS" in text) == ("ok", True)


def test_other_answers(gpukit):
    fails(gpukit("limit", "doctor", "none"), 2, "pid", "'none'")
    fails(gpukit("limit", "doctor"), 2, "no process")
    fails(gpukit("limit", "doctor", "2147483647"), 1, "no process 2147483647")
    with subprocess.Popen(["true"]) as process:
        os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        fails(gpukit("limit", "doctor", str(process.pid)), 1, "has ended")


def test_a_thread_is_no_process(gpukit):
    """/proc/THREAD exists, but neither ledger nor driver know it."""
    ends = threading.Event()
    thread = threading.Thread(target=ends.wait)
    thread.start()
    try:
        fails(gpukit("limit", "doctor", str(thread.native_id)), 1,
              "is a thread", f"its process, {os.getpid()}")
    finally:
        ends.set()
        thread.join()


ENDS = """
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>
static void *reads(void *arg)
{
	puts("here");
	fflush(stdout);
	getchar();
	_exit(0);
}
int main(void)
{
	pthread_t thread;
	pthread_create(&thread, 0, reads, 0);
	pthread_exit(0);
}
"""


def test_a_process_whose_main_thread_ended(gpukit, tmp_path):
    program = compiled(tmp_path, "ends", "-pthread", "-w", source=ENDS)
    with running(program, until=b"here", **clean_env()) as process:
        end = time.monotonic() + 60
        while state_of(process.pid) != "Z":
            assert time.monotonic() < end
        fails(gpukit("limit", "doctor", str(process.pid)), 1,
              f"main thread of process {process.pid}", "has ended")


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        return f.read().rsplit(")", 1)[1].split()[0]


def test_a_kernel_thread(gpukit):
    try:
        with open("/proc/2/comm", encoding="utf-8") as f:
            name = f.read()
    except OSError:
        name = ""
    if name != "kthreadd\n":
        pytest.skip("no kernel threads in this pid namespace")
    fails(gpukit("limit", "doctor", "2"), 1, "kthreadd", "is a kernel thread")


def await_library(process, name):
    while process.poll() is None:
        with open(f"/proc/{process.pid}/maps", encoding="utf-8") as f:
            if name in f.read():
                return
        time.sleep(0.01)


def test_a_process_that_ends_meanwhile(machine):
    """Nothing is claimed about it."""
    made = machine("--gpus", "h100-80gb-hbm3")
    assert made.ctl("set", 0, "latency.nvmlInit_v2=3s").returncode == 0
    with waiting(**clean_env()) as process, subprocess.Popen(
            [GPUKIT, "limit", "doctor", str(process.pid)], text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=clean_env(**made.env)) as doctor:
        await_library(doctor, "libnvidia-ml.so")
        process.kill()
        out, err = doctor.communicate(timeout=60)
    assert (doctor.returncode, out) == (1, "")
    assert f"process {process.pid} (sh) has ended" in err


def test_a_strangers_process(open_build):
    with waiting("setpriv", "--reuid", str(NOBODY), "--clear-groups",
                 **clean_env()) as process:
        assert told(process.pid, status=1)["limits"][0] == "bad"
    done = run_as(NOBODY, os.path.join(open_build, "bin", "gpukit"), "limit",
                  "doctor", os.getpid())
    fails(done, 1, "Permission denied", "as root")

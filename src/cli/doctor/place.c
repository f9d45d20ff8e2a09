/* SPDX-License-Identifier: Apache-2.0 */
/*
 * place.c - finds out where this process runs: in which container, in WSL,
 * which processes it can see, and whether it has shared memory.
 */
#include "base/array.h"
#include "base/units.h"
#include "cli/command.h"
#include "cli/doctor/doctor.h"
#include "format/names.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <fcntl.h>
#include <unistd.h>

#define TOOLKIT "nvidia-container-toolkit"

/* A driver uses less than this for itself on a GPU without processes. */
#define HELD_LEAST (256 * MIB)

/*
 * The link target of the initial pid namespace: the kernel's PROC_PID_INIT_INO.
 */
#define FIRST_NAMESPACE "pid:[4026531836]"

/*
 * The shared memory that must be free: a made-up machine takes a few MiB, and a
 * group of the limiter less.
 */
#define SHM_LEAST (8u << 20)

/*
 * More specific kinds come first, because a pod is also a container of Docker
 * or Podman.
 */
static const struct gk_doctor_container containers[] = {
    {"a Kubernetes pod", "/var/run/secrets/kubernetes.io",
     "KUBERNETES_SERVICE_HOST",
     "give the pod `resources: {limits: {nvidia.com/gpu: 1}}`; its node needs "
     "NVIDIA's device plugin"},
    {"an Apptainer container", "/.singularity.d", "APPTAINER_CONTAINER",
     "start it with `apptainer exec --nv`"},
    {"a Podman container", "/run/.containerenv", NULL,
     "start it with `podman run --device nvidia.com/gpu=all`; the host "
     "needs " TOOLKIT},
    {"a Docker container", "/.dockerenv", NULL,
     "start it with `docker run --gpus all`; the host needs " TOOLKIT},
    {"an LXC container", NULL, NULL,
     "on the host: `lxc config device add NAME gpu gpu`, with "
     "nvidia.runtime=true"},
    {"a systemd-nspawn container", NULL, NULL,
     "start it with `--bind=/dev/nvidiactl --bind=/dev/nvidia0 "
     "--bind=/dev/nvidia-uvm`, and the host's driver library"},
};

/* The words that container managers write into /run/systemd/container. */
static const struct {
	const char *word, *name;
} managers[] = {
    {"docker", "a Docker container"},
    {"podman", "a Podman container"},
    {"lxc", "an LXC container"},
    {"systemd-nspawn", "a systemd-nspawn container"},
};

static const struct gk_doctor_container *find_container(const char *name)
{
	for (size_t i = 0; name && i < COUNT(containers); i++)
		if (!strcmp(containers[i].name, name))
			return &containers[i];
	return NULL;
}

static const struct gk_doctor_container *
told_by_manager(const struct gk_doctor *d)
{
	char word[64];
	const char *own = d->elsewhere ? NULL : getenv("container");

	if (gk_doctor_read(d, "/run/systemd/container", word, sizeof word) < 0)
		gk_str_copy(word, sizeof word, own ? own : "");
	word[strcspn(word, "\n")] = '\0';
	for (size_t i = 0; i < COUNT(managers); i++)
		if (!strcmp(managers[i].word, word))
			return find_container(managers[i].name);
	return NULL;
}

static bool is_within(const struct gk_doctor *d,
		      const struct gk_doctor_container *c)
{
	return (c->file && gk_doctor_exists(d, c->file)) ||
	       (c->variable && !d->elsewhere && getenv(c->variable));
}

void gk_doctor_read_place(struct gk_doctor *d)
{
	char text[256];

	gk_doctor_read(d, "/proc/sys/kernel/osrelease", text, sizeof text);
	d->wsl = strcasestr(text, "microsoft") != NULL;
	gk_doctor_read(d, "/proc/device-tree/model", text, sizeof text);
	if (strstr(text, "NVIDIA") || strstr(text, "Jetson"))
		gk_str_clean(d->board, sizeof d->board, text, strlen(text));
	for (size_t i = 0; !d->container && i < COUNT(containers); i++)
		if (is_within(d, &containers[i]))
			d->container = &containers[i];
	if (!d->container)
		d->container = told_by_manager(d);
}

const char *gk_doctor_get_driver(const struct gk_doctor *d)
{
	if (d->container)
		return d->container->give;
	return d->wsl ? "install NVIDIA's driver in Windows, none in WSL; then "
			"`wsl --update`"
		      : d->system->driver;
}

void gk_doctor_look_container(const struct gk_doctor *d, struct gk_finding *f)
{
	const char *visible = getenv("NVIDIA_VISIBLE_DEVICES");

	if (!d->container) {
		gk_finding_say(f, FINDING_ABSENT, "this is not a container");
		return;
	}
	gk_finding_say(f, FINDING_OK, "this is %s", d->container->name);
	if (d->elsewhere || d->driver.made_up || !visible ||
	    (strcmp(visible, "void") && strcmp(visible, "none") && *visible))
		return;
	gk_finding_say(
	    f, FINDING_WARN,
	    "NVIDIA_VISIBLE_DEVICES=%s keeps GPUs out of this container",
	    visible);
	gk_finding_todo(f, "%s, without this variable", d->container->give);
}

void gk_doctor_look_toolkit(const struct gk_doctor *d, struct gk_finding *f)
{
	static const char *const tools[] = {
	    "nvidia-ctk", "nvidia-container-cli", "nvidia-container-runtime"};
	char path[PATH_MAX];
	bool docker = gk_command_find("docker", path, sizeof path) ||
		      gk_command_find("podman", path, sizeof path);

	gk_finding_say(f, FINDING_ABSENT,
		       "neither docker nor podman is installed");
	if (d->container || d->driver.made_up)
		gk_finding_say(f, FINDING_ABSENT, "%s",
			       d->container ? "see the host"
					    : "GPUs are made up");
	if (!docker || d->container || d->driver.made_up)
		return;
	for (size_t i = 0; i < COUNT(tools); i++)
		if (gk_command_find(tools[i], path, sizeof path)) {
			gk_finding_say(f, FINDING_OK, "%s is installed",
				       TOOLKIT);
			return;
		}
	gk_finding_say(f, FINDING_WARN,
		       "containers get no GPUs: " TOOLKIT " is not installed");
	if (*d->system->install)
		gk_finding_todo(f, "%s " TOOLKIT " (from NVIDIA's repository)",
				d->system->install);
	else
		gk_finding_todo(f, "install " TOOLKIT);
}

void gk_doctor_look_wsl(const struct gk_doctor *d, struct gk_finding *f)
{
	if (!d->wsl) {
		gk_finding_say(f, FINDING_ABSENT, "this is not WSL");
	} else if (d->driver.made_up || gk_doctor_exists(d, "/dev/dxg")) {
		gk_finding_say(f, FINDING_OK, "the driver is that of Windows");
	} else {
		gk_finding_say(
		    f, FINDING_BAD,
		    "WSL has no /dev/dxg, so no GPU: it is WSL 1, or "
		    "Windows has no driver");
		gk_finding_todo(f, "in Windows: install NVIDIA's driver, `wsl "
				   "--update`, `wsl --set-version NAME 2`");
	}
}

/* ---- processes ---- */

static unsigned count_unseen(const struct gk_snapshot *snap)
{
	unsigned count = 0;

	for (size_t i = 0; snap && i < snap->process_count; i++)
		count += snap->processes[i].state == GK_PROCESS_GONE;
	return count;
}

/*
 * Returns the memory that the listed processes hold on a GPU and its MIG
 * devices.
 */
static int64_t listed_bytes(const struct gk_snapshot *snap, unsigned gpu)
{
	int64_t sum = 0;

	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *p = &snap->processes[i];

		if (snap->devices[p->device].index == gpu &&
		    !p->m[GK_PM_GPU_MEM].why)
			sum += p->m[GK_PM_GPU_MEM].v;
	}
	return sum;
}

/*
 * Returns the number of GPUs on which unlisted processes hold memory. Drivers
 * do not list processes outside the caller's pid namespace.
 */
static unsigned count_held(const struct gk_snapshot *snap)
{
	unsigned count = 0;

	for (size_t i = 0; snap && i < snap->device_count; i++) {
		const struct gk_device *d = &snap->devices[i];
		struct gk_value used = d->m[GK_M_MEM_USED];

		count += d->mig_index < 0 && !used.why &&
			 gk_processes_known(d) &&
			 used.v - listed_bytes(snap, d->index) > HELD_LEAST;
	}
	return count;
}

void gk_doctor_look_processes(const struct gk_doctor *d, struct gk_finding *f)
{
	unsigned unseen = count_unseen(d->driver.snap);
	unsigned held = count_held(d->driver.snap);
	char space[64];
	bool own;

	gk_doctor_link(d, "/proc/self/ns/pid", space, sizeof space);
	own = *space && strcmp(space, FIRST_NAMESPACE) != 0;
	if (!gk_doctor_exists(d, "/proc/self") && !*space) {
		gk_finding_say(f, FINDING_BAD, "/proc is not mounted");
		gk_finding_todo(f, "sudo mount -t proc proc /proc");
	} else if (unseen && own) {
		gk_finding_say(f, FINDING_WARN,
			       "%u process%s on the GPUs outside of this "
			       "namespace of processes: without name and user",
			       unseen, unseen == 1 ? " is" : "es are");
		gk_finding_todo(f,
				"start the container with --pid=host (a pod: "
				"hostPID: true)");
	} else if (held && own) {
		gk_finding_say(f, FINDING_WARN,
			       "%u GPU%s memory of processes outside of this "
			       "namespace of processes, which are not listed",
			       held, held == 1 ? " holds" : "s hold");
		gk_finding_todo(f,
				"start the container with --pid=host (a pod: "
				"hostPID: true)");
	} else if (unseen) {
		gk_finding_say(f, FINDING_WARN,
			       "%u process%s on the GPUs not in /proc: without "
			       "name and user",
			       unseen, unseen == 1 ? " is" : "es are");
		gk_finding_todo(
		    f, "see hidepid; a process in a virtual machine is "
		       "never in /proc");
	} else {
		gk_finding_say(f, FINDING_OK, "%s",
			       own ? "a namespace of processes of its own"
				   : "all processes of the host are seen");
	}
}

/*
 * Copies the value of a mount option of /proc, as in
 * "rw,hidepid=invisible,gid=5".
 */
static void copy_option(const struct gk_doctor *d, const char *name, char *dst,
			size_t cap)
{
	char *text = gk_doctor_read_whole(d, "/proc/self/mounts");
	char *line = text ? strstr(text, " /proc proc ") : NULL;
	char *found;

	*dst = '\0';
	if (line) {
		line[strcspn(line, "\n")] = '\0';
		found = strstr(line, name);
		if (found && (found[-1] == ',' || found[-1] == ' ')) {
			found += strlen(name);
			found[strcspn(found, ", ")] = '\0';
			gk_str_copy(dst, cap, found);
		}
	}
	free(text);
}

static bool is_member(const char *gid)
{
	gid_t groups[1024];
	int count = getgroups(COUNT(groups), groups);
	int64_t wanted;

	if (gk_parse_int(gid, &wanted))
		return false;
	for (int i = 0; i < count; i++)
		if (groups[i] == (gid_t)wanted)
			return true;
	return getegid() == (gid_t)wanted;
}

void gk_doctor_look_hidepid(const struct gk_doctor *d, struct gk_finding *f)
{
	char mode[32], gid[32];

	copy_option(d, "hidepid=", mode, sizeof mode);
	copy_option(d, "gid=", gid, sizeof gid);
	if (!*mode || !strcmp(mode, "0") || !strcmp(mode, "off")) {
		gk_finding_say(f, FINDING_ABSENT, "/proc hides no processes");
	} else if (!geteuid() || is_member(gid)) {
		gk_finding_say(f, FINDING_OK,
			       "/proc has hidepid=%s, but not for this user",
			       mode);
	} else {
		gk_finding_say(
		    f, FINDING_WARN,
		    "/proc has hidepid=%s: processes of other users are "
		    "without name and user",
		    mode);
		if (*gid)
			gk_finding_todo(
			    f,
			    "sudo usermod -aG %s $USER, then log in "
			    "again",
			    gid);
		else
			gk_finding_todo(f, "sudo gpukit, or sudo mount -o "
					   "remount,hidepid=0 /proc");
	}
}

/* ---- shared memory ---- */

/*
 * Returns the bytes that are free in a directory below the root, or UINT64_MAX
 * if unknown.
 */
static uint64_t free_bytes(const struct gk_doctor *d, const char *path)
{
	struct statvfs st;
	int fd = openat(d->root, path + 1, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	uint64_t bytes = UINT64_MAX;

	if (fd < 0)
		return bytes;
	if (!fstatvfs(fd, &st))
		bytes = (uint64_t)st.f_bavail * st.f_frsize;
	close(fd);
	return bytes;
}

void gk_doctor_look_shm(const struct gk_doctor *d, struct gk_finding *f)
{
	uint64_t left = free_bytes(d, "/dev/shm");

	if (!gk_doctor_exists(d, "/dev/shm")) {
		gk_finding_say(f, FINDING_BAD, "there is no /dev/shm");
		gk_finding_todo(f,
				"sudo mkdir -m 1777 /dev/shm && sudo mount -t "
				"tmpfs tmpfs /dev/shm");
	} else if (gk_doctor_access(d, "/dev/shm")) {
		gk_finding_say(f, FINDING_BAD, "/dev/shm cannot be written");
		gk_finding_todo(f, "sudo chmod 1777 /dev/shm");
	} else if (left < SHM_LEAST) {
		gk_finding_say(f, FINDING_BAD,
			       "/dev/shm is full: %llu KiB are free",
			       (unsigned long long)left >> 10);
		gk_finding_todo(f, "%s",
				d->container
				    ? "start the container with "
				      "--shm-size=1g, or remove files there"
				    : "remove files in /dev/shm");
	} else {
		gk_finding_say(f, FINDING_OK, "%llu MiB are free",
			       (unsigned long long)left >> 20);
	}
}

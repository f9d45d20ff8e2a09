/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kernel.c - checks the hardware, the kernel module and its device files, using
 * /sys, /proc and /dev. Opens no device file, because that may take seconds or
 * never return.
 */
#include "base/array.h"
#include "cli/doctor/doctor.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#define PCI     "/sys/bus/pci/devices"
#define NVIDIA  0x10de
#define DISPLAY 0x03 /* the class of display controllers */

#define SECURE_BOOT                                                            \
	"/sys/firmware/efi/efivars/"                                           \
	"SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"

/* ---- reading ---- */

static const char *const takers[TAKER_COUNT] = {
    [TAKER_NVIDIA] = "nvidia",  [TAKER_NOUVEAU] = "nouveau",
    [TAKER_VFIO] = "vfio-pci",  [TAKER_OTHER] = "another driver",
    [TAKER_NONE] = "no driver",
};

static enum gk_doctor_taker find_taker(const struct gk_doctor *d,
				       const char *bus_id)
{
	char path[320], target[256];
	const char *name;

	snprintf(path, sizeof path, PCI "/%s/driver", bus_id);
	gk_doctor_link(d, path, target, sizeof target);
	name = strrchr(target, '/');
	name = name ? name + 1 : target;
	if (!*name)
		return TAKER_NONE;
	for (int i = 0; i < TAKER_OTHER; i++)
		if (!strcmp(takers[i], name))
			return (enum gk_doctor_taker)i;
	/* nova-core is nouveau's successor. */
	return strcmp(name, "nova-core") ? TAKER_OTHER : TAKER_NOUVEAU;
}

static unsigned long read_hex(const struct gk_doctor *d, const char *bus_id,
			      const char *file)
{
	char path[320], text[32];

	snprintf(path, sizeof path, PCI "/%s/%s", bus_id, file);
	gk_doctor_read(d, path, text, sizeof text);
	return strtoul(text, NULL, 16);
}

static void read_hardware(struct gk_doctor *d)
{
	struct gk_doctor_kernel *k = &d->kernel;
	DIR *dir = gk_doctor_dir(d, PCI);
	struct dirent *e;

	while (dir && (e = readdir(dir))) {
		enum gk_doctor_taker taker;

		if (*e->d_name == '.' ||
		    read_hex(d, e->d_name, "vendor") != NVIDIA ||
		    read_hex(d, e->d_name, "class") >> 16 != DISPLAY)
			continue;
		taker = find_taker(d, e->d_name);
		if (!k->taken[taker]++)
			gk_str_copy(k->bus_id[taker], sizeof *k->bus_id,
				    e->d_name);
		k->gpus++;
	}
	if (dir)
		closedir(dir);
}

/* Whether a line of the text begins with a word and a blank. */
static bool has_line(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *line = text; line && *line;
	     line = strchr(line, '\n'), line += line != NULL)
		if (!strncmp(line, word, len) && line[len] == ' ')
			return true;
	return false;
}

/* Copies the first word that looks like a version, such as 580.65.06. */
static void copy_version(const char *text, char *dst, size_t cap)
{
	while (*text) {
		size_t len = strspn(text, "0123456789.");
		size_t word = strcspn(text, " \t\n");

		if (len && len == word && memchr(text, '.', len)) {
			gk_str_clean(dst, cap, text, len);
			return;
		}
		text += word + (text[word] != '\0');
	}
}

static void read_module(struct gk_doctor *d)
{
	struct gk_doctor_kernel *k = &d->kernel;
	char *modules = gk_doctor_read_whole(d, "/proc/modules");
	char text[1024];

	k->nouveau = modules && (has_line(modules, "nouveau") ||
				 has_line(modules, "nova_core"));
	gk_doctor_read(d, "/proc/driver/nvidia/version", text, sizeof text);
	k->open = strstr(text, "Open Kernel Module") != NULL;
	copy_version(text, k->version, sizeof k->version);
	if (!*k->version) {
		gk_doctor_read(d, "/sys/module/nvidia/version", text,
			       sizeof text);
		copy_version(text, k->version, sizeof k->version);
	}
	k->loaded = *k->version || (modules && has_line(modules, "nvidia"));
	free(modules);
}

void gk_doctor_read_kernel(struct gk_doctor *d)
{
	struct utsname name;
	char text[65];

	if (gk_doctor_read(d, "/proc/sys/kernel/osrelease", text, sizeof text) >
	    0)
		text[strcspn(text, "\n")] = '\0';
	else
		gk_str_copy(text, sizeof text,
			    uname(&name) ? "" : name.release);
	gk_str_clean(d->kernel.release, sizeof d->kernel.release, text,
		     strlen(text));
	read_hardware(d);
	read_module(d);
}

bool gk_doctor_has_no_module(const struct gk_doctor *d)
{
	return d->driver.made_up || d->wsl || *d->board;
}

static bool say_no_module(const struct gk_doctor *d, struct gk_finding *f)
{
	if (gk_doctor_has_no_module(d))
		gk_finding_say(f, FINDING_ABSENT, "%s",
			       d->driver.made_up ? "the machine is made up"
			       : d->wsl          ? "WSL has none"
					: "the GPU is a part of the chip");
	return gk_doctor_has_no_module(d);
}

/* ---- hardware ---- */

static bool say_taken(const struct gk_doctor_kernel *k, struct gk_finding *f)
{
	static const struct {
		enum gk_doctor_taker taker;
		const char *todo;
	} rows[] = {
	    {TAKER_NOUVEAU,
	     "install NVIDIA's driver, which keeps nouveau away, and reboot"},
	    {TAKER_VFIO, "it is for virtual machines; to have it back, take "
			 "its ids out of vfio-pci's"},
	    {TAKER_NONE, "see `dmesg | grep -i nvrm`: the driver may be too "
			 "new or too old for it"},
	    {TAKER_OTHER, "let NVIDIA's driver take it"},
	};

	for (size_t i = 0; i < COUNT(rows); i++) {
		enum gk_doctor_taker t = rows[i].taker;

		if (!k->taken[t] || (t == TAKER_NONE && !k->loaded))
			continue;
		gk_finding_say(
		    f, k->taken[TAKER_NVIDIA] ? FINDING_WARN : FINDING_BAD,
		    "%u of %u GPUs: %s has taken it (%s)", k->taken[t], k->gpus,
		    takers[t], k->bus_id[t]);
		gk_finding_todo(f, "%s", rows[i].todo);
		return true;
	}
	return false;
}

void gk_doctor_look_hardware(const struct gk_doctor *d, struct gk_finding *f)
{
	const struct gk_doctor_kernel *k = &d->kernel;

	if (*d->board && !d->driver.made_up) {
		gk_finding_say(f, FINDING_OK, "%s", d->board);
	} else if (say_no_module(d, f)) {
		return;
	} else if (!k->gpus && !d->driver.gk) {
		gk_finding_say(f, FINDING_BAD, "no NVIDIA GPU on the PCI bus");
		gk_finding_todo(f, "a made-up one: gpukit fake -- gpukit top");
	} else if (!say_taken(k, f)) {
		gk_finding_say(f, FINDING_OK, "%u NVIDIA GPU%s on the PCI bus",
			       k->gpus, k->gpus == 1 ? "" : "s");
	}
}

/* ---- the module ---- */

static bool is_built(const struct gk_doctor *d, const char *release)
{
	char path[256], *text;
	bool built;

	snprintf(path, sizeof path, "/lib/modules/%.120s/modules.dep", release);
	text = gk_doctor_read_whole(d, path);
	built = text && (strstr(text, "/nvidia.ko") ||
			 strstr(text, "/nvidia-current.ko"));
	free(text);
	return built;
}

/* Finds another kernel for which the module is built; "": none. */
static void find_other_kernel(const struct gk_doctor *d, char *dst, size_t cap)
{
	DIR *dir = gk_doctor_dir(d, "/lib/modules");
	struct dirent *e;

	*dst = '\0';
	while (dir && !*dst && (e = readdir(dir)))
		if (*e->d_name != '.' && is_built(d, e->d_name))
			gk_str_copy(dst, cap, e->d_name);
	if (dir)
		closedir(dir);
}

static bool is_boot_secure(const struct gk_doctor *d)
{
	char bytes[8] = "";

	/* The file has four bytes of attributes, followed by the value. */
	return gk_doctor_read(d, SECURE_BOOT, bytes, sizeof bytes) == 5 &&
	       bytes[4] == 1;
}

static void say_not_loaded(const struct gk_doctor *d, struct gk_finding *f)
{
	char other[128];

	find_other_kernel(d, other, sizeof other);
	if (d->container) {
		gk_finding_say(f, FINDING_BAD,
			       "the host has not loaded nvidia");
		gk_finding_todo(f, "on the host: sudo modprobe nvidia");
	} else if (is_built(d, d->kernel.release) && is_boot_secure(d)) {
		gk_finding_say(
		    f, FINDING_BAD,
		    "nvidia is not loaded, and Secure Boot is on: it "
		    "may not be signed");
		gk_finding_todo(
		    f, "sudo modprobe nvidia; if the key was rejected, "
		       "enrol it with mokutil");
	} else if (is_built(d, d->kernel.release)) {
		gk_finding_say(f, FINDING_BAD, "nvidia is not loaded");
		gk_finding_todo(f, "sudo modprobe nvidia");
	} else if (*other) {
		gk_finding_say(
		    f, FINDING_BAD,
		    "nvidia is built for Linux %s, not for %s, which "
		    "runs",
		    other, d->kernel.release);
		gk_finding_todo(f, "sudo dkms autoinstall (with the headers of "
				   "this kernel), or boot the other one");
	} else {
		gk_finding_say(f, FINDING_BAD, "there is no module nvidia");
		gk_finding_todo(f, "%s", gk_doctor_get_driver(d));
	}
}

void gk_doctor_look_module(const struct gk_doctor *d, struct gk_finding *f)
{
	const struct gk_doctor_kernel *k = &d->kernel;

	if (say_no_module(d, f))
		return;
	if (k->loaded)
		gk_finding_say(f, FINDING_OK, "nvidia %s, %s",
			       *k->version ? k->version : "of unknown version",
			       k->open ? "the open one"
				       : "the proprietary one");
	else if (!k->gpus || k->taken[TAKER_NOUVEAU])
		gk_finding_say(f, FINDING_ABSENT, "%s",
			       k->gpus ? "nouveau is in its place"
				       : "not loaded: there is no GPU");
	else
		say_not_loaded(d, f);
}

/* ---- device files ---- */

static void say_refused(const struct gk_doctor *d, const char *path, int error,
			struct gk_finding *f)
{
	struct stat st = {0};
	struct passwd *user = getpwuid(geteuid());
	struct group *group;
	char name[32];

	snprintf(name, sizeof name, "%u", geteuid());
	fstatat(d->root, path + 1, &st, 0);
	group = getgrgid(st.st_gid);
	if (error == EPERM) {
		gk_finding_say(f, FINDING_BAD,
			       "the cgroup of this process denies %s", path);
		gk_finding_todo(
		    f, "%s",
		    d->container ? d->container->give
				 : "ask the job's scheduler for a GPU, such as "
				   "`srun --gres=gpu:1`");
		return;
	}
	gk_finding_say(f, FINDING_BAD,
		       "user %s may not open %s, which is of %s (%o)",
		       user ? user->pw_name : name, path,
		       group ? group->gr_name : "another group",
		       (unsigned)st.st_mode & 0777);
	if (group && st.st_gid && st.st_mode & 0060)
		gk_finding_todo(f,
				"sudo usermod -aG %s $USER, then log in again",
				group->gr_name);
	else
		gk_finding_todo(f,
				"sudo chmod 666 %s; for good: the module's "
				"option NVreg_DeviceFileMode=0666",
				path);
}

/* Whether a name is nvidia0, nvidia1... */
static bool is_gpu_file(const char *name)
{
	if (strncmp(name, "nvidia", 6) || !isdigit((unsigned char)name[6]))
		return false;
	return !name[6 + strspn(name + 6, "0123456789")];
}

/*
 * Counts the device files of GPUs. Stores the first one that may not be used,
 * and the reason in *error.
 */
static unsigned count_gpu_files(const struct gk_doctor *d, char *refused,
				size_t cap, int *error)
{
	DIR *dir = gk_doctor_dir(d, "/dev");
	struct dirent *e;
	unsigned count = 0;

	*error = 0;
	while (dir && (e = readdir(dir))) {
		if (!is_gpu_file(e->d_name))
			continue;
		count++;
		if (!*error) {
			snprintf(refused, cap, "/dev/%.20s", e->d_name);
			*error = gk_doctor_access(d, refused);
		}
	}
	if (dir)
		closedir(dir);
	return count;
}

static void say_missing(const struct gk_doctor *d, const char *path,
			struct gk_finding *f)
{
	if (d->container) {
		gk_finding_say(f, FINDING_BAD, "this container has no %s",
			       path);
		gk_finding_todo(f, "%s", d->container->give);
	} else {
		gk_finding_say(f, FINDING_BAD, "there is no %s", path);
		gk_finding_todo(f, "sudo nvidia-modprobe -c 0");
	}
}

void gk_doctor_look_nodes(const struct gk_doctor *d, struct gk_finding *f)
{
	int error = gk_doctor_access(d, "/dev/nvidiactl"), gpu_error;
	char refused[32];
	unsigned count =
	    count_gpu_files(d, refused, sizeof refused, &gpu_error);

	if (say_no_module(d, f))
		return;
	if (error == ENOENT && !d->kernel.loaded)
		gk_finding_say(f, FINDING_UNKNOWN,
			       "none before the module is loaded");
	else if (error == ENOENT)
		say_missing(d, "/dev/nvidiactl", f);
	else if (error)
		say_refused(d, "/dev/nvidiactl", error, f);
	else if (!count)
		say_missing(d, "/dev/nvidia0", f);
	else if (gpu_error)
		say_refused(d, refused, gpu_error, f);
	else
		gk_finding_say(f, FINDING_OK, "those of %u GPU%s", count,
			       count == 1 ? "" : "s");
}

void gk_doctor_look_uvm(const struct gk_doctor *d, struct gk_finding *f)
{
	int error = gk_doctor_access(d, "/dev/nvidia-uvm");

	if (say_no_module(d, f))
		return;
	if (!error) {
		gk_finding_say(f, FINDING_OK, "/dev/nvidia-uvm");
	} else if (error != ENOENT) {
		say_refused(d, "/dev/nvidia-uvm", error, f);
	} else if (!d->kernel.loaded) {
		gk_finding_say(f, FINDING_UNKNOWN,
			       "none before the module is loaded");
	} else {
		gk_finding_say(f, FINDING_WARN,
			       "there is no /dev/nvidia-uvm: CUDA "
			       "programs do not start");
		gk_finding_todo(f, "%s",
				d->container ? d->container->give
					     : "sudo nvidia-modprobe -u -c 0");
	}
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * driver.c - opens the driver library and reads its GPUs within a deadline.
 * Checks whether the library fits the kernel module and has the functions that
 * gpukit uses.
 */
#include "abi/nvml/nvml_abi.h"
#include "base/array.h"
#include "base/clock.h"
#include "cli/doctor/doctor.h"
#include "core/driver/nvml.h"
#include "format/condition.h"
#include "format/names.h"

#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIBRARY "libnvidia-ml.so.1"

/*
 * The part of the time that is reserved for reading GPUs after the driver was
 * opened.
 */
#define READING_NS (200 * GK_NS_PER_MS)

/* ---- opening ---- */

/*
 * Writes the path of the file from which a library was loaded, with all links
 * resolved.
 */
static void find_path(void *library, char *dst, size_t cap)
{
	struct link_map *map;
	char real[PATH_MAX];

	*dst = '\0';
	if (!dlinfo(library, RTLD_DI_LINKMAP, &map))
		gk_str_copy(dst, cap,
			    realpath(map->l_name, real) ? real : map->l_name);
}

static const char *find_lacking(void *library)
{
	for (size_t i = 0; i < GK_NVML_SYMBOLS; i++)
		if (gk_nvml_symbols[i].need == GK_NVML_REQ &&
		    !dlsym(library, gk_nvml_symbols[i].name))
			return gk_nvml_symbols[i].name;
	return NULL;
}

/* Loads the library to find out its path, and whether it is ours. */
static void look_at_library(struct gk_doctor *d)
{
	struct gk_doctor_driver *v = &d->driver;
	const char *path = d->machine.nvml_path;
	void *library = gk_nvml_load(path);

	if (!library) {
		dlopen(path ? path : LIBRARY, RTLD_LAZY | RTLD_LOCAL);
		gk_str_copy(v->why_not, sizeof v->why_not, dlerror());
		return;
	}
	find_path(library, v->path, sizeof v->path);
	v->lacks = find_lacking(library);
	/*
	 * Only our library depends on libgpukit-fake.so, which has this
	 * function.
	 */
	v->made_up = dlsym(library, "gkf_machine_open") != NULL;
}

static void choose_metrics(struct gk_metric_set *set)
{
	static const enum gk_metric wanted[] = {
	    GK_M_PERSISTENCE,  GK_M_MIG_MODE,       GK_M_COMPUTE_MODE,
	    GK_M_FABRIC_STATE, GK_M_DISPLAY_ACTIVE, GK_M_MEM_UNIFIED,
	    GK_M_MEM_TOTAL,    GK_M_MEM_USED,
	};

	gk_metric_set_add_all(set, wanted, COUNT(wanted));
	gk_condition_metrics(set);
}

void gk_doctor_read_driver(struct gk_doctor *d, uint64_t within_ns)
{
	struct gk_doctor_driver *v = &d->driver;
	struct gk_metric_set wanted = {0};
	uint64_t began = gk_mono_ns(), end = began + within_ns, left;

	look_at_library(d);
	if (*v->why_not) {
		v->err = GK_ERR_NO_DRIVER;
		return;
	}
	choose_metrics(&wanted);
	d->machine.only = &wanted;
	d->machine.with |=
	    GK_WITH_DETAIL | GK_WITHOUT_COMMANDS | GK_WITHOUT_PROCESS_UTIL;
	v->err = gk_open_within(
	    &d->machine,
	    within_ns > 2 * READING_NS ? within_ns - READING_NS : within_ns / 2,
	    &v->nvml, &v->gk);
	v->opening_ns = gk_mono_ns() - began;
	if (v->err)
		return;
	left = gk_mono_ns() < end ? end - gk_mono_ns() : 0;
	if (gk_snapshot_within(v->gk, left > GK_NS_PER_MS ? left : GK_NS_PER_MS,
			       &v->snap))
		v->snap = NULL;
	v->missing_count =
	    gk_missing_functions(v->gk, v->missing, COUNT(v->missing));
}

/* ---- whether the driver starts ---- */

/* Says why the library is missing. Tries the most specific reasons first. */
static void say_not_there(const struct gk_doctor *d, struct gk_finding *f)
{
	const char *wanted =
	    d->machine.nvml_path ? d->machine.nvml_path : LIBRARY;
	const char *abilities = getenv("NVIDIA_DRIVER_CAPABILITIES");

	if (!strstr(d->driver.why_not, "No such file")) {
		gk_finding_say(f, FINDING_BAD, "it cannot be loaded: %s",
			       d->driver.why_not);
		gk_finding_todo(
		    f, "install the driver's libraries again, for this "
		       "architecture");
	} else if (d->machine.nvml_path) {
		gk_finding_say(f, FINDING_BAD, "there is no %s", wanted);
		gk_finding_todo(f, "give --nvml another path");
	} else if (d->container && abilities && !strstr(abilities, "utility") &&
		   !strstr(abilities, "all")) {
		gk_finding_say(f, FINDING_BAD,
			       "this container has no %s: "
			       "NVIDIA_DRIVER_CAPABILITIES=%s has no utility",
			       wanted, abilities);
		gk_finding_todo(f,
				"start it with "
				"NVIDIA_DRIVER_CAPABILITIES=compute,utility");
	} else if (d->container) {
		gk_finding_say(f, FINDING_BAD, "this container has no %s",
			       wanted);
		gk_finding_todo(f, "%s", d->container->give);
	} else if (d->kernel.loaded) {
		gk_finding_say(
		    f, FINDING_BAD,
		    "the kernel module is loaded, but there is no %s", wanted);
		gk_finding_todo(f, "%s", gk_doctor_get_driver(d));
	} else {
		gk_finding_say(f, FINDING_BAD,
			       "no NVIDIA driver: there is no %s", wanted);
		gk_finding_todo(f, "%s", gk_doctor_get_driver(d));
	}
}

static bool is_stub(const struct gk_doctor_driver *v)
{
	return strstr(v->path, "/stubs/") != NULL;
}

static void say_refused(const struct gk_doctor *d, struct gk_finding *f)
{
	static const struct {
		nvmlReturn_t code;
		const char *todo;
	} rows[] = {
	    {NVML_ERROR_NO_PERMISSION, "see the device files' rights"},
	    {NVML_ERROR_DRIVER_NOT_LOADED, "sudo modprobe nvidia"},
	    {NVML_ERROR_LIB_RM_VERSION_MISMATCH,
	     "reboot; or end what uses GPUs, then `sudo rmmod nvidia_uvm "
	     "nvidia_drm nvidia_modeset nvidia && sudo modprobe nvidia`"},
	    {NVML_ERROR_OPERATING_SYSTEM,
	     "give the container or the cgroup access to /dev/nvidia*"},
	    {NVML_ERROR_GPU_IS_LOST, "reboot; see `dmesg | grep -i xid`"},
	};

	const char *todo = "see `dmesg | grep -i nvrm`";

	gk_finding_say(f, FINDING_BAD, "it does not start: %s (%d)",
		       gk_nvml_text(d->driver.nvml), d->driver.nvml);
	for (size_t i = 0; i < COUNT(rows); i++)
		if ((int)rows[i].code == d->driver.nvml)
			todo = rows[i].todo;
	gk_finding_todo(f, "%s%s", todo,
			d->driver.made_up
			    ? "; if it is a made-up fault: `gpukit fake ctl "
			      "clear all`, or `gpukit fake ctl ls`"
			    : "");
}

void gk_doctor_look_driver(const struct gk_doctor *d, struct gk_finding *f)
{
	const struct gk_doctor_driver *v = &d->driver;

	if (*v->why_not) {
		say_not_there(d, f);
	} else if (v->err && is_stub(v)) {
		gk_finding_say(f, FINDING_BAD,
			       "%s is the CUDA toolkit's stub, not a driver",
			       v->path);
		gk_finding_todo(f, "take its directory out of LD_LIBRARY_PATH");
	} else if (v->lacks) {
		gk_finding_say(f, FINDING_BAD,
			       "%s lacks %s: it is no driver library", v->path,
			       v->lacks);
		gk_finding_todo(f, "%s", gk_doctor_get_driver(d));
	} else if (v->err == GK_ERR_TIMEOUT) {
		gk_finding_say(f, FINDING_BAD, "it has not started in %.1f s",
			       (double)v->opening_ns / 1e9);
		gk_finding_todo(f,
				"without persistence mode it may be slow: "
				"--timeout 10; if it hangs: `dmesg | grep -i "
				"xid`, reboot");
	} else if (v->err == GK_ERR_DRIVER) {
		say_refused(d, f);
	} else if (v->err) {
		gk_finding_say(f, FINDING_BAD, "%s", gk_strerror(v->err));
	} else {
		gk_finding_say(f, FINDING_OK, "%s, started in %.0f ms", v->path,
			       (double)v->opening_ns / 1e6);
	}
}

/* ---- it fits ---- */

/*
 * Returns the version after ".so." in a library's file name; "" if there is
 * none.
 */
static const char *version_in(const char *path)
{
	const char *at = strstr(path, ".so.");

	return at && strchr(at + 4, '.') ? at + 4 : "";
}

static void say_versions(const struct gk_doctor *d, struct gk_finding *f)
{
	const char *driver, *nvml;
	int cuda;

	gk_versions(d->driver.gk, &driver, &nvml, &cuda);
	gk_finding_say(f, FINDING_OK, "%s, NVML %s, CUDA up to %d.%d",
		       *driver ? driver : "unknown", *nvml ? nvml : "unknown",
		       cuda / 1000, cuda % 1000 / 10);
}

void gk_doctor_look_version(const struct gk_doctor *d, struct gk_finding *f)
{
	const char *library = version_in(d->driver.path);
	const char *module = d->kernel.version;
	bool differ = *library && *module && strcmp(library, module);

	if (!gk_doctor_has_no_module(d) && differ) {
		gk_finding_say(f, FINDING_BAD,
			       "the library is of driver %s, the loaded kernel "
			       "module of %s",
			       library, module);
		gk_finding_todo(
		    f, "%s",
		    d->container ? "the host's driver was updated: start the "
				   "container again"
				 : "reboot: the driver was updated");
	} else if (d->driver.gk) {
		say_versions(d, f);
	} else {
		gk_finding_say(f, FINDING_UNKNOWN, "no driver runs");
	}
}

/* Converts "580.65.06" to 580065; returns 0 if the text is not a version. */
static unsigned long number_of(const char *version)
{
	char *end;
	unsigned long major = strtoul(version, &end, 10);

	return *end == '.' ? major * 1000 + strtoul(end + 1, NULL, 10) : 0;
}

/* Whether a function is newer than this version of the driver. */
static bool is_later(const char *name, unsigned long version)
{
	for (size_t i = 0; i < GK_NVML_SYMBOLS; i++)
		if (!strcmp(gk_nvml_symbols[i].name, name))
			return gk_nvml_symbols[i].since > version;
	return false;
}

void gk_doctor_look_functions(const struct gk_doctor *d, struct gk_finding *f)
{
	const struct gk_doctor_driver *v = &d->driver;
	const char *driver, *nvml, *first = NULL;
	size_t unexpected = 0, named = v->missing_count;
	int cuda;

	if (!v->gk) {
		gk_finding_say(f, FINDING_UNKNOWN, "no driver runs");
		return;
	}
	if (named > COUNT(v->missing))
		named = COUNT(v->missing);
	gk_versions(v->gk, &driver, &nvml, &cuda);
	for (size_t i = 0; i < named; i++)
		if (!is_later(v->missing[i], number_of(driver))) {
			first = first ? first : v->missing[i];
			unexpected++;
		}
	if (unexpected) {
		gk_finding_say(f, FINDING_WARN,
			       "%zu of its time are missing, such as %s: their "
			       "values are absent",
			       unexpected, first);
		gk_finding_todo(f, "%s", gk_doctor_get_driver(d));
	} else if (v->missing_count) {
		gk_finding_say(f, FINDING_OK,
			       "%zu came with later drivers: their values are "
			       "absent",
			       v->missing_count);
	} else {
		gk_finding_say(f, FINDING_OK, "all that gpukit calls");
	}
}

/* ---- CUDA ---- */

static void say_no_cuda(const struct gk_doctor *d, struct gk_finding *f)
{
	const char *abilities = getenv("NVIDIA_DRIVER_CAPABILITIES");

	gk_finding_say(f, FINDING_WARN,
		       "no libcuda.so.1: CUDA programs do not start");
	if (d->driver.made_up)
		gk_finding_todo(f, "install gpukit again, with all of its "
				   "files");
	else if (d->container && abilities && !strstr(abilities, "compute") &&
		 !strstr(abilities, "all"))
		gk_finding_todo(f,
				"start the container with "
				"NVIDIA_DRIVER_CAPABILITIES=compute,utility");
	else
		gk_finding_todo(f, "%s", gk_doctor_get_driver(d));
}

void gk_doctor_look_cuda(const struct gk_doctor *d, struct gk_finding *f)
{
	const char *nvml = version_in(d->driver.path), *cuda;
	char path[PATH_MAX];
	void *library;

	if (!*d->driver.path) {
		gk_finding_say(f, FINDING_UNKNOWN, "no driver runs");
		return;
	}
	library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
	if (!library) {
		say_no_cuda(d, f);
		return;
	}
	find_path(library, path, sizeof path);
	cuda = version_in(path);
	if (strstr(path, "/stubs/")) {
		gk_finding_say(
		    f, FINDING_WARN,
		    "%s is the CUDA toolkit's stub: CUDA programs do "
		    "not start",
		    path);
		gk_finding_todo(f, "take its directory out of LD_LIBRARY_PATH");
	} else if (*nvml && *cuda && strcmp(nvml, cuda)) {
		gk_finding_say(f, FINDING_WARN,
			       "libcuda is of driver %s, NVML of %s", cuda,
			       nvml);
		gk_finding_todo(f,
				"install one driver; remove %s if it is an old "
				"copy",
				path);
	} else {
		gk_finding_say(f, FINDING_OK, "%s", path);
	}
}

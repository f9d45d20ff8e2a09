/* SPDX-License-Identifier: Apache-2.0 */
/* gpus.c - checks the GPUs of a snapshot: health, modes, visibility to CUDA. */
#include "abi/nvml/nvml_abi.h"
#include "base/array.h"
#include "cli/doctor/doctor.h"
#include "format/condition.h"
#include "format/names.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool gk_doctor_has_gpus(const struct gk_doctor *d, struct gk_finding *f)
{
	if (d->driver.snap && d->driver.snap->device_count)
		return true;
	gk_finding_say(f, FINDING_UNKNOWN, "no GPU answers");
	return false;
}

static bool is_gpu(const struct gk_device *device)
{
	return device->mig_index < 0;
}

static size_t count_gpus(const struct gk_snapshot *snap)
{
	size_t count = 0;

	for (size_t i = 0; i < snap->device_count; i++)
		count += is_gpu(&snap->devices[i]);
	return count;
}

/*
 * Lists the GPUs for which holds() returns true: "GPU 1" or "GPUs 0, 3".
 * Returns their number.
 */
static size_t list_gpus(const struct gk_snapshot *snap,
			bool (*holds)(const struct gk_snapshot *,
				      const struct gk_device *),
			char *dst, size_t cap)
{
	char numbers[256] = "";
	size_t count = 0, len = 0;

	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *g = &snap->devices[i];

		if (!is_gpu(g) || !holds(snap, g))
			continue;
		if (len < sizeof numbers - 16)
			len += (size_t)snprintf(numbers + len,
						sizeof numbers - len, "%s%u",
						count ? ", " : "", g->index);
		count++;
	}
	snprintf(dst, cap, "GPU%s %s", count == 1 ? "" : "s", numbers);
	return count;
}

/* ---- whether the GPUs answer ---- */

static const char *health_todo(const struct gk_device *g)
{
	static const struct {
		nvmlReturn_t code;
		const char *todo;
	} rows[] = {
	    {NVML_ERROR_NO_PERMISSION, "see the device files' rights"},
	    {NVML_ERROR_RESET_REQUIRED, "sudo nvidia-smi --gpu-reset"},
	    {NVML_ERROR_INSUFFICIENT_POWER, "connect its power cables"},
	    {NVML_ERROR_IRQ_ISSUE,
	     "its interrupts do not arrive: update the BIOS, or boot with "
	     "pci=nomsi"},
	};

	if (g->health == GK_HEALTH_LOST)
		return "sudo nvidia-smi --gpu-reset, or reboot; `dmesg | grep "
		       "-i xid` says why";
	if (g->health == GK_HEALTH_STALE)
		return "it hangs, or is slow: --timeout 10; `dmesg | grep -i "
		       "xid`";
	for (size_t i = 0; i < COUNT(rows); i++)
		if ((int)rows[i].code == g->nvml_error)
			return rows[i].todo;
	return "see `dmesg | grep -i nvrm`";
}

/* Adds "4 x NVIDIA H100, 1 x T4", in the order of the snapshot. */
static void add_names(const struct gk_snapshot *snap, struct gk_finding *f)
{
	const char *comma = "";

	for (size_t i = 0; i < snap->device_count; i++) {
		size_t same = 0;
		bool seen = false;

		for (size_t k = 0; k < snap->device_count; k++) {
			const struct gk_device *g = &snap->devices[k];

			if (!is_gpu(g) ||
			    strcmp(g->name, snap->devices[i].name))
				continue;
			seen = seen || k < i;
			same++;
		}
		if (!is_gpu(&snap->devices[i]) || seen)
			continue;
		gk_finding_add(f, "%s%zu x %s", comma, same,
			       snap->devices[i].name);
		comma = ", ";
	}
}

void gk_doctor_look_gpus(const struct gk_doctor *d, struct gk_finding *f)
{
	const struct gk_snapshot *snap = d->driver.snap;
	char trouble[GK_NAME_MAX];
	bool bad = false;

	if (!snap) {
		gk_finding_say(f, FINDING_UNKNOWN, "no driver runs");
		return;
	}
	if (!snap->device_count) {
		gk_finding_say(f, FINDING_BAD, "the driver lists no GPU");
		gk_finding_todo(f, "%s",
				d->container ? d->container->give
					     : "see `dmesg | grep -i nvrm`");
		return;
	}
	gk_finding_say(f, FINDING_OK, "%s", "");
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *g = &snap->devices[i];

		if (!is_gpu(g) || g->health == GK_HEALTH_OK)
			continue;
		if (!bad)
			gk_finding_todo(f, "%s", health_todo(g));
		gk_finding_add(f, "%sGPU %u: %s", bad ? "; " : "", g->index,
			       gk_device_trouble(trouble, snap, g));
		bad = true;
	}
	if (bad)
		f->state = FINDING_BAD;
	else
		add_names(snap, f);
}

void gk_doctor_look_health(const struct gk_doctor *d, struct gk_finding *f)
{
	const struct gk_snapshot *snap = d->driver.snap;
	bool any = false;

	if (!gk_doctor_has_gpus(d, f))
		return;
	gk_finding_say(f, FINDING_OK, "nothing is broken in those that answer");
	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *g = &snap->devices[i];
		const struct gk_condition *is = gk_condition_of(g);
		char text[GK_CONDITION_MAX];
		enum gk_finding_state state;

		if (!is)
			continue;
		state = is->fails ? FINDING_BAD : FINDING_WARN;
		if (!any || state < f->state)
			gk_finding_todo(f, "GPU %u: %s", g->index, is->why);
		if (!any)
			gk_finding_say(f, state, "%s", "");
		f->state = state < f->state ? state : f->state;
		gk_finding_add(f, "%sGPU %u: %s", any ? "; " : "", g->index,
			       gk_condition_text(text, is, g));
		any = true;
	}
}

/* ---- modes ---- */

static bool is_split(const struct gk_snapshot *snap, const struct gk_device *g)
{
	(void)snap;
	return gk_value_or_none(g->m[GK_M_MIG_MODE]) == 1;
}

static bool is_split_without_parts(const struct gk_snapshot *snap,
				   const struct gk_device *g)
{
	for (size_t i = 0; i < snap->device_count; i++)
		if (!is_gpu(&snap->devices[i]) &&
		    snap->devices[i].index == g->index)
			return false;
	return is_split(snap, g);
}

void gk_doctor_look_mig(const struct gk_doctor *d, struct gk_finding *f)
{
	const struct gk_snapshot *snap = d->driver.snap;
	char list[300];
	size_t gpus;

	if (!gk_doctor_has_gpus(d, f))
		return;
	if (list_gpus(snap, is_split_without_parts, list, sizeof list)) {
		gk_finding_say(
		    f, FINDING_WARN,
		    "%s: in MIG mode without MIG devices, so no CUDA "
		    "program runs there",
		    list);
		gk_finding_todo(f, "sudo nvidia-smi mig -cgi PROFILE -C, or "
				   "nvidia-smi -mig 0");
		return;
	}
	gpus = list_gpus(snap, is_split, list, sizeof list);
	if (gpus)
		gk_finding_say(f, FINDING_OK, "%s: %zu MIG devices", list,
			       snap->device_count - count_gpus(snap));
	else
		gk_finding_say(f, FINDING_ABSENT, "no GPU is split");
}

static bool is_not_persistent(const struct gk_snapshot *snap,
			      const struct gk_device *g)
{
	(void)snap;
	return gk_value_or_none(g->m[GK_M_PERSISTENCE]) == 0 &&
	       gk_value_or_none(g->m[GK_M_DISPLAY_ACTIVE]) != 1 &&
	       !gk_is_unified(g);
}

static bool is_persistence_known(const struct gk_snapshot *snap,
				 const struct gk_device *g)
{
	(void)snap;
	return g->m[GK_M_PERSISTENCE].why == GK_PRESENT;
}

void gk_doctor_look_persistence(const struct gk_doctor *d, struct gk_finding *f)
{
	const struct gk_snapshot *snap = d->driver.snap;
	char list[300];

	if (!gk_doctor_has_gpus(d, f))
		return;
	if (d->wsl && !d->driver.made_up) {
		gk_finding_say(f, FINDING_ABSENT, "Windows has none");
	} else if (list_gpus(snap, is_not_persistent, list, sizeof list)) {
		gk_finding_say(f, FINDING_WARN,
			       "%s: off, so every first program waits for the "
			       "GPU's start",
			       list);
		gk_finding_todo(
		    f, "sudo nvidia-smi -pm 1; for good: sudo systemctl "
		       "enable --now nvidia-persistenced");
	} else if (list_gpus(snap, is_persistence_known, list, sizeof list)) {
		gk_finding_say(f, FINDING_OK, "on, or not needed");
	} else {
		gk_finding_say(f, FINDING_ABSENT, "the GPUs have none");
	}
}

static bool is_prohibited(const struct gk_snapshot *snap,
			  const struct gk_device *g)
{
	(void)snap;
	return gk_value_or_none(g->m[GK_M_COMPUTE_MODE]) ==
	       NVML_COMPUTEMODE_PROHIBITED;
}

static bool is_exclusive(const struct gk_snapshot *snap,
			 const struct gk_device *g)
{
	(void)snap;
	return gk_value_or_none(g->m[GK_M_COMPUTE_MODE]) ==
	       NVML_COMPUTEMODE_EXCLUSIVE_PROCESS;
}

void gk_doctor_look_compute_mode(const struct gk_doctor *d,
				 struct gk_finding *f)
{
	const struct gk_snapshot *snap = d->driver.snap;
	char list[300];

	if (!gk_doctor_has_gpus(d, f))
		return;
	if (list_gpus(snap, is_prohibited, list, sizeof list)) {
		gk_finding_say(f, FINDING_WARN,
			       "%s: prohibited, so no CUDA program runs there",
			       list);
		gk_finding_todo(f, "sudo nvidia-smi -c DEFAULT");
	} else if (list_gpus(snap, is_exclusive, list, sizeof list)) {
		gk_finding_say(f, FINDING_OK, "%s: one process at a time",
			       list);
	} else {
		gk_finding_say(f, FINDING_OK, "programs share the GPUs");
	}
}

static bool is_apart(const struct gk_snapshot *snap, const struct gk_device *g)
{
	int64_t state = gk_value_or_none(g->m[GK_M_FABRIC_STATE]);

	(void)snap;
	return state == NVML_GPU_FABRIC_STATE_NOT_STARTED ||
	       state == NVML_GPU_FABRIC_STATE_IN_PROGRESS;
}

static bool is_joined(const struct gk_snapshot *snap, const struct gk_device *g)
{
	(void)snap;
	return gk_value_or_none(g->m[GK_M_FABRIC_STATE]) ==
	       NVML_GPU_FABRIC_STATE_COMPLETED;
}

void gk_doctor_look_fabric(const struct gk_doctor *d, struct gk_finding *f)
{
	const struct gk_snapshot *snap = d->driver.snap;
	char list[300];

	if (!gk_doctor_has_gpus(d, f))
		return;
	if (list_gpus(snap, is_apart, list, sizeof list)) {
		gk_finding_say(f, FINDING_WARN,
			       "%s: not joined yet; CUDA says \"system not yet "
			       "initialized\" (802)",
			       list);
		gk_finding_todo(
		    f, "sudo systemctl enable --now "
		       "nvidia-fabricmanager, of the driver's version");
	} else if (list_gpus(snap, is_joined, list, sizeof list)) {
		gk_finding_say(f, FINDING_OK, "%s: joined", list);
	} else {
		gk_finding_say(f, FINDING_ABSENT, "the GPUs are in none");
	}
}

static bool has_host_memory(const struct gk_snapshot *snap,
			    const struct gk_device *g)
{
	(void)snap;
	return gk_is_unified(g);
}

void gk_doctor_look_unified(const struct gk_doctor *d, struct gk_finding *f)
{
	char list[300];

	if (!gk_doctor_has_gpus(d, f))
		return;
	if (list_gpus(d->driver.snap, has_host_memory, list, sizeof list))
		gk_finding_say(f, FINDING_OK,
			       "%s: no memory of its own; the figures are the "
			       "host's",
			       list);
	else
		gk_finding_say(f, FINDING_ABSENT,
			       "each GPU has its own memory");
}

static bool shows_desktop(const struct gk_snapshot *snap,
			  const struct gk_device *g)
{
	(void)snap;
	return gk_value_or_none(g->m[GK_M_DISPLAY_ACTIVE]) == 1;
}

bool gk_doctor_has_display(void)
{
	const char *wayland = getenv("WAYLAND_DISPLAY"), *x = getenv("DISPLAY");

	return (wayland && *wayland) || (x && *x);
}

void gk_doctor_look_display(const struct gk_doctor *d, struct gk_finding *f)
{
	const struct gk_snapshot *snap = d->driver.snap;
	const char *wayland = getenv("WAYLAND_DISPLAY"), *x = getenv("DISPLAY");
	char list[300];

	if (wayland && *wayland)
		gk_finding_say(f, FINDING_OK, "Wayland (%s)", wayland);
	else if (x && *x)
		gk_finding_say(f, FINDING_OK, "X (%s)", x);
	else
		gk_finding_say(f, FINDING_ABSENT, "this session has none");
	if (!snap || !list_gpus(snap, shows_desktop, list, sizeof list))
		return;
	if (f->state == FINDING_ABSENT)
		gk_finding_say(f, FINDING_OK, "one of another session");
	gk_finding_add(f, "; %s: its memory is also the desktop's", list);
}

/* ---- which GPUs CUDA may see ---- */

/*
 * Returns a number by which CUDA's order of GPUs can be estimated: the larger,
 * the faster the GPU.
 */
static uint64_t speed_of(const struct gk_device *g)
{
	return (uint64_t)(g->compute_major * 10 + g->compute_minor);
}

static struct gk_candidate *make_candidates(const struct gk_snapshot *snap)
{
	struct gk_candidate *all = calloc(snap->device_count + 1, sizeof *all);

	for (size_t i = 0; all && i < snap->device_count; i++) {
		const struct gk_device *g = &snap->devices[i];

		all[i] = (struct gk_candidate){
		    .index = g->index,
		    .mig_index = g->mig_index,
		    .uuid = g->uuid,
		    .pci_bus = g->index,
		    .speed = speed_of(g),
		    .mig_enabled =
			is_gpu(g) && gk_value_or_none(g->m[GK_M_MIG_MODE]) == 1,
		};
	}
	return all;
}

void gk_doctor_look_visible(const struct gk_doctor *d, struct gk_finding *f)
{
	const struct gk_snapshot *snap = d->driver.snap;
	const char *value = getenv("CUDA_VISIBLE_DEVICES");
	struct gk_candidate *all;
	unsigned *chosen;
	size_t count = 0;
	long bad = -1;

	if (!value) {
		gk_finding_say(f, FINDING_ABSENT,
			       "not set: programs see every GPU");
		return;
	}
	if (!gk_doctor_has_gpus(d, f))
		return;
	all = make_candidates(snap);
	chosen = calloc(snap->device_count + 1, sizeof *chosen);
	if (all && chosen)
		gk_cuda_visible(value, GK_ORDER_PCI_BUS_ID, all,
				snap->device_count, chosen, &count, &bad);
	free(all);
	free(chosen);
	if (bad >= 0)
		gk_finding_say(
		    f, FINDING_WARN,
		    "'%s' names no device from '%s' on: programs see "
		    "%zu",
		    value, value + bad, count);
	else if (!count)
		gk_finding_say(f, FINDING_WARN,
			       "'%s' hides all GPUs from CUDA programs", value);
	else
		gk_finding_say(f, FINDING_OK, "'%s': programs see %zu of them",
			       value, count);
	if (f->state == FINDING_WARN)
		gk_finding_todo(f, "unset CUDA_VISIBLE_DEVICES, or export "
				   "CUDA_VISIBLE_DEVICES=$(gpukit select)");
}

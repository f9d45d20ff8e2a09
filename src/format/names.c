/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - owns the words for states, errors and Xids. */
#include "format/names.h"

#include "base/array.h"
#include "base/assert.h"
#include "base/clock.h"

#include <stdio.h>
#include <string.h>

char *gk_device_label(char *dst, const struct gk_device *device)
{
	if (device->mig_index < 0)
		snprintf(dst, GK_NAME_MAX, "%u", device->index);
	else
		snprintf(dst, GK_NAME_MAX, "%u:%d", device->index,
			 device->mig_index);
	return dst;
}

/*
 * Returns how long ago the device last answered, or UINT64_MAX if it never did.
 */
static uint64_t answer_age(const struct gk_snapshot *snap,
			   const struct gk_device *device)
{
	uint64_t last = 0;

	/* Leave out the EVENT tier: a wait that ends without an Xid does not
	 * show that the GPU answers. */
	for (int i = 0; i < GK_TIER_EVENT; i++)
		if (device->read_ns[i] > last)
			last = device->read_ns[i];
	if (!last)
		return UINT64_MAX;
	return snap->mono_ns > last ? snap->mono_ns - last : 0;
}

static void stale_text(char *dst, uint64_t age)
{
	if (age == UINT64_MAX)
		snprintf(dst, GK_NAME_MAX, "no answer from the driver");
	else
		snprintf(dst, GK_NAME_MAX, "no answer for %.1f s",
			 (double)age / (double)GK_NS_PER_S);
}

char *gk_device_trouble(char *dst, const struct gk_snapshot *snap,
			const struct gk_device *device)
{
	*dst = '\0';
	if (device->health == GK_HEALTH_LOST)
		snprintf(dst, GK_NAME_MAX, "GPU is lost");
	else if (device->health == GK_HEALTH_STALE)
		stale_text(dst, answer_age(snap, device));
	else if (device->health == GK_HEALTH_ERROR)
		snprintf(dst, GK_NAME_MAX, "%s",
			 gk_nvml_text(device->nvml_error));
	return dst;
}

bool gk_device_unread(const struct gk_device *device)
{
	return device->health == GK_HEALTH_OK && device->mig_index < 0 &&
	       !device->read_ns[GK_TIER_MEDIUM];
}

bool gk_processes_known(const struct gk_device *device)
{
	return (device->health == GK_HEALTH_OK ||
		device->health == GK_HEALTH_STALE) &&
	       device->read_ns[GK_TIER_MEDIUM] &&
	       device->processes_why == GK_PRESENT;
}

const char *gk_no_processes_text(const struct gk_snapshot *snap)
{
	bool answers = false, unread = false, listed = !snap->device_count;

	for (size_t i = 0; i < snap->device_count; i++) {
		const struct gk_device *dev = &snap->devices[i];

		if (dev->health != GK_HEALTH_OK)
			continue;
		answers = true;
		listed |= dev->processes_why == GK_PRESENT;
		unread |= gk_device_unread(dev);
	}
	if (unread)
		return GK_READING;
	if (listed)
		return GK_NO_PROCESSES;
	return answers ? GK_NOT_LISTED : GK_NO_ANSWER;
}

const char *gk_nvml_text(int nvml_return)
{
	static const struct {
		int code;
		const char *text;
	} rows[] = {
#define NVML_RETURN(name, value, text) {value, text},
#include "abi/nvml/nvml_return.def"
#undef NVML_RETURN
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].code == nvml_return)
			return rows[i].text;
	return "Unknown Error";
}

const char *gk_xid_text(int64_t number)
{
	static const struct {
		int number;
		const char *text;
	} rows[] = {
#define XID(number, becomes, events, name) {number, name},
#include "abi/nvml/xid.def"
#undef XID
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (rows[i].number == number)
			return rows[i].text;
	return "unknown error";
}

const char *gk_health_name(enum gk_health health)
{
	static const char *const names[] = {
	    [GK_HEALTH_OK] = "ok",
	    [GK_HEALTH_LOST] = "lost",
	    [GK_HEALTH_STALE] = "stale",
	    [GK_HEALTH_ERROR] = "error",
	};

	GK_ASSERT((size_t)health < COUNT(names));
	return names[health];
}

const char *gk_process_state_name(enum gk_process_state state)
{
	static const char *const names[] = {
	    [GK_PROCESS_RUNNING] = "running",
	    [GK_PROCESS_GONE] = "gone",
	    [GK_PROCESS_ZOMBIE] = "zombie",
	    [GK_PROCESS_NO_PERMISSION] = "no permission",
	};

	GK_ASSERT((size_t)state < COUNT(names));
	return names[state];
}

const char *gk_process_type_letter(unsigned types)
{
	bool compute = types & (GK_PROCESS_COMPUTE | GK_PROCESS_MPS);

	if (types == GK_PROCESS_MPS)
		return "M";
	if (types & GK_PROCESS_GRAPHICS)
		return compute ? "X" : "G";
	return "C";
}

size_t gk_process_program(const struct gk_process *process,
			  const char **ret_program)
{
	size_t len =
	    process->args_len ? strnlen(process->args, process->args_len) : 0;
	const char *slash = len ? memrchr(process->args, '/', len) : NULL;

	if (slash && slash + 1 < process->args + len) {
		*ret_program = slash + 1;
		return (size_t)(process->args + len - *ret_program);
	}
	*ret_program = len ? process->args : process->name;
	return len ? len : strlen(process->name);
}

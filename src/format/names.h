/* SPDX-License-Identifier: Apache-2.0 */
/* names.h - words for devices and processes that several formats use. */
#ifndef GK_FORMAT_NAMES_H
#define GK_FORMAT_NAMES_H

#include <gpukit/gpukit.h>

#define GK_NO_DEVICES   "No visible devices found"
#define GK_NO_PROCESSES "No running processes found"
#define GK_READING      "reading..."
#define GK_NO_ANSWER    "Processes unknown: no GPU answers"
#define GK_NOT_LISTED   "Processes unknown: the driver does not list them"

/* Returns a value, or -1 if it is absent. Use it only for colours and bars. */
static inline int64_t gk_value_or_none(struct gk_value value)
{
	return value.why == GK_PRESENT ? value.v : -1;
}

/*
 * Writes "3" for a GPU, "3:1" for its MIG device 1. dst must have GK_NAME_MAX
 * bytes.
 */
char *gk_device_label(char *dst, const struct gk_device *device);

/* Whether the GPU has no memory of its own and reports the host's. */
static inline bool gk_is_unified(const struct gk_device *device)
{
	return gk_value_or_none(device->m[GK_M_MEM_UNIFIED]) == 1;
}

/*
 * Formats the trouble of a device, such as "GPU is lost"; "" if there is none.
 * dst must have GK_NAME_MAX bytes.
 */
char *gk_device_trouble(char *dst, const struct gk_snapshot *snap,
			const struct gk_device *device);

/* Whether a healthy device has not been read yet. */
bool gk_device_unread(const struct gk_device *device);

/*
 * Whether the driver has listed a device's processes. If not, a snapshot
 * without processes proves nothing.
 */
bool gk_processes_known(const struct gk_device *device);

/* Returns the line that explains why a snapshot has no processes. */
const char *gk_no_processes_text(const struct gk_snapshot *snap);

/*
 * Returns the text of an nvmlReturn_t, such as "Driver Not Loaded". Never NULL.
 */
const char *gk_nvml_text(int nvml_return);

/* Returns "ok", "lost", "stale" or "error". */
const char *gk_health_name(enum gk_health health);

/* Returns "running", "gone", "zombie" or "no permission". */
const char *gk_process_state_name(enum gk_process_state state);

/* Returns "C" for compute, "G" for graphics, "X" for both, or "M" for MPS
 * alone. */
const char *gk_process_type_letter(unsigned types);

/*
 * Finds a process's program: the last part of its first argument or, if there
 * is none, its name. Returns its length. The text is in the process and may
 * contain any bytes.
 */
size_t gk_process_program(const struct gk_process *process,
			  const char **ret_program);

/*
 * Returns the meaning of an Xid, such as "GPU has fallen off the bus". Never
 * NULL.
 */
const char *gk_xid_text(int64_t number);

#endif

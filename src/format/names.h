/*
 * names.h - the words that several formats use for devices and processes.
 */
#ifndef GK_FORMAT_NAMES_H
#define GK_FORMAT_NAMES_H

#include <gpukit/gpukit.h>

#define GK_NO_DEVICES   "No visible devices found"
#define GK_NO_PROCESSES "No running processes found"
#define GK_READING      "reading..."
#define GK_NO_ANSWER    "Processes unknown: no GPU answers"
#define GK_NOT_LISTED   "Processes unknown: the driver does not list them"

/* A value that is there: its number, else -1. For colours and bars only. */
static inline int64_t gk_value_or_none(struct gk_value value)
{
	return value.why == GK_PRESENT ? value.v : -1;
}

/* "3" for a GPU, "3:1" for its MIG device 1. Room for GK_NAME_MAX bytes. */
char *gk_device_label(char *dst, const struct gk_device *device);

/*
 * Tells what is wrong with a device: "GPU is lost"; "" when nothing is. Room
 * for GK_NAME_MAX bytes.
 */
char *gk_device_trouble(char *dst, const struct gk_snapshot *snap,
			const struct gk_device *device);

/* Whether it has not answered yet, although nothing is wrong with it. */
bool gk_device_unread(const struct gk_device *device);

/*
 * Whether the driver has said which processes are on a device; else their
 * absence in the snapshot tells nothing.
 */
bool gk_processes_known(const struct gk_device *device);

/* The line to print for a snapshot without processes. */
const char *gk_no_processes_text(const struct gk_snapshot *snap);

/* The text of an nvmlReturn_t: "Driver Not Loaded". Never NULL. */
const char *gk_nvml_text(int nvml_return);

/* "ok", "lost", "stale" or "error". */
const char *gk_health_name(enum gk_health health);

/* "running", "gone", "zombie" or "no permission". */
const char *gk_process_state_name(enum gk_process_state state);

/* "C", "G", "X" for both; "M" where MPS is all there is. */
const char *gk_process_type_letter(unsigned types);

/*
 * The program of a process: the last part of its first argument, else its name;
 * it lies in the process and may hold any byte. Returns its length.
 */
size_t gk_process_program(const struct gk_process *process,
			  const char **ret_program);

/* The meaning of an Xid: "GPU has fallen off the bus"; never NULL. */
const char *gk_xid_text(int64_t number);

#endif

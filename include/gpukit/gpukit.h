/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpukit.h - the public interface of libgpukit: GPUs, the processes that use
 * them, and the host, read as one snapshot.
 *
 * Functions return 0 or a negative enum gk_err. Outputs come last and are
 * unchanged on failure. The library never prints and never exits. A struct gk
 * belongs to one thread at a time, except for the functions of "one device at
 * once". Many threads may read a snapshot at the same time.
 */
#ifndef GPUKIT_GPUKIT_H
#define GPUKIT_GPUKIT_H

#include <gpukit/metrics.h>
#include <gpukit/snapshot.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gk; /* an open driver library with its devices */

/* Bits that select what a snapshot reads. */
enum gk_with {
	GK_WITH_PCIE = 1,         /* read the ASKED tier */
	GK_WITHOUT_PROCESSES = 2, /* read no process lists and no /proc/<pid> */
	GK_WITHOUT_COMMANDS = 4,  /* no command lines, no containers */
	GK_WITHOUT_SLOW = 8,      /* no SLOW tier except while watching */
	GK_WITH_DETAIL = 16,      /* read the DETAIL tier */
	GK_WITH_TOPOLOGY = 32,    /* read the topology, once */
	/* Read no bus id, serial number, VBIOS, minor number or compute
	 * capability. */
	GK_WITHOUT_BOARD = 128,
	GK_WITHOUT_PROCESS_UTIL = 256, /* no per-process utilisation */
	/*
	 * Report Xid errors that occur after gk_open(). The thread that waits
	 * for them may outlive gk_close() by up to a second, which does no
	 * harm.
	 */
	GK_WITH_EVENTS = 64,
	/*
	 * Read nothing from /proc, neither about the host nor about processes.
	 * Process lists then contain only the data of the driver.
	 */
	GK_WITHOUT_PROC = 1024,
	/* Read only the host's name and boot time; cpus is then 1. */
	GK_WITHOUT_HOST = 2048,
	/*
	 * Read the lists of gk_detail: accounts, retired pages, clocks and
	 * samples.
	 */
	GK_WITH_LISTS = 512,
	/*
	 * Read these values of each process; without its bit, a value is
	 * GK_ABSENT_NOT_READ.
	 */
	GK_WITH_THREADS = 0x10000, /* threads, priority, nice value */
	GK_WITH_IO = 0x20000,      /* bytes read and written */
	GK_WITH_CWD = 0x40000,     /* its working directory */
	GK_WITH_RANK = 0x80000,    /* its rank, from the environment */
	GK_WITH_PROCESS_ALL = 0xf0000,
};

/* Options of gk_open(); start from GK_OPTIONS_DEFAULT. */
struct gk_options {
	/* NULL: use the libnvidia-ml.so.1 that the loader finds */
	const char *nvml_path;
	int proc_fd;   /* directory to read instead of /proc; -1:
			* /proc */
	unsigned with; /* bits of gk_with */
	/*
	 * Read only these device metrics, whatever their tier; all others are
	 * GK_ABSENT_NOT_READ. NULL: read all. Not used after gk_open().
	 */
	const struct gk_metric_set *only;
	uint64_t timeout_ns; /* how long to wait for one GPU; 0: one second */
	/*
	 * How often each tier is read while watching, at most nine years. 0:
	 * FAST with every frame; MEDIUM with every frame, but at most once a
	 * second; SLOW with every 15th frame, but at most once in 5 s.
	 */
	uint64_t period_ns[GK_TIER_ROOM];
	uint64_t reserved[8]; /* 0 */
};

#ifdef __cplusplus

/* GK_OPTIONS_DEFAULT for C++, which has no compound literals. */
static inline struct gk_options gk_options_default()
{
	struct gk_options options = {};

	options.proc_fd = -1;
	return options;
}

#define GK_OPTIONS_DEFAULT gk_options_default()
#else
#define GK_OPTIONS_DEFAULT ((struct gk_options){.proc_fd = -1})
#endif

/*
 * Opens the driver library and lists its GPUs. A machine without GPUs is not an
 * error. Close with gk_close().
 *
 * GK_ERR_NO_DRIVER: there is no library. GK_ERR_DRIVER: the library does not
 * start. GK_ERR_TIMEOUT: it has not started within ten seconds. A single thread
 * then continues to wait for it, however often gk_open() is called. *ret_nvml
 * (may be NULL) is set to the nvmlReturn_t of the failed call, if there was
 * one.
 */
GK_API int gk_open(const struct gk_options *options, int *ret_nvml,
		   struct gk **ret_gk);

/* Like gk_open(), but with the given timeout for starting the driver
 * library. */
GK_API int gk_open_within(const struct gk_options *options, uint64_t timeout_ns,
			  int *ret_nvml, struct gk **ret_gk);

/*
 * Ends the workers and closes the driver library. If a worker is stuck in the
 * driver, it is abandoned and gk_close() returns GK_ERR_TIMEOUT; the caller
 * should then leave the process by _exit(). NULL is allowed.
 */
GK_API int gk_close(struct gk *gk);

/*
 * Reads everything once, from all GPUs at the same time. Waits for a GPU that
 * does not answer for at most timeout_ns, and not at all if it has already been
 * silent for that long. Such a GPU becomes GK_HEALTH_STALE and keeps its last
 * values. Free *ret_snap with gk_snapshot_free().
 */
GK_API int gk_snapshot_take(struct gk *gk, struct gk_snapshot **ret_snap);
GK_API void gk_snapshot_free(struct gk_snapshot *snap);

/* Like gk_snapshot_take(), but with the given timeout; 0:
 * gk_options.timeout_ns. */
GK_API int gk_snapshot_within(struct gk *gk, uint64_t timeout_ns,
			      struct gk_snapshot **ret_snap);

/*
 * Starts reading in the background, with a frame every period_ns. Deadlines are
 * absolute: a late frame does not delay the next one. Waits for the first
 * reading as gk_snapshot_take() does. GK_ERR_INVALID: the period is 0.
 * GK_ERR_RANGE: it is more than nine years. GK_ERR_EXISTS: already started.
 */
GK_API int gk_watch_start(struct gk *gk, uint64_t period_ns);

/*
 * Like gk_watch_start(), but does not wait: until a GPU has answered, its
 * values are GK_ABSENT_NOT_READ. The first frame comes at once. During the
 * first period there is an extra frame when a GPU answers for the first time.
 */
GK_API int gk_watch_begin(struct gk *gk, uint64_t period_ns);

/*
 * Changes the period. The next frame comes one new period from now.
 * GK_ERR_INVALID: the period is 0, or not watching. GK_ERR_RANGE: it is more
 * than nine years.
 */
GK_API int gk_watch_period(struct gk *gk, uint64_t period_ns);

/*
 * Waits for the next frame and returns the values known by then; does not wait
 * for a slow GPU. Frames that the caller missed are skipped, not queued.
 * GK_ERR_TIMEOUT: a signal handler ran (EINTR); call again or stop.
 */
GK_API int gk_watch_next(struct gk *gk, struct gk_snapshot **ret_snap);

/*
 * Returns a descriptor that poll() reports as readable when gk_watch_next()
 * would not wait.
 */
GK_API int gk_watch_fd(struct gk *gk);

/*
 * Requests one extra reading of the GPU with this NVML index, without waiting;
 * call it only while watching. `tiers` has a bit (1 << gk_tier) for each tier
 * to read. A later frame contains the values. Meant for tiers that are too
 * costly to be read all the time. GK_ERR_INVALID: not watching, no such GPU, or
 * no such tier.
 */
GK_API int gk_watch_ask(struct gk *gk, unsigned index, unsigned tiers);

/*
 * From the next snapshot on, reads exactly those values of processes whose bits
 * of GK_WITH_PROCESS_ALL are set. Other bits are ignored.
 */
GK_API void gk_read_of_processes(struct gk *gk, unsigned with);

/*
 * Returns the age in ns of the values of a tier in a snapshot; UINT64_MAX if it
 * was never read or there is no such tier.
 */
GK_API uint64_t gk_device_age(const struct gk_snapshot *snap,
			      const struct gk_device *device,
			      enum gk_tier tier);

/*
 * Returns how many of the NVML functions that the requested data need are
 * missing from the driver library in every version. Values that need a missing
 * function are GK_ABSENT_NO_FUNCTION. Writes at most cap names of missing
 * functions, which are static texts.
 */
GK_API size_t gk_missing_functions(const struct gk *gk, const char **ret_names,
				   size_t cap);

/*
 * ---- one device at once ----
 *
 * These functions ask the driver about one device only: they make no snapshot,
 * ask no other GPU and use no cached values. Several threads may call them at
 * the same time, at any time between gk_open() and gk_close(); each GPU answers
 * one call at a time. A device is given as the NVML index of a GPU and the
 * index of a MIG device in it, or -1. A thread of the library calls the driver;
 * the caller waits for at most gk_options.timeout_ns, and not at all if the GPU
 * has already been silent for that long. Only one thread per GPU is then
 * blocked in the driver, until it answers.
 *
 * GK_ERR_NOT_FOUND: no such device. GK_ERR_LOST, GK_ERR_DRIVER: the driver
 * refuses. GK_ERR_TIMEOUT: it has not answered in time. In these cases
 * *ret_nvml (may be NULL) is the nvmlReturn_t.
 */

/*
 * Sets gk_options.timeout_ns for all later calls, including snapshots; 0: one
 * second.
 */
GK_API void gk_set_timeout(struct gk *gk, uint64_t timeout_ns);

/*
 * Returns for how many nanoseconds the current call for a GPU has been waiting
 * for an answer; 0: there is no such call.
 */
GK_API uint64_t gk_silence(const struct gk *gk, unsigned index);

/* Returns the number of GPUs at the time of gk_open(). */
GK_API size_t gk_gpu_count(const struct gk *gk);

/*
 * Returns the versions of the driver and of NVML, "" if unknown, and the newest
 * version of CUDA that they support: 13000 = 13.0, 0 if unknown. The texts last
 * until gk_close().
 */
GK_API void gk_versions(const struct gk *gk, const char **ret_driver,
			const char **ret_nvml, int *ret_cuda);

/*
 * Returns a device's identity: names, ids and compute capability. All of its
 * metrics are GK_ABSENT_NOT_READ. If a whole GPU does not answer in time,
 * returns its last known identity, if there is one.
 */
GK_API int gk_identify(struct gk *gk, unsigned index, int mig_index,
		       struct gk_device *ret_device, int *ret_nvml);

/*
 * Reads the given metrics now. They may be of any tier except EVENT. Metrics
 * that come from the same NVML function are read by one call. ret_values[i] is
 * the value of metrics[i]; ret_nvml[i] is the nvmlReturn_t of the call that
 * read it, or 0 if no call was made. ret_nvml may be NULL. GK_ERR_INVALID: no
 * such metric.
 *
 * If a GPU refuses a call, that is not an error: the values are absent. Values
 * that come too late are also absent, with GK_ABSENT_TIMEOUT and
 * NVML_ERROR_TIMEOUT; those that came in time are returned.
 */
GK_API int gk_read(struct gk *gk, unsigned index, int mig_index,
		   const enum gk_metric *metrics, size_t count,
		   struct gk_value *ret_values, int *ret_nvml);

/* Like gk_read(), but with the given timeout; 0: gk_options.timeout_ns. */
GK_API int gk_read_within(struct gk *gk, unsigned index, int mig_index,
			  const enum gk_metric *metrics, size_t count,
			  uint64_t timeout_ns, struct gk_value *ret_values,
			  int *ret_nvml);

/*
 * Reads the speed and the traffic of all NVLinks of a GPU, with two NVML calls
 * for all links together; other values are GK_ABSENT_NOT_READ. Writes at most
 * cap links. *ret_count is the number of all links.
 */
GK_API int gk_read_all_links(struct gk *gk, unsigned index,
			     struct gk_link *ret_links, size_t cap,
			     size_t *ret_count, int *ret_nvml);

/*
 * Like the function above, but for at most GK_LINKS_MAX links; *ret_count is
 * the number of links written.
 */
GK_API int gk_read_links(struct gk *gk, unsigned index,
			 struct gk_link ret_links[GK_LINKS_MAX],
			 size_t *ret_count, int *ret_nvml);

/* A process on a device, as the driver lists it. */
struct gk_use {
	pid_t pid;
	unsigned types; /* bits of gk_process_type */
	/* the MIG device on which it runs, or -1 */
	int mig_index;
	struct gk_value m[GK_PM_ROOM]; /* the metrics of tier MEDIUM */
};

/*
 * Lists the processes of a device. The list of a GPU includes the processes on
 * its MIG devices. Utilisation is measured since the last call or, in the first
 * call, over the last second. Free *ret_uses with free().
 */
GK_API int gk_read_processes(struct gk *gk, unsigned index, int mig_index,
			     struct gk_use **ret_uses, size_t *ret_count,
			     int *ret_nvml);

/*
 * Returns how many MIG devices a GPU can have; GK_ERR_DRIVER if it cannot have
 * any.
 */
GK_API int gk_mig_slots(struct gk *gk, unsigned index, unsigned *ret_slots,
			int *ret_nvml);

/*
 * Returns the nvmlDevice_t of a device, for NVML calls that gpukit does not
 * make. It is valid until gk_close(), or until the GPU is lost.
 */
GK_API int gk_nvml_handle(struct gk *gk, unsigned index, int mig_index,
			  void **ret_handle, int *ret_nvml);

/* A device that CUDA_VISIBLE_DEVICES can select. */
struct gk_candidate {
	unsigned index; /* NVML index of the GPU */
	int mig_index;  /* -1 for a whole GPU */
	const char *uuid;
	unsigned pci_domain, pci_bus, pci_device;
	/*
	 * For CUDA_DEVICE_ORDER=FASTEST_FIRST: a number that is higher for
	 * faster GPUs.
	 */
	uint64_t speed;
	bool mig_enabled; /* the GPU is split into MIG devices */
};

/* The order in which CUDA numbers GPUs (CUDA_DEVICE_ORDER). */
enum gk_cuda_order { GK_ORDER_FASTEST_FIRST, GK_ORDER_PCI_BUS_ID };

/*
 * Returns the order that the driver uses for this value of CUDA_DEVICE_ORDER.
 * NULL: the variable is not set.
 */
GK_API enum gk_cuda_order gk_cuda_order(const char *value);

/*
 * Applies CUDA_VISIBLE_DEVICES as the CUDA driver does. Its entries are
 * ordinals in CUDA's order, or unique prefixes of UUIDs (GPU-..., MIG-...). The
 * list ends before the first invalid entry; if an entry is repeated, no device
 * is visible at all. The form MIG-GPU-<uuid>/<gi>/<ci> of old drivers is
 * invalid. If `value` is NULL (not set), all devices are visible; if it is "",
 * none.
 *
 * Writes the indices of the visible candidates to ret_chosen, which has `count`
 * elements, and their number to *ret_count. *ret_bad (may be NULL) is the
 * offset in `value` of the entry that ended the list, or -1. Does not read the
 * environment.
 */
GK_API int gk_cuda_visible(const char *value, enum gk_cuda_order order,
			   const struct gk_candidate *candidates, size_t count,
			   unsigned *ret_chosen, size_t *ret_count,
			   long *ret_bad);

#ifdef __cplusplus
}
#endif

#endif

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

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#define GK_API __attribute__((visibility("default")))

/* The errors. Functions that can fail return one of these; gk_strerror()
 * returns its text. */
enum gk_err {
	GK_OK = 0,
#define GK_ERR(name, number, text) name = number,
#include <gpukit/errors.def>
#undef GK_ERR
};

/* Returns a static text for any int, never NULL. */
GK_API const char *gk_strerror(int err);

/* The units of the integers in which metrics are stored. */
enum gk_unit {
	GK_UNIT_NONE,         /* a count, a state, a generation */
	GK_UNIT_PERCENT,      /* 1 = 1 % */
	GK_UNIT_CENTIPERCENT, /* 100 = 1 % */
	GK_UNIT_BYTES,
	GK_UNIT_MILLIWATT,
	GK_UNIT_MILLIJOULE,
	GK_UNIT_CELSIUS,
	GK_UNIT_HERTZ,
	GK_UNIT_NANOSECOND,
};

/*
 * GAUGE: goes up and down; COUNTER: only grows; STATE: a number or bits as NVML
 * defines them.
 */
enum gk_kind { GK_KIND_GAUGE, GK_KIND_COUNTER, GK_KIND_STATE };

/* When a value is read, and from where. */
enum gk_tier {
	GK_TIER_FAST,   /* utilisation, memory, clocks, power */
	GK_TIER_MEDIUM, /* process lists, and values that cost more than 100
			 * us */
	GK_TIER_SLOW,   /* limits, modes, ECC, links */
	/* reading it blocks the driver; only with GK_WITH_PCIE */
	GK_TIER_ASKED,
	GK_TIER_DETAIL, /* rarely needed; only with GK_WITH_DETAIL */
	GK_TIER_EVENT,  /* reported when it happens; only with GK_WITH_EVENTS */
	GK_TIER_HOST,   /* from /proc instead of the driver */
	/* also from /proc, but only if a bit of gk_with requests it */
	GK_TIER_HOST_ASKED,
	GK_TIER_COUNT
};

/*
 * The metrics of a device; metrics.def has the name, unit and meaning of each.
 */
enum gk_metric {
#define METRIC(id, name, unit, kind, tier, least, most, help) GK_M_##id,
#include <gpukit/metrics.def>
#undef METRIC
	GK_M_COUNT
};

/*
 * Arrays in this header have spare elements for later versions, so that
 * programs compiled with an older header keep working. Elements from
 * GK_..._COUNT on are unused. For the same reason numbers never change, and
 * structs have spare members at their end.
 */
#define GK_M_ROOM    384
#define GK_PM_ROOM   32
#define GK_T_ROOM    32
#define GK_L_ROOM    16
#define GK_TIER_ROOM 16

/* A set of metrics. A zeroed set is empty. */
struct gk_metric_set {
	uint64_t bits[GK_M_ROOM / 64];
};

/* Adds a metric to a set. */
static inline void gk_metric_set_add(struct gk_metric_set *set,
				     enum gk_metric metric)
{
	set->bits[metric / 64] |= (uint64_t)1 << metric % 64;
}

/* Adds all metrics of a list to a set. */
static inline void gk_metric_set_add_all(struct gk_metric_set *set,
					 const enum gk_metric *metrics,
					 size_t count)
{
	for (size_t i = 0; i < count; i++)
		gk_metric_set_add(set, metrics[i]);
}

/* Whether a metric is in a set. */
static inline bool gk_metric_set_has(const struct gk_metric_set *set,
				     enum gk_metric metric)
{
	return set->bits[metric / 64] >> metric % 64 & 1;
}

/* The metrics of a process on one device; process_metrics.def has the meaning
 * of each. */
enum gk_process_metric {
#define METRIC(id, name, unit, kind, tier, least, most, help) GK_PM_##id,
#include <gpukit/process_metrics.def>
#undef METRIC
	GK_PM_COUNT
};

/* A row of gk_metrics or gk_process_metrics. */
struct gk_metric_info {
	const char *name;
	const char *help;
	enum gk_unit unit;
	enum gk_kind kind;
	enum gk_tier tier;
};

/*
 * The rows of metrics.def and process_metrics.def, in the order of the enums.
 */
GK_API extern const struct gk_metric_info gk_metrics[GK_M_ROOM];
GK_API extern const struct gk_metric_info gk_process_metrics[GK_PM_ROOM];

/* Why a value is absent. An absent value is never 0 and never guessed. */
enum gk_absence {
	GK_PRESENT,
	GK_ABSENT_NOT_READ,      /* not read yet, or not requested */
	GK_ABSENT_NOT_SUPPORTED, /* this GPU or driver has no such value */
	GK_ABSENT_NO_FUNCTION,   /* the driver library lacks the function */
	GK_ABSENT_PERMISSION,
	GK_ABSENT_LOST,    /* the GPU fell off the bus or was lost */
	GK_ABSENT_TIMEOUT, /* the driver did not answer in time */
	GK_ABSENT_ERROR,   /* any other NVML error */
	GK_ABSENT_HIDDEN,  /* /proc does not show it (hidepid, container) */
	GK_ABSENT_ONE_SNAPSHOT, /* rates need two snapshots */
	GK_ABSENT_RESET,        /* the GPU must be reset first */
	/* read, but there is no such value for this process or device */
	GK_ABSENT_NONE,
	GK_ABSENT_NONSENSE, /* reported, but outside the metric's valid range */
	GK_ABSENCE_COUNT
};

/* Returns a short text such as "not supported", never NULL. */
GK_API const char *gk_absence_text(enum gk_absence why);

/*
 * A value, which is valid only if `why` is GK_PRESENT. If `why` is
 * GK_ABSENT_NONSENSE, v is the reported number, for use by gk_reason():
 * INT64_MIN if it was not a number, INT64_MAX or -INT64_MAX if it did not fit
 * in 64 bits.
 */
struct gk_value {
	int64_t v;
	enum gk_absence why;
};

/* The size of the buffer for gk_reason(). */
#define GK_REASON_MAX 64

/*
 * Writes to dst why a value is absent, and returns dst, which has GK_REASON_MAX
 * bytes. If the reported number was out of range, the text contains it, in the
 * unit in which the metric's name ends: "nonsense: 250".
 */
GK_API const char *gk_reason(char *dst, struct gk_value value,
			     enum gk_unit unit);

/* The range of valid values, both ends included, in the same unit as
 * gk_value.v. */
struct gk_range {
	int64_t least, most;
};

/* The facts about a GPU that are texts. */
enum gk_fact {
#define TEXT(id, name, help) GK_T_##id,
#include <gpukit/texts.def>
#undef TEXT
	GK_T_COUNT
};

/* Values of one NVLink. */
enum gk_link_metric {
#define LINK(id, name, unit, kind, least, most, help) GK_L_##id,
#include <gpukit/links.def>
#undef LINK
	GK_L_COUNT
};

/* A row of gk_facts. */
struct gk_fact_info {
	const char *name, *help;
};

/* The rows of texts.def and links.def, in the order of the enums. */
GK_API extern const struct gk_fact_info gk_facts[GK_T_ROOM];
GK_API extern const struct gk_metric_info gk_link_metrics[GK_L_ROOM];

/*
 * gk_metric_range(), gk_process_metric_range() and gk_link_metric_range()
 * return the valid range of a metric; NULL if there is no such metric. A value
 * out of range is always absent, with the reason GK_ABSENT_NONSENSE, no matter
 * who reported it.
 */
GK_API const struct gk_range *gk_metric_range(enum gk_metric metric);
GK_API const struct gk_range *
gk_process_metric_range(enum gk_process_metric metric);
GK_API const struct gk_range *gk_link_metric_range(enum gk_link_metric metric);

#define GK_NAME_MAX  96
#define GK_LINKS_MAX 36 /* the number of links that gk_detail can contain */

/* A text, which is valid only if `why` is GK_PRESENT. */
struct gk_text {
	char s[GK_NAME_MAX];
	enum gk_absence why;
};

/* The kind of device at the other end of a link. */
enum gk_link_end {
	GK_LINK_END_UNKNOWN, /* the link is down, or the driver does not say */
	GK_LINK_END_GPU,
	GK_LINK_END_SWITCH,
	GK_LINK_END_CPU,
	GK_LINK_END_COUNT
};

/* Returns a text such as "gpu", never NULL. */
GK_API const char *gk_link_end_name(enum gk_link_end end);

/* An NVLink of a device. */
struct gk_link {
	/* NVML's number of the link; some numbers may be missing */
	unsigned index;
	enum gk_link_end end;
	char remote_bus_id[32]; /* same form as in gk_device; "" if unknown */
	struct gk_value m[GK_L_ROOM];
};

/* The driver's account of a process, made while accounting mode was on. */
struct gk_account {
	unsigned pid;
	bool running;
	struct gk_value gpu_util, mem_util; /* percent of its lifetime */
	struct gk_value max_memory;         /* bytes */
	/* nanoseconds during which it used the GPU */
	struct gk_value time;
};

/* Why a page of memory was retired. */
enum gk_page_cause { GK_PAGE_CORRECTED, GK_PAGE_UNCORRECTED };

/* A page of memory that is no longer used because it had errors. */
struct gk_page {
	uint64_t address;
	uint64_t wall_ns; /* when it was retired; 0: unknown */
	enum gk_page_cause cause;
};

/* A pair of clocks that can be set together. */
struct gk_clock {
	unsigned memory_mhz, graphics_mhz;
};

/* Values that the driver samples by itself. */
enum gk_sampled {
	GK_SAMPLED_POWER, /* mW */
	GK_SAMPLED_GPU,   /* percent, as for the next values */
	GK_SAMPLED_MEMORY,
	GK_SAMPLED_ENCODER,
	GK_SAMPLED_DECODER,
	GK_SAMPLED_SM_CLOCK, /* Hz */
	GK_SAMPLED_MEMORY_CLOCK,
	GK_SAMPLED_COUNT
};

/* The samples of a value that the driver took by itself. */
struct gk_samples {
	enum gk_absence why; /* GK_ABSENT_NONE: no samples yet */
	unsigned count;
	uint64_t duration_ns; /* from the first sample to the last */
	int64_t max, min, avg;
};

/*
 * The texts, links and lists of the DETAIL tier. The numbers of that tier are
 * metrics.
 */
struct gk_detail {
	struct gk_text facts[GK_T_ROOM];
	unsigned link_count;
	/* as many links as fit; gk_links() returns all */
	struct gk_link links[GK_LINKS_MAX];
	/* The lists are empty without GK_WITH_LISTS. */
	size_t account_count, page_count, clock_count;
	const struct gk_account *accounts; /* oldest first */
	const struct gk_page *pages;
	const struct gk_clock *clocks;               /* highest first */
	struct gk_samples samples[GK_SAMPLED_COUNT]; /* likewise */
};

/* Returns all links of a GPU and sets *ret_count to their number. The detail
 * owns them. */
GK_API const struct gk_link *gk_links(const struct gk_detail *detail,
				      size_t *ret_count);

/* An Xid error, as the driver reported it. */
struct gk_xid {
	uint64_t at; /* sequence number on this GPU; starts at 1 */
	uint64_t wall_ns;
	uint32_t number;
	uint32_t reserved;
};

/*
 * How often an Xid has occurred. `number` 0 represents all Xids without an
 * entry of their own.
 */
struct gk_xid_count {
	uint32_t number, reserved;
	uint64_t count;
};

#define GK_XIDS_MAX      64
#define GK_XID_KINDS_MAX 32

/*
 * The Xids of a GPU since gk_open(): the latest ones in order of occurrence,
 * and counts sorted by Xid number.
 */
struct gk_xids {
	size_t count;
	struct gk_xid last[GK_XIDS_MAX];
	size_t kind_count;
	struct gk_xid_count kinds[GK_XID_KINDS_MAX];
};

/* Whether a GPU answers. */
enum gk_health {
	GK_HEALTH_OK,
	/* NVML reports that the GPU is lost; each snapshot tries it again */
	GK_HEALTH_LOST,
	/*
	 * The driver has not answered: in a snapshot, within the timeout; while
	 * watching, within the timeout plus two periods of the FAST tier.
	 */
	GK_HEALTH_STALE,
	/* NVML cannot use the GPU; nvml_error has the reason */
	GK_HEALTH_ERROR,
};

/*
 * A GPU or a MIG device. In the list, the MIG devices of a GPU follow it; their
 * indices may have gaps.
 */
struct gk_device {
	unsigned index; /* NVML index of the GPU */
	int mig_index;  /* index of the MIG device, -1 for a whole GPU */
	/* for a MIG device: its GPU's index in devices; else -1 */
	int parent;
	int gpu_instance, compute_instance; /* -1 for a whole GPU */
	char name[GK_NAME_MAX];
	char uuid[GK_NAME_MAX];
	char bus_id[32]; /* 00000000:01:00.0, empty if unknown */
	char serial[32]; /* empty if unknown */
	char vbios[32];  /* empty if unknown */
	int minor;       /* /dev/nvidia<minor>, -1 if unknown */
	/* compute capability; -1 if unknown */
	int compute_major, compute_minor;
	enum gk_health health;
	/* last nvmlReturn_t because of which health is not OK, or 0 */
	int nvml_error;
	/* The time of CLOCK_MONOTONIC at which each tier was last read; 0: not
	 * yet. */
	uint64_t read_ns[GK_TIER_ROOM];
	struct gk_value m[GK_M_ROOM];
	/*
	 * Owned by the snapshot. NULL for a MIG device, or if the DETAIL tier
	 * has not been read.
	 */
	const struct gk_detail *detail;
	/* for a GPU, includes processes on its MIG devices */
	unsigned process_count;
	/* The reason why the list of processes is unknown; GK_PRESENT if it is
	 * known. */
	enum gk_absence processes_why;
	/* Owned by the snapshot. NULL if there are no Xids or they are
	 * unknown. */
	const struct gk_xids *xids;
	uint64_t reserved[7];
};

/* Bits: how a process uses a device. */
enum gk_process_type {
	GK_PROCESS_COMPUTE = 1,
	GK_PROCESS_GRAPHICS = 2,
	GK_PROCESS_MPS = 4, /* compute through the MPS server */
};

/* The state of a process, according to /proc. */
enum gk_process_state {
	GK_PROCESS_RUNNING,
	GK_PROCESS_GONE, /* listed by the driver but not in /proc */
	GK_PROCESS_ZOMBIE,
	GK_PROCESS_NO_PERMISSION, /* /proc shows its pid but little else */
};

/* One process on one device. The snapshot owns the strings. */
struct gk_process {
	pid_t pid;
	pid_t parent;    /* parent process, 0 if unknown */
	unsigned device; /* index in devices */
	unsigned types;  /* bits of gk_process_type */
	enum gk_process_state state;
	uid_t uid; /* (uid_t)-1 if unknown */
	/* user's name, or the uid if it has no name; "" if unknown */
	const char *user;
	const char *name; /* comm; "" if unknown */
	/*
	 * The arguments joined by blanks and made printable. In `command` and
	 * in `args`, texts that look like secrets are replaced by asterisks.
	 */
	const char *command;
	/* container id from the cgroup; "" if it is in none */
	const char *container;
	/* uid of the Kubernetes pod; "" if it is in none */
	const char *pod;
	/*
	 * The working directory, made printable; "" unless cwd_why is
	 * GK_PRESENT.
	 */
	const char *cwd;
	enum gk_absence cwd_why;
	/* R running, S sleeping, D in I/O, T stopped, Z zombie...; 0:
	 * unknown */
	char stat;
	/*
	 * The arguments in their original form: args_len bytes of any value,
	 * with a NUL after each argument.
	 */
	const char *args;
	size_t args_len;
	/*
	 * ticks since boot; identifies the process together with pid; 0:
	 * unknown
	 */
	uint64_t start_ticks;
	struct gk_value m[GK_PM_ROOM];
	uint64_t reserved[8];
};

/* The host to which the GPUs belong. */
struct gk_host {
	char hostname[GK_NAME_MAX];
	uint64_t boot_ns; /* time since boot */
	unsigned cpus;
	/* load of all cores; 10000: all busy */
	struct gk_value cpu_centipercent;
	struct gk_value load_centi[3];            /* load averages times 100 */
	struct gk_value mem_total, mem_available; /* bytes */
	struct gk_value swap_total, swap_free;    /* bytes */
	uint64_t reserved[8];
};

/*
 * The path between two GPUs, the nearest kind first. NVML calls it their
 * "closest common ancestor".
 */
enum gk_path {
	GK_PATH_UNKNOWN,
	GK_PATH_SELF,
	GK_PATH_BOARD,      /* on one board */
	GK_PATH_SINGLE,     /* only one PCIe switch */
	GK_PATH_MULTIPLE,   /* several PCIe switches, but no host bridge */
	GK_PATH_HOSTBRIDGE, /* through a PCIe host bridge */
	GK_PATH_NODE,       /* several host bridges in one NUMA node */
	GK_PATH_SYSTEM,     /* between NUMA nodes */
	GK_PATH_COUNT
};

/* Returns a text such as "host bridge", never NULL. */
GK_API const char *gk_path_name(enum gk_path path);

/* The path from one GPU to another. */
struct gk_peer {
	enum gk_path path;
	/* number of active links to that GPU, direct or through switches */
	unsigned nvlinks;
};

/* The location of a GPU. Lists have the form "0-15,32-47"; "" if unknown. */
struct gk_place {
	char cpus[256];      /* nearby CPUs */
	char numa_nodes[64]; /* NUMA nodes of nearby host memory */
	int numa_node;       /* NUMA node of the GPU's own memory, -1: none */
};

/* The locations of all GPUs, and the paths between them. Both are indexed by
 * the NVML index. */
struct gk_topology {
	size_t count;
	const struct gk_place *places; /* count entries */
	/* `count` rows with `count` entries each */
	const struct gk_peer *peers;
};

/* The state of all devices, all processes and the host at one time. Plain
 * data. */
struct gk_snapshot {
	uint64_t wall_ns;                 /* nanoseconds since 1970, UTC */
	uint64_t mono_ns;                 /* CLOCK_MONOTONIC at the same time */
	char driver_version[GK_NAME_MAX]; /* empty if unknown */
	char nvml_version[GK_NAME_MAX];   /* empty if unknown */
	int cuda_version;                 /* 13000 = 13.0, 0 if unknown */
	struct gk_host host;
	size_t device_count;
	struct gk_device *devices;
	size_t process_count;
	struct gk_process *processes; /* sorted by device, then by pid */
	/* Read only once; owned by the snapshot. NULL without
	 * GK_WITH_TOPOLOGY. */
	const struct gk_topology *topology;
};

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
 * missing from the driver library in every version. The values that need them
 * are GK_ABSENT_NO_FUNCTION. Writes at most cap names of such functions, which
 * are static texts.
 */
GK_API size_t gk_missing_functions(const struct gk *gk, const char **ret_names,
				   size_t cap);

/*
 * ---- one device at once ----
 *
 * These functions ask the driver about one device only: they make no snapshot,
 * ask no other GPU and use no cached values. Any thread may call them at any
 * time between gk_open() and gk_close(), also several at once; each GPU answers
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
 * its MIG devices. Utilisation is that since the last call or, in the first
 * call, that of the last second. Free *ret_uses with free().
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

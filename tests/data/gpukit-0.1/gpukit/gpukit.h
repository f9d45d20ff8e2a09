/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gpukit.h - the public interface of libgpukit: GPUs, the processes that use
 * them, and the host, read as one snapshot.
 *
 * Results are 0 or a negative enum gk_err; outputs come last and are untouched
 * on failure. The library never prints and never exits. A struct gk belongs to
 * one thread at a time but for the functions of "one device at once"; a
 * snapshot may be read by many threads at once.
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

/* Functions that can fail return one of these; gk_strerror() has its text. */
enum gk_err {
	GK_OK = 0,
#define GK_ERR(name, number, text) name = number,
#include <gpukit/errors.def>
#undef GK_ERR
};

/* A static text for any int; never NULL. */
GK_API const char *gk_strerror(int err);

/* How the integer of a metric is scaled when it is printed. */
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

/* A metric moves both ways, only grows, or is a number or bits of NVML's. */
enum gk_kind { GK_KIND_GAUGE, GK_KIND_COUNTER, GK_KIND_STATE };

/* How often a value is read, and by whom. */
enum gk_tier {
	GK_TIER_FAST,       /* utilisation, memory, clocks, power */
	GK_TIER_MEDIUM,     /* process lists and what costs more than 100 us */
	GK_TIER_SLOW,       /* limits, modes, ECC, links */
	GK_TIER_ASKED,      /* blocks the driver: only with GK_WITH_PCIE */
	GK_TIER_DETAIL,     /* what few ask for: only with GK_WITH_DETAIL */
	GK_TIER_EVENT,      /* told as it happens: only with GK_WITH_EVENTS */
	GK_TIER_HOST,       /* from /proc, not from the driver */
	GK_TIER_HOST_ASKED, /* the same, each only with its bit of gk_with */
	GK_TIER_COUNT
};

/* The metrics of a device: metrics.def has name, unit and meaning of each. */
enum gk_metric {
#define METRIC(id, name, unit, kind, tier, least, most, help) GK_M_##id,
#include <gpukit/metrics.def>
#undef METRIC
	GK_M_COUNT
};

/*
 * Arrays of this header have room for what later versions add, so that what is
 * compiled with an older header goes on working: beyond GK_..._COUNT they hold
 * nothing. For the same reason numbers stay what they are, and structs have
 * room at their end.
 */
#define GK_M_ROOM    384
#define GK_PM_ROOM   32
#define GK_T_ROOM    32
#define GK_L_ROOM    16
#define GK_TIER_ROOM 16

/* Some of the metrics. Zeroed: none. */
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

/* The metrics of a process: process_metrics.def has what each is. */
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

/* Rows of metrics.def and process_metrics.def, in the order of the enums. */
GK_API extern const struct gk_metric_info gk_metrics[GK_M_ROOM];
GK_API extern const struct gk_metric_info gk_process_metrics[GK_PM_ROOM];

/* Why a value is absent. Absent is never 0 and never guessed. */
enum gk_absence {
	GK_PRESENT,
	GK_ABSENT_NOT_READ,      /* not read yet, or not asked for */
	GK_ABSENT_NOT_SUPPORTED, /* this GPU or driver has no such value */
	GK_ABSENT_NO_FUNCTION,   /* the driver library lacks the function */
	GK_ABSENT_PERMISSION,
	GK_ABSENT_LOST,    /* the GPU fell off the bus or was lost */
	GK_ABSENT_TIMEOUT, /* the driver did not answer in time */
	GK_ABSENT_ERROR,   /* any other NVML error */
	GK_ABSENT_HIDDEN,  /* /proc does not show it (hidepid, container) */
	GK_ABSENT_ONE_SNAPSHOT, /* a difference needs two snapshots */
	GK_ABSENT_RESET,        /* the GPU must be reset first */
	GK_ABSENT_NONE,         /* read, and this process or device has none */
	GK_ABSENT_NONSENSE,     /* told, but out of the range of the metric */
	GK_ABSENCE_COUNT
};

/* A short text: "not supported". Never NULL. */
GK_API const char *gk_absence_text(enum gk_absence why);

/*
 * One value: valid only when why is GK_PRESENT. With GK_ABSENT_NONSENSE v is
 * what was told, for gk_reason(): INT64_MIN where that was no number, INT64_MAX
 * and -INT64_MAX where it was beyond 64 bits.
 */
struct gk_value {
	int64_t v;
	enum gk_absence why;
};

/* Room for what gk_reason() writes. */
#define GK_REASON_MAX 64

/*
 * Why a value is absent, with what was told where that was out of range:
 * "nonsense: 250", in the unit that the name of the metric ends in. Writes to
 * dst, which has room for GK_REASON_MAX bytes, and returns it.
 */
GK_API const char *gk_reason(char *dst, struct gk_value value,
			     enum gk_unit unit);

/* What a value may be, both ends included: integers as in struct gk_value. */
struct gk_range {
	int64_t least, most;
};

/* Facts of a GPU that are words. */
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

/* Rows of texts.def and links.def, in the order of the enums. */
GK_API extern const struct gk_fact_info gk_facts[GK_T_ROOM];
GK_API extern const struct gk_metric_info gk_link_metrics[GK_L_ROOM];

/*
 * gk_metric_range(), gk_process_metric_range() and gk_link_metric_range() tell
 * the range of a metric, from its row. A value out of it is never present: it
 * is GK_ABSENT_NONSENSE, whoever told it. NULL: there is no such metric.
 */
GK_API const struct gk_range *gk_metric_range(enum gk_metric metric);
GK_API const struct gk_range *
gk_process_metric_range(enum gk_process_metric metric);
GK_API const struct gk_range *gk_link_metric_range(enum gk_link_metric metric);

#define GK_NAME_MAX  96
#define GK_LINKS_MAX 36 /* links that NVML can name */

/* One text: valid only when why is GK_PRESENT. */
struct gk_text {
	char s[GK_NAME_MAX];
	enum gk_absence why;
};

/* The other end of a link. */
enum gk_link_end {
	GK_LINK_END_UNKNOWN, /* the link is down, or the driver does not say */
	GK_LINK_END_GPU,
	GK_LINK_END_SWITCH,
	GK_LINK_END_CPU,
	GK_LINK_END_COUNT
};

/* "gpu"; never NULL. */
GK_API const char *gk_link_end_name(enum gk_link_end end);

/* An NVLink of a device. */
struct gk_link {
	unsigned index; /* NVML's number of the link; there may be holes */
	enum gk_link_end end;
	char remote_bus_id[32]; /* as in gk_device; empty if unknown */
	struct gk_value m[GK_L_ROOM];
};

/* The account of a process, as the driver kept it while accounting was on. */
struct gk_account {
	unsigned pid;
	bool running;
	struct gk_value gpu_util, mem_util; /* percent of its life */
	struct gk_value max_memory;         /* bytes */
	struct gk_value time;               /* ns that it used the GPU */
};

/* Why a page of memory was retired. */
enum gk_page_cause { GK_PAGE_CORRECTED, GK_PAGE_UNCORRECTED };

/* A page of memory that is not used any more because of errors. */
struct gk_page {
	uint64_t address;
	uint64_t wall_ns; /* when it was retired; 0: unknown */
	enum gk_page_cause cause;
};

/* A pair of clocks that can be set. */
struct gk_clock {
	unsigned memory_mhz, graphics_mhz;
};

/* Values whose last samples the driver keeps. */
enum gk_sampled {
	GK_SAMPLED_POWER, /* mW */
	GK_SAMPLED_GPU,   /* percent, as those below */
	GK_SAMPLED_MEMORY,
	GK_SAMPLED_ENCODER,
	GK_SAMPLED_DECODER,
	GK_SAMPLED_SM_CLOCK, /* Hz */
	GK_SAMPLED_MEMORY_CLOCK,
	GK_SAMPLED_COUNT
};

/* The driver's own samples of a value. */
struct gk_samples {
	enum gk_absence why; /* GK_ABSENT_NONE: it has none yet */
	unsigned count;
	uint64_t duration_ns; /* from the first to the last */
	int64_t max, min, avg;
};

/* The texts, links and lists of the DETAIL tier; its numbers are metrics. */
struct gk_detail {
	struct gk_text facts[GK_T_ROOM];
	unsigned link_count;
	struct gk_link links[GK_LINKS_MAX];
	/* Empty without GK_WITH_LISTS. */
	size_t account_count, page_count, clock_count;
	const struct gk_account *accounts; /* oldest first */
	const struct gk_page *pages;
	const struct gk_clock *clocks;               /* highest first */
	struct gk_samples samples[GK_SAMPLED_COUNT]; /* as the lists */
};

/* An Xid error, as the driver told it. */
struct gk_xid {
	uint64_t at; /* which of the GPU's it is, from 1 on */
	uint64_t wall_ns;
	uint32_t number;
	uint32_t reserved;
};

/* How many of a number have come; number 0: all for which there is no row. */
struct gk_xid_count {
	uint32_t number, reserved;
	uint64_t count;
};

#define GK_XIDS_MAX      64
#define GK_XID_KINDS_MAX 32

/* The Xids of a GPU since it is listened to: the last ones, in order, and how
 * often each number came, in the order of numbers. */
struct gk_xids {
	size_t count;
	struct gk_xid last[GK_XIDS_MAX];
	size_t kind_count;
	struct gk_xid_count kinds[GK_XID_KINDS_MAX];
};

/* Whether a GPU answers. */
enum gk_health {
	GK_HEALTH_OK,
	GK_HEALTH_LOST, /* NVML says lost; retried at every snapshot */
	/* The driver has not answered: within the timeout in a snapshot, within
	 * the timeout and two periods of the FAST tier while watching. */
	GK_HEALTH_STALE,
	GK_HEALTH_ERROR, /* NVML cannot use it; nvml_error says why */
};

/*
 * A GPU, or a MIG device of one. MIG devices follow their GPU in the list;
 * their indices may have holes.
 */
struct gk_device {
	unsigned index; /* NVML index of the GPU */
	int mig_index;  /* index of the MIG device, -1 for a whole GPU */
	int parent;     /* position of the GPU of a MIG device, -1 */
	int gpu_instance, compute_instance; /* -1 for a whole GPU */
	char name[GK_NAME_MAX];
	char uuid[GK_NAME_MAX];
	char bus_id[32]; /* 00000000:01:00.0, empty if unknown */
	char serial[32]; /* empty if unknown */
	char vbios[32];  /* empty if unknown */
	int minor;       /* /dev/nvidia<minor>, -1 if unknown */
	int compute_major, compute_minor; /* compute capability, -1 */
	enum gk_health health;
	int nvml_error; /* last nvmlReturn_t that made it unhealthy, or 0 */
	/* Monotonic time of the last answer of each tier; 0 = none yet. */
	uint64_t read_ns[GK_TIER_ROOM];
	struct gk_value m[GK_M_ROOM];
	/* The snapshot's; NULL for a MIG device and where the DETAIL tier has
	 * not been read. */
	const struct gk_detail *detail;
	unsigned process_count; /* of a GPU: those of its MIG devices, too */
	/* Why the list of processes is not known; GK_PRESENT: it is. */
	enum gk_absence processes_why;
	/* The snapshot's; NULL: none has come, or that is not known. */
	const struct gk_xids *xids;
	uint64_t reserved[7];
};

/* Bits: what a process does on a device. */
enum gk_process_type {
	GK_PROCESS_COMPUTE = 1,
	GK_PROCESS_GRAPHICS = 2,
	GK_PROCESS_MPS = 4, /* compute through the MPS server */
};

/* What /proc knows of a process. */
enum gk_process_state {
	GK_PROCESS_RUNNING,
	GK_PROCESS_GONE, /* the driver lists it, /proc does not */
	GK_PROCESS_ZOMBIE,
	GK_PROCESS_NO_PERMISSION, /* /proc shows the pid and little else */
};

/* One process on one device. Strings belong to the snapshot. */
struct gk_process {
	pid_t pid;
	pid_t parent;    /* parent process, 0 if unknown */
	unsigned device; /* position in devices */
	unsigned types;  /* bits of gk_process_type */
	enum gk_process_state state;
	uid_t uid;        /* (uid_t)-1 if unknown */
	const char *user; /* name, else the number; "" if unknown */
	const char *name; /* comm; "" if unknown */
	/* Arguments joined by blanks, made printable. In both forms what looks
	 * like a secret is covered with asterisks. */
	const char *command;
	const char *container; /* container id from its cgroup; "" if none */
	const char *pod;       /* uid of its Kubernetes pod; "" if none */
	/* Its working directory, made printable; "" while cwd_why says why. */
	const char *cwd;
	enum gk_absence cwd_why;
	char stat; /* R running, S sleeping, D in I/O, T stopped, Z...; 0 */
	/* Arguments as the process has them, NUL-separated; may hold any byte
	 * but is cut at args_len. */
	const char *args;
	size_t args_len;
	uint64_t start_ticks; /* since boot; with pid the identity; 0 unknown */
	struct gk_value m[GK_PM_ROOM];
	uint64_t reserved[8];
};

/* The host of the GPUs. */
struct gk_host {
	char hostname[GK_NAME_MAX];
	uint64_t boot_ns; /* time since boot */
	unsigned cpus;
	struct gk_value cpu_centipercent; /* of all cores, 10000 = all busy */
	struct gk_value load_centi[3];    /* load averages times 100 */
	struct gk_value mem_total, mem_available; /* bytes */
	struct gk_value swap_total, swap_free;    /* bytes */
	uint64_t reserved[8];
};

/* The way between two GPUs, nearest first; "closest common ancestor". */
enum gk_path {
	GK_PATH_UNKNOWN,
	GK_PATH_SELF,
	GK_PATH_BOARD,      /* on one board */
	GK_PATH_SINGLE,     /* one PCIe switch */
	GK_PATH_MULTIPLE,   /* several PCIe switches, no host bridge */
	GK_PATH_HOSTBRIDGE, /* a PCIe host bridge */
	GK_PATH_NODE,       /* several host bridges of one NUMA node */
	GK_PATH_SYSTEM,     /* between NUMA nodes */
	GK_PATH_COUNT
};

/* "host bridge"; never NULL. */
GK_API const char *gk_path_name(enum gk_path path);

/* The way from one GPU to another one. */
struct gk_peer {
	enum gk_path path;
	unsigned nvlinks; /* active links that lead there, by switches too */
};

/* Where a GPU is. Lists are as "0-15,32-47"; empty if unknown. */
struct gk_place {
	char cpus[256];      /* CPUs near to it */
	char numa_nodes[64]; /* NUMA nodes of host memory near to it */
	int numa_node;       /* NUMA node that its memory is, -1: none */
};

/* count whole GPUs by NVML index, in NVML's order. */
struct gk_topology {
	size_t count;
	const struct gk_place *places; /* count */
	const struct gk_peer *peers;   /* count rows of count */
};

/* All devices, processes and the host at one moment: plain data. */
struct gk_snapshot {
	uint64_t wall_ns; /* nanoseconds since 1970, UTC */
	uint64_t mono_ns; /* CLOCK_MONOTONIC at the same moment */
	char driver_version[GK_NAME_MAX]; /* empty if unknown */
	char nvml_version[GK_NAME_MAX];   /* empty if unknown */
	int cuda_version;                 /* 13000 = 13.0, 0 if unknown */
	struct gk_host host;
	size_t device_count;
	struct gk_device *devices;
	size_t process_count;
	struct gk_process *processes; /* by device, then pid */
	/* Read once; the snapshot's. NULL without GK_WITH_TOPOLOGY. */
	const struct gk_topology *topology;
};

struct gk; /* an open driver library with its devices */

/* Bits: what a snapshot reads besides the usual, or leaves out. */
enum gk_with {
	GK_WITH_PCIE = 1,         /* read the ASKED tier */
	GK_WITHOUT_PROCESSES = 2, /* no process lists, no /proc/<pid> */
	GK_WITHOUT_COMMANDS = 4,  /* no command lines, no containers */
	GK_WITHOUT_SLOW = 8,      /* no SLOW tier in one-shot snapshots */
	GK_WITH_DETAIL = 16,      /* read the DETAIL tier */
	GK_WITH_TOPOLOGY = 32,    /* read the topology, once */
	/* No bus id, serial number, VBIOS, minor number, compute capability. */
	GK_WITHOUT_BOARD = 128,
	GK_WITHOUT_PROCESS_UTIL = 256, /* no utilisation of single processes */
	/* Wait for Xid errors from gk_open() on. The thread that waits may
	 * outlive gk_close() by a second; it disturbs nobody. */
	GK_WITH_EVENTS = 64,
	/* Nothing from /proc: neither of the host nor of processes, whose lists
	 * are the driver's alone. */
	GK_WITHOUT_PROC = 1024,
	/* The lists of gk_detail: accounts, retired pages, clocks; samples. */
	GK_WITH_LISTS = 512,
	/*
	 * Values of each process; without its bit a value is
	 * GK_ABSENT_NOT_READ.
	 */
	GK_WITH_THREADS = 0x10000, /* threads, priority, nice value */
	GK_WITH_IO = 0x20000,      /* bytes read and written */
	GK_WITH_CWD = 0x40000,     /* its working directory */
	GK_WITH_RANK = 0x80000,    /* its rank, from its environment */
	GK_WITH_PROCESS_ALL = 0xf0000,
};

/* How to open; begin with GK_OPTIONS_DEFAULT. */
struct gk_options {
	const char *nvml_path; /* NULL: libnvidia-ml.so.1 by the loader */
	int proc_fd;           /* directory to read as /proc; -1: /proc */
	unsigned with;         /* bits of gk_with */
	/* Only these metrics of devices are read, in whatever tiers; the
	 * others are GK_ABSENT_NOT_READ. NULL: all. Not used after gk_open. */
	const struct gk_metric_set *only;
	uint64_t timeout_ns; /* patience with one GPU; 0: one second */
	/* How often gk_watch reads a tier, at most nine years; 0: FAST with
	 * every frame, MEDIUM as well but once a second at most, SLOW with
	 * every 15th but once in 5 s at most. */
	uint64_t period_ns[GK_TIER_ROOM];
	uint64_t reserved[8]; /* 0 */
};

#define GK_OPTIONS_DEFAULT ((struct gk_options){.proc_fd = -1})

/*
 * Opens the driver library and lists its GPUs. Zero GPUs is no error.
 * GK_ERR_NO_DRIVER: no library; GK_ERR_DRIVER: it refuses to start;
 * GK_ERR_TIMEOUT: it has not started within ten seconds, and one thread goes on
 * waiting for it, however often it is opened. *ret_nvml (may be NULL) is then
 * its nvmlReturn_t. Close with gk_close().
 */
GK_API int gk_open(const struct gk_options *options, int *ret_nvml,
		   struct gk **ret_gk);

/* The same with a patience of its own with the driver while it starts. */
GK_API int gk_open_within(const struct gk_options *options, uint64_t timeout_ns,
			  int *ret_nvml, struct gk **ret_gk);

/*
 * Ends the workers and the driver library. A worker stuck in the driver is
 * abandoned: gk_close() then returns GK_ERR_TIMEOUT and the caller should
 * leave the process by _exit(). NULL is allowed.
 */
GK_API int gk_close(struct gk *gk);

/*
 * Reads everything once, all GPUs at the same time. Blocks for the driver, at
 * most timeout_ns for a GPU that hangs, and not at all for one that has owed an
 * answer for as long already; such a GPU is GK_HEALTH_STALE and keeps its last
 * values. Free *ret_snap with gk_snapshot_free().
 */
GK_API int gk_snapshot_take(struct gk *gk, struct gk_snapshot **ret_snap);
GK_API void gk_snapshot_free(struct gk_snapshot *snap);

/* The same with a patience of its own; 0: that of the context. */
GK_API int gk_snapshot_within(struct gk *gk, uint64_t timeout_ns,
			      struct gk_snapshot **ret_snap);

/*
 * Starts reading in the background, a frame every period_ns. Deadlines are
 * absolute: a late frame does not move the next one. Blocks for the first
 * reading as gk_snapshot_take() does. GK_ERR_INVALID: a period of 0;
 * GK_ERR_RANGE: one of years; GK_ERR_EXISTS: started already.
 */
GK_API int gk_watch_start(struct gk *gk, uint64_t period_ns);

/*
 * The same without waiting: until a GPU has answered its values are
 * GK_ABSENT_NOT_READ. A frame comes at once, and until a period has passed
 * further ones as GPUs answer for the first time.
 */
GK_API int gk_watch_begin(struct gk *gk, uint64_t period_ns);

/*
 * Another period from now on, the next frame one of them away. GK_ERR_INVALID:
 * a period of 0, or not watching; GK_ERR_RANGE: one of years.
 */
GK_API int gk_watch_period(struct gk *gk, uint64_t period_ns);

/*
 * Waits for the next frame and returns what is known then, without waiting
 * for a slow GPU. Frames missed by the caller are skipped, never queued.
 * GK_ERR_TIMEOUT: a signal handler ran (EINTR); call again or leave.
 */
GK_API int gk_watch_next(struct gk *gk, struct gk_snapshot **ret_snap);

/* A descriptor that polls readable when gk_watch_next() would not wait. */
GK_API int gk_watch_fd(struct gk *gk);

/*
 * While watching: has the GPU of an NVML index read tiers (bits 1 << gk_tier)
 * once more, without waiting; a later frame shows them. For what is too costly
 * to be read always. GK_ERR_INVALID: not watching, no such GPU or tier.
 */
GK_API int gk_watch_ask(struct gk *gk, unsigned index, unsigned tiers);

/*
 * From the next snapshot on, reads of each process what these bits of
 * GK_WITH_PROCESS_ALL say, and of those nothing else; other bits are ignored.
 */
GK_API void gk_read_of_processes(struct gk *gk, unsigned with);

/* Age of a tier of a device in a snapshot, ns; UINT64_MAX if never read. */
GK_API uint64_t gk_device_age(const struct gk_snapshot *snap,
			      const struct gk_device *device,
			      enum gk_tier tier);

/*
 * NVML functions that are wanted for what was asked for, and that the driver
 * library has in no version: their values are GK_ABSENT_NO_FUNCTION. Writes at
 * most cap names, static texts, and returns how many there are.
 */
GK_API size_t gk_missing_functions(const struct gk *gk, const char **ret_names,
				   size_t cap);

/*
 * ---- one device at once ----
 *
 * The functions of this part ask the driver about one device: no snapshot, no
 * other GPU, nothing kept from before. Any thread may call them at any time
 * between gk_open() and gk_close(), several at once; a GPU has one question at
 * a time. A device is the NVML index of a GPU and the index of a MIG device in
 * it, or -1.
 *
 * A thread of the library is in the driver while the caller waits, at most
 * gk_options.timeout_ns. A GPU that has owed an answer for as long already is
 * not waited for: one thread stays stuck in it, and goes on when it answers.
 *
 * GK_ERR_NOT_FOUND: no such device. GK_ERR_LOST, GK_ERR_DRIVER: the driver
 * refuses. GK_ERR_TIMEOUT: it has not answered in time. *ret_nvml (may be NULL)
 * is then its nvmlReturn_t.
 */

/* Another timeout_ns from now on, 0: one second; for snapshots, too. */
GK_API void gk_set_timeout(struct gk *gk, uint64_t timeout_ns);

/* How long a GPU has owed an answer, ns; 0: it owes none. */
GK_API uint64_t gk_silence(const struct gk *gk, unsigned index);

/* How many GPUs there were at gk_open(). */
GK_API size_t gk_gpu_count(const struct gk *gk);

/*
 * Versions of the driver and of NVML, "" if unknown, and the newest version of
 * CUDA that they support: 13000 = 13.0, 0 if unknown. Texts last until
 * gk_close().
 */
GK_API void gk_versions(const struct gk *gk, const char **ret_driver,
			const char **ret_nvml, int *ret_cuda);

/*
 * Who and where a device is: its names, ids and compute capability. All of its
 * values are GK_ABSENT_NOT_READ. A whole GPU that is late is who it was when it
 * last told, if it ever did.
 */
GK_API int gk_identify(struct gk *gk, unsigned index, int mig_index,
		       struct gk_device *ret_device, int *ret_nvml);

/*
 * Reads metrics of any tier but EVENT, each now; those of one NVML call come
 * from one call. ret_values[i] is the value of metrics[i], and ret_nvml[i]
 * (ret_nvml may be NULL) the nvmlReturn_t of the call, 0 where none was made.
 * GK_ERR_INVALID: no such metric. A GPU that refuses is no error here: its
 * values are absent. So are those that are late, GK_ABSENT_TIMEOUT and
 * NVML_ERROR_TIMEOUT, beside those that came in time.
 */
GK_API int gk_read(struct gk *gk, unsigned index, int mig_index,
		   const enum gk_metric *metrics, size_t count,
		   struct gk_value *ret_values, int *ret_nvml);

/* The same with a patience of its own; 0: that of the context. */
GK_API int gk_read_within(struct gk *gk, unsigned index, int mig_index,
			  const enum gk_metric *metrics, size_t count,
			  uint64_t timeout_ns, struct gk_value *ret_values,
			  int *ret_nvml);

/*
 * Reads the speed and the traffic of each NVLink of a GPU, two NVML calls
 * whatever their number; the other values are GK_ABSENT_NOT_READ. *ret_count
 * links are written.
 */
GK_API int gk_read_links(struct gk *gk, unsigned index,
			 struct gk_link ret_links[GK_LINKS_MAX],
			 size_t *ret_count, int *ret_nvml);

/* A process on a device, as the driver lists it. */
struct gk_use {
	pid_t pid;
	unsigned types;                /* bits of gk_process_type */
	int mig_index;                 /* MIG device that it is on, -1 */
	struct gk_value m[GK_PM_ROOM]; /* those of tier MEDIUM */
};

/*
 * Lists the processes of a device, of a GPU with those of its MIG devices.
 * Utilisation is of the time since the last question, the first time of a
 * second. Free *ret_uses with free().
 */
GK_API int gk_read_processes(struct gk *gk, unsigned index, int mig_index,
			     struct gk_use **ret_uses, size_t *ret_count,
			     int *ret_nvml);

/* How many MIG devices a GPU can have; GK_ERR_DRIVER where it can have none. */
GK_API int gk_mig_slots(struct gk *gk, unsigned index, unsigned *ret_slots,
			int *ret_nvml);

/*
 * The nvmlDevice_t of a device, for calls of NVML that gpukit does not make; it
 * is good until gk_close() or until the GPU is lost.
 */
GK_API int gk_nvml_handle(struct gk *gk, unsigned index, int mig_index,
			  void **ret_handle, int *ret_nvml);

/* A device that CUDA_VISIBLE_DEVICES chooses from. */
struct gk_candidate {
	unsigned index; /* NVML index of the GPU */
	int mig_index;  /* -1 for a whole GPU */
	const char *uuid;
	unsigned pci_domain, pci_bus, pci_device;
	/* For CUDA_DEVICE_ORDER=FASTEST_FIRST: any monotone figure of speed. */
	uint64_t speed;
	bool mig_enabled; /* a GPU split into MIG devices */
};

/* The order in which CUDA counts GPUs (CUDA_DEVICE_ORDER). */
enum gk_cuda_order { GK_ORDER_FASTEST_FIRST, GK_ORDER_PCI_BUS_ID };

/* Value of CUDA_DEVICE_ORDER (NULL: unset) as the driver reads it. */
GK_API enum gk_cuda_order gk_cuda_order(const char *value);

/*
 * Applies CUDA_VISIBLE_DEVICES as the CUDA driver does: ordinals in CUDA's
 * order, unique prefixes of GPU- and MIG- UUIDs; the list ends before the
 * first invalid entry; an entry given twice leaves no device at all. The form
 * of old drivers, MIG-GPU-<uuid>/<gi>/<ci>, is an invalid entry. value NULL
 * (unset) chooses everything, "" nothing.
 *
 * Writes positions in candidates to ret_chosen (room for count) and their
 * number to *ret_count. *ret_bad (may be NULL) is the offset in value of the
 * entry that ended the list, or -1. Pure: reads no environment.
 */
GK_API int gk_cuda_visible(const char *value, enum gk_cuda_order order,
			   const struct gk_candidate *candidates, size_t count,
			   unsigned *ret_chosen, size_t *ret_count,
			   long *ret_bad);

#ifdef __cplusplus
}
#endif

#endif

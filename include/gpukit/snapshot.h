/* SPDX-License-Identifier: Apache-2.0 */
/*
 * snapshot.h - the structs of a snapshot: devices, processes, the host and the
 * topology. Included by gpukit.h.
 */
#ifndef GPUKIT_SNAPSHOT_H
#define GPUKIT_SNAPSHOT_H

#include <gpukit/metrics.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif

#endif

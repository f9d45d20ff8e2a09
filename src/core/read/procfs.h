/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procfs.h - reads processes from /proc, through one directory handle.
 *
 * Keeps the CPU time and I/O of each process from one snapshot to the next, and
 * the names of users. Belongs to one thread.
 */
#ifndef GK_CORE_PROCFS_H
#define GK_CORE_PROCFS_H

#include <gpukit/gpukit.h>

#include "core/arena.h"

struct gk_procfs;

/* dir: a directory to read instead of /proc, which the caller closes; -1:
 * /proc. */
int gk_procfs_open(int dir, struct gk_procfs **ret_fs);
void gk_procfs_close(struct gk_procfs *fs);

/* The descriptor of the directory. */
int gk_procfs_dir(const struct gk_procfs *fs);

/*
 * Forgets the previous snapshot. Call it when rates computed from that snapshot
 * would be noise.
 */
void gk_procfs_forget(struct gk_procfs *fs);

/* Begins a snapshot taken at mono_ns (CLOCK_MONOTONIC), boot_ns since boot. */
void gk_procfs_begin(struct gk_procfs *fs, uint64_t mono_ns, uint64_t boot_ns);

/* Ends the snapshot: drops processes that were not read in it. */
void gk_procfs_end(struct gk_procfs *fs);

/*
 * Fills in all members of p that come from /proc, for the process p->pid. Never
 * fails: p->state and the reasons for absent values show what went wrong.
 * Strings are in the arena; `with` has bits of gk_with.
 */
void gk_procfs_read(struct gk_procfs *fs, unsigned with, struct gk_arena *arena,
		    struct gk_process *p);

/*
 * Sets all members that come from /proc to "not read", for a process that is
 * not to be read.
 */
void gk_procfs_pass(unsigned with, struct gk_process *p);

/*
 * Finds the container's id in the text of a cgroup file: 64 hex digits, or the
 * container's name for LXC and systemd-nspawn. Returns a pointer into the text
 * and the length, or NULL if there is none. Pure.
 */
const char *gk_container_id(const char *cgroup, size_t *ret_len);

/*
 * Finds the uid of the Kubernetes pod in the text of a cgroup file, and writes
 * it as kubectl does. Returns its length, or 0 if there is none. Pure.
 */
#define GK_POD_UID_MAX 40
size_t gk_pod_uid(const char *cgroup, char dst[GK_POD_UID_MAX]);

#endif

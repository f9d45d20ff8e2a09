/*
 * procfs.h - what /proc tells of a process, through one directory handle.
 *
 * Remembers the CPU time and I/O of each process between two snapshots, and the
 * names of users. Belongs to one thread.
 */
#ifndef GK_CORE_PROCFS_H
#define GK_CORE_PROCFS_H

#include <gpukit/gpukit.h>

#include "core/arena.h"

struct gk_procfs;

/* Takes a directory to read as /proc; it stays the caller's. -1: /proc. */
int gk_procfs_open(int dir, struct gk_procfs **ret_fs);
void gk_procfs_close(struct gk_procfs *fs);

/* The descriptor in use. */
int gk_procfs_dir(const struct gk_procfs *fs);

/* Forgets the snapshot before: differences from it would be noise. */
void gk_procfs_forget(struct gk_procfs *fs);

/* Begins a snapshot taken at a moment of CLOCK_MONOTONIC and since boot. */
void gk_procfs_begin(struct gk_procfs *fs, uint64_t mono_ns, uint64_t boot_ns);

/* Ends it: forgets processes that it did not ask for. */
void gk_procfs_end(struct gk_procfs *fs);

/*
 * Fills everything of p that comes from /proc; p->pid says of whom. Never
 * fails: p->state and the reasons of absent values say what went wrong.
 * Strings are put into the arena; with is of gk_with.
 */
void gk_procfs_read(struct gk_procfs *fs, unsigned with, struct gk_arena *arena,
		    struct gk_process *p);

/* The same of a process that nobody asks /proc about. */
void gk_procfs_pass(unsigned with, struct gk_process *p);

/*
 * The container of a process by its cgroup file: the id (64 hex digits, or
 * the name for LXC and systemd-nspawn) as an offset into text, *ret_len its
 * length; NULL when there is none. Pure.
 */
const char *gk_container_id(const char *cgroup, size_t *ret_len);

/*
 * The uid of the Kubernetes pod in a cgroup file, as kubectl prints it; its
 * length, 0 when there is none. Pure.
 */
#define GK_POD_UID_MAX 40
size_t gk_pod_uid(const char *cgroup, char dst[GK_POD_UID_MAX]);

#endif

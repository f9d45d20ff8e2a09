/* SPDX-License-Identifier: Apache-2.0 */
/* report.c - computes the group's view of a device, and lists its processes. */
#include "limit/preload/report/report.h"
#include "base/assert.h"
#include "base/min.h"
#include "limit/life.h"
#include "limit/environment.h"
#include "limit/preload/limited.h"

#include <stdatomic.h>
#include <stdlib.h>

void report_memory(int device, struct report_memory *m)
{
	uint64_t usable = m->total - m->reserved;
	uint64_t limit = limited_memory(device);
	uint64_t room = gk_min(limit, usable);
	uint64_t used = gk_min(limited_used(device), room);

	m->total = gk_min(limit, m->total);
	m->reserved = m->total - room;
	/* Managed memory may be larger than the memory of the GPU. */
	if (limited_policy()->oversubscribe)
		m->free = room - used;
	else
		m->free = gk_min(room - used, m->free);
	m->used = room - m->free;
}

/* The environment is read once, like the limits. */
static bool nvml_is_hooked(void)
{
	static _Atomic int known; /* 1: no, 2: yes */
	int seen = atomic_load_explicit(&known, memory_order_relaxed);

	if (!seen) {
		seen = gkl_environment_nvml() ? 2 : 1;
		atomic_store_explicit(&known, seen, memory_order_relaxed);
	}
	return seen == 2;
}

int report_nvml_device(nvmlDevice_t device)
{
	int number;

	if (!limited() || !nvml_is_hooked())
		return LIMITED_NONE;
	number = limited_nvml_device(device);
	return limited_memory(number) ? number : LIMITED_NONE;
}

/*
 * The pid that `process` has in this process's pid namespace; 0: none. In the
 * host's first namespace every process has a pid.
 */
static unsigned visible_pid(const struct gkl_process *process, uint64_t own)
{
	if (process->pid_ns == own)
		return (unsigned)process->pid;
	return own == GKL_FIRST_NAMESPACE ? (unsigned)process->host_pid : 0;
}

/* The same sum as in limited_used(). */
static uint64_t sum_settled(const struct gkl_process *process, int device)
{
	uint64_t sum = 0;

	for (int kind = 0; kind < GKL_PENDING; kind++)
		sum += process->kinds[device][kind];
	return sum;
}

static void note_process(const struct gkl_process *process, void *arg)
{
	struct report_processes *list = arg;
	unsigned pid = visible_pid(process, list->own_namespace);
	uint64_t bytes = sum_settled(process, list->device);

	list->held += bytes;
	if (!pid || process->ended || list->count == GKL_PROCESSES)
		return;
	list->at[list->count++] = (struct report_process){
	    .pid = pid,
	    .host_pid = (unsigned)process->host_pid,
	    .bytes = bytes,
	};
}

static uint64_t part_of(uint64_t bytes, uint64_t limit, uint64_t held)
{
	return (uint64_t)((unsigned __int128)bytes * limit / held);
}

/*
 * If the limit has been lowered below the bytes held, the whole device shows as
 * used, divided among the processes in proportion.
 */
static void fit_into_limit(struct report_processes *list)
{
	uint64_t limit = limited_memory(list->device), sum = 0;

	if (!limit || list->held <= limit)
		return;
	for (unsigned i = 0; i < list->count; i++) {
		uint64_t before = part_of(sum, limit, list->held);

		sum += list->at[i].bytes;
		list->at[i].bytes = part_of(sum, limit, list->held) - before;
	}
}

struct report_processes *report_processes_read(int device)
{
	struct report_processes *list = malloc(sizeof *list);

	GK_ASSERT(limited() && (unsigned)device < GKL_DEVICES);
	if (!list)
		return NULL;
	list->device = device;
	list->count = 0;
	list->held = 0;
	list->own_namespace = limited_namespace();
	gkl_group_bury(limited());
	gkl_ledger_each(limited()->ledger, note_process, list);
	fit_into_limit(list);
	return list;
}

struct report_process *report_processes_find(struct report_processes *list,
					     unsigned int pid)
{
	struct report_process *found = NULL;

	for (unsigned i = 0; pid && i < list->count; i++) {
		if (list->at[i].host_pid == pid)
			return &list->at[i];
		if (list->at[i].pid == pid)
			found = &list->at[i];
	}
	return found;
}

/*
 * report.c - what the group sees of a device, and who of it is told of.
 */
#include "limit/preload/report.h"
#include "limit/life.h"
#include "limit/environment.h"
#include "limit/preload/limited.h"

#include <stdatomic.h>
#include <stdlib.h>

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void report_memory(int device, struct report_memory *m)
{
	uint64_t usable = m->total - m->reserved;
	uint64_t limit = limited_memory(device);
	uint64_t room = smaller(limit, usable);
	uint64_t used = smaller(limited_used(device), room);

	m->total = smaller(limit, m->total);
	m->reserved = m->total - room;
	/* Managed memory may be more than the GPU has. */
	if (limited_policy()->oversubscribe)
		m->free = room - used;
	else
		m->free = smaller(room - used, m->free);
	m->used = room - m->free;
}

/* The environment is read once, as the limits are. */
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

/* Only the host's first namespace has a pid for everybody. */
static unsigned visible_pid(const struct gkl_process *process, uint64_t own)
{
	if (process->pid_ns == own)
		return (unsigned)process->pid;
	return own == GKL_FIRST_NAMESPACE ? (unsigned)process->host_pid : 0;
}

/* As limited_used() adds them up. */
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

	if (!pid || list->count == GKL_PROCESSES)
		return;
	list->at[list->count++] = (struct report_process){
	    .pid = pid,
	    .host_pid = (unsigned)process->host_pid,
	    .bytes = sum_settled(process, list->device),
	};
}

struct report_processes *report_processes_read(int device)
{
	struct report_processes *list = malloc(sizeof *list);
	struct gkl_ledger *ledger = limited()->ledger;

	if (!list)
		return NULL;
	list->device = device;
	list->count = 0;
	list->own_namespace = limited_namespace();
	gkl_ledger_bury(ledger);
	gkl_ledger_each(ledger, note_process, list);
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

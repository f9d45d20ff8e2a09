/*
 * affinity.h - the processors and the memory near a device.
 *
 * The machine's NUMA nodes are made up: the processors that are online on this
 * host are dealt out to them, a run of them each; where there are fewer than
 * nodes, each node has all.
 */
#ifndef GKF_NVML_AFFINITY_H
#define GKF_NVML_AFFINITY_H

struct gkf_machine;

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdbool.h>
#include <sched.h>

/* The processors near a device; at least one. */
void affinity_near(const struct gkf_machine *m, unsigned device,
		   cpu_set_t *ret_cpus);

/* All that are online on this host. */
void affinity_online(cpu_set_t *ret_cpus);
bool affinity_is_online(unsigned cpu);

#endif

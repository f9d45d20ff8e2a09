/* SPDX-License-Identifier: Apache-2.0 */
/*
 * affinity.h - the processors near a device.
 *
 * The machine's NUMA nodes are made up: each gets an equal share of the
 * processors that are online on this host. If there are fewer processors than
 * nodes, each node has all of them.
 */
#ifndef GKF_NVML_AFFINITY_H
#define GKF_NVML_AFFINITY_H

struct gkf_machine;

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <stdbool.h>
#include <sched.h>

/* The processors of the device's node; at least one. */
void affinity_near(const struct gkf_machine *m, unsigned device,
		   cpu_set_t *ret_cpus);

/* All processors that are online on this host. */
void affinity_online(cpu_set_t *ret_cpus);
bool affinity_is_online(unsigned cpu);

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * affinity.c - reports the processors and NUMA nodes near a device, and binds
 * threads to these processors.
 */
#include "fronts/nvml/board/affinity.h"
#include "base/fs.h"
#include "fronts/nvml/front.h"
#include "machine/file/topology.h"
#include "machine/store/board.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LONG_BITS (CHAR_BIT * sizeof(unsigned long))

/* Sets the bits of a list in the kernel's notation, 0-3,8,10-11. */
static void set_bits(const char *list, cpu_set_t *set)
{
	unsigned long first, last;
	char *end;

	while (*list >= '0' && *list <= '9') {
		first = last = strtoul(list, &end, 10);
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && first < CPU_SETSIZE; first++)
			CPU_SET(first, set);
		list = *end == ',' ? end + 1 : end;
	}
}

void affinity_online(cpu_set_t *ret_cpus)
{
	char list[4096];

	CPU_ZERO(ret_cpus);
	if (gk_read_at(AT_FDCWD, "/sys/devices/system/cpu/online", list,
		       sizeof(list)) <= 1) /* this host has no /sys */
		snprintf(list, sizeof(list), "0-%ld",
			 sysconf(_SC_NPROCESSORS_ONLN) - 1);
	set_bits(list, ret_cpus);
	if (!CPU_COUNT(ret_cpus))
		CPU_SET(0, ret_cpus);
}

bool affinity_is_online(unsigned cpu)
{
	cpu_set_t online;

	affinity_online(&online);
	return cpu < CPU_SETSIZE && CPU_ISSET(cpu, &online);
}

void affinity_near(const struct gkf_machine *m, unsigned device,
		   cpu_set_t *ret_cpus)
{
	const struct gkf_topology *t = gkf_topology(m);
	unsigned node, nodes = t->nodes, n, at = 0;
	cpu_set_t online;

	GK_ASSERT(device < gkf_device_count(m));
	node = t->seat[device].node;
	affinity_online(&online);
	*ret_cpus = online;
	n = (unsigned)CPU_COUNT(&online);
	if (n < nodes)
		return;
	for (unsigned i = 0; i < CPU_SETSIZE; i++) {
		if (!CPU_ISSET(i, &online))
			continue;
		if (at < n * node / nodes || at >= n * (node + 1) / nodes)
			CPU_CLR(i, ret_cpus);
		at++;
	}
}

static nvmlReturn_t write_cpus(const struct call *c, unsigned words,
			       unsigned long *set)
{
	cpu_set_t near;

	affinity_near(c->machine, c->index, &near);
	for (unsigned i = 0; i < words; i++)
		set[i] = 0;
	for (unsigned i = 0; i < CPU_SETSIZE && i / LONG_BITS < words; i++)
		if (CPU_ISSET(i, &near))
			set[i / LONG_BITS] |= 1UL << i % LONG_BITS;
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device,
				      unsigned int cpuSetSize,
				      unsigned long *cpuSet)
{
	ENTER_DEVICE(nvmlDeviceGetCpuAffinity, device, cpuSetSize && cpuSet);
	return write_cpus(&c, cpuSetSize, cpuSet);
}

/* Each socket is one NUMA node, so both scopes give the same result. */
nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device,
						 unsigned int cpuSetSize,
						 unsigned long *cpuSet,
						 nvmlAffinityScope_t scope)
{
	ENTER_DEVICE(nvmlDeviceGetCpuAffinityWithinScope, device,
		     cpuSetSize && cpuSet &&
			 scope <= NVML_AFFINITY_SCOPE_SOCKET);
	return write_cpus(&c, cpuSetSize, cpuSet);
}

nvmlReturn_t nvmlDeviceGetMemoryAffinity(nvmlDevice_t device,
					 unsigned int nodeSetSize,
					 unsigned long *nodeSet,
					 nvmlAffinityScope_t scope)
{
	unsigned node;

	ENTER_DEVICE(nvmlDeviceGetMemoryAffinity, device,
		     nodeSetSize && nodeSet &&
			 scope <= NVML_AFFINITY_SCOPE_SOCKET);
	node = gkf_topology(c.machine)->seat[c.index].node;
	for (unsigned i = 0; i < nodeSetSize; i++)
		nodeSet[i] = 0;
	nodeSet[0] = 1UL << node;
	return NVML_SUCCESS;
}

/*
 * Binds only the calling thread, to those processors of the set that its cpuset
 * allows.
 */
static nvmlReturn_t bind_to(const cpu_set_t *set)
{
	if (!sched_setaffinity(0, sizeof(*set), set))
		return NVML_SUCCESS;
	return errno == EPERM ? NVML_ERROR_NO_PERMISSION : NVML_ERROR_UNKNOWN;
}

nvmlReturn_t nvmlDeviceSetCpuAffinity(nvmlDevice_t device)
{
	cpu_set_t near;

	ENTER_DEVICE(nvmlDeviceSetCpuAffinity, device, true);
	affinity_near(c.machine, c.index, &near);
	return bind_to(&near);
}

nvmlReturn_t nvmlDeviceClearCpuAffinity(nvmlDevice_t device)
{
	cpu_set_t online;

	ENTER_DEVICE(nvmlDeviceClearCpuAffinity, device, true);
	affinity_online(&online);
	return bind_to(&online);
}

/* On a PCIe board the GPU's own memory is not a NUMA node. */
nvmlReturn_t nvmlDeviceGetNumaNodeId(nvmlDevice_t device, unsigned int *node)
{
	ENTER_DEVICE(nvmlDeviceGetNumaNodeId, device, node != NULL);
	return NVML_ERROR_NOT_SUPPORTED;
}

/*
 * affinity.c - the processors near a device: those of the device's NUMA node
 * if this host has the node, all that are online if not.
 */
#include "fake/nvml/front.h"
#include "base/fs.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define LONG_BITS (CHAR_BIT * sizeof(unsigned long))

/* Sets the bits of a list as the kernel writes it: 0-3,8,10-11 */
static void set_bits(const char *list, unsigned long *set, size_t words)
{
	unsigned long first, last;
	char *end;

	while (*list >= '0' && *list <= '9') {
		first = last = strtoul(list, &end, 10);
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (; first <= last && first / LONG_BITS < words; first++)
			set[first / LONG_BITS] |= 1UL << first % LONG_BITS;
		list = *end == ',' ? end + 1 : end;
	}
}

static nvmlReturn_t cpus(const struct call *c, unsigned words,
			 unsigned long *set)
{
	char path[64], list[4096];
	ssize_t n;

	snprintf(path, sizeof(path), "/sys/devices/system/node/node%u/cpulist",
		 c->board->numa_node);
	n = gk_read_at(AT_FDCWD, path, list, sizeof(list));
	if (n <= 1) /* a node without processors is a line feed */
		n = gk_read_at(AT_FDCWD, "/sys/devices/system/cpu/online", list,
			       sizeof(list));
	if (n <= 1) /* no /sys here */
		snprintf(list, sizeof(list), "0-%ld",
			 sysconf(_SC_NPROCESSORS_ONLN) - 1);
	for (unsigned i = 0; i < words; i++)
		set[i] = 0;
	set_bits(list, set, words);
	return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCpuAffinity(nvmlDevice_t device,
				      unsigned int cpuSetSize,
				      unsigned long *cpuSet)
{
	ENTER_DEVICE(nvmlDeviceGetCpuAffinity, device, cpuSetSize && cpuSet);
	return cpus(&c, cpuSetSize, cpuSet);
}

/* One node a socket, so both scopes are the same. */
nvmlReturn_t nvmlDeviceGetCpuAffinityWithinScope(nvmlDevice_t device,
						 unsigned int cpuSetSize,
						 unsigned long *cpuSet,
						 nvmlAffinityScope_t scope)
{
	ENTER_DEVICE(nvmlDeviceGetCpuAffinityWithinScope, device,
		     cpuSetSize && cpuSet &&
			 scope <= NVML_AFFINITY_SCOPE_SOCKET);
	return cpus(&c, cpuSetSize, cpuSet);
}

/* Asks for the node that a GPU's own memory is; on this bus it is none. */
nvmlReturn_t nvmlDeviceGetNumaNodeId(nvmlDevice_t device, unsigned int *node)
{
	ENTER_DEVICE(nvmlDeviceGetNumaNodeId, device, node != NULL);
	return NVML_ERROR_NOT_SUPPORTED;
}

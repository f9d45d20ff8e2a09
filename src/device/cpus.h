/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cpus.h - counts the processors that this thread may run on. It needs nothing
 * else of ours, because the BLAS of the portable build uses it, too.
 */
#ifndef GK_DEVICE_CPUS_H
#define GK_DEVICE_CPUS_H

#include <errno.h>
#include <sched.h>
#include <stddef.h>

/*
 * Counts the processors, using a set with space for `most` of them. Returns 0
 * if the kernel needs a larger set.
 */
static inline int gk_cpus_of(int most)
{
	cpu_set_t *set = CPU_ALLOC(most);
	size_t size = CPU_ALLOC_SIZE(most);
	int count = 1;

	if (!set)
		return count;
	if (!sched_getaffinity(0, size, set))
		count = CPU_COUNT_S(size, set);
	else if (errno == EINVAL)
		count = 0;
	CPU_FREE(set);
	return count;
}

/* Uses larger and larger sets until the kernel accepts one. */
static inline int gk_cpu_count(void)
{
	int count = 0;

	for (int most = CPU_SETSIZE; !count && most <= 1 << 20; most *= 2)
		count = gk_cpus_of(most);
	return count ? count : 1;
}

#endif

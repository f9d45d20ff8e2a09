/* SPDX-License-Identifier: Apache-2.0 */
/*
 * no_memory.h - mmap() of this program, which can be told to fail, as where the
 * system has no memory or no addresses, and where to place mappings.
 */
#ifndef TESTS_NO_MEMORY_H
#define TESTS_NO_MEMORY_H

#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Sanitizers call it before they are initialised. */
#define UNSANITIZED __attribute__((no_sanitize("thread", "address")))

/* Longer mappings fail, and so do all after this many. */
static uint64_t longest_mapping = UINT64_MAX;
static unsigned mappings_left = UINT_MAX;

/*
 * Mappings without a requested address are this far behind a multiple of 2 MiB.
 */
static uint64_t mapped_behind;

UNSANITIZED static void *map_behind(size_t size, int prot, int flags)
{
	const uint64_t block = 2 << 20;
	char *all = (char *)syscall(SYS_mmap, NULL, size + 2 * block, PROT_NONE,
				    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint64_t before = (-(uintptr_t)all & (block - 1)) + mapped_behind;

	munmap(all, before);
	munmap(all + before + size, 2 * block - before);
	return (void *)syscall(SYS_mmap, all + before, size, prot,
			       flags | MAP_FIXED, -1, 0);
}

UNSANITIZED void *mmap(void *at, size_t size, int prot, int flags, int fd,
		       off_t offset)
{
	if (size > longest_mapping || !mappings_left) {
		errno = ENOMEM;
		return MAP_FAILED;
	}
	mappings_left--;
	if (mapped_behind && !at && prot == PROT_NONE)
		return map_behind(size, prot, flags);
	return (void *)syscall(SYS_mmap, at, size, prot, flags, fd, offset);
}

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls.h - system calls for which older C libraries (down to glibc 2.17) have
 * no function. They are made directly and set errno as usual. If the kernel
 * lacks a call, errno is ENOSYS.
 */
#ifndef GK_BASE_CALLS_H
#define GK_BASE_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

/* See memfd_create(2); the flags are in <linux/memfd.h>. */
static inline int gk_memfd(const char *name, unsigned flags)
{
	return (int)syscall(SYS_memfd_create, name, flags);
}

/* See getrandom(2); the flags are in <linux/random.h>. */
static inline ssize_t gk_random(void *buf, size_t size, unsigned flags)
{
	return syscall(SYS_getrandom, buf, size, flags);
}

/* See renameat2(2); the flags are in <linux/fs.h>. */
static inline int gk_rename(int from_dir, const char *from, int to_dir,
			    const char *to, unsigned flags)
{
	return (int)syscall(SYS_renameat2, from_dir, from, to_dir, to, flags);
}

/*
 * Closes the descriptors from `first` on. With `apart`, the calling thread
 * first gets a descriptor table of its own, so that other threads keep their
 * descriptors open. Returns false, with errno, if the kernel allows neither
 * close_range(2) (Linux 5.9) nor to read /proc/thread-self/fd.
 */
bool gk_descriptors_close(unsigned first, bool apart);

#endif

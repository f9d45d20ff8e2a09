/* SPDX-License-Identifier: Apache-2.0 */
/* map.c - maps files that the doctor examines. */
#include "cli/fake/doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct bytes doctor_map(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct bytes all = {NULL, 0};
	struct stat st;
	void *at;

	if (fd < 0)
		return all;
	if (fstat(fd, &st) || !S_ISREG(st.st_mode)) {
		errno = errno ? errno : EINVAL;
	} else if (!st.st_size) {
		all.data = (const unsigned char *)"";
	} else {
		at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd,
			  0);
		if (at != MAP_FAILED) {
			all.data = at;
			all.size = (size_t)st.st_size;
		}
	}
	close(fd);
	return all;
}

void doctor_unmap(struct bytes all)
{
	if (all.size)
		munmap((void *)(uintptr_t)all.data, all.size);
}

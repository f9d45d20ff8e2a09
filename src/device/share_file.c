/* SPDX-License-Identifier: Apache-2.0 */
/* share_file.c - creates the file of a device's memory, and opens it again. */
#include "device/share_file.h"
#include "base/calls.h"
#include "device/keeper.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

struct file_request {
	void *at;
	uint64_t size;
	int file;
};

/*
 * Runs on the keeper thread. Checks RLIMIT_FSIZE, because exceeding it would
 * kill the program.
 */
static void make_file(void *data)
{
	struct file_request *q = data;
	uint64_t size = q->size + SHARE_ROWS_SIZE;
	struct rlimit bound;
	int fd = -1;

	if (!getrlimit(RLIMIT_FSIZE, &bound) && bound.rlim_cur >= size)
		fd = gk_memfd("gpukit", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return;
	if (ftruncate(fd, (off_t)size) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_SEAL) ||
	    mmap(q->at, q->size, PROT_READ | PROT_WRITE,
		 MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, 0) != q->at)
		close(fd);
	else
		q->file = fd;
}

int share_file(void *at, uint64_t size)
{
	struct file_request q = {at, size, -1};

	return keeper_do(make_file, &q) ? q.file : -1;
}

static void close_file(void *data)
{
	close(*(int *)data);
}

void share_file_close(int file)
{
	keeper_do(close_file, &file);
}

int share_reopen(int file)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/task/%d/fd/%d",
		 (int)keeper_thread(), file);
	return open(path, O_RDWR | O_CLOEXEC);
}

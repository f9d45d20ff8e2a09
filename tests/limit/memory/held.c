/* SPDX-License-Identifier: Apache-2.0 */
/*
 * held.c - is preloaded after libvgpu.so and holds up the fake driver before
 * and after it allocates and frees memory. In the directory HELD, the FIFO
 * `arrived` gets the pid of each process that comes to a step with a FIFO of
 * its own there; the process continues when that FIFO is opened for writing.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* Functions of the fake machine's core, as its driver calls them. */
int gkf_space_alloc(const void *ask, uint64_t *ret_address);
int gkf_space_free(uint64_t base);
uint64_t gkf_books_context(const void *machine, unsigned device, unsigned nth);

static void *find_next(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

static void tell_arrival(const char *dir)
{
	pid_t pid = getpid();
	char path[300];
	ssize_t written;
	int fd;

	snprintf(path, sizeof path, "%s/arrived", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	written = write(fd, &pid, sizeof pid);
	close(fd);
	if (written != sizeof pid)
		abort();
}

static void hold(const char *step)
{
	const char *dir = getenv("HELD");
	char path[300];
	int fd;

	snprintf(path, sizeof path, "%s/%s", dir ? dir : "", step);
	if (!dir || access(path, F_OK))
		return;
	tell_arrival(dir);
	/* Unlinked meanwhile: the other processes were released. */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		close(fd);
}

int gkf_space_alloc(const void *ask, uint64_t *ret_address)
{
	__typeof__(gkf_space_alloc) *next = find_next("gkf_space_alloc");
	int error;

	hold("before-alloc");
	error = next(ask, ret_address);
	hold("after-alloc");
	return error;
}

int gkf_space_free(uint64_t base)
{
	__typeof__(gkf_space_free) *next = find_next("gkf_space_free");
	int error;

	hold("before-free");
	error = next(base);
	hold("after-free");
	return error;
}

/* Called before a context takes its memory. */
uint64_t gkf_books_context(const void *machine, unsigned device, unsigned nth)
{
	__typeof__(gkf_books_context) *next = find_next("gkf_books_context");

	hold("before-context");
	return next(machine, device, nth);
}

/*
 * hint.c - a word to who starts a program that cannot run here: what it
 * would meet is an error of NVIDIA's runtime that names no reason.
 */
#include "cli/command.h"
#include "cli/fake/doctor.h"
#include "cli/fake/fake.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* Bigger programs start without being looked at. */
#define SIZE_MAX_LOOKED (256UL << 20)

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

/*
 * Names a trouble that keeps the program from running on any machine; NULL: the
 * doctor knows none.
 */
static const char *trouble_of(const struct doctor *doctor)
{
	if (doctor->runtime.nvidia_static)
		return "carries NVIDIA's own CUDA runtime, which works with "
		       "NVIDIA's own driver only";
	for (unsigned i = 0; i < doctor->advice_count; i++)
		if (doctor->advice[i] == &doctor_no_ptx)
			return "has kernels as machine code only, which no CPU "
			       "runs";
	return NULL;
}

/* No kernel is judged: there is no GPU of capability 0. */
static const char *find_trouble(const char *path)
{
	struct bytes all = doctor_map(path);
	const char *trouble = NULL;
	struct doctor doctor;

	if (!all.data)
		return NULL;
	if (all.size <= SIZE_MAX_LOOKED &&
	    !doctor_look(path, all, 0, &doctor)) {
		trouble = trouble_of(&doctor);
		doctor_free(&doctor);
	}
	doctor_unmap(all);
	return trouble;
}

void fake_hint(const char *command)
{
	const char *trouble = NULL;
	char path[PATH_MAX];

	if (gk_command_find(command, path, sizeof path))
		trouble = find_trouble(path);
	if (trouble)
		fake_failure("%s %s; `gpukit fake doctor %s` says what to do",
			     command, trouble, path);
}

/*
 * system.c - facts about the whole machine: versions, process names.
 */
#include "fake/nvml/front.h"
#include "base/fs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
	ENTER(nvmlSystemGetDriverVersion, version != NULL);
	return front_copy(version, length, c.file->driver_version,
			  sizeof(c.file->driver_version));
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
	ENTER(nvmlSystemGetNVMLVersion, version != NULL);
	return front_copy(version, length, c.file->nvml_version,
			  sizeof(c.file->nvml_version));
}

/* The first word of the command line; cut where the buffer ends. */
nvmlReturn_t nvmlSystemGetProcessName(unsigned int pid, char *name,
				      unsigned int length)
{
	char path[32], line[4096];
	ssize_t n;

	ENTER(nvmlSystemGetProcessName, name && length);
	snprintf(path, sizeof(path), "/proc/%u/cmdline", pid);
	n = gk_read_at(AT_FDCWD, path, line, sizeof(line));
	if (n < 0)
		return NVML_ERROR_NOT_FOUND;
	snprintf(name, length, "%s", line);
	return NVML_SUCCESS;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * system.c - reports versions of the driver and names of processes.
 */
#include "base/fs.h"
#include "fronts/nvml/front.h"
#include "machine/store/settings.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>

nvmlReturn_t nvmlSystemGetDriverVersion(char *version, unsigned int length)
{
	ENTER(nvmlSystemGetDriverVersion, version != NULL);
	return front_copy(version, length, gkf_driver(c.machine)->version,
			  sizeof(gkf_driver(c.machine)->version));
}

nvmlReturn_t nvmlSystemGetNVMLVersion(char *version, unsigned int length)
{
	ENTER(nvmlSystemGetNVMLVersion, version != NULL);
	return front_copy(version, length, gkf_driver(c.machine)->nvml_version,
			  sizeof(gkf_driver(c.machine)->nvml_version));
}

/* The first word of the command line, truncated to the buffer. */
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

/* A branch is named after its first driver (recalled without a source). */
nvmlReturn_t nvmlSystemGetDriverBranch(nvmlSystemDriverBranchInfo_t *branchInfo,
				       unsigned int length)
{
	char text[32];

	ENTER(nvmlSystemGetDriverBranch, branchInfo != NULL);
	if (!TAKES(branchInfo->version, nvmlSystemDriverBranchInfo_v1))
		return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
	if (length > sizeof(branchInfo->branch))
		length = sizeof(branchInfo->branch);
	snprintf(text, sizeof(text), "r%u_00", front_generation->level / 1000);
	return front_copy(branchInfo->branch, length, text, sizeof(text));
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_fuzz.c - checks profiles of any bytes, which load or are refused in
 * one line.
 */
#include "fuzz.h"
#include "machine/file/profile.h"
#include "machine/words/profile_yaml.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct gkf_profile profile;
	char path[64], message[GKF_PROFILE_MESSAGE_MAX] = "";
	int fd = memfd_create("profile", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (gkf_profile_load("/nonexistent", path, &profile, message,
			     sizeof message) &&
	    (!*message || strchr(message, '\n')))
		abort();
	close(fd);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* parse.c - parses the argument of --gpus. */
#include "base/err.h"
#include "cli/fake/fake.h"
#include "cli/where.h"
#include "machine/words/spec.h"

#include <limits.h>
#include <stdio.h>

int fake_parse_gpus(const char *key, const char *text,
		    struct gkf_profile *ret_profiles, unsigned *ret_count,
		    char *ret_message)
{
	char dir[PATH_MAX];

	if (gk_where_profiles(dir, sizeof dir)) {
		snprintf(ret_message, FAKE_MESSAGE_MAX,
			 "cannot find the profiles; set GPUKIT_PROFILES to "
			 "their directory");
		return GK_ERR_NOT_FOUND;
	}
	return gkf_spec_gpus(key, dir, text, ret_profiles, ret_count,
			     ret_message);
}

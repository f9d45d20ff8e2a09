/* SPDX-License-Identifier: Apache-2.0 */
/* mig_text.h - prints how a GPU is split as a line to compare. */
#ifndef TESTS_MIG_TEXT_H
#define TESTS_MIG_TEXT_H

#include "machine/file/numbers.h"
#include "machine/model/mig/mig.h"

#include <stdio.h>

/*
 * "2:3g.40gb@4(0#1 2c.3g.40gb@0)": GPU instances, with their compute instances
 * by id and index.
 */
static inline const char *instances(struct gkf_machine *m, unsigned device)
{
	static char text[1024];
	size_t n = 0;

	text[0] = '\0';
	for (unsigned i = 0; i < GKF_MIG_GIS; i++) {
		struct gkf_mig_gi gi;
		struct gkf_mig_ci ci;

		if (gkf_mig_gi_read(m, device, i, &gi))
			continue;
		n += (size_t)snprintf(text + n, sizeof text - n, "%s%u:%s@%u",
				      n ? " " : "", gi.id, gi.profile->name,
				      gi.start);
		for (unsigned c = 0; c < GKF_MIG_CIS; c++)
			if (!gkf_mig_ci_read(m, device, i, c, &ci))
				n += (size_t)snprintf(
				    text + n, sizeof text - n, "(%u#%u %s@%u)",
				    ci.id, ci.index, ci.profile.name, ci.start);
	}
	return text;
}

#endif

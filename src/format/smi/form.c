/* SPDX-License-Identifier: Apache-2.0 */
/* form.c - finds the form of nvidia-smi's output that a driver has. */
#include "format/smi/form.h"
#include "base/array.h"

#include <stdio.h>

#define LEVEL_MASK 0xfffffu

bool gk_smi_fits(gk_smi_when when, unsigned level)
{
	unsigned since = when & LEVEL_MASK;
	unsigned until = when >> GK_SMI_UNTIL_BIT & LEVEL_MASK;
	unsigned also = when >> GK_SMI_ALSO_BIT & LEVEL_MASK;

	if (also && level / 1000 == also / 1000 && level >= also)
		return true;
	return level >= since && (!until || level <= until);
}

unsigned gk_smi_level(const struct gk_snapshot *snap)
{
	unsigned major = 0, minor = 0;

	if (sscanf(snap->driver_version, "%3u.%3u", &major, &minor) < 1)
		return GK_SMI_LEVEL(590, 0);
	return GK_SMI_LEVEL(major, minor);
}

/* Sources are in docs/SMI.md. */
static const struct gk_smi_form forms[] = {
    {.since = 0, .dtd = 11, .key = 42},
    {.since = 525000, .dtd = 12, .key = 42},
    {.since = 550090, .dtd = 12, .key = 42, .rounds_up = true},
    {.since = 580000, .dtd = 13, .key = 42, .rounds_up = true},
    {.since = 580142, .dtd = 13, .key = 55, .rounds_up = true},
};

const struct gk_smi_form *gk_smi_form(unsigned level)
{
	const struct gk_smi_form *form = forms;

	for (size_t i = 0; i < COUNT(forms); i++)
		if (forms[i].since <= level)
			form = &forms[i];
	return form;
}

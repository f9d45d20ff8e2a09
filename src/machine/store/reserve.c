/* SPDX-License-Identifier: Apache-2.0 */
/* reserve.c - how much memory a driver keeps of a board. */
#include "machine/store/reserve.h"

#include <stddef.h>

/*
 * What captures of other branches than that of the profile tell. A profile with
 * another value than ours has its own.
 */
static const struct {
	int64_t device, ours;
	unsigned major;
	int64_t mib;
} facts[] = {
#define RESERVED(device, ours, major, mib) {device, ours, major, mib},
#include "machine/store/reserve.def"
#undef RESERVED
};

int64_t gkf_reserved_mib(const struct gkf_profile *profile, unsigned major)
{
	for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
		if (facts[i].device == profile->pci_device_id &&
		    facts[i].ours == profile->reserved_mib &&
		    facts[i].major == major)
			return facts[i].mib;
	return profile->reserved_mib;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* met.c - refuses boards that are not known to run on the chosen driver. */
#include "cli/fake/fake.h"
#include "machine/file/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The first and the last driver branch that supports an architecture (0: no
 * limit). Sources are in docs/DRIVERS.md. All branches support architectures
 * that are not listed here.
 */
static const struct {
	const char *architecture;
	unsigned since, until;
} met[] = {
    {"PASCAL", 0, 580}, {"VOLTA", 0, 580},     {"ADA", 520, 0},
    {"HOPPER", 525, 0}, {"BLACKWELL", 570, 0},
};

/* Prints which drivers support a board. Returns the exit status. */
static int refuse_board(const struct gkf_profile *profile, const char *driver,
			unsigned since, unsigned until)
{
	if (until)
		return fake_usage("%s is not known to run on driver %s; choose "
				  "--driver %u or an older one, or add "
				  "--any-driver",
				  profile->name, driver, until);
	return fake_usage(
	    "%s is not known to run on driver %s; choose --driver "
	    "%u or a newer one, or add --any-driver",
	    profile->name, driver, since);
}

int fake_check_met(const char *driver, const struct gkf_profile *profiles,
		   unsigned count)
{
	unsigned major = (unsigned)strtoul(driver, NULL, 10);

	for (unsigned i = 0; i < count; i++)
		for (size_t k = 0; k < sizeof met / sizeof *met; k++) {
			if (strcmp(profiles[i].architecture,
				   met[k].architecture))
				continue;
			if (major < met[k].since ||
			    (met[k].until && major > met[k].until))
				return refuse_board(&profiles[i], driver,
						    met[k].since, met[k].until);
		}
	return 0;
}

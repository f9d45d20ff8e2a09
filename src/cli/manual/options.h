/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - lists the options of a page in order, from either kind of table.
 */
#ifndef GK_CLI_MANUAL_OPTIONS_H
#define GK_CLI_MANUAL_OPTIONS_H

#include "cli/page.h"

#define MANUAL_NAMES   6
#define MANUAL_OPTIONS 96

struct manual_option {
	/* Includes the dashes: "-g", "--gpus". A heading has no names. */
	char names[MANUAL_NAMES][48];
	size_t name_count;
	char arg[48];  /* name of the argument; "": takes no argument */
	bool optional; /* the argument is optional */
	const char *doc;
	int group;
};

struct manual_options {
	struct manual_option all[MANUAL_OPTIONS];
	size_t count;
};

void manual_options(const struct gk_manual_page *page,
		    struct manual_options *ret_options);

#endif

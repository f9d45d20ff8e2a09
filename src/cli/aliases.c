/* SPDX-License-Identifier: Apache-2.0 */
/*
 * aliases.c - owns the table of other names under which the command runs a
 * verb.
 */
#include "cli/aliases.h"
#include "base/array.h"

#include <string.h>

static const struct alias {
	const char *name;
	const struct gk_cmd *cmd;
} aliases[] = {
#define ALIAS(name, verb) {name, &gk_cmd_##verb},
#include "cli/aliases.def"
#undef ALIAS
};

const struct gk_cmd *gk_alias_find(const char *path)
{
	const char *slash = strrchr(path, '/');

	for (size_t i = 0; i < COUNT(aliases); i++)
		if (!strcmp(slash ? slash + 1 : path, aliases[i].name))
			return aliases[i].cmd;
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - compares what people write with options and GPUs. */
#include "cli/smi/names.h"
#include "base/str.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool smi_is_option(const char *word, const char *name, const char **ret_arg)
{
	size_t len = name ? strlen(name) : 0;

	if (!name || strncmp(word, name, len) != 0)
		return false;
	*ret_arg = word[len] == '=' ? word + len + 1 : NULL;
	return !word[len] || word[len] == '=';
}

bool smi_parse_bus_id(const char *text, unsigned ret[4])
{
	int end = 0;

	if (sscanf(text, "%x:%x:%x.%x%n", &ret[0], &ret[1], &ret[2], &ret[3],
		   &end) == 4)
		return !text[end];
	ret[0] = 0;
	return sscanf(text, "%x:%x.%x%n", &ret[1], &ret[2], &ret[3], &end) ==
		   3 &&
	       !text[end];
}

bool smi_is_named_by(unsigned index, const char *uuid, const char *bus_id,
		     const char *id)
{
	unsigned asked[4], has[4];
	int64_t number;

	if (!gk_parse_int(id, &number))
		return number == index;
	/* Who has no UUID is not named by an empty word. */
	if (*id && !strcasecmp(id, uuid))
		return true;
	return smi_parse_bus_id(id, asked) && smi_parse_bus_id(bus_id, has) &&
	       !memcmp(asked, has, sizeof has);
}

bool smi_is_numbers(const char *list)
{
	for (;; list++) {
		if (!isdigit((unsigned char)*list))
			return false;
		list += strspn(list, "0123456789");
		if (!*list)
			return true;
		if (*list != ',')
			return false;
	}
}

bool smi_names(const char *ids, unsigned index, const char *uuid,
	       const char *bus_id)
{
	char *copy = strdup(ids), *at = copy, *id;
	bool found = false;

	while (copy && !found && (id = strsep(&at, ",")))
		found = smi_is_named_by(index, uuid, bus_id, id);
	free(copy);
	return found;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* names.c - matches words of the user with options and GPUs. */
#include "cli/smi/names.h"
#include "base/str.h"

#include <ctype.h>
#include <limits.h>
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

bool smi_parse_number(const char *text, uint64_t max, uint64_t *ret_number)
{
	int64_t number;

	/* A number must not have a sign, not even -0. */
	if (!isdigit((unsigned char)*text) || gk_parse_int(text, &number) ||
	    (uint64_t)number > max)
		return false;
	*ret_number = (uint64_t)number;
	return true;
}

/* Parses up to eight hexadecimal digits at *text, and moves *text past them. */
static bool take_hex(const char **text, unsigned *ret_number)
{
	size_t len = strspn(*text, "0123456789abcdefABCDEF");

	if (!len || len > 8)
		return false;
	*ret_number = (unsigned)strtoul(*text, NULL, 16);
	*text += len;
	return true;
}

/*
 * Not sscanf(), because it would accept signs, 0x, blanks and numbers that are
 * too large.
 */
bool smi_parse_bus_id(const char *text, unsigned ret[4])
{
	static const char separators[] = "::.";
	const char *colon = strchr(text, ':');
	size_t at = colon && strchr(colon + 1, ':') ? 0 : 1;

	ret[0] = 0;
	for (; take_hex(&text, &ret[at]); text++, at++)
		if (at == 3 || *text != separators[at])
			return at == 3 && !*text;
	return false;
}

bool smi_is_named_by(unsigned index, const char *uuid, const char *bus_id,
		     const char *id)
{
	unsigned asked[4], has[4];
	uint64_t number;

	if (smi_parse_number(id, UINT_MAX, &number))
		return number == index;
	/* An empty id does not match a GPU whose UUID is unknown. */
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

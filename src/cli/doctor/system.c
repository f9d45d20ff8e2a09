/* SPDX-License-Identifier: Apache-2.0 */
/* system.c - recognises the distribution from os-release(5). */
#include "base/array.h"
#include "cli/doctor/doctor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct gk_doctor_system systems[] = {
#define SYSTEM(id, family, install, driver)                                    \
	{id, FAMILY_##family, install, driver},
#include "cli/doctor/systems.def"
#undef SYSTEM
};

static const struct gk_doctor_system unknown = {
    "", FAMILY_UNKNOWN, "",
    "install NVIDIA's driver with the packages of your distribution"};

/* Finds NAME=value or NAME="value" and copies the value. */
static void copy_value(const char *text, const char *name, char *dst,
		       size_t cap)
{
	size_t len = strlen(name);

	*dst = '\0';
	for (const char *line = text; line; line = strchr(line, '\n')) {
		char quote;

		line += *line == '\n';
		if (strncmp(line, name, len) || line[len] != '=')
			continue;
		line += len + 1;
		quote = *line == '"' || *line == '\'' ? *line++ : '\n';
		gk_str_clean(dst, cap, line,
			     strcspn(line, (char[]){quote, '\n', 0}));
		return;
	}
}

static const struct gk_doctor_system *find_system(const char *id, size_t len)
{
	for (size_t i = 0; i < COUNT(systems); i++)
		if (strlen(systems[i].id) == len &&
		    !strncmp(systems[i].id, id, len))
			return &systems[i];
	return NULL;
}

/*
 * Returns the row of the first distribution in a list of words that the table
 * knows, or NULL.
 */
static const struct gk_doctor_system *find_of(const char *words)
{
	const struct gk_doctor_system *found = NULL;

	while (!found && *words) {
		size_t len = strcspn(words, " ");

		found = find_system(words, len);
		words += len + (words[len] == ' ');
	}
	return found;
}

void gk_doctor_read_system(struct gk_doctor *d)
{
	char text[8192], id[64], like[128];

	if (gk_doctor_read(d, "/etc/os-release", text, sizeof text) < 0)
		gk_doctor_read(d, "/usr/lib/os-release", text, sizeof text);
	copy_value(text, "ID", id, sizeof id);
	copy_value(text, "ID_LIKE", like, sizeof like);
	copy_value(text, "PRETTY_NAME", d->system_name, sizeof d->system_name);
	if (!*d->system_name)
		gk_str_copy(d->system_name, sizeof d->system_name,
			    *id ? id : "an unknown distribution");
	d->system = find_of(id);
	if (!d->system)
		d->system = find_of(like);
	if (!d->system)
		d->system = &unknown;
}

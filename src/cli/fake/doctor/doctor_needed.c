/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor_needed.c - finds third-party libraries that our libraries use for
 * their computations and that are not installed.
 */
#include "cli/fake/doctor/doctor.h"
#include "cli/where.h"
#include "fronts/common/needed.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const struct advice missing[NEEDED_COUNT] = {
#define NEEDED(id, file, inside, package, users)                               \
	{"missing-library",                                                    \
	 "it computes with " file ", which is not installed",                  \
	 NEEDED_GET(package)},
#include "fronts/common/needed.def"
#undef NEEDED
};

enum presence { MISSING, INSTALLED, INSIDE };

static enum presence look_for(unsigned i)
{
	void *library = dlopen(needed_libraries[i].file, RTLD_LAZY);
	char path[PATH_MAX], file[NAME_MAX];

	if (library) {
		dlclose(library);
		return INSTALLED;
	}
	snprintf(file, sizeof file, "fake/%s", needed_libraries[i].inside);
	return gk_where_library(file, path, sizeof path) || access(path, R_OK)
		   ? MISSING
		   : INSIDE;
}

/*
 * Whether `users` lists the library. `users` has names without a version, each
 * followed by a blank: "libcublas.so " stands for "libcublas.so.13".
 */
static bool lists_user(const char *library, const char *users)
{
	const char *end = strstr(library, ".so");
	size_t len = end ? (size_t)(end - library) + strlen(".so") : 0;
	const char *found = users;

	for (; len && *found; found = strchr(found, ' ') + 1)
		if (!strncmp(found, library, len) && found[len] == ' ')
			return true;
	return false;
}

const struct advice *doctor_missing(const char *library, unsigned *at)
{
	while (*at < NEEDED_COUNT) {
		unsigned i = (*at)++;

		if (lists_user(library, needed_libraries[i].users) &&
		    look_for(i) == MISSING)
			return &missing[i];
	}
	return NULL;
}

static void needed_text(unsigned i, enum presence presence, struct gk_buf *buf)
{
	const struct needed *n = &needed_libraries[i];

	gk_buf_printf(buf, "%s: computes for %.*s\n  runs     ", n->file,
		      (int)strlen(n->users) - 1, n->users);
	if (presence == INSTALLED)
		gk_buf_puts(buf, "yes\n");
	else if (presence == INSIDE)
		gk_buf_printf(buf, "yes, by %s, which is inside\n", n->inside);
	else
		gk_buf_printf(buf, "no: it is not installed\n  do       %s\n",
			      missing[i].what_to_do);
}

static json_t *needed_json(unsigned i, enum presence presence)
{
	json_t *reasons = json_array();

	if (presence == MISSING)
		json_array_append_new(
		    reasons, json_pack("{s:s, s:s, s:s}", "code",
				       missing[i].code, "says", missing[i].says,
				       "do", missing[i].what_to_do));
	return json_pack("{s:s, s:s, s:b, s:b, s:o}", "path",
			 needed_libraries[i].file, "kind", "needed library",
			 "runs", presence != MISSING, "inside",
			 presence == INSIDE, "reasons", reasons);
}

unsigned doctor_needed(json_t *list, struct gk_buf *text)
{
	unsigned count = 0;

	for (unsigned i = 0; i < NEEDED_COUNT; i++) {
		enum presence presence = look_for(i);

		count += presence == MISSING;
		if (list)
			json_array_append_new(list, needed_json(i, presence));
		else
			needed_text(i, presence, text);
	}
	return count;
}

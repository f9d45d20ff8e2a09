/* SPDX-License-Identifier: Apache-2.0 */
/* parts.c - owns the table of what verbs require, and finds our own files. */
#include "base/array.h"
#include "cli/doctor/doctor.h"
#include "cli/where.h"

#include <unistd.h>

const struct gk_doctor_part gk_doctor_parts[] = {
#define CHECK_PART(verb, part, check) {verb, part, CHECK_##check, -1, NULL},
#define LIBRARY_PART(verb, part, library)                                      \
	{verb, part, -1, LIBRARY_##library, NULL},
#define FILE_PART(verb, part, file) {verb, part, -1, -1, file},
#include "cli/doctor/parts.def"
#undef FILE_PART
#undef LIBRARY_PART
#undef CHECK_PART
};

const size_t gk_doctor_part_count = COUNT(gk_doctor_parts);

bool gk_doctor_has_file(const char *file)
{
	char path[PATH_MAX];

	return !gk_where_library(file, path, sizeof path) &&
	       !access(path, R_OK);
}

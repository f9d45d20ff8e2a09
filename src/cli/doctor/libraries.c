/* SPDX-License-Identifier: Apache-2.0 */
/* libraries.c - finds the optional libraries and programs that verbs use. */
#include "base/array.h"
#include "cli/command.h"
#include "cli/doctor/doctor.h"
#include "cli/where.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct gk_doctor_library gk_doctor_libraries[LIBRARY_COUNT] = {
#define NEEDED(id, file, inside, package, users)                               \
	[LIBRARY_##id] = {file, inside, users, package},
#include "cli/doctor/optional.def"
#include "fronts/common/needed.def"
#undef NEEDED
};

static const char *const packages[LIBRARY_COUNT][FAMILY_COUNT] = {
#define PACKAGE(id, fedora, suse, arch, alpine)                                \
	[LIBRARY_##id] = {NULL, fedora, suse, arch, alpine},
#include "cli/doctor/packages.def"
#undef PACKAGE
};

/* Alternative names of libraries, as used by Debian. */
static const char *const other_names[LIBRARY_COUNT] = {
    [LIBRARY_CURL] = "libcurl-gnutls.so.4",
};

static bool opens(const char *name)
{
	void *library = name ? dlopen(name, RTLD_LAZY | RTLD_LOCAL) : NULL;

	if (library)
		dlclose(library);
	return library != NULL;
}

/*
 * Whether our library `inside` can be loaded, from the directory of our
 * libraries or of the drop-in libraries.
 */
static bool opens_inside(const char *inside)
{
	static const char *const folders[] = {"", "fake/"};
	char file[NAME_MAX], path[PATH_MAX];

	for (size_t i = 0; inside && i < COUNT(folders); i++) {
		snprintf(file, sizeof file, "%s%s", folders[i], inside);
		if (!gk_where_library(file, path, sizeof path) && opens(path))
			return true;
	}
	return false;
}

static enum gk_doctor_presence look_for(size_t i)
{
	const char *file = gk_doctor_libraries[i].file;
	char path[PATH_MAX];

	if (!strstr(file, ".so"))
		return gk_command_find(file, path, sizeof path)
			   ? LIBRARY_INSTALLED
			   : LIBRARY_MISSING;
	if (opens(file) || opens(other_names[i]))
		return LIBRARY_INSTALLED;
	return opens_inside(gk_doctor_libraries[i].inside) ? LIBRARY_INSIDE
							   : LIBRARY_MISSING;
}

void gk_doctor_find_libraries(enum gk_doctor_presence found[LIBRARY_COUNT])
{
	/*
	 * Without this, OpenBLAS would start a thread for each CPU when it is
	 * loaded.
	 */
	setenv("OPENBLAS_NUM_THREADS", "1", 0);
	for (size_t i = 0; i < LIBRARY_COUNT; i++)
		found[i] = look_for(i);
}

const char *gk_doctor_package(const struct gk_doctor *d, size_t library)
{
	enum gk_doctor_family family = d->system->family;

	if (family == FAMILY_UNKNOWN)
		return NULL;
	return family == FAMILY_DEBIAN ? gk_doctor_libraries[library].package
				       : packages[library][family];
}

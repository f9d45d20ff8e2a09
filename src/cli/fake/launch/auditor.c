/* SPDX-License-Identifier: Apache-2.0 */
/*
 * auditor.c - adds our auditor, a library that the dynamic linker calls, to
 * LD_AUDIT in the environment of commands. Leaves it out for programs that
 * cannot start with an auditor. Also passes valgrind our list of suppressions.
 */
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/command.h"
#include "cli/fake/doctor/doctor.h"
#include "cli/fake/fake.h"
#include "cli/where.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif
#ifndef SANITIZED
/* The runtime of a sanitizer does not work inside an auditor. */
#define SANITIZED 0
#endif

/*
 * Libraries that cannot be loaded together with an auditor: the dynamic linker
 * then reserves space for thread-local data before it has read all libraries,
 * and these need more than it reserves.
 */
static const char *const too_large[] = {"libtsan.so.", "liblsan.so."};

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* valgrind preloads its own libraries into every program it runs. */
static bool is_under_valgrind(void)
{
	const char *preload = getenv("LD_PRELOAD");

	return preload && strstr(preload, "/vgpreload_");
}

static bool needs_too_large(const struct elf *elf)
{
	const char *name;

	for (unsigned i = 0; (name = elf_needed(elf, i)); i++)
		for (size_t k = 0; k < sizeof too_large / sizeof *too_large;
		     k++)
			if (!strncmp(name, too_large[k], strlen(too_large[k])))
				return true;
	return false;
}

static bool has_sanitizer(const char *command)
{
	char path[PATH_MAX];
	struct bytes all;
	struct elf elf;
	bool found;

	if (!gk_command_find(command, path, sizeof path))
		return false;
	all = doctor_map(path);
	found = all.data && elf_read(all, &elf) && needs_too_large(&elf);
	if (all.data)
		doctor_unmap(all);
	return found;
}

/*
 * Returns what keeps the command from starting with an auditor; NULL if nothing
 * does.
 */
static const char *who_cannot(const char *command)
{
	if (!strncmp(file_name(command), "valgrind", strlen("valgrind")) ||
	    is_under_valgrind())
		return "valgrind";
	return has_sanitizer(command) ? "its sanitizer" : NULL;
}

int fake_auditor(const char *path, const char *command, bool quiet)
{
	const char *who = who_cannot(command);

	if (SANITIZED)
		return 0;
	if (who) {
		unsetenv("LD_AUDIT");
		if (!quiet)
			fake_tell("%s: %s cannot run with LD_AUDIT, which "
				  "is not set: libraries opened by an "
				  "absolute path are not replaced",
				  command, who);
		return 0;
	}
	return fake_prepend("LD_AUDIT", path);
}

/* A path with a blank is left out: valgrind would read it as two options. */
int fake_valgrind_options(void)
{
	const char *old = getenv("VALGRIND_OPTS");
	struct gk_buf value = {0};
	char path[PATH_MAX];
	int r = -1;

	if (gk_where_data("valgrind/gpukit.supp", path, sizeof path) ||
	    access(path, R_OK) || strpbrk(path, " \t\n"))
		return 0;
	if (old && strstr(old, path))
		return 0;
	gk_buf_printf(&value, "%s%s--suppressions=%s", old ? old : "",
		      old && *old ? " " : "", path);
	if (!value.failed)
		r = setenv("VALGRIND_OPTS", value.data, 1);
	gk_buf_free(&value);
	return r;
}

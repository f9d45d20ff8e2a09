/* SPDX-License-Identifier: Apache-2.0 */
/*
 * audit.c - a dynamic-linker auditor (rtld-audit(7)) that redirects NVIDIA's
 * libraries to the files in the auditor's own directory, whether a program
 * requests them by name, by absolute path or by DT_RPATH. It is loaded into a
 * separate namespace of every process on the made-up machine, uses only libc,
 * and has no state except paths.
 */

#include <link.h>
#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

/* For example "libcudart.so" and ".13"; the SONAME consists of both. */
static const struct library {
	const char *bare, *version;
} libraries[] = {
#define LIBRARY(name, version, cuda) {"lib" name ".so", "." #version},
#include "abi/libraries/libraries.def"
#undef LIBRARY
};

#define VARIABLE  "LD_AUDIT="
#define OWN_NAME  "libgpukit-audit.so"
#define LIBRARIES (sizeof libraries / sizeof *libraries)

/*
 * Paths of our files; "" if a file does not exist. The file with the bare name
 * is the one that matches the machine's driver. Written once, before other
 * threads exist.
 */
static struct {
	char bare[PATH_MAX], versioned[PATH_MAX];
} found[LIBRARIES];

static const char *file_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* Stores the path of a file in the auditor's directory, if it exists. */
static void look_beside(const char *dir, int dir_len, const char *bare,
			const char *version, char *ret_path)
{
	char path[PATH_MAX];
	int n = snprintf(path, sizeof path, "%.*s/%s%s", dir_len, dir, bare,
			 version);

	if (n > 0 && (size_t)n < sizeof path && !access(path, R_OK))
		memcpy(ret_path, path, (size_t)n + 1);
}

/*
 * valgrind cannot run a program with an auditor, but its launcher is started
 * with one. In the launcher, this function removes LD_AUDIT from the
 * environment on the stack, which the launcher passes on to valgrind.
 */
static void leave_valgrind(const char *own)
{
	const char *program = (const char *)getauxval(AT_EXECFN);
	size_t len = strlen(own);
	char **at = environ;

	if (!program ||
	    strncmp(file_name(program), "valgrind", strlen("valgrind")) != 0)
		return;
	while (*at && (strncmp(*at, VARIABLE, strlen(VARIABLE)) != 0 ||
		       strncmp(*at + strlen(VARIABLE), own, len) != 0))
		at++;
	for (; *at; at++)
		at[0] = at[1];
}

/*
 * Finds the auditor's own path in LD_AUDIT, the variable from which the dynamic
 * linker took it. dladdr() would crash here before glibc 2.32, which prepares
 * an auditor's libc for it only after this function. Returns false if there is
 * no such path.
 */
static bool find_self(char ret_path[PATH_MAX])
{
	const char *at = getenv("LD_AUDIT");

	for (size_t len; at && *at; at += len + (at[len] == ':')) {
		len = strcspn(at, ":");
		if (len >= PATH_MAX)
			continue;
		memcpy(ret_path, at, len);
		ret_path[len] = '\0';
		if (strchr(ret_path, '/') &&
		    !strcmp(file_name(ret_path), OWN_NAME))
			return true;
	}
	return false;
}

EXPORT unsigned int la_version(unsigned int version)
{
	char self[PATH_MAX];
	int dir_len;

	if (!find_self(self))
		return LAV_CURRENT < version ? LAV_CURRENT : version;
	leave_valgrind(self);
	dir_len = (int)(file_name(self) - 1 - self);
	for (size_t i = 0; i < LIBRARIES; i++) {
		look_beside(self, dir_len, libraries[i].bare, "",
			    found[i].bare);
		look_beside(self, dir_len, libraries[i].bare,
			    libraries[i].version, found[i].versioned);
	}
	return LAV_CURRENT < version ? LAV_CURRENT : version;
}

/*
 * Whether the text is the version or begins with it, as ".13.0.48" begins with
 * ".13".
 */
static bool is_of_version(const char *text, const char *version)
{
	size_t len = strlen(version);

	return !strncmp(text, version, len) && (!text[len] || text[len] == '.');
}

/*
 * An auditor has its own copy of libc, which does not know the threads of the
 * program's libc. On those threads, functions that use the locale (isdigit,
 * strtoul) crash.
 */
static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static unsigned long number_at(const char *text)
{
	unsigned long n = 0;

	while (is_digit(*text) && n < 1000)
		n = 10 * n + (unsigned long)(*text++ - '0');
	return n;
}

/*
 * NVIDIA also numbers files by driver (libcuda.so.580.95.05) and by year
 * (libcupti.so.2025.3.0). Such a number is not a version of the ABI.
 */
static bool names_no_version(const char *text)
{
	return !*text || (*text == '.' && number_at(text + 1) >= 100);
}

/* Our file that replaces a file with this name, or NULL. */
static char *find_ours(const char *file)
{
	for (size_t i = 0; i < LIBRARIES; i++) {
		size_t len = strlen(libraries[i].bare);
		const char *rest = file + len;
		char *ours = NULL;

		if (strncmp(file, libraries[i].bare, len) != 0 ||
		    rest[strspn(rest, ".0123456789")])
			continue;
		if (names_no_version(rest))
			ours = found[i].bare;
		else if (is_of_version(rest, libraries[i].version))
			ours = found[i].versioned;
		if (ours && *ours)
			return ours;
	}
	return NULL;
}

/*
 * Like find_ours(), for the file to which a path leads. Its name may end with a
 * version.
 */
static char *find_target(const char *path)
{
	char target[PATH_MAX];

	return strchr(path, '/') && realpath(path, target)
		   ? find_ours(file_name(target))
		   : NULL;
}

EXPORT char *la_objsearch(const char *name, uintptr_t *cookie,
			  unsigned int flag)
{
	const char *file = file_name(name);
	char *ours = find_ours(file), *target = NULL;

	(void)cookie, (void)flag;
	if (ours && !is_digit(file[strlen(file) - 1]))
		target = find_target(name);
	if (target)
		return target;
	/* The return type lacks const, but the dynamic linker does not write to
	 * the text. */
	return ours ? ours : (char *)(uintptr_t)name;
}

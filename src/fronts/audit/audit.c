/*
 * audit.c - a dynamic-linker auditor (rtld-audit(7)): whoever asks for one of
 * NVIDIA's libraries, by name, by absolute path or by DT_RPATH, gets the one
 * that lies beside the auditor. Runs in a namespace of its own in every
 * process of the made-up machine: libc only, no state but a path.
 */

#include <link.h>
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT unsigned int la_version(unsigned int version);
EXPORT char *la_objsearch(const char *name, uintptr_t *cookie,
			  unsigned int flag);

/* A library name that is asked for, and the file that answers. */
static const struct {
	const char *asked, *file;
} names[] = {
    {"libnvidia-ml.so.1", "libnvidia-ml.so.1"},
    {"libnvidia-ml.so", "libnvidia-ml.so.1"},
    {"libcuda.so.1", "libcuda.so.1"},
    {"libcuda.so", "libcuda.so.1"},
    {"libcudart.so.12", "libcudart.so.12"},
    {"libcudart.so.13", "libcudart.so.13"},
    {"libcublas.so.12", "libcublas.so.12"},
    {"libcublas.so.13", "libcublas.so.13"},
    {"libcublasLt.so.12", "libcublasLt.so.12"},
    {"libcublasLt.so.13", "libcublasLt.so.13"},
    {"libcufft.so.11", "libcufft.so.11"},
    {"libcufft.so.12", "libcufft.so.12"},
    {"libcupti.so.12", "libcupti.so.12"},
    {"libcupti.so.13", "libcupti.so.13"},
    {"libnvToolsExt.so.1", "libnvToolsExt.so.1"},
    {"libcusolver.so.11", "libcusolver.so.11"},
    {"libcusolver.so.12", "libcusolver.so.12"},
    {"libcusparse.so.12", "libcusparse.so.12"},
    {"libcurand.so.10", "libcurand.so.10"},
    {"libnccl.so.2", "libnccl.so.2"},
    {"libnccl.so", "libnccl.so.2"},
};

#define NAMES (sizeof names / sizeof *names)

/* Written once, before any other thread can be there; "" = no such file. */
static char found[NAMES][PATH_MAX];

/* Notes the file beside the auditor if it is there. */
static void look_beside(const char *dir, int dir_len, size_t i)
{
	char path[PATH_MAX];
	int n =
	    snprintf(path, sizeof path, "%.*s/%s", dir_len, dir, names[i].file);

	if (n > 0 && (size_t)n < sizeof path && !access(path, R_OK))
		memcpy(found[i], path, (size_t)n + 1);
}

unsigned int la_version(unsigned int version)
{
	Dl_info self;
	const char *slash = NULL;

	if (dladdr(names, &self) && self.dli_fname)
		slash = strrchr(self.dli_fname, '/');
	for (size_t i = 0; slash && i < NAMES; i++)
		look_beside(self.dli_fname, (int)(slash - self.dli_fname), i);
	return LAV_CURRENT < version ? LAV_CURRENT : version;
}

char *la_objsearch(const char *name, uintptr_t *cookie, unsigned int flag)
{
	const char *slash = strrchr(name, '/');
	const char *base = slash ? slash + 1 : name;

	(void)cookie, (void)flag;
	for (size_t i = 0; i < NAMES; i++)
		if (found[i][0] && !strcmp(base, names[i].asked))
			return found[i];
	/* The linker's type lacks const; it does not write to it. */
	return (char *)(uintptr_t)name;
}

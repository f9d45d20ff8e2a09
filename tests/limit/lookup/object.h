/* SPDX-License-Identifier: Apache-2.0 */
/*
 * object.h - the source of each object of the program of duplicate names.
 *
 * Each is compiled with ME, its number, and the names that it defines. A name
 * is a function that returns the object it belongs to; cuCtxGetId is a number,
 * since a program may use a name for data.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#define DEFINE(name)                                                           \
	int name(void);                                                        \
	int name(void)                                                         \
	{                                                                      \
		return ME;                                                     \
	}

#ifdef HAS_SAME
DEFINE(same)
#endif
#ifdef HAS_CURL
DEFINE(curl_easy_init)
#endif
#ifdef HAS_PROC_ADDRESS
DEFINE(cuGetProcAddress)
#endif
#ifdef HAS_ALLOC
DEFINE(cuMemAlloc_v2)
#endif
#ifdef HAS_NVML
DEFINE(nvmlDeviceGetMemoryInfo)
#endif
#ifdef HAS_DATA
int cuCtxGetId = 100 + ME;
#endif

/* The functions that it calls itself, whichever object defines them. */
#ifdef CALLS_PROC_ADDRESS
int cuGetProcAddress(void);
#endif
#ifdef CALLS_PROC_ADDRESS_V2
DEFINE(cuGetProcAddress_v2)
#endif

static inline void call_directly(void)
{
#ifdef CALLS_PROC_ADDRESS
	printf("%d calls cuGetProcAddress of %d\n", ME, cuGetProcAddress());
#endif
#ifdef CALLS_PROC_ADDRESS_V2
	printf("%d calls cuGetProcAddress_v2 of %d\n", ME,
	       cuGetProcAddress_v2());
#endif
}

static const char *const names[] = {
    "same",
    "curl_easy_init",
    "cuGetProcAddress",
    "cuGetProcAddress_v2",
    "cuMemAlloc_v2",
    "nvmlDeviceGetMemoryInfo",
    "cuCtxGetId",
    "cu",
    "c",
    "n",
    "nvm",
    "",
    "nothing",
    "cuNothing",
};

/* Where a driver's function was found differs with hooks. */
static inline int is_drivers(const char *file)
{
	return strstr(file, "libcuda.so") || strstr(file, "libnvidia-ml.so") ||
	       strstr(file, "libvgpu.so");
}

static inline void tell(const char *how, const char *name, void *found)
{
	const char *error = dlerror();
	Dl_info info;

	printf("%d %s %s: ", ME, how, name);
	if (!found)
		printf("%s\n", error ? error : "NULL without an error");
	else if (!dladdr(found, &info))
		printf("in no object\n");
	else if (is_drivers(info.dli_fname))
		printf("the driver's\n");
	else if (!strcmp(name, "cuCtxGetId"))
		printf("number %d\n", *(int *)found);
	else
		printf("function %d of %s\n", ((int (*)(void))found)(),
		       strrchr(info.dli_fname, '/') + 1);
	if (found && error)
		printf("an error all the same: %s\n", error);
}

static inline void look_by(const char *how, void *handle)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		void *found = dlsym(handle, names[i]);

		tell(how, names[i], found);
		found = dlvsym(handle, names[i], "VERSION_1");
		tell(how, names[i], found);
	}
}

/* In the last position, so that the compiler makes it a jump. */
static __attribute__((noinline)) void *jump_to_dlsym(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

static inline void look_around(void)
{
	void *twice[2];

	call_directly();
	look_by("default", RTLD_DEFAULT);
	look_by("next", RTLD_NEXT);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		tell("jump", names[i], jump_to_dlsym(names[i]));
	for (int i = 0; i < 2; i++)
		twice[i] = dlsym(RTLD_NEXT, "malloc");
	printf("%d malloc %d %d\n", ME, twice[0] != NULL, twice[1] == twice[0]);
	dlsym(RTLD_DEFAULT, "nothing");
	dlsym(RTLD_DEFAULT, "same");
	printf("%d %s\n", ME, dlerror() ? "the error stays" : "no error left");
}

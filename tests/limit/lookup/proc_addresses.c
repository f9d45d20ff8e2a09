/* SPDX-License-Identifier: Apache-2.0 */
/*
 * proc_addresses.c - prints the answers of cuGetProcAddress and
 * cuGetProcAddress_v2 for every name of the driver API, CUDA version and flag:
 * a line for each change as the version grows. A function is shown by the name
 * under which dlsym finds it. Then their answers to wrong arguments.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct row {
	const char *symbol, *base;
	int since;
} rows[] = {
#define CUDA_SYMBOL(symbol, base, since, ...) {#symbol, #base, since},
#include "abi/cuda/cuda_symbols.def"
};

enum { ROWS = sizeof rows / sizeof *rows, UNTOUCHED = 77 };

static const char *const strange[] = {"cuNothing", "cuMemAlloc_v2", "", "c",
				      "cudaMalloc"};
static const int odd_versions[] = {-1, 0, 1, 99999999};

typedef int first_f(const char *, void **, int, uint64_t);
typedef int second_f(const char *, void **, int, uint64_t, int *);

static first_f *first;
static second_f *second;
static void *found_by_dlsym[ROWS];
static int versions[ROWS + 4], version_count;

static void *library;

/* Replaces functions that came with CUDA 12. */
static int answer_nothing(const char *symbol, void **pfn, int version,
			  uint64_t flags, int *status)
{
	(void)symbol, (void)pfn, (void)version, (void)flags, (void)status;
	return -1;
}

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void add_version(int version)
{
	for (int i = 0; i < version_count; i++)
		if (versions[i] == version)
			return;
	versions[version_count++] = version;
}

static void list_versions(void)
{
	for (int i = 0; i < ROWS; i++)
		add_version(rows[i].since);
	for (size_t i = 0; i < sizeof odd_versions / sizeof(int); i++)
		add_version(odd_versions[i]);
	qsort(versions, (size_t)version_count, sizeof(int), compare);
}

static const char *name_of(const void *address)
{
	if (address == &versions)
		return "(untouched)";
	for (int i = 0; address && i < ROWS; i++)
		if (found_by_dlsym[i] == address)
			return rows[i].symbol;
	return address ? "(unknown)" : "(none)";
}

/* Formats one answer. */
static void ask(char *text, size_t size, const char *symbol, int version,
		uint64_t flags)
{
	void *a = &versions, *b = &versions, *c = &versions;
	int status = UNTOUCHED;
	int r1 = first(symbol, &a, version, flags);
	int r2 = second(symbol, &b, version, flags, &status);
	int r3 = second(symbol, &c, version, flags, NULL);

	snprintf(text, size, "%d %s, %d %d %s, %d %s", r1, name_of(a), r2,
		 status, name_of(b), r3, name_of(c));
}

static void ask_all_versions(const char *symbol)
{
	for (uint64_t flags = 0; flags < 5; flags++) {
		char before[256] = "", now[256];

		for (int i = 0; i < version_count; i++) {
			ask(now, sizeof now, symbol, versions[i], flags);
			if (strcmp(now, before) != 0)
				printf("%s %d %d: %s\n", symbol, (int)flags,
				       versions[i], now);
			strcpy(before, now);
		}
	}
}

static void ask_wrongly(void)
{
	void *pfn = &versions;
	int status = UNTOUCHED, r;

	r = first(NULL, &pfn, 12000, 0);
	printf("no name: %d %s\n", r, name_of(pfn));
	printf("no place: %d\n", first("cuInit", NULL, 12000, 0));
	r = second(NULL, &pfn, 12000, 0, &status);
	printf("no name: %d %s %d\n", r, name_of(pfn), status);
	r = second("cuInit", NULL, 12000, 0, &status);
	printf("no place: %d %d\n", r, status);
	printf("nothing: %d %d\n", first(NULL, NULL, 0, 0),
	       second(NULL, NULL, 0, 0, NULL));
}

static void ask_everything(void)
{
	for (int i = 0; i < ROWS; i++)
		if (!i || strcmp(rows[i].base, rows[i - 1].base) != 0)
			ask_all_versions(rows[i].base);
	for (size_t i = 0; i < sizeof strange / sizeof *strange; i++)
		ask_all_versions(strange[i]);
	ask_wrongly();
}

static void find_all_by_dlsym(void)
{
	for (int i = 0; i < ROWS; i++)
		found_by_dlsym[i] = dlsym(library, rows[i].symbol);
}

/* Counts the functions whose addresses it compares that are in the program. */
static void count_hooks(void)
{
	int hooks = 0;
	Dl_info info;

	for (int i = 0; i < ROWS; i++)
		hooks += found_by_dlsym[i] &&
			 dladdr(found_by_dlsym[i], &info) &&
			 strstr(info.dli_fname, "libvgpu.so");
	printf("%d hooks\n", hooks);
}

int main(void)
{
	library = dlopen("libcuda.so.1", RTLD_NOW);
	if (!library)
		return 1;
	list_versions();
	find_all_by_dlsym();
	*(void **)&first = dlsym(library, "cuGetProcAddress");
	*(void **)&second = dlsym(library, "cuGetProcAddress_v2");
	if (!second)
		second = answer_nothing;
	ask_everything();
	if ((second != answer_nothing &&
	     first("cuGetProcAddress", (void **)&second, 12000, 0)) ||
	    first("cuGetProcAddress", (void **)&first, 11040, 0))
		return 1;
	ask_everything();
	count_hooks();
	return 0;
}

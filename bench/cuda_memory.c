/*
 * cuda_memory.c - what memory costs through the drop-in libcuda: taking and
 * freeing, copies beside memcpy. Prints a line for each; asserts nothing.
 */
#include "abi/cuda_abi.h"
#include "fake/machine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CU(symbol) ((__typeof__(&symbol))dlsym(library, #symbol))
#define MIB        (1UL << 20)
#define GIB        (1UL << 30)
#define LIVE       100000

static void *library;

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void ok(CUresult r, const char *what)
{
	if (!r)
		return;
	printf("%s: CUDA error %d\n", what, r);
	exit(1);
}

static void pairs(const char *name, size_t size, unsigned count, int touch)
{
	__typeof__(&cuMemAlloc_v2) take = CU(cuMemAlloc_v2);
	__typeof__(&cuMemFree_v2) give = CU(cuMemFree_v2);
	__typeof__(&cuMemsetD8_v2) set = CU(cuMemsetD8_v2);
	CUdeviceptr p;
	double start;

	ok(take(&p, size), name);
	if (touch)
		ok(set(p, 1, size), name);
	ok(CU(cuCtxSynchronize)(), name);
	ok(give(p), name);
	start = now();
	for (unsigned i = 0; i < count; i++) {
		ok(take(&p, size), name);
		ok(give(p), name);
	}
	printf("%-44s %8.2f us\n", name, (now() - start) / count * 1e6);
}

static void many_live(void)
{
	CUdeviceptr *p = malloc(LIVE * sizeof(*p));
	__typeof__(&cuMemAlloc_v2) take = CU(cuMemAlloc_v2);
	double start = now();

	for (unsigned i = 0; i < LIVE; i++)
		ok(take(&p[i], 512 + i % 4096), "many");
	printf("%-44s %8.2f us\n", "cuMemAlloc, up to 100,000 alive",
	       (now() - start) / LIVE * 1e6);
	pairs("cuMemAlloc + cuMemFree, 100,000 alive", 2048, 100000, 0);
	start = now();
	for (unsigned i = 0; i < LIVE; i++)
		ok(CU(cuMemFree_v2)(p[i]), "many");
	printf("%-44s %8.2f us\n", "cuMemFree of them",
	       (now() - start) / LIVE * 1e6);
	free(p);
}

static double rate(double seconds)
{
	return (double)GIB / seconds / 1e9;
}

static double timed(void *to, const void *from)
{
	double start = now();

	memcpy(to, from, GIB);
	return now() - start;
}

static void *fresh_memfd(void)
{
	int fd = memfd_create("bench", MFD_CLOEXEC);
	void *p = MAP_FAILED;

	if (fd >= 0 && !ftruncate(fd, GIB))
		p = mmap(NULL, GIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	return p == MAP_FAILED ? NULL : p;
}

static double to_device(CUdeviceptr p, const void *from)
{
	double start = now();

	ok(CU(cuMemcpyHtoD_v2)(p, from, GIB), "HtoD");
	return now() - start;
}

static double least(double a, double b)
{
	return a < b ? a : b;
}

/* One after the other and the best of some: the machine has moods. */
static void copies(void *own)
{
	double warm[2] = {1e9, 1e9}, cold[2] = {1e9, 1e9};
	void *file;
	CUdeviceptr p;

	for (unsigned i = 0; i < 4; i++) {
		file = fresh_memfd();
		if (!file)
			return;
		cold[0] = least(cold[0], timed(file, own));
		for (unsigned j = 0; j < 3; j++)
			warm[0] = least(warm[0], timed(file, own));
		munmap(file, GIB);
		ok(CU(cuMemAlloc_v2)(&p, GIB), "1 GiB");
		cold[1] = least(cold[1], to_device(p, own));
		for (unsigned j = 0; j < 3; j++)
			warm[1] = least(warm[1], to_device(p, own));
		ok(CU(cuMemFree_v2)(p), "1 GiB");
	}
	printf("%-44s %8.2f GB/s\n", "memcpy of 1 GiB into a fresh memfd",
	       rate(cold[0]));
	printf("%-44s %8.2f GB/s (%.0f %%)\n", "cuMemcpyHtoD of 1 GiB, cold",
	       rate(cold[1]), 100 * cold[0] / cold[1]);
	printf("%-44s %8.2f GB/s\n", "memcpy of 1 GiB, warm", rate(warm[0]));
	printf("%-44s %8.2f GB/s (%.0f %%)\n", "cuMemcpyHtoD of 1 GiB, warm",
	       rate(warm[1]), 100 * warm[0] / warm[1]);
}

static void small_copies(void *own)
{
	__typeof__(&cuMemcpyHtoD_v2) copy = CU(cuMemcpyHtoD_v2);
	CUdeviceptr p;
	double start;

	ok(CU(cuMemAlloc_v2)(&p, 4096), "4 KiB");
	start = now();
	for (unsigned i = 0; i < 100000; i++)
		ok(copy(p, own, 4096), "4 KiB");
	printf("%-44s %8.2f us\n", "cuMemcpyHtoD of 4 KiB",
	       (now() - start) / 100000 * 1e6);
	ok(CU(cuMemFree_v2)(p), "4 KiB");
}

/* A machine of its own: one A100. */
static void make_machine(char *dir, char *path, size_t cap)
{
	struct gkf_machine_spec spec = {
	    .device_count = 1, .profiles = &gkf_profile_default, .seed = 1};

	if (!mkdtemp(dir))
		exit(1);
	snprintf(path, cap, "%s/machine", dir);
	if (gkf_machine_create(path, &spec) ||
	    setenv("GPUKIT_MACHINE", path, 1))
		exit(1);
}

static void measure(void *own)
{
	CUcontext ctx;
	double start = now();

	ok(CU(cuInit)(0), "cuInit");
	printf("%-44s %8.2f ms\n", "cuInit", (now() - start) * 1e3);
	start = now();
	ok(CU(cuCtxCreate_v2)(&ctx, 0, 0), "cuCtxCreate");
	printf("%-44s %8.2f ms\n", "cuCtxCreate", (now() - start) * 1e3);
	pairs("cuMemAlloc + cuMemFree, 1 MiB touched", MIB, 100000, 1);
	pairs("cuMemAlloc + cuMemFree, 16 MiB touched", 16 * MIB, 20000, 1);
	pairs("cuMemAlloc + cuMemFree, 1 GiB", GIB, 2000, 0);
	many_live();
	small_copies(own);
	copies(own);
}

int main(void)
{
	char dir[] = "/dev/shm/gpukit-bench-XXXXXX", path[64];
	void *own = malloc(GIB);

	make_machine(dir, path, sizeof(path));
	library = dlopen(FAKE_DIR "/libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (library && own) {
		memset(own, 1, GIB);
		measure(own);
	}
	unlink(path);
	rmdir(dir);
	free(own);
	return !library || !own;
}

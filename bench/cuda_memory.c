/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cuda_memory.c - what memory costs through the drop-in libcuda: taking and
 * freeing, copies beside memcpy. Prints a line for each; asserts nothing.
 */
#include "abi/cuda/cuda_abi.h"
#include "base/units.h"
#include "machine/file/profile.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define CU(symbol) ((__typeof__(&symbol))dlsym(library, #symbol))
#define LIVE       100000

static void *library;

static double read_clock(clockid_t id)
{
	struct timespec t;

	clock_gettime(id, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static double now(void)
{
	return read_clock(CLOCK_MONOTONIC);
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

/* The best of some: of the clock on the wall, and of the processor's. */
struct best {
	double wall, cpu;
};

static void keep(struct best *b, double wall, double cpu)
{
	wall = now() - wall;
	cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID) - cpu;
	if (!b->wall || wall < b->wall)
		b->wall = wall;
	if (!b->cpu || cpu < b->cpu)
		b->cpu = cpu;
}

static void timed(struct best *b, void *to, const void *from)
{
	double wall = now(), cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);

	memcpy(to, from, GIB);
	keep(b, wall, cpu);
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

static void to_device(struct best *b, CUdeviceptr p, const void *from)
{
	double wall = now(), cpu = read_clock(CLOCK_PROCESS_CPUTIME_ID);

	ok(CU(cuMemcpyHtoD_v2)(p, from, GIB), "HtoD");
	keep(b, wall, cpu);
}

static void tell(const char *what, const struct best *a, const struct best *b)
{
	printf("memcpy of 1 GiB, %-27s %8.2f GB/s\n", what, rate(a->wall));
	printf("cuMemcpyHtoD of 1 GiB, %-21s %8.2f GB/s, %.0f %% of it; of "
	       "processor time %.0f %%\n",
	       what, rate(b->wall), 100 * a->wall / b->wall,
	       100 * a->cpu / b->cpu);
}

/*
 * By turns, and each is the first as often as the other: the pages that one
 * finds are not those that are left for the next.
 */
static void copies(void *own)
{
	struct best warm[2] = {{0, 0}}, cold[2] = {{0, 0}};
	void *file;
	CUdeviceptr p;

	for (unsigned i = 0; i < 6; i++) {
		file = fresh_memfd();
		if (!file)
			return;
		ok(CU(cuMemAlloc_v2)(&p, GIB), "1 GiB");
		if (i % 2)
			timed(&cold[0], file, own);
		to_device(&cold[1], p, own);
		if (!(i % 2))
			timed(&cold[0], file, own);
		for (unsigned j = 0; j < 4; j++) {
			timed(&warm[0], file, own);
			to_device(&warm[1], p, own);
		}
		munmap(file, GIB);
		ok(CU(cuMemFree_v2)(p), "1 GiB");
	}
	tell("cold", &cold[0], &cold[1]);
	tell("warm", &warm[0], &warm[1]);
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

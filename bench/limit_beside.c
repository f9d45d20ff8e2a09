/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit_beside.c - how long allocations take while other processes load code
 * without a pause: bench-limit-beside SECONDS LOADERS. Prints the 99th
 * percentile of cuMemAlloc, in nanoseconds.
 */
#include "limit_driver.h"

#include "base/clock.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

enum { KERNELS = 6000, SAMPLES = 100000, LOADERS = 16, PAUSE_US = 500 };

#define BYTES (64u << 20)

static uint64_t took[SAMPLES];
static char text[KERNELS * 256];

static void write_text(void)
{
	char *at = text;

	at += sprintf(at, ".version 7.0\n.target sm_50\n.address_size 64\n");
	for (int i = 0; i < KERNELS; i++)
		at += sprintf(at,
			      ".visible .entry k%d(.param .u64 a)\n{\n"
			      ".reg .b64 %%rd<3>;\nld.param.u64 %%rd1, [a];\n"
			      "add.s64 %%rd2, %%rd1, %d;\n"
			      "st.global.u64 [%%rd1], %%rd2;\nret;\n}\n",
			      i, i);
}

static void open_device(void)
{
	CUcontext ctx;

	CALL(cuInit, 0);
	CALL(cuDevicePrimaryCtxRetain, &ctx, 0);
	CALL(cuCtxSetCurrent, ctx);
}

/* Tells when the first one is loaded. */
static void load_for_ever(int ready)
{
	CUmodule module;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	open_device();
	for (;;) {
		CALL(cuModuleLoadData, &module, text);
		CALL(cuModuleUnload, module);
		if (ready >= 0 && write(ready, "", 1) != 1)
			exit(1);
		ready = -1;
	}
}

static unsigned sample(uint64_t end)
{
	__typeof__(cuMemAlloc_v2) *alloc = find("cuMemAlloc_v2");
	CUdeviceptr at;
	unsigned count = 0;

	while (count < SAMPLES && gk_mono_ns() < end) {
		uint64_t began = gk_mono_ns();
		CUresult r = alloc(&at, BYTES);

		took[count++] = gk_mono_ns() - began;
		if (r) {
			fprintf(stderr, "limit: refused: %d\n", (int)r);
			exit(1);
		}
		CALL(cuMemFree_v2, at);
		usleep(PAUSE_US);
	}
	return count;
}

static int compare(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

int main(int argc, char **argv)
{
	int loaders = argc > 2 ? atoi(argv[2]) : 0, ready[2];
	pid_t pid[LOADERS];
	unsigned count;
	char byte;

	if (argc != 3 || loaders < 0 || loaders > LOADERS || pipe(ready))
		return 2;
	write_text();
	for (int i = 0; i < loaders; i++) {
		pid[i] = fork();
		if (pid[i] < 0)
			return 1;
		if (!pid[i])
			load_for_ever(ready[1]);
	}
	open_device();
	for (int i = 0; i < loaders; i++)
		if (read(ready[0], &byte, 1) != 1)
			return 1;
	count = sample(gk_mono_ns() + (uint64_t)(atof(argv[1]) * GK_NS_PER_S));
	for (int i = 0; i < loaders; i++) {
		kill(pid[i], SIGKILL);
		waitpid(pid[i], NULL, 0);
	}
	if (!count)
		return 1;
	qsort(took, count, sizeof *took, compare);
	printf("%lu\n", (unsigned long)took[(count - 1) * 99ul / 100]);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit_load.c - keeps a GPU busy with kernels of a known length, as fast as it
 * may: a load for measuring shares of its time.
 *
 *   bench-limit-load SECONDS KIND MICROSECONDS [STREAMS]
 *
 * KIND: kernel, cooperative, graph (of five kernels), swing (64 kernels of that
 * length, then 64 of 10 us), or rest: a kernel every millisecond, which waits
 * for it; prints how long launches took. Prints the seconds between its first
 * launch and the end of its last kernel.
 */
#include "limit_driver.h"

#include "base/clock.h"

#include <string.h>
#include <unistd.h>

enum { STREAMS = 16, NODES = 5, LAUNCHES = 100000, SWING = 64, SHORT_US = 10 };

static const char text[] =
    ".version 7.0\n.target sm_50\n.address_size 64\n"
    ".extern .func gpukit_spin_us(.param .b32 us);\n"
    ".visible .entry spin(.param .u32 us)\n{\n.reg .b32 %r<2>;\n"
    "ld.param.u32 %r1, [us];\n{\n.param .b32 p;\nst.param.b32 [p], %r1;\n"
    "call gpukit_spin_us, (p);\n}\nret;\n}\n";

struct load {
	unsigned us;
	CUfunction spin;
	CUstream stream[STREAMS];
	unsigned streams;
	CUgraphExec graph;
};

static __typeof__(cuLaunchKernel) *launch_kernel;
static __typeof__(cuLaunchCooperativeKernel) *launch_cooperative;
static __typeof__(cuGraphLaunch) *launch_graph;

static CUresult launch_one(struct load *l, char kind, CUstream stream)
{
	void *params[] = {&l->us};

	if (kind == 'g')
		return launch_graph(l->graph, stream);
	if (kind == 'c')
		return launch_cooperative(l->spin, 1, 1, 1, 1, 1, 1, 0, stream,
					  params);
	return launch_kernel(l->spin, 1, 1, 1, 1, 1, 1, 0, stream, params,
			     NULL);
}

static void make_load(struct load *l)
{
	CUcontext ctx;
	CUmodule module;

	CALL(cuInit, 0);
	CALL(cuDevicePrimaryCtxRetain, &ctx, 0);
	CALL(cuCtxSetCurrent, ctx);
	CALL(cuModuleLoadData, &module, text);
	CALL(cuModuleGetFunction, &l->spin, module, "spin");
	for (unsigned i = 0; i < l->streams; i++)
		CALL(cuStreamCreate, &l->stream[i], CU_STREAM_NON_BLOCKING);
	launch_kernel = find("cuLaunchKernel");
	launch_cooperative = find("cuLaunchCooperativeKernel");
	launch_graph = find("cuGraphLaunch");
}

static void make_graph(struct load *l)
{
	CUstream stream = l->stream[0];
	CUgraph graph;

	CALL(cuStreamBeginCapture_v2, stream,
	     CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
	for (int i = 0; i < NODES; i++)
		launch_one(l, 'k', stream);
	CALL(cuStreamEndCapture, stream, &graph);
	CALL(cuGraphInstantiateWithFlags, &l->graph, graph, 0);
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static void rest(struct load *l, uint64_t until)
{
	uint64_t *ns = calloc(LAUNCHES, sizeof *ns), begin, now;
	unsigned n = 0;

	if (!ns)
		return;
	while ((begin = gk_mono_ns()) < until && n < LAUNCHES) {
		launch_one(l, 'k', l->stream[0]);
		now = gk_mono_ns();
		CALL(cuStreamSynchronize, l->stream[0]);
		ns[n++] = now - begin;
		gk_sleep_until(begin + GK_NS_PER_MS);
	}
	qsort(ns, n, sizeof *ns, compare);
	printf("launches %u: p50 %.1f us, p99 %.1f us, most %.1f us\n", n,
	       (double)ns[n / 2] / 1e3, (double)ns[n * 99 / 100] / 1e3,
	       (double)ns[n - 1] / 1e3);
	free(ns);
}

/* At most so many launches ahead, as programs that wait for results do. */
static void keep_busy(struct load *l, char kind, uint64_t until)
{
	unsigned us = l->us;

	for (uint64_t n = 0; gk_mono_ns() < until; n++) {
		if (kind == 's')
			l->us = n / SWING % 2 ? SHORT_US : us;
		if (launch_one(l, kind, l->stream[n % l->streams]))
			exit(1);
		if (n % 256 == 255)
			CALL(cuCtxSynchronize, );
	}
}

int main(int argc, char **argv)
{
	struct load l = {.streams = 1};
	uint64_t begin, until;

	if (argc < 4)
		return 2;
	l.us = (unsigned)atoi(argv[3]);
	if (argc > 4)
		l.streams = (unsigned)atoi(argv[4]);
	if (!l.streams || l.streams > STREAMS)
		return 1;
	make_load(&l);
	if (argv[2][0] == 'g')
		make_graph(&l);
	begin = gk_mono_ns();
	until = begin + (uint64_t)(atof(argv[1]) * 1e9);
	if (argv[2][0] == 'r')
		rest(&l, until);
	else
		keep_busy(&l, argv[2][0], until);
	CALL(cuCtxSynchronize, );
	printf("seconds %.3f\n", (double)(gk_mono_ns() - begin) / 1e9);
	return 0;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limit_ranks.c - a process on each GPU, of which each kernel waits for those
 * of all others, as collectives do: for measuring shares of their time.
 *
 *   bench-limit-ranks SECONDS MICROSECONDS RANKS [AHEAD]
 *
 * A kernel works for so long, tells the others by memory of the first GPU, and
 * looks there until all have told. Ranks launch AHEAD of them (1) before they
 * wait for the result. Each prints the seconds from its first launch to its
 * last result, and how many kernels that were.
 */
#include "limit_driver.h"

#include "base/clock.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_RANKS = 8 };

static const char text[] =
    ".version 7.0\n.target sm_70\n.address_size 64\n"
    ".extern .func gpukit_spin_us(.param .b32 us);\n"
    ".visible .entry meet(.param .u64 words, .param .u32 rank,\n"
    "  .param .u32 ranks, .param .u32 step, .param .u32 us)\n"
    "{\n.reg .pred %p;\n.reg .b32 %r<5>;\n.reg .b64 %rd<3>;\n"
    "ld.param.u32 %r0, [us];\n{\n.param .b32 a;\nst.param.b32 [a], %r0;\n"
    "call gpukit_spin_us, (a);\n}\n"
    "ld.param.u64 %rd0, [words];\nld.param.u32 %r1, [rank];\n"
    "ld.param.u32 %r2, [ranks];\nld.param.u32 %r3, [step];\n"
    "mul.wide.u32 %rd1, %r1, 4;\nadd.u64 %rd1, %rd0, %rd1;\n"
    "st.volatile.global.u32 [%rd1], %r3;\n"
    "other:\nadd.s32 %r2, %r2, -1;\n"
    "mul.wide.u32 %rd1, %r2, 4;\nadd.u64 %rd1, %rd0, %rd1;\n"
    "look:\nld.volatile.global.u32 %r4, [%rd1];\n"
    "setp.ge.u32 %p, %r4, %r3;\n@%p bra met;\n"
    "nanosleep.u32 300000;\nbra look;\n"
    "met:\nsetp.ne.u32 %p, %r2, 0;\n@%p bra other;\nret;\n}\n";

/* What the processes share beside the GPUs. */
struct board {
	_Atomic unsigned ready; /* ranks that may begin */
	_Atomic unsigned last;  /* the step that is the last of all */
	_Atomic bool made;      /* the handle is there */
	CUipcMemHandle handle;
};

struct rank {
	struct board *board;
	unsigned rank, ranks, us, ahead;
	CUdeviceptr words;
	CUfunction meet;
};

static void rest(void)
{
	usleep(1000);
}

/* The words belong to the first rank; the others open them. */
static void share_words(struct rank *r)
{
	if (r->rank == 0) {
		CALL(cuMemAlloc_v2, &r->words, 4 * MOST_RANKS);
		CALL(cuMemsetD32_v2, r->words, 0, MOST_RANKS);
		CALL(cuCtxSynchronize, );
		CALL(cuIpcGetMemHandle, &r->board->handle, r->words);
		r->board->made = true;
		return;
	}
	while (!r->board->made)
		rest();
	CALL(cuIpcOpenMemHandle_v2, &r->words, r->board->handle,
	     CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
}

static void make_rank(struct rank *r)
{
	CUcontext ctx;
	CUmodule module;
	CUdevice device;

	CALL(cuInit, 0);
	CALL(cuDeviceGet, &device, (int)r->rank);
	CALL(cuDevicePrimaryCtxRetain, &ctx, device);
	CALL(cuCtxSetCurrent, ctx);
	CALL(cuModuleLoadData, &module, text);
	CALL(cuModuleGetFunction, &r->meet, module, "meet");
	share_words(r);
	r->board->ready++;
	while (r->board->ready < r->ranks)
		rest();
}

static void launch(struct rank *r, unsigned step)
{
	void *params[] = {&r->words, &r->rank, &r->ranks, &step, &r->us};

	CALL(cuLaunchKernel, r->meet, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL);
}

/* The first rank says which step is the last: the others must come to it. */
static bool goes_on(struct rank *r, unsigned step, uint64_t until)
{
	if (r->rank == 0 && !r->board->last && gk_mono_ns() >= until)
		r->board->last = step + 2 * r->ahead;
	return !r->board->last || step < r->board->last;
}

static int work(struct rank *r, double seconds)
{
	uint64_t begin, until;
	unsigned step = 0;

	make_rank(r);
	begin = gk_mono_ns();
	until = begin + (uint64_t)(seconds * 1e9);
	while (goes_on(r, step, until)) {
		launch(r, ++step);
		if (step % r->ahead == 0)
			CALL(cuCtxSynchronize, );
	}
	CALL(cuCtxSynchronize, );
	printf("seconds %.3f kernels %u\n",
	       (double)(gk_mono_ns() - begin) / 1e9, step);
	return 0;
}

int main(int argc, char **argv)
{
	struct rank r = {.ahead = 1};
	int status, failed = 0;

	if (argc < 4)
		return 2;
	r.us = (unsigned)atoi(argv[2]);
	r.ranks = (unsigned)atoi(argv[3]);
	if (argc > 4)
		r.ahead = (unsigned)atoi(argv[4]);
	if (!r.ranks || r.ranks > MOST_RANKS || !r.ahead)
		return 2;
	r.board = mmap(NULL, sizeof *r.board, PROT_READ | PROT_WRITE,
		       MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (r.board == MAP_FAILED)
		return 1;
	for (r.rank = 1; r.rank < r.ranks; r.rank++)
		if (fork() == 0)
			return work(&r, atof(argv[1]));
	r.rank = 0;
	failed = work(&r, atof(argv[1]));
	while (wait(&status) > 0)
		failed |= status;
	return failed != 0;
}

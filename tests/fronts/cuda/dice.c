/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dice.c - throws dice for the arguments of CUDA; see dice.h.
 *
 * Arguments on which a real driver would crash are avoided: a host pointer
 * always leads to a whole buffer, and no count exceeds it.
 */
#include "abi/cuda/cuda_abi.h"
#include "base/mix.h"
#include "fronts/cuda/dice.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE 4096
#define MANY (1ULL << 42) /* more than any device has */
#define STEP (2ULL << 20) /* the unit of mapped memory */

/* Kinds of remembered values: addresses and handles, alive and dead. */
static const char *const kinds[DICE_KINDS] = {
    "CUdeviceptr",
    "CUcontext",
    "CUstream",
    "CUevent",
    "CUmodule",
    "CUfunction",
    "CUlibrary",
    "CUkernel",
    "CUarray",
    "CUmipmappedArray",
    "CUmemoryPool",
    "CUlinkState",
    "CUmemGenericAllocationHandle",
    "CUgreenCtx",
    "CUdevResourceDesc",
    "CUasyncCallbackHandle",
    "CUgraph",
    "CUgraphNode",
    "CUgraphExec",
    "CUuserObject",
    "void *",
};

static __typeof__(&cuCtxSynchronize_v2) synchronize;
static unsigned written[2048], written_count;
static _Atomic bool *worked;

static void give_up(const char *why)
{
	fprintf(stderr, "cuda_dice: %s\n", why);
	abort();
}

/*
 * A stream that waits for a word that nobody writes hangs, rightly. A capture
 * in the strictest mode prohibits most of what follows it, and pictures of
 * graphs and dumps of logs are files.
 */
static bool is_left_out(const char *symbol)
{
	return !strcmp(symbol, "cuLogsDumpToFile") ||
	       !strncmp(symbol, "cuStreamWaitValue", 17) ||
	       !strncmp(symbol, "cuStreamBatchMemOp", 18) ||
	       !strcmp(symbol, "cuStreamBeginCapture") ||
	       !strcmp(symbol, "cuStreamBeginCapture_ptsz") ||
	       !strcmp(symbol, "cuGraphDebugDotPrint");
}

void dice_prepare(void *library)
{
	void *at = dlsym(library, "cuCtxSynchronize_v2");

	args_prepare(library);
	memcpy(&synchronize, &at, sizeof at);
	worked = calloc(entry_point_count, sizeof *worked);
	for (unsigned i = 0; i < entry_point_count; i++)
		if (!entry_points[i].weak &&
		    !is_left_out(entry_points[i].symbol))
			written[written_count++] = i;
	if (!worked || !written_count)
		give_up("nothing is written");
}

unsigned dice_worked(unsigned *ret_written)
{
	unsigned n = 0;

	for (unsigned i = 0; i < entry_point_count; i++)
		n += worked[i];
	*ret_written = written_count;
	return n;
}

void dice_tell_idle(void)
{
	for (unsigned i = 0; i < written_count; i++)
		if (!worked[written[i]])
			printf("%s never succeeded\n",
			       entry_points[written[i]].symbol);
}

/* Placed between two pages without access. */
static unsigned char *buffer(void)
{
	unsigned char *all = mmap(NULL, DICE_BUFFER + 2 * PAGE, PROT_NONE,
				  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED ||
	    mprotect(all + PAGE, DICE_BUFFER, PROT_READ | PROT_WRITE))
		give_up("no memory");
	return all + PAGE;
}

void dice_buffers(struct dice *d)
{
	for (int i = 0; i < DICE_BUFFERS; i++)
		d->buffers[i] = buffer();
	for (int i = 0; i < ARGS_MAX; i++)
		d->arguments[i] = buffer();
}

/* ---- dice ---- */

uint64_t dice_next(struct dice *d)
{
	d->state = d->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return gkf_mix(d->state);
}

uint32_t dice_below(struct dice *d, uint32_t n)
{
	return (uint32_t)(((dice_next(d) >> 32) * n) >> 32);
}

bool dice_one_in(struct dice *d, uint32_t n)
{
	return !dice_below(d, n);
}

uint64_t dice_few(struct dice *d)
{
	return dice_below(d, DICE_FEW);
}

static unsigned char *patterned(struct dice *d, unsigned char *at)
{
	static const unsigned char patterns[] = {0x00, 0x00, 0xff, 0xa5};

	return memset(at, patterns[dice_below(d, sizeof patterns)],
		      DICE_BUFFER);
}

unsigned char *dice_buffer(struct dice *d)
{
	if (d->used == DICE_BUFFERS)
		give_up("too few buffers");
	return patterned(d, d->buffers[d->used++]);
}

/* A call reads this before it returns, so no work may still write to it. */
static unsigned char *argument_buffer(struct dice *d)
{
	if (d->arguments_used == ARGS_MAX)
		give_up("too few buffers of arguments");
	return patterned(d, d->arguments[d->arguments_used++]);
}

uint64_t dice_remembered(struct dice *d, size_t kind)
{
	return d->pool[kind][dice_below(d, DICE_POOL)];
}

static void remember(struct dice *d, size_t kind, uint64_t value)
{
	d->pool[kind][dice_below(d, DICE_POOL)] = value;
}

/* DICE_KINDS: not a remembered kind. */
size_t dice_kind_of(const char *type)
{
	size_t kind = 0;

	if (!strcmp(type, "CUdeviceptr_v1"))
		return ADDRESS;
	while (kind < DICE_KINDS && strcmp(kinds[kind], type))
		kind++;
	return kind;
}

void dice_forget(struct dice *d)
{
	memset(d->pool, 0, sizeof d->pool);
}

void dice_remember(struct dice *d, const char *type, uint64_t value)
{
	for (int i = 0; i < DICE_POOL / 4; i++)
		remember(d, dice_kind_of(type), value);
}

static uint64_t handle(struct dice *d, const struct arg *a)
{
	size_t kind = dice_kind_of(a->type);

	switch (dice_below(d, 16)) {
	case 0:
		return 0;
	case 1:
		return dice_next(d);
	case 2:
		return dice_few(d); /* including the special stream handles */
	case 3:
		return dice_remembered(d, dice_below(d, DICE_KINDS));
	default:
		return kind < DICE_KINDS ? dice_remembered(d, kind) : 0;
	}
}

/*
 * Copies treat unknown addresses as host memory; for them, addresses are those
 * that CUDA gave out, alive or not.
 */
uint64_t dice_address(struct dice *d)
{
	bool copies = !strncmp(entry_points[d->row].symbol, "cuMemcpy", 8);
	uint64_t given = dice_remembered(d, ADDRESS);

	if (!given || dice_one_in(d, 8))
		return (uintptr_t)dice_buffer(d);
	switch (dice_below(d, copies ? 4 : 7)) {
	case 0:
		return given + dice_few(d);
	case 4:
		return dice_next(d);
	case 5:
		return given + (dice_next(d) >> 30);
	case 6:
		return dice_few(d);
	default:
		return given;
	}
}

/* It may copy from host to host: any size is valid. */
static bool copies_anything(const char *symbol)
{
	static const char *const names[] = {"cuMemcpy", "cuMemcpy_",
					    "cuMemcpyAsync", "cuMemcpyPeer"};

	if (!strcmp(symbol, names[0]))
		return true;
	for (size_t i = 1; i < sizeof names / sizeof *names; i++)
		if (!strncmp(symbol, names[i], strlen(names[i])))
			return true;
	return false;
}

/* Their sizes are multiples of STEP. */
static bool takes_steps(const char *symbol)
{
	static const char *const names[] = {"cuMemAddress", "cuMemCreate",
					    "cuMemMap", "cuMemSetAccess",
					    "cuMemUnmap"};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strncmp(symbol, names[i], strlen(names[i])))
			return true;
	return false;
}

static uint64_t number(struct dice *d, const struct arg *a)
{
	bool many = !copies_anything(entry_points[d->row].symbol);

	if (strstr(a->name, "lags"))
		return dice_one_in(d, 2) ? 0 : dice_below(d, 64);
	if (!strcmp(a->name, "numOptions") ||
	    !strcmp(a->name, "numJitOptions") ||
	    !strcmp(a->name, "numLibraryOptions"))
		return 0;
	if (!strcmp(a->name, "numDependencies"))
		return dice_one_in(d, 8) ? dice_few(d) : dice_below(d, 2);
	if (!strcmp(a->type, "CUstreamCaptureMode"))
		return 2 + dice_one_in(d, 8); /* relaxed, or invalid */
	if (!strcmp(a->name, "cudaVersion"))
		return dice_below(d, 14000);
	if (!strcmp(a->type, "size_t") &&
	    takes_steps(entry_points[d->row].symbol) && !dice_one_in(d, 8))
		return strcmp(a->name, "size") ? 0 : STEP << dice_below(d, 2);
	if (!strncmp(a->name, "gridDim", 7))
		return dice_below(d, 4);
	if (!strncmp(a->name, "blockDim", 8))
		return dice_below(d, 12);
	if (!strcmp(a->type, "size_t") && many && dice_one_in(d, 16))
		return MANY + (dice_next(d) >> dice_below(d, 22));
	if (!strcmp(a->type, "size_t") && dice_one_in(d, 4))
		return dice_below(d, DICE_BUFFER);
	if (!strcmp(a->type, "int") && dice_one_in(d, 16))
		return (uint64_t)-1;
	if (!strncmp(a->type, "CU", 2) && dice_one_in(d, 3))
		return dice_below(d, 160);
	return dice_few(d);
}

static uint64_t text(struct dice *d)
{
	static const char *const texts[] = {
	    "",      "every",           "thing",        "cuInit", "cuMemAlloc",
	    "cuXxx", "/nowhere/at/all", "0000:07:00.0", "%n%s%d",
	};
	unsigned char *at = argument_buffer(d) + DICE_BUFFER;
	const char *chosen = texts[dice_below(d, sizeof texts / sizeof *texts)];

	/* It ends before a page without access. */
	at -= strlen(chosen) + 1;
	strcpy((char *)at, chosen);
	return (uintptr_t)at;
}

static uint64_t pointer(struct dice *d, const struct arg *a)
{
	unsigned char *at;

	if (dice_one_in(d, 12) || !strcmp(a->name, "extra"))
		return 0;
	if (!strcmp(a->type, "void *") && !strcmp(a->name, "p") &&
	    !dice_one_in(d, 3))
		return dice_remembered(d, HOST);
	at = strcmp(a->type, "void *") ? argument_buffer(d) : dice_buffer(d);
	dice_fill(d, a, at);
	return (uintptr_t)at;
}

/* A primary context belongs to one thread here: no other may end it. */
static uint64_t device(struct dice *d)
{
	bool primary =
	    !strncmp(entry_points[d->row].symbol, "cuDevicePrimary", 15);

	if (dice_one_in(d, 8))
		return 2 + (dice_next(d) >> 1);
	return primary ? d->number : dice_below(d, 2);
}

static size_t callback(void)
{
	return 0;
}

static uint64_t value(struct dice *d, const struct arg *a)
{
	switch (a->kind) {
	case ARG_DEVICE:
		return device(d);
	case ARG_ADDRESS:
		return dice_address(d);
	case ARG_HANDLE:
		return handle(d, a);
	case ARG_CALLBACK:
		return dice_one_in(d, 8) ? 0 : (uintptr_t)callback;
	case ARG_TEXT:
		return dice_one_in(d, 8) ? 0 : text(d);
	case ARG_POINTER:
		return pointer(d, a);
	case ARG_NUMBER:
	default:
		return number(d, a);
	}
}

/* Remembers what a function returned: "CUstream *" leads to a CUstream. */
static void harvest(struct dice *d, const struct entry_point *e,
		    const uint64_t *values)
{
	for (unsigned i = 0; i < e->count; i++) {
		char type[sizeof e->arg->type];
		size_t end = strlen(e->arg[i].type);

		if (e->arg[i].kind != ARG_POINTER || !values[i] || end < 2 ||
		    strncmp(e->arg[i].type, "const ", 6) == 0)
			continue;
		snprintf(type, sizeof type, "%.*s", (int)end - 1,
			 e->arg[i].type);
		if (type[strlen(type) - 1] == ' ')
			type[strlen(type) - 1] = '\0';
		/* Code and images are not memory to write to. */
		if (dice_kind_of(type) == HOST &&
		    strncmp(e->symbol, "cuMem", 5) != 0)
			continue;
		if (dice_kind_of(type) < DICE_KINDS)
			remember(d, dice_kind_of(type),
				 *(const uint64_t *)(uintptr_t)values[i]);
	}
}

/*
 * A program must not free memory that its other contexts still work with, so
 * their work ends before such a call.
 */
static void settle(const struct dice *d, const char *symbol)
{
	static const char *const ends[] = {
	    "cuMemFree",       "cuMemUnmap",  "cuMemHostUnregister",
	    "cuCtxDestroy",    "cuCtxDetach", "cuDevicePrimaryCtxRe",
	    "cuMemPoolDestroy"};
	CUcontext ctx;

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (!strncmp(symbol, ends[i], strlen(ends[i])))
			for (int k = 0; k < DICE_POOL; k++) {
				ctx = (CUcontext)d->pool[CONTEXT][k];
				if (ctx)
					synchronize(ctx);
			}
}

void dice_once(struct dice *d)
{
	uint64_t values[ARGS_MAX] = {0};
	const struct entry_point *e;

	d->row = written[dice_below(d, written_count)];
	d->used = d->arguments_used = 0;
	e = &entry_points[d->row];
	for (unsigned i = 0; i < e->count; i++)
		values[i] = value(d, &e->arg[i]);
	settle(d, e->symbol);
	if (!args_call(e, values)) {
		worked[d->row] = true;
		harvest(d, e, values);
	}
	d->done++;
}

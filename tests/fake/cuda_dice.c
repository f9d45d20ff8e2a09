/*
 * cuda_dice.c - dice for the arguments of CUDA; see cuda_dice.h.
 *
 * What a real driver would crash on is not thrown: a host pointer always leads
 * to a whole buffer, and no count reaches past it.
 */
#include "fake/cuda_dice.h"

#include "abi/cuda_abi.h"
#include "fake/mix.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE  4096
#define PAGES 16           /* of a buffer */
#define FEW   24           /* FEW^3 bytes twice fit into a buffer */
#define MANY  (1ULL << 42) /* more than any device has */

static const char ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".global .align 4 .u32 thing;\n"
    ".visible .entry every(.param .u64 p)\n{\n\tret;\n}\n";

/* What is remembered: addresses and handles, alive and gone. */
static const char *const kinds[DICE_KINDS] = {
    "CUdeviceptr", "CUcontext",        "CUstream",     "CUevent",
    "CUmodule",    "CUfunction",       "CUlibrary",    "CUkernel",
    "CUarray",     "CUmipmappedArray", "CUmemoryPool", "void *",
};
enum { ADDRESS, CONTEXT, STREAM, HOST = DICE_KINDS - 1 };

static __typeof__(&cuCtxSynchronize_v2) synchronize;
static unsigned written[2048], written_count;
static _Atomic bool *worked;

static void give_up(const char *why)
{
	fprintf(stderr, "cuda_dice: %s\n", why);
	abort();
}

/* A stream that waits for what nobody writes hangs, and is right. */
static bool may_hang(const char *symbol)
{
	return !strncmp(symbol, "cuStreamWaitValue", 17) ||
	       !strncmp(symbol, "cuStreamBatchMemOp", 18);
}

void dice_prepare(void *library)
{
	void *at = dlsym(library, "cuCtxSynchronize_v2");

	args_prepare(library);
	memcpy(&synchronize, &at, sizeof at);
	worked = calloc(entry_point_count, sizeof *worked);
	for (unsigned i = 0; i < entry_point_count; i++)
		if (!entry_points[i].weak && !may_hang(entry_points[i].symbol))
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

void dice_buffers(struct dice *d)
{
	for (int i = 0; i < ARGS_MAX * 4; i++) {
		unsigned char *all = mmap(NULL, (PAGES + 2) * PAGE, PROT_NONE,
					  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		if (all == MAP_FAILED ||
		    mprotect(all + PAGE, PAGES * PAGE, PROT_READ | PROT_WRITE))
			give_up("no memory");
		d->buffers[i] = all + PAGE;
	}
}

/* ---- dice ---- */

static uint64_t next(struct dice *d)
{
	d->state = d->state * 6364136223846793005ULL + 1442695040888963407ULL;
	return gkf_mix(d->state);
}

uint32_t dice_below(struct dice *d, uint32_t n)
{
	return (uint32_t)(((next(d) >> 32) * n) >> 32);
}

static bool one_in(struct dice *d, uint32_t n)
{
	return !dice_below(d, n);
}

static uint64_t few(struct dice *d)
{
	return dice_below(d, FEW);
}

static unsigned char *buffer(struct dice *d)
{
	static const unsigned char patterns[] = {0x00, 0x00, 0xff, 0xa5};

	if (d->used == ARGS_MAX * 4)
		give_up("too few buffers");
	return memset(d->buffers[d->used++],
		      patterns[dice_below(d, sizeof patterns)], PAGES * PAGE);
}

static uint64_t remembered(struct dice *d, size_t kind)
{
	return d->pool[kind][dice_below(d, DICE_POOL)];
}

static void remember(struct dice *d, size_t kind, uint64_t value)
{
	d->pool[kind][dice_below(d, DICE_POOL)] = value;
}

void dice_begin_anew(struct dice *d, CUcontext ctx)
{
	memset(d->pool, 0, sizeof d->pool);
	for (int i = 0; i < DICE_POOL; i++)
		d->pool[CONTEXT][i] = (uintptr_t)ctx;
}

/* DICE_KINDS: of no kind that is remembered. */
static size_t kind_of(const char *type)
{
	size_t kind = 0;

	if (!strcmp(type, "CUdeviceptr_v1"))
		return ADDRESS;
	while (kind < DICE_KINDS && strcmp(kinds[kind], type))
		kind++;
	return kind;
}

static uint64_t handle(struct dice *d, const struct arg *a)
{
	size_t kind = kind_of(a->type);

	switch (dice_below(d, 16)) {
	case 0:
		return 0;
	case 1:
		return next(d);
	case 2:
		return few(d); /* the streams' special handles, too */
	case 3:
		return remembered(d, dice_below(d, DICE_KINDS));
	default:
		return kind < DICE_KINDS ? remembered(d, kind) : 0;
	}
}

/*
 * Copies take what they do not know for the host's memory; for them, addresses
 * are those that CUDA gave, alive or not.
 */
static uint64_t address(struct dice *d)
{
	bool copies = !strncmp(entry_points[d->row].symbol, "cuMemcpy", 8);
	uint64_t given = remembered(d, ADDRESS);

	if (!given || one_in(d, 8))
		return (uintptr_t)buffer(d);
	switch (dice_below(d, copies ? 4 : 7)) {
	case 0:
		return given + few(d);
	case 4:
		return next(d);
	case 5:
		return given + (next(d) >> 30);
	case 6:
		return few(d);
	default:
		return given;
	}
}

/* It may copy from the host to the host: any size is right. */
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

static uint64_t number(struct dice *d, const struct arg *a)
{
	bool many = !copies_anything(entry_points[d->row].symbol);

	if (strstr(a->name, "lags"))
		return one_in(d, 2) ? 0 : dice_below(d, 64);
	if (!strcmp(a->name, "numOptions") ||
	    !strcmp(a->name, "numJitOptions") ||
	    !strcmp(a->name, "numLibraryOptions"))
		return 0;
	if (!strcmp(a->name, "cudaVersion"))
		return dice_below(d, 14000);
	if (!strncmp(a->name, "gridDim", 7))
		return dice_below(d, 4);
	if (!strncmp(a->name, "blockDim", 8))
		return dice_below(d, 12);
	if (!strcmp(a->type, "size_t") && many && one_in(d, 16))
		return MANY + (next(d) >> dice_below(d, 22));
	if (!strcmp(a->type, "size_t") && one_in(d, 4))
		return dice_below(d, PAGES * PAGE);
	if (!strcmp(a->type, "int") && one_in(d, 16))
		return (uint64_t)-1;
	if (!strncmp(a->type, "CU", 2) && one_in(d, 3))
		return dice_below(d, 160);
	return few(d);
}

static uint64_t text(struct dice *d)
{
	static const char *const texts[] = {
	    "",      "every",           "thing",        "cuInit", "cuMemAlloc",
	    "cuXxx", "/nowhere/at/all", "0000:07:00.0", "%n%s%d",
	};
	unsigned char *at = buffer(d) + PAGES * PAGE;
	const char *chosen = texts[dice_below(d, sizeof texts / sizeof *texts)];

	/* Its end is a page that nobody may touch. */
	at -= strlen(chosen) + 1;
	strcpy((char *)at, chosen);
	return (uintptr_t)at;
}

/* ---- what pointers lead to ---- */

/* Kinds of memory; old structs know no unified one. One is none. */
#define MEMORY_TYPES(copy) (sizeof(copy)->srcDevice == 4 ? 3 : 5)

/* The part that copies in two and in three dimensions share. */
#define FILL_COPY(d, copy)                                                     \
	do {                                                                   \
		(copy)->srcXInBytes = few(d);                                  \
		(copy)->srcY = few(d);                                         \
		(copy)->srcMemoryType = 1 + dice_below(d, MEMORY_TYPES(copy)); \
		(copy)->srcHost = buffer(d);                                   \
		(copy)->srcDevice = (__typeof__((copy)->srcDevice))address(d); \
		(copy)->srcArray = (CUarray)remembered(d, kind_of("CUarray")); \
		(copy)->srcPitch = few(d);                                     \
		(copy)->dstXInBytes = few(d);                                  \
		(copy)->dstY = few(d);                                         \
		(copy)->dstMemoryType = 1 + dice_below(d, MEMORY_TYPES(copy)); \
		(copy)->dstHost = buffer(d);                                   \
		(copy)->dstDevice = (__typeof__((copy)->dstDevice))address(d); \
		(copy)->dstArray = (CUarray)remembered(d, kind_of("CUarray")); \
		(copy)->dstPitch = few(d);                                     \
		(copy)->WidthInBytes = few(d);                                 \
		(copy)->Height = few(d);                                       \
	} while (0)

#define FILL_COPY3(d, copy)                                                    \
	do {                                                                   \
		FILL_COPY(d, copy);                                            \
		(copy)->srcZ = few(d);                                         \
		(copy)->srcHeight = few(d);                                    \
		(copy)->dstZ = few(d);                                         \
		(copy)->dstHeight = few(d);                                    \
		(copy)->Depth = few(d);                                        \
	} while (0)

static void fill_copy2(struct dice *d, void *at)
{
	FILL_COPY(d, (CUDA_MEMCPY2D *)at);
}

static void fill_copy2_v1(struct dice *d, void *at)
{
	FILL_COPY(d, (CUDA_MEMCPY2D_v1 *)at);
}

static void fill_copy3(struct dice *d, void *at)
{
	FILL_COPY3(d, (CUDA_MEMCPY3D *)at);
}

static void fill_copy3_v1(struct dice *d, void *at)
{
	FILL_COPY3(d, (CUDA_MEMCPY3D_v1 *)at);
}

static void fill_peer(struct dice *d, void *at)
{
	CUDA_MEMCPY3D_PEER *copy = at;

	FILL_COPY3(d, copy);
	copy->srcContext = (CUcontext)remembered(d, CONTEXT);
	copy->dstContext = (CUcontext)remembered(d, CONTEXT);
}

/* One that there is, nearly always. */
static CUarray_format format(struct dice *d)
{
	static const CUarray_format formats[] = {
	    CU_AD_FORMAT_UNSIGNED_INT8,  CU_AD_FORMAT_SIGNED_INT16,
	    CU_AD_FORMAT_HALF,           CU_AD_FORMAT_FLOAT,
	    CU_AD_FORMAT_UNSIGNED_INT32, 0};

	return formats[dice_below(d, sizeof formats / sizeof *formats)];
}

static void fill_array_v1(struct dice *d, void *at)
{
	*(CUDA_ARRAY_DESCRIPTOR_v1 *)at =
	    (CUDA_ARRAY_DESCRIPTOR_v1){dice_below(d, FEW), dice_below(d, FEW),
				       format(d), 1u << dice_below(d, 3)};
}

static void fill_array3_v1(struct dice *d, void *at)
{
	*(CUDA_ARRAY3D_DESCRIPTOR_v1 *)at = (CUDA_ARRAY3D_DESCRIPTOR_v1){
	    dice_below(d, FEW), dice_below(d, FEW),     dice_below(d, FEW),
	    format(d),          1u << dice_below(d, 3), dice_below(d, 2)};
}

static void fill_array(struct dice *d, void *at)
{
	*(CUDA_ARRAY_DESCRIPTOR *)at = (CUDA_ARRAY_DESCRIPTOR){
	    few(d), few(d), format(d), 1u << dice_below(d, 3)};
}

static void fill_array3(struct dice *d, void *at)
{
	*(CUDA_ARRAY3D_DESCRIPTOR *)at =
	    (CUDA_ARRAY3D_DESCRIPTOR){few(d),
				      few(d),
				      few(d),
				      format(d),
				      1u << dice_below(d, 3),
				      one_in(d, 2) ? 0 : dice_below(d, 8)};
}

static void fill_launch(struct dice *d, void *at)
{
	CUlaunchConfig *c = at;
	unsigned char *attributes = buffer(d);

	*c = (CUlaunchConfig){.gridDimX = dice_below(d, 4),
			      .gridDimY = 1,
			      .gridDimZ = 1,
			      .blockDimX = dice_below(d, 64),
			      .blockDimY = 1,
			      .blockDimZ = dice_below(d, 3),
			      .sharedMemBytes = dice_below(d, 1024),
			      .hStream = (CUstream)remembered(d, STREAM),
			      .attrs = (CUlaunchAttribute *)attributes,
			      .numAttrs = dice_below(d, 3)};
	c->attrs[0].id = dice_below(d, 18);
}

static void fill_location(struct dice *d, void *at)
{
	CUmemLocation *places = at;

	for (int i = 0; i < FEW; i++)
		places[i] = (CUmemLocation){dice_below(d, 7),
					    (int)dice_below(d, 4) - 1};
}

static void fill_pool(struct dice *d, void *at)
{
	*(CUmemPoolProps *)at = (CUmemPoolProps){
	    .allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
	    .handleTypes = dice_below(d, 2),
	    .location = {dice_below(d, 3), (int)dice_below(d, 3)},
	    .maxSize = one_in(d, 2) ? 0 : 1 << 22};
}

static void fill_addresses(struct dice *d, void *at)
{
	uint64_t *addresses = at;

	for (int i = 0; i < FEW; i++)
		addresses[i] = remembered(d, ADDRESS);
}

static void fill_sizes(struct dice *d, void *at)
{
	for (int i = 0; i < FEW; i++)
		((size_t *)at)[i] = few(d);
}

static void fill_code(struct dice *d, void *at)
{
	memset(at, 0, PAGES * PAGE);
	if (one_in(d, 8))
		memcpy(at, "\x50\xed\x55\xba", 4); /* a fat binary's begin */
	else
		memcpy(at, ptx, sizeof ptx);
	/* A byte of it is another, now and then. */
	if (one_in(d, 4))
		((char *)at)[dice_below(d, sizeof ptx - 1)] = (char)next(d);
}

/* Parameters of a kernel: more of them than any kernel here has. */
static void fill_pointers(struct dice *d, void *at)
{
	unsigned char *values = buffer(d);

	for (int i = 0; i < FEW; i++)
		((void **)at)[i] = values + 64 * i;
}

/* No batch: what its entries point to would have to be known. */
static void fill_zeros(struct dice *d, void *at)
{
	(void)d;
	memset(at, 0, PAGES * PAGE);
}

static const struct {
	const char *type, *name; /* of the parameter; NULL: any */
	void (*fill)(struct dice *d, void *at);
} fills[] = {
    {"const CUDA_MEMCPY2D *", NULL, fill_copy2},
    {"const CUDA_MEMCPY2D_v1 *", NULL, fill_copy2_v1},
    {"const CUDA_MEMCPY3D *", NULL, fill_copy3},
    {"const CUDA_MEMCPY3D_v1 *", NULL, fill_copy3_v1},
    {"const CUDA_MEMCPY3D_PEER *", NULL, fill_peer},
    {"const CUDA_ARRAY_DESCRIPTOR_v1 *", NULL, fill_array_v1},
    {"const CUDA_ARRAY3D_DESCRIPTOR_v1 *", NULL, fill_array3_v1},
    {"const CUDA_ARRAY_DESCRIPTOR *", NULL, fill_array},
    {"const CUDA_ARRAY3D_DESCRIPTOR *", NULL, fill_array3},
    {"const CUlaunchConfig *", NULL, fill_launch},
    {"const CUmemPoolProps *", NULL, fill_pool},
    {"const CUmemAccessDesc *", NULL, fill_zeros},
    {"CUmemLocation *", NULL, fill_location},
    {"const CUmemLocation *", NULL, fill_location},
    {"CUdeviceptr *", NULL, fill_addresses},
    {"size_t *", NULL, fill_sizes},
    {"const void *", "image", fill_code},
    {"const void *", "code", fill_code},
    {"const void *", "fatCubin", fill_code},
    {"void **", "kernelParams", fill_pointers},
    {"void **", NULL, fill_zeros},
    {"CUDA_MEMCPY3D_BATCH_OP *", NULL, fill_zeros},
    {"CUmemcpyAttributes *", NULL, fill_zeros},
    {"CUexecAffinityParam *", NULL, fill_zeros},
    {"CUctxCreateParams *", NULL, fill_zeros},
    {"CUstreamBatchMemOpParams *", NULL, fill_zeros},
    {"const CUDA_RESOURCE_DESC *", NULL, fill_zeros},
    {"CUDA_LAUNCH_PARAMS *", NULL, fill_zeros},
};

static uint64_t pointer(struct dice *d, const struct arg *a)
{
	unsigned char *at;

	if (one_in(d, 12) || !strcmp(a->name, "extra"))
		return 0;
	if (!strcmp(a->type, "void *") && !strcmp(a->name, "p") &&
	    !one_in(d, 3))
		return remembered(d, HOST);
	at = buffer(d);
	for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
		if (!strcmp(fills[i].type, a->type) &&
		    (!fills[i].name || !strcmp(fills[i].name, a->name))) {
			fills[i].fill(d, at);
			break;
		}
	return (uintptr_t)at;
}

/* A primary context is a thread's own: no other thread may end it. */
static uint64_t device(struct dice *d)
{
	bool primary =
	    !strncmp(entry_points[d->row].symbol, "cuDevicePrimary", 15);

	if (one_in(d, 8))
		return 2 + (next(d) >> 1);
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
		return address(d);
	case ARG_HANDLE:
		return handle(d, a);
	case ARG_CALLBACK:
		return one_in(d, 8) ? 0 : (uintptr_t)callback;
	case ARG_TEXT:
		return one_in(d, 8) ? 0 : text(d);
	case ARG_POINTER:
		return pointer(d, a);
	case ARG_NUMBER:
	default:
		return number(d, a);
	}
}

/* Remembers what a function gave: "CUstream *" leads to a CUstream. */
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
		if (kind_of(type) < DICE_KINDS)
			remember(d, kind_of(type),
				 *(const uint64_t *)(uintptr_t)values[i]);
	}
}

/*
 * Work that other contexts still do with memory that goes is a fault of the
 * program; not of this one.
 */
static void settle(const struct dice *d, const char *symbol)
{
	static const char *const ends[] = {
	    "cuMemFree",   "cuMemHostUnregister",  "cuCtxDestroy",
	    "cuCtxDetach", "cuDevicePrimaryCtxRe", "cuMemPoolDestroy"};
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
	d->used = 0;
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

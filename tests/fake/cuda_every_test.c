/*
 * Calls every entry point of CUDA in a process of its own: before cuInit, then
 * without and with a context; with zeros, with handles and numbers that are
 * none, with buffers, and with arguments that are right. Nobody crashes or
 * hangs. What nobody has written says so and is counted; what somebody has
 * written does its job at least once.
 */
#include "fake/cuda_front.h"

#include "fake/count.h"
#include "fake/cuda_args.h"

#include <sys/mman.h>

#define HUNG_S      20
#define BUFFER      65536
#define ROWS_AT_ONE 32 /* bytes */

enum stage { EARLY, BARE, CONTEXT, STAGES };
enum mode { ZEROS, GARBAGE, BUFFERS, RIGHT, MODES };
static const char *const stages[] = {"before cuInit", "without context",
				     "with context"};
static const char *const modes[] = {"zeros", "garbage", "buffers", "right"};

/* What came of a row; shared with the child that tries it. */
struct outcome {
	int stage, mode;  /* the call under way */
	int died;         /* signal */
	int told[STAGES]; /* with buffers */
	int right;        /* with right arguments */
	bool uninitialized, succeeded, answered;
	uint64_t asked, refused; /* after cuInit */
};
static struct outcome *outcomes;

/* Functions that need no cuInit. */
static const char *const always[] = {
    "cuDriverGetVersion",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuGetExportTable",
    "cuGetProcAddress",
    "cuGetProcAddress_v2",
    "cuInit",
};

static const char ptx[] = ".version 7.0\n.target sm_52\n.address_size 64\n"
			  ".global .align 4 .u32 thing;\n"
			  ".visible .entry every()\n{\n\tret;\n}\n";

/* What right arguments are made of; nothing is NULL, unless nobody made it. */
static struct {
	CUcontext ctx, peer; /* of the second device */
	CUstream stream;
	CUevent event;
	CUdeviceptr memory;
	CUmodule module;
	CUfunction function;
	CUlibrary library;
	CUkernel kernel;
	CUarray array;
	CUmipmappedArray mipmap;
	CUmemoryPool pool;
	CUdevice second;
	int nothing;
	void *host; /* of cuMemHostAlloc */
	char bus[32], path[96];
} things;

static const struct {
	const char *type;
	const void *thing;
} handles[] = {
    {"CUcontext", &things.ctx},           {"CUstream", &things.stream},
    {"CUevent", &things.event},           {"CUmodule", &things.module},
    {"CUfunction", &things.function},     {"CUlibrary", &things.library},
    {"CUkernel", &things.kernel},         {"CUarray", &things.array},
    {"CUmipmappedArray", &things.mipmap}, {"CUmemoryPool", &things.pool},
};

/* Texts by the name of the parameter. */
static const struct {
	const char *name, *text;
} texts[] = {
    {"pciBusId", things.bus}, {"fname", things.path}, {"fileName", things.path},
    {"name", "every"},        {"symbol", "cuInit"},
};

/* What a parameter of that type, name and function is; NULL: any. */
static const struct {
	const char *symbol, *name;
	const void *value;
	size_t size;
} specials[] = {
    {NULL, "peerContext", &things.peer, sizeof things.peer},
    {NULL, "peerDevice", &things.second, sizeof things.second},
    {"cuDeviceGetP2PAttribute", "dstDevice", &things.second,
     sizeof things.second},
    {"cuCtxCreate_v3", "paramsArray", &things.nothing, sizeof things.nothing},
    {"cuCtxCreate_v3", "numParams", &things.nothing, sizeof things.nothing},
    {"cuMemFreeHost", "p", &things.host, sizeof things.host},
};

static void enable_peer(void)
{
	CU(cuCtxEnablePeerAccess)(things.peer, 0);
}

static void retain_primary(void)
{
	CUcontext ctx;

	CU(cuDevicePrimaryCtxRetain)(&ctx, 0);
}

/* What must have been done before. */
static const struct {
	const char *symbol;
	void (*prepare)(void);
} preparations[] = {
    {"cuCtxDisablePeerAccess", enable_peer},
    {"cuDevicePrimaryCtxRelease", retain_primary},
    {"cuDevicePrimaryCtxRelease_v2", retain_primary},
};

static void make_things(void)
{
	CUDA_ARRAY_DESCRIPTOR plane = {64, 64, CU_AD_FORMAT_FLOAT, 1};
	CUDA_ARRAY3D_DESCRIPTOR levels = {.Width = 64,
					  .Height = 64,
					  .Format = CU_AD_FORMAT_FLOAT,
					  .NumChannels = 1};

	things.second = 1;
	CU(cuCtxCreate_v2)(&things.peer, 0, things.second);
	CU(cuCtxCreate_v2)(&things.ctx, 0, 0);
	CU(cuStreamCreate)(&things.stream, CU_STREAM_NON_BLOCKING);
	CU(cuEventCreate)(&things.event, CU_EVENT_DEFAULT);
	CU(cuEventRecord)(things.event, things.stream);
	CU(cuMemAlloc_v2)(&things.memory, 1 << 20);
	CU(cuModuleLoadData)(&things.module, ptx);
	CU(cuModuleGetFunction)(&things.function, things.module, "every");
	CU(cuLibraryLoadData)
	(&things.library, ptx, NULL, NULL, 0, NULL, NULL, 0);
	CU(cuLibraryGetKernel)(&things.kernel, things.library, "every");
	CU(cuArrayCreate_v2)(&things.array, &plane);
	CU(cuMipmappedArrayCreate)(&things.mipmap, &levels, 2);
	CU(cuDeviceGetDefaultMemPool)(&things.pool, 0);
	CU(cuMemHostAlloc)(&things.host, 4096, 0);
	CU(cuDeviceGetPCIBusId)(things.bus, sizeof things.bus, 0);
}

static void callback(void)
{
}

static unsigned char *next_buffer(void)
{
	static unsigned char *buffers;
	static unsigned used;

	if (!buffers)
		buffers = mmap(NULL, ARGS_MAX * BUFFER, PROT_READ | PROT_WRITE,
			       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	return memset(buffers + used++ % ARGS_MAX * BUFFER, 0, BUFFER);
}

static bool starts(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

static uint64_t right_number(const struct arg *a)
{
	if (strstr(a->name, "lags") || !strcmp(a->name, "ordinal") ||
	    starts(a->name, "sharedMem") || strstr(a->name, "Offset"))
		return 0;
	if (!strcmp(a->name, "cudaVersion"))
		return CUDA_VERSION;
	if (starts(a->type, "CU") || strstr(a->name, "ount") ||
	    starts(a->name, "num") || starts(a->name, "gridDim") ||
	    starts(a->name, "blockDim"))
		return 1;
	return 16;
}

static uint64_t right_handle(const struct arg *a)
{
	for (size_t i = 0; i < sizeof handles / sizeof *handles; i++)
		if (!strcmp(handles[i].type, a->type))
			return *(const uint64_t *)handles[i].thing;
	return 0;
}

static const char *right_text(const struct arg *a)
{
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		if (!strcmp(texts[i].name, a->name))
			return texts[i].text;
	return "every";
}

/* A copy of ROWS_AT_ONE bytes of the device to another place of it. */
#define FILL_COPY(copy)                                                        \
	do {                                                                   \
		(copy)->srcMemoryType = CU_MEMORYTYPE_DEVICE;                  \
		(copy)->srcDevice = things.memory;                             \
		(copy)->dstMemoryType = CU_MEMORYTYPE_DEVICE;                  \
		(copy)->dstDevice = things.memory + 4096;                      \
		(copy)->srcPitch = (copy)->dstPitch = ROWS_AT_ONE;             \
		(copy)->WidthInBytes = ROWS_AT_ONE;                            \
		(copy)->Height = 1;                                            \
	} while (0)

static void fill_copy3d(void *at)
{
	CUDA_MEMCPY3D *copy = at;

	FILL_COPY(copy);
	copy->srcHeight = copy->dstHeight = copy->Depth = 1;
}

static void fill_copy3d_peer(void *at)
{
	CUDA_MEMCPY3D_PEER *copy = at;

	FILL_COPY(copy);
	copy->srcHeight = copy->dstHeight = copy->Depth = 1;
	copy->srcContext = copy->dstContext = things.ctx;
}

static void fill_copy2d(void *at)
{
	CUDA_MEMCPY2D *copy = at;

	FILL_COPY(copy);
}

static void fill_array(void *at)
{
	*(CUDA_ARRAY_DESCRIPTOR *)at =
	    (CUDA_ARRAY_DESCRIPTOR){32, 32, CU_AD_FORMAT_FLOAT, 1};
}

static void fill_array3d(void *at)
{
	*(CUDA_ARRAY3D_DESCRIPTOR *)at =
	    (CUDA_ARRAY3D_DESCRIPTOR){.Width = 32,
				      .Height = 32,
				      .Format = CU_AD_FORMAT_FLOAT,
				      .NumChannels = 1};
}

static void fill_pool(void *at)
{
	*(CUmemPoolProps *)at =
	    (CUmemPoolProps){.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
			     .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
}

static void fill_launch(void *at)
{
	*(CUlaunchConfig *)at =
	    (CUlaunchConfig){1, 1, 1, 1, 1, 1, 0, things.stream, NULL, 0};
}

static void fill_address(void *at)
{
	*(CUdeviceptr *)at = things.memory;
}

static void fill_location(void *at)
{
	*(CUmemLocation *)at = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, 0};
}

static void fill_access(void *at)
{
	*(CUmemAccessDesc *)at =
	    (CUmemAccessDesc){{CU_MEM_LOCATION_TYPE_DEVICE, 0},
			      CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
}

static void fill_code(void *at)
{
	memcpy(at, ptx, sizeof ptx);
}

/* What right pointers lead to: by type, or by the parameter's name. */
static const struct {
	const char *type, *name;
	void (*fill)(void *at);
} fills[] = {
    {"const CUDA_MEMCPY2D *", NULL, fill_copy2d},
    {"const CUDA_MEMCPY3D *", NULL, fill_copy3d},
    {"const CUDA_MEMCPY3D_PEER *", NULL, fill_copy3d_peer},
    {"const CUDA_ARRAY_DESCRIPTOR *", NULL, fill_array},
    {"const CUDA_ARRAY3D_DESCRIPTOR *", NULL, fill_array3d},
    {"const CUmemPoolProps *", NULL, fill_pool},
    {"const CUlaunchConfig *", NULL, fill_launch},
    {"const CUmemAccessDesc *", NULL, fill_access},
    {"CUmemLocation *", NULL, fill_location},
    {"CUdeviceptr *", NULL, fill_address},
    {"const void *", "image", fill_code},
    {"const void *", "code", fill_code},
};

static uint64_t right_pointer(const struct arg *a)
{
	unsigned char *at = next_buffer();

	for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
		if (!strcmp(fills[i].type, a->type) &&
		    (!fills[i].name || !strcmp(fills[i].name, a->name)))
			fills[i].fill(at);
	return (uintptr_t)at;
}

static bool is_special(const char *symbol, const struct arg *a,
		       uint64_t *ret_value)
{
	for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
		if (strcmp(specials[i].name, a->name) ||
		    (specials[i].symbol && strcmp(specials[i].symbol, symbol)))
			continue;
		*ret_value = 0;
		memcpy(ret_value, specials[i].value, specials[i].size);
		return true;
	}
	return false;
}

static uint64_t right_value(const char *symbol, const struct arg *a)
{
	uint64_t value;

	if (is_special(symbol, a, &value))
		return value;
	switch (a->kind) {
	case ARG_NUMBER:
		return right_number(a);
	case ARG_HANDLE:
		return right_handle(a);
	case ARG_ADDRESS:
		return things.memory + (starts(a->name, "src") ? 4096 : 0);
	case ARG_TEXT:
		return (uintptr_t)right_text(a);
	case ARG_POINTER:
		return right_pointer(a);
	case ARG_CALLBACK:
		return (uintptr_t)callback;
	case ARG_DEVICE:
	default:
		return 0;
	}
}

static bool is_pointer(const struct arg *a)
{
	return a->kind == ARG_POINTER || a->kind == ARG_TEXT;
}

static uint64_t value_of(const char *symbol, const struct arg *a,
			 enum mode mode)
{
	if (mode == RIGHT)
		return right_value(symbol, a);
	if (mode == ZEROS)
		return 0;
	if (a->kind == ARG_CALLBACK)
		return mode == BUFFERS ? (uintptr_t)callback : 0;
	if (is_pointer(a) || (a->kind == ARG_ADDRESS && mode == BUFFERS))
		return mode == BUFFERS ? (uintptr_t)next_buffer() : 0;
	if (mode == GARBAGE)
		return UINT64_MAX;
	return a->kind == ARG_NUMBER ? 1 : 0x5a5a5a5a50;
}

static int call(unsigned row, enum mode mode)
{
	const struct entry_point *e = &entry_points[row];
	uint64_t values[ARGS_MAX] = {0};

	for (unsigned i = 0; i < e->count; i++)
		values[i] = value_of(e->symbol, &e->arg[i], mode);
	return args_call(e, values);
}

static void prepare(const char *symbol)
{
	for (size_t i = 0; i < sizeof preparations / sizeof *preparations; i++)
		if (!strcmp(preparations[i].symbol, symbol))
			preparations[i].prepare();
}

static void call_all(struct outcome *o, unsigned row, enum stage stage)
{
	o->stage = stage;
	for (o->mode = 0; o->mode < MODES; o->mode++) {
		int r;

		if (o->mode == RIGHT && stage != CONTEXT)
			continue;
		if (o->mode == RIGHT)
			prepare(entry_points[row].symbol);
		r = call(row, (enum mode)o->mode);
		if (o->mode == BUFFERS)
			o->told[stage] = r;
		if (stage == EARLY)
			continue;
		if (o->mode == RIGHT)
			o->right = r;
		o->asked++;
		o->succeeded |= r == CUDA_SUCCESS;
		o->answered |= r != CUDA_ERROR_NOT_SUPPORTED;
	}
}

static uint64_t refused(struct fixture *fx, unsigned row)
{
	return atomic_load(&fx->file->cuda_refused[row]);
}

static const int signals[] = {SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};

/* In a child. */
static void try_row(struct fixture *fx, unsigned row)
{
	struct outcome *o = &outcomes[row];
	uint64_t before;

	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		signal(signals[i], SIG_DFL); /* cmocka's goes on */
	alarm(HUNG_S);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	call_all(o, row, EARLY);
	before = refused(fx, row);
	CU(cuInit)(0);
	call_all(o, row, BARE);
	/* Made things count as calls, but nobody refuses what is written. */
	if (entry_points[row].weak)
		o->refused = refused(fx, row) - before;
	make_things();
	before = refused(fx, row);
	call_all(o, row, CONTEXT);
	o->refused += refused(fx, row) - before;
	o->stage = STAGES;
}

static void try_all(struct fixture *fx)
{
	for (unsigned row = 0; row < entry_point_count; row++) {
		int status = 0;
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid) {
			try_row(fx, row);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		if (WIFSIGNALED(status))
			outcomes[row].died = WTERMSIG(status);
		else if (WEXITSTATUS(status))
			outcomes[row].died = -WEXITSTATUS(status);
	}
}

static int setup(void **state)
{
	struct fixture *fx;
	FILE *file;

	cuda_setup(state);
	fx = *state;
	args_prepare(cuda_library);
	outcomes =
	    mmap(NULL, entry_point_count * sizeof *outcomes,
		 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	snprintf(things.path, sizeof things.path, "%s/every.ptx", fx->dir);
	file = fopen(things.path, "w");
	fputs(ptx, file);
	fclose(file);
	try_all(fx);
	unlink(things.path);
	return 0;
}

static bool is_listed(const char *symbol, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!strcmp(list[i], symbol))
			return true;
	return false;
}

#define IS_LISTED(symbol, list)                                                \
	is_listed(symbol, list, sizeof(list) / sizeof *(list))

static void nobody_crashes_or_hangs(void **state)
{
	unsigned bad = 0;

	(void)state;
	for (unsigned row = 0; row < entry_point_count; row++) {
		const struct outcome *o = &outcomes[row];

		if (!o->died && o->stage == STAGES)
			continue;
		print_message("%s: %s, %s, with %s\n", entry_points[row].symbol,
			      o->died == SIGALRM ? "hangs"
			      : o->died > 0      ? strsignal(o->died)
						 : "ends the process",
			      stages[o->stage % STAGES],
			      modes[o->mode % MODES]);
		bad++;
	}
	assert_int_equal(bad, 0);
}

static void what_is_not_written_is_refused_and_counted(void **state)
{
	unsigned bad = 0, weak = 0;

	(void)state;
	for (unsigned row = 0; row < entry_point_count; row++) {
		const struct outcome *o = &outcomes[row];

		if (!entry_points[row].weak || o->died)
			continue;
		weak++;
		if (!o->answered && o->refused == o->asked &&
		    o->told[EARLY] == CUDA_ERROR_NOT_INITIALIZED)
			continue;
		print_message("%s: %d before cuInit, %u of %u refused\n",
			      entry_points[row].symbol, o->told[EARLY],
			      (unsigned)o->refused, (unsigned)o->asked);
		bad++;
	}
	print_message("%u of %u are refused\n", weak, entry_point_count);
	assert_int_equal(bad, 0);
}

static void before_init_there_is_nothing(void **state)
{
	unsigned bad = 0;

	(void)state;
	for (unsigned row = 0; row < entry_point_count; row++) {
		const char *symbol = entry_points[row].symbol;
		int told = outcomes[row].told[EARLY];

		if (outcomes[row].died || IS_LISTED(symbol, always) ||
		    told == CUDA_ERROR_NOT_INITIALIZED)
			continue;
		print_message("%s: %d before cuInit\n", symbol, told);
		bad++;
	}
	assert_int_equal(bad, 0);
}

/* Functions whose right arguments this test does not know, and why. */
static const struct {
	const char *symbol, *why;
} unknown[] = {
    {"cuGetExportTable", "no table is known to others"},
    {"cuDeviceGetLuid", "Windows alone has LUIDs"},
    {"cuMemAlloc", "no device address has 32 bits"},
    {"cuMemAllocPitch", "no device address has 32 bits"},
    {"cuMemFree", "no device address has 32 bits"},
    {"cuMemGetAddressRange", "no device address has 32 bits"},
    {"cuMemGetHandleForAddressRange", "the devices say they have no dma-buf"},
    {"cuCtxGetExecAffinity", "MPS alone has it"},
    {"cuDeviceGetExecAffinitySupport", "MPS alone has it"},
};

static bool is_unknown(const char *symbol)
{
	for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
		if (!strcmp(unknown[i].symbol, symbol))
			return true;
	return false;
}

static void what_is_written_does_its_job(void **state)
{
	unsigned bad = 0, strong = 0;

	(void)state;
	for (unsigned row = 0; row < entry_point_count; row++) {
		const struct entry_point *e = &entry_points[row];
		const struct outcome *o = &outcomes[row];

		if (e->weak || o->died)
			continue;
		strong++;
		if (o->answered && (o->succeeded || is_unknown(e->symbol)))
			continue;
		print_message("%s: %s, %d\n", e->symbol,
			      o->answered ? "never succeeds"
					  : "is never supported",
			      o->right);
		bad++;
	}
	print_message("%u of %u are written\n", strong, entry_point_count);
	assert_int_equal(bad, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nobody_crashes_or_hangs),
	    cmocka_unit_test(what_is_not_written_is_refused_and_counted),
	    cmocka_unit_test(before_init_there_is_nothing),
	    cmocka_unit_test(what_is_written_does_its_job),
	};

	return cmocka_run_group_tests(tests, setup, cuda_teardown);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * every_test.c - calls every entry point of CUDA in a process of its own:
 * before cuInit, then without and with a context; with zeros, with invalid
 * handles and numbers, with buffers, and with correct arguments. Nothing may
 * crash or hang. Unimplemented functions say so and are counted; implemented
 * ones succeed at least once.
 */
/* The newest driver has all functions. */
#define CUDA_DRIVER "610.57.04"
#define CUDA_FRONT  FAKE_DIR "/610/libcuda.so.1"
#include "fronts/cuda/cuda_test.h"
#include "fronts/cuda/right.h"
#include "machine/file/file.h"

#include <stdatomic.h>
#include <sys/mman.h>

#define HUNG_S 20

enum stage { EARLY, BARE, CONTEXT, STAGES };
enum mode { ZEROS, GARBAGE, BUFFERS, RIGHT, MODES };
static const char *const stages[] = {"before cuInit", "without context",
				     "with context"};
static const char *const modes[] = {"zeros", "garbage", "buffers", "right"};

/* The outcome of a row; shared with the child that tries it. */
struct outcome {
	int stage, mode;  /* the current call */
	int died;         /* signal */
	int told[STAGES]; /* with buffers */
	int right;        /* with correct arguments */
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
    "cuLogsCurrent",
    "cuLogsDumpToFile",
    "cuLogsDumpToMemory",
    "cuLogsRegisterCallback",
    "cuLogsUnregisterCallback",
};

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
	if (!strcmp(a->name, "pathToFile")) /* which would be created */
		return mode == BUFFERS ? (uintptr_t) "/dev/null" : 0;
	if (a->kind == ARG_CALLBACK)
		return mode == BUFFERS ? (uintptr_t)right_callback : 0;
	if (is_pointer(a) || (a->kind == ARG_ADDRESS && mode == BUFFERS))
		return mode == BUFFERS ? (uintptr_t)right_buffer() : 0;
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

static void call_all(struct outcome *o, unsigned row, enum stage stage)
{
	o->stage = stage;
	for (o->mode = 0; o->mode < MODES; o->mode++) {
		int r;

		if (o->mode == RIGHT && stage != CONTEXT)
			continue;
		if (o->mode == RIGHT)
			right_before(entry_points[row].symbol);
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

/* Runs in a child. */
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
	/* Making things counts as calls, but nothing implemented is refused. */
	if (entry_points[row].weak)
		o->refused = refused(fx, row) - before;
	right_make();
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

	cuda_setup(state);
	fx = *state;
	args_prepare(cuda_library);
	outcomes =
	    mmap(NULL, entry_point_count * sizeof *outcomes,
		 PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	right_prepare(cuda_library, fx->dir);
	try_all(fx);
	right_end();
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

/*
 * Functions whose correct arguments this test does not know, with the reason.
 */
static const struct {
	const char *symbol, *why;
} unknown[] = {
    {"cuGetExportTable", "no table is known to others"},
    {"cuDeviceGetLuid", "Windows alone has LUIDs"},
    {"cuMemAlloc", "no device address has 32 bits"},
    {"cuMemAllocPitch", "no device address has 32 bits"},
    {"cuMemFree", "no device address has 32 bits"},
    {"cuMemGetAddressRange", "no device address has 32 bits"},
    {"cuMemHostGetDevicePointer", "no device address has 32 bits"},
    {"cuModuleGetGlobal", "no device address has 32 bits"},
    {"cuLibraryGetUnifiedFunction", "no device has unified pointers"},
    {"cuMemGetHandleForAddressRange", "the devices say they have no dma-buf"},
    {"cuArrayGetMemoryRequirements", "no array here is mapped later"},
    {"cuArrayGetPlane", "no array here has planes"},
    {"cuArrayGetSparseProperties", "no array here is sparse"},
    {"cuMipmappedArrayGetMemoryRequirements", "none here is mapped later"},
    {"cuMipmappedArrayGetSparseProperties", "none here is sparse"},
    {"cuCtxGetExecAffinity", "MPS alone has it"},
    {"cuDeviceGetExecAffinitySupport", "MPS alone has it"},
    {"cuIpcCloseMemHandle", "another process shares it, see ipc_test"},
    {"cuMemPoolImportPointer", "another process has it, see pool_share_test"},
#ifdef __SANITIZE_THREAD__
    {"cuMemPoolImportFromShareableHandle", "there it has not the addresses"},
#endif
    {"cuIpcOpenEventHandle", "another process has it, see ipc_event_test"},
    {"cuIpcOpenMemHandle", "another process shares it, see ipc_test"},
    {"cuIpcOpenMemHandle_v2", "another process shares it, see ipc_test"},
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

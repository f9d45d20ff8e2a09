/*
 * coverage.c - `gpukit fake ctl coverage`: which functions were called
 * and refused, and by whom: of NVML, of the CUDA driver, and by name what the
 * CUDA runtime, kernels and cuBLAS were refused.
 */
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/fake/ctl.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/work_state.h"
#include "machine/store/coverage.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const cuda_functions[] = {
#define CUDA(symbol, base, since, stream, params) #symbol,
#include "abi/cuda.def"
#undef CUDA
};
#define CUDA_FUNCTIONS (sizeof cuda_functions / sizeof *cuda_functions)
_Static_assert(CUDA_FUNCTIONS <= GKF_CUDA_FUNCTIONS_MAX,
	       "a counter for every function");

/* Where what is refused by name belongs. */
static const char *const owners[GKF_NAMED_KINDS] = {
    [GKF_NAMED_RUNTIME] = "libcudart",    [GKF_NAMED_KERNEL] = "kernel",
    [GKF_NAMED_CUBLAS] = "libcublas",     [GKF_NAMED_CUFFT] = "libcufft",
    [GKF_NAMED_CURAND] = "libcurand",     [GKF_NAMED_CUSPARSE] = "libcusparse",
    [GKF_NAMED_CUSOLVER] = "libcusolver", [GKF_NAMED_CUPTI] = "libcupti",
};

/* Something that can be called; its name is what can be shown of it. */
struct count {
	char name[4 * GKF_NAME_MAX];
	const char *library;
	unsigned function; /* as in struct gkf_refused */
	uint64_t calls, refused;
};

#define COUNTS_MAX (GKF_FUNCTIONS_MAX + CUDA_FUNCTIONS + GKF_NAMES_MAX)

/* Functions that have a number, and names that were refused. */
struct counts {
	unsigned n;
	struct count at[COUNTS_MAX];
};

/* Refused first, then by calls, then by name. */
static int by_weight(const void *left, const void *right)
{
	const struct count *a = left, *b = right;

	if (a->refused != b->refused)
		return a->refused < b->refused ? 1 : -1;
	if (a->calls != b->calls)
		return a->calls < b->calls ? 1 : -1;
	return strcmp(a->name, b->name);
}

static void add_library_count(struct counts *to, const char *library,
			      unsigned function, const char *name,
			      uint64_t calls, uint64_t refused)
{
	struct count *c = &to->at[to->n];

	if (!calls && !refused)
		return;
	c->library = library;
	c->function = function;
	c->calls = calls;
	c->refused = refused;
	gk_str_clean(c->name, sizeof c->name, name, strlen(name));
	to->n++;
}

static void read_counts(struct ctl *ctl, struct counts *to)
{
	const struct gkf_file *f = ctl->file;
	struct gkf_named_count named;

	for (unsigned i = 0; i < ctl_function_count; i++)
		add_library_count(to, "libnvidia-ml", i, ctl_function_name(i),
				  atomic_load(&f->calls[i]),
				  atomic_load(&f->refused[i]));
	for (unsigned i = 0; i < CUDA_FUNCTIONS; i++)
		add_library_count(to, "libcuda", GKF_REFUSED_CUDA + i,
				  cuda_functions[i],
				  atomic_load(&f->cuda_calls[i]),
				  atomic_load(&f->cuda_refused[i]));
	/* Only refusals of these are counted. */
	for (unsigned i = 0; i < GKF_NAMES_MAX; i++)
		if (gkf_named_read(ctl->machine, i, &named))
			add_library_count(to, owners[named.kind],
					  GKF_REFUSED_NAMED + i, named.name,
					  named.count, named.count);
	qsort(to->at, to->n, sizeof *to->at, by_weight);
}

/* A call that a program was refused. */
struct refusal {
	char caller[4 * GKF_CALLER_MAX];
	const struct count *what;
	uint64_t count;
};

/* By program; what it asked for most first. */
static int by_caller(const void *left, const void *right)
{
	const struct refusal *a = left, *b = right;
	int order = strcmp(a->caller, b->caller);

	if (order)
		return order;
	if (a->count != b->count)
		return a->count < b->count ? 1 : -1;
	return strcmp(a->what->name, b->what->name);
}

static const struct count *find_function_count(const struct counts *counts,
					       unsigned function)
{
	for (unsigned i = 0; i < counts->n; i++)
		if (counts->at[i].function == function)
			return &counts->at[i];
	return NULL;
}

static unsigned read_refusals(struct ctl *ctl, const struct counts *counts,
			      struct refusal *to)
{
	struct gkf_refused one;
	unsigned n = 0;

	for (unsigned i = 0; i < GKF_REFUSALS_MAX; i++) {
		if (!gkf_refusal_read(ctl->machine, i, &one))
			continue;
		to[n].what = find_function_count(counts, one.function);
		if (!to[n].what)
			continue;
		gk_str_clean(to[n].caller, sizeof to[n].caller, one.caller,
			     strlen(one.caller));
		to[n++].count = one.count;
	}
	qsort(to, n, sizeof *to, by_caller);
	return n;
}

static int dump(json_t *list)
{
	int r = list ? json_dumpf(list, stdout, JSON_INDENT(2)) : -1;

	json_decref(list);
	putchar('\n');
	return r ? fake_failure("ctl coverage: cannot write JSON") : GK_EXIT_OK;
}

static json_t *callers_of(const struct count *what,
			  const struct refusal *refusals, unsigned n)
{
	json_t *callers = json_object();

	for (unsigned i = 0; i < n; i++)
		if (refusals[i].what == what)
			json_object_set_new(
			    callers, refusals[i].caller,
			    json_integer((json_int_t)refusals[i].count));
	return callers;
}

static int functions_json(const struct counts *counts,
			  const struct refusal *refusals, unsigned refusals_n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < counts->n; i++) {
		const struct count *c = &counts->at[i];

		json_array_append_new(
		    list, json_pack("{s:s, s:s, s:I, s:I, s:o}", "function",
				    c->name, "library", c->library, "calls",
				    (json_int_t)c->calls, "refused",
				    (json_int_t)c->refused, "callers",
				    callers_of(c, refusals, refusals_n)));
	}
	return dump(list);
}

static int callers_json(const struct refusal *refusals, unsigned n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(
		    list, json_pack("{s:s, s:s, s:s, s:I}", "caller",
				    refusals[i].caller, "function",
				    refusals[i].what->name, "library",
				    refusals[i].what->library, "refused",
				    (json_int_t)refusals[i].count));
	return dump(list);
}

/* Names that a kernel was refused for say so; functions speak for themselves.
 */
static void print_name(const struct count *c)
{
	bool kernel = c->library == owners[GKF_NAMED_KERNEL];

	printf("  %s%s\n", kernel ? "in a kernel: " : "", c->name);
}

static int functions_text(const struct counts *counts)
{
	if (!counts->n)
		puts("no calls");
	else
		printf("%12s %12s  %s\n", "CALLS", "REFUSED", "FUNCTION");
	for (unsigned i = 0; i < counts->n; i++) {
		printf("%12llu %12llu", (unsigned long long)counts->at[i].calls,
		       (unsigned long long)counts->at[i].refused);
		print_name(&counts->at[i]);
	}
	return GK_EXIT_OK;
}

static int callers_text(struct ctl *ctl, const struct refusal *refusals,
			unsigned n)
{
	uint64_t lost = atomic_load(&ctl->file->refusals.lost);

	if (!n)
		puts("nobody was refused anything");
	else
		printf("%-16s %12s  %s\n", "CALLER", "REFUSED", "FUNCTION");
	for (unsigned i = 0; i < n; i++) {
		printf("%-16s %12llu", refusals[i].caller,
		       (unsigned long long)refusals[i].count);
		print_name(refusals[i].what);
	}
	if (lost)
		printf("%-16s %12llu  (there was no room to say more)\n", "?",
		       (unsigned long long)lost);
	return GK_EXIT_OK;
}

int ctl_coverage(struct ctl *ctl, int argc, char **argv)
{
	struct refusal *refusals = calloc(GKF_REFUSALS_MAX, sizeof *refusals);
	struct counts *counts = calloc(1, sizeof *counts);
	int code = GK_EXIT_OK;
	unsigned n;

	(void)argc, (void)argv;
	if (!refusals || !counts) {
		code = fake_failure("out of memory");
		goto out;
	}
	read_counts(ctl, counts);
	n = read_refusals(ctl, counts, refusals);
	if (ctl->by_caller)
		code = ctl->json ? callers_json(refusals, n)
				 : callers_text(ctl, refusals, n);
	else
		code = ctl->json ? functions_json(counts, refusals, n)
				 : functions_text(counts);
out:
	free(counts);
	free(refusals);
	return code;
}

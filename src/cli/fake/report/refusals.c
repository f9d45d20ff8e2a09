/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refusals.c - reads which calls a machine has counted and refused: functions
 * of NVML and the CUDA driver, and, by name, refusals of the CUDA runtime,
 * kernels and libraries. Prints them when `gpukit fake` ends.
 */
#include "cli/fake/report/refusals.h"
#include "base/str.h"
#include "cli/fake/ctl/ctl.h"
#include "fronts/common/needed.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/file/work_state.h"
#include "machine/store/coverage.h"
#include "machine/store/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char cuda_functions[][64] = {
#define CUDA_SYMBOL(symbol, ...) #symbol,
#include "abi/cuda/cuda_symbols.def"
};
#define CUDA_FUNCTIONS (sizeof cuda_functions / sizeof *cuda_functions)
_Static_assert(CUDA_FUNCTIONS <= GKF_CUDA_FUNCTIONS_MAX,
	       "a counter for every function");

/* The library to which each kind of refusal belongs. */
static const char *const owners[GKF_NAMED_KINDS] = {
    [GKF_NAMED_RUNTIME] = "libcudart",    [GKF_NAMED_KERNEL] = "kernel",
    [GKF_NAMED_CUBLAS] = "libcublas",     [GKF_NAMED_CUFFT] = "libcufft",
    [GKF_NAMED_CURAND] = "libcurand",     [GKF_NAMED_CUSPARSE] = "libcusparse",
    [GKF_NAMED_CUSOLVER] = "libcusolver", [GKF_NAMED_CUPTI] = "libcupti",
    [GKF_NAMED_NCCL] = "libnccl",         [GKF_NAMED_TORCH] = "PyTorch",
};

#define COUNTS_MAX (GKF_FUNCTIONS_MAX + CUDA_FUNCTIONS + GKF_NAMES_MAX)

/* Sorts by refusals, then calls, then name. */
static int by_weight(const void *left, const void *right)
{
	const struct count *a = left, *b = right;

	if (a->refused != b->refused)
		return a->refused < b->refused ? 1 : -1;
	if (a->calls != b->calls)
		return a->calls < b->calls ? 1 : -1;
	return strcmp(a->name, b->name);
}

static void add_library_count(struct refusals *to, const char *library,
			      unsigned function, const char *name,
			      uint64_t calls, uint64_t refused)
{
	struct count *c = &to->counts[to->counts_n];

	if (!calls && !refused)
		return;
	c->library = library;
	c->function = function;
	c->calls = calls;
	c->refused = refused;
	gk_str_clean(c->name, sizeof c->name, name, strlen(name));
	to->counts_n++;
}

static void read_counts(struct gkf_machine *m, struct refusals *to)
{
	const struct gkf_file *f = gkf_machine_file(m);
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
	/*
	 * The machine counts how often these were refused, but not how often
	 * they were called.
	 */
	for (unsigned i = 0; i < GKF_NAMES_MAX; i++)
		if (gkf_named_read(m, i, &named))
			add_library_count(to, owners[named.kind],
					  GKF_REFUSED_NAMED + i, named.name,
					  named.count, named.count);
	qsort(to->counts, to->counts_n, sizeof *to->counts, by_weight);
}

/* Sorts by program, then count, then name. */
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

static const struct count *find_function_count(const struct refusals *all,
					       unsigned function)
{
	for (unsigned i = 0; i < all->counts_n; i++)
		if (all->counts[i].function == function)
			return &all->counts[i];
	return NULL;
}

static void read_callers(struct gkf_machine *m, struct refusals *all)
{
	struct gkf_refused one;

	for (unsigned i = 0; i < GKF_REFUSALS_MAX; i++) {
		struct refusal *to = &all->refusals[all->refusals_n];

		if (!gkf_refusal_read(m, i, &one))
			continue;
		to->what = find_function_count(all, one.function);
		if (!to->what)
			continue;
		gk_str_clean(to->caller, sizeof to->caller, one.caller,
			     strlen(one.caller));
		to->count = one.count;
		to->order = one.order;
		all->refusals_n++;
	}
	qsort(all->refusals, all->refusals_n, sizeof *all->refusals, by_caller);
	all->lost = atomic_load(&gkf_machine_file(m)->refusals.lost);
}

int refusals_read(struct gkf_machine *m, struct refusals *ret)
{
	struct refusals all = {
	    .counts = calloc(COUNTS_MAX, sizeof *all.counts),
	    .refusals = calloc(GKF_REFUSALS_MAX, sizeof *all.refusals)};

	if (!all.counts || !all.refusals) {
		refusals_free(&all);
		return fake_failure("out of memory");
	}
	read_counts(m, &all);
	read_callers(m, &all);
	*ret = all;
	return 0;
}

void refusals_free(struct refusals *all)
{
	free(all->counts);
	free(all->refusals);
	*all = (struct refusals){0};
}

/* Parses "ptx: REASON in KERNEL", as written by launch_task.c. */
#define KERNEL_MARK "ptx: "
#define IN_MARK     " in "

bool refusals_kernel(const struct count *what, struct refused_kernel_name *ret)
{
	const char *reason = what->name, *in = strstr(reason, IN_MARK);

	*ret = (struct refused_kernel_name){"", reason, (int)strlen(reason)};
	if (what->library != owners[GKF_NAMED_KERNEL])
		return false;
	if (strncmp(reason, KERNEL_MARK, strlen(KERNEL_MARK)) != 0 || !in)
		return true;
	reason += strlen(KERNEL_MARK);
	*ret = (struct refused_kernel_name){in + strlen(IN_MARK), reason,
					    (int)(in - reason)};
	return true;
}

bool refusals_needed(const struct count *what)
{
	return !strncmp(what->name, NEEDED_MARK, strlen(NEEDED_MARK));
}

const char *refusals_caller(const struct refusals *all,
			    const struct count *what)
{
	const struct refusal *first = NULL;

	for (unsigned i = 0; i < all->refusals_n; i++) {
		const struct refusal *r = &all->refusals[i];

		if (r->what == what && (!first || r->order < first->order))
			first = r;
	}
	return first ? first->caller : "?";
}

static void put_count(const struct refusals *all, const struct count *c,
		      struct gk_buf *buf)
{
	struct refused_kernel_name n;

	if (refusals_needed(c))
		gk_buf_printf(buf, "%s %s", c->library, c->name);
	else if (!refusals_kernel(c, &n))
		gk_buf_printf(buf, "%s of %s", c->name, c->library);
	else if (*n.kernel)
		gk_buf_printf(buf, "kernel %s: %.*s is not executed", n.kernel,
			      n.length, n.reason);
	else
		gk_buf_puts(buf, n.reason);
	gk_buf_printf(buf, ", %llu time%s, by %s\n",
		      (unsigned long long)c->refused,
		      c->refused == 1 ? "" : "s", refusals_caller(all, c));
}

unsigned refusals_text(const struct refusals *all, const char *head,
		       struct gk_buf *buf)
{
	unsigned lines = 0;

	for (unsigned i = 0; i < all->counts_n; i++) {
		if (!all->counts[i].refused)
			continue;
		lines++;
		gk_buf_puts(buf, head);
		put_count(all, &all->counts[i], buf);
	}
	if (!all->lost)
		return lines;
	gk_buf_printf(buf, "%smore, %llu times; no room to record which\n",
		      head, (unsigned long long)all->lost);
	return lines + 1;
}

unsigned refusals_tell(struct gkf_machine *m, bool quiet)
{
	struct gk_buf buf = {0};
	struct refusals all;
	unsigned told;

	if (refusals_read(m, &all))
		return 0;
	told = refusals_text(&all, "gpukit fake: refused: ", &buf);
	if (!quiet && !buf.failed && buf.len)
		fwrite(buf.data, 1, buf.len, stderr);
	gk_buf_free(&buf);
	refusals_free(&all);
	return told;
}

/*
 * fake_coverage.c - `gpukit fake ctl coverage`: which functions were called
 * and refused, and by whom.
 */
#include "cli/fake_ctl.h"

#include "base/str.h"
#include "cli/cmd.h"
#include "fake/fault.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct count {
	const char *name;
	unsigned row;
	uint64_t calls, refused;
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

static unsigned read_counts(struct ctl *ctl, struct count *counts)
{
	unsigned n = 0;

	for (unsigned i = 0; i < ctl_function_count; i++) {
		struct count c = {ctl_function_name(i), i,
				  atomic_load(&ctl->file->calls[i]),
				  atomic_load(&ctl->file->refused[i])};

		if (c.calls || c.refused)
			counts[n++] = c;
	}
	qsort(counts, n, sizeof *counts, by_weight);
	return n;
}

/* What a program was refused; its name is what can be shown of it. */
struct refusal {
	char caller[4 * GKF_CALLER_MAX];
	unsigned row;
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
	return strcmp(ctl_function_name(a->row), ctl_function_name(b->row));
}

static unsigned read_refusals(struct ctl *ctl, struct refusal *to)
{
	struct gkf_refused one;
	unsigned n = 0;

	for (unsigned i = 0; i < GKF_REFUSALS_MAX; i++) {
		if (!gkf_refusal_read(ctl->machine, i, &one) ||
		    one.function >= ctl_function_count)
			continue;
		gk_str_clean(to[n].caller, sizeof to[n].caller, one.caller,
			     strlen(one.caller));
		to[n].row = one.function;
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

static json_t *callers_of(unsigned row, const struct refusal *refusals,
			  unsigned n)
{
	json_t *callers = json_object();

	for (unsigned i = 0; i < n; i++)
		if (refusals[i].row == row)
			json_object_set_new(
			    callers, refusals[i].caller,
			    json_integer((json_int_t)refusals[i].count));
	return callers;
}

static int functions_json(const struct count *counts, unsigned n,
			  const struct refusal *refusals, unsigned refusals_n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(
		    list,
		    json_pack("{s:s, s:I, s:I, s:o}", "function",
			      counts[i].name, "calls",
			      (json_int_t)counts[i].calls, "refused",
			      (json_int_t)counts[i].refused, "callers",
			      callers_of(counts[i].row, refusals, refusals_n)));
	return dump(list);
}

static int callers_json(const struct refusal *refusals, unsigned n)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < n; i++)
		json_array_append_new(
		    list,
		    json_pack("{s:s, s:s, s:I}", "caller", refusals[i].caller,
			      "function", ctl_function_name(refusals[i].row),
			      "refused", (json_int_t)refusals[i].count));
	return dump(list);
}

static int functions_text(const struct count *counts, unsigned n)
{
	if (!n)
		puts("no calls");
	else
		printf("%12s %12s  %s\n", "CALLS", "REFUSED", "FUNCTION");
	for (unsigned i = 0; i < n; i++)
		printf("%12llu %12llu  %s\n",
		       (unsigned long long)counts[i].calls,
		       (unsigned long long)counts[i].refused, counts[i].name);
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
	for (unsigned i = 0; i < n; i++)
		printf("%-16s %12llu  %s\n", refusals[i].caller,
		       (unsigned long long)refusals[i].count,
		       ctl_function_name(refusals[i].row));
	if (lost)
		printf("%-16s %12llu  (there was no room to say more)\n", "?",
		       (unsigned long long)lost);
	return GK_EXIT_OK;
}

int ctl_coverage(struct ctl *ctl, int argc, char **argv)
{
	struct count counts[GKF_FUNCTIONS_MAX];
	struct refusal *refusals = calloc(GKF_REFUSALS_MAX, sizeof *refusals);
	unsigned n, refusals_n;
	int code;

	(void)argc, (void)argv;
	if (!refusals)
		return fake_failure("out of memory");
	refusals_n = read_refusals(ctl, refusals);
	n = read_counts(ctl, counts);
	if (ctl->by_caller)
		code = ctl->json ? callers_json(refusals, refusals_n)
				 : callers_text(ctl, refusals, refusals_n);
	else
		code = ctl->json
			   ? functions_json(counts, n, refusals, refusals_n)
			   : functions_text(counts, n);
	free(refusals);
	return code;
}

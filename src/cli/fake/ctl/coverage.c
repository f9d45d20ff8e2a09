/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage.c - `gpukit fake ctl coverage`: which functions were called
 * and refused, and by whom.
 */
#include "cli/cmd.h"
#include "cli/fake/ctl/ctl.h"
#include "cli/fake/report/refusals.h"

#include <jansson.h>
#include <stdio.h>

static int dump_list(json_t *list)
{
	int r = list ? json_dumpf(list, stdout, JSON_INDENT(2)) : -1;

	json_decref(list);
	putchar('\n');
	return r ? fake_failure("ctl coverage: cannot write JSON") : GK_EXIT_OK;
}

static json_t *callers_of(const struct refusals *all, const struct count *what)
{
	json_t *callers = json_object();

	for (unsigned i = 0; i < all->refusals_n; i++)
		if (all->refusals[i].what == what)
			json_object_set_new(
			    callers, all->refusals[i].caller,
			    json_integer((json_int_t)all->refusals[i].count));
	return callers;
}

static int functions_json(const struct refusals *all)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < all->counts_n; i++) {
		const struct count *c = &all->counts[i];

		json_array_append_new(
		    list, json_pack("{s:s, s:s, s:I, s:I, s:o}", "function",
				    c->name, "library", c->library, "calls",
				    (json_int_t)c->calls, "refused",
				    (json_int_t)c->refused, "callers",
				    callers_of(all, c)));
	}
	return dump_list(list);
}

static int callers_json(const struct refusals *all)
{
	json_t *list = json_array();

	for (unsigned i = 0; i < all->refusals_n; i++) {
		const struct refusal *r = &all->refusals[i];

		json_array_append_new(
		    list, json_pack("{s:s, s:s, s:s, s:I}", "caller", r->caller,
				    "function", r->what->name, "library",
				    r->what->library, "refused",
				    (json_int_t)r->count));
	}
	return dump_list(list);
}

/*
 * Prints what was refused: a function or, after "in a kernel: ", an
 * instruction.
 */
static void print_name(const struct count *c)
{
	struct refused_kernel_name n;

	printf("  %s%s\n", refusals_kernel(c, &n) ? "in a kernel: " : "",
	       c->name);
}

static int functions_text(const struct refusals *all)
{
	if (!all->counts_n)
		puts("no calls");
	else
		printf("%12s %12s  %s\n", "CALLS", "REFUSED", "FUNCTION");
	for (unsigned i = 0; i < all->counts_n; i++) {
		printf("%12llu %12llu",
		       (unsigned long long)all->counts[i].calls,
		       (unsigned long long)all->counts[i].refused);
		print_name(&all->counts[i]);
	}
	return GK_EXIT_OK;
}

static int callers_text(const struct refusals *all)
{
	if (!all->refusals_n)
		puts("no calls were refused");
	else
		printf("%-16s %12s  %s\n", "CALLER", "REFUSED", "FUNCTION");
	for (unsigned i = 0; i < all->refusals_n; i++) {
		printf("%-16s %12llu", all->refusals[i].caller,
		       (unsigned long long)all->refusals[i].count);
		print_name(all->refusals[i].what);
	}
	if (all->lost)
		printf("%-16s %12llu  (no room to record which)\n", "?",
		       (unsigned long long)all->lost);
	return GK_EXIT_OK;
}

int ctl_coverage(struct ctl *ctl, int argc, char **argv)
{
	struct refusals all;
	int code = refusals_read(ctl->machine, &all);

	(void)argc, (void)argv;
	if (code)
		return code;
	if (ctl->by_caller)
		code = ctl->json ? callers_json(&all) : callers_text(&all);
	else
		code = ctl->json ? functions_json(&all) : functions_text(&all);
	refusals_free(&all);
	return code;
}

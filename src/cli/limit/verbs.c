/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verbs.c - the subcommands ls, show, set, suspend, resume and rm of `gpukit
 * limit`.
 */
#include "cli/cmd.h"
#include "cli/limit/limit.h"
#include "format/units.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- writing ---- */

int limit_write_out(struct gk_buf *out)
{
	int code = GK_EXIT_OK;

	if (out->failed)
		code = limit_failure("out of memory");
	else if (fwrite(out->data, 1, out->len, stdout) != out->len ||
		 fflush(stdout))
		code = limit_failure("cannot write the output: %s",
				     strerror(errno));
	gk_buf_free(out);
	return code;
}

static int write_json(const struct limit_views *views)
{
	struct gk_buf out = {0};

	limit_views_json(&out, views, false);
	return limit_write_out(&out);
}

/* ---- looking ---- */

int limit_ls(struct limit_ask *ask)
{
	struct gk_buf out = {0};
	struct limit_views views;
	int code = limit_views_read(NULL, &views);

	if (code)
		return code;
	if (ask->json) {
		code = write_json(&views);
	} else {
		limit_list_text(&out, &views, limit_columns());
		code = limit_write_out(&out);
	}
	limit_views_free(&views);
	return code;
}

static int show_only(struct limit_views *views, bool json)
{
	struct gk_buf out = {0};

	if (views->all[0].err)
		return limit_tell(views->all[0].name, views->all[0].err);
	if (json)
		return write_json(views);
	limit_view_text(&out, &views->all[0], limit_columns());
	return limit_write_out(&out);
}

static int refuse_choice(const struct limit_views *views)
{
	struct gk_buf names = {0};
	int code;

	for (size_t i = 0; i < views->count; i++)
		gk_buf_printf(&names, "%s%s", i ? ", " : "",
			      views->all[i].name);
	code =
	    views->count
		? limit_failure("which group: %s?",
				names.data ? names.data : "several")
		: limit_failure("no groups; `gpukit limit -- CMD` creates one");
	gk_buf_free(&names);
	return code;
}

/*
 * Shows the named group, or else the group of this shell, or else the only one.
 */
int limit_show(struct limit_ask *ask)
{
	const char *name = ask->name ? ask->name : limit_own_group();
	struct limit_views views;
	int code = limit_views_read(name, &views);

	if (code)
		return code;
	code = views.count == 1 ? show_only(&views, ask->json)
				: refuse_choice(&views);
	limit_views_free(&views);
	return code;
}

/* ---- changing groups ---- */

/*
 * Warns of GPUs on which the group holds more than its new limit. The group
 * keeps that memory, but gets no more.
 */
static void tell_what_is_above(const char *name, const struct gkl_group *group,
			       const struct gkl_policy *policy)
{
	for (unsigned i = 0; i < GKL_DEVICES; i++) {
		uint64_t used = gkl_ledger_used(group->ledger, i);
		char has[GK_UNITS_MAX], may[GK_UNITS_MAX];

		if (policy->memory[i] && used > policy->memory[i])
			limit_failure(
			    "group %s holds %s of GPU %u, above its limit of "
			    "%s: it gets no more until it holds less",
			    name, gk_human_size(has, (int64_t)used), i,
			    gk_human_size(may, (int64_t)policy->memory[i]));
	}
}

static int show_changed(const struct limit_ask *ask)
{
	struct limit_views views;
	int code;

	if (!ask->json)
		return GK_EXIT_OK;
	code = limit_views_read(ask->name, &views);
	if (code)
		return code;
	code = show_only(&views, true);
	limit_views_free(&views);
	return code;
}

/*
 * Changes a group's policy: resolves the request, calls change(), checks that
 * the result is usable, and writes it.
 */
static int change_policy(struct limit_ask *ask,
			 void (*change)(const struct limit_ask *ask,
					struct gkl_policy *policy))
{
	struct gkl_policy policy;
	struct gkl_group group;
	int err = gkl_group_open(ask->name, true, &group), code;

	if (err)
		return limit_tell(ask->name, err);
	gkl_policy_read(group.policy, &policy);
	code = limit_wish_resolve(&ask->wish, group.ledger);
	change(ask, &policy);
	if (!code)
		code = limit_wish_judge(&ask->wish, &policy, group.ledger);
	if (code) {
		gkl_group_close(&group);
		return code;
	}
	err = gkl_policy_write(group.policy, &policy);
	if (!err) {
		gkl_group_refresh(&group);
		tell_what_is_above(ask->name, &group, &policy);
	}
	gkl_group_close(&group);
	return err ? limit_tell(ask->name, err) : show_changed(ask);
}

static void apply_wish(const struct limit_ask *ask, struct gkl_policy *policy)
{
	limit_wish_apply(&ask->wish, policy);
}

static void suspend_policy(const struct limit_ask *ask,
			   struct gkl_policy *policy)
{
	(void)ask;
	policy->suspended = 1;
}

static void resume_policy(const struct limit_ask *ask,
			  struct gkl_policy *policy)
{
	(void)ask;
	policy->suspended = 0;
}

int limit_set(struct limit_ask *ask)
{
	if (limit_wish_is_none(&ask->wish))
		return limit_usage("set: no limits; for example: gpukit limit "
				   "set %s --memory 4GiB --compute 30",
				   ask->name);
	return change_policy(ask, apply_wish);
}

int limit_suspend(struct limit_ask *ask)
{
	return change_policy(ask, suspend_policy);
}

int limit_resume(struct limit_ask *ask)
{
	return change_policy(ask, resume_policy);
}

int limit_rm(struct limit_ask *ask)
{
	int err = gkl_group_remove(ask->name);

	if (err)
		return limit_tell(ask->name, err);
	if (ask->json) {
		const struct limit_views none = {0};

		return write_json(&none);
	}
	return GK_EXIT_OK;
}

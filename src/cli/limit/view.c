/* SPDX-License-Identifier: Apache-2.0 */
/* view.c - reads groups: their limits, their usage and their processes. */
#include "base/memory.h"
#include "cli/limit/limit.h"
#include "base/clock.h"
#include "base/pidstat.h"
#include "limit/environment.h"
#include "limit/life.h"
#include "limit/share.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *const limit_kinds[] = {
    [GKL_CONTEXT] = "context",   [GKL_MODULE] = "module",
    [GKL_DATA] = "data",         [GKL_ARRAY] = "array",
    [GKL_MANAGED] = "managed",   [GKL_VIRTUAL] = "virtual",
    [GKL_POOL] = "pool",         [GKL_GRAPH] = "graph",
    [GKL_EXTERNAL] = "external", [GKL_EXPORTED] = "exported",
    [GKL_PENDING] = "pending",   [GKL_LOADING] = "loading",
};

_Static_assert(sizeof limit_kinds / sizeof *limit_kinds == GKL_KINDS,
	       "a name for each kind");

static void take_process(const struct gkl_process *process, void *arg)
{
	struct limit_view *view = arg;
	struct gkl_process *more = gk_resize(
	    view->processes, view->process_count + 1, sizeof *view->processes);

	if (!more) {
		view->err = GK_ERR_NOMEM;
		return;
	}
	view->processes = more;
	more += view->process_count++;
	*more = *process;
	if (!more->host_pid)
		more->host_pid = limit_find_host_pid(more);
}

static void add_process(struct limit_view_device *device,
			const struct gkl_process *process)
{
	unsigned i = device->index;

	for (unsigned kind = 0; kind < GKL_KINDS; kind++)
		device->kinds[kind] += process->kinds[i][kind];
}

/* Whether a GPU's limit differs from that of most GPUs. */
static bool has_own_limit(const struct gkl_policy *policy, unsigned i)
{
	return policy->memory[i] != policy->memory[GKL_DEVICES - 1] ||
	       policy->compute[i] != policy->compute[GKL_DEVICES - 1];
}

bool limit_measures_time(const struct limit_view *view, unsigned i)
{
	return view->has_region ||
	       (view->policy.compute[i] && view->policy.rule != GKL_OFF);
}

/*
 * Returns the share of time in the last second, in percent; -1 if the group has
 * not used the device or its time is not measured.
 */
static double read_share(const struct limit_view *view,
			 const struct gkl_group *group, unsigned i)
{
	const struct gkl_share *share = gkl_ledger_share(group->ledger, i);

	if (!limit_measures_time(view, i) || !gkl_share_wanted(share))
		return -1;
	return 100.0 *
	       (double)gkl_share_busy(share, gk_mono_ns(), GK_NS_PER_S) /
	       (double)GK_NS_PER_S;
}

static void read_device(struct limit_view *view, const struct gkl_group *group,
			unsigned i)
{
	struct limit_view_device *device = &view->devices[view->device_count];

	*device = (struct limit_view_device){.index = i, .share = -1};
	if (!gkl_ledger_device(group->ledger, i, &device->device) &&
	    !has_own_limit(&view->policy, i))
		return;
	for (size_t k = 0; k < view->process_count; k++)
		add_process(device, &view->processes[k]);
	gkl_ledger_total(group->ledger, i, &device->total);
	device->share = read_share(view, group, i);
	view->device_count++;
}

void limit_view_read(const char *name, struct limit_view *view)
{
	struct gkl_group group;

	*view = (struct limit_view){0};
	gk_str_copy(view->name, sizeof view->name, name);
	view->err = gkl_group_open(name, true, &group);
	if (view->err)
		return;
	gk_str_copy(view->path, sizeof view->path, group.path);
	gkl_group_refresh(&group);
	gkl_policy_read(group.policy, &view->policy);
	view->has_region = group.region != NULL;
	gkl_ledger_each(group.ledger, take_process, view);
	for (unsigned i = 0; i < GKL_DEVICES; i++)
		read_device(view, &group, i);
	gkl_group_close(&group);
}

void limit_view_free(struct limit_view *view)
{
	free(view->processes);
	view->processes = NULL;
}

void limit_process_command(const struct gkl_process *process, char *ret_name,
			   size_t cap)
{
	struct gk_pidstat line;
	struct stat ours;
	int32_t pid = process->host_pid;

	*ret_name = '\0';
	if (stat("/proc/self/ns/pid", &ours))
		return;
	if (ours.st_ino == process->pid_ns)
		pid = process->pid;
	else if (ours.st_ino != GKL_FIRST_NAMESPACE)
		return;
	if (pid && !gk_pidstat_of(pid, &line))
		gk_str_clean(ret_name, cap, line.comm, strlen(line.comm));
}

/* ---- all groups ---- */

static void take_group(const char *name, void *arg)
{
	struct limit_views *views = arg;
	struct limit_view *more =
	    gk_resize(views->all, views->count + 1, sizeof *views->all);

	if (!more)
		return;
	views->all = more;
	limit_view_read(name, &views->all[views->count++]);
}

static int by_name(const void *a, const void *b)
{
	const struct limit_view *first = a, *second = b;

	return strcmp(first->name, second->name);
}

int limit_views_read(const char *only, struct limit_views *ret_views)
{
	int err;

	*ret_views = (struct limit_views){0};
	if (only) {
		take_group(only, ret_views);
		return 0;
	}
	err = gkl_group_each(take_group, ret_views);
	/*
	 * gkl_group_each() finds groups by name, but a group in HAMi's region
	 * has no name.
	 */
	only = limit_own_group();
	if (only && strchr(only, '/'))
		take_group(only, ret_views);
	if (err && err != GK_ERR_NOT_FOUND)
		return limit_failure("cannot list the groups: %s",
				     gk_strerror(err));
	if (ret_views->count)
		qsort(ret_views->all, ret_views->count, sizeof *ret_views->all,
		      by_name);
	return 0;
}

void limit_views_free(struct limit_views *views)
{
	for (size_t i = 0; i < views->count; i++)
		limit_view_free(&views->all[i]);
	free(views->all);
	*views = (struct limit_views){0};
}

/*
 * Returns HAMi's region as named by the environment, or NULL if it does not
 * exist.
 */
static const char *hami_group(void)
{
	static struct gkl_environment environment;

	if (gkl_environment_read(&environment) || !environment.region ||
	    access(environment.region, F_OK))
		return NULL;
	return environment.region;
}

const char *limit_own_group(void)
{
	const char *path = getenv(LIMIT_VARIABLE), *slash;

	if (!path || !*path)
		return hami_group();
	slash = strrchr(path, '/');
	return slash && gkl_name_is_good(slash + 1) ? slash + 1 : path;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * verify.c - `gpukit limit verify`: runs a known load in a group of its own,
 * and compares the limits with what the driver reports.
 */
#include "cli/limit/verify.h"
#include "base/clock.h"
#include "cli/cmd.h"
#include "cli/limit/limit.h"
#include "cli/open.h"
#include "cli/where.h"
#include "format/units.h"

#include <gpukit/gpukit.h>

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MEMORY_DEFAULT (2ULL << 30)
enum { COMPUTE_DEFAULT = 30 };

/*
 * The memory that may stay unused: the last block, which was refused, and
 * memory for code.
 */
#define MEMORY_SLACK (4ULL << 20)

/* The accuracy that LIMIT.md promises, in percentage points. */
#define COMPUTE_SLACK 3.0

struct verify {
	unsigned gpu;
	char bus_id[32], name[GK_NAME_MAX], uuid[GK_NAME_MAX];
	/* The limits, and how long the load keeps the GPU busy. */
	uint64_t memory, compute, seconds;
	/* The next members belong to the load. */
	pid_t launcher;
	FILE *to, *from;
	int pid;
	/* Memory as counted by the load and by the driver. */
	uint64_t allocated, held;
	uint64_t busy_ns, wall_ns, launches;
};

static int take_wish(struct verify *v, struct limit_ask *ask)
{
	struct limit_wish *wish = &ask->wish;
	int code = limit_wish_resolve(wish, NULL);
	unsigned i = (unsigned)ask->gpu;

	v->gpu = i;
	v->seconds = ask->seconds;
	v->memory =
	    wish->memory.given[i] ? wish->memory.value[i] : MEMORY_DEFAULT;
	v->compute =
	    wish->compute.given[i] ? wish->compute.value[i] : COMPUTE_DEFAULT;
	if (!code && (!v->memory || !v->compute))
		code = limit_usage("verify: without a limit there is nothing "
				   "to verify");
	return code;
}

/* ---- the driver ---- */

static int open_driver(struct gk **ret_gk)
{
	struct gk_options options = GK_OPTIONS_DEFAULT;

	options.with =
	    GK_WITHOUT_COMMANDS | GK_WITHOUT_SLOW | GK_WITHOUT_PROCESS_UTIL;
	limit_ask_the_driver();
	return gk_cli_open("limit", &options, ret_gk);
}

static const struct gk_device *find_gpu(const struct gk_snapshot *snap,
					unsigned index)
{
	for (size_t i = 0; i < snap->device_count; i++)
		if (snap->devices[i].index == index &&
		    snap->devices[i].mig_index < 0)
			return &snap->devices[i];
	return NULL;
}

static int judge_gpu(struct verify *v, const struct gk_device *gpu)
{
	const struct gk_value *free = &gpu->m[GK_M_MEM_FREE];
	char has[GK_UNITS_MAX], wants[GK_UNITS_MAX];

	gk_str_copy(v->bus_id, sizeof v->bus_id, gpu->bus_id);
	gk_str_copy(v->name, sizeof v->name, gpu->name);
	gk_str_copy(v->uuid, sizeof v->uuid, gpu->uuid);
	if (free->why == GK_PRESENT && (uint64_t)free->v < v->memory)
		return limit_failure(
		    "verify: only %s of GPU %u are free, less than the granted "
		    "%s; use --memory, or another --gpu",
		    gk_human_size(has, free->v), v->gpu,
		    gk_human_size(wants, (int64_t)v->memory));
	return 0;
}

static int look_at_gpu(struct verify *v, struct gk *gk)
{
	const struct gk_device *gpu;
	struct gk_snapshot *snap;
	int err = gk_snapshot_take(gk, &snap), code;

	if (err)
		return limit_failure("the GPUs cannot be read: %s",
				     gk_strerror(err));
	gpu = find_gpu(snap, v->gpu);
	code = gpu ? judge_gpu(v, gpu)
		   : limit_failure("verify: no GPU %u", v->gpu);
	gk_snapshot_free(snap);
	return code;
}

/*
 * Reads the memory that the load holds according to the driver, context
 * included.
 */
static int read_held(struct verify *v, struct gk *gk)
{
	struct gk_snapshot *snap;
	int err = gk_snapshot_take(gk, &snap);

	if (err)
		return limit_failure("the GPUs cannot be read: %s",
				     gk_strerror(err));
	for (size_t i = 0; i < snap->process_count; i++) {
		const struct gk_process *p = &snap->processes[i];
		const struct gk_value *memory = &p->m[GK_PM_GPU_MEM];

		if (p->pid == v->pid &&
		    snap->devices[p->device].index == v->gpu &&
		    memory->why == GK_PRESENT)
			v->held += (uint64_t)memory->v;
	}
	gk_snapshot_free(snap);
	if (v->held)
		return 0;
	return limit_failure(
	    "verify: the driver does not report the memory of process %d",
	    v->pid);
}

/* ---- the load ---- */

static void __attribute__((noreturn))
become_load(const struct verify *v, int from, int to)
{
	char gpukit[PATH_MAX], memory[64], compute[64], seconds[32], bus[32];

	if (gk_where_command(gpukit, sizeof gpukit))
		_exit(limit_failure("gpukit cannot be found"));
	snprintf(memory, sizeof memory, "%u=%" PRIu64, v->gpu, v->memory);
	snprintf(compute, sizeof compute, "%u=%" PRIu64, v->gpu, v->compute);
	snprintf(seconds, sizeof seconds, "%" PRIu64, v->seconds);
	gk_str_copy(bus, sizeof bus, v->bus_id);
	dup2(from, STDIN_FILENO);
	dup2(to, STDOUT_FILENO);
	execl(gpukit, gpukit, "limit", "--strict", "--memory", memory,
	      "--compute", compute, "--", gpukit, "limit", LIMIT_VERIFY_LOAD,
	      bus, seconds, (char *)NULL);
	_exit(limit_failure("%s: %s", gpukit, strerror(errno)));
}

static int start_load(struct verify *v)
{
	int to[2], from[2];

	if (pipe2(to, O_CLOEXEC) || pipe2(from, O_CLOEXEC))
		return limit_failure("no pipe: %s", strerror(errno));
	v->launcher = fork();
	if (v->launcher < 0)
		return limit_failure("cannot start a process: %s",
				     strerror(errno));
	if (!v->launcher)
		become_load(v, to[0], from[1]);
	close(to[0]);
	close(from[1]);
	v->to = fdopen(to[1], "w");
	v->from = fdopen(from[0], "r");
	return v->to && v->from ? 0 : limit_failure("out of memory");
}

/* The load itself has printed the error. */
static int lost_load(void)
{
	return limit_failure("verify: the load ended before it was measured");
}

static int run_load(struct verify *v, struct gk *gk)
{
	int code = start_load(v);

	if (code)
		return code;
	if (fscanf(v->from, LIMIT_VERIFY_HELD, &v->pid, &v->allocated) != 2)
		return lost_load();
	code = read_held(v, gk);
	if (code)
		return code;
	fputc('\n', v->to);
	fflush(v->to);
	return fscanf(v->from, LIMIT_VERIFY_BUSY, &v->busy_ns, &v->wall_ns,
		      &v->launches) == 3
		   ? 0
		   : lost_load();
}

/* Closes the pipes, which ends a load that is still running. */
static void end_load(struct verify *v)
{
	if (v->to)
		fclose(v->to);
	if (v->from)
		fclose(v->from);
	if (v->launcher > 0)
		waitpid(v->launcher, NULL, 0);
}

/* ---- what is printed ---- */

static double got_percent(const struct verify *v)
{
	return v->wall_ns ? 100.0 * (double)v->busy_ns / (double)v->wall_ns : 0;
}

static bool memory_is_kept(const struct verify *v)
{
	return v->held <= v->memory && v->held + MEMORY_SLACK >= v->memory;
}

static bool compute_is_kept(const struct verify *v)
{
	return fabs(got_percent(v) - (double)v->compute) <= COMPUTE_SLACK;
}

static void print_text(const struct verify *v)
{
	char granted[GK_UNITS_MAX], got[GK_UNITS_MAX];

	printf("GPU %u, %s\n%-8s%10s%10s\n", v->gpu, v->name, "", "granted",
	       "got");
	printf("%-8s%10s%10s  %s\n", "memory",
	       gk_human_size(granted, (int64_t)v->memory),
	       gk_human_size(got, (int64_t)v->held),
	       memory_is_kept(v) ? "kept" : "NOT KEPT");
	printf("%-8s%9" PRIu64 "%%%9.1f%%  %s\n", "time", v->compute,
	       got_percent(v), compute_is_kept(v) ? "kept" : "NOT KEPT");
}

static void print_json(const struct verify *v)
{
	json_t *top = json_pack(
	    "{s:i, s:s, s:f, s:i, s:s, s:s, s:{s:I, s:I, s:I, s:b},"
	    " s:{s:i, s:f, s:f, s:I, s:b}, s:b}",
	    "schema", 1, "gpukit_version", GPUKIT_VERSION, "unix_seconds",
	    (double)gk_wall_ns() / (double)GK_NS_PER_S, "index", (int)v->gpu,
	    "uuid", v->uuid, "name", v->name, "memory", "granted_bytes",
	    (json_int_t)v->memory, "got_bytes", (json_int_t)v->held,
	    "allocated_bytes", (json_int_t)v->allocated, "kept",
	    memory_is_kept(v), "compute", "granted_percent", (int)v->compute,
	    "got_percent", got_percent(v), "seconds",
	    (double)v->wall_ns / (double)GK_NS_PER_S, "launches",
	    (json_int_t)v->launches, "kept", compute_is_kept(v), "kept",
	    memory_is_kept(v) && compute_is_kept(v));
	char *text = top ? json_dumps(top, JSON_INDENT(2)) : NULL;

	if (text)
		puts(text);
	free(text);
	json_decref(top);
}

static int print_result(const struct verify *v, bool json)
{
	if (json)
		print_json(v);
	else
		print_text(v);
	if (fflush(stdout))
		return limit_failure("cannot write the output: %s",
				     strerror(errno));
	return memory_is_kept(v) && compute_is_kept(v) ? GK_EXIT_OK
						       : GK_EXIT_FAILURE;
}

int limit_verify(struct limit_ask *ask)
{
	struct verify v = {0};
	struct gk *gk;
	int code = take_wish(&v, ask);

	if (!code)
		code = open_driver(&gk);
	if (code)
		return code;
	code = look_at_gpu(&v, gk);
	if (!code)
		code = run_load(&v, gk);
	end_load(&v);
	if (!code)
		code = print_result(&v, ask->json);
	return gk_cli_close(gk, code);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mig.c - splits GPUs: the option --mig of `gpukit fake`, and `gpukit fake ctl
 * mig`.
 */
#include "base/err.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/fake/ctl/ctl.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/file/profile.h"
#include "machine/model/mig/mig.h"
#include "machine/model/mig/mig_rules.h"
#include "machine/store/board.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/processes.h"
#include "machine/store/machine.h"
#include "machine/words/spec.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Lists the MIG profiles of a GPU. */
static void list_profiles(const struct gkf_mig_board *board, char *text,
			  size_t cap)
{
	const struct gkf_mig_profile *p;
	size_t len = 0;

	for (unsigned i = 0; (p = gkf_mig_profile_at(board, i)) && len < cap;
	     i++)
		len += (size_t)snprintf(text + len, cap - len, "%s%s",
					i ? ", " : "", p->name);
}

/* Prints why a split failed, and at which part of its text. */
static int tell_split_error(struct gkf_machine *m, const char *verb,
			    unsigned gpu, const char *part, int err)
{
	const struct gkf_profile *p = &gkf_board(m, gpu)->profile;
	const struct gkf_mig_board *board = gkf_mig_board(p);
	char names[256] = "";

	if (!board)
		return fake_failure("%s: GPU %u (%s) cannot be split", verb,
				    gpu, p->name);
	list_profiles(board, names, sizeof names);
	switch (err) {
	case GK_ERR_INVALID:
	case GK_ERR_RANGE:
		return fake_usage("%s: GPU %u (%s): '%s' is not one of its "
				  "profiles; allowed are %s",
				  verb, gpu, p->name, part, names);
	case GK_ERR_NO_SPACE:
		return fake_failure("%s: GPU %u (%s): no room for '%s'; see "
				    "`ctl mig %u ls`",
				    verb, gpu, p->name, part, gpu);
	case GK_ERR_NOT_SUPPORTED:
		return fake_failure("%s: GPU %u: MIG is off; see `ctl mig %u "
				    "on`",
				    verb, gpu, gpu);
	case GK_ERR_NOT_FOUND:
		return fake_failure("%s: GPU %u: no instance %s; see `ctl mig "
				    "%u ls`",
				    verb, gpu, part, gpu);
	case GK_ERR_IN_USE:
		return fake_failure("%s: GPU %u: in use by processes or "
				    "instances",
				    verb, gpu);
	default:
		return fake_failure("%s: GPU %u: %s", verb, gpu,
				    gk_strerror(err));
	}
}

static int apply_layout(struct gkf_machine *m, const char *verb, unsigned gpu,
			const char *text)
{
	const char *part = text;
	int err = strcmp(text, "on") ? gkf_mig_layout(m, gpu, text, &part)
				     : gkf_mig_mode_set(m, gpu, true);

	return err ? tell_split_error(m, verb, gpu, part, err) : 0;
}

/* Applies a split such as "0-1=3g.40gb+1g.10gb". */
static int apply_split(struct gkf_machine *m, const char *spec)
{
	const char *equals = strchr(spec, '=');
	char list[64], message[FAKE_MESSAGE_MAX];
	uint64_t gpus;
	int code = 0;

	if (!equals || !equals[1] || (size_t)(equals - spec) >= sizeof list)
		return fake_usage("--mig: '%s' is not GPUS=LAYOUT, as in "
				  "0=3g.40gb+2g.20gb+1g.10gb",
				  spec);
	snprintf(list, sizeof list, "%.*s", (int)(equals - spec), spec);
	if (gkf_spec_list(list, gkf_device_count(m), &gpus, message))
		return fake_usage("--mig: %s", message);
	for (unsigned i = 0; !code && i < gkf_device_count(m); i++)
		if (gpus >> i & 1)
			code = apply_layout(m, "--mig", i, equals + 1);
	return code;
}

int fake_mig_apply(const char *path, char *const *specs)
{
	struct gkf_machine *m;
	int code = fake_open(path, &m);

	if (code)
		return code;
	for (unsigned i = 0; !code && i < gkf_device_count(m); i++)
		if (*gkf_board(m, i)->profile.mig_layout)
			code =
			    apply_layout(m, "mig_layout", i,
					 gkf_board(m, i)->profile.mig_layout);
	for (; !code && *specs; specs++)
		code = apply_split(m, *specs);
	gkf_machine_close(m);
	return code;
}

/* ---- ctl mig GPU ... ---- */

/* Calls f for each compute instance, and each GPU instance without one. */
static void each_mig_part(struct ctl *ctl, unsigned gpu,
			  void (*f)(struct ctl *ctl, unsigned gpu,
				    const struct gkf_mig_gi *gi,
				    const struct gkf_mig_ci *ci, void *arg),
			  void *arg)
{
	struct gkf_mig_gi gi;
	struct gkf_mig_ci ci;

	for (unsigned i = 0; i < GKF_MIG_GIS; i++) {
		unsigned found = 0;

		if (gkf_mig_gi_read(ctl->machine, gpu, i, &gi))
			continue;
		for (unsigned k = 0; k < GKF_MIG_CIS; k++) {
			if (gkf_mig_ci_read(ctl->machine, gpu, i, k, &ci))
				continue;
			f(ctl, gpu, &gi, &ci, arg);
			found++;
		}
		if (!found)
			f(ctl, gpu, &gi, NULL, arg);
	}
}

static unsigned processes_in(struct ctl *ctl, unsigned gpu,
			     const struct gkf_mig_ci *ci)
{
	unsigned count = 0;

	gkf_processes_in(ctl->machine, gpu, GKF_INSTANCE(ci->gi, ci->id), ~0U,
			 NULL, 0, &count);
	return count;
}

static void print_one(struct ctl *ctl, unsigned gpu,
		      const struct gkf_mig_gi *gi, const struct gkf_mig_ci *ci,
		      void *arg)
{
	char uuid[GKF_MIG_UUID_MAX];
	struct gkf_memory memory = {0};

	(void)arg;
	gkf_memory_gi(ctl->machine, gpu, gi->id, &memory);
	if (!ci) {
		printf("%3u   -   -  %u:%u  %-12s %6llu of %6llu MiB  no "
		       "compute instance\n",
		       gi->id, gi->start, gi->profile->memory_slices,
		       gi->profile->name,
		       (unsigned long long)(memory.used >> 20),
		       (unsigned long long)(memory.total >> 20));
		return;
	}
	gkf_mig_uuid(ctl->machine, gpu, ci, uuid);
	printf("%3u %3u %3u  %u:%u  %-12s %6llu of %6llu MiB  %u process%s  "
	       "%s\n",
	       gi->id, ci->id, ci->index, gi->start, gi->profile->memory_slices,
	       ci->profile.name, (unsigned long long)(memory.used >> 20),
	       (unsigned long long)(memory.total >> 20),
	       processes_in(ctl, gpu, ci),
	       processes_in(ctl, gpu, ci) == 1 ? "" : "es", uuid);
}

static void add_json(struct ctl *ctl, unsigned gpu, const struct gkf_mig_gi *gi,
		     const struct gkf_mig_ci *ci, void *arg)
{
	char uuid[GKF_MIG_UUID_MAX];
	struct gkf_memory memory = {0};
	json_t *one;

	gkf_memory_gi(ctl->machine, gpu, gi->id, &memory);
	one = json_pack("{s:i, s:s, s:i, s:i, s:I, s:I}", "gpu_instance",
			(int)gi->id, "profile", gi->profile->name, "start",
			(int)gi->start, "size", (int)gi->profile->memory_slices,
			"memory_used", (json_int_t)memory.used, "memory_total",
			(json_int_t)memory.total);
	if (ci) {
		gkf_mig_uuid(ctl->machine, gpu, ci, uuid);
		json_object_update_new(
		    one,
		    json_pack("{s:i, s:i, s:s, s:s, s:i}", "compute_instance",
			      (int)ci->id, "index", (int)ci->index,
			      "compute_profile", ci->profile.name, "uuid", uuid,
			      "processes", (int)processes_in(ctl, gpu, ci)));
	}
	json_array_append_new(arg, one);
}

static int mig_ls(struct ctl *ctl, unsigned gpu)
{
	unsigned mode = gkf_mig_mode(ctl->machine, gpu);
	bool on = mode & GKF_MIG_CURRENT, wanted = mode & GKF_MIG_PENDING;
	json_t *list;
	int r;

	if (!ctl->json) {
		printf("GPU %u: MIG %s%s\n", gpu, on ? "on" : "off",
		       on == wanted ? ""
		       : wanted     ? ", pending: on"
				    : ", pending: off");
		puts(" GI  CI DEV  AT   PROFILE");
		each_mig_part(ctl, gpu, print_one, NULL);
		return 0;
	}
	list = json_array();
	each_mig_part(ctl, gpu, add_json, list);
	list = json_pack("{s:b, s:b, s:o}", "current", (int)on, "pending",
			 (int)wanted, "instances", list);
	r = list ? json_dumpf(list, stdout, JSON_INDENT(2)) : -1;
	json_decref(list);
	putchar('\n');
	return r ? fake_failure("ctl mig: cannot write JSON") : 0;
}

/*
 * Handles "create 1g.10gb+2g.20gb [at 4]": like --mig, but uses the free
 * slices.
 */
static int mig_create(struct ctl *ctl, unsigned gpu, int argc, char **argv)
{
	char text[128];

	if (argc != 1 && (argc != 3 || strcmp(argv[1], "at")))
		return fake_usage("usage: gpukit fake ctl mig GPU create "
				  "LAYOUT [at SLICE]");
	snprintf(text, sizeof text, argc == 3 ? "%s@%s" : "%s", argv[0],
		 argc == 3 ? argv[2] : "");
	return apply_layout(ctl->machine, "ctl mig create", gpu, text);
}

/*
 * Destroys the GPU instance "GI" and everything in it, or the compute instance
 * "GI/CI".
 */
static int mig_destroy(struct ctl *ctl, unsigned gpu, const char *text)
{
	const char *slash = strchr(text, '/');
	char head[16];
	int64_t gi, ci = -1;
	int err = 0;

	snprintf(head, sizeof head, "%.*s",
		 slash ? (int)(slash - text) : (int)strlen(text), text);
	if (gk_parse_int(head, &gi) || gi < 0 || gi >= GKF_MIG_GIS ||
	    (slash &&
	     (gk_parse_int(slash + 1, &ci) || ci < 0 || ci >= GKF_MIG_CIS)))
		return fake_usage(
		    "ctl mig destroy: '%s' is not an instance; allowed is GI "
		    "or GI/CI, as `ctl mig %u ls` shows them",
		    text, gpu);
	if (slash)
		err = gkf_mig_ci_destroy(ctl->machine, gpu, (unsigned)gi,
					 (unsigned)ci, GKF_MIG_ANY_LIFE);
	for (unsigned i = 0; !slash && !err && i < GKF_MIG_CIS; i++) {
		err = gkf_mig_ci_destroy(ctl->machine, gpu, (unsigned)gi, i,
					 GKF_MIG_ANY_LIFE);
		err = err == GK_ERR_NOT_FOUND ? 0 : err;
	}
	if (!slash && !err)
		err = gkf_mig_gi_destroy(ctl->machine, gpu, (unsigned)gi,
					 GKF_MIG_ANY_LIFE);
	return err ? tell_split_error(ctl->machine, "ctl mig destroy", gpu,
				      text, err)
		   : 0;
}

static int mig_mode(struct ctl *ctl, unsigned gpu, bool on)
{
	int err = gkf_mig_mode_set(ctl->machine, gpu, on);

	return err ? tell_split_error(ctl->machine,
				      on ? "ctl mig on" : "ctl mig off", gpu,
				      "", err)
		   : 0;
}

static int mig_one(struct ctl *ctl, unsigned gpu, int argc, char **argv)
{
	const char *verb = argc ? argv[0] : "ls";

	if (!strcmp(verb, "ls") && argc <= 1)
		return mig_ls(ctl, gpu);
	if ((!strcmp(verb, "on") || !strcmp(verb, "off")) && argc == 1)
		return mig_mode(ctl, gpu, !strcmp(verb, "on"));
	if (!strcmp(verb, "create"))
		return mig_create(ctl, gpu, argc - 1, argv + 1);
	if (!strcmp(verb, "destroy") && argc == 2)
		return mig_destroy(ctl, gpu, argv[1]);
	return fake_usage("usage: gpukit fake ctl mig GPU [ls | on | off | "
			  "create LAYOUT [at SLICE] | destroy GI[/CI]]");
}

int ctl_mig(struct ctl *ctl, int argc, char **argv)
{
	uint64_t gpus;
	int code = ctl_gpus(ctl, argv[0], &gpus);

	for (unsigned i = 0; !code && i < gkf_device_count(ctl->machine); i++)
		if (gpus >> i & 1)
			code = mig_one(ctl, i, argc - 1, argv + 1);
	return code;
}

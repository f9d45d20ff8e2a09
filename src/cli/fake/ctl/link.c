/* SPDX-License-Identifier: Apache-2.0 */
/*
 * link.c - NVLinks in `gpukit fake ctl`: sets nvlink.3.state=down, and shows
 * links that differ from their state at rest.
 */
#include "base/err.h"
#include "base/str.h"
#include "cli/fake/ctl/ctl.h"
#include "machine/file/board.h"
#include "machine/file/link_state.h"
#include "machine/file/numbers.h"
#include "machine/model/link.h"
#include "machine/store/board.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const states[GKF_LINK_STATES] = {
    [GKF_LINK_DOWN] = "down",
    [GKF_LINK_UP] = "up",
    [GKF_LINK_SLEEP] = "sleep",
};

static const char *const errors[GKF_LINK_ERRORS] = {
    [GKF_LINK_REPLAY] = "replay",     [GKF_LINK_RECOVERY] = "recovery",
    [GKF_LINK_CRC_FLIT] = "crc-flit", [GKF_LINK_CRC_DATA] = "crc-data",
    [GKF_LINK_ECC_DATA] = "ecc-data",
};

static int find_setting_name(const char *const *names, int count,
			     const char *name)
{
	for (int i = 0; i < count; i++)
		if (!strcmp(names[i], name))
			return i;
	return -1;
}

static int wrong_key(const char *key)
{
	return fake_usage("ctl set: %s: must be nvlink.LINK.WHAT, LINK a "
			  "number or all, WHAT state, replay, recovery, "
			  "crc-flit, crc-data or ecc-data",
			  key);
}

int ctl_link_parse(const char *key, const char *text,
		   struct link_change *ret_change)
{
	const char *at = key + strlen("nvlink."), *dot = strchr(at, '.');
	char *end;
	long link;
	int64_t count;

	if (!dot)
		return wrong_key(key);
	link = strtol(at, &end, 10);
	ret_change->link = (int)link;
	if (!strncmp(at, "all.", 4))
		ret_change->link = -1;
	else if (end == at || end != dot || link < 0 || link >= GKF_LINKS_MAX)
		return wrong_key(key);
	ret_change->error = find_setting_name(errors, GKF_LINK_ERRORS, dot + 1);
	if (ret_change->error >= 0) {
		if (gk_parse_int(text, &count) || count < 0)
			return fake_usage("ctl set: %s=%s: must be a count",
					  key, text);
		ret_change->to = (uint64_t)count;
		return 0;
	}
	if (strcmp(dot + 1, "state"))
		return wrong_key(key);
	ret_change->to =
	    (uint64_t)find_setting_name(states, GKF_LINK_STATES, text);
	return ret_change->to < GKF_LINK_STATES
		   ? 0
		   : fake_usage("ctl set: %s=%s: allowed are up, down, sleep",
				key, text);
}

int ctl_link_check(struct ctl *ctl, unsigned gpu,
		   const struct link_change *change)
{
	unsigned n = gkf_links(ctl->machine, gpu);

	if (n && change->link < (int)n)
		return 0;
	return fake_failure("ctl set: GPU %u (%s) has %u NVLinks%s", gpu,
			    gkf_board(ctl->machine, gpu)->profile.name, n,
			    n ? ", counted from 0" : "");
}

static int apply_to_link(struct ctl *ctl, unsigned gpu, unsigned link,
			 const struct link_change *change)
{
	return change->error < 0
		   ? gkf_link_set_state(ctl->machine, gpu, link,
					(enum gkf_link_state)change->to)
		   : gkf_link_set_error(ctl->machine, gpu, link,
					(enum gkf_link_error)change->error,
					change->to);
}

int ctl_link_apply(struct ctl *ctl, unsigned gpu,
		   const struct link_change *change)
{
	int err = 0;

	for (unsigned i = 0; !err && i < gkf_links(ctl->machine, gpu); i++)
		if (change->link < 0 || (unsigned)change->link == i)
			err = apply_to_link(ctl, gpu, i, change);
	return err ? fake_failure("ctl set: GPU %u: %s", gpu, gk_strerror(err))
		   : 0;
}

/* Calls f with each setting that differs from a link's state at rest. */
static void each_link_setting(struct ctl *ctl, unsigned gpu,
			      void (*f)(const char *key, const char *text,
					void *arg),
			      void *arg)
{
	char key[48], text[24];

	for (unsigned i = 0; i < gkf_links(ctl->machine, gpu); i++) {
		enum gkf_link_state s = gkf_link_state(ctl->machine, gpu, i);

		if (s != GKF_LINK_UP) {
			snprintf(key, sizeof key, "nvlink.%u.state", i);
			f(key, states[s], arg);
		}
		for (int e = 0; e < GKF_LINK_ERRORS; e++) {
			uint64_t n = gkf_link_error(ctl->machine, gpu, i,
						    (enum gkf_link_error)e);

			if (!n)
				continue;
			snprintf(key, sizeof key, "nvlink.%u.%s", i, errors[e]);
			snprintf(text, sizeof text, "%llu",
				 (unsigned long long)n);
			f(key, text, arg);
		}
	}
}

static void print_link_setting(const char *key, const char *text, void *arg)
{
	(void)arg;
	printf("  %-22s %s\n", key, text);
}

void ctl_link_print(struct ctl *ctl, unsigned gpu)
{
	each_link_setting(ctl, gpu, print_link_setting, NULL);
}

static void add_link_setting(const char *key, const char *text, void *arg)
{
	json_object_set_new(arg, key, json_string(text));
}

json_t *ctl_link_json(struct ctl *ctl, unsigned gpu)
{
	json_t *object = json_object();

	each_link_setting(ctl, gpu, add_link_setting, object);
	return object;
}

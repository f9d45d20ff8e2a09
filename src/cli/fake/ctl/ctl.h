/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ctl.h - the subcommands of `gpukit fake ctl`, one row each in ctl.c. They
 * return exit codes and have printed what went wrong.
 */
#ifndef GK_CLI_FAKE_CTL_H
#define GK_CLI_FAKE_CTL_H

#include "cli/fake/fake.h"

struct gkf_file;
struct gkf_machine;

struct ctl {
	struct gkf_machine *machine; /* NULL for ls */
	struct gkf_file *file;
	const char *path;
	bool json, by_caller;
};

int ctl_ls(struct ctl *ctl, int argc, char **argv);
int ctl_show(struct ctl *ctl, int argc, char **argv);
int ctl_clock(struct ctl *ctl, int argc, char **argv);
int ctl_topology(struct ctl *ctl, int argc, char **argv);
int ctl_set(struct ctl *ctl, int argc, char **argv);
int ctl_faults(struct ctl *ctl, int argc, char **argv);
int ctl_fail(struct ctl *ctl, int argc, char **argv);
int ctl_clear(struct ctl *ctl, int argc, char **argv);
int ctl_reset(struct ctl *ctl, int argc, char **argv);
int ctl_reset_gpu(struct ctl *ctl, int argc, char **argv);
int ctl_mig(struct ctl *ctl, int argc, char **argv);
int ctl_ecc(struct ctl *ctl, int argc, char **argv);
int ctl_coverage(struct ctl *ctl, int argc, char **argv);

/*
 * Convert between a function's name and its row in nvml.def. The row is -1 if
 * there is no such function.
 */
int ctl_function_row(const char *name);
const char *ctl_function_name(unsigned row);
extern const unsigned ctl_function_count;

/* The names of enum gkf_permission, by number. */
extern const char *const ctl_permissions[];

/* The names of enum gkf_conf_compute, by number. */
extern const char *const ctl_conf_computes[];

/* Parses GPUs into a bit mask. Returns 0, or an exit code after a message. */
int ctl_gpus(struct ctl *ctl, const char *text, uint64_t *ret_mask);

/* Whether an argument names GPUs: "all" or an index. */
bool ctl_names_gpus(const char *text);

/*
 * The change requested by nvlink.LINK.WHAT=VALUE. `link` is -1 for all links;
 * `error` is the error counter to set, or -1 to set the link's state. The
 * functions (in link.c) return exit codes.
 */
struct link_change {
	int link, error;
	uint64_t to;
};
int ctl_link_parse(const char *key, const char *text,
		   struct link_change *ret_change);
int ctl_link_check(struct ctl *ctl, unsigned gpu,
		   const struct link_change *change);
int ctl_link_apply(struct ctl *ctl, unsigned gpu,
		   const struct link_change *change);

/*
 * Print the links that differ from their state at rest, as lines or as a JSON
 * object that the caller owns.
 */
void ctl_link_print(struct ctl *ctl, unsigned gpu);
struct json_t *ctl_link_json(struct ctl *ctl, unsigned gpu);

/*
 * Returns the enum gkf_value of that name, or -1 after printing the allowed
 * names.
 */
int ctl_value(const char *name);

#endif

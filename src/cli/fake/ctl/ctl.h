/*
 * ctl.h - the verbs of `gpukit fake ctl`; one row each in ctl.c.
 * They return exit codes and have told what went wrong.
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

/* The row of a function in nvml.def, or -1; and back. */
int ctl_function_row(const char *name);
const char *ctl_function_name(unsigned row);
extern const unsigned ctl_function_count;

/* The names of enum gkf_permission, by number. */
extern const char *const ctl_permissions[];

/* The names of enum gkf_conf_compute, by number. */
extern const char *const ctl_conf_computes[];

/* The GPUs that an argument names, as bits; an exit code. */
int ctl_gpus(struct ctl *ctl, const char *text, uint64_t *ret_mask);

/* Does an argument name GPUs: "all" or an index? */
bool ctl_names_gpus(const char *text);

/*
 * A change that nvlink.LINK.WHAT=VALUE asks for: of one link or all (-1), of an
 * error count or the state (error -1). The functions return exit codes; link.c.
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

/* Tell of links that are not as at rest: lines, or an object, the caller's. */
void ctl_link_print(struct ctl *ctl, unsigned gpu);
struct json_t *ctl_link_json(struct ctl *ctl, unsigned gpu);

/* The value of that name; -1 after telling which there are. */
int ctl_value(const char *name);

#endif

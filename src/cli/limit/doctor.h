/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h - what the files of `gpukit limit doctor` share: the facts about one
 * process, and the checks that judge them.
 */
#ifndef GK_CLI_LIMIT_DOCTOR_H
#define GK_CLI_LIMIT_DOCTOR_H

#include "cli/finding.h"
#include "cli/limit/audit.h"
#include "limit/environment.h"

#include <limits.h>

/* Which limiter's libvgpu.so a process has loaded. */
enum limit_library {
	LIMIT_LIBRARY_NONE,
	LIMIT_LIBRARY_OURS,
	LIMIT_LIBRARY_HAMI
};

/* The process that is examined. */
struct limit_patient {
	pid_t pid;
	uid_t uid;      /* its effective user */
	uint64_t start; /* clock ticks from boot to its start */
	char command[64];
	/* Prefix of its absolute paths: "" if it has the same root directory.
	 */
	char root[32];

	/* From /proc/PID/maps. */
	enum limit_library library;
	char library_path[PATH_MAX]; /* as the process sees it */
	bool library_replaced; /* the file was replaced or removed since */
	bool has_ledger;       /* a group's ledger is mapped */
	bool has_linker;       /* false: it is statically linked */
	bool has_musl;

	bool gained_rights;     /* the dynamic linker ignored LD_PRELOAD */
	char preload[PATH_MAX]; /* the libvgpu.so to preload; "": none */
	int preload_err;        /* an errno: the process cannot read it */
	bool is_silent;         /* GPUKIT_LOG=off */
	bool has_mps_limits;

	/* What its variables say. If the error is set, GPU work is refused. */
	struct gkl_environment environment;
	int environment_err;

	/* Its group. Valid if has_group and !view.err. */
	bool has_group;
	struct limit_view view;
	const struct gkl_process *slot; /* in view; NULL: not in the ledger */

	/* What the driver reports; gk is NULL if there is no driver. */
	struct gk *gk;
	char why_no_driver[512];
	struct limit_audit audit; /* valid if has_group, gk and !audit_err */
	int audit_err;
	struct gk_snapshot *snap; /* or NULL */
};

/*
 * Reads everything about a process. Returns 0, or an exit code after a message.
 * Release the facts with limit_patient_free().
 */
int limit_patient_read(pid_t pid, struct limit_patient *ret_patient);
void limit_patient_free(struct limit_patient *patient);

struct limit_check {
	const char *id, *title;
	void (*look)(const struct limit_patient *patient, struct gk_finding *f);
};

enum { LIMIT_CHECKS = 5 };
extern const struct limit_check limit_checks[LIMIT_CHECKS];

#endif

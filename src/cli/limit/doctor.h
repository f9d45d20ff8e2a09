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
	uid_t uid;      /* effective user id of the process */
	uint64_t start; /* start time of the process in clock ticks since
			 * boot */
	char command[64];
	/*
	 * The prefix of the process's absolute paths; "" if it has the same
	 * root directory as this program.
	 */
	char root[32];

	/* The next members are from /proc/PID/maps. */
	enum limit_library library;
	char library_path[PATH_MAX]; /* path of the library as the process
				      * sees it */
	bool library_replaced; /* the file was replaced or removed after it
				* was loaded */
	bool has_ledger;       /* a group's ledger is mapped */
	bool has_linker;       /* false: the program is statically linked */
	bool has_musl;

	bool gained_rights;     /* the dynamic linker ignored LD_PRELOAD */
	char preload[PATH_MAX]; /* the libvgpu.so to preload; "": none */
	int preload_err;        /* the error when the process reads that
				 * library; 0: none */
	bool is_silent;         /* GPUKIT_LOG=off */
	bool has_mps_limits;

	/*
	 * The limits that the process's environment requests. If
	 * environment_err is set, the library refuses its GPU work.
	 */
	struct gkl_environment environment;
	int environment_err;

	/*
	 * The process's group. The view is valid if has_group is set and
	 * view.err is 0.
	 */
	bool has_group;
	struct limit_view view;
	const struct gkl_process *slot; /* the process's slot in view; NULL:
					 * it is not in the ledger */

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

/* Whether anything is limited, provided that no check is bad. */
bool limit_patient_has_limits(const struct limit_patient *patient);

struct limit_check {
	const char *id, *title;
	void (*look)(const struct limit_patient *patient, struct gk_finding *f);
};

enum { LIMIT_CHECKS = 5 };
extern const struct limit_check limit_checks[LIMIT_CHECKS];

#endif

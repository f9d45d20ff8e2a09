/* SPDX-License-Identifier: Apache-2.0 */
/*
 * account.h - accounting: how much of a device each process used over its life,
 * also after it ended. Accounts are kept while the device's value
 * GKF_V_ACCOUNTING is 1; setting that to 0 clears all accounts.
 */
#ifndef GKF_ACCOUNT_H
#define GKF_ACCOUNT_H

#include "base/export.h"
#include "machine/file/account_state.h"

#include <stdbool.h>

struct gkf_machine;
struct gkf_slot;

struct gkf_account {
	int32_t pid; /* as the calling process would see it */
	bool running;
	/* The owner's pid namespace, and its start time while it runs. */
	uint64_t pid_ns, start;
	/* Machine time; end_ns is set if the process has ended. */
	uint64_t start_ns, end_ns;
	uint64_t peak; /* bytes */
	struct gkf_sums sums;
};

/*
 * Calls visit for each account of a device until it returns false: first those
 * of live processes, then the ended ones, latest first. A load whose time is
 * over counts as ended, even if its process still lives.
 *
 * Pids are those that gkf_processes_seen() gives. Processes that have ended are
 * left out where they ran in another pid namespace: nobody knows any more what
 * their pid was here.
 */
typedef bool gkf_account_visit(void *ctx, const struct gkf_account *account);
GKF_API void gkf_accounts_each(struct gkf_machine *m, unsigned device,
			       gkf_account_visit *visit, void *ctx);

/* An upper bound of the number of accounts visited. */
GKF_API unsigned gkf_accounts_bound(const struct gkf_machine *m);

/* Clears the accounts of a device's ended processes. 0 or a gk_err. */
GKF_API int gkf_accounts_clear(struct gkf_machine *m, unsigned device);

/* ---- for src/machine alone; the caller holds the writers' lock ---- */

/* Starts the account of a slot's new owner, before the slot is visible. */
void gkf_account_open(struct gkf_machine *m, unsigned slot);

/* Ends the account of a slot's process; the slot is about to be freed. */
void gkf_account_close(struct gkf_machine *m, unsigned slot);

/* Adds to the sums of a slot. */
void gkf_account_add(struct gkf_machine *m, unsigned slot,
		     const struct gkf_sums *more);

/* Clears the accounts of all processes of a device, including live ones. */
void gkf_account_forget(struct gkf_machine *m, unsigned device);

/* ---- for src/machine alone ---- */

/* Records how many bytes a slot holds now. */
void gkf_account_holds(struct gkf_machine *m, unsigned slot, uint64_t bytes);

/* Whether accounting is on for a device. */
bool gkf_account_is_on(const struct gkf_machine *m, unsigned device);

/* Defined in account.c for account_read.c. gkf_account_of(): reads the account
 * of a slot; false: its load has not begun. gkf_accounts_cleared_ns(): the
 * machine time up to which the accounts of ended loads were cleared. */
bool gkf_account_of(struct gkf_machine *m, unsigned index,
		    const struct gkf_slot *slot, struct gkf_account *ret);
uint64_t gkf_accounts_cleared_ns(const struct gkf_machine *m, unsigned device);

#endif

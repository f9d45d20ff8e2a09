/*
 * account.h - accounting: what each process used of a device over its life,
 * its end included. It counts while the value GKF_V_ACCOUNTING of the device
 * is 1; when that becomes 0, all is forgotten.
 */
#ifndef GKF_ACCOUNT_H
#define GKF_ACCOUNT_H

#include "base/export.h"
#include "machine/file/account_state.h"

#include <stdbool.h>

struct gkf_machine;

struct gkf_account {
	int32_t pid;
	bool running;
	uint64_t start_ns, end_ns; /* machine time; end only of the ended */
	uint64_t peak;             /* bytes */
	struct gkf_sums sums;
};

/*
 * Calls visit for each account of a device, those of living processes first,
 * then from the last that ended to the first, until it says false. Loads whose
 * time is over have ended, though their process may live.
 */
typedef bool gkf_account_visit(void *ctx, const struct gkf_account *account);
GKF_API void gkf_accounts_each(struct gkf_machine *m, unsigned device,
			       gkf_account_visit *visit, void *ctx);

/* No more than this many accounts are visited. */
GKF_API unsigned gkf_accounts_bound(const struct gkf_machine *m);

/* Forgets the processes of a device that have ended. 0 or a gk_err. */
GKF_API int gkf_accounts_clear(struct gkf_machine *m, unsigned device);

/*
 * The rest is for the machine's core; the caller holds the writers' lock.
 */

/* A slot gets a new owner: nothing is known of it. Before it is visible. */
void gkf_account_open(struct gkf_machine *m, unsigned slot);

/* A slot holds this many bytes now. */
void gkf_account_holds(struct gkf_machine *m, unsigned slot, uint64_t bytes);

/* A slot is about to be freed: its process has ended. */
void gkf_account_close(struct gkf_machine *m, unsigned slot);

/* Are the processes of a device accounted for? */
bool gkf_account_is_on(const struct gkf_machine *m, unsigned device);

/* Adds to the sums of a slot. The caller holds the lock. */
void gkf_account_add(struct gkf_machine *m, unsigned slot,
		     const struct gkf_sums *more);

/* Forgets the processes of a device, the living ones, too. */
void gkf_account_forget(struct gkf_machine *m, unsigned device);

#endif

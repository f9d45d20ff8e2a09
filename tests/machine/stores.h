/* SPDX-License-Identifier: Apache-2.0 */
/* stores.h - kills a child after each store, for tests of the machine. */
#ifndef TESTS_MACHINE_STORES_H
#define TESTS_MACHINE_STORES_H

#include "machine/fixture.h"
#include "machine/store/locks.h"
#include "machine/store/view.h"
#include "stepping.h"

/*
 * Whether locks of the first device were taken or released since the last call.
 */
static inline bool fixture_locks_changed(struct fixture *fx)
{
	static uint32_t last[GKF_LOCK_BOOKS + 1];
	bool differ = false;

	for (unsigned i = 0; i <= GKF_LOCK_BOOKS; i++) {
		uint32_t word = atomic_load(gkf_locks_word(fx->m->locks, i));

		differ |= word != last[i];
		last[i] = word;
	}
	return differ;
}

#endif

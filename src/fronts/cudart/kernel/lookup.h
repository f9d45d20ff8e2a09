/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.h - a hash table of entries by host address, read without a lock.
 */
#ifndef GKF_CUDART_LOOKUP_H
#define GKF_CUDART_LOOKUP_H

#include "fronts/cudart/kernel/registry.h"

/*
 * Lock the table. Needed while an entry is added or removed, and during a fork,
 * so that no other thread is changing the table then.
 */
void lookup_lock(void);
void lookup_unlock(void);

/* Adds or replaces an entry. False: no memory. Call it under lookup_lock(). */
bool lookup_put(struct entry *entry);

/* Removes an entry, unless it was replaced. Call it under lookup_lock(). */
void lookup_remove(const struct entry *entry);

#endif

/*
 * lookup.h - entries by address: a hash table that is read without a lock.
 */
#ifndef GKF_CUDART_LOOKUP_H
#define GKF_CUDART_LOOKUP_H

#include "fronts/cudart/registry.h"

/* False: no memory. One writer at a time; a later entry takes the place. */
bool lookup_put(struct entry *entry);

/* Forgets an entry, unless another one has taken its place. */
void lookup_remove(const struct entry *entry);

#endif

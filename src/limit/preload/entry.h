/*
 * entry.h - where calls arrive that are bound to our exported names by the
 * dynamic linker. entry.S jumps from there to what the call would reach without
 * us, or to our hook if that is the driver's function.
 */
#ifndef GKL_PRELOAD_ENTRY_H
#define GKL_PRELOAD_ENTRY_H

#include "limit/preload/hooks.h"

/* Called by entry.S at the first call of a name. Never NULL. */
void *entry_target(enum hook hook);

/* Where calls of each name go; NULL: not known yet. */
extern void *entry_targets[HOOKS];

#endif

/*
 * entry.h - where calls arrive that are bound to our exported names by the
 * dynamic linker. entry.S jumps from there to what the call would reach without
 * us, or to our hook if that is the driver's function.
 */
#ifndef GKL_PRELOAD_ENTRY_H
#define GKL_PRELOAD_ENTRY_H

#include "limit/preload/hooks.h"

/*
 * Where a call goes that returns to `caller`. Never NULL. entry.S asks until
 * the answer is the same for all callers: it lies in entry_targets then.
 */
void *entry_target(enum hook hook, const void *caller);

/* NULL: ask. */
extern void *entry_targets[HOOKS];

#endif

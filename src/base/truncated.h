/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truncated.h - keeps the process alive when another process truncates a mapped
 * file.
 *
 * An access to the lost part raises SIGBUS, which would end a monitor that has
 * done nothing wrong. The handler here maps zeros in place of the lost part and
 * marks the mapping as damaged. Each call of gk_truncated_watch() installs the
 * handler unless it is installed already. It handles only faults at watched
 * addresses; all others go to the previous handler. A handler that the program
 * installs later replaces it.
 */
#ifndef GK_BASE_TRUNCATED_H
#define GK_BASE_TRUNCATED_H

#include <stdatomic.h>
#include <stddef.h>

/*
 * Watches a mapping: *damaged becomes true when a part of it turns out to be
 * missing. The mapping and the flag must exist until gk_truncated_forget().
 * Only 64 mappings can be watched; further ones are ignored.
 */
void gk_truncated_watch(void *at, size_t size, atomic_bool *damaged);
void gk_truncated_forget(void *at);

#endif

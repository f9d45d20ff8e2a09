/*
 * truncated.h - mapped files that somebody makes shorter. Whoever touches what
 * is gone gets SIGBUS, which would end a monitor that has done nothing wrong:
 * where it was, zeros are put instead, and the mapping is known as damaged.
 *
 * The handler is set with a mapping, if another one stands there, and takes no
 * signal but those of our own addresses: that other one gets the rest. A
 * program that sets its own later has its own.
 */
#ifndef GKF_TRUNCATED_H
#define GKF_TRUNCATED_H

#include <stdatomic.h>
#include <stddef.h>

/*
 * *damaged becomes true when a part of the mapping was gone. Both must last
 * until gkf_truncated_forget(). At most 64 mappings; others end as they would.
 */
void gkf_truncated_watch(void *at, size_t size, atomic_bool *damaged);
void gkf_truncated_forget(void *at);

#endif

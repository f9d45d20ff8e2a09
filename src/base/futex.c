/* SPDX-License-Identifier: Apache-2.0 */
/* futex.c - makes the system call that futex.h declares. */
#include "base/futex.h"
#include "base/clock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

static int futex_operation(enum gk_futex kind, int operation)
{
	return kind == GK_FUTEX_PRIVATE ? operation | FUTEX_PRIVATE_FLAG
					: operation;
}

bool gk_futex_wait(enum gk_futex kind, _Atomic uint32_t *word, uint32_t seen,
		   uint64_t timeout_ns)
{
	struct timespec timeout = gk_timespec(timeout_ns);
	int error = errno;
	long r =
	    syscall(SYS_futex, word, futex_operation(kind, FUTEX_WAIT), seen,
		    timeout_ns == UINT64_MAX ? NULL : &timeout, NULL, 0);

	errno = error;
	return r == 0;
}

void gk_futex_wake(enum gk_futex kind, _Atomic uint32_t *word, int count)
{
	int error = errno;

	syscall(SYS_futex, word, futex_operation(kind, FUTEX_WAKE), count, NULL,
		NULL, 0);
	errno = error;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refusals.h - the functions that programs called on a machine, and the
 * refusals by program.
 */
#ifndef GK_CLI_FAKE_REFUSALS_H
#define GK_CLI_FAKE_REFUSALS_H

#include "base/str.h"
#include "cli/fake/fake.h"
#include "machine/file/numbers.h"

/*
 * How often a function, or an instruction in a kernel, was called and refused.
 * The name is printable.
 */
struct count {
	char name[4 * GKF_REFUSED_MAX];
	const char
	    *library;      /* such as "libcuda"; "kernel" for an instruction */
	unsigned function; /* see struct gkf_refused */
	uint64_t calls, refused;
};

/* A function or instruction that was refused to one program. */
struct refusal {
	char caller[64];
	const struct count *what;
	uint64_t count, order;
};

struct refusals {
	struct count *counts; /* sorted by refusals, then calls, then name */
	unsigned counts_n;
	struct refusal *refusals; /* sorted by program, then count */
	unsigned refusals_n;
	uint64_t lost; /* number of refusals not recorded because the
			* machine's table was full */
};

/*
 * Reads the calls and the refusals of a machine. Returns 0, or an exit code
 * after a message. Release the result with refusals_free().
 */
int refusals_read(struct gkf_machine *m, struct refusals *ret);
void refusals_free(struct refusals *all);

/* The kernel ("" if unknown) and the reason why it was refused. */
struct refused_kernel_name {
	const char *kernel;
	const char *reason; /* length bytes */
	int length;
};

/*
 * Returns whether `what` is an instruction in a kernel; if so, splits its name
 * into *ret.
 */
bool refusals_kernel(const struct count *what, struct refused_kernel_name *ret);

/*
 * Whether `what` was refused because a third-party library is missing. Its name
 * then contains the name of the library.
 */
bool refusals_needed(const struct count *what);

/*
 * Returns the first program to which `what` was refused, or "?" if that was not
 * recorded.
 */
const char *refusals_caller(const struct refusals *all,
			    const struct count *what);

/* Adds a line for each refusal. Returns the number of lines. */
unsigned refusals_text(const struct refusals *all, const char *head,
		       struct gk_buf *buf);

/*
 * Prints what was refused on a machine, one line each, on stderr unless quiet.
 * Returns the number of lines, printed or not.
 */
unsigned refusals_tell(struct gkf_machine *m, bool quiet);

#endif

/*
 * refusals.h - what was called on a machine, and what of it was refused to
 * whom.
 */
#ifndef GK_CLI_FAKE_REFUSALS_H
#define GK_CLI_FAKE_REFUSALS_H

#include "base/str.h"
#include "cli/fake/fake.h"
#include "machine/file/numbers.h"

/* Something that can be called; its name is what can be shown of it. */
struct count {
	char name[4 * GKF_REFUSED_MAX];
	const char
	    *library;      /* "libcuda"; "kernel" of what kernels are made of */
	unsigned function; /* as in struct gkf_refused */
	uint64_t calls, refused;
};

/* What was refused to a program. */
struct refusal {
	char caller[64];
	const struct count *what;
	uint64_t count, order;
};

struct refusals {
	struct count *counts; /* refused first, then by calls, then by name */
	unsigned counts_n;
	struct refusal *refusals; /* by program; what it asked for most first */
	unsigned refusals_n;
	uint64_t lost; /* refusals that found no room in the machine */
};

/* Reads all of it; an exit code, told. refusals_free() the result. */
int refusals_read(struct gkf_machine *m, struct refusals *ret);
void refusals_free(struct refusals *refusals);

/* A kernel ("": none is named) and what it was refused for. */
struct refused_kernel_name {
	const char *kernel;
	const char *reason; /* length bytes */
	int length;
};

/* Was that what a kernel is made of? */
bool refusals_kernel(const struct count *what, struct refused_kernel_name *ret);

/* The program that was refused it first; "?" when there was no room for it. */
const char *refusals_caller(const struct refusals *all,
			    const struct count *what);

/* Adds a line for each thing that was refused; how many. */
unsigned refusals_text(const struct refusals *all, const char *head,
		       struct gk_buf *buf);

/*
 * Says what was refused on a machine, a line each on stderr unless quiet. How
 * much it was.
 */
unsigned refusals_tell(struct gkf_machine *m, bool quiet);

#endif

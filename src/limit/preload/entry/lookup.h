/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lookup.h - dlsym and dlvsym as we export them (lookup.S). Names that cannot
 * be the driver's are passed on by a jump, so that the C library sees their
 * caller: the meaning of RTLD_DEFAULT and RTLD_NEXT depends on the caller.
 * Other names are looked up as if by the same caller; if the address found is
 * the driver's, our hook replaces it.
 */
#ifndef GKL_PRELOAD_LOOKUP_H
#define GKL_PRELOAD_LOOKUP_H

/* A call of dlsym or dlvsym. */
struct lookup {
	void *handle;
	const char *name, *version; /* version: dlvsym only */
	void *function;             /* the next dlsym or dlvsym after ours */
};

/*
 * Called by lookup.S for names that begin like the driver's. `caller` is the
 * return address of the call.
 */
void *lookup_dlsym(void *handle, const char *name, const void *caller);
void *lookup_dlvsym(void *handle, const char *name, const char *version,
		    const void *caller);

/*
 * Calls dlsym(RTLD_DEFAULT, name) as if from `caller`; does not replace the
 * result by a hook.
 */
void *lookup_default(const char *name, const void *caller);

/*
 * The dlsym and dlvsym that follow ours in search order. lookup.S calls each
 * function only once.
 */
void *lookup_next_dlsym(void);
void *lookup_next_dlvsym(void);

/*
 * Calls lookup->function so that it returns to `gadget`, a return instruction
 * in the caller's object, which then returns to us: the C library sees a call
 * from that object. (lookup.S)
 */
void *lookup_as_caller(const struct lookup *lookup, const void *gadget);

/* Whether the processor checks return addresses. (lookup.S) */
int lookup_returns_are_checked(void);

#endif

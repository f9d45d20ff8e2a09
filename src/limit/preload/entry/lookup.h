/*
 * lookup.h - dlsym and dlvsym as we export them (lookup.S). Names that cannot
 * be the driver's are passed on by a jump, so that the C library sees its
 * caller, on whom depends what RTLD_DEFAULT and RTLD_NEXT mean. The others are
 * looked up for the same caller and swapped by the address found.
 */
#ifndef GKL_PRELOAD_LOOKUP_H
#define GKL_PRELOAD_LOOKUP_H

/* A call of dlsym or dlvsym. */
struct lookup {
	void *handle;
	const char *name, *version; /* version: dlvsym only */
	void *function;             /* the next dlsym or dlvsym behind ours */
};

/*
 * Called by lookup.S for names that begin as the driver's do. `caller` is where
 * the call returns to.
 */
void *lookup_dlsym(void *handle, const char *name, const void *caller);
void *lookup_dlvsym(void *handle, const char *name, const char *version,
		    const void *caller);

/* dlsym(RTLD_DEFAULT, name) for a caller, with nothing swapped. */
void *lookup_default(const char *name, const void *caller);

/* The next dlsym and dlvsym; lookup.S asks once. */
void *lookup_next_dlsym(void);
void *lookup_next_dlvsym(void);

/*
 * Calls lookup->function so that it returns to `gadget`, an instruction of the
 * caller's that returns in its turn, to us: the C library sees a call
 * from the caller's object. (lookup.S)
 */
void *lookup_as_caller(const struct lookup *lookup, const void *gadget);

/* Whether the processor checks where functions return to. (lookup.S) */
int lookup_returns_are_checked(void);

#endif

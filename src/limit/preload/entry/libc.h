/*
 * libc.h - the C library's own functions of <dlfcn.h>, of which this library
 * replaces two. Found without calling any of them, without private symbols of
 * the C library and without the functions that a program may have replaced, so
 * that dlsym works before any constructor has run.
 */
#ifndef GKL_PRELOAD_LIBC_H
#define GKL_PRELOAD_LIBC_H

#include <dlfcn.h>
#include <link.h>

struct libc {
	__typeof__(dlsym) *dlsym;
	__typeof__(dlvsym) *dlvsym;
	__typeof__(dlopen) *dlopen;
	__typeof__(dlerror) *dlerror;
};

/* Found at the first call. A function that is not there is NULL. */
const struct libc *libc(void);

/*
 * The next definition of a function behind this library: the C library's, or
 * that of another library that replaces it as we do. NULL: none.
 */
void *libc_next(const char *name);

#endif

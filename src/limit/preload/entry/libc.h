/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libc.h - the C library's own functions of <dlfcn.h>, two of which this
 * library replaces. The search calls neither these functions, nor private
 * symbols of the C library, nor functions that a program may have replaced; so
 * dlsym works before any constructor has run.
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

/*
 * Looks the functions up at the first call; a member is NULL if there is no
 * such function.
 */
const struct libc *libc(void);

/*
 * Returns the next definition of a function after this library's: the one in
 * the C library, or in another library that also replaces it. NULL: none.
 */
void *libc_next(const char *name);

#endif

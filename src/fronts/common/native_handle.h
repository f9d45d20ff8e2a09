/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_handle.h - handles of the libraries. An ended handle can be
 * recognised, because its memory is never freed, only reused for later handles.
 */
#ifndef GKF_NATIVE_HANDLE_H
#define GKF_NATIVE_HANDLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The `mark` of live handles, by kind; that of an ended handle is 0. */
enum native_mark {
	NATIVE_CUBLAS = 0x63426c41,
	NATIVE_CUBLASXT,
	NATIVE_CUBLASLT,
	NATIVE_CUSPARSE,
	NATIVE_CUSOLVER,
};

/* The first member of every handle. */
struct native_handle {
	_Atomic uint32_t mark;
	struct native_handle *next; /* next ended handle */
};

/* All handles of a kind, in static memory. */
struct native_handles {
	pthread_mutex_t lock; /* PTHREAD_MUTEX_INITIALIZER */
	enum native_mark mark;
	size_t size;                 /* bytes of one handle */
	struct native_handle *ended; /* list of ended handles; NULL at first */
};

/*
 * Creates a handle whose members after struct native_handle are zero. NULL: no
 * memory.
 */
void *native_handle_new(struct native_handles *all);
void native_handle_end(struct native_handles *all, void *handle);

/* False for NULL and for ended handles. */
bool native_is_handle(const void *handle, enum native_mark mark);

#endif

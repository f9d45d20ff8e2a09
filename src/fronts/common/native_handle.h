/*
 * native_handle.h - handles of the libraries. One that ended is told from one
 * that lives: its memory is kept for the next one, never given back.
 */
#ifndef GKF_NATIVE_HANDLE_H
#define GKF_NATIVE_HANDLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The mark of a living handle. */
enum native_mark {
	NATIVE_CUBLAS = 0x63426c41,
	NATIVE_CUBLASXT,
	NATIVE_CUBLASLT,
	NATIVE_CUSPARSE,
	NATIVE_CUSOLVER,
};

/* The head of a handle. */
struct native_handle {
	_Atomic uint32_t mark;
	struct native_handle *next; /* that ended, too */
};

/* All handles of a kind, in static memory. */
struct native_handles {
	pthread_mutex_t lock; /* PTHREAD_MUTEX_INITIALIZER */
	enum native_mark mark;
	size_t size;                 /* of a handle, bytes */
	struct native_handle *ended; /* NULL */
};

/* A new one, 0 behind its head; NULL: no memory. */
void *native_handle_new(struct native_handles *all);
void native_handle_end(struct native_handles *all, void *handle);

/* NULL or one that ended is none. */
bool native_is_handle(const void *handle, enum native_mark mark);

#endif

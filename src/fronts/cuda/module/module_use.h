/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_use.h - deferred freeing of unloaded code. The code stays in memory
 * while any call reads it, because runtimes unload their libraries at process
 * exit while other threads launch kernels of these libraries.
 *
 * Each thread records the epoch in which its call began. Unloaded code records
 * the epoch in which its handles became invalid, and is freed when all calls
 * that began in that epoch or earlier have returned.
 */
#ifndef GKF_CUDA_MODULE_USE_H
#define GKF_CUDA_MODULE_USE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first member of a struct that is to be freed later. */
struct retired {
	void (*finish)(struct retired *);
	uint64_t epoch;
	struct retired *next;
};

struct code_reader {
	_Atomic uint64_t since; /* epoch in which the call began; 0: no call */
	_Atomic bool taken;     /* in use by a live thread */
	struct code_reader *next;
};

/*
 * Makes the calling thread a reader until the function returns. READS_CODE must
 * precede ENTER, because on x86 the counting of the call is the memory barrier
 * (code_fence()).
 */
#define READS_CODE                                                             \
	__attribute__((cleanup(code_read_end)))                                \
	const struct code_reading reading = code_read_begin();                 \
	(void)reading

struct code_reading {
	/* NULL: an outer call has made the thread a reader */
	struct code_reader *reader;
};

/*
 * Frees *retired when no call reads it any more. Its handles must be invalid
 * already. The caller holds module_lock.
 */
void code_retire(struct retired *retired);

/*
 * Frees the unloaded code that no call reads any more. The caller holds
 * module_lock.
 */
void code_finish_retired(void);

/* ---- for the macro ---- */

extern _Thread_local
    __attribute__((tls_model("initial-exec"),
		   visibility("hidden"))) struct code_reader *code_reader_mine;
extern _Atomic uint64_t code_epoch __attribute__((visibility("hidden")));
extern struct retired *_Atomic code_retired
    __attribute__((visibility("hidden")));

struct code_reader *code_reader_new(void);
void code_sweep(void);

/*
 * On x86 the barrier is the locked instruction with which front_enter() counts
 * the call, right after code_read_begin().
 */
static inline void code_fence(void)
{
#if defined(__x86_64__)
	atomic_signal_fence(memory_order_seq_cst);
#else
	atomic_thread_fence(memory_order_seq_cst);
#endif
}

static inline struct code_reading code_read_begin(void)
{
	struct code_reader *r = code_reader_mine;

	if (__builtin_expect(!r, 0))
		r = code_reader_new();
	if (atomic_load_explicit(&r->since, memory_order_relaxed))
		return (struct code_reading){NULL};
	atomic_store_explicit(
	    &r->since, atomic_load_explicit(&code_epoch, memory_order_relaxed),
	    memory_order_relaxed);
	code_fence();
	return (struct code_reading){r};
}

static inline void code_read_end(const struct code_reading *reading)
{
	if (!reading->reader)
		return;
	atomic_store_explicit(&reading->reader->since, 0, memory_order_release);
	if (__builtin_expect(atomic_load_explicit(&code_retired,
						  memory_order_relaxed) != NULL,
			     0))
		code_sweep();
}

#endif

/*
 * module_use.h - what is unloaded stays in memory as long as a call reads it: a
 * runtime unloads its libraries when the process exits, while other threads
 * launch their kernels.
 *
 * Each thread says in which epoch its call began; what is unloaded notes the
 * epoch in which its handles died and goes when all calls of that one, and of
 * those before it, are over.
 */
#ifndef GKF_CUDA_MODULE_USE_H
#define GKF_CUDA_MODULE_USE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What is to go; the head of what it is about. */
struct retired {
	void (*finish)(struct retired *);
	uint64_t epoch;
	struct retired *next;
};

struct code_reader {
	_Atomic uint64_t since; /* epoch in which its call began; 0: none */
	_Atomic bool taken;     /* by a thread that lives */
	struct code_reader *next;
};

/*
 * The calling thread reads code until the function returns in which this
 * stands: before ENTER, whose counting of the call makes it known in time.
 */
#define READS_CODE                                                             \
	__attribute__((cleanup(code_read_end)))                                \
	const struct code_reading reading = code_read_begin();                 \
	(void)reading

struct code_reading {
	struct code_reader *reader; /* NULL: a call around this one reads */
};

/* The handles of *retired are dead; with module_lock. */
void code_retire(struct retired *retired);

/* Lets go of what no call reads any more; with module_lock. */
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

/* x86 has the fence in the locked instruction by which calls are counted. */
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

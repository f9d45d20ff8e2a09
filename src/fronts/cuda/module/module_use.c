/* SPDX-License-Identifier: Apache-2.0 */
/*
 * module_use.c - owns the list of readers and the list of unloaded code; see
 * module_use.h.
 */
#include "fronts/cuda/module/module_use.h"
#include "base/assert.h"
#include "fronts/cuda/module/module.h"

#include <stdlib.h>

pthread_mutex_t module_lock = PTHREAD_MUTEX_INITIALIZER;

_Thread_local __attribute__((
    tls_model("initial-exec"))) struct code_reader *code_reader_mine;

_Atomic uint64_t code_epoch = 1;

/* The unloaded code, most recent first. Written under module_lock. */
struct retired *_Atomic code_retired;

/* All readers; those of ended threads are reused. */
static struct code_reader *_Atomic readers;

/*
 * Shared by the threads for which no reader could be allocated; its call never
 * ends.
 */
static struct code_reader anybody = {.since = 1, .taken = true};

static pthread_key_t uses_exit_key;
static bool has_uses_exit_key;

static void end_thread_uses(void *reader)
{
	code_reader_mine = NULL;
	atomic_store(&((struct code_reader *)reader)->taken, false);
}

__attribute__((constructor)) static void make_uses_exit_key(void)
{
	has_uses_exit_key =
	    !pthread_key_create(&uses_exit_key, end_thread_uses);
}

static struct code_reader *find_reader(void)
{
	struct code_reader *r;
	bool is_free;

	for (r = atomic_load(&readers); r; r = r->next) {
		is_free = false;
		if (atomic_compare_exchange_strong(&r->taken, &is_free, true))
			return r;
	}
	r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	atomic_init(&r->taken, true);
	r->next = atomic_load(&readers);
	while (!atomic_compare_exchange_weak(&readers, &r->next, r))
		;
	return r;
}

/*
 * If there is no memory for a reader, no code is freed from then on, because it
 * is not known when the calls of such a thread end.
 */
struct code_reader *code_reader_new(void)
{
	struct code_reader *r = find_reader();

	if (!r) {
		anybody.next = NULL;
		atomic_store(&readers, &anybody);
		return &anybody;
	}
	code_reader_mine = r;
	if (has_uses_exit_key)
		pthread_setspecific(uses_exit_key, r);
	return r;
}

/*
 * Returns the epoch in which the oldest unfinished call began; UINT64_MAX:
 * none.
 */
static uint64_t oldest_epoch(void)
{
	uint64_t oldest = UINT64_MAX;

	atomic_thread_fence(memory_order_seq_cst);
	for (struct code_reader *r = atomic_load(&readers); r; r = r->next) {
		uint64_t since = atomic_load(&r->since);

		if (since && since < oldest)
			oldest = since;
	}
	return oldest;
}

void code_finish_retired(void)
{
	struct retired *list = atomic_load(&code_retired), *next;
	struct retired *kept = NULL;
	uint64_t oldest;

	GK_ASSERT(gk_lock_held(&module_lock));
	if (!list)
		return;
	oldest = oldest_epoch();
	atomic_store(&code_retired, NULL);
	for (; list; list = next) {
		next = list->next;
		if (list->epoch < oldest) {
			list->finish(list);
			continue;
		}
		list->next = kept;
		kept = list;
	}
	atomic_store(&code_retired, kept);
}

void code_retire(struct retired *retired)
{
	GK_ASSERT(gk_lock_held(&module_lock));
	retired->epoch = atomic_fetch_add(&code_epoch, 1);
	retired->next = atomic_load(&code_retired);
	atomic_store(&code_retired, retired);
}

/*
 * If another thread has module_lock, does nothing: that thread, or the next
 * call that ends, frees the code.
 */
void code_sweep(void)
{
	if (pthread_mutex_trylock(&module_lock))
		return;
	code_finish_retired();
	pthread_mutex_unlock(&module_lock);
}

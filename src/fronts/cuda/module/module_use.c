/* module_use.c - who reads code, and what waits for them; see module_use.h. */
#include "fronts/cuda/module_use.h"
#include "fronts/cuda/module.h"

#include <stdlib.h>

_Thread_local __attribute__((
    tls_model("initial-exec"))) struct code_reader *code_reader_mine;

_Atomic uint64_t code_epoch = 1;

/* The last to be unloaded first. With module_lock, but for a look. */
struct retired *_Atomic code_retired;

/* All there ever were: those of threads that ended are taken again. */
static struct code_reader *_Atomic readers;

/* Of those who have no memory for one of their own: it never comes to rest. */
static struct code_reader anybody = {.since = 1, .taken = true};

static pthread_key_t leaving;
static bool told_leaving;

static void leave_thread(void *reader)
{
	code_reader_mine = NULL;
	atomic_store(&((struct code_reader *)reader)->taken, false);
}

__attribute__((constructor)) static void load(void)
{
	told_leaving = !pthread_key_create(&leaving, leave_thread);
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
 * Without memory nothing is let go of from now on: one who reads is not known
 * to have ended.
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
	if (told_leaving)
		pthread_setspecific(leaving, r);
	return r;
}

/* The epoch of the oldest call that reads; UINT64_MAX: none does. */
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
	retired->epoch = atomic_fetch_add(&code_epoch, 1);
	retired->next = atomic_load(&code_retired);
	atomic_store(&code_retired, retired);
}

/* Who holds the lock does it, or the next call that ends. */
void code_sweep(void)
{
	if (pthread_mutex_trylock(&module_lock))
		return;
	code_finish_retired();
	pthread_mutex_unlock(&module_lock);
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * coverage_refused.c - owns the table of refusals by program and function. The
 * hash table only grows and needs no lock: a key claims an entry, and all
 * processes then write the same content into it.
 */
#include "base/assert.h"
#include "base/mix.h"
#include "machine/file/fault_state.h"
#include "machine/file/file.h"
#include "machine/file/work_state.h"
#include "machine/store/coverage.h"
#include "machine/store/view.h"

#include <string.h>

static uint64_t key_of_refusal(const uint64_t *caller, unsigned function)
{
	uint64_t key = gkf_mix(function);

	for (int i = 0; i < GKF_CALLER_MAX / 8; i++)
		key = gkf_mix(key ^ caller[i]);
	return key | 1; /* 0 marks a free entry */
}

/*
 * The entry of a key, which is added if there is none. NULL: the table is full.
 */
static struct gkf_refusal *find_refusal(struct gkf_refusals *table,
					uint64_t key)
{
	for (unsigned i = 0; i < GKF_REFUSALS_MAX; i++) {
		struct gkf_refusal *e =
		    &table->entry[(key + i) % GKF_REFUSALS_MAX];
		uint64_t found = atomic_load(&e->key);

		if (found == key ||
		    (!found &&
		     atomic_compare_exchange_strong(&e->key, &found, key)) ||
		    found == key)
			return e;
	}
	return NULL;
}

void gkf_refusal_count(struct gkf_machine *m, unsigned function,
		       const char *caller)
{
	struct gkf_refusals *table = &m->file->refusals;
	uint64_t name[GKF_CALLER_MAX / 8] = {0};
	struct gkf_refusal *e;

	memcpy(name, caller, strnlen(caller, sizeof name - 1));
	e = find_refusal(table, key_of_refusal(name, function));
	if (!e) {
		atomic_fetch_add(&table->lost, 1);
		return;
	}
	if (!atomic_load(&e->function)) {
		for (int i = 0; i < GKF_CALLER_MAX / 8; i++)
			atomic_store(&e->caller[i], name[i]);
		atomic_store(&e->order,
			     atomic_fetch_add(&table->orders, 1) + 1);
		atomic_store(&e->function, function + 1);
	}
	atomic_fetch_add(&e->count, 1);
}

bool gkf_refusal_read(struct gkf_machine *m, unsigned index,
		      struct gkf_refused *ret_refused)
{
	uint64_t name[GKF_CALLER_MAX / 8], function;
	struct gkf_refusal *e;

	GK_ASSERT(index < GKF_REFUSALS_MAX);
	e = &m->file->refusals.entry[index];
	function = atomic_load(&e->function);
	ret_refused->count = atomic_load(&e->count);
	ret_refused->order = atomic_load(&e->order);
	if (!function || function > GKF_REFUSED_END || !ret_refused->count)
		return false;
	ret_refused->function = (unsigned)function - 1;
	for (int i = 0; i < GKF_CALLER_MAX / 8; i++)
		name[i] = atomic_load(&e->caller[i]);
	memcpy(ret_refused->caller, name, sizeof name);
	ret_refused->caller[GKF_CALLER_MAX - 1] = '\0';
	return true;
}

void gkf_refusals_forget(struct gkf_machine *m)
{
	struct gkf_refusals *table = &m->file->refusals;

	for (unsigned i = 0; i < GKF_REFUSALS_MAX; i++)
		atomic_store(&table->entry[i].count, 0);
	for (unsigned i = 0; i < GKF_NAMES_MAX; i++)
		atomic_store(&m->file->named[i].count, 0);
	atomic_store(&table->lost, 0);
}

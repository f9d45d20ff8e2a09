/* SPDX-License-Identifier: Apache-2.0 */
/* sharing.c - owns the tables of exports and imports. */
#include "limit/preload/memory/sharing.h"
#include "base/assert.h"
#include "base/err.h"
#include "base/log.h"
#include "limit/ledger_export.h"
#include "limit/preload/memory/hook.h"
#include "limit/uncancelled.h"

uint64_t export_bytes(uint64_t address, uint64_t bytes)
{
	uint64_t end = (address + bytes + BLOCK_BYTES - 1) / BLOCK_BYTES;

	return (end - address / BLOCK_BYTES) * BLOCK_BYTES;
}

/* A thread cancelled while it queries the kernel would keep the lock. */
static int lock_sharing(struct memory_state *s)
{
	int cancel = gkl_uncancelled_begin();

	pthread_mutex_lock(&s->sharing);
	return cancel;
}

static void unlock_sharing(struct memory_state *s, int cancel)
{
	pthread_mutex_unlock(&s->sharing);
	gkl_uncancelled_end(cancel);
}

/* ---- exports ---- */

/*
 * The key of a row is the export's number. `kind` and `owner` say what is
 * exported: an enum export_kind, and its handle or address. `word` is the
 * export's index in the ledger.
 */
struct sought {
	enum export_kind what;
	uint64_t value;
	bool found;
	struct table_row row;
};

static bool is_it(const struct table_row *row, const struct sought *s)
{
	return row->kind == s->what && row->owner == s->value;
}

static bool find_it(const struct table_row *row, void *arg)
{
	struct sought *s = arg;

	if (is_it(row, s)) {
		s->found = true;
		s->row = *row;
	}
	return false;
}

static bool find_export(struct memory_state *s, enum export_kind what,
			uint64_t value, struct table_row *ret_row)
{
	struct sought sought = {.what = what, .value = value};

	if (!atomic_load(&s->export_count))
		return false;
	table_sweep(&s->exports, find_it, &sought);
	*ret_row = sought.row;
	return sought.found;
}

/* Ends an export that this process has given up and nobody else holds. */
static bool end_if_free(const struct table_row *row, void *arg)
{
	struct memory_state *s = arg;

	if (row->owner || gkl_export_is_held(row->key))
		return false;
	gkl_export_end(limited()->ledger, (int)row->word);
	atomic_fetch_sub(&s->export_count, 1);
	return true;
}

static int take_place(struct memory_state *s, int device, uint64_t number,
		      uint64_t bytes)
{
	struct gkl_ledger *ledger = limited()->ledger;
	int place = gkl_export_begin(ledger, (unsigned)device, number, bytes);

	GK_ASSERT(gk_lock_held(&s->sharing));
	if (place != GK_ERR_TOO_MANY)
		return place;
	table_sweep(&s->exports, end_if_free, s);
	return gkl_export_begin(ledger, (unsigned)device, number, bytes);
}

/* The caller holds s->sharing. */
static uint64_t note_new(struct memory_state *s, enum export_kind what,
			 uint64_t value, int device, uint64_t number,
			 uint64_t bytes)
{
	struct table_row row = {.key = number,
				.owner = value,
				.device = (uint16_t)device,
				.kind = (uint16_t)what};
	int place = take_place(s, device, number, bytes);

	GK_ASSERT(gk_lock_held(&s->sharing));
	if (place < 0) {
		gk_log(GK_LOG_ERROR,
		       "the group exports too much: this is not exported");
		return 0;
	}
	row.word = (uint32_t)place;
	if (!table_put(&s->exports, &row)) {
		gkl_export_end(limited()->ledger, place);
		return 0;
	}
	atomic_fetch_add(&s->export_count, 1);
	return number;
}

uint64_t export_note(enum export_kind what, uint64_t value, int device,
		     uint64_t number, uint64_t bytes)
{
	struct memory_state *s = memory_state();
	struct table_row row;
	bool known;
	int cancel;

	cancel = lock_sharing(s);
	known = number ? table_find(&s->exports, number, &row)
		       : find_export(s, what, value, &row);
	if (known)
		number = row.key;
	else
		number = note_new(s, what, value, device,
				  number ? number : gkl_export_number(), bytes);
	unlock_sharing(s, cancel);
	return number;
}

void export_change(enum export_kind what, uint64_t value, int64_t bytes)
{
	struct memory_state *s = memory_state();
	struct table_row row;
	int cancel;

	cancel = lock_sharing(s);
	if (find_export(s, what, value, &row))
		gkl_export_change(limited()->ledger, (int)row.word, bytes);
	unlock_sharing(s, cancel);
}

/* A handle may have several exports, one for each kind of descriptor. */
void export_end(enum export_kind what, uint64_t value, bool kept)
{
	struct memory_state *s = memory_state();
	struct table_row row;
	int cancel;

	if (!atomic_load_explicit(&s->export_count, memory_order_relaxed))
		return;
	cancel = lock_sharing(s);
	while (find_export(s, what, value, &row)) {
		if (kept && gkl_export_is_held(row.key)) {
			row.owner = 0;
			table_put(&s->exports, &row);
			continue;
		}
		table_take(&s->exports, row.key, &row);
		gkl_export_end(limited()->ledger, (int)row.word);
		atomic_fetch_sub(&s->export_count, 1);
	}
	unlock_sharing(s, cancel);
}

/* ---- imports ---- */

/*
 * The key of a row: a handle or address, whose upper two bits are unused, and
 * its enum export_kind. `bytes` is the hold, `word` the number of uses.
 */
static uint64_t key_of(enum export_kind what, uint64_t value)
{
	return value << 2 | what;
}

bool import_begin(struct import *ret_import, uint64_t number)
{
	*ret_import = (struct import){.number = number};
	if (!number || !limited())
		return true;
	ret_import->hold = gkl_export_hold(number);
	return ret_import->hold;
}

/* The caller holds s->sharing. True: the hold is kept. */
static bool add_import(struct memory_state *s, const struct import *import,
		       enum export_kind what, uint64_t value)
{
	struct table_row row;
	bool known = table_find(&s->imports, key_of(what, value), &row);

	GK_ASSERT(gk_lock_held(&s->sharing));
	if (!known)
		row = (struct table_row){
		    .key = key_of(what, value),
		    .bytes = (uintptr_t)import->hold,
		    .owner =
			what == EXPORT_PIECE ? piece_owner() : import->number,
		    .device = (uint16_t)limited_current_device(),
		    .kind = (uint16_t)what};
	row.word++;
	if (!table_put(&s->imports, &row) || known)
		return false;
	atomic_fetch_add(&s->import_count, 1);
	return true;
}

void import_end(struct import *import, bool ok, enum export_kind what,
		uint64_t value)
{
	struct memory_state *s = import->hold ? memory_state() : NULL;
	bool kept = false;
	int cancel;

	if (!s)
		return;
	if (ok) {
		cancel = lock_sharing(s);
		kept = add_import(s, import, what, value);
		unlock_sharing(s, cancel);
	}
	if (!kept)
		gkl_export_drop(import->hold);
}

static void drop_hold(const struct table_row *row)
{
	gkl_export_drop((void *)(uintptr_t)row->bytes);
}

void import_gone(enum export_kind what, uint64_t value)
{
	struct memory_state *s = limited() ? memory_state() : NULL;
	struct table_row row;
	int cancel;

	if (!s || !atomic_load_explicit(&s->import_count, memory_order_relaxed))
		return;
	cancel = lock_sharing(s);
	if (table_take(&s->imports, key_of(what, value), &row)) {
		if (--row.word) {
			table_put(&s->imports, &row);
		} else {
			atomic_fetch_sub(&s->import_count, 1);
			drop_hold(&row);
		}
	}
	unlock_sharing(s, cancel);
}

uint64_t import_number(enum export_kind what, uint64_t value)
{
	struct memory_state *s = limited() ? memory_state() : NULL;
	struct table_row row;

	return s && table_find(&s->imports, key_of(what, value), &row)
		   ? row.owner
		   : 0;
}

struct ended {
	struct memory_state *s;
	int device;
	uint64_t owner;
};

static bool drop_if_ended(const struct table_row *row, void *arg)
{
	struct ended *e = arg;

	if (row->kind != EXPORT_PIECE || row->device != e->device ||
	    row->owner != e->owner)
		return false;
	atomic_fetch_sub(&e->s->import_count, 1);
	drop_hold(row);
	return true;
}

void imports_end(int device, uint64_t owner)
{
	struct ended e = {memory_state(), device, owner};
	int cancel;

	if (!atomic_load(&e.s->import_count))
		return;
	cancel = lock_sharing(e.s);
	table_sweep(&e.s->imports, drop_if_ended, &e);
	unlock_sharing(e.s, cancel);
}

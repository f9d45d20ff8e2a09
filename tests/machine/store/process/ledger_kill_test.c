/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_kill_test.c - kills a process at every store of every ledger
 * operation, and at random moments; the machine must be consistent each time.
 */
#include "base/clock.h"
#include "base/err.h"
#include "machine/file/device.h"
#include "machine/file/file.h"
#include "machine/file/numbers.h"
#include "machine/file/slot.h"
#include "machine/file/state.h"
#include "machine/file/value.h"
#include "machine/fixture.h"
#include "machine/model/model.h"
#include "machine/store/process/books.h"
#include "machine/store/clock.h"
#include "machine/store/process/ledger.h"
#include "machine/store/process/slot.h"
#include "machine/store/writers_lock.h"
#include "machine/stores.h"

#include <errno.h>
#include <sys/mman.h>

#define HELD (2 * GIB)

enum operation { ATTACH, ALLOC, FREE, DETACH, SET, ADVANCE, OPERATIONS };

static const char *const names[] = {"attach", "alloc", "free",
				    "detach", "set",   "advance"};

static struct fixture fx;
static struct gkf_file *before; /* a copy of the file to compare with */

static int open_one(void **state)
{
	(void)state;
	fixture_open(&fx, 1);
	/*
	 * After the first bins, with a stopped clock: single steps take no
	 * machine time.
	 */
	gkf_machine_age(fx.m, GK_NS_PER_S);
	assert_int_equal(gkf_clock_speed(fx.m, 0), 0);
	before = malloc(sizeof *before);
	return !before;
}

static int close_it(void **state)
{
	(void)state;
	free(before);
	fixture_close(&fx);
	return 0;
}

/* Runs in the child, traced between the two stops. */
static void perform(enum operation op, unsigned slot)
{
	unsigned other;

	switch (op) {
	case ATTACH:
		gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &other);
		break;
	case ALLOC:
		gkf_books_charge(fx.m, slot, GIB);
		break;
	case FREE:
		gkf_books_refund(fx.m, slot, GIB);
		break;
	case DETACH:
		gkf_detach(fx.m, slot);
		break;
	case SET:
		gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, 77);
		break;
	case ADVANCE:
		gkf_lock(fx.m);
		gkf_state_advance(fx.m, 0);
		gkf_unlock(fx.m);
		break;
	case OPERATIONS:
		break;
	}
}

static void child(enum operation op)
{
	unsigned slot;
	uint64_t bin;

	if (gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot) ||
	    gkf_books_charge(fx.m, slot, HELD))
		_exit(1);
	/* One bin behind, so that the operation has a bin to catch up with. */
	bin = gkf_machine_bin(fx.m) - 1;
	fx.file->device[0].state[0].bin = bin;
	fx.file->device[0].state[1].bin = bin;
	/*
	 * No higher slot was ever used, so that the same stores are made each
	 * time.
	 */
	atomic_store(&fx.file->slots_high, slot + 1);
	TRACED(perform(op, slot));
}

static pid_t start(enum operation op)
{
	pid_t pid = fork();

	if (!pid)
		child(op);
	await_start(pid);
	return pid;
}

/* Whether the parts of the file in use have changed since the last call. */
static bool changed(void)
{
	static const struct {
		size_t offset, size;
	} parts[] = {
	    {0, offsetof(struct gkf_file, calls)},
	    {offsetof(struct gkf_file, device), sizeof(struct gkf_device)},
	    {offsetof(struct gkf_file, slot), 4 * sizeof(struct gkf_slot)},
	};
	bool differ = fixture_locks_changed(&fx);

	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
		char *then = (char *)before + parts[i].offset;
		const char *now = (const char *)fx.file + parts[i].offset;

		if (memcmp(then, now, parts[i].size)) {
			memcpy(then, now, parts[i].size);
			differ = true;
		}
	}
	return differ;
}

/*
 * Checks what must hold whatever happened: the lock can be taken, the books
 * balance, and everything works.
 */
static void check_whole(void)
{
	struct gkf_state state;
	struct gkf_memory memory;
	unsigned slot, live = 0;
	int64_t value;

	assert_int_equal(gkf_lock(fx.m), 0);
	gkf_unlock(fx.m);
	for (unsigned i = 0; i < GKF_SLOTS_MAX; i++) {
		struct gkf_slot *s = &fx.file->slot[i];

		if (!(atomic_load(&s->life) & 1))
			continue;
		live++;
		assert_true(i < gkf_slots_high(fx.m));
		assert_int_equal(s->device, 0);
		assert_int_equal(s->types, GKF_COMPUTE);
		assert_true(s->pid > 0 && s->pid_ns && s->start);
		assert_true(s->bytes == 0 || s->bytes == HELD ||
			    s->bytes == HELD + GIB || s->bytes == HELD - GIB);
	}
	assert_int_equal(gkf_reap(fx.m, true), live);
	gkf_memory(fx.m, 0, &memory);
	assert_int_equal(memory.used, 0);
	gkf_state_now(fx.m, 0, &state);
	assert_true(state.bin + 1 >= gkf_machine_bin(fx.m));
	assert_in_range(state.temp_mc, 0, 150000);
	assert_true(gkf_value_get(fx.m, 0, GKF_V_TEMPERATURE, &value));
	assert_int_equal(gkf_value_set(fx.m, 0, GKF_V_TEMPERATURE, GKF_UNSET),
			 0);
	assert_int_equal(gkf_attach(fx.m, 0, GKF_COMPUTE, NULL, &slot), 0);
	assert_int_equal(gkf_books_charge(fx.m, slot, memory.free), 0);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
}

static void killed_at_every_store(void **state)
{
	struct site sites[STORES_MAX];

	(void)state;
	if (!CAN_RECORD)
		skip();
	for (int op = 0; op < OPERATIONS; op++) {
		pid_t pid = start(op);
		unsigned stores = record(pid, sites, changed);

		end(pid);
		check_whole();
		/* Taking and releasing the lock alone makes two stores. */
		assert_true(stores >= 3);
		for (unsigned k = 0; k < stores; k++) {
			pid = start(op);
			changed();
			run_to(pid, &sites[k]);
			/* All stores before this one have been made. */
			assert_true(changed() || k + 1 == stores);
			end(pid);
			check_whole();
		}
		print_message("%s: killed at each of %u stores\n", names[op],
			      stores);
	}
}

/* The same at random: many processes, all operations, any moment. */
static void killed_in_a_storm(void **state)
{
	enum { VICTIMS = 300, AT_ONCE = 4 };
	pid_t pid[AT_ONCE] = {0};
	unsigned seed = 1;

	(void)state;
	for (int i = 0; i < VICTIMS; i++) {
		pid_t *p = &pid[i % AT_ONCE];

		if (*p)
			end(*p);
		*p = fork();
		if (*p == 0)
			for (;;) {
				unsigned slot;

				if (gkf_attach(fx.m, 0, GKF_COMPUTE, NULL,
					       &slot))
					continue;
				gkf_books_charge(fx.m, slot, HELD);
				perform(ALLOC, slot);
				perform(SET, slot);
				perform(FREE, slot);
				perform(DETACH, slot);
			}
		/* This waits for nothing: the moment itself is random. */
		usleep((unsigned)rand_r(&seed) % 3000);
	}
	for (int i = 0; i < AT_ONCE; i++)
		end(pid[i]);
	check_whole();
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_one, close_it)
	const struct CMUnitTest tests[] = {
	    T(killed_at_every_store),
	    T(killed_in_a_storm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

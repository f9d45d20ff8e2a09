/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ledger_kill_test.c - kills or stops a process after every store of every
 * operation: no byte is lost, none is taken twice, and nobody waits.
 */
#include "limit/fixture.h"
#include "limit/ledger_export.h"
#include "limit/ledger_file.h"
#include "stepping.h"

#define LIMIT  GIB
#define MINE   (100 * MIB) /* held by the test itself */
#define HELD   (200 * MIB) /* held by the victim before the operation */
#define CHANGE (50 * MIB)

enum operation { CLAIM, RESERVE, REFUSED, REFUND, CHARGE, EXPORT, BURY, CLOSE };

static const struct {
	const char *name;
	uint64_t after;     /* what the victim holds afterwards */
	unsigned int least; /* stores */
} operations[] = {
    [CLAIM] = {"claim", CHANGE, 8},
    [RESERVE] = {"reserve", HELD + CHANGE, 5},
    [REFUSED] = {"reserve in vain", HELD, 2},
    [REFUND] = {"refund", HELD - CHANGE, 5},
    [CHARGE] = {"charge", HELD + CHANGE, 5},
    [EXPORT] = {"export", HELD, 6},
    [BURY] = {"bury", HELD, 4},
    [CLOSE] = {"close", 0, 4},
};

#define OPERATIONS (sizeof operations / sizeof *operations)

static struct fixture fx;
static struct gkl_ledger_file *file;
static unsigned char *before; /* a copy of the file to compare with */

/* All but the room for shares of time, which the ledger does not write. */
static const struct {
	size_t offset, size;
} watched[] = {
    {0, offsetof(struct gkl_ledger_file, share)},
    {offsetof(struct gkl_ledger_file, slots), 4 * sizeof(struct gkl_slot)},
    {offsetof(struct gkl_ledger_file, exports), 4 * sizeof(struct gkl_export)},
};

static int open_it(void **state)
{
	(void)state;
	fixture_open(&fx);
	file = fx.ledger->file;
	before = calloc(1, sizeof *file);
	assert_true(gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, MINE, LIMIT));
	return !before;
}

static int close_it(void **state)
{
	(void)state;
	free(before);
	fixture_close(&fx);
	return 0;
}

static void hold_and_die(void)
{
	gkl_ledger_charge(fx.ledger, 0, GKL_DATA, CHANGE);
}

static void export_in_vain(void)
{
	int place = gkl_export_begin(fx.ledger, 0, gkl_export_number(), CHANGE);

	gkl_export_end(fx.ledger, place);
}

static void perform(enum operation op)
{
	switch (op) {
	case CLAIM:
	case RESERVE:
		gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, CHANGE, LIMIT);
		break;
	case REFUSED:
		gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, LIMIT + 1, LIMIT);
		break;
	case REFUND:
		gkl_ledger_refund(fx.ledger, 0, GKL_DATA, CHANGE);
		break;
	case CHARGE:
		gkl_ledger_charge(fx.ledger, 0, GKL_DATA, CHANGE);
		break;
	case EXPORT:
		export_in_vain();
		break;
	case BURY:
		gkl_ledger_bury(fx.ledger);
		break;
	case CLOSE:
		gkl_ledger_close(fx.ledger);
		break;
	}
}

/* The same stores are made each time: no slot and no bytes were ever higher. */
static void forget_highs(void)
{
	uint32_t high = GKL_PROCESSES;

	while (!file->slots[high - 1].life.high)
		high--;
	atomic_store(&file->high, high);
	atomic_store(&file->exports_high, 0);
	atomic_store(&file->taken[0].peak, 0);
}

/* A child that is stopped before the operation. */
static pid_t start(enum operation op)
{
	pid_t pid;

	if (op == BURY)
		await_end(start_child(hold_and_die), 0);
	pid = fork();
	if (!pid) {
		if (op != CLAIM)
			gkl_ledger_charge(fx.ledger, 0, GKL_DATA, HELD);
		forget_highs();
		TRACED(perform(op));
	}
	await_start(pid);
	return pid;
}

/* Whether the file has changed since the last call, except for its clock. */
static bool changed(void)
{
	bool differ = false;

	atomic_store(&file->looked_ns, 0);
	for (size_t i = 0; i < sizeof watched / sizeof *watched; i++) {
		unsigned char *then = before + watched[i].offset;
		const char *now = (const char *)file + watched[i].offset;

		differ |= memcmp(then, now, watched[i].size) != 0;
		memcpy(then, now, watched[i].size);
	}
	return differ;
}

/* Recounts the books: the sum of all accounts and of what is under way. */
static void check_books(void)
{
	union gkl_wide total = gkl_wide_read(&file->taken[0].total);
	uint64_t slot = total.high >> GKL_SEQ_BITS, sum = 0;
	uint64_t number = total.high & GKL_SEQ_MASK;

	for (unsigned i = 0; i < GKL_PROCESSES; i++) {
		const struct gkl_account *a = &file->slots[i].account[0];

		sum += a->held.low;
		assert_true(a->held.low <= LIMIT);
		if (i == slot && a->held.high + 1 == number)
			sum += a->op.low;
	}
	assert_int_equal(sum, total.low);
}

/* Checks what must hold when all victims are dead. */
static void check_whole(void)
{
	check_books();
	/*
	 * Nobody has looked for the dead: the refused request itself finds
	 * them.
	 */
	assert_true(
	    gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, LIMIT - MINE, LIMIT));
	assert_int_equal(gkl_ledger_own(fx.ledger, 0), LIMIT);
	assert_int_equal(gkl_ledger_used(fx.ledger, 0), LIMIT);
	assert_false(gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, 1, LIMIT));
	gkl_ledger_refund(fx.ledger, 0, GKL_DATA, LIMIT - MINE);
	assert_int_equal(gkl_ledger_used(fx.ledger, 0), MINE);
	assert_int_equal(gkl_ledger_bury(fx.ledger), 0);
	assert_int_equal(count_processes(fx.ledger), 1);
	for (unsigned i = 0; i < GKL_EXPORTS; i++)
		assert_int_equal(file->exports[i].owner.high, 0);
	check_books();
}

static unsigned int record_stores(enum operation op, struct site *sites)
{
	pid_t pid = start(op);
	unsigned int stores = record(pid, sites, changed);

	end(pid);
	return stores;
}

static void killed_behind_every_store(void **state)
{
	struct site sites[STORES_MAX];

	(void)state;
	if (!CAN_RECORD)
		skip();
	for (unsigned int op = 0; op < OPERATIONS; op++) {
		unsigned int stores = record_stores(op, sites);

		check_whole();
		assert_in_range(stores, operations[op].least, STORES_MAX);
		for (unsigned int k = 0; k < stores; k++) {
			pid_t pid = start(op);

			changed();
			run_to(pid, &sites[k]);
			assert_true(changed());
			check_books();
			end(pid);
			check_whole();
		}
		print_message("%s: killed behind each of %u stores\n",
			      operations[op].name, stores);
	}
}

/* Leaves a victim dead after store k of op; false: there are fewer stores. */
static bool leave_dead(enum operation op, const struct site *sites,
		       unsigned int stores, unsigned int k)
{
	pid_t pid;

	if (k >= stores)
		return false;
	pid = start(op);
	run_to(pid, &sites[k]);
	end(pid);
	return true;
}

/*
 * The second victim finds what the first has left half done, and dies while
 * completing it.
 */
static void killed_over_what_another_left(void **state)
{
	static const enum operation firsts[] = {RESERVE, REFUND, BURY};
	static const enum operation seconds[] = {RESERVE, BURY};
	struct site first[STORES_MAX], second[STORES_MAX];

	(void)state;
	if (!CAN_RECORD)
		skip();
	for (size_t i = 0; i < 3; i++) {
		unsigned int n = record_stores(firsts[i], first);

		check_whole();
		for (unsigned int k = 0; k < n; k++)
			for (size_t j = 0; j < 2; j++) {
				unsigned int m;

				leave_dead(firsts[i], first, n, k);
				m = record_stores(seconds[j], second);
				check_whole();
				for (unsigned int l = 0; l < m; l++) {
					leave_dead(firsts[i], first, n, k);
					leave_dead(seconds[j], second, m, l);
					check_whole();
				}
			}
	}
}

/* Continues the child from where run_to() has stopped it. */
static void go_on(pid_t pid, const struct site *site, long text)
{
	int status;

	poke(pid, site->pc, text);
	assert_int_equal(ptrace(PTRACE_POKEUSER, pid, PC, site->pc), 0);
	assert_int_equal(ptrace(PTRACE_CONT, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
}

static void others_work(void)
{
	alarm(10);
	for (int i = 0; i < 3; i++) {
		assert_true(gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, 10 * MIB,
					       LIMIT));
		gkl_ledger_refund(fx.ledger, 0, GKL_DATA, 10 * MIB);
		assert_false(
		    gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, LIMIT, LIMIT));
		gkl_ledger_bury(fx.ledger);
	}
	alarm(0);
	check_books();
}

static void who_is_stopped_behind_a_store_holds_nobody_up(void **state)
{
	struct site sites[STORES_MAX];

	(void)state;
	if (!CAN_RECORD)
		skip();
	for (unsigned int op = 0; op < OPERATIONS; op++) {
		unsigned int stores = record_stores(op, sites);

		check_whole();
		for (unsigned int k = 0; k < stores; k++) {
			pid_t pid = start(op);
			long text =
			    ptrace(PTRACE_PEEKTEXT, pid, sites[k].pc, NULL);

			run_to(pid, &sites[k]);
			others_work();
			go_on(pid, &sites[k], text);
			/* It has done its work exactly once. */
			assert_int_equal(gkl_ledger_used(fx.ledger, 0),
					 MINE + operations[op].after);
			end(pid);
			check_whole();
		}
	}
}

/*
 * One is stopped and another dies during an operation; the first must finish
 * it.
 */
static void who_was_stopped_finishes_what_another_left(void **state)
{
	struct site stop[STORES_MAX], die[STORES_MAX];
	unsigned int stops, deaths;

	(void)state;
	if (!CAN_RECORD)
		skip();
	stops = record_stores(RESERVE, stop);
	deaths = record_stores(REFUND, die);
	check_whole();
	for (unsigned int k = 0; k < stops; k++)
		for (unsigned int l = 0; l < deaths; l++) {
			pid_t pid = start(RESERVE);
			long text =
			    ptrace(PTRACE_PEEKTEXT, pid, stop[k].pc, NULL);

			run_to(pid, &stop[k]);
			leave_dead(REFUND, die, deaths, l);
			go_on(pid, &stop[k], text);
			check_books();
			end(pid);
			check_whole();
		}
}

/* ---- memory of the dead that others hold ---- */

#define LENT (CHANGE / 2)

static uint64_t number;

static void export_and_die(void)
{
	gkl_ledger_charge(fx.ledger, 0, GKL_DATA, CHANGE);
	gkl_export_begin(fx.ledger, 0, number, LENT);
}

/*
 * A child that is stopped before it buries a process whose memory others hold.
 */
static pid_t start_before_lent(void **ret_hold)
{
	pid_t pid;

	number = gkl_export_number();
	*ret_hold = gkl_export_hold(number);
	assert_non_null(*ret_hold);
	await_end(start_child(export_and_die), 0);
	pid = fork();
	if (!pid) {
		gkl_ledger_charge(fx.ledger, 0, GKL_DATA, HELD);
		TRACED(gkl_ledger_bury(fx.ledger));
	}
	await_start(pid);
	return pid;
}

/* It stays as long as it is held, and no longer. */
static void check_lent(void *hold)
{
	check_books();
	gkl_ledger_bury(fx.ledger);
	assert_int_equal(gkl_ledger_used(fx.ledger, 0), MINE + LENT);
	assert_int_equal(gkl_ledger_settled(fx.ledger, 0), MINE + LENT);
	assert_false(gkl_ledger_reserve(fx.ledger, 0, GKL_DATA,
					LIMIT - MINE - LENT + 1, LIMIT));
	assert_int_equal(gkl_ledger_bury(fx.ledger), 0);
	assert_int_equal(count_processes(fx.ledger), 2);
	gkl_export_drop(hold);
	check_whole();
}

static void what_others_have_stays_whoever_is_killed(void **state)
{
	struct site sites[STORES_MAX];
	unsigned int stores;
	void *hold;
	pid_t pid;

	(void)state;
	if (!CAN_RECORD)
		skip();
	pid = start_before_lent(&hold);
	stores = record(pid, sites, changed);
	end(pid);
	check_lent(hold);
	assert_in_range(stores, 4, STORES_MAX);
	for (unsigned int k = 0; k < stores; k++) {
		pid = start_before_lent(&hold);
		run_to(pid, &sites[k]);
		end(pid);
		check_lent(hold);
	}
}

/* Another process finishes the burial, and the lent memory is gone by then. */
static void who_buries_late_takes_nothing_twice(void **state)
{
	struct site sites[STORES_MAX];
	unsigned int stores;
	void *hold;
	pid_t pid;

	(void)state;
	if (!CAN_RECORD)
		skip();
	pid = start_before_lent(&hold);
	stores = record(pid, sites, changed);
	end(pid);
	check_lent(hold);
	for (unsigned int k = 0; k < stores; k++) {
		long text;

		pid = start_before_lent(&hold);
		text = ptrace(PTRACE_PEEKTEXT, pid, sites[k].pc, NULL);
		run_to(pid, &sites[k]);
		gkl_export_drop(hold);
		gkl_ledger_bury(fx.ledger);
		assert_int_equal(gkl_ledger_used(fx.ledger, 0), MINE + HELD);
		go_on(pid, &sites[k], text);
		assert_int_equal(gkl_ledger_used(fx.ledger, 0), MINE + HELD);
		end(pid);
		check_whole();
	}
}

#define PART (LIMIT / 4)

static void hold_a_part_and_die(void)
{
	gkl_ledger_charge(fx.ledger, 0, GKL_DATA, PART);
}

static void hold_the_rest(void)
{
	gkl_ledger_charge(fx.ledger, 0, GKL_DATA, LIMIT - MINE - PART);
	raise(SIGSTOP);
}

/*
 * A dead and a living process hold all; a child is stopped before its attempt.
 */
static pid_t start_before_the_dead(pid_t *ret_living)
{
	pid_t pid;

	*ret_living = start_child(hold_the_rest);
	assert_int_equal(waitpid(*ret_living, NULL, WUNTRACED), *ret_living);
	/*
	 * This one is in a later slot, so that the search has passed the living
	 * one by then.
	 */
	await_end(start_child(hold_a_part_and_die), 0);
	pid = fork();
	if (!pid) {
		gkl_ledger_slot(fx.ledger);
		forget_highs();
		TRACED(gkl_ledger_reserve(fx.ledger, 0, GKL_DATA, PART, LIMIT));
	}
	await_start(pid);
	return pid;
}

static uint64_t total_now(void)
{
	return gkl_wide_read(&file->taken[0].total).low;
}

/*
 * Wherever the child is stopped, the living process dies and another takes the
 * share of the dead one: the child still finds room, that of the process that
 * died last.
 */
static void who_buries_is_not_refused_when_another_takes_that_room(void **state)
{
	struct site sites[STORES_MAX];
	unsigned int stores, robbed = 0;
	pid_t living, pid;

	(void)state;
	if (!CAN_RECORD)
		skip();
	pid = start_before_the_dead(&living);
	stores = record(pid, sites, changed);
	end(living);
	end(pid);
	check_whole();
	for (unsigned int k = 0; k < stores; k++) {
		bool rob;
		long text;

		pid = start_before_the_dead(&living);
		text = ptrace(PTRACE_PEEKTEXT, pid, sites[k].pc, NULL);
		run_to(pid, &sites[k]);
		end(living);
		rob = total_now() + PART <= LIMIT;
		if (rob)
			gkl_ledger_charge(fx.ledger, 0, GKL_DATA, PART);
		robbed += rob;
		go_on(pid, &sites[k], text);
		gkl_ledger_bury(fx.ledger);
		assert_int_equal(gkl_ledger_used(fx.ledger, 0),
				 MINE + PART + (rob ? PART : 0));
		end(pid);
		if (rob)
			gkl_ledger_refund(fx.ledger, 0, GKL_DATA, PART);
		check_whole();
	}
	assert_true(robbed > 0);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_it, close_it)
	const struct CMUnitTest tests[] = {
	    T(killed_behind_every_store),
	    T(killed_over_what_another_left),
	    T(who_is_stopped_behind_a_store_holds_nobody_up),
	    T(who_was_stopped_finishes_what_another_left),
	    T(what_others_have_stays_whoever_is_killed),
	    T(who_buries_late_takes_nothing_twice),
	    T(who_buries_is_not_refused_when_another_takes_that_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

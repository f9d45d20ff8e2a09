/*
 * A process is killed at every store of every ledger operation, and at random
 * moments; the machine must be whole each time.
 *
 * A tracer steps the child through the operation instruction by instruction
 * and compares the mapped file after each: an instruction that changed it is
 * a store. Then, for each store, a fresh child runs into a breakpoint just
 * behind it and is killed there.
 */
#include "fake/fixture.h"

#include "base/clock.h"
#include "base/err.h"
#include "fake/private.h"

#include <errno.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/user.h>

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

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
	/* Not in its first bins; and single steps take no machine time. */
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
		gkf_alloc(fx.m, slot, GIB);
		break;
	case FREE:
		gkf_free(fx.m, slot, GIB);
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
	    gkf_alloc(fx.m, slot, HELD))
		_exit(1);
	/* A bin behind, so that there is something to advance. */
	bin = gkf_machine_bin(fx.m) - 1;
	fx.file->device[0].state[0].bin = bin;
	fx.file->device[0].state[1].bin = bin;
	/* No slot was ever used beyond: each time the same stores are made. */
	atomic_store(&fx.file->slots_high, slot + 1);
	ptrace(PTRACE_TRACEME, 0, NULL, NULL);
	raise(SIGSTOP);
	perform(op, slot);
	raise(SIGSTOP);
	_exit(0);
}

static pid_t start(enum operation op)
{
	int status;
	pid_t pid = fork();

	if (!pid)
		child(op);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
	return pid;
}

/* Whether the parts of the file in use differ from the last look. */
static bool changed(void)
{
	static const struct {
		size_t offset, size;
	} parts[] = {
	    {0, offsetof(struct gkf_file, calls)},
	    {offsetof(struct gkf_file, device), sizeof(struct gkf_device)},
	    {offsetof(struct gkf_file, slot), 4 * sizeof(struct gkf_slot)},
	};
	bool differ = false;

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

#ifdef __x86_64__
#define BREAKPOINT 0xccL /* int3; it leaves the counter behind itself */
#define PC         offsetof(struct user, regs.rip)
#else
#define BREAKPOINT 0L /* unknown */
#define PC         0
#endif

/* Just behind a store: where, and at which time of being there. */
struct site {
	uintptr_t pc;
	unsigned time;
};

#define STORES_MAX 256
#define STEPS_MAX  (1 << 20)

/* Resumes the child; false when the operation is over. */
static bool resume(pid_t pid, enum __ptrace_request how)
{
	int status;

	assert_int_equal(ptrace(how, pid, NULL, NULL), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status));
	if (WSTOPSIG(status) == SIGSTOP)
		return false;
	assert_int_equal(WSTOPSIG(status), SIGTRAP);
	return true;
}

static unsigned times(const uintptr_t *pcs, size_t count, uintptr_t pc)
{
	unsigned n = 0;

	for (size_t i = 0; i < count; i++)
		n += pcs[i] == pc;
	return n;
}

/* Steps to the end of the operation. Returns how many stores it has. */
static unsigned record(pid_t pid, struct site sites[STORES_MAX])
{
	uintptr_t *pcs = malloc(STEPS_MAX * sizeof *pcs);
	unsigned stores = 0;
	size_t n = 0;

	assert_non_null(pcs);
	changed();
	while (resume(pid, PTRACE_SINGLESTEP)) {
		assert_in_range(n, 0, STEPS_MAX - 1);
		pcs[n++] = (uintptr_t)ptrace(PTRACE_PEEKUSER, pid, PC, NULL);
		if (!changed())
			continue;
		assert_in_range(stores, 0, STORES_MAX - 1);
		sites[stores++] =
		    (struct site){pcs[n - 1], times(pcs, n, pcs[n - 1])};
	}
	free(pcs);
	return stores;
}

static void poke(pid_t pid, uintptr_t pc, long text)
{
	assert_int_equal(ptrace(PTRACE_POKETEXT, pid, pc, text), 0);
}

/* Runs to just behind a store. */
static void run_to(pid_t pid, const struct site *site)
{
	long text = ptrace(PTRACE_PEEKTEXT, pid, site->pc, NULL);
	long stop = (text & ~0xffL) | BREAKPOINT;

	poke(pid, site->pc, stop);
	assert_true(resume(pid, PTRACE_CONT));
	for (unsigned i = 1; i < site->time; i++) {
		poke(pid, site->pc, text);
		assert_int_equal(ptrace(PTRACE_POKEUSER, pid, PC, site->pc), 0);
		assert_true(resume(pid, PTRACE_SINGLESTEP));
		poke(pid, site->pc, stop);
		assert_true(resume(pid, PTRACE_CONT));
	}
	assert_int_equal(ptrace(PTRACE_PEEKUSER, pid, PC, NULL), site->pc + 1);
}

static void end(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

/* What must hold whatever happened: the lock can be had, the books balance,
 * and everything works. */
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
	assert_int_equal(gkf_alloc(fx.m, slot, memory.free), 0);
	assert_int_equal(gkf_detach(fx.m, slot), 0);
}

static void killed_at_every_store(void **state)
{
	struct site sites[STORES_MAX];

	(void)state;
	if (SANITIZED || !BREAKPOINT)
		skip();
	for (int op = 0; op < OPERATIONS; op++) {
		pid_t pid = start(op);
		unsigned stores = record(pid, sites);

		end(pid);
		check_whole();
		/* The lock and its release alone are two. */
		assert_true(stores >= 3);
		for (unsigned k = 0; k < stores; k++) {
			pid = start(op);
			changed();
			run_to(pid, &sites[k]);
			/* It has changed what all stores before it did. */
			assert_true(changed() || k + 1 == stores);
			end(pid);
			check_whole();
		}
		print_message("%s: killed at each of %u stores\n", names[op],
			      stores);
	}
}

/* The same without a plan: many processes, all operations, any moment. */
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
				gkf_alloc(fx.m, slot, HELD);
				perform(ALLOC, slot);
				perform(SET, slot);
				perform(FREE, slot);
				perform(DETACH, slot);
			}
		/* Not a wait for something: the moment itself is random. */
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

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stepping.h - kills a child after each store of an operation.
 *
 * A tracer steps a child through the operation instruction by instruction and
 * reads the mapped file after each: an instruction that changed it is a store.
 * Then, for each store, a new child runs into a breakpoint just after it and is
 * killed there. Children stop before and after the operation (TRACED).
 */
#ifndef TESTS_STEPPING_H
#define TESTS_STEPPING_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* cmocka.h needs these before it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

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

#ifdef __x86_64__
#define BREAKPOINT 0xccL /* int3, after which the counter points behind it */
#define PC         offsetof(struct user, regs.rip)
#else
#define BREAKPOINT 0L /* unknown */
#define PC         0
#endif

/* A sanitized program makes additional stores. */
#define CAN_RECORD (!SANITIZED && BREAKPOINT)

/* A position just after a store: the address, and which visit to it. */
struct site {
	uintptr_t pc;
	unsigned time;
};

#define STORES_MAX 2048
#define STEPS_MAX  (1 << 20)

/* Resumes the child; false when the operation is over. */
static inline bool resume(pid_t pid, enum __ptrace_request how)
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

/* How often the address was reached; a repeating instruction stays there. */
static inline unsigned times(const uintptr_t *pcs, size_t count, uintptr_t pc)
{
	unsigned n = 0;

	for (size_t i = 0; i < count; i++)
		n += pcs[i] == pc && (!i || pcs[i - 1] != pc);
	return n;
}

/*
 * Steps to the end of the operation. Returns its number of stores: after each
 * of them changed() is true.
 */
static inline unsigned record(pid_t pid, struct site sites[STORES_MAX],
			      bool changed(void))
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

static inline void poke(pid_t pid, uintptr_t pc, long text)
{
	assert_int_equal(ptrace(PTRACE_POKETEXT, pid, pc, text), 0);
}

static inline uintptr_t pc_of(pid_t pid)
{
	return (uintptr_t)ptrace(PTRACE_PEEKUSER, pid, PC, NULL);
}

/* Runs to just after a store. */
static inline void run_to(pid_t pid, const struct site *site)
{
	long text = ptrace(PTRACE_PEEKTEXT, pid, site->pc, NULL);
	long stop = (text & ~0xffL) | BREAKPOINT;

	poke(pid, site->pc, stop);
	assert_true(resume(pid, PTRACE_CONT));
	for (unsigned i = 1; i < site->time; i++) {
		poke(pid, site->pc, text);
		assert_int_equal(ptrace(PTRACE_POKEUSER, pid, PC, site->pc), 0);
		do
			assert_true(resume(pid, PTRACE_SINGLESTEP));
		while (pc_of(pid) == site->pc);
		poke(pid, site->pc, stop);
		assert_true(resume(pid, PTRACE_CONT));
	}
	assert_int_equal(pc_of(pid), site->pc + 1);
}

static inline void end(pid_t pid)
{
	int status;

	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
}

/* Executed by the child. */
#define TRACED(operation)                                                      \
	do {                                                                   \
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);                         \
		raise(SIGSTOP);                                                \
		operation;                                                     \
		raise(SIGSTOP);                                                \
		_exit(0);                                                      \
	} while (0)

/* Waits until it is stopped before the operation. */
static inline void await_start(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSTOPPED(status) && WSTOPSIG(status) == SIGSTOP);
}

#endif

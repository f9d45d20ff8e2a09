/* SPDX-License-Identifier: Apache-2.0 */
/*
 * truncated_test.c - checks programs that handle SIGBUS themselves, on a
 * machine and without one.
 */
#include "machine/fixture.h"
#include "base/truncated.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>

static sigjmp_buf out;

static void jump_out(int number)
{
	(void)number;
	siglongjmp(out, 1);
}

/* A mapped page of a file that is there no longer. */
static volatile char *page_of_nothing(void)
{
	int fd = memfd_create("nothing", MFD_CLOEXEC);
	void *page;

	if (fd < 0 || ftruncate(fd, 4096))
		return NULL;
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return page == MAP_FAILED || ftruncate(fd, 0) ? NULL : page;
}

/* The number of faults it caught, of three. */
static int catch_three(void)
{
	volatile char *page = page_of_nothing();
	volatile int caught = 0;

	for (volatile int i = 0; page && i < 3; i++) {
		if (sigsetjmp(out, 1))
			caught++;
		else
			*page = 1;
	}
	return caught;
}

static void who_leaves_its_handler_by_a_jump_may_do_so_again(void **state)
{
	pid_t pid = fork();

	(void)state;
	if (!pid) {
		struct fixture fx;

		signal(SIGBUS, jump_out);
		fixture_open(&fx, 1);
		pid = catch_three();
		fixture_close(&fx);
		_exit(pid);
	}
	fixture_await(pid, 3);
}

/* ---- mapped files of the test's own; a child tries each thing ---- */

enum { PAGES = 70, KEPT = 64 };

static char *pages;
static size_t page;
static int file;
static atomic_bool damaged[PAGES];

static void begin_child(void)
{
	prctl(PR_SET_DUMPABLE, 0);
	alarm(20); /* a signal that is passed in a circle never ends */
	signal(SIGBUS, SIG_DFL);
	page = (size_t)sysconf(_SC_PAGESIZE);
	file = memfd_create("file", MFD_CLOEXEC);
	if (file < 0 || ftruncate(file, (off_t)(PAGES * page)))
		_exit(99);
	pages = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE, MAP_SHARED,
		     file, 0);
	if (pages == MAP_FAILED)
		_exit(99);
	memset(pages, 'x', PAGES * page);
}

/* Runs a program in a child; returns how it ended. */
static int status_of(int (*program)(void))
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		begin_child();
		_exit(program());
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void assert_ends_well(int (*program)(void))
{
	assert_int_equal(status_of(program), 0);
}

static void assert_ends_by_sigbus(int (*program)(void))
{
	int status = status_of(program);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGBUS);
}

static void watch(unsigned first, unsigned count)
{
	gk_truncated_watch(pages + first * page, count * page, &damaged[first]);
}

static void cut_to(unsigned count)
{
	if (ftruncate(file, (off_t)(count * page)))
		_exit(99);
}

static char first_of(unsigned i)
{
	return ((volatile char *)pages)[i * page];
}

/* Exits with a number made from the line of the failed condition. */
#define CHECK(condition)                                                       \
	do {                                                                   \
		if (!(condition))                                              \
			_exit(1 + __LINE__ % 250);                             \
	} while (0)

static int look_at_what_is_gone(void)
{
	watch(1, 3);
	CHECK(first_of(3) == 'x' && !damaged[1]);
	cut_to(2);
	CHECK(first_of(1) == 'x' && !damaged[1]);
	errno = 4321;
	CHECK(((volatile char *)pages)[4 * page - 1] == 0 && errno == 4321);
	CHECK(damaged[1]);
	CHECK(first_of(3) == 0 && first_of(2) == 0);
	memset(pages + 2 * page, 'y', 1); /* like any memory */
	CHECK(first_of(2) == 'y');
	CHECK(first_of(1) == 'x'); /* existing pages stay */
	return 0;
}

static void what_is_gone_is_zero(void **state)
{
	(void)state;
	assert_ends_well(look_at_what_is_gone);
}

static int look_before_it(void)
{
	watch(1, 2);
	cut_to(0);
	CHECK(first_of(1) == 0);
	return first_of(0);
}

static int look_behind_it(void)
{
	watch(1, 2);
	cut_to(0);
	CHECK(first_of(2) == 0);
	return first_of(3);
}

static int look_at_what_was_forgotten(void)
{
	watch(1, 2);
	watch(5, 1);
	gk_truncated_forget(pages + page);
	cut_to(0);
	CHECK(first_of(5) == 0 && damaged[5]);
	return first_of(1);
}

static int look_at_one_too_many(void)
{
	for (unsigned i = 0; i <= KEPT; i++)
		watch(i, 1);
	cut_to(0);
	for (unsigned i = 0; i < KEPT; i++)
		CHECK(first_of(i) == 0 && damaged[i]);
	return first_of(KEPT);
}

static void what_is_not_watched_ends_the_program(void **state)
{
	(void)state;
	assert_ends_by_sigbus(look_before_it);
	assert_ends_by_sigbus(look_behind_it);
	assert_ends_by_sigbus(look_at_what_was_forgotten);
	assert_ends_by_sigbus(look_at_one_too_many);
}

static int take_the_place_of_another(void)
{
	for (unsigned i = 0; i < KEPT; i++)
		watch(i, 1);
	gk_truncated_forget(pages + 30 * page);
	watch(KEPT, 1);
	cut_to(0);
	CHECK(first_of(KEPT) == 0 && damaged[KEPT]);
	CHECK(first_of(29) == 0 && first_of(31) == 0 && !damaged[30]);
	return 0;
}

static void a_place_that_was_left_is_taken_again(void **state)
{
	(void)state;
	assert_ends_well(take_the_place_of_another);
}

/* ---- the handlers of others ---- */

static volatile sig_atomic_t plain_calls, info_calls, other_calls, told_number;
static volatile sig_atomic_t told_pid, told_code;
static void *volatile told_at;

static void note_plain(int number)
{
	plain_calls++;
	told_number = number;
	errno = 1234;
}

static void note_other(int number)
{
	(void)number;
	other_calls++;
}

static void note_info(int number, siginfo_t *info, void *context)
{
	info_calls += context != NULL;
	told_number = number;
	told_pid = info->si_pid;
	told_code = info->si_code;
	told_at = info->si_addr;
}

/* A handler that knows the mapping repairs the page itself. */
static void mend_info(int number, siginfo_t *info, void *context)
{
	note_info(number, info, context);
	if (mmap((char *)info->si_addr - (uintptr_t)info->si_addr % page, page,
		 PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == MAP_FAILED)
		abort();
}

static void handle_info(void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction a = {.sa_sigaction = handler,
			      .sa_flags = SA_SIGINFO | flags};

	sigaction(SIGBUS, &a, NULL);
}

static bool is_handled_by(void (*handler)(int, siginfo_t *, void *))
{
	struct sigaction now;

	return !sigaction(SIGBUS, NULL, &now) && now.sa_flags & SA_SIGINFO &&
	       now.sa_sigaction == handler;
}

static int fault_elsewhere(void)
{
	handle_info(mend_info, 0);
	watch(1, 1);
	cut_to(0);
	CHECK(first_of(1) == 0 && damaged[1] && !info_calls);
	damaged[1] = false;
	CHECK(first_of(2) == 0 && info_calls == 1 && !damaged[1]);
	CHECK(told_number == SIGBUS && told_at == pages + 2 * page);
	CHECK(is_handled_by(mend_info));
	/* Watching one more range puts our handler first again. */
	watch(3, 1);
	CHECK(first_of(3) == 0 && damaged[3] && info_calls == 1);
	return 0;
}

static void faults_elsewhere_are_those_of_the_handler_before(void **state)
{
	(void)state;
	assert_ends_well(fault_elsewhere);
}

static int send_to_plain(void)
{
	signal(SIGBUS, note_plain);
	watch(1, 1);
	watch(2, 1); /* our handler does not chain to itself */
	for (int i = 1; i <= 3; i++) {
		errno = 4321;
		kill(getpid(), SIGBUS);
		CHECK(plain_calls == i && told_number == SIGBUS);
		CHECK(errno == 4321);
	}
	cut_to(0);
	CHECK(first_of(1) == 0 && plain_calls == 3);
	return 0;
}

static int send_to_info(void)
{
	handle_info(note_info, 0);
	watch(1, 1);
	for (int i = 1; i <= 2; i++) {
		raise(SIGBUS);
		CHECK(info_calls == i && told_number == SIGBUS);
		CHECK(told_pid == getpid() && told_code == SI_TKILL);
	}
	cut_to(0);
	CHECK(first_of(1) == 0 && info_calls == 2);
	return 0;
}

static int send_to_who_ignores(void)
{
	signal(SIGBUS, SIG_IGN);
	watch(1, 1);
	kill(getpid(), SIGBUS);
	cut_to(0);
	CHECK(first_of(1) == 0);
	return 0;
}

static int send_to_once(void)
{
	handle_info(note_info, (int)SA_RESETHAND);
	watch(1, 1);
	kill(getpid(), SIGBUS);
	CHECK(info_calls == 1);
	kill(getpid(), SIGBUS);
	return 1;
}

static int send_to_nobody(void)
{
	watch(1, 1);
	kill(getpid(), SIGBUS);
	return 1;
}

static void what_was_sent_is_handled_as_before(void **state)
{
	(void)state;
	assert_ends_well(send_to_plain);
	assert_ends_well(send_to_info);
	assert_ends_well(send_to_who_ignores);
	assert_ends_by_sigbus(send_to_once);
	assert_ends_by_sigbus(send_to_nobody);
}

static struct sigaction ours;

/* A handler that calls the one it replaced. */
static void hand_on(int number, siginfo_t *info, void *context)
{
	info_calls++;
	ours.sa_sigaction(number, info, context);
}

static void set_before_ours(void)
{
	sigaction(SIGBUS, NULL, &ours);
	handle_info(hand_on, 0);
}

static int send_through_a_chain(void)
{
	signal(SIGBUS, note_plain);
	watch(1, 1);
	set_before_ours();
	kill(getpid(), SIGBUS);
	CHECK(info_calls == 1 && plain_calls == 1);
	cut_to(0);
	CHECK(first_of(1) == 0 && info_calls == 2 && plain_calls == 1);
	return 0;
}

static int fault_through_a_chain(void)
{
	handle_info(mend_info, 0);
	watch(1, 1);
	set_before_ours();
	cut_to(0);
	CHECK(first_of(2) == 0);
	CHECK(info_calls == 2 && is_handled_by(mend_info));
	return 0;
}

/* The same handler before ours and behind it. */
static int send_in_a_circle(void)
{
	handle_info(hand_on, 0);
	watch(1, 1);
	set_before_ours();
	kill(getpid(), SIGBUS);
	return 1;
}

static int fault_in_a_circle(void)
{
	handle_info(hand_on, 0);
	watch(1, 1);
	set_before_ours();
	cut_to(0);
	return first_of(2);
}

static void handlers_may_stand_in_a_chain_but_not_in_a_circle(void **state)
{
	(void)state;
	assert_ends_well(send_through_a_chain);
	assert_ends_well(fault_through_a_chain);
	assert_ends_by_sigbus(send_in_a_circle);
	assert_ends_by_sigbus(fault_in_a_circle);
}

static int set_handlers_all_the_time(void)
{
	for (unsigned i = 0; i < 20; i++) {
		signal(SIGBUS, i % 2 ? note_plain : note_other);
		watch(i, 1);
		plain_calls = other_calls = 0;
		kill(getpid(), SIGBUS);
		CHECK(plain_calls == (int)(i % 2) && other_calls == !(i % 2));
	}
	return 0;
}

static void the_last_handler_that_was_set_is_the_one_before(void **state)
{
	(void)state;
	assert_ends_well(set_handlers_all_the_time);
}

/* Only the kernel and glibc know it. */
#define SA_RESTORER 0x04000000

/*
 * The flags of our handler when the one behind it has these and a mask of one
 * signal.
 */
static int flags_behind(int flags)
{
	struct sigaction a = {.sa_handler = note_plain, .sa_flags = flags}, now;

	sigaddset(&a.sa_mask, SIGUSR2);
	sigaction(SIGBUS, &a, NULL);
	watch(1, 1);
	sigaction(SIGBUS, NULL, &now);
	CHECK(sigismember(&now.sa_mask, SIGUSR2) == 1);
	CHECK(sigismember(&now.sa_mask, SIGUSR1) == 0);
	return now.sa_flags & ~SA_RESTORER;
}

static int look_at_flags(void)
{
	const int mine = SA_SIGINFO | SA_ONSTACK;

	CHECK(flags_behind(0) == mine);
	CHECK(flags_behind(SA_RESTART) == (mine | SA_RESTART));
	CHECK(flags_behind(SA_NODEFER) == (mine | SA_NODEFER));
	CHECK(flags_behind((int)SA_RESETHAND) == mine);
	return 0;
}

static void it_interrupts_as_the_handler_before_did(void **state)
{
	(void)state;
	assert_ends_well(look_at_flags);
}

int main(void)
{
#define T(name) cmocka_unit_test(name)
	const struct CMUnitTest tests[] = {
	    T(who_leaves_its_handler_by_a_jump_may_do_so_again),
	    T(what_is_gone_is_zero),
	    T(what_is_not_watched_ends_the_program),
	    T(a_place_that_was_left_is_taken_again),
	    T(faults_elsewhere_are_those_of_the_handler_before),
	    T(what_was_sent_is_handled_as_before),
	    T(handlers_may_stand_in_a_chain_but_not_in_a_circle),
	    T(the_last_handler_that_was_set_is_the_one_before),
	    T(it_interrupts_as_the_handler_before_did),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

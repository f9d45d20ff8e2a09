/* SPDX-License-Identifier: Apache-2.0 */
/*
 * others_test.c - checks owners in other pid namespaces: a container that ends
 * loses its slots. Needs root in the first pid namespace of the host.
 */
#include "can.h"
#include "machine/file/numbers.h"
#include "machine/fixture.h"
#include "machine/store/process/identity.h"
#include "machine/store/process/ledger.h"
#include "machine/store/machine.h"
#include "machine/trouble/machine.h"
#include "machine/store/process/others.h"

#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>

static struct fixture fx;

/* A container of two processes: the first one ends when its pipe is closed. */
struct container {
	pid_t outside; /* its parent, in our namespace */
	int line;      /* closing it ends the container */
};

static int open_one(void **state)
{
	(void)state;
	fixture_open(&fx, 1);
	return 0;
}

static int close_it(void **state)
{
	(void)state;
	fixture_close(&fx);
	return 0;
}

/* The second one takes a slot and exits when told, without releasing it. */
static void own_slot(int told, int to)
{
	struct gkf_machine *m;
	unsigned slot;
	char c;

	if (gkf_machine_open(fx.path, &m) ||
	    gkf_attach(m, 0, GKF_COMPUTE, NULL, &slot))
		_exit(1);
	if (write(to, "y", 1) != 1)
		_exit(1);
	(void)!read(told, &c, 1);
	_exit(0);
}

/* The first process of a pid namespace, which reaps only its own child. */
static void be_first(int line, int to)
{
	pid_t owner;
	int ends[2];
	char c;

	if (mount("proc", "/proc", "proc", 0, NULL) || pipe(ends))
		_exit(77);
	owner = fork();
	if (!owner) {
		close(ends[1]);
		close(line);
		own_slot(ends[0], to);
	}
	close(ends[0]);
	/* A letter ends the owner, the end of the pipe ends all. */
	while (read(line, &c, 1) == 1) {
		close(ends[1]);
		waitpid(owner, NULL, 0);
		if (write(to, "e", 1) != 1)
			_exit(1);
	}
	_exit(0);
}

/* False: no container can be made here. */
static bool begin(struct container *c, int *ret_from)
{
	int line[2], from[2];
	char letter;

	if (geteuid() || gkf_own_namespace(fx.m) != 0xEFFFFFFCULL)
		return false;
	assert_int_equal(pipe(line), 0);
	assert_int_equal(pipe(from), 0);
	c->outside = fork();
	if (!c->outside) {
		pid_t first;
		int status;

		close(line[1]);
		close(from[0]);
		if (unshare(CLONE_NEWPID | CLONE_NEWNS) ||
		    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
			_exit(77);
		first = fork();
		if (!first)
			be_first(line[0], from[1]);
		close(from[1]);
		waitpid(first, &status, 0);
		_exit(0);
	}
	close(line[0]);
	close(from[1]);
	c->line = line[1];
	*ret_from = from[0];
	return read(from[0], &letter, 1) == 1 && letter == 'y';
}

static void end(struct container *c)
{
	close(c->line);
	assert_int_equal(waitpid(c->outside, NULL, 0), c->outside);
}

static unsigned reap(void)
{
	return gkf_reap(fx.m, true);
}

static void a_container_that_ends_takes_its_slots_with_it(void **state)
{
	struct container c = {0};
	int from = -1;

	(void)state;
	if (!begin(&c, &from))
		CANNOT("sight-of-all-processes",
		       "no root of the first namespace");
	assert_int_equal(reap(), 0); /* it lives */
	end(&c);
	assert_int_equal(reap(), 1);
	assert_int_equal(reap(), 0);
	close(from);
}

static void so_does_an_owner_whose_container_goes_on(void **state)
{
	struct container c = {0};
	int from = -1;
	char letter;

	(void)state;
	if (!begin(&c, &from))
		CANNOT("sight-of-all-processes",
		       "no root of the first namespace");
	assert_int_equal(reap(), 0);
	assert_int_equal(write(c.line, "x", 1), 1);
	assert_int_equal(read(from, &letter, 1), 1);
	assert_int_equal(letter, 'e');
	assert_int_equal(reap(), 1);
	end(&c);
	close(from);
}

/* Reaps in a child that calls become() first. */
static int reap_as(void (*become)(void))
{
	pid_t child = fork();
	int status;

	if (!child) {
		become();
		_exit((int)reap());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void become_another_user(void)
{
	if (setgid(65534) || setuid(65534))
		_exit(77);
}

/* Leaves one free descriptor. */
static void run_out_of_descriptors(void)
{
	int next = dup(0);
	struct rlimit limit = {(rlim_t)next + 1, (rlim_t)next + 1};

	if (next < 0 || close(next) || setrlimit(RLIMIT_NOFILE, &limit))
		_exit(77);
}

/* Hides all other processes, as hidepid does. */
static void hide_the_others(void)
{
	if (!gkf_own_namespace(fx.m) || unshare(CLONE_NEWNS) ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
	    mount("none", "/proc", "tmpfs", 0, NULL))
		_exit(77);
}

/* A world-writable file of root is shared by several users. */
static void who_may_not_see_their_namespace_buries_nobody(void **state)
{
	struct container c = {0};
	int from = -1;

	(void)state;
	if (!begin(&c, &from))
		CANNOT("sight-of-all-processes",
		       "no root of the first namespace");
	assert_int_equal(reap_as(become_another_user), 0);
	assert_int_equal(reap(), 0);
	end(&c);
	close(from);
}

static void nor_does_who_cannot_look(void **state)
{
	struct container c = {0};
	int from = -1;

	(void)state;
	if (!begin(&c, &from))
		CANNOT("sight-of-all-processes",
		       "no root of the first namespace");
	assert_int_equal(reap_as(run_out_of_descriptors), 0);
	assert_int_equal(reap_as(hide_the_others), 0);
	end(&c);
	close(from);
}

/* /proc is read once, however many owners have ended. */
static void a_look_is_for_all_owners(void **state)
{
	const struct gkf_identity nobody = {
	    .pid = 1 << 22, .pid_ns = 12345, .start = 1, .stack = 1};
	struct gkf_others others = {.looked = true};

	(void)state;
	assert_false(gkf_others_live(&others, 0xEFFFFFFC, &nobody));
	others.blind = true;
	assert_true(gkf_others_live(&others, 0xEFFFFFFC, &nobody));
}

/* A container sees only some of the other processes. */
static void elsewhere_all_others_live(void **state)
{
	const struct gkf_identity nobody = {
	    .pid = 1 << 22, .pid_ns = 12345, .start = 1, .stack = 1};
	struct gkf_others others = {0};

	(void)state;
	assert_true(gkf_others_live(&others, 4242, &nobody));
	assert_false(others.looked);
	gkf_others_free(&others);
}

int main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, open_one, close_it)
	const struct CMUnitTest tests[] = {
	    T(a_container_that_ends_takes_its_slots_with_it),
	    T(so_does_an_owner_whose_container_goes_on),
	    T(who_may_not_see_their_namespace_buries_nobody),
	    T(nor_does_who_cannot_look),
	    cmocka_unit_test(a_look_is_for_all_owners),
	    cmocka_unit_test(elsewhere_all_others_live),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

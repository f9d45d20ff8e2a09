/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nvml_unload_test.c - checks that a closed driver library is unloaded when one
 * is opened later, so that an updated one is found, but never while a thread is
 * inside it.
 */
#include "core/scripted.h"

#include <sys/wait.h>

/* A copy of the library, which only the core has open. */
static char copy[sizeof t.tree.path + sizeof "/nvml.so"];

static int setup(void **state)
{
	char command[sizeof SCRIPTED + sizeof copy + 16];

	scripted_setup(state);
	snprintf(copy, sizeof copy, "%s/nvml.so", t.tree.path);
	snprintf(command, sizeof command, "cp '%s' '%s'", SCRIPTED, copy);
	assert_int_equal(system(command), 0);
	t.options.nvml_path = copy;
	t.options.timeout_ns = 100 * GK_NS_PER_MS;
	return 0;
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, scripted_teardown)

static bool is_loaded(void)
{
	void *library = dlopen(copy, RTLD_NOW | RTLD_NOLOAD);

	if (library)
		dlclose(library);
	return library;
}

/* Makes t.s the script of the copy. The caller closes the library when it needs
 * the script no more. */
static void *script_copy(void)
{
	void *library = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
	script_of *get;

	assert_non_null(library);
	*(void **)&get = dlsym(library, "script");
	t.s = get();
	scripted_reset(2);
	return library;
}

static int open_another(void)
{
	struct gk_options options = t.options;
	struct gk *gk;

	options.nvml_path = SCRIPTED;
	return gk_open(&options, NULL, &gk) || gk_close(gk);
}

/* Opens another library again and again, until the copy is unloaded. */
static void await_unload(void)
{
	uint64_t until = gk_mono_ns() + 60 * GK_NS_PER_S;

	while (is_loaded()) {
		assert_true(gk_mono_ns() < until);
		gk_sleep_until(gk_mono_ns() + 100 * GK_NS_PER_MS);
		assert_int_equal(open_another(), 0);
	}
}

static void a_closed_library_is_unloaded(void **state)
{
	(void)state;
	assert_false(is_loaded());
	scripted_open();
	assert_true(is_loaded());
	assert_int_equal(gk_close(t.gk), 0);
	t.gk = NULL;
	await_unload();
}

static void a_library_that_is_used_twice_is_unloaded_last(void **state)
{
	struct gk *other;

	(void)state;
	scripted_open();
	assert_int_equal(gk_open(&t.options, NULL, &other), 0);
	assert_int_equal(gk_close(t.gk), 0);
	t.gk = NULL;
	assert_true(is_loaded());
	assert_int_equal(gk_close(other), 0);
	await_unload();
}

/* Runs in a child, which ends by _exit(), because the worker is left behind. */
static int abandon(void)
{
	struct script *own = t.s;
	void *library = script_copy();

	if (gk_open(&t.options, NULL, &t.gk))
		return 1;
	SCRIPT(t.s->gpu[1].hang = true);
	if (gk_snapshot_take(t.gk, &t.snap))
		return 2;
	scripted_await_hang(1);
	if (gk_close(t.gk) != GK_ERR_TIMEOUT)
		return 3;
	gk_sleep_until(gk_mono_ns() + 1100 * GK_NS_PER_MS);
	if (open_another())
		return 4;
	SCRIPT(t.s->gpu[1].hang = false);
	t.s = own;
	dlclose(library);
	return is_loaded() ? 0 : 5;
}

static void a_library_with_a_call_that_hangs_stays(void **state)
{
	pid_t pid = fork();
	int status;

	(void)state;
	if (!pid)
		_exit(abandon());
	waitpid(pid, &status, 0);
	assert_int_equal(status, 0);
}

/* The thread that waits for events closes the library when it ends. */
static void a_library_is_unloaded_when_a_wait_for_events_ends(void **state)
{
	struct script *own = t.s;
	void *library;

	(void)state;
	t.options.with = GK_WITH_EVENTS;
	library = script_copy();
	scripted_open();
	SCRIPT(t.s->events.hang = true);
	scripted_take();
	pthread_mutex_lock(&t.s->lock);
	while (!t.s->events.waiting)
		pthread_cond_wait(&t.s->changed, &t.s->lock);
	pthread_mutex_unlock(&t.s->lock);
	assert_int_equal(gk_close(t.gk), 0);
	t.gk = NULL;
	assert_int_equal(t.s->inits, 1);
	SCRIPT(t.s->events.hang = false);
	t.s = own;
	dlclose(library);
	await_unload();
}

/* Threads that have called it run its code when they end. */
static void a_library_stays_for_threads_that_end(void **state)
{
	const struct timespec moment = {.tv_nsec = 50000000};

	(void)state;
	for (int i = 0; i < 5; i++) {
		scripted_open();
		assert_int_equal(gk_close(t.gk), 0);
		t.gk = NULL;
	}
	nanosleep(&moment, NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(a_closed_library_is_unloaded),
	    T(a_library_stays_for_threads_that_end),
	    T(a_library_that_is_used_twice_is_unloaded_last),
	    T(a_library_with_a_call_that_hangs_stays),
	    T(a_library_is_unloaded_when_a_wait_for_events_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

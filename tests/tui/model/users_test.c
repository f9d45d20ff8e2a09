/* SPDX-License-Identifier: Apache-2.0 */
/*
 * users_test.c - checks the users screen: sums by user, their order, whom the
 * filter leaves.
 */
#include "tui/screen.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <string.h>

static struct screen s;

static int begin(void **state)
{
	(void)state;
	screen_begin(&s, 24, 80);
	return 0;
}

static int end(void **state)
{
	(void)state;
	while (tui_back(&s.t))
		;
	screen_end(&s);
	return 0;
}

static const struct tui_user *user(const char *name)
{
	for (size_t i = 0; i < s.t.users.count; i++)
		if (!strcmp(s.t.users.users[i].name, name))
			return &s.t.users.users[i];
	fail_msg("no user %s", name);
	return NULL;
}

static void users_are_drawn(void **state)
{
	(void)state;
	screen_press(&s, "u Down");
	assert_int_equal(s.t.screen, SCREEN_USERS);
	assert_screen(&s, "tui/users-80x24");
	screen_resize(&s, 40, 120);
	assert_screen(&s, "tui/users-120x40");
	screen_resize(&s, 10, 40);
	assert_screen(&s, "tui/users-40x10");
}

static void a_process_on_two_gpus_is_one(void **state)
{
	struct gk_process *twice;

	(void)state;
	twice = fixture_add_process(&s.f, 1, 15699, "again");
	twice->m[GK_PM_CPU] = present(31250);
	tui_list_update(&s.t);
	screen_press(&s, "u");
	/* 15699 on two GPUs, 15731, and 4242 on a MIG device. */
	assert_int_equal(user("alice")->processes, 3);
	assert_int_equal(user("alice")->gpus, 2);
	assert_int_equal(user("alice")->migs, 1);
	assert_int_equal(user("alice")->sum[GK_PM_GPU_MEM].v, 4LL * 1500 << 20);
	assert_int_equal(user("alice")->sum[GK_PM_CPU].v, 31250);
	assert_int_equal(user("alice")->sum[GK_PM_RSS].v, 3LL * 512 << 20);
}

static void the_order_can_be_chosen(void **state)
{
	struct gk_process *p;

	(void)state;
	p = fixture_add_process(&s.f, 0, 777, "small");
	p->user = "zoe";
	p->m[GK_PM_GPU_MEM] = present(9LL << 30);
	p->m[GK_PM_CPU] = present(1);
	tui_list_update(&s.t);
	screen_press(&s, "u");
	/* By GPU memory: 9 GiB before 4.4. */
	assert_string_equal(s.t.users.users[0].name, "zoe");
	assert_string_equal(s.t.users.users[1].name, "alice");
	screen_press(&s, "/");
	assert_string_equal(s.t.users.users[s.t.users.count - 1].name, "zoe");
	screen_press(&s, ". ."); /* by SM, by CPU */
	assert_string_equal(s.t.users.users[0].name, "alice");
	assert_string_equal(s.t.users.users[1].name, "zoe");
	screen_press(&s, ", , , , , ,"); /* back to the names */
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "USER▲", NULL), 0);
	assert_string_equal(s.t.users.users[0].name, "");
	assert_string_equal(s.t.users.users[s.t.users.count - 1].name, "zoe");
}

static void the_selection_stays_with_its_user(void **state)
{
	(void)state;
	screen_press(&s, "u");
	while (strcmp(s.t.users.selected, "alice"))
		screen_press(&s, "Down");
	s.f.processes[2].user = "rich";
	s.f.processes[2].m[GK_PM_GPU_MEM] = present(70LL << 30);
	tui_frame(&s.t);
	assert_string_equal(s.t.users.users[0].name, "rich");
	assert_string_equal(s.t.users.selected, "alice");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "alice", NULL), 2);
}

static void enter_shows_one_user_until_esc(void **state)
{
	size_t all = s.t.list_count;

	(void)state;
	screen_press(&s, "Down u Enter"); /* none is selected there */
	assert_int_equal(s.t.screen, SCREEN_USERS);
	while (strcmp(s.t.users.selected, "alice"))
		screen_press(&s, "Down");
	screen_press(&s, "Enter");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
	assert_string_equal(s.t.words.text, "user:alice");
	assert_in_range(s.t.list_count, 1, all - 1);
	for (size_t i = 0; i < s.t.list_count; i++)
		assert_string_equal(s.f.processes[s.t.list[i]].user, "alice");
	screen_press(&s, "Down Esc");
	assert_in_range(s.t.list_count, 1, all - 1);
	assert_int_equal(tui_selected(&s.t), -1);
	screen_press(&s, "Esc");
	assert_int_equal(s.t.list_count, all);
	assert_string_equal(s.t.words.text, "");
}

static void a_user_without_a_name_cannot_be_chosen(void **state)
{
	(void)state;
	screen_press(&s, "u End");
	while (*s.t.users.selected)
		screen_press(&s, "Up");
	screen_press(&s, "Enter");
	assert_int_equal(s.t.screen, SCREEN_USERS);
	assert_non_null(strstr(s.t.message, "is unknown"));
}

static void nobody_is_said(void **state)
{
	(void)state;
	s.f.snap.process_count = 0;
	tui_list_update(&s.t);
	screen_press(&s, "u Down Down");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "0 users", NULL), 23);
	assert_int_equal(s.t.users.count, 0);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(users_are_drawn),
	    T(a_process_on_two_gpus_is_one),
	    T(the_order_can_be_chosen),
	    T(the_selection_stays_with_its_user),
	    T(enter_shows_one_user_until_esc),
	    T(a_user_without_a_name_cannot_be_chosen),
	    T(nobody_is_said),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

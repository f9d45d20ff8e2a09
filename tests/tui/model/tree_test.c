/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tree_test.c - checks the tree screen: families, collapsing, selection, sizes.
 */
#include "core/tree.h"
#include "tui/screen.h"

#include "base/clock.h"

#include <pwd.h>

static struct screen s;
static struct tree proc;

static void is_there(int pid, int ppid, const char *comm, unsigned long start)
{
	char name[32];

	tree_stat(&proc, (struct tree_stat){.pid = pid,
					    .comm = comm,
					    .state = 'S',
					    .ppid = ppid,
					    .start = start,
					    .rss = 1000});
	snprintf(name, sizeof name, "%d/cmdline", pid);
	tree_text(&proc, name, comm);
}

/* The files' owners are one user here, who is renamed. */
static void rename_users(void)
{
	struct gk_tree *tree = s.t.tree.tree;

	for (size_t i = 0; tree && i < tree->count; i++)
		if (*tree->nodes[i].process.user)
			tree->nodes[i].process.user = "ana";
}

/* Makes the snapshot agree with the files about processes. */
static void agree(void)
{
	struct passwd *entry = getpwuid(geteuid());

	for (size_t i = 0; i < s.f.snap.process_count; i++) {
		struct gk_process *p = &s.f.snap.processes[i];

		if (p->pid == 999)
			p->state = GK_PROCESS_GONE;
		p->user = p->state == GK_PROCESS_GONE ? ""
			  : entry                     ? entry->pw_name
						      : "0";
	}
}

static int begin(void **state)
{
	(void)state;
	tree_make(&proc);
	screen_begin(&s, 24, 80);
	agree();
	is_there(1, 0, "/sbin/init", 1);
	is_there(300, 1, "sshd", 2);
	is_there(15699, 300, "/usr/bin/python3 train.py --epochs 90", 4711);
	is_there(15700, 15699, "python3 -c loader", 4720);
	is_there(15731, 15699, "python3 serve.py --model a,b", 4730);
	is_there(4242, 1, "./mig-job", 4711);
	is_there(4300, 1, "unrelated", 4800);
	s.t.tree.proc_fd = proc.fd;
	screen_press(&s, "t");
	rename_users();
	return 0;
}

static int end(void **state)
{
	(void)state;
	screen_end(&s);
	tree_remove(&proc);
	return 0;
}

static void the_family_of_gpu_processes_is_drawn(void **state)
{
	(void)state;
	assert_int_equal(s.t.screen, SCREEN_TREE);
	assert_screen(&s, "tui/tree-80x24");
	screen_resize(&s, 40, 120);
	assert_screen(&s, "tui/tree-120x40");
	assert_int_equal(screen_find(&s, "unrelated", NULL), -1);
	screen_resize(&s, 10, 40);
	assert_screen(&s, "tui/tree-40x10");
}

static void a_closed_tree_is_one_line_with_its_sums(void **state)
{
	(void)state;
	screen_resize(&s, 24, 120);
	screen_press(&s, "Home Down Down"); /* 300, then 15699 */
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "15700", NULL), -1);
	screen_press(&s, "-");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "15700", NULL), -1);
	assert_int_equal(screen_find(&s, "15731", NULL), -1);
	/* Two GPU processes with 1500 MiB each. */
	assert_int_not_equal(screen_find(&s, "3000MiB", NULL), -1);
	assert_int_not_equal(screen_find(&s, "[+]", NULL), -1);
	screen_press(&s, "+");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "15700", NULL), -1);
	assert_int_equal(screen_find(&s, "[+]", NULL), -1);
}

static void a_leaf_leads_to_its_parent(void **state)
{
	(void)state;
	screen_press(&s, "End");
	assert_int_not_equal(s.t.selected.pid, 0);
	while (s.t.selected.pid != 15700)
		screen_press(&s, "Up");
	screen_press(&s, "-");
	assert_int_equal(s.t.selected.pid, 15699);
	assert_int_equal(tui_process(&s.t)->pid, 15699);
}

static void the_selection_goes_along_to_and_fro(void **state)
{
	(void)state;
	while (s.t.selected.pid != 4242)
		screen_press(&s, "Down");
	screen_press(&s, "q");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
	assert_int_equal(tui_process(&s.t)->pid, 4242);
	screen_press(&s, "t");
	assert_int_equal(s.t.screen, SCREEN_TREE);
	assert_int_equal(tui_process(&s.t)->pid, 4242);
}

static void the_sums_at_the_foot_follow_the_selection(void **state)
{
	(void)state;
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "All: 8 processes", NULL), 23);
	while (s.t.selected.pid != 300)
		screen_press(&s, "Down");
	screen_draw(&s);
	assert_int_equal(
	    screen_find(&s, "Tree of 300: 4 processes  GPU-MEM 3000MiB", NULL),
	    23);
}

static void a_filter_holds_here_too(void **state)
{
	(void)state;
	screen_press(&s, "q");
	strcpy(s.t.options.filter.text, "mig-job");
	tui_list_update(&s.t);
	screen_press(&s, "t");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "4242", NULL), -1);
	assert_int_equal(screen_find(&s, "15699", NULL), -1);
}

static void a_long_list_follows_the_selection(void **state)
{
	int row;

	(void)state;
	screen_resize(&s, 5, 80);
	screen_press(&s, "End");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "COMMAND", NULL), -1);
	row = screen_find(&s, "12345678", NULL); /* the last */
	assert_int_equal(row, 3);
	screen_press(&s, "Home");
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "/sbin/init", NULL), 1);
}

static void the_command_scrolls_under_the_columns(void **state)
{
	int before, after;

	(void)state;
	screen_resize(&s, 24, 60);
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "/usr/bin", &before), -1);
	screen_press(&s, "Right");
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "/usr/bin", &after), -1);
	assert_int_equal(after, before - 5);
	assert_int_not_equal(screen_find(&s, "  15699", NULL), -1);
	screen_press(&s, "Ctrl-A");
	screen_draw(&s);
	screen_find(&s, "/usr/bin", &after);
	assert_int_equal(after, before);
}

static void a_new_snapshot_shows_who_came(void **state)
{
	(void)state;
	is_there(15800, 15699, "python3 newcomer", 5000);
	/* No key rereads /proc. */
	screen_press(&s, "- + F4 p y Enter Ctrl-R");
	tui_frame(&s.t);
	screen_draw(&s);
	assert_int_equal(screen_find(&s, "newcomer", NULL), -1);
	s.f.snap.mono_ns += GK_NS_PER_S;
	tui_frame(&s.t);
	screen_draw(&s);
	assert_int_not_equal(screen_find(&s, "newcomer", NULL), -1);
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(the_family_of_gpu_processes_is_drawn),
	    T(a_closed_tree_is_one_line_with_its_sums),
	    T(a_leaf_leads_to_its_parent),
	    T(the_selection_goes_along_to_and_fro),
	    T(the_sums_at_the_foot_follow_the_selection),
	    T(a_filter_holds_here_too),
	    T(a_long_list_follows_the_selection),
	    T(the_command_scrolls_under_the_columns),
	    T(a_new_snapshot_shows_who_came),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

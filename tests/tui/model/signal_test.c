/* SPDX-License-Identifier: Apache-2.0 */
/*
 * signal_test.c - checks signals: they reach the intended children of this test
 * and nobody else; dialogs, their words, and what stays tagged.
 */
#include "can.h"
#include "tui/screen.h"

#include "base/pidstat.h"
#include "tui/screen/layer.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static struct screen s;
static int proc = -1;
static struct tui_tag children[4];
static size_t child_count;

static struct tui_tag identity(pid_t pid)
{
	struct gk_pidstat st;

	assert_int_equal(gk_pidstat_read(proc, pid, &st), 0);
	return (struct tui_tag){st.pid, st.start};
}

/* Starts a child that waits for a signal. */
static struct tui_tag *spawn(void)
{
	pid_t pid = fork();

	if (!pid) {
		pause();
		_exit(0);
	}
	assert_true(pid > 0);
	children[child_count] = identity(pid);
	return &children[child_count++];
}

/* The signal that ended a child, which is reaped. */
static int ended_by(const struct tui_tag *who)
{
	int status = 0;

	assert_int_equal(waitpid(who->pid, &status, 0), who->pid);
	for (size_t i = 0; i < child_count; i++)
		if (children[i].pid == who->pid)
			children[i].pid = 0;
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static bool is_alive(const struct tui_tag *who)
{
	int status;

	return waitpid(who->pid, &status, WNOHANG) == 0;
}

static int begin(void **state)
{
	(void)state;
	screen_begin(&s, 24, 100);
	proc = open("/proc", O_RDONLY | O_DIRECTORY);
	child_count = 0;
	return proc < 0;
}

static int end(void **state)
{
	(void)state;
	for (size_t i = 0; i < child_count; i++)
		if (children[i].pid)
			kill(children[i].pid, SIGKILL);
	while (waitpid(-1, NULL, 0) > 0)
		;
	close(proc);
	screen_end(&s);
	return 0;
}

/* ---- who gets it ---- */

static void a_signal_reaches_its_process(void **state)
{
	struct tui_tag *a = spawn(), *b = spawn();

	(void)state;
	assert_int_equal(tui_signal_send(proc, a, SIGTERM), SENT_DONE);
	assert_int_equal(ended_by(a), SIGTERM);
	assert_true(is_alive(b));
}

static void a_recycled_pid_is_never_hit(void **state)
{
	struct tui_tag *a = spawn(), old = *a;

	(void)state;
	old.start_ticks--;
	assert_int_equal(tui_signal_send(proc, &old, SIGKILL), SENT_GONE);
	assert_int_equal(tui_signal_renice(proc, &old, 7), SENT_GONE);
	old.start_ticks = 0;
	assert_int_equal(tui_signal_send(proc, &old, SIGKILL), SENT_UNKNOWN);
	assert_true(is_alive(a));
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)a->pid),
			 getpriority(PRIO_PROCESS, 0));
}

static void a_dead_one_is_gone(void **state)
{
	struct tui_tag a = *spawn();
	siginfo_t info;

	(void)state;
	kill(a.pid, SIGKILL);
	assert_int_equal(waitid(P_PID, (id_t)a.pid, &info, WEXITED | WNOWAIT),
			 0);
	assert_int_equal(tui_signal_send(proc, &a, SIGTERM), SENT_ZOMBIE);
	assert_int_equal(ended_by(&a), SIGKILL);
	assert_int_equal(tui_signal_send(proc, &a, SIGTERM), SENT_GONE);
}

/* Runs as nobody in a child, whose parent is root or another user. */
static void a_foreign_process_refuses(void **state)
{
	struct tui_tag *a = spawn();
	int status;
	pid_t pid;

	(void)state;
	need_root();
	pid = fork();
	if (!pid) {
		if (setresuid(65534, 65534, 65534))
			_exit(100);
		_exit((int)tui_signal_send(proc, a, SIGKILL));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), SENT_REFUSED);
	assert_true(is_alive(a));
}

static void all_threads_are_reniced(void **state)
{
	struct tui_tag *a = spawn();

	(void)state;
	assert_int_equal(tui_signal_renice(proc, a, 7), SENT_DONE);
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)a->pid), 7);
}

/* ---- families ---- */

/* Forks children, each of which forks one fewer; writes all pids. */
static void live(int fd, int kids)
{
	pid_t self;
	ssize_t n;

	while (kids-- > 0)
		fork(); /* both have that many left to fork */
	self = getpid();
	n = write(fd, &self, sizeof self);
	(void)n;
	pause();
	_exit(0);
}

/* Starts a child with two children, one of which has one; adds all of them. */
static struct tui_tag *spawn_family(void)
{
	int fds[2];
	pid_t root, pid;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
	assert_int_equal(pipe(fds), 0);
	root = fork();
	if (!root)
		live(fds[1], 2);
	for (int i = 0; i < 4; i++) {
		assert_int_equal(read(fds[0], &pid, sizeof pid), sizeof pid);
		children[child_count++] = identity(pid);
	}
	close(fds[0]);
	close(fds[1]);
	for (size_t i = 0; i < child_count; i++)
		if (children[i].pid == root)
			return &children[i];
	fail();
	return NULL;
}

static size_t place(const struct tui_tag *who, size_t count, pid_t pid)
{
	size_t i = 0;

	while (i < count && who[i].pid != pid)
		i++;
	return i;
}

static void children_come_before_their_parents(void **state)
{
	struct tui_tag *root = spawn_family(), *who = malloc(sizeof *who);
	size_t count = 1;
	struct gk_pidstat st;

	(void)state;
	*who = *root;
	assert_int_equal(tui_signal_family(proc, &who, &count), 0);
	assert_int_equal(count, 4);
	assert_int_equal(who[3].pid, root->pid);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(gk_pidstat_read(proc, who[i].pid, &st), 0);
		assert_true(i < place(who, count, st.ppid));
		assert_true(place(who, count, st.ppid) < count);
	}
	assert_int_equal(tui_signal_family(proc, &who, &count), 0);
	assert_int_equal(count, 4);
	free(who);
}

static void this_process_comes_last(void **state)
{
	struct tui_tag *who = malloc(sizeof *who), *a = spawn();
	size_t count = 1;

	(void)state;
	*who = identity(getppid());
	assert_int_equal(tui_signal_family(proc, &who, &count), 0);
	assert_int_equal(who[count - 1].pid, getpid());
	assert_true(place(who, count, a->pid) < count);
	assert_true(place(who, count, getppid()) < count);
	free(who);
}

/* ---- what the user sees ---- */

/* Lists a child of the test as a process of GPU 0, and selects it. */
static void list(const struct tui_tag *who, const char *command)
{
	struct gk_process *p = fixture_add_process(&s.f, 0, who->pid, command);

	p->start_ticks = who->start_ticks;
	p->name = "python3";
	tui_list_update(&s.t);
	for (long i = 0; i < (long)s.t.list_count; i++)
		if (s.f.snap.processes[s.t.list[i]].pid == who->pid)
			tui_select(&s.t, i);
}

static void __attribute__((format(printf, 1, 2)))
assert_said(const char *format, ...)
{
	char wanted[256];
	va_list args;

	va_start(args, format);
	vsnprintf(wanted, sizeof wanted, format, args);
	va_end(args);
	assert_string_equal(s.t.message, wanted);
}

static void the_dialog_sends_what_was_pressed(void **state)
{
	struct tui_tag a = *spawn(), b = *spawn(), c = *spawn();

	(void)state;
	list(&a, "python3 a.py");
	screen_press(&s, "T Enter");
	assert_int_equal(ended_by(&a), SIGTERM);
	assert_said("%d python3: SIGTERM sent", (int)a.pid);
	assert_int_equal(s.t.selected.pid, 0);
	list(&b, "python3 b.py");
	screen_press(&s, "K Enter");
	assert_int_equal(ended_by(&b), SIGKILL);
	list(&c, "python3 c.py");
	screen_press(&s, "Ctrl-C Enter");
	assert_int_equal(ended_by(&c), SIGINT);
}

static void cancel_sends_nothing(void **state)
{
	struct tui_tag *a = spawn();

	(void)state;
	list(a, "python3 a.py");
	screen_press(&s, "K Esc");
	screen_press(&s, "k Enter");
	assert_null(s.t.dialog.kind);
	assert_true(is_alive(a));
	assert_int_equal(s.t.selected.pid, a->pid);
}

static void the_tagged_are_meant_not_the_selected(void **state)
{
	struct tui_tag a = *spawn(), b = *spawn(), *c = spawn();

	(void)state;
	list(&a, "python3 a.py");
	tui_tag_toggle(&s.t, &s.f.snap.processes[s.t.list[tui_selected(&s.t)]]);
	list(&b, "python3 b.py");
	tui_tag_toggle(&s.t, &s.f.snap.processes[s.t.list[tui_selected(&s.t)]]);
	list(c, "python3 c.py");
	screen_press(&s, "T");
	screen_draw(&s);
	assert_true(screen_find(&s, "Send signal to the following", NULL) >= 0);
	assert_true(screen_find(&s, ": python3 b.py", NULL) >= 0);
	screen_press(&s, "Enter");
	assert_int_equal(ended_by(&a), SIGTERM);
	assert_int_equal(ended_by(&b), SIGTERM);
	assert_true(is_alive(c));
	assert_said("SIGTERM sent: 2 of 2");
	assert_int_equal(s.t.tag_count, 0);
}

static void failures_are_told(void **state)
{
	struct tui_tag a = *spawn(), b = *spawn(), gone = b;

	(void)state;
	list(&a, "python3 a.py");
	tui_tag_toggle(&s.t, &s.f.snap.processes[s.t.list[tui_selected(&s.t)]]);
	gone.start_ticks -= 5;
	list(&gone, "python3 b.py");
	tui_tag_toggle(&s.t, &s.f.snap.processes[s.t.list[tui_selected(&s.t)]]);
	screen_press(&s, "K Enter");
	assert_int_equal(ended_by(&a), SIGKILL);
	assert_true(is_alive(&b));
	assert_said("SIGKILL sent: 1 of 2; %d python3: gone", (int)b.pid);
}

static void a_tree_goes_down_whole(void **state)
{
	struct tui_tag root = *spawn_family(), *all = malloc(sizeof *all);
	size_t count = 1;

	(void)state;
	*all = root;
	assert_int_equal(tui_signal_family(proc, &all, &count), 0);
	list(&root, "python3 launch.py");
	screen_press(&s, "X k");
	/* Orphans become children of this process. */
	while (count--)
		assert_int_equal(ended_by(&all[count]), SIGKILL);
	free(all);
	assert_said("SIGKILL sent: 4 of 4");
}

static void a_priority_is_asked_for(void **state)
{
	struct tui_tag *a = spawn();

	(void)state;
	list(a, "python3 a.py");
	screen_press(&s, "n");
	screen_type(&s, "20");
	screen_press(&s, "Enter");
	screen_draw(&s);
	assert_true(screen_find(&s, "must be from -20", NULL) >= 0);
	screen_press(&s, "Ctrl-U");
	screen_type(&s, "9");
	screen_press(&s, "Enter");
	assert_int_equal(getpriority(PRIO_PROCESS, (id_t)a->pid), 9);
	assert_said("%d python3: nice value is 9", (int)a->pid);
}

static void read_only_refuses(void **state)
{
	static const char *const keys[] = {"T", "K", "I", "Ctrl-C", "X", "n"};
	struct tui_tag *a = spawn();

	(void)state;
	list(a, "python3 a.py");
	assert_true(tui_can_signal(&s.t));
	s.t.options.readonly = true;
	assert_false(tui_can_signal(&s.t));
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		screen_press(&s, keys[i]);
		assert_null(s.t.dialog.kind);
		assert_null(s.t.prompt.kind);
		assert_said(
		    "Read only: processes cannot be signalled; q quits");
	}
}

static void nobody_is_asked_about_nobody(void **state)
{
	(void)state;
	screen_press(&s, "T");
	assert_null(s.t.dialog.kind);
	assert_said("Select or tag a process first");
}

/* Users type it to leave. */
static void ctrl_c_on_nothing_tells_how_to_leave(void **state)
{
	(void)state;
	screen_press(&s, "Ctrl-C");
	assert_null(s.t.dialog.kind);
	assert_said("q quits; Ctrl-C interrupts the selected process");
	screen_press(&s, "u Ctrl-C");
	assert_said("q goes back, and quits on the main screen");
	screen_press(&s, "q");
	assert_int_equal(s.t.screen, SCREEN_MAIN);
}

static void the_dialog_names_the_process(void **state)
{
	(void)state;
	screen_press(&s, "Home T");
	for (int row = 0; row < s.g.rows; row++)
		grid_blank(&s.g, row, 0, 1, s.g.columns);
	tui_layer_draw(&s.t, &s.g);
	assert_grid(&s, "tui/signal");
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(a_signal_reaches_its_process),
	    T(a_recycled_pid_is_never_hit),
	    T(a_dead_one_is_gone),
	    T(a_foreign_process_refuses),
	    T(all_threads_are_reniced),
	    T(children_come_before_their_parents),
	    T(this_process_comes_last),
	    T(the_dialog_sends_what_was_pressed),
	    T(cancel_sends_nothing),
	    T(the_tagged_are_meant_not_the_selected),
	    T(failures_are_told),
	    T(a_tree_goes_down_whole),
	    T(a_priority_is_asked_for),
	    T(read_only_refuses),
	    T(nobody_is_asked_about_nobody),
	    T(ctrl_c_on_nothing_tells_how_to_leave),
	    T(the_dialog_names_the_process),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

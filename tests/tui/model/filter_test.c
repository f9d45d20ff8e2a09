/* SPDX-License-Identifier: Apache-2.0 */
/*
 * filter_test.c - checks the filter: what words mean, errors in them, the
 * prompt.
 */
#include "tui/screen.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static struct screen s;

/* pid, GPU, user, type, command, GPU memory in MiB, SM and CPU in percent. */
static const struct row {
	pid_t pid;
	unsigned gpu;
	const char *user;
	unsigned types;
	const char *command;
	int64_t memory, sm, cpu;
} rows[] = {
    {101, 0, "ana", GK_PROCESS_COMPUTE, "python3 train.py", 5000, 90, 100},
    {102, 0, "bob", GK_PROCESS_GRAPHICS, "/usr/bin/Xorg :0", 40, 1, 2},
    {203, 1, "ana", GK_PROCESS_COMPUTE | GK_PROCESS_GRAPHICS,
     "blender -b scene one", 4096, 50, 50},
    {304, 2, "eve", GK_PROCESS_COMPUTE, "python2 serve.py", 9000, 0, 0},
};

/* Process 304 has none of these facts. */
static void add_what_is_asked(void)
{
	static const char *const directories[] = {"/srv/a", "/home/bob",
						  "/srv/b"};
	struct gk_process *p = s.f.snap.processes;

	for (int i = 0; i < 3; i++) {
		p[i].m[GK_PM_RANK] = present(i * 100);
		p[i].m[GK_PM_THREADS] = present(1 << i * 4);
		p[i].m[GK_PM_NICE] = present(5 - i * 5);
		p[i].m[GK_PM_IO_READ_RATE] = present(i << 20);
		p[i].m[GK_PM_IO_WRITTEN] = present((int64_t)i << 30);
		p[i].m[GK_PM_ENC_UTIL] = present(i * 10);
		p[i].container = i ? "cafe0123" : "cab";
		p[i].pod = i == 1 ? "8dc9e1a4-5c0b" : "";
		p[i].cwd = directories[i];
		p[i].stat = i ? 'S' : 'D';
	}
	p[3].stat = 0;
}

static int begin(void **state)
{
	(void)state;
	screen_begin(&s, 60, 100);
	fixture_init(&s.f, 3);
	s.t.snap = &s.f.snap;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const struct row *r = &rows[i];
		struct gk_process *p =
		    fixture_add_process(&s.f, r->gpu, r->pid, r->command);

		p->user = r->user;
		p->types = r->types;
		p->name = "";
		p->m[GK_PM_GPU_MEM] = present(r->memory << 20);
		p->m[GK_PM_SM_UTIL] = present(r->sm);
		p->m[GK_PM_CPU] = present(r->cpu * 100);
	}
	s.f.snap.processes[3].m[GK_PM_SM_UTIL].why = GK_ABSENT_NOT_SUPPORTED;
	add_what_is_asked();
	tui_list_update(&s.t);
	return 0;
}

static int end(void **state)
{
	(void)state;
	screen_end(&s);
	return 0;
}

/* The listed pids: "101 203". */
static const char *listed(void)
{
	static char text[64];

	*text = '\0';
	for (size_t i = 0; i < s.t.list_count; i++)
		snprintf(text + strlen(text), sizeof text - strlen(text),
			 "%s%d", i ? " " : "",
			 (int)s.f.snap.processes[s.t.list[i]].pid);
	return text;
}

static void check(const char *words, const char *pids)
{
	char error[96] = "";

	if (!tui_words_parse(&s.t.words, words, error, sizeof error))
		fail_msg("%s: %s", words, error);
	tui_list_update(&s.t);
	if (strcmp(listed(), pids) != 0)
		fail_msg("%s lists %s", words, listed());
}

static void words_choose(void **state)
{
	static const struct {
		const char *words, *pids;
	} table[] = {
	    {"", "101 102 203 304"},
	    {"   ", "101 102 203 304"},
	    {"python", "101 304"},
	    {"PYTHON serve", "304"},
	    {"203", "203"},
	    {"03", "203"}, /* part of a pid */
	    {"\"-b scene\"", "203"},
	    {"\"scene -b\"", ""},
	    {"name:python[23]", "101 304"},
	    {"name:^/usr.*:0$", "102"},
	    {"user:ana", "101 203"},
	    {"user:ana,eve", "101 203 304"},
	    {"user:an", ""},
	    {"gpu:0", "101 102"},
	    {"gpu:1-2", "203 304"},
	    {"gpu:64", ""},
	    {"gpu:0,2-63", "101 102 304"},
	    {"type:C", "101 203 304"},
	    {"type:g", "102 203"},
	    {"type:X", "203"},
	    {"mem>4GiB", "101 304"},
	    {"mem<4GiB", "102"},
	    {"mem>4000M", "101 203 304"},
	    {"sm>0", "101 102 203"}, /* absent is not below either */
	    {"sm<99", "101 102 203"},
	    {"cpu>49.5%", "101 203"},
	    {"user:ana mem>4GiB python", "101"},
	    {"!user:ana", "102 304"},
	    {"!python !gpu:0", "203"},
	    {"http://x", ""},
	    {"rank:0", "101"},
	    {"rank:0-99,200", "101 203"},
	    {"!rank:0", "102 203 304"},
	    {"container:ca", "101 102 203"},
	    {"container:cafe", "102 203"},
	    {"container:fe", ""},
	    {"pod:8dc9", "102"},
	    {"cwd:/srv/", "101 203"},
	    {"state:D", "101"},
	    {"state:SD", "101 102 203"},
	    {"threads>15", "102 203"},
	    {"threads<16", "101"},
	    {"nice<0", "203"},
	    {"io-read>1.5MiB", "203"},
	    {"written>512M", "102 203"},
	    {"enc>15", "203"},
	    {"read", ""}, /* a text: it cannot be compared */
	    {"user:ana,bob name:b.*e container:cafe mem>1GiB gpu:1 type:C",
	     "203"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++)
		check(table[i].words, table[i].pids);
}

static void what_is_wrong_is_said(void **state)
{
	static const struct {
		const char *words, *error;
	} table[] = {
	    {"gpu:x", "gpu:x: wanted numbers, as 0-3,5"},
	    {"gpu:3-1", "gpu:3-1: wanted numbers, as 0-3,5"},
	    {"gpu:0-", "gpu:0-: wanted numbers, as 0-3,5"},
	    {"rank:first", "rank:first: wanted numbers, as 0-3,5"},
	    {"threads>many", "threads>many: wanted a number, as 16"},
	    {"io-read>fast", "io-read>fast: wanted a size, as 4GiB"},
	    {"gpu:1,", "gpu:1,: wanted numbers, as 0-3,5"},
	    {"user:", "user:: wanted something behind it"},
	    {"type:Q", "type:Q: wanted C, G or X"},
	    {"mem>lots", "mem>lots: wanted a size, as 4GiB"},
	    {"time<soon", "time<soon: wanted a time, as 2h"},
	    {"sm>", "sm>: wanted a percentage, as 50"},
	    {"sm>-1", "sm>-1: wanted a percentage, as 50"},
	    {"python name:(", "name:(: wanted a regular expression"},
	    {"a b c d e f g h i j k l m n o p q", "more than 16 words"},
	};
	char error[96];

	(void)state;
	check("user:eve", "304");
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		*error = '\0';
		assert_false(tui_words_parse(&s.t.words, table[i].words, error,
					     sizeof error));
		assert_string_equal(error, table[i].error);
	}
	assert_string_equal(s.t.words.text, "user:eve");
}

static void what_words_need_is_read(void **state)
{
	static const struct {
		const char *words;
		unsigned with;
	} table[] = {
	    {"", 0},
	    {"mem>4GiB user:ana name:x pod:a container:b state:S", 0},
	    {"rank:0", GK_WITH_RANK},
	    {"!cwd:/srv", GK_WITH_CWD},
	    {"threads>3", GK_WITH_THREADS},
	    {"nice>3", GK_WITH_THREADS},
	    {"io-write>3 rank:1", GK_WITH_IO | GK_WITH_RANK},
	};

	(void)state;
	for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
		char error[96];

		assert_true(tui_words_parse(&s.t.words, table[i].words, error,
					    sizeof error));
		assert_int_equal(tui_words_with(&s.t.words), table[i].with);
		assert_int_equal(tui_with(&s.t), table[i].with);
	}
}

static void typing_filters_at_once(void **state)
{
	(void)state;
	screen_press(&s, "F4");
	screen_type(&s, "pyt");
	assert_string_equal(listed(), "101 304");
	screen_type(&s, "hon gpu:");
	screen_draw(&s);
	assert_true(screen_find(&s, "wanted something behind it", NULL) >= 0);
	screen_press(&s, "Enter");
	assert_non_null(s.t.prompt.kind);
	screen_type(&s, "2");
	screen_press(&s, "Enter");
	assert_null(s.t.prompt.kind);
	assert_string_equal(listed(), "304");
	screen_draw(&s);
	assert_true(screen_find(&s, "1 of 4 [python gpu:2]", NULL) >= 0);
	assert_int_equal(screen_find(&s, "blender", NULL), -1);
}

static void escape_restores_and_nothing_is_everything(void **state)
{
	(void)state;
	screen_press(&s, "\\");
	screen_type(&s, "user:bob");
	screen_press(&s, "Enter F4 Ctrl-U");
	assert_string_equal(listed(), "101 102 203 304");
	screen_press(&s, "Esc");
	assert_string_equal(listed(), "102");
	screen_press(&s, "F4 Ctrl-U Enter");
	assert_string_equal(listed(), "101 102 203 304");
	screen_press(&s, "F4 Up Enter");
	assert_string_equal(listed(), "102");
}

#define T(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
	    T(words_choose),
	    T(what_is_wrong_is_said),
	    T(what_words_need_is_read),
	    T(typing_filters_at_once),
	    T(escape_restores_and_nothing_is_everything),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

/* SPDX-License-Identifier: Apache-2.0 */
/* ground_test.c - checks what the terminal reports about its background. */
#include "tui/screen.h"

#include "base/clock.h"
#include "tui/screen/ground.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

static void contrast_is_that_of_wcag(void **state)
{
	(void)state;
	assert_true(fabs(tui_contrast(0, 0xffffff) - 21) < 1e-9);
	assert_true(fabs(tui_contrast(0xff0000, 0xffffff) - 3.998) < 1e-3);
	assert_true(fabs(tui_contrast(0xffffff, 0x767676) - 4.542) < 1e-3);
	assert_true(fabs(tui_contrast(0x123456, 0x123456) - 1) < 1e-9);
}

static void answers_are_read(void **state)
{
	static const struct {
		const char *text;
		enum tui_ground ground;
	} rows[] = {
	    {"rgb:ffff/ffff/ffff", GROUND_LIGHT},
	    {"rgb:0000/0000/0000", GROUND_DARK},
	    {"rgb:f/f/f", GROUND_LIGHT},
	    {"rgb:fd/f6/e3", GROUND_LIGHT},      /* Solarized */
	    {"rgb:0000/2b2b/3636", GROUND_DARK}, /* Solarized, dark */
	    {"rgba:2828/2828/2828/ffff", GROUND_DARK},
	    {"#ffffff", GROUND_LIGHT},
	    {"#1e1e1e", GROUND_DARK},
	    {"rgb:0000/ffff/0000", GROUND_LIGHT},
	    {"rgb:0000/0000/ffff", GROUND_DARK},
	    {"", GROUND_UNKNOWN},
	    {"?", GROUND_UNKNOWN},
	    {"rgb:ffff/ffff", GROUND_UNKNOWN},
	    {"rgb:fffff/0/0", GROUND_UNKNOWN},
	    {"rgb:/0/0", GROUND_UNKNOWN},
	    {"#fff", GROUND_UNKNOWN},
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (tui_ground_of_answer(rows[i].text) != rows[i].ground)
			fail_msg("%s", rows[i].text);
}

static void the_variable_is_read(void **state)
{
	(void)state;
	assert_int_equal(tui_ground_of_variable("0;15"), GROUND_LIGHT);
	assert_int_equal(tui_ground_of_variable("0;default;15"), GROUND_LIGHT);
	assert_int_equal(tui_ground_of_variable("0;7"), GROUND_LIGHT);
	assert_int_equal(tui_ground_of_variable("15;0"), GROUND_DARK);
	assert_int_equal(tui_ground_of_variable("15;8"), GROUND_DARK);
	assert_int_equal(tui_ground_of_variable("15;default"), GROUND_UNKNOWN);
	assert_int_equal(tui_ground_of_variable("15;99"), GROUND_UNKNOWN);
	assert_int_equal(tui_ground_of_variable("15"), GROUND_UNKNOWN);
	assert_int_equal(tui_ground_of_variable(""), GROUND_UNKNOWN);
	assert_int_equal(tui_ground_of_variable(NULL), GROUND_UNKNOWN);
}

static void multiplexers_and_consoles_are_not_asked(void **state)
{
	(void)state;
	assert_true(tui_ground_is_told_by("xterm-256color"));
	assert_true(tui_ground_is_told_by("foot"));
	assert_false(tui_ground_is_told_by("screen-256color"));
	assert_false(tui_ground_is_told_by("tmux"));
	assert_false(tui_ground_is_told_by("linux"));
	assert_false(tui_ground_is_told_by("dumb"));
	assert_false(tui_ground_is_told_by(""));
	assert_false(tui_ground_is_told_by(NULL));
}

/* How many characters of a text are taken, and what they mean. */
static size_t take(const wchar_t *text, enum tui_ground *ret_ground)
{
	struct tui_answer answer = {0};
	size_t n = 0;

	*ret_ground = GROUND_UNKNOWN;
	tui_answer_begin(&answer, 0);
	while (text[n] && tui_answer_take(&answer, text[n], n, ret_ground))
		n++;
	return n;
}

static void an_answer_is_no_keys(void **state)
{
	enum tui_ground ground;
	struct tui_answer none = {0};
	wchar_t endless[200];

	(void)state;
	assert_int_equal(take(L"rgb:ff/ff/ff\aq", &ground), 13);
	assert_int_equal(ground, GROUND_LIGHT);
	assert_int_equal(take(L"rgb:00/00/00\033\\q", &ground), 14);
	assert_int_equal(ground, GROUND_DARK);
	assert_int_equal(take(L"nonsense\aq", &ground), 9);
	assert_int_equal(ground, GROUND_UNKNOWN);
	/* An endless answer is given up. */
	for (size_t i = 0; i < 199; i++)
		endless[i] = L'f';
	endless[199] = L'\0';
	assert_true(take(endless, &ground) < 60);
	assert_false(tui_answer_take(&none, L'q', 0, &ground));
}

static void one_whose_end_was_lost_takes_no_keys_for_ever(void **state)
{
	struct tui_answer answer;
	enum tui_ground ground = GROUND_UNKNOWN;

	(void)state;
	tui_answer_begin(&answer, GK_NS_PER_S);
	assert_true(tui_answer_take(&answer, L'r', 2 * GK_NS_PER_S, &ground));
	assert_false(tui_answer_take(&answer, L'q', 4 * GK_NS_PER_S, &ground));
	assert_false(tui_answer_take(&answer, L'q', 4 * GK_NS_PER_S, &ground));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(contrast_is_that_of_wcag),
	    cmocka_unit_test(answers_are_read),
	    cmocka_unit_test(the_variable_is_read),
	    cmocka_unit_test(multiplexers_and_consoles_are_not_asked),
	    cmocka_unit_test(an_answer_is_no_keys),
	    cmocka_unit_test(one_whose_end_was_lost_takes_no_keys_for_ever),
	};

	return cmocka_run_group_tests(tests, fixture_setup, NULL);
}

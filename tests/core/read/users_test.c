/* SPDX-License-Identifier: Apache-2.0 */
/* users_test.c - checks names of users, which are looked up once each. */
#include "core/read/users.h"
#include "unit.h"

#include <stdio.h>

static void names_are_looked_up_once(void **state)
{
	enum { MANY = 40 };
	struct gk_users users = {0};
	char number[16];

	(void)state;
	assert_string_equal(gk_users_name(&users, 0), "root");
	for (int turn = 0; turn < 2; turn++) {
		for (unsigned i = 0; i < MANY; i++) {
			snprintf(number, sizeof number, "%u", 3999999000U + i);
			assert_string_equal(
			    gk_users_name(&users, 3999999000U + i), number);
		}
		assert_int_equal(users.count, MANY + 1);
	}
	assert_string_equal(gk_users_name(&users, 0), "root");
	assert_int_equal(users.count, MANY + 1);
	gk_users_free(&users);
	assert_null(users.users);
	assert_int_equal(users.count, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_are_looked_up_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

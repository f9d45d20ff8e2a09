/* SPDX-License-Identifier: Apache-2.0 */
/* shape_test.c - checks which texts of YAML are refused for their shape. */
#include "yaml/shape.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define LARGE 100 /* nodes in the lists that aliases stand for */

/* Builds a text piece by piece; the caller frees it. */
struct text {
	char *at;
	size_t len;
	FILE *out;
};

static void begin(struct text *t)
{
	t->out = open_memstream(&t->at, &t->len);
	assert_non_null(t->out);
}

/* Writes a list with an anchor: LARGE nodes, itself included. */
static void large_list(struct text *t, const char *anchor)
{
	fprintf(t->out, "- &%s [x", anchor);
	for (int i = 2; i < LARGE; i++)
		fputs(",x", t->out);
	fputs("]\n", t->out);
}

static void aliases(struct text *t, const char *anchor, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		fprintf(t->out, "- *%s\n", anchor);
}

/* Ends a text; returns what is wrong with it and where, or NULL. */
static const char *problem(struct text *t, unsigned *ret_line)
{
	const char *text = NULL;
	bool good;

	fclose(t->out);
	*ret_line = 0;
	good = gk_yaml_shape(t->at, t->len, ret_line, &text);
	free(t->at);
	assert_int_equal(good, !text);
	return text;
}

static void aliases_count_as_what_they_stand_for(void **state)
{
	unsigned most = GK_YAML_ALIASED / LARGE, line;

	(void)state;
	for (unsigned more = 0; more < 2; more++) {
		struct text t;

		begin(&t);
		large_list(&t, "a");
		aliases(&t, "a", most + more);
		if (!more) {
			assert_null(problem(&t, &line));
			continue;
		}
		assert_string_equal(problem(&t, &line),
				    "aliases that expand to too much");
		assert_int_equal(line, most + 2);
	}
}

static void an_alias_stands_for_the_anchor_of_its_name(void **state)
{
	struct text t;
	unsigned line;

	(void)state;
	begin(&t);
	large_list(&t, "large");
	fputs("- &small x\n", t.out);
	aliases(&t, "small", GK_YAML_ALIASED - LARGE);
	aliases(&t, "large", 1);
	assert_null(problem(&t, &line));
}

static void the_newest_anchor_of_a_name_counts(void **state)
{
	struct text t;
	unsigned line;

	(void)state;
	begin(&t);
	large_list(&t, "a");
	fputs("- &a x\n", t.out);
	aliases(&t, "a", GK_YAML_ALIASED);
	assert_null(problem(&t, &line));
}

static void anchors_are_those_of_a_document(void **state)
{
	struct text t;
	unsigned line;

	(void)state;
	begin(&t);
	for (int document = 0; document < 2; document++) {
		fputs("---\n", t.out);
		for (unsigned i = 0; i < GK_YAML_ANCHORS; i++)
			fprintf(t.out, "- &a%u x\n", i);
	}
	assert_null(problem(&t, &line));
	begin(&t);
	for (unsigned i = 0; i <= GK_YAML_ANCHORS; i++)
		fprintf(t.out, "- &a%u x\n", i);
	assert_string_equal(problem(&t, &line),
			    "too many anchors, or an anchor name that is too "
			    "long");
	assert_int_equal(line, GK_YAML_ANCHORS + 1);
}

static void depth_is_limited(void **state)
{
	unsigned line;

	(void)state;
	for (int depth = GK_YAML_DEPTH; depth <= GK_YAML_DEPTH + 1; depth++) {
		const char *wrong;
		struct text t;

		begin(&t);
		for (int i = 0; i < depth; i++)
			fputs("[", t.out);
		wrong = problem(&t, &line);
		if (depth == GK_YAML_DEPTH)
			assert_null(wrong);
		else
			assert_string_equal(
			    wrong,
			    "lists and mappings nested more than 64 deep");
	}
}

static void a_node_is_not_within_itself(void **state)
{
	struct text t;
	unsigned line;

	(void)state;
	begin(&t);
	fputs("a: 1\nb: &b\n  - *b\n", t.out);
	assert_string_equal(problem(&t, &line),
			    "an alias within its own anchor");
	assert_int_equal(line, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(aliases_count_as_what_they_stand_for),
	    cmocka_unit_test(an_alias_stands_for_the_anchor_of_its_name),
	    cmocka_unit_test(the_newest_anchor_of_a_name_counts),
	    cmocka_unit_test(anchors_are_those_of_a_document),
	    cmocka_unit_test(depth_is_limited),
	    cmocka_unit_test(a_node_is_not_within_itself),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

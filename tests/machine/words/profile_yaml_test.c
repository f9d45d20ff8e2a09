/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_yaml_test.c - checks that every error in a profile gives one line,
 * and that all shipped profiles are valid.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/err.h"
#include "base/str.h"
#include "machine/file/profile.h"
#include "machine/words/profile_facts.h"
#include "machine/words/profile_yaml.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DATA     TEST_DATA "/profiles"
#define PROFILES TEST_DATA "/../../profiles"

/*
 * The message must contain this after "DATA/FILE". Files are named after their
 * error.
 */
static const struct {
	const char *file, *after;
} wrong[] = {
    {"unknown-near.yaml",
     ":2: unknown key 'memory_mb'; did you mean 'memory_mib'?"},
    {"unknown-far.yaml",
     ":2: unknown key 'colour'; allowed are inherits, source, "},
    {"type-integer.yaml", ":2: fans: 'many' must be an integer from 0 to "
			  "8 (fans on the board; 0: passive)"},
    {"type-quoted.yaml", ":2: fans: '2' must be an integer from 0 to 8"},
    {"type-float.yaml", ":2: fans: '1.5' must be an integer"},
    {"type-list.yaml", ":4: fans: a list where there must be an integer "
		       "from 0 to 8"},
    {"type-mapping.yaml", ":3: name: a mapping where there must be a "
			  "text of 1 to 63 bytes"},
    {"type-text.yaml", ":2: name: '42' must be a text"},
    {"empty-value.yaml", ":2: name: '' must be a text"},
    {"word.yaml", ":2: brand: 'AMD' must be one of UNKNOWN, QUADRO, "},
    {"too-long.yaml", ":2: vbios: '0123456789012345678901234567890' must "
		      "be a text of 1 to 23 bytes (VBIOS version)"},
    {"range-low.yaml",
     ":2: memory_mib: '15' must be an integer from 16 to 4194304"},
    {"range-high.yaml", ":3: pcie_width: '17' must be an integer from 0 to 16"},
    {"range-huge.yaml", ":2: fans: '99999999999999999999' must be an "
			"integer from 0 to 8"},
    {"none-not-allowed.yaml", ":2: fans: 'none' must be an integer"},
    {"double.yaml", ":4: fans: duplicate key, first in line 2"},
    {"syntax.yaml", ":3: syntax: found unexpected end of stream"},
    {"tab.yaml", ":2: syntax: "},
    {"empty.yaml", ":1: no mapping; expected one YAML mapping"},
    {"list.yaml", ":1: no mapping"},
    {"two-documents.yaml", ":3: a second document; a profile has only one"},
    {"missing.yaml", ":1: brand: key is missing; it must be one of "},
    {"self.yaml", ":1: inherits: '" DATA "/self.yaml' inherits from this "
		  "file in turn"},
    {"no-parent.yaml", ":2: inherits: no profile 't5' in "},
    {"order.yaml", ":2: power_min_mw: 90000 must be at most "
		   "power_limit_mw, which is 70000"},
    {"order-parent.yaml", ":2: power_max_mw: 60000 must be at least "
			  "power_limit_mw, which is 70000"},
    {"control.yaml", ":2: unknown key '?[31mred'; allowed are "},
    {"key-list.yaml", ":2: a key must be a plain word"},
    {"source-number.yaml", ":4: source: '5' must be a text or a list of texts "
			   "(where the values come from)"},
    {"source-kind.yaml", ":3: source: 'rumour' must be one of capture, "
			 "document, list, remembered, estimated with a text, "
			 "or keys with a list"},
    {"source-key.yaml", ":4: source: 'aliases' is not a key with a value"},
    {"source-no-keys.yaml", ":3: source: a mapping must have a source and its "
			    "keys"},
    {"source-two.yaml", ":4: source: 'estimated' must be one of capture, "},
    {"year.yaml", ":2: year: '1066' must be an integer from 1990 to 2100 "
		  "(when the board came out)"},
    {"aliases-mapping.yaml", ":2: aliases: a mapping where there must be a "
			     "text or a list of texts (other ids)"},
    {"inherits-list.yaml", ":1: inherits: a list where there must be a text "
			   "(id or path)"},
    {"empty-mark.yaml", ":2: mark: '' must be a text of 1 to 15 bytes or "
			"'none' (put before the name)"},
    {"none-allowed.yaml", ":2: memory_temperature_max_c: 'cold' must be an "
			  "integer from -1 to 150 or 'none' ("},
    {"two-lines.yaml", ":2: name: 'one?two?' must be a text of 1 to 63 bytes "
		       "(as NVML returns it)"},
};

/* The message names a file other than the one that was asked for. */
static const struct {
	const char *file, *message;
} elsewhere[] = {
    {"cycle-a.yaml", DATA "/cycle-b.yaml:2: inherits: '" DATA
			  "/cycle-a.yaml' inherits from this file in "
			  "turn; a profile must not inherit from itself"},
    {"bad-parent.yaml", DATA "/range-low.yaml:2: memory_mib: '15' "},
    {"no-parent-file.yaml", DATA "/not-there.yaml: No such file or directory"},
    {"deep-0.yaml", DATA "/deep-8.yaml:1: inherits: too deep; at most 8 "
			 "profiles in a row"},
};

/*
 * Loads a profile; on failure checks that the result is untouched and the
 * message is one line.
 */
static int load(const char *name, struct gkf_profile *ret, char *message)
{
	struct gkf_profile before;
	int err;

	memset(ret, 0x5a, sizeof *ret);
	before = *ret;
	*message = '\0';
	err = gkf_profile_load(PROFILES, name, ret, message,
			       GKF_PROFILE_MESSAGE_MAX);
	if (err) {
		assert_memory_equal(ret, &before, sizeof before);
		assert_true(*message);
		assert_null(strchr(message, '\n'));
	} else {
		assert_string_equal(message, "");
	}
	return err;
}

static void expect_start(const char *message, const char *start)
{
	if (strncmp(message, start, strlen(start)))
		fail_msg("got:      %s\nexpected: %s", message, start);
}

static void every_error_has_its_line(void **state)
{
	char message[GKF_PROFILE_MESSAGE_MAX], path[512];
	struct gkf_profile profile;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		snprintf(path, sizeof path, DATA "/%s", wrong[i].file);
		assert_int_not_equal(load(path, &profile, message), 0);
		expect_start(message, path);
		expect_start(message + strlen(path), wrong[i].after);
	}
	for (size_t i = 0; i < sizeof elsewhere / sizeof *elsewhere; i++) {
		snprintf(path, sizeof path, DATA "/%s", elsewhere[i].file);
		assert_int_not_equal(load(path, &profile, message), 0);
		expect_start(message, elsewhere[i].message);
	}
}

static void what_is_no_profile_file_is_told(void **state)
{
	char message[GKF_PROFILE_MESSAGE_MAX];
	struct gkf_profile profile;

	(void)state;
	assert_int_equal(load("t5", &profile, message), GK_ERR_NOT_FOUND);
	expect_start(message, "no profile 't5' in " PROFILES
			      "; there are a10, a100-pcie-40gb, ");
	assert_int_equal(load("", &profile, message), GK_ERR_NOT_FOUND);
	expect_start(message, "no profile '' in ");
	assert_int_not_equal(load(DATA, &profile, message), 0);
	expect_start(message, DATA ": not a file");
	assert_int_not_equal(load("/dev/zero", &profile, message), 0);
	expect_start(message, "/dev/zero: not a file");
	assert_int_equal(load("./nowhere.yaml", &profile, message),
			 GK_ERR_NOT_FOUND);
	expect_start(message, "./nowhere.yaml: No such file");
}

static void a_huge_file_is_refused(void **state)
{
	char path[] = "/tmp/gpukit-profile-XXXXXX";
	char message[GKF_PROFILE_MESSAGE_MAX];
	struct gkf_profile profile;
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	close(fd);
	assert_int_not_equal(load(path, &profile, message), 0);
	assert_non_null(strstr(message, ": too large; "));
	unlink(path);
}

/* Too long for an alias, for a file name, and for a path. */
static void long_names_are_not_found(void **state)
{
	static const int lengths[] = {63, 64, 300, PATH_MAX};
	static char name[PATH_MAX + 1], path[PATH_MAX + 8];
	char message[GKF_PROFILE_MESSAGE_MAX];
	struct gkf_profile profile;

	(void)state;
	for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
		snprintf(name, sizeof name, "%0*d", lengths[i], 0);
		assert_int_equal(load(name, &profile, message),
				 GK_ERR_NOT_FOUND);
		expect_start(message, "no profile '000000000000000");
	}
	snprintf(path, sizeof path, "./%s", name);
	assert_int_equal(load(path, &profile, message), GK_ERR_NOT_FOUND);
	expect_start(message, "no profile './0000000000000");
}

/* Other files there are ignored. */
static void profiles_are_listed_in_order(void **state)
{
	static const char *const names[] = {"b.yaml", "aa.yaml", ".c.yaml",
					    ".yaml",  "d.yml",   "yaml"};
	char dir[64], path[128];
	struct gk_buf ids = {0};

	(void)state;
	snprintf(dir, sizeof dir, "/dev/shm/gpukit-test-%d-XXXXXX", getpid());
	assert_non_null(mkdtemp(dir));
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		assert_int_equal(symlink(DATA "/good.yaml", path), 0);
	}
	gkf_profile_list(dir, &ids);
	assert_string_equal(ids.data, "aa, b");
	gk_buf_free(&ids);
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		snprintf(path, sizeof path, "%s/%s", dir, names[i]);
		unlink(path);
	}
	rmdir(dir);
	gkf_profile_list(dir, &ids);
	assert_int_equal(ids.len, 0);
}

/* A file's name is the profile's id. */
static void an_id_has_up_to_63_bytes(void **state)
{
	char dir[64], path[256];
	char message[GKF_PROFILE_MESSAGE_MAX], expected[512];
	struct gkf_profile profile;

	(void)state;
	snprintf(dir, sizeof dir, "/dev/shm/gpukit-test-%d-XXXXXX", getpid());
	assert_non_null(mkdtemp(dir));
	for (int len = 63; len <= 64; len++) {
		snprintf(path, sizeof path, "%s/%0*d.yaml", dir, len, 0);
		assert_int_equal(symlink(DATA "/good.yaml", path), 0);
		if (len == 63) {
			assert_int_equal(load(path, &profile, message), 0);
			assert_int_equal(strlen(profile.id), 63);
		} else {
			assert_int_equal(load(path, &profile, message),
					 GK_ERR_INVALID);
			snprintf(expected, sizeof expected,
				 "%s: file name too long; allowed are 63 bytes",
				 path);
			assert_string_equal(message, expected);
		}
		unlink(path);
	}
	rmdir(dir);
}

static void a_small_message_buffer_is_kept(void **state)
{
	struct gkf_profile profile;
	char message[8];

	(void)state;
	memset(message, 'x', sizeof message);
	gkf_profile_load(PROFILES, "t5", &profile, message, 5);
	assert_string_equal(message, "no p");
	assert_int_equal(message[5], 'x');
}

static void a_child_takes_the_rest_from_its_parents(void **state)
{
	char message[GKF_PROFILE_MESSAGE_MAX];
	struct gkf_profile profile, parent;

	(void)state;
	assert_int_equal(load("t4", &parent, message), 0);
	assert_int_equal(load(DATA "/grandchild.yaml", &profile, message), 0);
	assert_string_equal(profile.id, "grandchild");
	assert_string_equal(profile.name, "My T4");
	assert_string_equal(profile.mark, "Fake ");
	assert_string_equal(profile.part_number, "");
	assert_int_equal(profile.memory_mib, 8192);
	assert_int_equal(profile.mem_temp_max_c, -1);
	assert_int_equal(profile.pci_device_id, 0x1eb810de);
	assert_int_equal(profile.power_limit_mw, 65000);
	assert_int_equal(profile.sm_count, parent.sm_count);
	assert_string_equal(profile.vbios, parent.vbios);
}

/* Texts first, each with its length; the rest is integers. */
static void the_default_is_its_yaml_file(void **state)
{
	char message[GKF_PROFILE_MESSAGE_MAX];
	struct gkf_profile p;

	(void)state;
	assert_int_equal(load("a100-sxm4-80gb", &p, message), 0);
#define SAME(text) assert_string_equal(p.text, gkf_profile_default.text)
	SAME(id);
	SAME(name);
	SAME(mark);
	SAME(brand);
	SAME(architecture);
	SAME(vbios);
	SAME(part_number);
	SAME(inforom_image);
	SAME(inforom_oem);
	SAME(inforom_ecc);
	SAME(mig_layout);
#undef SAME
#define FIELD(member, key, min, max, help)                                     \
	assert_int_equal(p.member, gkf_profile_default.member);
	GKF_PROFILE_INTEGERS(FIELD)
#undef FIELD
	assert_memory_equal(&p, &gkf_profile_default, sizeof p);
}

/* The keys that a profile leaves out are not known of the board. */
static void what_is_not_known_may_be_missing(void **state)
{
	char message[GKF_PROFILE_MESSAGE_MAX];
	struct gkf_profile p;

	(void)state;
	assert_int_equal(load(DATA "/little.yaml", &p, message), 0);
	assert_string_equal(p.vbios, "");
	assert_string_equal(p.part_number, "");
	assert_string_equal(p.inforom_ecc, "");
	assert_int_equal(p.own_memory, 1);
	assert_int_equal(p.bar1_mib, 0);
	assert_int_equal(p.pci_subsystem_id, 0);
	assert_int_equal(p.pcie_gen, 0);
	assert_int_equal(p.power_limit_mw, 0);
	assert_int_equal(p.power_min_mw, 0);
	assert_int_equal(p.power_max_mw, 0);
	assert_int_equal(p.temp_slowdown_c, -1);
	assert_int_equal(p.temp_shutdown_c, -1);
	assert_int_equal(p.temp_max_c, -1);
	assert_int_equal(p.mem_temp_max_c, -1);
	assert_int_equal(p.ecc, -1);
	assert_int_equal(p.mig, -1);
	assert_int_equal(p.nvlinks, 0);
}

/* A child's value comes from the child's source, the rest from the parent's. */
static void sources_are_inherited_with_their_values(void **state)
{
	static const struct {
		const char *key;
		enum gkf_source source;
	} expected[] = {
	    {"vbios", GKF_SOURCE_CAPTURE},
	    {"memory_mib", GKF_SOURCE_DOCUMENT},
	    {"sm_count", GKF_SOURCE_LIST},
	    {"context_mib", GKF_SOURCE_REMEMBERED},
	    {"power_idle_mw", GKF_SOURCE_ESTIMATED},
	    {"pstate_idle", GKF_SOURCE_NONE},
	};
	char message[GKF_PROFILE_MESSAGE_MAX];
	struct gkf_profile p;
	struct gkf_facts facts;

	(void)state;
	assert_int_equal(gkf_profile_facts(PROFILES, DATA "/sources.yaml", &p,
					   &facts, message, sizeof message),
			 0);
	for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
		assert_int_equal(facts.origin[gkf_field_find(expected[i].key)],
				 expected[i].source);
	assert_int_equal(facts.year, 2031);
	assert_int_equal(gkf_facts_given(&facts), 36);
	assert_int_equal(gkf_facts_sourced(&facts), 3);
}

static void each_value_of_a_shipped_profile_has_a_source(const char *id)
{
	char message[GKF_PROFILE_MESSAGE_MAX];
	struct gkf_profile profile;
	struct gkf_facts facts;

	assert_int_equal(gkf_profile_facts(PROFILES, id, &profile, &facts,
					   message, sizeof message),
			 0);
	for (size_t i = 0; i < gkf_field_count; i++) {
		bool is_value = gkf_fields[i].kind == GKF_FIELD_TEXT ||
				gkf_fields[i].kind == GKF_FIELD_INTEGER ||
				gkf_fields[i].kind == GKF_FIELD_YEAR;

		if (is_value &&
		    facts.given[i] != (facts.origin[i] != GKF_SOURCE_NONE))
			fail_msg("%s: %s: a value without a source, or a "
				 "source without a value",
				 id, gkf_fields[i].key);
	}
}

static void all_shipped_profiles_load(void **state)
{
	char message[GKF_PROFILE_MESSAGE_MAX], *copy, *rest, *id;
	struct gk_buf ids = {0};
	struct gkf_profile profile;
	unsigned count = 0;

	(void)state;
	gkf_profile_list(PROFILES, &ids);
	assert_non_null(ids.data);
	copy = rest = strdup(ids.data);
	while ((id = strsep(&rest, ","))) {
		id += *id == ' ';
		if (load(id, &profile, message))
			fail_msg("%s", message);
		assert_string_equal(profile.id, id);
		each_value_of_a_shipped_profile_has_a_source(id);
		count++;
	}
	assert_true(count >= 13);
	free(copy);
	gk_buf_free(&ids);
}

static void aliases_name_what_they_should(void **state)
{
	static const char *const pairs[][2] = {
	    {"a100", "NVIDIA A100-SXM4-80GB"},
	    {"a100-40gb", "NVIDIA A100-PCIE-40GB"},
	    {"h100", "NVIDIA H100 80GB HBM3"},
	    {"h200", "NVIDIA H200"},
	    {"b200", "NVIDIA B200"},
	    {"l40s", "NVIDIA L40S"},
	    {"l4", "NVIDIA L4"},
	    {"t4", "Tesla T4"},
	    {"v100", "Tesla V100-SXM2-32GB"},
	    {"rtx4090", "NVIDIA GeForce RTX 4090"},
	    {"3090", "NVIDIA GeForce RTX 3090"},
	    {"2080ti", "NVIDIA GeForce RTX 2080 Ti"},
	    {"gtx1080ti", "NVIDIA GeForce GTX 1080 Ti"},
	};
	char message[GKF_PROFILE_MESSAGE_MAX];
	struct gkf_profile profile;

	(void)state;
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		assert_int_equal(load(pairs[i][0], &profile, message), 0);
		assert_string_equal(profile.name, pairs[i][1]);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_error_has_its_line),
	    cmocka_unit_test(what_is_no_profile_file_is_told),
	    cmocka_unit_test(a_huge_file_is_refused),
	    cmocka_unit_test(long_names_are_not_found),
	    cmocka_unit_test(profiles_are_listed_in_order),
	    cmocka_unit_test(an_id_has_up_to_63_bytes),
	    cmocka_unit_test(a_small_message_buffer_is_kept),
	    cmocka_unit_test(a_child_takes_the_rest_from_its_parents),
	    cmocka_unit_test(the_default_is_its_yaml_file),
	    cmocka_unit_test(what_is_not_known_may_be_missing),
	    cmocka_unit_test(sources_are_inherited_with_their_values),
	    cmocka_unit_test(all_shipped_profiles_load),
	    cmocka_unit_test(aliases_name_what_they_should),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

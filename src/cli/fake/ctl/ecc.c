/* SPDX-License-Identifier: Apache-2.0 */
/*
 * ecc.c - `gpukit fake ctl ecc`: causes memory errors anywhere on a GPU, and
 * shows those that happened.
 */
#include "base/err.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/fake/ctl/ctl.h"
#include "machine/file/board.h"
#include "machine/file/ecc_state.h"
#include "machine/model/ecc.h"
#include "machine/store/board.h"

#include <stdio.h>
#include <string.h>

static const char *const kinds[GKF_ECC_KINDS] = {
    [GKF_ECC_CORRECTED] = "corrected",
    [GKF_ECC_PARITY] = "parity",
    [GKF_ECC_SECDED] = "sec-ded",
};

static int parse_error_kind(const char *text, enum gkf_ecc_kind *ret_kind)
{
	for (int i = 0; i < GKF_ECC_KINDS; i++)
		if (!strcmp(kinds[i], text)) {
			*ret_kind = (enum gkf_ecc_kind)i;
			return 0;
		}
	return fake_usage("ctl ecc: '%s' is not a kind of error; allowed are "
			  "corrected, parity, sec-ded",
			  text);
}

static int parse_location(const char *text, enum gkf_ecc_location *ret_location)
{
	char names[256] = "";
	size_t len = 0;

	for (unsigned i = 0; gkf_ecc_location_name(i); i++) {
		if (!strcmp(gkf_ecc_location_name(i), text)) {
			*ret_location = (enum gkf_ecc_location)i;
			return 0;
		}
		len +=
		    (size_t)snprintf(names + len, sizeof names - len, "%s%s",
				     i ? ", " : "", gkf_ecc_location_name(i));
	}
	return fake_usage("ctl ecc: '%s' is not a location; allowed are %s",
			  text, names);
}

static int parse_error_count(const char *text, int64_t *ret_count)
{
	if (gk_parse_int(text, ret_count) || *ret_count < 1 ||
	    *ret_count > GKF_ECC_COUNT_MAX)
		return fake_usage("ctl ecc: '%s' must be a number of errors, "
				  "1 to %d",
				  text, GKF_ECC_COUNT_MAX);
	return 0;
}

static int strike_gpu(struct ctl *ctl, unsigned gpu, enum gkf_ecc_kind kind,
		      enum gkf_ecc_location location, int64_t count)
{
	const char *name = gkf_board(ctl->machine, gpu)->profile.name;
	int err =
	    gkf_ecc_error(ctl->machine, gpu, kind, location, (uint64_t)count);

	if (err == GK_ERR_NOT_SUPPORTED)
		return fake_failure(
		    "ctl ecc: GPU %u (%s) %s", gpu, name,
		    gkf_ecc_on(ctl->machine, gpu)
			? "does not report errors of that location"
			: "has no ECC, or it is off");
	return err ? fake_failure("ctl ecc: GPU %u: %s", gpu, gk_strerror(err))
		   : 0;
}

static void show_counts(struct ctl *ctl, unsigned gpu)
{
	unsigned told = gkf_ecc_locations(ctl->machine, gpu);

	printf("  %-14s %12s %12s %12s %12s %12s %12s\n", "", "corrected",
	       "parity", "sec-ded", "corrected*", "parity*", "sec-ded*");
	for (unsigned p = 0; p < GKF_ECC_LOCATIONS; p++) {
		if (!(told & GKF_ECC_BIT(p)))
			continue;
		printf("  %-14s", gkf_ecc_location_name(p));
		for (int c = 0; c < GKF_ECC_COUNTERS; c++)
			for (unsigned k = 0; k < GKF_ECC_KINDS; k++)
				printf(" %12llu",
				       (unsigned long long)gkf_ecc_sum(
					   ctl->machine, gpu,
					   (enum gkf_ecc_counter)c,
					   GKF_ECC_BIT(p), GKF_ECC_BIT(k)));
		putchar('\n');
	}
}

static void show_repairs(struct ctl *ctl, unsigned gpu)
{
	struct gkf_ecc_rows rows;

	if (gkf_ecc_rows(ctl->machine, gpu, &rows))
		printf("  rows: %u remapped, %u wait for a reset%s\n",
		       rows.active[0] + rows.active[1],
		       rows.pending[0] + rows.pending[1],
		       rows.failed ? ", some could not be" : "");
	if (gkf_ecc_retires(ctl->machine, gpu))
		printf("  pages: %u retired for corrected errors, %u for "
		       "uncorrected ones\n",
		       gkf_ecc_pages(ctl->machine, gpu, GKF_ECC_BY_CORRECTED,
				     NULL, 0),
		       gkf_ecc_pages(ctl->machine, gpu, GKF_ECC_BY_UNCORRECTED,
				     NULL, 0));
}

static void show_ecc(struct ctl *ctl, unsigned gpu)
{
	printf("GPU %u: %s\n", gpu, gkf_board(ctl->machine, gpu)->profile.name);
	if (!gkf_ecc_on(ctl->machine, gpu)) {
		puts("  no ECC, or it is off");
		return;
	}
	show_counts(ctl, gpu);
	show_repairs(ctl, gpu);
}

int ctl_ecc(struct ctl *ctl, int argc, char **argv)
{
	enum gkf_ecc_kind kind = GKF_ECC_CORRECTED;
	enum gkf_ecc_location location = GKF_ECC_DRAM;
	int64_t count = 1;
	uint64_t gpus;
	int code = ctl_gpus(ctl, argv[0], &gpus);

	if (!code && argc == 2)
		code =
		    fake_usage("usage: gpukit fake ctl ecc GPU [KIND LOCATION "
			       "[COUNT]]");
	if (!code && argc > 2)
		code = parse_error_kind(argv[1], &kind);
	if (!code && argc > 2)
		code = parse_location(argv[2], &location);
	if (!code && argc > 3)
		code = parse_error_count(argv[3], &count);
	for (unsigned i = 0; !code && i < gkf_device_count(ctl->machine); i++) {
		if (!(gpus >> i & 1))
			continue;
		if (argc > 2)
			code = strike_gpu(ctl, i, kind, location, count);
		else
			show_ecc(ctl, i);
	}
	if (!code && argc == 1)
		puts("* = over the life of the board; the others since the "
		     "last reset");
	return code;
}

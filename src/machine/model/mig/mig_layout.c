/* SPDX-License-Identifier: Apache-2.0 */
/* mig_layout.c - splits a GPU as described by a text; see mig.h. */
#include "base/err.h"
#include "machine/file/board.h"
#include "machine/file/numbers.h"
#include "machine/model/mig/mig.h"
#include "machine/model/mig/mig_rules.h"
#include "machine/store/view.h"

#include <string.h>

/* A requested GPU instance and its compute instances. */
struct part {
	const char *text;
	unsigned gi;
	/* Text after the '('; NULL: one instance that fills the part. */
	const char *cis;
};

/* Parses "NAME[@START][(...)]" at *at and moves *at past it. */
static int parse_part(const struct gkf_mig_board *board, const char **at,
		      const struct gkf_mig_profile **ret_profile,
		      int *ret_start, const char **ret_cis)
{
	/* A '+' may belong to the name: "1g.10gb+me". */
	size_t len = strcspn(*at, "@(,+"), more;

	if (!strncmp(*at + len, "+me", 3))
		len += 3;
	*ret_profile = gkf_mig_profile_by_name(board, *at, len);
	if (!*ret_profile)
		return GK_ERR_INVALID;
	*at += len;
	*ret_start = GKF_MIG_ANYWHERE;
	*ret_cis = NULL;
	if (**at == '@') {
		if ((*at)[1] < '0' || (*at)[1] > '7')
			return GK_ERR_INVALID;
		*ret_start = (*at)[1] - '0';
		*at += 2;
	}
	if (**at == '(') {
		*ret_cis = *at + 1;
		more = strcspn(*at, ")");
		if (!(*at)[more])
			return GK_ERR_INVALID;
		*at += more + 1;
	}
	return 0;
}

/* Creates the GPU instances that a text lists, in that order. */
static int make_gis(struct gkf_machine *m, unsigned device, const char *text,
		    struct part *parts, unsigned *count, const char **ret_part)
{
	const struct gkf_mig_board *board =
	    gkf_mig_board(&m->boards[device].profile);
	const struct gkf_mig_profile *profile;
	int r = 0, start;

	for (const char *at = text; *at;) {
		struct part *p = &parts[*count];

		*ret_part = at;
		if (*count == GKF_MIG_MAX)
			return GK_ERR_NO_SPACE;
		p->text = at;
		r = parse_part(board, &at, &profile, &start, &p->cis);
		if (!r && *at && *at != '+' && *at != ',')
			r = GK_ERR_INVALID;
		if (!r)
			r = gkf_mig_gi_create(m, device, profile->id, start,
					      &p->gi);
		if (r)
			return r;
		++*count;
		at += *at != '\0';
	}
	return r;
}

/*
 * Creates the compute instances of a part, given the text after its '(':
 * "2c+1c)", or ")" for none.
 */
static int make_cis(struct gkf_machine *m, unsigned device, unsigned gi,
		    const char *text)
{
	/* Character i is the number of slices of NVML's profile i. */
	static const char *const slices = "12347";
	unsigned ci;
	int r = 0;

	for (const char *at = text; !r && *at != ')';) {
		const char *number = *at ? strchr(slices, *at) : NULL;

		if (!number || at[1] != 'c')
			return GK_ERR_INVALID;
		r = gkf_mig_ci_create(m, device, gi, GKF_MIG_ANY_LIFE,
				      (unsigned)(number - slices),
				      GKF_MIG_ANYWHERE, &ci);
		if (at[2] == ')')
			break;
		if (at[2] != '+' && at[2] != ',')
			return GK_ERR_INVALID;
		at += 3;
	}
	return r;
}

static int fill_instance(struct gkf_machine *m, unsigned device,
			 const struct part *p)
{
	struct gkf_mig_gi gi;
	unsigned ci;
	int r;

	if (p->cis)
		return make_cis(m, device, p->gi, p->cis);
	r = gkf_mig_gi_read(m, device, p->gi, &gi);
	if (!r)
		r = gkf_mig_ci_create(m, device, p->gi, gi.life,
				      gkf_mig_ci_whole(gi.profile),
				      GKF_MIG_ANYWHERE, &ci);
	return r;
}

int gkf_mig_layout(struct gkf_machine *m, unsigned device, const char *text,
		   const char **ret_part)
{
	struct part parts[GKF_MIG_MAX + 1];
	unsigned count = 0;
	int r = gkf_mig_mode_set(m, device, true);

	*ret_part = text;
	if (!r)
		r = make_gis(m, device, text, parts, &count, ret_part);
	/*
	 * Fills the GPU instances in the order of their ids, in which
	 * nvidia-smi lists MIG devices.
	 */
	for (unsigned gi = 0; !r && gi < GKF_MIG_GIS; gi++)
		for (unsigned i = 0; !r && i < count; i++) {
			if (parts[i].gi != gi)
				continue;
			*ret_part = parts[i].text;
			r = fill_instance(m, device, &parts[i]);
		}
	return r;
}

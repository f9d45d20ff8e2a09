/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hostile_tape.c - writes a tape whose snapshots are those of another one with
 * some fields changed to unexpected values:
 *     hostile_tape GOOD BAD SEED [FIELDS]
 * The tape itself is valid: blocks, sums and the schema are right. BAD has at
 * most SNAPSHOTS snapshots, with FIELDS (30) changes in each.
 */
#include "base/array.h"
#include "base/mix.h"
#include "record/tape.h"
#include "record/tape_fields.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SNAPSHOTS 40

static uint64_t dice;
static struct gk_arena texts;

static uint64_t roll(uint64_t sides)
{
	dice = gkf_mix(dice + 1);
	return dice % sides;
}

static int64_t odd_number(void)
{
	static const int64_t odd[] = {
	    0,         -1,        1,         101,          65535,
	    65536,     INT32_MAX, INT32_MIN, UINT32_MAX,   2000000000,
	    INT64_MAX, INT64_MIN, 1LL << 53, -(1LL << 40), 1LL << 62,
	};

	return roll(4) ? odd[roll(COUNT(odd))] : (int64_t)roll(UINT64_MAX);
}

static const char *odd_text(size_t *ret_len)
{
	static const char *const odd[] = {
	    "",
	    "\x1b[2J\x1b]0;x\x07",
	    "\xc2\x9b\xe2\x80\xae",
	    "\xff\xfe\xfd",
	    "\xe6\xbc\xa2\xe5\xad\x97\xe6\xbc\xa2\xe5\xad\x97",
	    "e\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81\xcc\x81",
	    "%s%n%d",
	    "a\tb\nc\rd",
	};
	static char longest[5000];
	const char *text = odd[roll(COUNT(odd))];

	*ret_len = strlen(text);
	if (roll(4))
		return text;
	memset(longest, 'x', sizeof longest - 1);
	*ret_len = sizeof longest - 1;
	return longest;
}

/* A text that stays until the end. */
static const char *kept_text(size_t *ret_len)
{
	const char *text = odd_text(ret_len);
	const char *copy = gk_arena_copy(&texts, text, *ret_len);

	if (!copy)
		abort();
	return copy;
}

/* Numbers of any size in any order; they stay until the end. */
static const struct gk_xids *odd_xids(void)
{
	struct gk_xids *xids = gk_arena_room(&texts, sizeof *xids);

	if (!xids)
		abort();
	*xids = (struct gk_xids){.count = roll(GK_XIDS_MAX + 1),
				 .kind_count = roll(GK_XID_KINDS_MAX + 1)};
	for (size_t i = 0; i < xids->count; i++)
		xids->last[i] =
		    (struct gk_xid){.at = (uint64_t)odd_number(),
				    .wall_ns = (uint64_t)odd_number(),
				    .number = (uint32_t)odd_number()};
	for (size_t i = 0; i < xids->kind_count; i++)
		xids->kinds[i] =
		    (struct gk_xid_count){.number = (uint32_t)odd_number(),
					  .count = (uint64_t)odd_number()};
	return xids;
}

static void change_field(enum gk_tape_kind kind, void *of)
{
	const struct gk_tape_fields *fields = &gk_tape_fields[kind];
	const struct gk_tape_field *field = &fields->rows[roll(fields->count)];
	void *at = (char *)of + field->at;
	size_t len;

	switch (field->storage) {
	case GK_STORED_U32:
	case GK_STORED_I32:
	case GK_STORED_WHY:
		*(uint32_t *)at = field->storage == GK_STORED_WHY
				      ? (uint32_t)roll(GK_ABSENCE_COUNT)
				      : (uint32_t)odd_number();
		return;
	case GK_STORED_U64:
		*(uint64_t *)at = (uint64_t)odd_number();
		return;
	case GK_STORED_CHAR:
		*(char *)at = (char)roll(256);
		return;
	case GK_STORED_VALUE:
		*(struct gk_value *)at = (struct gk_value){.v = odd_number()};
		return;
	case GK_STORED_ARRAY:
		snprintf(at, field->size, "%s", odd_text(&len));
		return;
	case GK_STORED_STRING:
		*(const char **)at = kept_text(&len);
		return;
	case GK_STORED_BYTES:
		*(const char **)at = kept_text(&len);
		*(size_t *)((char *)of + field->size) = len;
		return;
	case GK_STORED_TEXT:
		snprintf(((struct gk_text *)at)->s, GK_NAME_MAX, "%s",
			 odd_text(&len));
		return;
	case GK_STORED_XIDS:
		*(const struct gk_xids **)at = odd_xids();
		return;
	case GK_STORED_COUNT:
		return;
	}
}

static void change_snapshot(struct gk_snapshot *snap, unsigned fields)
{
	while (fields--) {
		uint64_t which = roll(10);

		if (which < 2)
			change_field(GK_TAPE_SNAPSHOT, snap);
		else if (which < 7 && snap->device_count)
			change_field(GK_TAPE_DEVICE,
				     &snap->devices[roll(snap->device_count)]);
		else if (snap->process_count)
			change_field(
			    GK_TAPE_PROCESS,
			    &snap->processes[roll(snap->process_count)]);
	}
}

/* Details are const elsewhere. */
static void change_details(struct gk_snapshot *snap, unsigned fields)
{
	for (size_t i = 0; i < snap->device_count; i++) {
		struct gk_detail *detail =
		    (struct gk_detail *)(uintptr_t)snap->devices[i].detail;

		for (unsigned k = 0; detail && k < fields; k++)
			if (detail->link_count && roll(2))
				change_field(
				    GK_TAPE_LINK,
				    &detail->links[roll(detail->link_count)]);
			else
				change_field(GK_TAPE_DETAIL, detail);
	}
}

static int copy_tape(struct gk_tape *good, const char *path, unsigned fields)
{
	struct gk_tape_writer *writer = gk_tape_writer_new();
	FILE *bad = fopen(path, "w");
	struct gk_buf out = {0};
	int r = writer && bad ? 0 : -1;

	for (size_t i = 0; !r && i < gk_tape_count(good) && i < SNAPSHOTS;
	     i++) {
		struct gk_snapshot *snap;

		r = gk_tape_read(good, i, &snap);
		if (r)
			break;
		change_snapshot(snap, fields);
		change_details(snap, fields / 10);
		if (!i)
			gk_buf_add(&out, GK_TAPE_HEADER, GK_TAPE_HEADER_LEN);
		r = gk_tape_add(writer, snap, !i || !roll(5), &out);
		gk_snapshot_free(snap);
	}
	if (!r && fwrite(out.data, 1, out.len, bad) != out.len)
		r = -1;
	gk_buf_free(&out);
	gk_tape_writer_free(writer);
	return bad && !fclose(bad) ? r : -1;
}

int main(int argc, char **argv)
{
	struct gk_tape *good;
	int r;

	if (argc < 4 || gk_tape_open(argv[1], &good)) {
		fprintf(stderr, "usage: hostile_tape GOOD BAD SEED [FIELDS]\n");
		return 2;
	}
	dice = gkf_mix(strtoull(argv[3], NULL, 10));
	r = copy_tape(good, argv[2], argc > 4 ? (unsigned)atoi(argv[4]) : 30);
	gk_tape_close(good);
	gk_arena_free(&texts);
	if (r)
		fprintf(stderr, "hostile_tape: cannot copy (%d)\n", r);
	return r != 0;
}

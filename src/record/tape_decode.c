/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape_decode.c - decodes bytes into structs, according to the names in a
 * schema.
 */
#include "record/tape_decode.h"

#include "core/snapshot.h"
#include "record/tape_block.h"

#include <stdlib.h>
#include <string.h>

/*
 * The maximum memory of a snapshot in bytes, no matter what the tape claims:
 * four times the size of the largest block.
 */
#define BUDGET ((size_t)4 * GK_TAPE_BLOCK_MAX)

/* A field of a tape, and our field of the same name; NULL: there is none. */
struct column {
	char type;
	const struct gk_tape_field *field;
};

struct columns {
	struct column *rows;
	size_t count;
};

struct gk_tape_schema {
	struct columns kinds[GK_TAPE_KINDS];
	struct gk_tape_absences absences;
};

/* The state of reading a block. */
struct reader {
	const struct gk_tape_schema *schema;
	struct gk_tape_cursor *cursor;
	struct gk_arena *arena;
	struct gk_snapshot *snap;
	size_t *left; /* what remains of BUDGET */
};

/* ---- the schema ---- */

struct gk_tape_schema *gk_tape_schema_new(void)
{
	return calloc(1, sizeof(struct gk_tape_schema));
}

void gk_tape_schema_free(struct gk_tape_schema *schema)
{
	for (int i = 0; schema && i < GK_TAPE_KINDS; i++)
		free(schema->kinds[i].rows);
	free(schema);
}

static const struct gk_tape_field *find_tape_field(enum gk_tape_kind kind,
						   const char *name, size_t len)
{
	const struct gk_tape_fields *fields = &gk_tape_fields[kind];

	for (size_t i = 0; i < fields->count; i++)
		if (strlen(fields->rows[i].name) == len &&
		    !memcmp(fields->rows[i].name, name, len))
			return &fields->rows[i];
	return NULL;
}

/*
 * The maximum number of fields of a tape. No gpukit has even half as many; the
 * description of a field takes at least two bytes.
 */
#define COLUMNS_MAX 1024

static int read_columns(struct columns *columns, enum gk_tape_kind kind,
			struct gk_tape_cursor *c)
{
	uint64_t count = gk_tape_get(c);

	free(columns->rows);
	*columns = (struct columns){0};
	if (c->bad || count > COLUMNS_MAX ||
	    count > (uint64_t)(c->end - c->at) / 2)
		return GK_ERR_CORRUPT;
	columns->rows = calloc(count + 1, sizeof *columns->rows);
	if (!columns->rows)
		return GK_ERR_NOMEM;
	columns->count = (size_t)count;
	for (size_t i = 0; i < count; i++) {
		char type = c->at < c->end ? (char)*c->at++ : 0;
		size_t len;
		const char *name = gk_tape_get_text(c, &len);

		columns->rows[i] =
		    (struct column){type, find_tape_field(kind, name, len)};
	}
	return c->bad ? GK_ERR_CORRUPT : 0;
}

static enum gk_absence absence_of(const char *text, size_t len)
{
	for (int i = 0; i < GK_ABSENCE_COUNT; i++) {
		const char *ours = gk_absence_text((enum gk_absence)i);

		if (strlen(ours) == len && !memcmp(ours, text, len))
			return (enum gk_absence)i;
	}
	return GK_ABSENT_ERROR;
}

/* The first entry of the list of absences always means "present". */
static int read_absences(struct gk_tape_absences *absences,
			 struct gk_tape_cursor *c)
{
	uint64_t count = gk_tape_get(c);

	if (c->bad || !count ||
	    count > sizeof absences->of / sizeof *absences->of)
		return GK_ERR_CORRUPT;
	absences->count = (size_t)count;
	for (size_t i = 0; i < count; i++) {
		size_t len;
		const char *text = gk_tape_get_text(c, &len);

		absences->of[i] = i ? absence_of(text, len) : GK_PRESENT;
	}
	return c->bad ? GK_ERR_CORRUPT : 0;
}

int gk_tape_schema_read(struct gk_tape_schema *schema, struct gk_tape_cursor *c)
{
	uint64_t kinds = gk_tape_get(c);
	int r = kinds == GK_TAPE_KINDS ? 0 : GK_ERR_CORRUPT;

	for (int i = 0; !r && i < GK_TAPE_KINDS; i++)
		r = read_columns(&schema->kinds[i], (enum gk_tape_kind)i, c);
	return r ? r : read_absences(&schema->absences, c);
}

/* ---- structs ---- */

/*
 * Takes bytes from the budget. If too few are left, sets `bad` and returns
 * false.
 */
static bool spend_bytes(const struct reader *r, size_t bytes)
{
	if (bytes > *r->left) {
		r->cursor->bad = true;
		return false;
	}
	*r->left -= bytes;
	return true;
}

static void take_record(const struct reader *r, enum gk_tape_kind kind,
			void *to)
{
	const struct columns *columns = &r->schema->kinds[kind];

	gk_tape_blank(kind, to);
	for (size_t i = 0; !r->cursor->bad && i < columns->count; i++)
		spend_bytes(r,
			    gk_tape_get_field(r->cursor, columns->rows[i].type,
					      &r->schema->absences, r->arena,
					      columns->rows[i].field, to));
}

/*
 * Whether the remaining bytes can contain this many records of a kind. A record
 * has at least one byte per column. Records without columns are refused,
 * because any number of them would fit.
 */
static bool may_follow(const struct reader *r, enum gk_tape_kind kind,
		       uint64_t count)
{
	uint64_t left = (uint64_t)(r->cursor->end - r->cursor->at);
	size_t columns = r->schema->kinds[kind].count;

	return !count || (columns && count <= left / columns);
}

/*
 * Reads how many records of a kind follow. If there are too many, sets `bad`
 * and returns 0.
 */
static size_t take_count(const struct reader *r, enum gk_tape_kind kind,
			 size_t most)
{
	uint64_t count = gk_tape_get(r->cursor);

	if (count > most || !may_follow(r, kind, count)) {
		r->cursor->bad = true;
		return 0;
	}
	return (size_t)count;
}

static void *reader_room(const struct reader *r, size_t size)
{
	void *bytes = NULL;

	if (spend_bytes(r, size))
		bytes = gk_arena_room(r->arena, size ? size : 1);
	if (bytes)
		memset(bytes, 0, size);
	else
		r->cursor->bad = true;
	return bytes;
}

static void take_detail(const struct reader *r, struct gk_device *device)
{
	struct gk_detail *detail;

	if (!take_count(r, GK_TAPE_DETAIL, 1))
		return;
	detail = reader_room(r, sizeof *detail);
	if (!detail)
		return;
	take_record(r, GK_TAPE_DETAIL, detail);
	detail->link_count =
	    (unsigned)take_count(r, GK_TAPE_LINK, GK_LINKS_MAX);
	for (unsigned i = 0; i < detail->link_count; i++) {
		take_record(r, GK_TAPE_LINK, &detail->links[i]);
		if (detail->links[i].end >= GK_LINK_END_COUNT)
			detail->links[i].end = GK_LINK_END_UNKNOWN;
	}
	device->detail = detail;
}

/*
 * Checks that a device refers only to existing devices, because tapes are not
 * trusted.
 */
static void check_device(const struct reader *r, size_t at)
{
	struct gk_device *device = &r->snap->devices[at];

	if (device->mig_index < 0)
		device->parent = -1;
	else if (device->parent < 0 || (size_t)device->parent >= at)
		r->cursor->bad = true;
	if (device->health > GK_HEALTH_ERROR)
		device->health = GK_HEALTH_ERROR;
	device->process_count = 0;
}

static void take_devices(const struct reader *r)
{
	size_t count = take_count(r, GK_TAPE_DEVICE, GK_SNAPSHOT_DEVICES);
	struct gk_device *devices = NULL;

	if (spend_bytes(r, count * sizeof *devices))
		devices = calloc(count + 1, sizeof *devices);
	if (!devices) {
		r->cursor->bad = true;
		return;
	}
	r->snap->devices = devices;
	r->snap->device_count = count;
	for (size_t i = 0; !r->cursor->bad && i < count; i++) {
		take_record(r, GK_TAPE_DEVICE, &devices[i]);
		take_detail(r, &devices[i]);
		check_device(r, i);
	}
}

static void check_process(const struct reader *r, struct gk_process *p)
{
	if (p->device >= r->snap->device_count) {
		r->cursor->bad = true;
		return;
	}
	if (p->state > GK_PROCESS_NO_PERMISSION)
		p->state = GK_PROCESS_GONE;
	gk_snapshot_count(r->snap, p->device);
}

static void take_processes(const struct reader *r)
{
	size_t count = take_count(r, GK_TAPE_PROCESS, GK_SNAPSHOT_PROCESSES);
	struct gk_process *processes = NULL;

	if (spend_bytes(r, count * sizeof *processes))
		processes = calloc(count + 1, sizeof *processes);
	if (!processes) {
		r->cursor->bad = true;
		return;
	}
	r->snap->processes = processes;
	for (size_t i = 0; !r->cursor->bad && i < count; i++) {
		take_record(r, GK_TAPE_PROCESS, &processes[i]);
		check_process(r, &processes[i]);
		r->snap->process_count = i + 1;
	}
}

static void take_topology(const struct reader *r)
{
	struct gk_topology *topology;
	struct gk_place *places;
	struct gk_peer *peers;
	size_t count;

	if (!take_count(r, GK_TAPE_PLACE, 1))
		return;
	count = take_count(r, GK_TAPE_PLACE, GK_SNAPSHOT_DEVICES);
	if (!may_follow(r, GK_TAPE_PEER, count * count)) {
		r->cursor->bad = true;
		return;
	}
	topology = reader_room(r, sizeof *topology);
	places = reader_room(r, count * sizeof *places);
	peers = reader_room(r, count * count * sizeof *peers);
	if (r->cursor->bad)
		return;
	for (size_t i = 0; i < count; i++)
		take_record(r, GK_TAPE_PLACE, &places[i]);
	for (size_t i = 0; i < count * count && !r->cursor->bad; i++) {
		take_record(r, GK_TAPE_PEER, &peers[i]);
		if (peers[i].path >= GK_PATH_COUNT)
			peers[i].path = GK_PATH_UNKNOWN;
	}
	*topology = (struct gk_topology){count, places, peers};
	r->snap->topology = topology;
}

int gk_tape_decode(const struct gk_tape_schema *schema,
		   struct gk_tape_cursor *cursor, struct gk_snapshot **ret_snap)
{
	size_t left = BUDGET;
	struct reader reader = {
	    .schema = schema, .cursor = cursor, .left = &left};
	int r = gk_snapshot_new(&reader.arena, &reader.snap);

	if (r)
		return r;
	take_record(&reader, GK_TAPE_SNAPSHOT, reader.snap);
	take_devices(&reader);
	if (!cursor->bad)
		take_processes(&reader);
	if (!cursor->bad)
		take_topology(&reader);
	if (cursor->bad) {
		gk_snapshot_free(reader.snap);
		return GK_ERR_CORRUPT;
	}
	*ret_snap = reader.snap;
	return 0;
}

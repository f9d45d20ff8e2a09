/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tape_fields.c - owns the tables of a tape's fields, and encodes and decodes
 * values.
 */
#include "record/tape_fields.h"
#include "base/array.h"
#include "base/assert.h"
#include "core/driver/events.h"

#include <string.h>

/*
 * FIELD("name", storage, struct, member, range, bound). range and bound are
 * addresses or NULL.
 */
#define FIELD(name, how, type, member, range, bound)                           \
	{                                                                      \
		name, GK_STORED_##how, offsetof(struct type, member),          \
		    sizeof(((struct type *)0)->member), range, bound           \
	}
#define BOUND(id) &gk_bounds[GK_BOUND_##id]
#define RANGE(id) &gk_bounds[GK_BOUND_##id].range

#define S(name, how, member) FIELD(name, how, gk_snapshot, member, NULL, NULL)
#define SB(name, how, member, bound)                                           \
	FIELD(name, how, gk_snapshot, member, NULL, BOUND(bound))
#define SV(name, member, bound)                                                \
	FIELD(name, VALUE, gk_snapshot, host.member, RANGE(bound), NULL)
static const struct gk_tape_field snapshot_fields[] = {
    SB("wall_ns", U64, wall_ns, TIME),
    SB("mono_ns", U64, mono_ns, TIME),
    S("driver_version", ARRAY, driver_version),
    S("nvml_version", ARRAY, nvml_version),
    SB("cuda_version", I32, cuda_version, CUDA_VERSION),
    S("hostname", ARRAY, host.hostname),
    SB("boot_ns", U64, host.boot_ns, TIME),
    SB("cpus", U32, host.cpus, CPUS),
    SV("cpu_centipercent", cpu_centipercent, CPU_SHARE),
    SV("load_1m_centi", load_centi[0], LOAD),
    SV("load_5m_centi", load_centi[1], LOAD),
    SV("load_15m_centi", load_centi[2], LOAD),
    SV("memory_total_bytes", mem_total, HOST_BYTES),
    SV("memory_available_bytes", mem_available, HOST_BYTES),
    SV("swap_total_bytes", swap_total, HOST_BYTES),
    SV("swap_free_bytes", swap_free, HOST_BYTES),
};
#undef S
#undef SB
#undef SV

#define D(name, how, member) FIELD(name, how, gk_device, member, NULL, NULL)
#define DB(name, how, member, bound)                                           \
	FIELD(name, how, gk_device, member, NULL, BOUND(bound))
static const struct gk_tape_field device_fields[] = {
    DB("index", U32, index, INDEX),
    DB("mig_index", I32, mig_index, PART),
    D("parent", I32, parent),
    DB("gpu_instance", I32, gpu_instance, PART),
    DB("compute_instance", I32, compute_instance, PART),
    D("name", ARRAY, name),
    D("uuid", ARRAY, uuid),
    D("bus_id", ARRAY, bus_id),
    D("serial", ARRAY, serial),
    D("vbios", ARRAY, vbios),
    DB("minor", I32, minor, PART),
    DB("compute_major", I32, compute_major, CAPABILITY),
    DB("compute_minor", I32, compute_minor, CAPABILITY),
    D("health", U32, health),
    DB("nvml_error", I32, nvml_error, NVML_ERROR),
    DB("read_fast_ns", U64, read_ns[GK_TIER_FAST], TIME),
    DB("read_medium_ns", U64, read_ns[GK_TIER_MEDIUM], TIME),
    DB("read_slow_ns", U64, read_ns[GK_TIER_SLOW], TIME),
    DB("read_asked_ns", U64, read_ns[GK_TIER_ASKED], TIME),
    DB("read_detail_ns", U64, read_ns[GK_TIER_DETAIL], TIME),
    DB("read_event_ns", U64, read_ns[GK_TIER_EVENT], TIME),
    D("process_count", U32, process_count),
    D("processes_why", WHY, processes_why),
    D("xids", XIDS, xids),
#define METRIC(id, name, unit, kind, tier, least, most, help)                  \
	FIELD("m." name, VALUE, gk_device, m[GK_M_##id],                       \
	      &gk_metric_ranges[GK_M_##id], NULL),
#include <gpukit/metrics.def>
#undef METRIC
};
#undef D
#undef DB

static const struct gk_tape_field detail_fields[] = {
#define TEXT(id, name, help)                                                   \
	FIELD(name, TEXT, gk_detail, facts[GK_T_##id], NULL, NULL),
#include <gpukit/texts.def>
#undef TEXT
};

static const struct gk_tape_field link_fields[] = {
    FIELD("index", U32, gk_link, index, NULL, BOUND(LINK)),
    FIELD("end", U32, gk_link, end, NULL, NULL),
    FIELD("remote_bus_id", ARRAY, gk_link, remote_bus_id, NULL, NULL),
#define LINK(id, name, unit, kind, least, most, help)                          \
	FIELD("m." name, VALUE, gk_link, m[GK_L_##id],                         \
	      &gk_link_metric_ranges[GK_L_##id], NULL),
#include <gpukit/links.def>
#undef LINK
};

#define P(name, how, member) FIELD(name, how, gk_process, member, NULL, NULL)
#define PB(name, how, member, bound)                                           \
	FIELD(name, how, gk_process, member, NULL, BOUND(bound))
static const struct gk_tape_field process_fields[] = {
    PB("pid", I32, pid, PID),
    PB("parent", I32, parent, PID),
    P("device", U32, device),
    PB("types", U32, types, TYPES),
    P("state", U32, state),
    PB("uid", U32, uid, UID),
    P("user", STRING, user),
    P("name", STRING, name),
    P("command", STRING, command),
    P("container", STRING, container),
    P("pod", STRING, pod),
    P("cwd", STRING, cwd),
    P("cwd_why", WHY, cwd_why),
    P("stat", CHAR, stat),
    {"args", GK_STORED_BYTES, offsetof(struct gk_process, args),
     offsetof(struct gk_process, args_len), NULL, NULL},
    PB("start_ticks", U64, start_ticks, TICKS),
#define METRIC(id, name, unit, kind, tier, least, most, help)                  \
	FIELD("m." name, VALUE, gk_process, m[GK_PM_##id],                     \
	      &gk_process_metric_ranges[GK_PM_##id], NULL),
#include <gpukit/process_metrics.def>
#undef METRIC
};
#undef P
#undef PB

static const struct gk_tape_field place_fields[] = {
    FIELD("cpus", ARRAY, gk_place, cpus, NULL, NULL),
    FIELD("numa_nodes", ARRAY, gk_place, numa_nodes, NULL, NULL),
    FIELD("numa_node", I32, gk_place, numa_node, NULL, BOUND(PART)),
};

static const struct gk_tape_field peer_fields[] = {
    FIELD("path", U32, gk_peer, path, NULL, NULL),
    FIELD("nvlinks", U32, gk_peer, nvlinks, NULL, BOUND(NVLINKS)),
};
#undef BOUND
#undef RANGE

#define ROWS(array)                                                            \
	{                                                                      \
		array, COUNT(array)                                            \
	}
const struct gk_tape_fields gk_tape_fields[GK_TAPE_KINDS] = {
    [GK_TAPE_SNAPSHOT] = ROWS(snapshot_fields),
    [GK_TAPE_DEVICE] = ROWS(device_fields),
    [GK_TAPE_DETAIL] = ROWS(detail_fields),
    [GK_TAPE_LINK] = ROWS(link_fields),
    [GK_TAPE_PROCESS] = ROWS(process_fields),
    [GK_TAPE_PLACE] = ROWS(place_fields),
    [GK_TAPE_PEER] = ROWS(peer_fields),
};

char gk_tape_type(enum gk_tape_storage storage)
{
	static const char types[] = "uuiuavsssts";

	GK_ASSERT(storage < GK_STORED_COUNT);
	return types[storage];
}

/* ---- writing ---- */

void gk_tape_put(struct gk_buf *out, uint64_t value)
{
	char bytes[10];
	size_t len = 0;

	for (; value >= 0x80; value >>= 7)
		bytes[len++] = (char)(value | 0x80);
	bytes[len++] = (char)value;
	gk_buf_add(out, bytes, len);
}

/*
 * Maps 0, -1, 1, -2 to 0, 1, 2, 3, so that negative numbers near 0 are short,
 * too.
 */
static void put_signed(struct gk_buf *out, int64_t value)
{
	gk_tape_put(out, (uint64_t)value << 1 ^ (uint64_t)(value >> 63));
}

void gk_tape_put_text(struct gk_buf *out, const char *text, size_t len)
{
	gk_tape_put(out, len);
	gk_buf_add(out, text, len);
}

static void put_string(struct gk_buf *out, const char *text)
{
	gk_tape_put_text(out, text ? text : "", text ? strlen(text) : 0);
}

/*
 * Returns the number as the device reported it, even if it is out of range,
 * because readers of the tape may have other ranges.
 */
static struct gk_value as_told(struct gk_value value,
			       const struct gk_range *range)
{
	if (value.why == GK_ABSENT_NONSENSE && !gk_in_range(value.v, range))
		value.why = GK_PRESENT;
	return value;
}

/*
 * Writes whether and why a value is absent. Returns true if the value is
 * present and must be written next.
 */
static bool put_why(struct gk_buf *out, enum gk_absence why)
{
	gk_buf_putc(out, (char)why);
	return why == GK_PRESENT;
}

static void put_xids(struct gk_buf *out, const struct gk_xids *xids)
{
	struct gk_buf text = {0};

	gk_tape_put(&text, xids ? xids->count : 0);
	for (size_t i = 0; xids && i < xids->count; i++) {
		gk_tape_put(&text, xids->last[i].at);
		gk_tape_put(&text, xids->last[i].number);
		gk_tape_put(&text, xids->last[i].wall_ns);
	}
	for (size_t i = 0; xids && i < xids->kind_count; i++) {
		gk_tape_put(&text, xids->kinds[i].number);
		gk_tape_put(&text, xids->kinds[i].count);
	}
	out->failed |= text.failed;
	gk_tape_put_text(out, text.data ? text.data : "", text.len);
	gk_buf_free(&text);
}

void gk_tape_put_field(struct gk_buf *out, const struct gk_tape_field *field,
		       const void *of)
{
	const void *at = (const char *)of + field->at;
	const struct gk_text *text = at;
	const char *const *string = at;
	struct gk_value value;

	switch (field->storage) {
	case GK_STORED_U32:
		gk_tape_put(out, *(const uint32_t *)at);
		return;
	case GK_STORED_U64:
		gk_tape_put(out, *(const uint64_t *)at);
		return;
	case GK_STORED_I32:
		put_signed(out, *(const int32_t *)at);
		return;
	case GK_STORED_CHAR:
		gk_tape_put(out, *(const unsigned char *)at);
		return;
	case GK_STORED_WHY:
		put_why(out, *(const enum gk_absence *)at);
		return;
	case GK_STORED_VALUE:
		value = as_told(*(const struct gk_value *)at, field->range);
		if (put_why(out, value.why))
			put_signed(out, value.v);
		return;
	case GK_STORED_ARRAY:
		gk_tape_put_text(out, at, strnlen(at, field->size));
		return;
	case GK_STORED_STRING:
		put_string(out, *string);
		return;
	case GK_STORED_BYTES:
		gk_tape_put_text(
		    out, *string ? *string : "",
		    *string ? *(const size_t *)((const char *)of + field->size)
			    : 0);
		return;
	case GK_STORED_TEXT:
		if (put_why(out, text->why))
			put_string(out, text->s);
		return;
	case GK_STORED_XIDS:
		put_xids(out, *(const struct gk_xids *const *)at);
		return;
	case GK_STORED_COUNT:
		return;
	}
}

/* ---- reading ---- */

static unsigned char next_byte(struct gk_tape_cursor *c)
{
	if (c->at < c->end)
		return *c->at++;
	c->bad = true;
	return 0;
}

uint64_t gk_tape_get(struct gk_tape_cursor *c)
{
	uint64_t value = 0;
	unsigned char byte = 0x80;

	for (int shift = 0; byte & 0x80; shift += 7) {
		byte = next_byte(c);
		if (shift > 63)
			c->bad = true;
		if (c->bad)
			return 0;
		value |= (uint64_t)(byte & 0x7f) << shift;
	}
	return value;
}

static int64_t get_signed(struct gk_tape_cursor *c)
{
	uint64_t value = gk_tape_get(c);

	return (int64_t)(value >> 1 ^ (0 - (value & 1)));
}

const char *gk_tape_get_text(struct gk_tape_cursor *c, size_t *ret_len)
{
	uint64_t len = gk_tape_get(c);
	const char *text = (const char *)c->at;

	if (len > (uint64_t)(c->end - c->at)) {
		c->bad = true;
		len = 0;
	}
	c->at += len;
	*ret_len = (size_t)len;
	return text;
}

static enum gk_absence get_why(struct gk_tape_cursor *c,
			       const struct gk_tape_absences *absences)
{
	unsigned char number = next_byte(c);

	if (number < absences->count)
		return absences->of[number];
	c->bad = true;
	return GK_ABSENT_ERROR;
}

static void get_text(struct gk_tape_cursor *c,
		     const struct gk_tape_absences *absences,
		     struct gk_text *to)
{
	enum gk_absence why = get_why(c, absences);
	const char *text;
	size_t len;

	if (to)
		to->why = why;
	if (why != GK_PRESENT)
		return;
	text = gk_tape_get_text(c, &len);
	if (to)
		gk_str_clean(to->s, sizeof to->s, text, len);
}

static void get_value(struct gk_tape_cursor *c,
		      const struct gk_tape_absences *absences,
		      const struct gk_tape_field *field, struct gk_value *to)
{
	struct gk_value value = {.why = get_why(c, absences)};

	if (value.why == GK_PRESENT)
		value.v = get_signed(c);
	if (field)
		*to = gk_gate(value, field->range);
}

/*
 * Returns a number or, if it is out of its field's bound, the bound's default.
 */
static int64_t bounded_value(const struct gk_tape_field *field, int64_t v)
{
	if (field->bound && !gk_in_range(v, &field->bound->range))
		return field->bound->otherwise;
	return v;
}

static void get_unsigned(struct gk_tape_cursor *c,
			 const struct gk_tape_field *field, void *to)
{
	int64_t value = gk_scaled_unsigned(gk_tape_get(c), 1);

	if (!field)
		return;
	value = bounded_value(field, value);
	if (field->storage == GK_STORED_U64)
		*(uint64_t *)to = (uint64_t)value;
	else if (field->storage == GK_STORED_CHAR)
		*(char *)to = (char)value;
	else
		*(uint32_t *)to = (uint32_t)value;
}

/* Returns a size in bytes that is large enough for the text after cleaning. */
static size_t clean_room(const char *text, size_t len)
{
	size_t room = 1;

	for (size_t i = 0; i < len;) {
		size_t n = gk_utf8_len(text + i, len - i);

		room += n ? n : 3;
		i += n ? n : 1;
	}
	return room;
}

/*
 * Copies a string to the arena. If `clean` is set, replaces unprintable bytes,
 * because the string will be printed and tapes are not trusted. Sets *ret_took
 * to the number of bytes used in the arena. Returns NULL when out of memory.
 */
static const char *keep_string(struct gk_arena *arena, const char *text,
			       size_t len, bool clean, size_t *ret_took)
{
	size_t room = clean ? clean_room(text, len) : len + 1;
	char *copy;

	*ret_took = len ? room : 0;
	if (!len)
		return "";
	if (!clean)
		return gk_arena_copy(arena, text, len);
	copy = gk_arena_room(arena, room);
	if (copy)
		gk_str_clean(copy, room, text, len);
	return copy;
}

static uint64_t get_bounded(struct gk_tape_cursor *c, enum gk_bound bound)
{
	return (uint64_t)gk_bounded(gk_scaled_unsigned(gk_tape_get(c), 1),
				    bound);
}

/* Reads Xids, and checks their order and bounds. Returns NULL if there are
 * none. */
static size_t get_xids(struct gk_arena *arena, const char *text, size_t len,
		       const struct gk_xids **ret_xids)
{
	const unsigned char *bytes = (const unsigned char *)text;
	struct gk_tape_cursor c = {bytes, bytes + len, false};
	uint64_t count = gk_tape_get(&c);
	struct gk_xids *xids;

	if (c.bad || !count || count > GK_XIDS_MAX)
		return 0;
	xids = gk_arena_room(arena, sizeof *xids);
	if (!xids)
		return 0;
	*xids = (struct gk_xids){0};
	while (count-- && !c.bad) {
		struct gk_xid xid = {.at = get_bounded(&c, GK_BOUND_XIDS)};

		xid.number = (uint32_t)get_bounded(&c, GK_BOUND_XID);
		xid.wall_ns = get_bounded(&c, GK_BOUND_TIME);
		if (!c.bad &&
		    (!xids->count || xid.at > xids->last[xids->count - 1].at))
			gk_xids_add(xids, &xid);
	}
	while (!c.bad && c.at < c.end) {
		uint64_t number = get_bounded(&c, GK_BOUND_XID);
		uint64_t times = get_bounded(&c, GK_BOUND_XIDS);

		if (!c.bad)
			gk_xids_count(xids, (uint32_t)number, times);
	}
	*ret_xids = xids;
	return sizeof *xids;
}

static size_t get_string(struct gk_tape_cursor *c, struct gk_arena *arena,
			 const struct gk_tape_field *field, void *of)
{
	size_t len, took;
	const char *text = gk_tape_get_text(c, &len);
	char *at;

	if (!field)
		return 0;
	at = (char *)of + field->at;
	if (field->storage == GK_STORED_ARRAY) {
		gk_str_clean(at, field->size, text, len);
		return 0;
	}
	if (field->storage == GK_STORED_XIDS)
		return get_xids(arena, text, len, (const struct gk_xids **)at);
	text = keep_string(arena, text, len, field->storage == GK_STORED_STRING,
			   &took);
	if (!text) {
		c->bad = true;
		return 0;
	}
	*(const char **)at = text;
	if (field->storage == GK_STORED_BYTES)
		*(size_t *)((char *)of + field->size) = len;
	return took;
}

static void get_absence(struct gk_tape_cursor *c,
			const struct gk_tape_absences *absences,
			enum gk_absence *to)
{
	enum gk_absence why = get_why(c, absences);

	if (to)
		*to = why;
}

static void get_int(struct gk_tape_cursor *c, const struct gk_tape_field *field,
		    int32_t *to)
{
	int64_t number = get_signed(c);

	if (field)
		*to = (int32_t)bounded_value(field, number);
}

size_t gk_tape_get_field(struct gk_tape_cursor *c, char type,
			 const struct gk_tape_absences *absences,
			 struct gk_arena *arena,
			 const struct gk_tape_field *field, void *of)
{
	void *at;

	if (field && gk_tape_type(field->storage) != type)
		field = NULL;
	at = field ? (char *)of + field->at : NULL;
	switch (type) {
	case 'u':
		get_unsigned(c, field, at);
		return 0;
	case 'i':
		get_int(c, field, at);
		return 0;
	case 'a':
		get_absence(c, absences, at);
		return 0;
	case 'v':
		get_value(c, absences, field, at);
		return 0;
	case 's':
		return get_string(c, arena, field, of);
	case 't':
		get_text(c, absences, at);
		return 0;
	default:
		c->bad = true;
		return 0;
	}
}

void gk_tape_blank(enum gk_tape_kind kind, void *of)
{
	const struct gk_tape_fields *fields = &gk_tape_fields[kind];

	GK_ASSERT(kind < GK_TAPE_KINDS);
	for (size_t i = 0; i < fields->count; i++) {
		const struct gk_tape_field *field = &fields->rows[i];
		void *at = (char *)of + field->at;

		if (field->storage == GK_STORED_VALUE)
			*(struct gk_value *)at =
			    (struct gk_value){.why = GK_ABSENT_NOT_READ};
		else if (field->storage == GK_STORED_TEXT)
			((struct gk_text *)at)->why = GK_ABSENT_NOT_READ;
		else if (field->storage == GK_STORED_WHY)
			*(enum gk_absence *)at = GK_ABSENT_NOT_READ;
		else if (field->storage == GK_STORED_STRING ||
			 field->storage == GK_STORED_BYTES)
			*(const char **)at = "";
	}
}

/*
 * tape_fields.c - owns the tables of a tape's fields, and turns values into
 * bytes.
 */
#include "record/tape_fields.h"
#include "base/array.h"

#include <string.h>

/* FIELD("name", storage, struct, member) */
#define FIELD(name, how, type, member)                                         \
	{                                                                      \
		name, GK_STORED_##how, offsetof(struct type, member),          \
		    sizeof(((struct type *)0)->member)                         \
	}

#define S(name, how, member) FIELD(name, how, gk_snapshot, member)
static const struct gk_tape_field snapshot_fields[] = {
    S("wall_ns", U64, wall_ns),
    S("mono_ns", U64, mono_ns),
    S("driver_version", ARRAY, driver_version),
    S("nvml_version", ARRAY, nvml_version),
    S("cuda_version", I32, cuda_version),
    S("hostname", ARRAY, host.hostname),
    S("boot_ns", U64, host.boot_ns),
    S("cpus", U32, host.cpus),
    S("cpu_centipercent", VALUE, host.cpu_centipercent),
    S("load_1m_centi", VALUE, host.load_centi[0]),
    S("load_5m_centi", VALUE, host.load_centi[1]),
    S("load_15m_centi", VALUE, host.load_centi[2]),
    S("memory_total_bytes", VALUE, host.mem_total),
    S("memory_available_bytes", VALUE, host.mem_available),
    S("swap_total_bytes", VALUE, host.swap_total),
    S("swap_free_bytes", VALUE, host.swap_free),
};
#undef S

#define D(name, how, member) FIELD(name, how, gk_device, member)
static const struct gk_tape_field device_fields[] = {
    D("index", U32, index),
    D("mig_index", I32, mig_index),
    D("parent", I32, parent),
    D("gpu_instance", I32, gpu_instance),
    D("compute_instance", I32, compute_instance),
    D("name", ARRAY, name),
    D("uuid", ARRAY, uuid),
    D("bus_id", ARRAY, bus_id),
    D("serial", ARRAY, serial),
    D("vbios", ARRAY, vbios),
    D("minor", I32, minor),
    D("compute_major", I32, compute_major),
    D("compute_minor", I32, compute_minor),
    D("health", U32, health),
    D("nvml_error", I32, nvml_error),
    D("read_fast_ns", U64, read_ns[GK_TIER_FAST]),
    D("read_medium_ns", U64, read_ns[GK_TIER_MEDIUM]),
    D("read_slow_ns", U64, read_ns[GK_TIER_SLOW]),
    D("read_asked_ns", U64, read_ns[GK_TIER_ASKED]),
    D("read_detail_ns", U64, read_ns[GK_TIER_DETAIL]),
    D("read_event_ns", U64, read_ns[GK_TIER_EVENT]),
    D("process_count", U32, process_count),
    D("processes_why", WHY, processes_why),
#define METRIC(id, name, unit, kind, tier, help)                               \
	D("m." name, VALUE, m[GK_M_##id]),
#include <gpukit/metrics.def>
#undef METRIC
};
#undef D

static const struct gk_tape_field detail_fields[] = {
#define TEXT(id, name, help) FIELD(name, TEXT, gk_detail, facts[GK_T_##id]),
#include <gpukit/texts.def>
#undef TEXT
};

static const struct gk_tape_field link_fields[] = {
    FIELD("index", U32, gk_link, index),
    FIELD("end", U32, gk_link, end),
    FIELD("remote_bus_id", ARRAY, gk_link, remote_bus_id),
#define LINK(id, name, unit, kind, help)                                       \
	FIELD("m." name, VALUE, gk_link, m[GK_L_##id]),
#include <gpukit/links.def>
#undef LINK
};

#define P(name, how, member) FIELD(name, how, gk_process, member)
static const struct gk_tape_field process_fields[] = {
    P("pid", I32, pid),
    P("parent", I32, parent),
    P("device", U32, device),
    P("types", U32, types),
    P("state", U32, state),
    P("uid", U32, uid),
    P("user", STRING, user),
    P("name", STRING, name),
    P("command", STRING, command),
    P("container", STRING, container),
    P("pod", STRING, pod),
    P("cwd", STRING, cwd),
    P("cwd_why", WHY, cwd_why),
    P("stat", CHAR, stat),
    {"args", GK_STORED_BYTES, offsetof(struct gk_process, args),
     offsetof(struct gk_process, args_len)},
    P("start_ticks", U64, start_ticks),
#define METRIC(id, name, unit, kind, tier, help)                               \
	P("m." name, VALUE, m[GK_PM_##id]),
#include <gpukit/process_metrics.def>
#undef METRIC
};
#undef P

static const struct gk_tape_field place_fields[] = {
    FIELD("cpus", ARRAY, gk_place, cpus),
    FIELD("numa_nodes", ARRAY, gk_place, numa_nodes),
    FIELD("numa_node", I32, gk_place, numa_node),
};

static const struct gk_tape_field peer_fields[] = {
    FIELD("path", U32, gk_peer, path),
    FIELD("nvlinks", U32, gk_peer, nvlinks),
};

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
	static const char types[] = "uuiuavssst";

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

/* Small negative numbers are short as well: 0 -1 1 -2 as 0 1 2 3. */
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

/* An absence; what is there has its content behind. */
static bool put_why(struct gk_buf *out, enum gk_absence why)
{
	gk_buf_putc(out, (char)why);
	return why == GK_PRESENT;
}

void gk_tape_put_field(struct gk_buf *out, const struct gk_tape_field *field,
		       const void *of)
{
	const void *at = (const char *)of + field->at;
	const struct gk_value *value = at;
	const struct gk_text *text = at;
	const char *const *string = at;

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
		if (put_why(out, value->why))
			put_signed(out, value->v);
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
		      struct gk_value *to)
{
	struct gk_value value = {.why = get_why(c, absences)};

	if (value.why == GK_PRESENT)
		value.v = get_signed(c);
	if (to)
		*to = value;
}

static void get_unsigned(struct gk_tape_cursor *c,
			 const struct gk_tape_field *field, void *to)
{
	uint64_t value = gk_tape_get(c);

	if (!field)
		return;
	if (field->storage == GK_STORED_U64)
		*(uint64_t *)to = value;
	else if (field->storage == GK_STORED_CHAR)
		*(char *)to = (char)value;
	else
		*(uint32_t *)to = (uint32_t)value;
}

/* Strings that views print are clean, whoever wrote the tape. */
static const char *keep_string(struct gk_arena *arena, const char *text,
			       size_t len, bool clean)
{
	char *copy;

	if (!clean)
		copy = gk_arena_copy(arena, text, len);
	else if ((copy = gk_arena_room(arena, len * 3 + 1)))
		gk_str_clean(copy, len * 3 + 1, text, len);
	return copy;
}

static void get_string(struct gk_tape_cursor *c, struct gk_arena *arena,
		       const struct gk_tape_field *field, void *of)
{
	size_t len;
	const char *text = gk_tape_get_text(c, &len);
	char *at;

	if (!field)
		return;
	at = (char *)of + field->at;
	if (field->storage == GK_STORED_ARRAY) {
		gk_str_clean(at, field->size, text, len);
		return;
	}
	text =
	    keep_string(arena, text, len, field->storage == GK_STORED_STRING);
	if (!text) {
		c->bad = true;
		return;
	}
	*(const char **)at = text;
	if (field->storage == GK_STORED_BYTES)
		*(size_t *)((char *)of + field->size) = len;
}

void gk_tape_get_field(struct gk_tape_cursor *c, char type,
		       const struct gk_tape_absences *absences,
		       struct gk_arena *arena,
		       const struct gk_tape_field *field, void *of)
{
	void *at;
	int64_t number;

	if (field && gk_tape_type(field->storage) != type)
		field = NULL;
	at = field ? (char *)of + field->at : NULL;
	switch (type) {
	case 'u':
		get_unsigned(c, field, at);
		return;
	case 'i':
		number = get_signed(c);
		if (at)
			*(int32_t *)at = (int32_t)number;
		return;
	case 'a': {
		enum gk_absence why = get_why(c, absences);

		if (at)
			*(enum gk_absence *)at = why;
		return;
	}
	case 'v':
		get_value(c, absences, at);
		return;
	case 's':
		get_string(c, arena, field, of);
		return;
	case 't':
		get_text(c, absences, at);
		return;
	default:
		c->bad = true;
	}
}

void gk_tape_blank(enum gk_tape_kind kind, void *of)
{
	const struct gk_tape_fields *fields = &gk_tape_fields[kind];

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

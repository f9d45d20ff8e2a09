/* SPDX-License-Identifier: Apache-2.0 */
/*
 * field_link.c - reads the fields of one NVLink or of all together, and clears
 * their errors; see field.h.
 */
#include "fronts/nvml/meter/field.h"
#include "fronts/nvml/board/link_counter.h"
#include "machine/file/board.h"
#include "machine/file/link_state.h"
#include "machine/file/topology.h"
#include "machine/model/link.h"

/* Packets since NVLink 2 have 16 bytes of header and 128 bytes of data;
 * estimated. */
#define PACKET_BYTES 128
#define HEADER_BYTES 16

/* The number of links to report: none in MIG mode. */
static unsigned count_links(const struct call *c)
{
	return is_split(c) ? 0 : gkf_links(c->machine, c->index);
}

/* The link in `arg`, or the one in the caller's scope. */
static nvmlReturn_t find_link(const struct call *c, unsigned scope,
			      unsigned arg, unsigned *ret_link)
{
	unsigned links = count_links(c);
	unsigned link = FIELD_LINK_OF(arg);

	if (link == FIELD_BY_SCOPE && links && scope >= links)
		return NVML_ERROR_INVALID_ARGUMENT;
	if (link == FIELD_BY_SCOPE)
		link = scope;
	if (link >= links)
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_link = link;
	return NVML_SUCCESS;
}

static bool means_all(unsigned scope, unsigned arg)
{
	return FIELD_LINK_OF(arg) == FIELD_ALL_LINKS ||
	       (FIELD_LINK_OF(arg) == FIELD_SCOPE_OR_ALL &&
		scope == UINT32_MAX);
}

typedef uint64_t figure_fn(const struct call *c, unsigned link, unsigned what);

/* A number for one link, or the sum over all links. */
static nvmlReturn_t link_figure(const struct call *c, unsigned scope,
				unsigned arg, figure_fn *fn,
				uint64_t *ret_number)
{
	unsigned links = count_links(c), link;
	uint64_t sum = 0;
	nvmlReturn_t r;

	if (FIELD_LINK_OF(arg) == FIELD_SCOPE_OR_ALL && scope != UINT32_MAX)
		arg = FIELD_LINK(FIELD_BY_SCOPE, FIELD_WHAT(arg));
	if (!means_all(scope, arg)) {
		r = find_link(c, scope, arg, &link);
		if (!r)
			*ret_number = fn(c, link, FIELD_WHAT(arg));
		return r;
	}
	if (!links)
		return NVML_ERROR_NOT_SUPPORTED;
	for (unsigned i = 0; i < links; i++)
		sum += fn(c, i, FIELD_WHAT(arg));
	*ret_number = sum;
	return NVML_SUCCESS;
}

static uint64_t count_link_errors(const struct call *c, unsigned link,
				  unsigned what)
{
	return gkf_link_error(c->machine, c->index, link,
			      (enum gkf_link_error)what);
}

nvmlReturn_t field_link_errors(const struct call *c, unsigned scope,
			       unsigned arg, uint64_t *ret_number)
{
	return link_figure(c, scope, arg, count_link_errors, ret_number);
}

static uint64_t forget_link_errors(const struct call *c, unsigned link,
				   unsigned what)
{
	gkf_link_set_error(c->machine, c->index, link,
			   (enum gkf_link_error)what, 0);
	return 0;
}

nvmlReturn_t field_clear_link_errors(const struct call *c, unsigned scope,
				     unsigned arg, uint64_t *ret_number)
{
	return link_figure(c, scope, arg, forget_link_errors, ret_number);
}

/* CRC errors of both kinds; older links do not count them separately. */
static uint64_t count_crc_errors(const struct call *c, unsigned link,
				 unsigned what)
{
	(void)what;
	return count_link_errors(c, link, GKF_LINK_CRC_FLIT) +
	       count_link_errors(c, link, GKF_LINK_CRC_DATA);
}

nvmlReturn_t field_link_crc(const struct call *c, unsigned scope, unsigned arg,
			    uint64_t *ret_number)
{
	return link_figure(c, scope, arg, count_crc_errors, ret_number);
}

static uint64_t count_link_bytes(const struct call *c, unsigned link,
				 unsigned what)
{
	return gkf_link_bytes(c->machine, c->index, link, (enum gkf_way)what);
}

nvmlReturn_t field_link_kib(const struct call *c, unsigned scope, unsigned arg,
			    uint64_t *ret_number)
{
	nvmlReturn_t r =
	    link_figure(c, scope, arg, count_link_bytes, ret_number);

	if (!r)
		*ret_number /= 1024;
	return r;
}

nvmlReturn_t field_link_raw_kib(const struct call *c, unsigned scope,
				unsigned arg, uint64_t *ret_number)
{
	nvmlReturn_t r =
	    link_figure(c, scope, arg, count_link_bytes, ret_number);

	if (!r)
		*ret_number += *ret_number / PACKET_BYTES * HEADER_BYTES;
	if (!r)
		*ret_number /= 1024;
	return r;
}

/* A configurable traffic counter, as the sum of both directions; 0 if there is
 * none. */
static uint64_t sum_link_counter(const struct call *c, unsigned link,
				 unsigned what)
{
	unsigned long long rx, tx;

	return link_counter_read(c, link, what, &rx, &tx) ? 0 : rx + tx;
}

nvmlReturn_t field_link_counter(const struct call *c, unsigned scope,
				unsigned arg, uint64_t *ret_number)
{
	unsigned long long rx, tx;
	nvmlReturn_t r = link_counter_read(c, 0, FIELD_WHAT(arg), &rx, &tx);

	return r ? r : link_figure(c, scope, arg, sum_link_counter, ret_number);
}

/* Packet counters came with NVLink 5. */
#define COUNTING_VERSION 5

nvmlReturn_t field_link_bytes(const struct call *c, unsigned scope,
			      unsigned arg, uint64_t *ret_number)
{
	if (c->board->profile.nvlink_version < COUNTING_VERSION)
		return NVML_ERROR_NOT_SUPPORTED;
	return link_figure(c, scope, arg, count_link_bytes, ret_number);
}

nvmlReturn_t field_link_packets(const struct call *c, unsigned scope,
				unsigned arg, uint64_t *ret_number)
{
	nvmlReturn_t r = field_link_bytes(c, scope, arg, ret_number);

	if (!r)
		*ret_number /= PACKET_BYTES;
	return r;
}

nvmlReturn_t field_link_errors_5(const struct call *c, unsigned scope,
				 unsigned arg, uint64_t *ret_number)
{
	if (c->board->profile.nvlink_version < COUNTING_VERSION)
		return NVML_ERROR_NOT_SUPPORTED;
	return field_link_errors(c, scope, arg, ret_number);
}

nvmlReturn_t field_link_speed(const struct call *c, unsigned scope,
			      unsigned arg, uint64_t *ret_number)
{
	unsigned links = count_links(c), link, speed = 0;
	nvmlReturn_t r;

	if (!means_all(scope, arg)) {
		r = find_link(c, scope, arg, &link);
		if (!r)
			*ret_number = gkf_link_mbps(c->machine, c->index, link);
		return r;
	}
	if (!links)
		return NVML_ERROR_NOT_SUPPORTED;
	/* All links that are up have the same speed. */
	for (unsigned i = 0; i < links && !speed; i++)
		speed = gkf_link_mbps(c->machine, c->index, i);
	*ret_number = speed;
	return NVML_SUCCESS;
}

nvmlReturn_t field_link_state(const struct call *c, unsigned scope,
			      unsigned arg, uint64_t *ret_number)
{
	unsigned link;
	nvmlReturn_t r = find_link(c, scope, arg, &link);

	if (!r)
		*ret_number = gkf_link_state(c->machine, c->index, link);
	return r;
}

/* The state of a link; NOT_SUPPORTED if it is down. */
static nvmlReturn_t state_if_up(const struct call *c, unsigned scope,
				unsigned arg, uint64_t *ret_state)
{
	nvmlReturn_t r = field_link_state(c, scope, arg, ret_state);

	return !r && *ret_state == GKF_LINK_DOWN ? NVML_ERROR_NOT_SUPPORTED : r;
}

/* A link that is up either sleeps or runs at full speed. */
nvmlReturn_t field_link_power(const struct call *c, unsigned scope,
			      unsigned arg, uint64_t *ret_number)
{
	uint64_t state;
	nvmlReturn_t r = state_if_up(c, scope, arg, &state);

	if (r)
		return r;
	*ret_number = state == GKF_LINK_SLEEP
			  ? NVML_NVLINK_POWER_STATE_LOW
			  : NVML_NVLINK_POWER_STATE_HIGH_SPEED;
	return NVML_SUCCESS;
}

nvmlReturn_t field_link_version(const struct call *c, unsigned scope,
				unsigned arg, uint64_t *ret_number)
{
	unsigned link;
	nvmlReturn_t r = find_link(c, scope, arg, &link);

	if (!r)
		*ret_number = gkf_link_version(c->machine, c->index);
	return r;
}

nvmlReturn_t field_link_remote(const struct call *c, unsigned scope,
			       unsigned arg, uint64_t *ret_number)
{
	uint64_t state;
	nvmlReturn_t r = state_if_up(c, scope, arg, &state);

	if (r)
		return r;
	*ret_number = gkf_link_end(c->machine, c->index, scope).link;
	return NVML_SUCCESS;
}

nvmlReturn_t field_link_switches(const struct call *c, unsigned scope,
				 unsigned arg, uint64_t *ret_number)
{
	unsigned links = count_links(c), found = 0;

	(void)scope;
	(void)arg;
	if (!links)
		return NVML_ERROR_NOT_SUPPORTED;
	for (unsigned i = 0; i < links; i++)
		found +=
		    gkf_link_end(c->machine, c->index, i).kind ==
			GKF_END_SWITCH &&
		    gkf_link_state(c->machine, c->index, i) != GKF_LINK_DOWN;
	*ret_number = found;
	return NVML_SUCCESS;
}

/* Links that can sleep came with NVLink 4. */
#define SLEEPING_VERSION 4

nvmlReturn_t field_link_threshold(const struct call *c, unsigned scope,
				  unsigned arg, uint64_t *ret_number)
{
	unsigned units = gkf_link_threshold(c->machine, c->index);

	(void)scope;
	(void)arg;
	if (c->board->profile.nvlink_version < SLEEPING_VERSION)
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_number = units ? units : NVML_NVLINK_LOW_POWER_THRESHOLD_DEFAULT;
	return NVML_SUCCESS;
}

nvmlReturn_t field_link_threshold_fact(const struct call *c, unsigned scope,
				       unsigned arg, uint64_t *ret_number)
{
	(void)scope;
	if (c->board->profile.nvlink_version < SLEEPING_VERSION)
		return NVML_ERROR_NOT_SUPPORTED;
	*ret_number = arg;
	return NVML_SUCCESS;
}

nvmlReturn_t field_link_sleeps(const struct call *c, unsigned scope,
			       unsigned arg, uint64_t *ret_number)
{
	(void)scope;
	(void)arg;
	*ret_number = c->board->profile.nvlink_version >= SLEEPING_VERSION;
	return NVML_SUCCESS;
}

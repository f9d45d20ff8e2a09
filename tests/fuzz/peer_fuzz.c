/* SPDX-License-Identifier: Apache-2.0 */
/* peer_fuzz.c - decodes what a peer of `gpukit web` sends, with any bytes. */
#include "fuzz.h"

#include "web/hub.h"
#include "web/sse.h"

static struct gk_hub *hub;

static void wake(void *owner)
{
	(void)owner;
}

static void take(void *owner, const char *kind, const char *data, size_t len)
{
	(void)owner;
	gk_hub_take(hub, 1, gk_event_kind(kind), data, len);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const names[] = {"own", "peer"};
	struct gk_sse sse = {0};
	struct gk_stream *stream;
	char text[1024];

	hub = gk_hub_new(names, 2, wake, NULL);
	if (!hub)
		return 0;
	gk_sse_feed(&sse, (const char *)data, size, take, NULL);
	gk_hub_tell_hosts(hub);
	stream = gk_hub_look(hub, "peer", sse.id);
	while (stream && gk_stream_read(stream, text, sizeof text) > 0)
		;
	if (stream)
		gk_stream_end(stream);
	gk_sse_free(&sse);
	gk_hub_free(hub);
	return 0;
}

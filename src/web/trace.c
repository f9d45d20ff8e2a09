/* SPDX-License-Identifier: Apache-2.0 */
/* trace.c - finds the history of a device. */
#include "web/host.h"

#include <string.h>

struct gk_web_trace *gk_web_trace_of(const struct gk_web_host *h,
				     const char *uuid)
{
	for (size_t i = 0; i < h->trace_count; i++)
		if (!strcmp(h->traces[i].uuid, uuid))
			return &h->traces[i];
	return NULL;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.h - how many bytes the host's network interfaces and disks have
 * transferred, and how full its file systems are.
 */
#ifndef GK_EXPORT_FLOWS_H
#define GK_EXPORT_FLOWS_H

#include "format/prometheus/prometheus.h"

/*
 * Reads /proc/net/dev, /proc/diskstats, /proc/self/mounts, and the sizes of
 * local file systems (asking for those of remote ones could hang). Lists that
 * cannot be read stay empty. Zero *flows before the first call, and call
 * gk_flows_free() at the end; each further call reads everything again.
 */
void gk_flows_read(struct gk_host_flows *flows);
void gk_flows_free(struct gk_host_flows *flows);

#endif

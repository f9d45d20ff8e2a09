/*
 * flows.h - what interfaces and disks of the host have carried, and how full
 * its file systems are.
 */
#ifndef GK_EXPORT_FLOWS_H
#define GK_EXPORT_FLOWS_H

#include "format/prometheus.h"

/*
 * Reads /proc/net/dev, /proc/diskstats, /proc/self/mounts and the file systems
 * on local disks (others could hang). What cannot be read is empty. Zero
 * *flows before the first call; call again to read anew; free at the end.
 */
void gk_flows_read(struct gk_host_flows *flows);
void gk_flows_free(struct gk_host_flows *flows);

#endif

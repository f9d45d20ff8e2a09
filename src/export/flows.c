/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flows.c - reads the counters of network interfaces and disks, and the sizes
 * of file systems.
 */
#include "export/flows.h"

#include "base/str.h"

#include <inttypes.h>
#include <mntent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

/* The size of a sector in /proc/diskstats in bytes. It does not depend on the
 * disk. */
#define SECTOR 512
#define MOST   256 /* maximum number of entries of each kind */

/* Adds an entry to the list and returns it, or NULL when out of memory. */
static void *make_flow(void **list, size_t *count, size_t size)
{
	void *grown;

	if (*count >= MOST)
		return NULL;
	grown = realloc(*list, (*count + 1) * size);
	if (!grown)
		return NULL;
	*list = grown;
	grown = (char *)grown + *count * size;
	memset(grown, 0, size);
	(*count)++;
	return grown;
}

static struct gk_host_flow *more_flow(struct gk_host_flow **list, size_t *count)
{
	void *any = *list;
	struct gk_host_flow *flow = make_flow(&any, count, sizeof **list);

	*list = any;
	return flow;
}

static void read_interfaces(struct gk_host_flows *flows)
{
	FILE *f = fopen("/proc/net/dev", "re");
	char line[512];

	while (f && fgets(line, sizeof line, f)) {
		char *colon = strchr(line, ':');
		struct gk_host_flow one = {0}, *flow;
		int skipped = (int)strspn(line, " ");

		if (!colon)
			continue;
		*colon = '\0';
		if (sscanf(colon + 1,
			   "%" SCNu64 " %" SCNu64 " %*u %*u %*u %*u %*u %*u "
			   "%" SCNu64 " %" SCNu64,
			   &one.in, &one.packets_in, &one.out,
			   &one.packets_out) != 4)
			continue;
		flow = more_flow(&flows->interfaces, &flows->interface_count);
		if (!flow)
			break;
		*flow = one;
		gk_str_copy(flow->name, sizeof flow->name, line + skipped);
	}
	if (f)
		fclose(f);
}

static void read_disks(struct gk_host_flows *flows)
{
	FILE *f = fopen("/proc/diskstats", "re");
	char line[512], name[64];

	while (f && fgets(line, sizeof line, f)) {
		struct gk_host_flow *flow;
		uint64_t in, out;

		if (sscanf(line,
			   "%*u %*u %63s %*u %*u %" SCNu64
			   " %*u %*u %*u %" SCNu64,
			   name, &in, &out) != 3)
			continue;
		flow = more_flow(&flows->disks, &flows->disk_count);
		if (!flow)
			break;
		gk_str_copy(flow->name, sizeof flow->name, name);
		flow->in = in * SECTOR;
		flow->out = out * SECTOR;
	}
	if (f)
		fclose(f);
}

static bool is_known_path(const struct gk_host_flows *flows, const char *path)
{
	for (size_t i = 0; i < flows->mount_count; i++)
		if (!strcmp(flows->mounts[i].path, path))
			return true;
	return false;
}

static void note_mount(struct gk_host_flows *flows, const char *path)
{
	void *any = flows->mounts;
	struct gk_host_mount *mount;
	struct statvfs fs;
	uint64_t block;

	if (is_known_path(flows, path) || statvfs(path, &fs))
		return;
	mount = make_flow(&any, &flows->mount_count, sizeof *mount);
	flows->mounts = any;
	if (!mount)
		return;
	block = fs.f_frsize;
	gk_str_copy(mount->path, sizeof mount->path, path);
	mount->total = fs.f_blocks * block;
	mount->used = (fs.f_blocks - fs.f_bfree) * block;
	mount->free = fs.f_bavail * block;
}

static void read_mounts(struct gk_host_flows *flows)
{
	FILE *f = setmntent("/proc/self/mounts", "re");
	struct mntent entry;
	char text[2048];

	while (f && getmntent_r(f, &entry, text, sizeof text))
		if (!strncmp(entry.mnt_fsname, "/dev/", 5))
			note_mount(flows, entry.mnt_dir);
	if (f)
		endmntent(f);
}

void gk_flows_read(struct gk_host_flows *flows)
{
	flows->interface_count = flows->disk_count = flows->mount_count = 0;
	read_interfaces(flows);
	read_disks(flows);
	read_mounts(flows);
}

void gk_flows_free(struct gk_host_flows *flows)
{
	free(flows->interfaces);
	free(flows->disks);
	free(flows->mounts);
	*flows = (struct gk_host_flows){0};
}

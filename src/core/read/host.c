/* SPDX-License-Identifier: Apache-2.0 */
/* host.c - reads the load, memory and uptime of the host; see proc(5). */
#include "core/read/host.h"
#include "base/array.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/units.h"
#include "core/read/gate.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct gk_value hidden = {.why = GK_ABSENT_HIDDEN};

/* The "cpu" line: user nice system idle iowait irq softirq steal. */
enum { IDLE = 3, IOWAIT = 4, TIMES = 8 };

static struct gk_value host_cpu_share(const char *stat,
				      struct gk_host_before *before)
{
	uint64_t total = 0, busy, time[TIMES] = {0};
	struct gk_value share = {.why = GK_ABSENT_ONE_SNAPSHOT};
	const char *p = stat + strcspn(stat, " ");

	for (int i = 0; i < TIMES; i++) {
		char *end;

		time[i] = strtoull(p, &end, 10);
		p = end;
		total += time[i];
	}
	busy = total - time[IDLE] - time[IOWAIT];
	if (before->known && total > before->total && busy >= before->busy) {
		uint64_t of = total - before->total, part = busy - before->busy;

		/* Limit the share to 100 %: the kernel's I/O wait time may
		 * decrease, see proc(5). */
		share = (struct gk_value){
		    .v = (int64_t)((part < of ? part : of) * 10000 / of)};
	}
	*before = (struct gk_host_before){busy, total, true};
	return share;
}

static void read_host_stat(int proc, struct gk_host_before *before,
			   struct gk_host *host)
{
	/* Only the first line is needed. The rest has a line for each core. */
	char buf[512];

	host->cpu_centipercent = hidden;
	if (gk_read_at(proc, "stat", buf, sizeof buf) > 4 &&
	    !strncmp(buf, "cpu ", 4))
		host->cpu_centipercent = host_cpu_share(buf, before);
}

/*
 * Parses a number with two digits after a point, in any locale: "0.52" becomes
 * 52. Moves *at past it. Returns a negative value if there is no such number.
 */
static int64_t take_centi(char **at)
{
	char *end;
	uint64_t whole = strtoull(*at, &end, 10);

	if (end == *at || *end != '.' || !isdigit((unsigned char)end[1]) ||
	    !isdigit((unsigned char)end[2]))
		return -1;
	*at = end + 3 + strspn(end + 3, "0123456789");
	if (whole > INT32_MAX)
		return GK_TOLD_TOO_LARGE;
	return (int64_t)whole * 100 + (end[1] - '0') * 10 + (end[2] - '0');
}

static void read_load_average(int proc, struct gk_host *host)
{
	char buf[128], *p = buf;

	if (gk_read_at(proc, "loadavg", buf, sizeof buf) <= 0)
		buf[0] = '\0';
	for (size_t i = 0; i < COUNT(host->load_centi); i++) {
		int64_t load = take_centi(&p);

		host->load_centi[i] =
		    load < 0 ? hidden : (struct gk_value){.v = load};
	}
}

static void read_meminfo(int proc, struct gk_host *host)
{
	const struct {
		const char *key;
		struct gk_value *value;
	} wanted[] = {
	    {"MemTotal:", &host->mem_total},
	    {"MemAvailable:", &host->mem_available},
	    {"SwapTotal:", &host->swap_total},
	    {"SwapFree:", &host->swap_free},
	};
	char buf[4096];
	bool known = gk_read_at(proc, "meminfo", buf, sizeof buf) > 0;

	for (size_t i = 0; i < COUNT(wanted); i++) {
		const char *at = known ? strstr(buf, wanted[i].key) : NULL;

		*wanted[i].value = hidden;
		if (!at)
			continue;
		at += strlen(wanted[i].key);
		at += strspn(at, " ");
		if (!isdigit((unsigned char)*at))
			continue;
		*wanted[i].value = (struct gk_value){
		    .v = gk_scaled_unsigned(strtoull(at, NULL, 10), KIB)};
	}
}

bool gk_host_memory(int64_t *ret_total, int64_t *ret_available)
{
	int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct gk_host host = {0};

	read_meminfo(proc, &host);
	if (proc >= 0)
		close(proc);
	if (host.mem_total.why || host.mem_available.why)
		return false;
	*ret_total = host.mem_total.v;
	*ret_available = host.mem_available.v;
	return true;
}

void gk_host_name(struct gk_host *host)
{
	if (gethostname(host->hostname, sizeof host->hostname) < 0)
		host->hostname[0] = '\0';
	host->hostname[sizeof host->hostname - 1] = '\0';
}

void gk_host_pass(struct gk_host *host)
{
	const struct gk_value unread = {.why = GK_ABSENT_NOT_READ};

	host->boot_ns = gk_boot_ns();
	host->cpus = 1;
	host->cpu_centipercent = unread;
	for (int i = 0; i < 3; i++)
		host->load_centi[i] = unread;
	host->mem_total = host->mem_available = unread;
	host->swap_total = host->swap_free = unread;
}

void gk_host_read(int proc, struct gk_host_before *before, struct gk_host *host)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	host->boot_ns = gk_boot_ns();
	host->cpus = cpus > 0 ? (unsigned)cpus : 1;
	read_host_stat(proc, before, host);
	read_load_average(proc, host);
	read_meminfo(proc, host);
}

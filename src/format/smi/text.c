/* SPDX-License-Identifier: Apache-2.0 */
/* text.c - formats times and processes as nvidia-smi does. */
#include "format/smi/value.h"

#include "base/clock.h"
#include "format/width.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void gk_smi_time(char *dst, uint64_t wall_ns)
{
	time_t s = (time_t)(wall_ns / GK_NS_PER_S);
	char date[24];
	struct tm tm;

	localtime_r(&s, &tm);
	strftime(date, sizeof date, "%Y/%m/%d %H:%M:%S", &tm);
	snprintf(dst, 32, "%s.%03u", date,
		 (unsigned)(wall_ns / GK_NS_PER_MS % 1000));
}

void gk_smi_date(char *dst, uint64_t wall_ns)
{
	time_t s = (time_t)(wall_ns / GK_NS_PER_S);
	struct tm tm;

	localtime_r(&s, &tm);
	strftime(dst, 32, "%a %b %e %H:%M:%S %Y", &tm);
}

void gk_smi_process_name(struct gk_buf *out, const struct gk_process *process)
{
	size_t len =
	    strnlen(process->args ? process->args : "", process->args_len);

	if (len)
		gk_add_clean(out, process->args, len);
	else if (*process->name)
		gk_add_clean(out, process->name, strlen(process->name));
	else
		gk_buf_puts(out, process->state == GK_PROCESS_GONE
				     ? "[Not Found]"
				     : "[Insufficient Permissions]");
}

const char *gk_smi_process_type(const struct gk_process *process)
{
	static const char *const letters[8] = {"",  "C",   "G",   "C+G",
					       "M", "M+C", "M+G", "M+C+G"};

	return letters[process->types & 7];
}

void gk_smi_add_absent(struct gk_buf *out, const struct gk_smi_absent **absent,
		       unsigned before)
{
	for (; (*absent)->line && (*absent)->index < before; ++*absent)
		gk_buf_printf(out, "%s\n", (*absent)->line);
}

unsigned gk_smi_gpus(const struct gk_snapshot *snap)
{
	unsigned count = 0;

	for (size_t i = 0; i < snap->device_count; i++)
		count += snap->devices[i].mig_index < 0;
	return count;
}

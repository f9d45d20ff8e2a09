/* SPDX-License-Identifier: Apache-2.0 */
/* monitor.c - shows GPUs and processes every second: cc monitor.c -lgpukit */
#include <gpukit/gpukit.h>
#include <stdio.h>

static void print_value(struct gk_value value, int64_t scale, const char *unit)
{
	if (value.why)
		printf("  %s", gk_absence_text(value.why));
	else
		printf("  %lld %s", (long long)(value.v / scale), unit);
}

static void print_device(const struct gk_device *d)
{
	printf("%u%s %s", d->index, d->mig_index < 0 ? "" : " MIG", d->name);
	print_value(d->m[GK_M_GPU_UTIL], 1, "%");
	print_value(d->m[GK_M_MEM_USED], 1 << 20, "MiB");
	print_value(d->m[GK_M_POWER], 1000, "W");
	puts("");
}

int main(void)
{
	struct gk_snapshot *snap;
	struct gk *gk = NULL;
	int r = gk_open(NULL, NULL, &gk);

	if (!r)
		r = gk_watch_start(gk, 1000000000);
	while (!r && !(r = gk_watch_next(gk, &snap))) {
		for (size_t i = 0; i < snap->device_count; i++)
			print_device(&snap->devices[i]);
		for (size_t i = 0; i < snap->process_count; i++)
			printf("  %s\n", snap->processes[i].command);
		gk_snapshot_free(snap);
	}
	fprintf(stderr, "monitor: %s\n", gk_strerror(r));
	gk_close(gk);
	return 1;
}

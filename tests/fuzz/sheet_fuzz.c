/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sheet_fuzz.c - reads rows of a recording, as CSV or JSON lines, with any
 * content.
 */
#include "fuzz.h"

#include "plot/chart.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void read_rows(struct gk_csv *csv, struct gk_plot_sheet *sheet,
		      struct gk_plot_chart *chart)
{
	struct gk_plot_row row;
	struct gk_csv_row raw;
	int r;

	while ((r = gk_csv_next(csv, &raw)) != GK_ERR_NOT_FOUND) {
		if (r || gk_plot_read(sheet, &raw, &row))
			continue;
		if (gk_plot_row_has(&row, GK_PLOT_BUSY) &&
		    !(row.value[GK_PLOT_BUSY] >= 0 &&
		      row.value[GK_PLOT_BUSY] <= 100))
			abort();
		gk_plot_chart_add(chart, &row);
	}
	gk_plot_chart_end(chart);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("sheet", MFD_CLOEXEC);
	struct gk_plot_chart chart;
	struct gk_plot_sheet sheet;
	struct gk_csv_row raw;
	struct gk_csv *csv;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size ||
	    lseek(fd, 0, SEEK_SET) || gk_csv_open(fd, &csv) ||
	    gk_plot_chart_init(&chart))
		abort();
	gk_plot_chart_begin(&chart, "sheet");
	if (!gk_csv_next(csv, &raw) &&
	    gk_plot_header(&raw, &chart.asked, &sheet))
		read_rows(csv, &sheet, &chart);
	gk_plot_chart_free(&chart);
	gk_csv_close(csv);
	close(fd);
	return 0;
}

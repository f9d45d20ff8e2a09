/* SPDX-License-Identifier: Apache-2.0 */
/* value.c - formats values, and chooses the columns that fit. */
#include "tui/model/value.h"

#include "base/assert.h"
#include "base/round.h"
#include "format/bar.h"

#include <inttypes.h>
#include <stdio.h>

/* Units that are written as a number and a suffix. */
static const struct {
	double divisor;
	int decimals;
	const char *suffix;
} scales[] = {
    [GK_UNIT_NONE] = {1, 0, ""},
    [GK_UNIT_PERCENT] = {1, 0, "%"},
    [GK_UNIT_CENTIPERCENT] = {100, 1, "%"},
    [GK_UNIT_MILLIWATT] = {1000, 0, "W"},
    [GK_UNIT_MILLIJOULE] = {3.6e6, 1, "Wh"},
    [GK_UNIT_CELSIUS] = {1, 0, "C"},
    [GK_UNIT_HERTZ] = {1e6, 0, "MHz"},
};

char *tui_value(char *dst, struct gk_value value, enum gk_unit unit)
{
	if (value.why != GK_PRESENT)
		snprintf(dst, GK_UNITS_MAX, "N/A");
	else if (unit == GK_UNIT_BYTES)
		gk_human_size(dst, value.v);
	else if (unit == GK_UNIT_NANOSECOND)
		gk_human_time(dst, value.v, 4);
	else
		snprintf(dst, GK_UNITS_MAX, "%.*f%s", scales[unit].decimals,
			 gk_half_up((double)value.v / scales[unit].divisor),
			 scales[unit].suffix);
	return dst;
}

char *tui_share(char *dst, struct gk_value centipercent)
{
	if (centipercent.why != GK_PRESENT)
		snprintf(dst, GK_UNITS_MAX, "N/A");
	else if (centipercent.v >= 999950)
		snprintf(dst, GK_UNITS_MAX, "9999+");
	else
		snprintf(dst, GK_UNITS_MAX, "%.*f",
			 centipercent.v >= 99995 ? 0 : 1,
			 gk_half_up((double)centipercent.v / 100));
	return dst;
}

struct gk_value tui_part(struct gk_value part, struct gk_value whole)
{
	struct gk_value tenths = gk_tenths(part, whole);

	tenths.v *= 10;
	return tenths;
}

int tui_columns_width(const struct tui_column *columns, int count,
		      unsigned shown)
{
	int width = 0;

	for (int i = 0; i < count; i++)
		if (shown >> i & 1)
			width += columns[i].width + 1;
	return width;
}

unsigned tui_columns_fit(const struct tui_column *columns, int count, int width,
			 int rest)
{
	unsigned shown;

	GK_ASSERT(count <= TUI_COLUMNS_MAX);
	shown = (1U << count) - 1;
	while (tui_columns_width(columns, count, shown) + rest > width) {
		int first = -1;

		for (int i = 0; i < count; i++)
			if (shown >> i & 1 && columns[i].keep &&
			    (first < 0 ||
			     columns[i].keep < columns[first].keep))
				first = i;
		if (first < 0)
			break;
		shown &= ~(1U << first);
	}
	return shown;
}

void tui_column_add(struct gk_buf *out, const struct tui_column *column,
		    const char *text)
{
	gk_cell(out, text, (size_t)column->width, column->align, "+");
	gk_buf_putc(out, ' ');
}

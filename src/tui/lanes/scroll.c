/* SPDX-License-Identifier: Apache-2.0 */
/* scroll.c - shows which part of a list is visible. */
#include "tui/lanes/part.h"

#include "tui/model/model.h"

#include <stdio.h>

void lanes_range_text(int first, int rows, int all, char *dst, size_t cap)
{
	int end = first + rows > all ? all : first + rows;

	*dst = '\0';
	if (all <= 0 || end <= first)
		return;
	snprintf(dst, cap, " %d–%d of %d%s%s ", first + 1, end, all,
		 first || end < all ? " " : "",
		 first && end < all ? "▲▼"
		 : first            ? "▲"
		 : end < all        ? "▼"
				    : "");
}

void lanes_scroll_bar(const struct tui *t, struct grid *g, int row, int rows,
		      int all)
{
	int length, first;

	if (all <= rows || rows < 1)
		return;
	length = rows * rows / all;
	length = length < 1 ? 1 : length;
	first = t->scroll * (rows - length) / (all - rows);
	for (int i = 0; i < rows; i++) {
		bool thumb = i >= first && i < first + length;
		wchar_t track = lanes_is_ascii(t) ? L':' : L'│';

		lanes_fill(g, row + i, g->columns - 1, 1, thumb ? L'┃' : track,
			   lanes_ink(t, thumb ? INK_DIM : INK_FAINT));
	}
}

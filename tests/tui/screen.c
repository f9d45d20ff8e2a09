/* SPDX-License-Identifier: Apache-2.0 */
/* screen.c - a viewer without a terminal; see screen.h. */
#include "tui/screen.h"

#include "format/width.h"
#include "tui/screen/layer.h"
#include "tui/views/view.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

void screen_begin(struct screen *s, int rows, int columns)
{
	memset(s, 0, sizeof *s);
	fixture_everything(&s->f);
	s->t.snap = &s->f.snap;
	s->t.views = tui_views;
	s->t.keymap = tui_keymap_new(false);
	s->t.history = gk_history_new(64);
	s->t.uid = 1000;
	s->t.user = "ana";
	s->t.options.look = LOOK_NVITOP;
	s->t.options.boxed = (struct gk_boxed_options){
	    .color = true, .processes = true, .uid = 1000, .user = "ana"};
	screen_resize(s, rows, columns);
	tui_list_update(&s->t);
}

void screen_end(struct screen *s)
{
	while (tui_back(&s->t))
		;
	free(s->t.tree.closed);
	tui_dialog_close(&s->t);
	tui_signal_free(&s->t);
	tui_words_free(&s->t.words);
	tui_keymap_free(s->t.keymap);
	gk_history_free(s->t.history);
	grid_free(&s->g);
	free(s->t.list);
	free(s->t.tags);
}

void screen_resize(struct screen *s, int rows, int columns)
{
	s->t.rows = rows;
	s->t.columns = columns;
	assert_true(grid_resize(&s->g, rows, columns));
}

void screen_press(struct screen *s, const char *keys)
{
	while (*keys) {
		size_t len = strcspn(keys, " ");
		tui_key key = tui_key_parse(keys, len);

		if (key == TUI_KEY_NONE)
			fail_msg("no key: %s", keys);
		tui_key_pressed(&s->t, key);
		keys += len;
		keys += strspn(keys, " ");
	}
}

void screen_type(struct screen *s, const char *text)
{
	mbstate_t state = {0};
	wchar_t c;
	size_t n;

	while ((n = mbrtowc(&c, text, MB_LEN_MAX, &state)) > 0) {
		tui_key_pressed(&s->t, (tui_key)c);
		text += n;
	}
}

void screen_draw(struct screen *s)
{
	tui_draw(&s->t, &s->g);
	tui_layer_draw(&s->t, &s->g);
}

void screen_row(const struct screen *s, int row, struct gk_buf *out)
{
	size_t start = out->len;

	for (int c = 0; c < s->g.columns; c++) {
		char bytes[MB_LEN_MAX];
		mbstate_t state = {0};
		wchar_t wide = grid_at(&s->g, row, c)->c;

		if (wide)
			gk_buf_add(out, bytes, wcrtomb(bytes, wide, &state));
	}
	while (out->len > start && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
}

int screen_find(const struct screen *s, const char *text, int *ret_column)
{
	int found = -1;

	for (int row = 0; found < 0 && row < s->g.rows; row++) {
		struct gk_buf line = {0};
		const char *at;

		screen_row(s, row, &line);
		at = line.len ? strstr(line.data, text) : NULL;
		if (at)
			found = row;
		if (at && ret_column)
			*ret_column = (int)gk_columns(line.data,
						      (size_t)(at - line.data));
		gk_buf_free(&line);
	}
	return found;
}

void assert_grid(const struct screen *s, const char *name)
{
	struct gk_buf out = {0};

	for (int row = 0; row < s->g.rows; row++) {
		screen_row(s, row, &out);
		gk_buf_putc(&out, '\n');
	}
	assert_golden(&out, name);
}

void assert_screen(struct screen *s, const char *name)
{
	screen_draw(s);
	assert_grid(s, name);
}

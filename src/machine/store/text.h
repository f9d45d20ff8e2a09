/*
 * text.h - texts in the machine file that change while others read.
 */
#ifndef GKF_TEXT_H
#define GKF_TEXT_H

#include "base/export.h"
#include "machine/file/system_state.h"

struct gkf_machine;

/* Writes the text and a NUL; "" at first. */
GKF_API void gkf_text_read(const struct gkf_text *text,
			   char ret_text[GKF_TEXT_MAX]);

/* GK_ERR_RANGE when it is too long, or what gkf_lock() says. */
GKF_API int gkf_text_write(struct gkf_machine *m, struct gkf_text *text,
			   const char *to);

#endif

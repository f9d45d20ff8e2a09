/* SPDX-License-Identifier: Apache-2.0 */
/*
 * term_part.h - declares those functions of term_key.c, which reads input, that
 * term.c calls.
 */
#ifndef GK_TUI_TERM_PART_H
#define GK_TUI_TERM_PART_H

#include <stdbool.h>

/* Defines our keys and enables bracketed paste. Call it after newterm(). */
void term_listen(void);

/*
 * Enable or disable mouse events, and bracketed paste if it is supported.
 * term_tells_pastes() returns whether bracketed paste is supported.
 */
void term_tell_mouse(bool on);
void term_tell_pastes(bool on);
bool term_tells_pastes(void);

/* Queries the background colour once. Does not wait for the answer. */
void term_ask_ground(void);

/* Waits for an expected answer, up to 250 ms after the query. */
void term_await_answer(void);

#endif

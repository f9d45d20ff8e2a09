/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lanes_machines.h - machines of the look "lanes" as its tests show them, each
 * on a screen of its size. End each with screen_end(&s).
 */
#ifndef TESTS_TUI_LANES_MACHINES_H
#define TESTS_TUI_LANES_MACHINES_H

#include "base/units.h"
#include "tui/lanes/state.h"
#include "tui/screen.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define SECOND_NS 1000000000ULL

extern struct screen s;
extern struct tui_alerts alerts;

void set(size_t device, enum gk_metric metric, int64_t value);
void work(size_t device, int busy, int gib, int watts, int heat);
/* Lost with an Xid this many seconds ago; lose(): 163. */
void lose_since(size_t device, unsigned seconds);
void lose(size_t device);
void remember(void);
void begin(size_t gpus, int rows, int columns);
void eight(int rows, int columns);
void mixed(int rows, int columns);
void alert_of(unsigned gpu, enum tui_alert_kind kind, int64_t value,
	      int64_t limit);
void one(int rows, int columns);
void two(int rows, int columns);

#endif

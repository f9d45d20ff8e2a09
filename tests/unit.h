/*
 * unit.h - cmocka with what it wants included before it.
 */
#ifndef TESTS_UNIT_H
#define TESTS_UNIT_H

#include "base/array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#endif

/* SPDX-License-Identifier: Apache-2.0 */
/* checks.c - owns the table of checks. */
#include "cli/doctor/doctor.h"

const struct gk_doctor_check gk_doctor_checks[CHECK_COUNT] = {
#define CHECK(id, title) {#id, title, gk_doctor_look_##id},
#include "cli/doctor/checks.def"
#undef CHECK
};

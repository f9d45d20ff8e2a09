/* SPDX-License-Identifier: Apache-2.0 */
/* value_show.h - how the functions that format values begin. */
#ifndef GK_FORMAT_SMI_VALUE_SHOW_H
#define GK_FORMAT_SMI_VALUE_SHOW_H

/*
 * SHOW begins a function that tables refer to. TAKE_VALUE declares v, the
 * number of the metric `what`. If the metric is absent, TAKE_VALUE leaves the
 * function, which returns the reason.
 */
#define SHOW(name)                                                             \
	enum gk_absence gk_smi_##name(                                         \
	    __attribute__((unused)) struct gk_buf *out,                        \
	    __attribute__((unused)) const struct gk_smi_at *at,                \
	    __attribute__((unused)) int what,                                  \
	    __attribute__((unused)) int64_t arg)
#define TAKE_VALUE                                                             \
	const struct gk_value value_ = at->device->m[what];                    \
	const int64_t v = value_.v;                                            \
                                                                               \
	if (value_.why)                                                        \
	return value_.why

#endif

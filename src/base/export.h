/* SPDX-License-Identifier: Apache-2.0 */
/*
 * export.h - marks the symbols that a shared library exports; all others are
 * hidden.
 */
#ifndef GK_EXPORT_H
#define GK_EXPORT_H

/* Functions and tables that libgpukit-fake.so exports to the fronts. */
#define GKF_API __attribute__((visibility("default")))

#endif

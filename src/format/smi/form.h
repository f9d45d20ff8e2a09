/* SPDX-License-Identifier: Apache-2.0 */
/*
 * form.h - which form of nvidia-smi's output a driver has. A row of a table
 * gives the first and the last driver that shows it; all other differences
 * between generations are in struct gk_smi_form.
 */
#ifndef GK_FORMAT_SMI_FORM_H
#define GK_FORMAT_SMI_FORM_H

#include <gpukit/gpukit.h>

#include <stdbool.h>
#include <stdint.h>

/*
 * In tables, a driver is its major version (535) or, where a branch changed,
 * also its minor version (535161 is 535.161). SINCE() and UNTIL() include the
 * driver that they name; UNTIL(535) means all of 535. ALSO(580173) adds, to a
 * row of newer drivers, the drivers of one older branch from this version on.
 * The three can be joined by |, also with conditions that a table defines
 * itself, from GK_SMI_OWN_BIT on.
 */
typedef uint64_t gk_smi_when;

enum { GK_SMI_UNTIL_BIT = 20, GK_SMI_ALSO_BIT = 40, GK_SMI_OWN_BIT = 60 };
#define SINCE(driver) ((gk_smi_when)GK_SMI_LEVEL(driver, 0))
#define UNTIL(driver)                                                          \
	((gk_smi_when)GK_SMI_LEVEL(driver, 999) << GK_SMI_UNTIL_BIT)
#define ALSO(driver) ((gk_smi_when)GK_SMI_LEVEL(driver, 0) << GK_SMI_ALSO_BIT)
#define GK_SMI_LEVEL(driver, minor)                                            \
	((driver) < 1000 ? (driver)*1000u + (minor) : (driver)*1u)

/* Whether a row is shown with a driver of this level. */
bool gk_smi_fits(gk_smi_when when, unsigned level);

/*
 * Returns the driver's version as a comparable number: 535054 for 535.54.03. An
 * unknown version counts as 590.
 */
unsigned gk_smi_level(const struct gk_snapshot *snap);

/* The differences between generations that are not rows of a table. */
struct gk_smi_form {
	unsigned since; /* the first driver with this form, as a level */
	int dtd;        /* the version of the document type of -q -x */
	int key;        /* the column of the colons of -q */
	/* memory in MiB is rounded up; older drivers truncate it */
	bool rounds_up;
};

/* Returns the form of a driver of this level. */
const struct gk_smi_form *gk_smi_form(unsigned level);

#endif

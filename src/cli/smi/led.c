/* SPDX-License-Identifier: Apache-2.0 */
/* led.c - sets the LEDs of units, each of which holds several GPUs. */
#include "base/array.h"
#include "cli/smi/direct.h"
#include "cli/smi/gpus.h"

#include <stdio.h>

/* Indexed by nvmlLedColor_t. */
static const char *const colors[] = {"GREEN", "AMBER"};

/* Returns the number of a colour, or -1. */
static int find_color(const char *text)
{
	for (int i = 0; i < (int)COUNT(colors); i++)
		if (!strcasecmp(text, colors[i]) ||
		    (text[0] == '0' + i && !text[1]))
			return i;
	return -1;
}

static nvmlReturn_t set_led(const struct smi_gpus *driver, unsigned index,
			    nvmlLedColor_t color)
{
	nvmlUnit_t unit;
	nvmlReturn_t r =
	    SMI_NVML(driver, nvmlUnitGetHandleByIndex, index, &unit);

	if (!r)
		r = SMI_NVML(driver, nvmlUnitSetLedState, unit, color);
	if (r)
		printf("Unable to set the LED of unit %u: %s\n", index,
		       smi_error_text(driver, r));
	else
		printf("Set the LED of unit %u to %s.\n", index, colors[color]);
	return r;
}

/* Sets the LEDs of the units that -i names. */
static int set_leds(const struct smi *smi, const struct smi_gpus *driver,
		    nvmlLedColor_t color)
{
	unsigned count = 0, found = 0;

	if (SMI_NVML(driver, nvmlUnitGetCount, &count))
		count = 0;
	for (unsigned i = 0; i < count; i++) {
		nvmlReturn_t r;

		if (smi->ids && !smi_names(smi->ids, i, "", ""))
			continue;
		found++;
		r = set_led(driver, i, color);
		if (r)
			return smi_terminate(smi_status_of(r));
	}
	if (found)
		return smi_all_done();
	puts("No units were found");
	return SMI_NOT_FOUND;
}

int smi_led(const struct smi *smi)
{
	int color = find_color(smi->value), status;
	struct smi_gpus driver;

	if (color < 0)
		return smi_refuse_arguments();
	status = smi_driver_open(&driver);
	if (status)
		return status;
	status = set_leds(smi, &driver, (nvmlLedColor_t)color);
	smi_gpus_close(&driver);
	return status;
}

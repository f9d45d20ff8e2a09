/* SPDX-License-Identifier: Apache-2.0 */
/* module.c - owns the table of modules. */
#include "fronts/nvml/meter/module.h"
#include "machine/file/board.h"

static const struct module_fact facts[] = {
#define MODULE(device, gpus, rest, min, limit, max)                            \
	{device, gpus, rest, min, limit, max},
#include "fronts/nvml/meter/modules.def"
#undef MODULE
};

const struct module_fact *module_of(const struct call *c)
{
	for (size_t i = 0; i < sizeof(facts) / sizeof(*facts); i++)
		if (facts[i].device == c->board->profile.pci_device_id)
			return &facts[i];
	return NULL;
}

bool module_is_in_rack(const struct call *c)
{
	const struct module_fact *module = module_of(c);

	return module && module->gpus > 1;
}

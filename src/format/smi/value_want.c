/* SPDX-License-Identifier: Apache-2.0 */
/* value_want.c - what must be read for a value of nvidia-smi's rows. */
#include "format/smi/value.h"
#include "base/array.h"

bool gk_smi_is_fact(const struct gk_smi_source *source)
{
	return source->show == gk_smi_fact ||
	       source->show == gk_smi_fabric_uuid ||
	       source->show == gk_smi_chassis ||
	       source->show == gk_smi_placed_fact;
}

bool gk_smi_is_board(const struct gk_smi_source *source)
{
	static gk_smi_show *const shows[] = {
	    gk_smi_serial, gk_smi_bus_id, gk_smi_pci,
	    gk_smi_minor,  gk_smi_vbios,  gk_smi_capability,
	};

	for (size_t i = 0; i < COUNT(shows); i++)
		if (source->show == shows[i])
			return true;
	return false;
}

void gk_smi_want(const struct gk_smi_source *source, struct gk_metric_set *set)
{
	gk_smi_show *show = source->show;

	if (source->what >= 0 && !gk_smi_is_fact(source))
		gk_metric_set_add(set, (enum gk_metric)source->what);
	if (show == gk_smi_mib_left)
		gk_metric_set_add(set, (enum gk_metric)source->arg);
	if (show == gk_smi_fabric || show == gk_smi_fabric_uuid ||
	    show == gk_smi_fabric_status || show == gk_smi_fabric_health)
		gk_metric_set_add(set, GK_M_FABRIC_STATE);
	if (show == gk_smi_ecc)
		gk_metric_set_add(set, GK_M_ECC_MODE);
	if (show == gk_smi_margin) {
		gk_metric_set_add(set, GK_M_MARGIN_GPU_MAX);
		gk_metric_set_add(set, GK_M_TEMP_GPU_MAX);
	}
	if (show == gk_smi_placed)
		gk_metric_set_add(set, GK_M_PLATFORM_PEER);
	if (show == gk_smi_rows_inactive)
		gk_metric_set_add(set, GK_M_ROWS_PENDING);
	if (show == gk_smi_reset_required || show == gk_smi_margin ||
	    show == gk_smi_recovery_action)
		gk_metric_set_add(set, GK_M_TEMP);
	if (show == gk_smi_egm)
		gk_metric_set_add(set, GK_M_CAPABILITIES);
}

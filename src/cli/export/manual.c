/* SPDX-License-Identifier: Apache-2.0 */
/* manual.c - the page of `gpukit export` in the manual. */
#include "cli/export/export.h"

const struct gk_manual_page export_pages[] = {
    {
	.name = "export",
	.argp = &gk_export_argp,
	.text =
	    "The metrics are read every interval, however often they are asked "
	    "for. `--names` gives them the names of other exporters, so that "
	    "existing dashboards work. A metric that "
	    "is not known is left out.\n\n"
	    "Without a driver it waits for one, and `/metrics` says "
	    "`gpukit_up 0`.\n\n"
	    "Only this machine can connect, unless `--listen` names another "
	    "address; then use `--tls-cert`, `--tls-key` and `--auth`.",
	.environment =
	    "NOTIFY_SOCKET\tWhere systemd waits for the message that the "
	    "service is ready.\n",
	.files =
	    "PREFIX/share/gpukit/systemd/gpukit-export.service\tA confined "
	    "unit "
	    "for systemd.\n"
	    "PREFIX/share/gpukit/grafana\tA dashboard.\n"
	    "PREFIX/share/gpukit/prometheus\tRules and alerts.\n"
	    "/etc/default/gpukit-export\tGPUKIT_EXPORT_OPTIONS, the options of "
	    "the unit.\n",
	.examples =
	    "gpukit export\tServe http://127.0.0.1:9834/metrics.\n"
	    "gpukit export --listen 0.0.0.0 --auth users --tls-cert a.pem "
	    "--tls-key a.key\tServe other machines, with passwords.\n"
	    "gpukit export --names dcgm\tReplace dcgm-exporter.\n",
	.see = "prometheus(1)",
    },
    {.name = NULL},
};

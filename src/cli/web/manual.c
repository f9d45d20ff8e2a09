/* SPDX-License-Identifier: Apache-2.0 */
/* manual.c - the page of `gpukit web` in the manual. */
#include "cli/web/web.h"

const struct gk_manual_page web_pages[] = {
    {
	.name = "web",
	.argp = &gk_web_argp,
	.text =
	    "The page is a part of the command and loads nothing from other "
	    "servers. It shows GPUs, processes, users and events, on a desktop "
	    "or a phone, and changes nothing.\n\n"
	    "Only this machine can connect, unless `--listen` names another "
	    "address; then use `--tls-cert`, `--tls-key` and `--auth`.",
	.environment =
	    "NOTIFY_SOCKET\tWhere systemd waits for the message that the "
	    "service is ready.\n",
	.files =
	    "PREFIX/share/gpukit/systemd/gpukit-web.service\tA confined unit "
	    "for systemd.\n"
	    "/etc/default/gpukit-web\tGPUKIT_WEB_OPTIONS, the options of the "
	    "unit.\n",
	.examples =
	    "gpukit web\tServe http://127.0.0.1:9835/.\n"
	    "gpukit web --peer http://atlas:9835 --peer http://borg:9835\tShow "
	    "three machines on one page.\n"
	    "gpukit web --follow http://atlas:9835\tPrint the snapshots of "
	    "another machine.\n",
    },
    {.name = NULL},
};

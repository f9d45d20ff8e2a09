/* SPDX-License-Identifier: Apache-2.0 */
/*
 * topology.c - `gpukit fake ctl topology`: prints how the GPUs of a machine are
 * connected now, in the words of `nvidia-smi topo -m`.
 */
#include "cli/cmd.h"
#include "cli/fake/ctl/ctl.h"
#include "machine/model/link.h"
#include "machine/model/topology.h"
#include "machine/store/board.h"

#include <jansson.h>
#include <stdio.h>

#define WORD_MAX 16

static const char *distance_word(enum gkf_distance distance)
{
	switch (distance) {
	case GKF_SAME_BOARD:
		return "X";
	case GKF_SAME_SWITCH:
		return "PIX";
	case GKF_SAME_SWITCHES:
		return "PXB";
	case GKF_SAME_BRIDGE:
		return "PHB";
	case GKF_SAME_NODE:
		return "NODE";
	case GKF_SAME_MACHINE:
	default:
		return "SYS";
	}
}

/*
 * Writes "NV" and the number of NVLinks that are up or, if there are none, the
 * distance on the bus.
 */
static void write_distance(struct ctl *ctl, unsigned a, unsigned b,
			   char word[WORD_MAX])
{
	unsigned links = a == b ? 0 : gkf_links_between(ctl->machine, a, b);

	if (links)
		snprintf(word, WORD_MAX, "NV%u", links);
	else
		snprintf(word, WORD_MAX, "%s",
			 distance_word(gkf_topology_distance(
			     gkf_topology(ctl->machine), a, b)));
}

static int print_json(struct ctl *ctl, unsigned n)
{
	const struct gkf_topology *t = gkf_topology(ctl->machine);
	json_t *gpus = json_array();
	char word[WORD_MAX];
	int r;

	for (unsigned a = 0; a < n; a++) {
		json_t *row = json_array();

		for (unsigned b = 0; b < n; b++) {
			write_distance(ctl, a, b, word);
			json_array_append_new(row, json_string(word));
		}
		json_array_append_new(
		    gpus, json_pack("{s:i, s:i, s:i, s:o}", "index", (int)a,
				    "numa_node", (int)t->seat[a].node, "module",
				    (int)t->seat[a].module, "to", row));
	}
	r = json_dumpf(gpus, stdout, JSON_INDENT(2));
	json_decref(gpus);
	putchar('\n');
	return r ? fake_failure("ctl topology: cannot write JSON") : GK_EXIT_OK;
}

int ctl_topology(struct ctl *ctl, int argc, char **argv)
{
	const struct gkf_topology *t = gkf_topology(ctl->machine);
	unsigned n = gkf_device_count(ctl->machine);
	char word[WORD_MAX];

	(void)argc, (void)argv;
	if (ctl->json)
		return print_json(ctl, n);
	printf("%-6s", "");
	for (unsigned a = 0; a < n; a++)
		printf(" GPU%-2u", a);
	puts(" NUMA module");
	for (unsigned a = 0; a < n; a++) {
		printf("GPU%-3u", a);
		for (unsigned b = 0; b < n; b++) {
			write_distance(ctl, a, b, word);
			printf(" %-5s", word);
		}
		printf(" %-4u %u\n", t->seat[a].node, t->seat[a].module);
	}
	return GK_EXIT_OK;
}

/* SPDX-License-Identifier: Apache-2.0 */
/*
 * table_form.c - owns the layouts of the table, as captures show them
 * (docs/SMI.md). Rows that several generations share are macros.
 */
#include "format/smi/table_form.h"
#include "base/array.h"

#define HEADS_79                                                               \
	"| GPU  Name        Persistence-M| Bus-Id        Disp.A | "            \
	"Volatile Uncorr. ECC |\n"                                             \
	"| Fan  Temp  Perf  Pwr:Usage/Cap|         Memory-Usage | "            \
	"GPU-Util  Compute M. |\n"                                             \
	"|                               |                      | "            \
	"              MIG M. |\n"
#define HEADS_530                                                              \
	"| GPU  Name                  Persistence-M| Bus-Id        Disp.A | "  \
	"Volatile Uncorr. ECC |\n"                                             \
	"| Fan  Temp  Perf            Pwr:Usage/Cap|         Memory-Usage | "  \
	"GPU-Util  Compute M. |\n"                                             \
	"|                                         |                      | "  \
	"              MIG M. |\n"
#define HEADS_535                                                              \
	"| GPU  Name                 Persistence-M | Bus-Id        Disp.A | "  \
	"Volatile Uncorr. ECC |\n"                                             \
	"| Fan  Temp   Perf          Pwr:Usage/Cap |         Memory-Usage | "  \
	"GPU-Util  Compute M. |\n"                                             \
	"|                                         |                      | "  \
	"              MIG M. |\n"
#define HEADS_550                                                              \
	"| GPU  Name                 Persistence-M | Bus-Id          Disp.A "  \
	"| "                                                                   \
	"Volatile Uncorr. ECC |\n"                                             \
	"| Fan  Temp   Perf          Pwr:Usage/Cap |           Memory-Usage "  \
	"| "                                                                   \
	"GPU-Util  Compute M. |\n"                                             \
	"|                                         |                        "  \
	"| "                                                                   \
	"              MIG M. |\n"

#define MIG_HEADS_79                                                           \
	"| GPU  GI  CI  MIG |         Memory-Usage |        Vol|         "     \
	"Shared        |\n"                                                    \
	"|      ID  ID  Dev |           BAR1-Usage | SM     Unc| CE  ENC  "    \
	"DEC  OFA  JPG|\n"                                                     \
	"|                  |                      |        ECC|         "     \
	"              |\n"
#define MIG_HEADS_535                                                          \
	"| GPU  GI  CI  MIG |                   Memory-Usage |        Vol|"    \
	"      Shared           |\n"                                           \
	"|      ID  ID  Dev |                     BAR1-Usage | SM     Unc|"    \
	" CE ENC DEC OFA JPG    |\n"                                           \
	"|                  |                                |        ECC|"    \
	"                       |\n"
#define MIG_LAST_91                                                            \
	"|                  |                                  |        ECC|"  \
	"                       |\n"
#define MIG_HEADS_550                                                          \
	"| GPU  GI  CI  MIG |                     Memory-Usage |        Vol|"  \
	"      Shared           |\n"                                           \
	"|      ID  ID  Dev |                       BAR1-Usage | SM     Unc|"  \
	" CE ENC DEC OFA JPG    |\n" MIG_LAST_91
#define MIG_HEADS_570                                                          \
	"| GPU  GI  CI  MIG |                     Memory-Usage |        Vol|"  \
	"        Shared         |\n"                                           \
	"|      ID  ID  Dev |                       BAR1-Usage | SM     Unc|"  \
	" CE ENC  DEC  OFA  JPG |\n" MIG_LAST_91
#define MIG_HEADS_580                                                          \
	"| GPU  GI  CI  MIG |              Shared Memory-Usage |        Vol|"  \
	"        Shared         |\n"                                           \
	"|      ID  ID  Dev |                Shared BAR1-Usage | SM     Unc|"  \
	" CE ENC  DEC  OFA  JPG |\n" MIG_LAST_91

#define PROCESS_HEADS_79                                                       \
	"|  GPU   GI   CI        PID   Type   Process name                  "  \
	"GPU Memory |\n"                                                       \
	"|        ID   ID                                                   "  \
	"Usage      |\n"
#define PROCESS_HEADS_89                                                       \
	"|  GPU   GI   CI        PID   Type   Process name                  "  \
	"          GPU Memory |\n"                                             \
	"|        ID   ID                                                   "  \
	"          Usage      |\n"
#define PROCESS_HEADS_550                                                      \
	"|  GPU   GI   CI        PID   Type   Process name                  "  \
	"            GPU Memory |\n"                                           \
	"|        ID   ID                                                   "  \
	"            Usage      |\n"
#define PROCESS_HEADS_570                                                      \
	"|  GPU   GI   CI              PID   Type   Process name            "  \
	"            GPU Memory |\n"                                           \
	"|        ID   ID                                                   "  \
	"            Usage      |\n"

#define DRIVER .driver_label = "Driver Version", .cuda_label = "CUDA Version"
#define AT_79                                                                  \
	.whole = {77}, .gpu = {31, 22, 22}, .mig = {18, 22, 11, 23},           \
	.smi = 12, .driver = 12, .cuda = 8, DRIVER, .heads = HEADS_79,         \
	.name = 18, .gap = 2, .persistence = -5, .place = 1, .power = 5,       \
	.limit = 4, .after_limit = 1, .used = 10, .total = 8,                  \
	.mig_heads = MIG_HEADS_79, .mig_used = 10, .mig_after = 1,             \
	.bar1_used = 10, .bar1_after = 1, .process_heads = PROCESS_HEADS_79,   \
	.pid = 10, .process = 28, .process_memory = 12, .old_rule = true,      \
	.blanks = 79
#define AT_89                                                                  \
	.whole = {87}, .gpu = {41, 22, 22}, .mig = {18, 32, 11, 23},           \
	.smi = 22, .driver = 12, .cuda = 8, DRIVER, .name = 27, .place = 1,    \
	.limit = 4, .used = 10, .total = 8, .mig_heads = MIG_HEADS_535,        \
	.mig_used = 19, .mig_after = 2, .bar1_used = 19, .bar1_after = 2,      \
	.process_heads = PROCESS_HEADS_89, .pid = 10, .process = 38,           \
	.process_memory = 12, .old_rule = true, .blanks = 89
#define AT_91                                                                  \
	.whole = {89}, .gpu = {41, 24, 22}, .mig = {18, 34, 11, 23},           \
	.smi = 22, .cuda = 8, .heads = HEADS_550, .name = 27, .gap = 4,        \
	.persistence = -4, .place = 3, .power = 14, .limit = 5,                \
	.after_limit = 1, .used = 11, .total = 9, .mig_used = 19,              \
	.mig_after = 4
#define AT_550                                                                 \
	AT_91, .driver = 14, DRIVER, .bar1_used = 21, .bar1_after = 2,         \
	       .old_rule = true, .blanks = 89
#define FROM_570                                                               \
	.process_heads = PROCESS_HEADS_570, .pid = 16, .process = 32,          \
	.process_memory = 14
#define FROM_580                                                               \
	AT_91, FROM_570, .mig_heads = MIG_HEADS_580, .bar1_used = 19,          \
			 .bar1_after = 4

static const struct gk_smi_table_form forms[] = {
    {.since = 0, AT_79},
    {.since = 530000,
     AT_89,
     .heads = HEADS_530,
     .persistence = 7,
     .after = 1,
     .power = 16},
    {.since = 535000,
     AT_89,
     .heads = HEADS_535,
     .gap = 4,
     .persistence = -4,
     .power = 15,
     .after_limit = 1},
    {.since = 550000,
     AT_550,
     .mig_heads = MIG_HEADS_550,
     .process_heads = PROCESS_HEADS_550,
     .pid = 10,
     .process = 40,
     .process_memory = 12},
    {.since = 570000, AT_550, .mig_heads = MIG_HEADS_570, FROM_570},
    {.since = 580000, FROM_580, .driver = 14, DRIVER},
    {.since = 610000,
     FROM_580,
     .driver = 13,
     .driver_label = "KMD Version",
     .cuda_label = "CUDA UMD Version"},
};

const struct gk_smi_table_form *gk_smi_table_form(unsigned level)
{
	const struct gk_smi_table_form *form = forms;

	for (size_t i = 0; i < COUNT(forms); i++)
		if (forms[i].since <= level)
			form = &forms[i];
	return form;
}

/* SPDX-License-Identifier: Apache-2.0 */
/* smi.h - `gpukit smi`, which replaces nvidia-smi: its options, and the run. */
#ifndef GK_CLI_SMI_H
#define GK_CLI_SMI_H

#include "format/smi/mon.h"
#include "cli/page.h"
#include "format/smi/query.h"

/* The exit statuses of nvidia-smi. */
enum smi_exit {
	SMI_OK = 0,
	SMI_FAILED = 1, /* a status that nvidia-smi does not have: the output
			 * cannot be written */
	SMI_INVALID = 2,
	SMI_UNSUPPORTED = 3,
	SMI_NOT_PERMITTED = 4,
	SMI_NOT_FOUND = 6,
	SMI_NO_DRIVER = 9,
	SMI_INTERRUPTS = 10,
	SMI_NO_LIBRARY = 12,
	SMI_UNKNOWN = 255,
};

enum smi_mode {
	SMI_TABLE,
	SMI_COLUMNS,
	SMI_LIST,
	SMI_LOG,
	SMI_QUERY,
	SMI_PMON,
	SMI_DMON,
	SMI_TOPOLOGY,
	SMI_DTD,
	SMI_VERSION,
	SMI_HELP,
	SMI_HELP_QUERY,
	SMI_HELP_PMON,
	SMI_HELP_DMON,
	SMI_HELP_TOPOLOGY,
	SMI_HELP_VERB,
	SMI_DIRECT,
};

enum { SMI_SET_WORDS = 4, SMI_SET_WORD = 64, SMI_PROFILE_WORD = 64 };

/* A requested setting, and the words for reporting it. */
struct smi_setting {
	unsigned a, b;
	unsigned scope; /* for -pl; 0: the GPU, 1: its module */
	unsigned mode;  /* for -lgc: the argument of --mode */
	char word[SMI_SET_WORDS][SMI_SET_WORD];
	/* NVML's reason why the change has no effect yet, or 0 */
	unsigned pending;
};

struct smi;

/* A function that calls the driver directly; returns an exit status. */
typedef int smi_direct(const struct smi *smi);

/* The NUMA nodes that topo can print. */
enum { SMI_NEAR_CPU = 1, SMI_NEAR_MEMORY = 2, SMI_NEAR_GPU = 4 };

struct smi_verb;
struct feature;

struct smi {
	char none[1]; /* at offset 0, which means "no member" in tables */
	enum smi_mode mode;
	const struct smi_verb *verb;     /* for SMI_HELP_VERB */
	smi_direct *direct;              /* for SMI_DIRECT */
	const struct smi_setter *setter; /* for smi_set() */
	struct smi_setting setting;
	/* For mig: -gi, -ci, the list of profiles, and -C. */
	const char *gis, *cis, *profiles;
	bool with_cis;
	/* For the other subcommands. */
	const char *link, *pci_id, *value, *delay, *repeats;
	const struct feature *feature;
	bool scoped;        /* -sc */
	bool moded;         /* -m */
	bool pci_only;      /* topo -mp */
	unsigned near;      /* topo -C, -M, -gnid: bits of SMI_NEAR_... */
	bool eow;           /* -eow: warnings are errors */
	const char *ids;    /* argument of -i; NULL: all GPUs */
	const char *file;   /* argument of -f; NULL: standard output */
	uint64_t period_ns; /* 0: print once */
	uint64_t count;     /* 0: no limit */
	bool units_log;     /* -u */
	bool xml;           /* -x */
	bool dtd;           /* --dtd */
	unsigned sections;  /* bits of the sections that -d names */
	const char *list;   /* the fields of a query */
	bool csv, titles, units;
	struct gk_smi_mon mon;
	struct gk_smi_chosen chosen;
};

/* Parses a command line. Returns 0, or an exit status after a message. */
int smi_parse(int argc, char **argv, struct smi *ret_smi);

/*
 * Prints what the options request. Returns an exit status, after a message on
 * failure.
 */
int smi_run(struct smi *smi);

/* Appends the help text of the mode. */
void smi_help(struct gk_buf *out, const struct smi *smi);

/* The options, as shown in the help and the manual. */
extern const struct gk_option_line smi_lines[], smi_pmon_lines[],
    smi_dmon_lines[], smi_topo_lines[], smi_mig_lines[], smi_nvlink_lines[],
    smi_drain_lines[], smi_cc_lines[], smi_session_lines[];

#endif

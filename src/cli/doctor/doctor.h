/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h - what the files of `gpukit doctor` share: the table of checks
 * (checks.def), the facts that checks use, and the findings of checks.
 */
#ifndef GK_CLI_DOCTOR_H
#define GK_CLI_DOCTOR_H

#include "cli/finding.h"

#include <gpukit/gpukit.h>

#include <dirent.h>
#include <limits.h>
#include <sys/types.h>

/* Families of distributions: each has its own names of packages. */
enum gk_doctor_family {
	FAMILY_DEBIAN,
	FAMILY_FEDORA,
	FAMILY_SUSE,
	FAMILY_ARCH,
	FAMILY_ALPINE,
	FAMILY_COUNT,
	FAMILY_UNKNOWN = FAMILY_COUNT
};

struct gk_doctor_system {
	const char *id; /* ID in os-release */
	enum gk_doctor_family family;
	/* The command that installs packages, without their names. */
	const char *install;
	const char *driver; /* how to install NVIDIA's driver */
};

/* A kind of container, and how to give GPUs to one. */
struct gk_doctor_container {
	const char *name;
	const char *file;     /* a file that exists inside such a container;
			       * NULL: none */
	const char *variable; /* a variable that is set inside such a
			       * container; NULL: none */
	const char *give;
};

/* The kernel drivers to which a GPU may be bound. */
enum gk_doctor_taker {
	TAKER_NVIDIA,
	TAKER_NOUVEAU,
	TAKER_VFIO,
	TAKER_OTHER,
	TAKER_NONE,
	TAKER_COUNT
};

/* The kernel's view of the hardware and the driver, from /proc and /sys. */
struct gk_doctor_kernel {
	char release[65]; /* as reported by uname(2) */
	bool loaded, nouveau;
	bool open;        /* the loaded module is NVIDIA's open-source one */
	char version[32]; /* version of the module; "": unknown */
	unsigned gpus;    /* number of NVIDIA GPUs on the PCI bus */
	unsigned taken[TAKER_COUNT];
	char bus_id[TAKER_COUNT][16]; /* address of the first GPU bound to
				       * each taker */
};

/* The result of opening the driver library. */
struct gk_doctor_driver {
	char path[PATH_MAX]; /* path of the library; "": not found */
	char why_not[512];   /* why the library cannot be loaded; "": it is
			      * loaded */
	/* A required function that the library lacks. NULL: it lacks none. */
	const char *lacks;
	bool made_up;             /* the library is gpukit's made-up one */
	int err, nvml;            /* results of gk_open() */
	uint64_t opening_ns;      /* how long gk_open() took */
	struct gk *gk;            /* NULL: could not be opened */
	struct gk_snapshot *snap; /* NULL: the GPUs could not be read */
	const char *missing[512];
	size_t missing_count;
};

/* All facts that checks use. Zero it first. */
struct gk_doctor {
	const char *root_path;
	/* Descriptor of the directory that contains dev, proc, sys and etc. */
	int root;
	bool elsewhere; /* the directory of `root` is not / */
	struct gk_options machine;
	char system_name[128];
	const struct gk_doctor_system *system; /* never NULL */
	const struct gk_doctor_container *container;
	bool wsl;
	/* Model of a Jetson or similar board. "": another machine. */
	char board[96];
	struct gk_doctor_kernel kernel;
	struct gk_doctor_driver driver;
};

enum gk_doctor_check_id {
#define CHECK(id, title) CHECK_##id,
#include "cli/doctor/checks.def"
#undef CHECK
	CHECK_COUNT
};

struct gk_doctor_check {
	const char *id;
	const char *title; /* at most 20 columns */
	void (*look)(const struct gk_doctor *d, struct gk_finding *f);
};

extern const struct gk_doctor_check gk_doctor_checks[CHECK_COUNT];

#define CHECK(id, title)                                                       \
	void gk_doctor_look_##id(const struct gk_doctor *d,                    \
				 struct gk_finding *f);
#include "cli/doctor/checks.def"
#undef CHECK

/* ---- files below the root; paths begin with '/' ---- */

/*
 * Reads a small file like gk_read_at(). Returns its length or a gk_err; the
 * text is "" after a failure.
 */
ssize_t gk_doctor_read(const struct gk_doctor *d, const char *path, char *buf,
		       size_t cap);
/* Reads a file of any size up to 4 MiB; "" after a failure. free() it. */
char *gk_doctor_read_whole(const struct gk_doctor *d, const char *path);
bool gk_doctor_exists(const struct gk_doctor *d, const char *path);
/* Reads a link's target; "" after a failure. */
void gk_doctor_link(const struct gk_doctor *d, const char *path, char *buf,
		    size_t cap);
/*
 * Whether this user may read and write a file, according to its mode and to the
 * device cgroup. Returns 0 or an errno. Does not open the file, because opening
 * a GPU may take seconds.
 */
int gk_doctor_access(const struct gk_doctor *d, const char *path);
/* Opens a directory for reading; NULL: it cannot be read. */
DIR *gk_doctor_dir(const struct gk_doctor *d, const char *path);

/* ---- facts ---- */

void gk_doctor_read_system(struct gk_doctor *d);
void gk_doctor_read_place(struct gk_doctor *d);
void gk_doctor_read_kernel(struct gk_doctor *d);
/* Opens the driver and reads its GPUs, all within the given time. */
void gk_doctor_read_driver(struct gk_doctor *d, uint64_t within_ns);

/*
 * Whether NVIDIA's kernel module is not expected here: the machine is made up
 * or runs in WSL, or the GPU is part of the SoC.
 */
bool gk_doctor_has_no_module(const struct gk_doctor *d);

/* Whether there are GPUs to check. If not, writes a finding that says so. */
bool gk_doctor_has_gpus(const struct gk_doctor *d, struct gk_finding *f);

/* Whether this session has a display server. */
bool gk_doctor_has_display(void);

/*
 * Returns the command that gives GPUs to this container, or else the one that
 * installs the driver.
 */
const char *gk_doctor_get_driver(const struct gk_doctor *d);

/* ---- optional libraries ---- */

struct gk_doctor_library {
	const char *file;    /* name of a library or a program */
	const char *inside;  /* our own library that contains it, linked
			      * statically; or NULL */
	const char *users;   /* verbs that use the library or program, each
			      * followed by a blank */
	const char *package; /* the package in Debian */
};

enum gk_doctor_library_id {
#define NEEDED(id, ...) LIBRARY_##id,
#include "cli/doctor/optional.def"
#include "fronts/common/needed.def"
#undef NEEDED
	LIBRARY_COUNT
};

extern const struct gk_doctor_library gk_doctor_libraries[LIBRARY_COUNT];

enum gk_doctor_presence {
	LIBRARY_MISSING,
	LIBRARY_INSTALLED,
	LIBRARY_INSIDE, /* not installed, but linked into our own library */
};

/* Looks for each optional library and program. */
void gk_doctor_find_libraries(enum gk_doctor_presence found[LIBRARY_COUNT]);
/*
 * Returns the name of the package that contains a library on this distribution,
 * or NULL.
 */
const char *gk_doctor_package(const struct gk_doctor *d, size_t library);

/* ---- the report ---- */

struct gk_doctor_report {
	const struct gk_doctor *doctor;
	struct gk_finding found[CHECK_COUNT];
	enum gk_doctor_presence libraries[LIBRARY_COUNT];
	double seconds;
};

enum {
	VERB_COUNT = 0
#define VERB(name) +1
#include "cli/verbs.def"
#undef VERB
};

extern const char *const gk_doctor_verbs[VERB_COUNT];

/* A verb, or a part of it, and what it requires. */
struct gk_doctor_part {
	const char *verb;
	const char *part; /* NULL: the whole verb */
	int check;        /* a gk_doctor_check_id, or -1 */
	int library;      /* a gk_doctor_library_id, or -1 */
	const char *file; /* a file of our own, or NULL */
};

extern const struct gk_doctor_part gk_doctor_parts[];
extern const size_t gk_doctor_part_count;

bool gk_doctor_part_works(const struct gk_doctor_report *r,
			  const struct gk_doctor_part *part);
/*
 * Whether a verb works, apart from its optional parts. If it does not, *ret_why
 * is the requirement that is not met.
 */
bool gk_doctor_verb_works(const struct gk_doctor_report *r, const char *verb,
			  const struct gk_doctor_part **ret_why);
/* Whether a file of our own is installed. */
bool gk_doctor_has_file(const char *file);
/* Returns the name of what a part requires: a check's title, or a file. */
const char *gk_doctor_part_lacks(const struct gk_doctor_part *part);

/* Whether no finding has the state FINDING_BAD. */
bool gk_doctor_is_well(const struct gk_doctor_report *r);

void gk_doctor_text(const struct gk_doctor_report *r, bool color,
		    struct gk_buf *out);
void gk_doctor_json(const struct gk_doctor_report *r, struct gk_buf *out);

#endif

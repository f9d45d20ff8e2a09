/* SPDX-License-Identifier: Apache-2.0 */
/*
 * doctor.h - what `gpukit doctor` finds on this machine: a table of checks
 * (checks.def), the facts that they share, and what each has found.
 */
#ifndef GK_CLI_DOCTOR_H
#define GK_CLI_DOCTOR_H

#include "base/str.h"

#include <gpukit/gpukit.h>

#include <dirent.h>
#include <limits.h>
#include <sys/types.h>

enum gk_doctor_state {
	DOCTOR_BAD,  /* a verb or a GPU does not work */
	DOCTOR_WARN, /* something works less well, or CUDA programs do not */
	DOCTOR_OK,
	DOCTOR_ABSENT,  /* there is no such thing here */
	DOCTOR_UNKNOWN, /* something else must be repaired first */
};

/* What a check has found, and what to do about it ("" if nothing). */
struct gk_doctor_finding {
	enum gk_doctor_state state;
	char says[1024];
	char todo[512];
};

/* A kind of distribution: how it installs packages, and their names. */
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
	const char *id; /* ID of os-release */
	enum gk_doctor_family family;
	const char *install; /* precedes the names of packages */
	const char *driver;  /* installs NVIDIA's driver */
};

/* A kind of container, and how it is given GPUs. */
struct gk_doctor_container {
	const char *name;
	const char *file;     /* exists in it; NULL: none */
	const char *variable; /* is set in it; NULL: none */
	const char *give;
};

/* A kernel driver that has taken a GPU. */
enum gk_doctor_taker {
	TAKER_NVIDIA,
	TAKER_NOUVEAU,
	TAKER_VFIO,
	TAKER_OTHER,
	TAKER_NONE,
	TAKER_COUNT
};

/* What the kernel says: proc/, sys/, dev/. */
struct gk_doctor_kernel {
	char release[65]; /* as uname(2) */
	bool loaded, nouveau;
	bool open;        /* the module with open source code */
	char version[32]; /* of the module; "": unknown */
	unsigned gpus;    /* on the PCI bus */
	unsigned taken[TAKER_COUNT];
	char bus_id[TAKER_COUNT][16]; /* of the first one of each */
};

/* What opening the driver library has given. */
struct gk_doctor_driver {
	char path[PATH_MAX]; /* of the library; "": there is none */
	char why_not[512];   /* why it cannot be loaded; "": it is loaded */
	const char *lacks;   /* a required function that it lacks, or NULL */
	bool made_up;        /* it is ours */
	int err, nvml;       /* of gk_open() */
	uint64_t opening_ns; /* how long that took */
	struct gk *gk;       /* NULL: it is not open */
	struct gk_snapshot *snap; /* NULL: it could not be read */
	const char *missing[512];
	size_t missing_count;
};

/* Everything that checks look at. Zero it first. */
struct gk_doctor {
	const char *root_path;
	int root; /* directory below which dev, proc, sys and etc are read */
	bool elsewhere; /* it is not the root of this process */
	struct gk_options machine;
	char system_name[128];
	const struct gk_doctor_system *system; /* never NULL */
	const struct gk_doctor_container *container;
	bool wsl;
	char board[96]; /* of a Jetson or the like; "": not one */
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
	void (*look)(const struct gk_doctor *d, struct gk_doctor_finding *f);
};

extern const struct gk_doctor_check gk_doctor_checks[CHECK_COUNT];

#define CHECK(id, title)                                                       \
	void gk_doctor_look_##id(const struct gk_doctor *d,                    \
				 struct gk_doctor_finding *f);
#include "cli/doctor/checks.def"
#undef CHECK

/* ---- findings ---- */

/* Sets the state and the text. Texts of others are made printable. */
void gk_doctor_say(struct gk_doctor_finding *f, enum gk_doctor_state state,
		   const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Adds to the text. */
void gk_doctor_add(struct gk_doctor_finding *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Sets what to do. */
void gk_doctor_todo(struct gk_doctor_finding *f, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

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
/* Reads a link's target, "" after a failure. */
void gk_doctor_link(const struct gk_doctor *d, const char *path, char *buf,
		    size_t cap);
/*
 * Whether this user may read and write a file, by its mode and by the cgroup of
 * devices. Returns 0 or an errno. Does not open it: opening a GPU may take
 * seconds.
 */
int gk_doctor_access(const struct gk_doctor *d, const char *path);
/* Opens a directory for reading; NULL: it cannot be read. */
DIR *gk_doctor_dir(const struct gk_doctor *d, const char *path);

/* ---- facts ---- */

void gk_doctor_read_system(struct gk_doctor *d);
void gk_doctor_read_place(struct gk_doctor *d);
void gk_doctor_read_kernel(struct gk_doctor *d);
/* Opens the driver and reads its GPUs, within a time for all of it. */
void gk_doctor_read_driver(struct gk_doctor *d, uint64_t within_ns);

/* Whether files of NVIDIA's kernel driver mean nothing here: the machine is
 * made up, or in WSL, or the GPU is a part of the chip. */
bool gk_doctor_has_no_module(const struct gk_doctor *d);

/* Whether a check can look at GPUs; otherwise says that there are none. */
bool gk_doctor_has_gpus(const struct gk_doctor *d, struct gk_doctor_finding *f);

/* Whether this session has a display server. */
bool gk_doctor_has_display(void);

/* The command that gives GPUs to this container, or that installs the driver.
 */
const char *gk_doctor_get_driver(const struct gk_doctor *d);

/* ---- optional libraries ---- */

struct gk_doctor_library {
	const char *file;    /* a library or a program */
	const char *inside;  /* a library of ours that contains it, or NULL */
	const char *users;   /* each followed by a blank */
	const char *package; /* of Debian */
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
	LIBRARY_INSIDE, /* only our own library, which contains it */
};

/* Looks for each of them. */
void gk_doctor_find_libraries(enum gk_doctor_presence found[LIBRARY_COUNT]);
/* The package of this distribution with a library, or NULL. */
const char *gk_doctor_package(const struct gk_doctor *d, size_t library);

/* ---- the report ---- */

struct gk_doctor_report {
	const struct gk_doctor *doctor;
	struct gk_doctor_finding found[CHECK_COUNT];
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

/* A verb, or a part of it, and what it needs. */
struct gk_doctor_part {
	const char *verb;
	const char *part; /* NULL: all of it */
	int check;        /* a gk_doctor_check_id, or -1 */
	int library;      /* a gk_doctor_library_id, or -1 */
	const char *file; /* one of our own, or NULL */
};

extern const struct gk_doctor_part gk_doctor_parts[];
extern const size_t gk_doctor_part_count;

bool gk_doctor_part_works(const struct gk_doctor_report *r,
			  const struct gk_doctor_part *part);
/*
 * Whether a verb works, without those parts that do not; *ret_why is the part
 * that stops it.
 */
bool gk_doctor_verb_works(const struct gk_doctor_report *r, const char *verb,
			  const struct gk_doctor_part **ret_why);
/* Whether one of our own files is there. */
bool gk_doctor_has_file(const char *file);
/* Returns what a part needs: a check's title, or a file. */
const char *gk_doctor_part_lacks(const struct gk_doctor_part *part);

/* Whether nothing is bad. */
bool gk_doctor_is_well(const struct gk_doctor_report *r);

void gk_doctor_text(const struct gk_doctor_report *r, bool color,
		    struct gk_buf *out);
void gk_doctor_json(const struct gk_doctor_report *r, struct gk_buf *out);

#endif

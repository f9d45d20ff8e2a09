/*
 * profile_yaml.h - GPU models from YAML files. For the command only: clients
 * of a made-up machine never read YAML.
 *
 * A file is one mapping. Its keys are those of GKF_PROFILE_INTEGERS, the texts
 * listed in profile_yaml.c, and:
 *   inherits: id or path of the profile that gives every key left out here;
 *             a path is relative to the file;
 *   source:   text or list of texts, where the values come from;
 *   aliases:  text or list of texts, other ids of the profile.
 * Without `inherits` every key is required but mark and aliases.
 */
#ifndef GKF_PROFILE_YAML_H
#define GKF_PROFILE_YAML_H

#include "base/str.h"

#include <stddef.h>

struct gkf_profile;

/* Room for every message below. */
#define GKF_PROFILE_MESSAGE_MAX 4096

/*
 * Reads a profile: a path (it holds a '/' or ends in .yaml), or the id or an
 * alias of a profile in dir. 0 or a gk_err; then *ret_profile is untouched
 * and ret_message is one line without newline that names file, line, key and
 * what is allowed.
 */
int gkf_profile_load(const char *dir, const char *id_or_path,
		     struct gkf_profile *ret_profile, char *ret_message,
		     size_t cap);

/* Adds the ids of all profiles in dir, sorted, separated by ", ". */
void gkf_profile_list(const char *dir, struct gk_buf *ids);

/*
 * The reader alone: one file. load_parent is asked for what `inherits` names
 * (in that line) and fills *ret_parent, or returns a gk_err with a message of
 * its own. Adds the aliases to *aliases, each between two '\n' (NULL: not
 * wanted).
 */
typedef int gkf_load_parent(void *data, const char *id_or_path, unsigned line,
			    struct gkf_profile *ret_parent);
int gkf_profile_read(const char *path, gkf_load_parent *load_parent, void *data,
		     struct gk_buf *aliases, struct gkf_profile *ret_profile,
		     char *ret_message, size_t cap);

#endif

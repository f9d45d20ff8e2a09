/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile_yaml.h - reads GPU models from YAML files. For the command only:
 * clients of a made-up machine never read YAML.
 *
 * A file is one mapping. Its keys are those of GKF_PROFILE_INTEGERS, the texts
 * listed in profile_yaml.c, and:
 *   inherits: id or path of the profile that gives every key left out here;
 *             a path is relative to the file;
 *   source:   where the values come from, see gkf_facts_read();
 *   year:     when the board came out;
 *   aliases:  text or list of texts, other ids of the profile.
 * Without `inherits`, all keys are required except those that profile_schema.c
 * allows to be missing because they are not known for every board.
 */
#ifndef GKF_PROFILE_YAML_H
#define GKF_PROFILE_YAML_H

#include "base/str.h"

#include <stddef.h>

struct gkf_facts;
struct gkf_profile;

/* The size of a buffer for any message below. */
#define GKF_PROFILE_MESSAGE_MAX 4096

/*
 * Reads a profile, given by a path (with a '/' or ending in .yaml), or by the
 * id or an alias of a profile in dir. Returns 0 or a gk_err; on an error
 * *ret_profile is untouched, and ret_message is one line without newline that
 * names the file, line and key, and says what is allowed.
 */
int gkf_profile_load(const char *dir, const char *id_or_path,
		     struct gkf_profile *ret_profile, char *ret_message,
		     size_t cap);

/* Like gkf_profile_load(), but also reports where the values come from. */
int gkf_profile_facts(const char *dir, const char *id_or_path,
		      struct gkf_profile *ret_profile,
		      struct gkf_facts *ret_facts, char *ret_message,
		      size_t cap);

/* Adds the ids of all profiles in dir, sorted, separated by ", ". */
void gkf_profile_list(const char *dir, struct gk_buf *ids);

/*
 * Reads one file. For the key `inherits`, calls load_parent with the profile
 * that it names and the line of the key; load_parent fills in *ret_parent and
 * *ret_facts, or writes a message and returns a gk_err. Adds the profile's
 * aliases to *aliases unless that is NULL, each between two '\n'.
 */
typedef int gkf_load_parent(void *data, const char *id_or_path, unsigned line,
			    struct gkf_profile *ret_parent,
			    struct gkf_facts *ret_facts);
int gkf_profile_read(const char *path, gkf_load_parent *load_parent, void *data,
		     struct gk_buf *aliases, struct gkf_profile *ret_profile,
		     struct gkf_facts *ret_facts, char *ret_message,
		     size_t cap);

#endif

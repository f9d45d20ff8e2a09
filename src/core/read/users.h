/* SPDX-License-Identifier: Apache-2.0 */
/*
 * users.h - names of users. Each name is looked up only once, because
 * getpwuid() may use the network. Belongs to one thread.
 */
#ifndef GK_CORE_USERS_H
#define GK_CORE_USERS_H

#include <stddef.h>
#include <sys/types.h>

struct gk_user;

/* Initialise it to zeros. */
struct gk_users {
	struct gk_user *users;
	size_t count, cap;
};

/* The user's name, or the number if there is no name. Valid until the next
 * call. */
const char *gk_users_name(struct gk_users *users, uid_t uid);
void gk_users_free(struct gk_users *users);

#endif

/*
 * users.h - names of users, asked of the system once each: getpwuid() may go
 * over the network. Belongs to one thread.
 */
#ifndef GK_CORE_USERS_H
#define GK_CORE_USERS_H

#include <stddef.h>
#include <sys/types.h>

struct gk_user;

/* Zero it to start. */
struct gk_users {
	struct gk_user *users;
	size_t count, cap;
};

/* The name, or the number for a user without one. Valid until the next call. */
const char *gk_users_name(struct gk_users *users, uid_t uid);
void gk_users_free(struct gk_users *users);

#endif

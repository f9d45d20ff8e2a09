/* SPDX-License-Identifier: Apache-2.0 */
/* users.c - looks up names of users and keeps them. */
#include "core/read/users.h"

#include "base/str.h"

#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>

struct gk_user {
	uid_t uid;
	char name[64];
};

static void look_up_user(struct gk_user *user)
{
	struct passwd entry, *found = NULL;
	char room[4096];

	if (!getpwuid_r(user->uid, &entry, room, sizeof room, &found) && found)
		gk_str_copy(user->name, sizeof user->name, found->pw_name);
	else
		snprintf(user->name, sizeof user->name, "%u",
			 (unsigned)user->uid);
}

static struct gk_user *add_user_entry(struct gk_users *users)
{
	struct gk_user *more;
	size_t cap = users->cap ? users->cap * 2 : 8;

	if (users->count < users->cap)
		return &users->users[users->count++];
	more = realloc(users->users, cap * sizeof *more);
	if (!more)
		return NULL;
	users->users = more;
	users->cap = cap;
	return &users->users[users->count++];
}

const char *gk_users_name(struct gk_users *users, uid_t uid)
{
	struct gk_user *user;

	for (size_t i = 0; i < users->count; i++)
		if (users->users[i].uid == uid)
			return users->users[i].name;
	user = add_user_entry(users);
	if (!user)
		return "";
	user->uid = uid;
	look_up_user(user);
	return user->name;
}

void gk_users_free(struct gk_users *users)
{
	free(users->users);
	*users = (struct gk_users){0};
}

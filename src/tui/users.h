/*
 * users.h - the state of the users screen: what the processes of each user
 * hold together, and in which order they stand.
 */
#ifndef GK_TUI_USERS_H
#define GK_TUI_USERS_H

#include <gpukit/gpukit.h>

struct tui_user {
	char name[GK_NAME_MAX]; /* "": unknown */
	unsigned processes;     /* a process on two GPUs is one */
	unsigned gpus, migs;
	struct gk_value sum[GK_PM_COUNT];
};

enum tui_user_order {
	USER_BY_NAME,
	USER_BY_PROCESSES,
	USER_BY_GPUS,
	USER_BY_MIGS,
	USER_BY_MEMORY,
	USER_BY_SM,
	USER_BY_CPU,
	USER_BY_HOST,
	USER_ORDERS
};

struct tui_users {
	struct tui_user *users; /* NULL: not open */
	size_t count;
	enum tui_user_order order;
	bool reversed, chosen; /* chosen: order is not the usual one */
	char selected[GK_NAME_MAX];
	bool is_selected;
};

#endif

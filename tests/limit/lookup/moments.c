/* SPDX-License-Identifier: Apache-2.0 */
/*
 * moments.c - looks names up at unusual moments: before any constructor, in a
 * constructor, in a signal handler, in a forked child, while the program ends.
 * Then in every library of its arguments: two copies of a driver both stay
 * usable.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const names[] = {"malloc", "cuInit", "curl_easy_init",
				    "nvmlInit_v2", "dlsym"};

static void say(const char *text)
{
	if (write(1, text, strlen(text)) < 0)
		_exit(1);
}

static void look(const char *when)
{
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		say(when);
		say(dlsym(RTLD_DEFAULT, names[i]) ? " found " : " no ");
		say(dlsym(RTLD_NEXT, names[i]) ? "found " : "no ");
		say(names[i]);
		say("\n");
	}
}

static void look_first(int argc, char **argv, char **env)
{
	(void)argc, (void)argv, (void)env;
	look("first");
}

__attribute__((section(".preinit_array"),
	       used)) static void (*const before_all)(int, char **,
						      char **) = look_first;

__attribute__((constructor)) static void look_early(void)
{
	look("constructor");
}

static void look_late(void)
{
	look("end");
}

static void look_in_handler(int signal)
{
	(void)signal;
	look("signal");
}

static void look_in_library(const char *path)
{
	void *handle = dlopen(path, RTLD_NOW);
	int (*init)(unsigned), (*count)(int *), (*version)(int *), n = -1,
								   v = -1;

	if (!handle) {
		printf("%s\n", dlerror());
		exit(1);
	}
	*(void **)&init = dlsym(handle, "cuInit");
	*(void **)&count = dlsym(handle, "cuDeviceGetCount");
	*(void **)&version = dlsym(handle, "cuDriverGetVersion");
	printf("%d ", init(0));
	printf("%d ", count(&n));
	printf("%d ", version(&v));
	printf("%d %d\n", n, v);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	atexit(look_late);
	signal(SIGUSR1, look_in_handler);
	raise(SIGUSR1);
	if (!fork()) {
		look("child");
		_exit(0);
	}
	wait(NULL);
	for (int i = 1; i < argc; i++)
		look_in_library(argv[i]);
	return 0;
}

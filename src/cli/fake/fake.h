/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake.h - what the files of the verb `gpukit fake` share.
 */
#ifndef GK_CLI_FAKE_H
#define GK_CLI_FAKE_H

#include "machine/words/spec.h"
#include "cli/cmd.h"
#include "cli/page.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct gkf_machine;
struct gkf_profile;
struct gkf_scenario;
struct gkf_scenario_options;

#define FAKE_MESSAGE_MAX GKF_SPEC_MESSAGE_MAX

/* argv[0] of a process that puts load on a GPU; main() looks for it. */
#define FAKE_LOAD_NAME "gpukit-load"

/* Prints one line, "gpukit fake: ...", on stderr. */
void fake_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Like fake_tell(), but expressions whose value is the exit code. They are
 * macros, so that the compiler and the static analyzer see in each file that
 * the value is not 0.
 */
#define fake_failure(...) (fake_tell(__VA_ARGS__), GK_EXIT_FAILURE)
#define fake_usage(...)   (fake_tell(__VA_ARGS__), GK_EXIT_USAGE)

/* Subcommands; each returns an exit code. */
int fake_ctl(int argc, char **argv);
int fake_load(int argc, char **argv);
int fake_doctor(int argc, char **argv);
int fake_models(int argc, char **argv);
int fake_join(int argc, char **argv);

/*
 * Parses a machine's GPUs with gkf_spec_gpus(), in the directory of profiles.
 */
int fake_parse_gpus(const char *key, const char *text,
		    struct gkf_profile *ret_profiles, unsigned *ret_count,
		    char *ret_message);

/*
 * Splits GPUs as their profiles and the --mig options say. `specs` is a
 * NULL-terminated array of options such as "0=3g.40gb+1g.10gb". Returns 0, or
 * an exit code after a message.
 */
int fake_mig_apply(const char *path, char *const *specs);

/*
 * The running load processes. They are children of the caller and end with it.
 */
struct fake_children {
	pid_t *pid;
	unsigned count;
};

/*
 * Starts the load processes of specs, and those of a scenario (NULL: none), on
 * the machine at path. Returns when all have attached. By then they appear to
 * have worked for warm_up_ns. Returns 0, or an exit code after a message; on
 * failure all of them have been ended.
 */
int fake_children_start(const char *path, char *const *specs, unsigned count,
			const struct gkf_scenario *scenario,
			uint64_t warm_up_ns,
			struct fake_children *ret_children);

/* Reaps children that have ended by themselves. */
void fake_children_reap(struct fake_children *children);

/* Ends all children, including stopped ones, and waits for them. */
void fake_children_end(struct fake_children *children);

/*
 * The main function of a load process. Returns after SIGTERM, SIGINT or the
 * load's end.
 */
int fake_load_main(int argc, char **argv);

/*
 * Refuses boards that the driver never supported. Returns 0, or the exit status
 * after a message.
 */
int fake_check_met(const char *driver, const struct gkf_profile *profiles,
		   unsigned count);

/*
 * Warns on stderr if a command contains code that cannot run on a made-up
 * machine.
 */
void fake_hint(const char *command);

/*
 * Runs a command on machine m, at path, and returns its exit status: 128 +
 * signal if a signal killed it, 127 if it is not found, 126 if it cannot be
 * run. The command uses the libraries of a driver generation, named by its
 * directory (NULL: the default one). The caller has called fake_signals_hold().
 * At end_ns of the machine's time (UINT64_MAX: never) the command gets SIGTERM.
 * Children that end meanwhile are reaped. quiet: print no message about the
 * auditor.
 */
int fake_run(struct gkf_machine *m, const char *path, const char *generation,
	     char **argv, uint64_t end_ns, bool quiet,
	     struct fake_children *children);

/*
 * Returns the absolute path of a file or directory of the drop-in libraries
 * ("535", "bin/nvidia-smi"), or of their directory itself (""). If they were
 * installed without links, first creates the links in a private directory.
 * Returns 0 or a gk_err. The path need not exist.
 */
int fake_where(const char *name, char *ret_path, size_t cap);

/*
 * These functions change the environment that commands inherit. They return 0,
 * or nonzero if out of memory. fake_prepend() adds a path to the front of a
 * variable's list.
 */
int fake_prepend(const char *variable, const char *path);

/*
 * Adds the auditor to LD_AUDIT. If the command cannot start with an auditor,
 * removes LD_AUDIT, with a message unless quiet.
 */
int fake_auditor(const char *path, const char *command, bool quiet);

/*
 * Makes valgrind, in whatever program it is started, suppress reports about our
 * libraries.
 */
int fake_valgrind_options(void);

/*
 * fake_watch_mark() marks the processes started from now on as descendants of
 * this launcher's command. fake_watch_begin() starts a watch process. If the
 * launcher is killed, the watch ends all marked processes, with SIGTERM and a
 * second later with SIGKILL. Returns -1 on failure.
 */
int fake_watch_mark(void);
pid_t fake_watch_begin(pid_t command);
void fake_watch_end(pid_t watch);

/*
 * Sets whether PyTorch runs its operators on the machine, in commands that
 * fake_run() starts. Returns 0, or an exit code after a message.
 */
int fake_torch(bool wanted);

/* Blocks the signals that fake_run() and fake_signals_wait() handle. */
void fake_signals_hold(void);
void fake_signals_release(void);

/*
 * If one of these signals is pending, removes it and returns the exit code for
 * it, 128 + its number. Otherwise returns 0.
 */
int fake_signals_pending(void);

/* Waits for SIGINT, SIGTERM, SIGHUP or SIGQUIT. */
void fake_signals_wait(void);

/* Waits for one of these signals or SIGCHLD, and returns it. */
int fake_signals_next(void);

/*
 * Like fake_signals_wait(), but waits at most `ns` nanoseconds. Returns whether
 * a signal arrived.
 */
bool fake_signals_wait_for(uint64_t ns);

/*
 * Finds a scenario by name or path, and compiles it with the user's profiles,
 * whatever options->profiles is. Returns 0, or an exit code after a message.
 * Release the result with gkf_scenario_free().
 */
int fake_scenario_load(const char *name,
		       const struct gkf_scenario_options *options,
		       struct gkf_scenario *ret_scenario);

/* The subcommand `gpukit fake scenario`. */
int fake_scenario(int argc, char **argv);

/* A machine of this user, or one that another user shares. */
struct fake_machine {
	/* The name of a machine of this user's own; a path of a shared one. */
	char name[320];
	uid_t owner;
	/*
	 * The error from opening the machine. If it is set, the members below
	 * are 0.
	 */
	int err;
	unsigned gpus, processes;
	pid_t creator; /* 0: none */
	bool creator_foreign, creator_alive;
};

/*
 * Returns the machines of this user, then the shared ones of other users that
 * this one may read; each sorted by name. Free the array with free().
 */
unsigned fake_machines(struct fake_machine **ret_machines);

/*
 * Like fake_machines(), but without the machines of other users, and without
 * opening their files: there may be many, and opening each takes time.
 */
unsigned fake_own_machines(struct fake_machine **ret_machines);

/*
 * Removes machines of this user to which no process is attached and whose
 * launcher is dead.
 */
void fake_remove_orphans(void);

/*
 * Finds the machine for ctl and load: `name`, else GPUKIT_MACHINE, else the
 * only one there is. Never creates one. cap is at least PATH_MAX. Returns 0, or
 * an exit code after a message.
 */
int fake_choose(const char *name, char *ret_path, size_t cap);
/*
 * Opens the machine at path (NULL: the default one). Returns 0, or an exit code
 * after a message.
 */
int fake_open(const char *path, struct gkf_machine **ret);

/*
 * Writes a message, without a newline, for a user who may not open the machine
 * at path: who owns it and what to do. cap is at least FAKE_MESSAGE_MAX.
 */
void fake_whose(const char *path, char *ret_text, size_t cap);

/*
 * If the machine's file lies in this user's own directory, but another user can
 * write to the directory or the file, writes such a message and returns true:
 * the machine is not trusted. Otherwise returns false.
 */
bool fake_trap(const char *path, char *ret_text, size_t cap);

/* Writes the name of a user, or "user UID". */
void fake_user(uid_t user, char *ret_who, size_t cap);

/*
 * Says that a machine of another user, of which this one sees a copy, cannot be
 * changed. Returns the exit status.
 */
int fake_refuse_change(const char *path);

/* The options, for the manual. */
extern const struct argp fake_argp;
extern const struct argp fake_ctl_argp;
extern const struct argp fake_load_argp;
extern const struct argp fake_join_argp;
extern const struct argp fake_scenario_argp;
extern const struct argp fake_doctor_argp;
extern const struct argp fake_models_argp;

/* ---- launch/shared.c ---- */

/*
 * Makes the path of a shared machine. If `name` is NULL, makes up a name, a
 * different one at each attempt. Other users may enter the path's directory,
 * but only this user may change it. Returns 0, or an exit status after a
 * message.
 */
int fake_shared_path(const char *name, unsigned attempt, char *ret_path,
		     size_t cap);

/* Users share machines in the directory PLACE/PREFIX, followed by their uid. */
#define FAKE_SHARED_PLACE  "/dev/shm"
#define FAKE_SHARED_PREFIX "gpukit-shared-"

/*
 * Write the directory of this user's shared machines, and that of this user's
 * other machines.
 */
void fake_shared_dir(char *ret_dir, size_t cap);
int fake_private_dir(char *ret_dir, size_t cap);

/*
 * Refuses a path that no other user can reach. Returns 0, or an exit status
 * after a message.
 */
int fake_shared_check(const char *path);

/* Prints how programs of other users find the machine. */
void fake_shared_tell(const char *path);

#endif

/*
 * fake.h - what the files of the verb `gpukit fake` share.
 */
#ifndef GK_CLI_FAKE_H
#define GK_CLI_FAKE_H

#include "machine/words/spec.h"

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

/* Both print "gpukit fake: ..." as one line on stderr; return an exit code. */
int fake_failure(const char *format, ...) __attribute__((format(printf, 1, 2)));
int fake_usage(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The verbs of the verb: exit codes. */
int fake_ctl(int argc, char **argv);
int fake_load(int argc, char **argv);
int fake_doctor(int argc, char **argv);
int fake_join(int argc, char **argv);

/* A machine's GPUs, as gkf_spec_gpus(); knows where profiles lie. */
int fake_parse_gpus(const char *key, const char *text,
		    struct gkf_profile *ret_profiles, unsigned *ret_count,
		    char *ret_message);

/*
 * Splits GPUs as their profiles and the option --mig say: "0=3g.40gb+1g.10gb",
 * specs NULL-terminated. An exit code, told.
 */
int fake_mig_apply(const char *path, char *const *specs);

/* Load processes: children of the caller, which end with it. */
struct fake_children {
	pid_t *pid;
	unsigned count;
};

/*
 * Starts the processes that specs ask for on the machine at path, and those of
 * a scenario (NULL: none), and returns when all have attached; then they seem
 * to have worked for warm_up_ns. An exit code; on failure it has told why and
 * ended them all.
 */
int fake_children_start(const char *path, char *const *specs, unsigned count,
			const struct gkf_scenario *scenario,
			uint64_t warm_up_ns,
			struct fake_children *ret_children);

/* Forgets those that have ended by themselves, so that no zombie stays. */
void fake_children_reap(struct fake_children *children);

/* Ends them, stopped ones too, and waits until they have. */
void fake_children_end(struct fake_children *children);

/* A load process itself: runs until SIGTERM, SIGINT or its time is over. */
int fake_load_main(int argc, char **argv);

/* Warns on stderr when a command carries something that cannot work here. */
void fake_hint(const char *command);

/*
 * Runs a command on machine m, at path, until it ends, with the libraries of
 * a driver generation (the name of its directory; NULL: the default one). Its
 * exit status, 128 + signal, 127 when it is not found, 126 when it cannot be
 * run. The caller has called fake_signals_hold(). When the machine's time is
 * end_ns the command is told to end; UINT64_MAX: never. Children that end
 * meanwhile are reaped.
 */
int fake_run(struct gkf_machine *m, const char *path, const char *generation,
	     char **argv, uint64_t end_ns, struct fake_children *children);

/*
 * Who is started from now on descends from the command of this launcher. A
 * process ends all of them when the launcher is killed: SIGTERM, and SIGKILL a
 * second later. -1: it cannot be started.
 */
int fake_watch_mark(void);
pid_t fake_watch_begin(pid_t command);
void fake_watch_end(pid_t watch);

/*
 * Shall PyTorch, in commands that fake_run() starts, run its operators on the
 * machine? Answers the exit code of a failure, or 0.
 */
int fake_torch(bool wanted);

/* Holds back the signals that fake_run() and fake_signals_wait() handle. */
void fake_signals_hold(void);
void fake_signals_release(void);

/*
 * Takes one that came since they are held back and returns the exit code that
 * it calls for: 128 + signal; 0 when there is none.
 */
int fake_signals_pending(void);

/* Waits for SIGINT, SIGTERM, SIGHUP or SIGQUIT. */
void fake_signals_wait(void);

/* Waits for one of them, or SIGCHLD; which it was. */
int fake_signals_next(void);

/* As fake_signals_wait() for so long at most; whether one came. */
bool fake_signals_wait_for(uint64_t ns);

/*
 * Scenarios: finds one by name or path and compiles it; an exit code, told.
 * options->profiles is filled in. gkf_scenario_free() the result.
 */
int fake_scenario_load(const char *name, struct gkf_scenario_options *options,
		       struct gkf_scenario *ret_scenario);

/* `gpukit fake scenario`. */
int fake_scenario(int argc, char **argv);

/* Machines of this user. */
struct fake_machine {
	char name[256];
	int err; /* of opening; then the rest is 0 */
	unsigned gpus, processes;
	pid_t creator; /* 0: nobody */
	bool creator_foreign, creator_alive;
};

/* All of them, sorted by name; free() the result. */
unsigned fake_machines(struct fake_machine **ret_machines);

/* Removes machines whose launcher is dead and that nobody is attached to. */
void fake_remove_orphans(void);

/*
 * The machine that ctl and load mean: name, else GPUKIT_MACHINE, else the
 * only one. An exit code, told; never makes one. cap at least PATH_MAX.
 */
int fake_choose(const char *name, char *ret_path, size_t cap);
/* Opens the machine at path; NULL: the usual one. An exit code, told. */
int fake_open(const char *path, struct gkf_machine **ret);

/*
 * For one that may not open the machine at path: whose it is, and what to do,
 * without an end of line. cap at least FAKE_MESSAGE_MAX.
 */
void fake_whose(const char *path, char *ret_text, size_t cap);

/* The same, if a file in this user's own directory is not believed. */
bool fake_trap(const char *path, char *ret_text, size_t cap);

/* The name of the user that it belongs to. */
void fake_owner(const char *path, char *ret_who, size_t cap);

#endif

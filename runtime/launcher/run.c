/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * `whatif run`: start the program with the agent, let the controller experiment while it runs, report, pass its exit
 * status on.
 *
 * The loop waits for three things: signals (of children, of the user, of whoever sends one to the launcher), the
 * controller's next step, the end of the duration. A signal that the terminal sent has reached the program, too; one
 * that was sent to the launcher alone is forwarded.
 */
#include "runtime/control/calibrate.h"
#include "runtime/control/controller.h"
#include "runtime/control/proc.h"
#include "runtime/launcher/command.h"
#include "runtime/launcher/options.h"
#include "runtime/launcher/place.h"
#include "runtime/launcher/record.h"
#include "runtime/launcher/start.h"
#include "runtime/launcher/status.h"
#include "viewer-export/export/export.h"
#include "viewer-export/report/report.h"
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define KILL_PATIENCE_NS 2000000000ull

struct run {
    struct wi_run_options options;
    struct wi_place place;
    struct wi_session *session;
    int session_fd;
    struct wi_symbols *symbols;
    struct wi_profile_writer *writer;
    struct wi_controller *controller;
    struct wi_status_line status_line;
    char output[PATH_MAX];
    sigset_t original_mask;
    int signals;
    pid_t child;
    bool child_ended;
    int child_status;
    bool interrupted;
    bool killed; /* by us, because of --kill */
    uint64_t kill_hard_at_ns;
};

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int fail(const char *what, const char *on, int error)
{
    fprintf(stderr, "whatif: %s%s%s: %s\n", what, on ? " " : "", on ? on : "", strerror(-error));
    return 1;
}

/* ---- setting up ----------------------------------------------------------------------------------------- */

/* Held while the launcher lives; the kernel marks it when it dies, however it dies. */
static void hold_alive_mark(struct wi_session *session)
{
    pthread_mutexattr_t attributes;
    pthread_mutex_t *mutex = (pthread_mutex_t *)session->launcher_alive.mutex;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST);
    pthread_mutex_init(mutex, &attributes);
    pthread_mutexattr_destroy(&attributes);
    pthread_mutex_lock(mutex);
}

/* Where one place is full, the next may do. */
static int allocate_session(struct run *run, const char *agent)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t n_rings = 1;
    while (n_rings < WI_MAX_RINGS && (long)n_rings < processors)
        n_rings *= 2;
    int error = wi_place_create(&run->place, agent), first_error = 0;
    while (error == 0) {
        error = wi_session_create(run->place.session, n_rings, &run->session, &run->session_fd);
        if (error == 0)
            return 0;
        first_error = first_error ? first_error : error;
        wi_place_remove(&run->place);
        run->place.root++;
        error = wi_place_create(&run->place, agent);
    }
    return first_error ? first_error : error;
}

static int begin_session(struct run *run)
{
    uint64_t sample_ns = wi_calibrate_sample_ns();
    run->session->sampler = run->options.sampler;
    run->session->period_ns = wi_calibrate_period_ns(sample_ns, run->options.overhead_percent);
    run->session->expected_overshoot_ns = wi_calibrate_overshoot_ns();
    run->session->launcher_pid = (uint32_t)getpid();
    run->session->follow = run->options.follow;
    run->session->start_ns = now_ns();
    hold_alive_mark(run->session);
    return wi_record_begin(&run->options, run->output, run->session, sample_ns, &run->writer);
}

static void choose_output(struct run *run)
{
    if (run->options.output) {
        snprintf(run->output, sizeof run->output, "%s", run->options.output);
        return;
    }
    const char *slash = strrchr(run->options.command[0], '/');
    snprintf(run->output, sizeof run->output, "%s.whatif", slash ? slash + 1 : run->options.command[0]);
}

static int create_controller(struct run *run)
{
    struct wi_run_options *options = &run->options;
    wi_options_exclude(options, "*/libwhatif-agent.so"); /* it may lie in the program's own project */
    struct wi_scope scope = {options->scope.items, options->scope.n, options->exclude.items,
                             options->exclude.n};
    int error = wi_symbols_create(&scope, &run->symbols);
    if (error)
        return error;
    struct wi_controller_options control = {
        .speedups = options->speedups,
        .n_speedups = options->n_speedups,
        .at = options->at.items,
        .n_at = options->at.n,
        .given = options->given,
        .given_speedup_percent = options->given_speedup_percent,
        .granularity = options->granularity,
        .warmup_ns = options->warmup_ns,
        .min_impact_percent = options->min_impact_percent,
        .max_slowdown_percent = options->max_slowdown_percent,
        .seed = options->seed,
    };
    return wi_controller_create(run->session, run->session_fd, run->symbols, run->writer, &control,
                                &run->controller);
}

static int open_signals(struct run *run)
{
    sigset_t set;
    sigemptyset(&set);
    const int numbers[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCHLD, SIGWINCH, SIGALRM};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaddset(&set, numbers[i]);
    sigprocmask(SIG_BLOCK, &set, &run->original_mask);
    run->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    return run->signals < 0 ? -errno : 0;
}

/* ---- the loop ------------------------------------------------------------------------------------------- */

static void reap(struct run *run)
{
    int status;
    pid_t pid;
    while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED | WCONTINUED)) > 0) {
        if (pid != run->child)
            continue;
        if (WIFSTOPPED(status) || WIFCONTINUED(status)) {
            wi_controller_disturb(run->controller, "the program was stopped");
            continue;
        }
        run->child_ended = true;
        run->child_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
    }
}

static void handle_signals(struct run *run)
{
    struct signalfd_siginfo info;
    while (read(run->signals, &info, sizeof info) == sizeof info) {
        int number = (int)info.ssi_signo;
        bool from_terminal = info.ssi_code == SI_KERNEL;
        if (number == SIGCHLD)
            reap(run);
        else if (number == SIGUSR2)
            wi_controller_toggle(run->controller);
        else if (number != SIGWINCH && !from_terminal && !run->child_ended)
            kill(run->child, number);
        run->interrupted |= number == SIGINT;
    }
}

static void wait_until(struct run *run, uint64_t at_ns)
{
    struct pollfd descriptor = {run->signals, POLLIN, 0};
    uint64_t now = now_ns(), left = at_ns > now ? at_ns - now : 0;
    struct timespec timeout = {(time_t)(left / 1000000000), (long)(left % 1000000000)};
    ppoll(&descriptor, 1, at_ns == UINT64_MAX ? NULL : &timeout, NULL);
    handle_signals(run);
}

static uint64_t earlier(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

/* Experiments, until the program or the duration ends. */
static void experiment(struct run *run)
{
    uint64_t end = run->options.duration_ns ? run->session->start_ns + run->options.duration_ns : UINT64_MAX;
    uint64_t next_step = 0;
    while (!run->child_ended) {
        uint64_t now = now_ns();
        if (now >= end)
            break;
        if (now >= next_step)
            next_step = wi_controller_step(run->controller, now);
        uint64_t next_status =
            wi_status_update(&run->status_line, run->controller, run->session->start_ns, now);
        wait_until(run, earlier(end, earlier(next_step, next_status)));
    }
    wi_controller_finish(run->controller);
    wi_status_clear(&run->status_line);
}

static uint64_t own_cpu_ns(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000u +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000u;
}

/* Everything that is known goes to the profile before anything is printed. */
static int close_profile(struct run *run)
{
    wi_controller_diagnose(run->controller);
    struct wi_record_end end = {
        .time_ns = now_ns() - run->session->start_ns,
        .reason = !run->child_ended          ? "duration"
                  : run->interrupted         ? "interrupted"
                  : run->child_status >= 128 ? "signalled"
                                             : "exited",
        .exit_status = run->child_ended ? run->child_status : -1,
        .launcher_cpu_ns = own_cpu_ns(),
    };
    wi_profile_write_end(run->writer, &end);
    int error = wi_profile_close(run->writer);
    run->writer = NULL;
    return error;
}

static int print_report(struct run *run)
{
    struct wi_report_options options = WI_REPORT_DEFAULTS;
    if (strcmp(run->options.format, "json") == 0)
        options.format = WI_REPORT_JSON;
    else if (strcmp(run->options.format, "markdown") == 0)
        options.format = WI_REPORT_MARKDOWN;
    wi_record_estimate_options(&run->options, &options.estimate);
    const char *path = run->output;
    if (strcmp(run->options.format, "bencher") == 0) {
        struct wi_export_options export = WI_EXPORT_DEFAULTS;
        return wi_export_profiles("bencher", &path, 1, &export, stdout);
    }
    int status = wi_report_print(&path, 1, &options, stdout);
    fflush(stdout);
    return status;
}

/* The program runs on, undelayed, until it ends; with --kill it is made to. */
static void see_it_out(struct run *run)
{
    if (!run->child_ended && run->options.kill) {
        kill(run->child, SIGTERM);
        kill(run->child, SIGCONT);
        run->killed = true;
        run->kill_hard_at_ns = now_ns() + KILL_PATIENCE_NS;
    }
    while (!run->child_ended) {
        if (run->killed && now_ns() >= run->kill_hard_at_ns) {
            kill(run->child, SIGKILL);
            run->kill_hard_at_ns = UINT64_MAX;
        }
        wait_until(run, run->killed ? run->kill_hard_at_ns : UINT64_MAX);
    }
}

/* Formats that programs read are one document on stdout, to which the profiled program must not add. */
static bool is_document(const char *format)
{
    return strcmp(format, "json") == 0 || strcmp(format, "bencher") == 0;
}

static int profile(struct run *run, const char *program)
{
    run->child = wi_start(program, run->options.command, run->place.agent, run->place.session,
                          &run->original_mask, is_document(run->options.format));
    if (run->child < 0) {
        int error = run->child;
        wi_profile_close(run->writer);
        run->writer = NULL;
        unlink(run->output);
        fail("cannot start", program, error);
        return error == -ENOENT ? 127 : 126;
    }
    experiment(run);
    int error = close_profile(run);
    if (error)
        fail("cannot write the profile", run->output, error);
    else if (!run->options.quiet)
        fprintf(stderr, "whatif: the profile is in %s\n", run->output);
    int report_status = error ? 1 : print_report(run);
    see_it_out(run);
    int status = run->killed ? 0 : run->child_status;
    return status ? status : error ? 1 : report_status;
}

static void clean_up(struct run *run)
{
    if (run->controller)
        wi_controller_destroy(run->controller);
    if (run->symbols)
        wi_symbols_destroy(run->symbols);
    wi_place_remove(&run->place);
    free(run->options.given);
}

int wi_run_main(int argc, char **argv)
{
    static struct run run; /* large; one per process */
    char program[PATH_MAX], agent[PATH_MAX];
    int status = wi_options_parse(argc, argv, &run.options);
    if (status >= 0)
        return status;
    status = wi_start_find(run.options.command[0], program, sizeof program);
    if (status != 0)
        return status;
    int error = wi_start_find_agent(agent, sizeof agent);
    if (error)
        return fail("cannot find the agent", agent, error);
    if (!run.options.seed_given)
        run.options.seed = now_ns();
    choose_output(&run);
    wi_start_ignore_signals();
    error = allocate_session(&run, agent);
    if (error)
        return fail("cannot make the session: no place for it in /dev/shm, TMPDIR or /tmp", NULL, error);
    error = begin_session(&run);
    if (error) {
        status = fail("cannot write the profile", run.output, error);
        clean_up(&run);
        return status;
    }
    if ((error = create_controller(&run)) != 0 || (error = open_signals(&run)) != 0) {
        status = fail("cannot begin", NULL, error);
        clean_up(&run);
        return status;
    }
    wi_status_init(&run.status_line, run.options.quiet);
    status = profile(&run, program);
    clean_up(&run);
    return status;
}

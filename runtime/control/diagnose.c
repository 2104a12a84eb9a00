/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a person should know about the run: why there is nothing to report, what was lost, what to do about it.
 *
 * The causes of an empty report come in the order in which data would have to flow: sampling, scope, progress points,
 * time. The first that holds is usually the reason for the rest, so only it is told.
 */
#include "runtime/control/proc.h"
#include "runtime/control/state.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define FEW_SAMPLES 10 /* what the loader takes before main() */

__attribute__((format(printf, 4, 5))) static void tell(struct wi_controller *controller, const char *code,
                                                       uint64_t count, const char *format, ...)
{
    char text[600];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    struct wi_record_notice notice = {.code = code, .text = text, .count = count};
    wi_profile_write_notice(controller->writer, &notice);
}

/* ---- sampling ------------------------------------------------------------------------------------------- */

static const char *remedy_for(int refused, char *text, size_t size)
{
    int paranoid = wi_proc_perf_paranoid();
    if (paranoid > 2)
        snprintf(text, size,
                 "kernel.perf_event_paranoid is %d: `sudo sysctl kernel.perf_event_paranoid=2` allows it",
                 paranoid);
    else
        snprintf(text, size,
                 "perf_event_open says: %s (in a container, allow that system call in its seccomp profile)",
                 strerror(refused));
    return text;
}

/* True if there were no samples to be had. */
static bool tell_sampling(struct wi_controller *controller)
{
    struct wi_session *session = controller->session;
    char remedy[200];
    for (uint32_t i = 0; i < atomic_load(&session->processes_high); i++) {
        const struct wi_process *process = &session->processes[i];
        int refused = atomic_load(&process->refused);
        uint32_t sampler = atomic_load(&process->sampler);
        if (sampler == WI_SAMPLER_NONE) {
            tell(controller, "sampling-refused", 1, "Sampling was refused: %s.",
                 remedy_for(refused, remedy, sizeof remedy));
            return true;
        }
        if (refused && sampler == WI_SAMPLER_TIMER) {
            tell(controller, "sampler-fallback", 1,
                 "Samples came from a CPU-clock timer, no finer than the kernel's tick (usually 4 ms), since "
                 "perf was "
                 "refused: %s.",
                 remedy_for(refused, remedy, sizeof remedy));
            break;
        }
    }
    if (atomic_load(&session->processes_high) == 0) {
        tell(controller, "not-attached", 1,
             "The program ran without the agent: it is statically linked, privileged, or was started with a "
             "cleared "
             "environment, so that nothing could be preloaded.");
        return true;
    }
    if (controller->collector.samples_in_scope == 0 && controller->collector.samples < FEW_SAMPLES) {
        tell(controller, "no-samples", 1,
             "No sample to speak of was taken: the program used almost no processor time in user mode%s.",
             controller->session->period_ns >= 1000000 ? "" : ", or ended within one sampling period");
        return true;
    }
    return false;
}

/* ---- scope ---------------------------------------------------------------------------------------------- */

static uint32_t hottest_outside(const struct wi_controller *controller)
{
    uint32_t hottest = 0;
    for (uint32_t i = 1; i < WI_MAX_MODULES; i++)
        if (controller->collector.out_of_scope_ns[i] > controller->collector.out_of_scope_ns[hottest])
            hottest = i;
    return hottest;
}

static bool tell_scope(struct wi_controller *controller)
{
    const struct wi_collector *collector = &controller->collector;
    if (collector->samples_in_scope > 0)
        return false;
    uint32_t main_module = atomic_load(&controller->session->processes[0].main_module);
    const char *main_path = controller->session->modules[main_module % WI_MAX_MODULES].path;
    uint32_t hottest = hottest_outside(controller);
    const char *path = controller->session->modules[hottest].path;
    enum wi_detail detail = wi_symbols_detail(controller->symbols, main_module);
    if (wi_symbols_module_in_scope(controller->symbols, main_module) &&
        (detail == WI_DETAIL_NONE || detail == WI_DETAIL_UNREAD)) {
        tell(controller, "no-debug-info", 1,
             "No sample fell in scope: %s has no debug information that could be read; compile it with -g "
             "(and do not "
             "strip it), or install its debug symbols.",
             main_path);
        return true;
    }
    if (collector->unmapped_ns > collector->out_of_scope_ns[hottest]) {
        tell(controller, "no-sample-in-scope", 1,
             "No sample fell in scope: most of the time went to code that belongs to no file, such as code "
             "made at run "
             "time.");
        return true;
    }
    tell(controller, "no-sample-in-scope", 1,
         "No sample fell in scope: most of the time went to %s; `--scope '%s'` takes it in%s.",
         path[0] ? path : "unknown code", path[0] ? path : "*",
         hottest == main_module ? " (is an --exclude or a --scope in the way?)" : "");
    return true;
}

/* ---- progress and time ---------------------------------------------------------------------------------- */

static bool tell_progress(struct wi_controller *controller, const struct wi_controller_status *status)
{
    if (status->n_points == 0) {
        tell(controller, "no-progress-point", 1,
             "The program has no progress point: include <whatif.h> and put WHATIF_PROGRESS() where a piece "
             "of useful "
             "work is done.");
        return true;
    }
    if (status->visits == 0) {
        tell(controller, "no-visits", 1,
             "No progress point was visited: the program has %u, the first is \"%s\"; check that it is "
             "reached while "
             "the program works.",
             status->n_points, controller->session->points[0].name);
        return true;
    }
    return false;
}

static void tell_time(struct wi_controller *controller, const struct wi_controller_status *status)
{
    if (controller->error[0]) {
        tell(controller, "no-such-unit", 1, "%s.", controller->error);
        return;
    }
    if (status->n_experiments >= controller->options.n_speedups)
        return;
    double seconds = (double)(wi_controller_now_ns() - controller->session->start_ns) / 1e9;
    if (controller->n_tried == 0 && seconds > 2)
        tell(controller, "nothing-to-try", 1,
             "No code in scope takes --min-impact (%.3g %%) of the time: there was nothing worth an "
             "experiment.",
             controller->options.min_impact_percent);
    else
        tell(controller, "too-short", 1,
             "The run was too short: %u experiments in %.2g s; let it run for ten seconds or more.",
             status->n_experiments, seconds);
}

/* ---- losses --------------------------------------------------------------------------------------------- */

static void tell_losses(struct wi_controller *controller, const struct wi_controller_status *status)
{
    struct wi_session *session = controller->session;
    const struct wi_collector *collector = &controller->collector;
    if (status->samples_lost > 0)
        tell(controller, "samples-lost", status->samples_lost,
             "%llu samples found their ring full and were lost.", (unsigned long long)status->samples_lost);
    if (collector->stacks_broken * 20 > collector->samples)
        tell(controller, "stacks-broken", collector->stacks_broken,
             "%.0f %% of the stacks could not be walked to their end: code without unwind information, or "
             "stacks of the "
             "program's own making.",
             100.0 * (double)collector->stacks_broken / (double)collector->samples);
    uint64_t lost;
    if ((lost = atomic_load(&session->overflow.threads)) > 0)
        tell(controller, "threads-capped", lost,
             "More than %d threads were alive at once: the rest ran unsampled.", WI_MAX_THREADS);
    if ((lost = atomic_load(&session->overflow.processes)) > 0)
        tell(controller, "processes-capped", lost,
             "The program started more than %d processes: the last %llu ran unsampled and undelayed.",
             WI_MAX_PROCESSES, (unsigned long long)lost);
    if ((lost = atomic_load(&session->overflow.modules)) > 0)
        tell(controller, "modules-capped", lost,
             "The program loaded more than %d different files: code in the others is not known.",
             WI_MAX_MODULES);
    if ((lost = atomic_load(&session->overflow.events_refused)) > 0)
        tell(controller, "threads-unsampled", lost,
             "%llu threads could not be sampled: the kernel refused their events.", (unsigned long long)lost);
    if ((lost = atomic_load(&session->overflow.points)) > 0)
        tell(controller, "points-capped", lost,
             "There are more progress points than a run keeps (%d): some were not counted.", WI_MAX_POINTS);
    if ((lost = atomic_load(&session->overflow.pairs)) > 0)
        tell(controller, "pairs-capped", lost,
             "Too many keyed requests were in flight: some were not matched.");
    if (controller->total_unsettled > 0)
        tell(controller, "unsettled", controller->total_unsettled,
             "%llu experiments were dropped because a thread that was running did not serve its pauses in "
             "time.",
             (unsigned long long)controller->total_unsettled);
    if (controller->publisher.truncated_sets > 0)
        tell(controller, "unit-truncated", controller->publisher.truncated_sets,
             "A unit is spread over more address ranges than can be selected: part of it was left out.");
}

/* Phases shorter than what a sample resolves bend every answer that depends on how they meet. */
static void tell_resolution(struct wi_controller *controller)
{
    struct wi_session *session = controller->session;
    double elapsed = (double)(wi_controller_now_ns() - session->start_ns);
    for (uint32_t i = 0; i < controller->points_known; i++) {
        uint64_t visits = wi_session_count(session, session->points[i].counter);
        double interval = visits ? elapsed / (double)visits : 0;
        if (interval > 0 && interval < 2.0 * (double)session->period_ns) {
            tell(controller, "short-phases", 1,
                 "\"%s\" is visited every %.0f us, and a sample stands for %.0f us: where threads wait for "
                 "each other "
                 "that often, gains are blurred.",
                 session->points[i].name, interval / 1e3, (double)session->period_ns / 1e3);
            return;
        }
    }
}

static void tell_symbols(const struct wi_symbols_notice *notice, void *context)
{
    struct wi_controller *controller = context;
    if (controller->collector.samples_in_scope == 0 && controller->collector.samples < FEW_SAMPLES)
        return; /* nothing was looked up that matters */
    if (!wi_symbols_module_in_scope(controller->symbols, notice->module))
        return;
    struct wi_record_notice record = {.code = notice->code, .text = notice->text, .count = notice->count};
    wi_profile_write_notice(controller->writer, &record);
}

void wi_controller_diagnose(struct wi_controller *controller)
{
    struct wi_controller_status status;
    wi_controller_status(controller, &status);
    if (!tell_sampling(controller) && !tell_scope(controller) && !tell_progress(controller, &status))
        tell_time(controller, &status);
    tell_losses(controller, &status);
    tell_resolution(controller);
    wi_symbols_notices(controller->symbols, tell_symbols, controller);
    wi_profile_flush(controller->writer);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* The header of a profile. See record.h. */
#include "runtime/launcher/record.h"
#include "runtime/control/proc.h"
#include "runtime/launcher/version.h"
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

static json_t *list(const char *const *items, size_t n)
{
    json_t *array = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(array, json_string(items[i])); /* what is no UTF-8 is left out */
    return array;
}

static char *options_text(const struct wi_run_options *options)
{
    static const char *const units[] = {"auto", "line", "function", "callpath"};
    json_t *speedups = json_array();
    for (size_t i = 0; i < options->n_speedups; i++)
        json_array_append_new(speedups, json_real(options->speedups[i]));
    json_t *object = json_pack(
        "{s:s, s:o, s:o, s:o, s:o, s:f, s:f, s:f, s:f, s:f, s:f, s:b}", "unit", units[options->granularity],
        "speedups", speedups, "at", list(options->at.items, options->at.n), "scope",
        list(options->scope.items, options->scope.n), "exclude",
        list(options->exclude.items, options->exclude.n), "duration_s", (double)options->duration_ns / 1e9,
        "warmup_s", (double)options->warmup_ns / 1e9, "overhead_percent", options->overhead_percent,
        "max_slowdown_percent", options->max_slowdown_percent, "min_impact_percent",
        options->min_impact_percent, "precision_percent", options->precision_percent, "follow",
        options->follow);
    if (object && options->given) {
        json_object_set_new(object, "given", json_string(options->given));
        json_object_set_new(object, "given_speedup_percent", json_real(options->given_speedup_percent));
    }
    char *text = object ? json_dumps(object, JSON_COMPACT) : NULL;
    json_decref(object);
    return text;
}

/* The sampler that will most likely be in use; each process decides for itself, and the notices tell. */
static const char *sampler_name(const struct wi_session *session, uint64_t sample_cost_ns)
{
    static const char *const names[] = {[WI_SAMPLER_NONE] = "none",
                                        [WI_SAMPLER_SIGTRAP] = "sigtrap",
                                        [WI_SAMPLER_RING] = "ring",
                                        [WI_SAMPLER_TIMER] = "timer"};
    if (session->sampler < sizeof names / sizeof *names)
        return names[session->sampler];
    return sample_cost_ns ? "sigtrap" : "timer";
}

int wi_record_begin(const struct wi_run_options *options, const char *path, const struct wi_session *session,
                    uint64_t sample_cost_ns, struct wi_profile_writer **out)
{
    char directory[PATH_MAX], host[256] = "", cpu[256];
    struct utsname kernel;
    struct timespec now;
    gethostname(host, sizeof host - 1);
    wi_proc_cpu_model(cpu, sizeof cpu);
    uname(&kernel);
    clock_gettime(CLOCK_REALTIME, &now);
    char *text = options_text(options);
    struct wi_record_header header = {
        .command = (const char *const *)options->command,
        .directory = getcwd(directory, sizeof directory) ? directory : "",
        .start_epoch_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec,
        .host = host,
        .cpu = cpu,
        .kernel = kernel.release,
        .n_cpus = (uint32_t)sysconf(_SC_NPROCESSORS_ONLN),
        .sampler = sampler_name(session, sample_cost_ns),
        .period_ns = session->period_ns,
        .sample_cost_ns = sample_cost_ns,
        .seed = options->seed,
        .whatif_version = wi_version,
        .options_json = text,
    };
    int error = wi_profile_create(path, &header, out);
    free(text);
    return error;
}

void wi_record_estimate_options(const struct wi_run_options *options, struct wi_estimate_options *estimate)
{
    estimate->precision_percent = options->precision_percent;
    estimate->min_impact_percent = options->min_impact_percent;
    estimate->seed = options->seed;
}

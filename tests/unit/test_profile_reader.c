/* SPDX-License-Identifier: BSD-2-Clause */
/* Reading profiles: what is written comes back, and nothing that a file holds does harm. */
#include <errno.h>
#include <sys/resource.h>
#include <time.h>
#include <zlib.h>

#include "runtime/profile/format.h"
#include "runtime/profile/latency.h"
#include "runtime/profile/reader.h"
#include "runtime/profile/writer.h"
#include "tests/unit/profile_fixture.h"

/* ---- a visitor that counts, and one text that remembers ------------------------------------------------------ */

struct seen {
    int header, process, thread, thread_end, module, source, stack, point, unit, experiment, tally, notice,
        end;
    size_t samples, counts, tally_units;
    struct wi_record_sample last_sample;
    struct wi_record_experiment last_experiment;
    struct wi_point_count last_count;
    uint32_t last_histogram[4];
    char text[256];
    uint64_t seed;
};

static void on_header(const struct wi_record_header *record, void *context)
{
    struct seen *seen = context;
    seen->header++;
    seen->seed = record->seed;
    if (record->command[0] == NULL)
        return;
    snprintf(seen->text, sizeof seen->text, "%s|%s|%s|%s", record->command[0], record->command[1],
             record->sampler, record->options_json != NULL ? record->options_json : "none");
}

#define COUNTER(name)                                                                                        \
    static void on_##name(const struct wi_record_##name *record, void *context)                              \
    {                                                                                                        \
        ck_assert_ptr_nonnull(record);                                                                       \
        ((struct seen *)context)->name++;                                                                    \
    }
COUNTER(process)
COUNTER(thread)
COUNTER(thread_end)
COUNTER(module)
COUNTER(source)
COUNTER(stack)
COUNTER(point)
COUNTER(unit)
COUNTER(notice)
COUNTER(end)

static void on_samples(const struct wi_record_sample *samples, size_t n, void *context)
{
    struct seen *seen = context;
    seen->samples += n;
    seen->last_sample = samples[n - 1];
}

static void on_experiment(const struct wi_record_experiment *record, void *context)
{
    struct seen *seen = context;
    seen->experiment++;
    seen->last_experiment = *record;
    seen->counts += record->n_points;
    if (record->n_points > 0)
        seen->last_count = record->points[record->n_points - 1];
    if (record->n_points > 0 && seen->last_count.n_histogram == 2)
        memcpy(seen->last_histogram, seen->last_count.histogram, sizeof seen->last_histogram);
}

static void on_tally(const struct wi_record_tally *record, void *context)
{
    struct seen *seen = context;
    seen->tally++;
    seen->tally_units += record->n_units;
}

static struct seen seen;
static struct wi_profile_trouble trouble;

static int read_profile(void)
{
    memset(&seen, 0, sizeof seen);
    struct wi_profile_visitor visitor = {.header = on_header,
                                         .process = on_process,
                                         .thread = on_thread,
                                         .thread_end = on_thread_end,
                                         .module = on_module,
                                         .source = on_source,
                                         .stack = on_stack,
                                         .samples = on_samples,
                                         .point = on_point,
                                         .unit = on_unit,
                                         .tally = on_tally,
                                         .notice = on_notice,
                                         .experiment = on_experiment,
                                         .end = on_end,
                                         .context = &seen};
    return wi_profile_read(path, &visitor, &trouble);
}

static const struct wi_record_header header = {.command = (const char *const[]){"./server", "-p", NULL},
                                               .seed = UINT64_MAX,
                                               .sampler = "sigtrap",
                                               .options_json = "{\"speedups\": [0, 50]}"};

/* One record of each type. */
static void write_everything(struct wi_profile_writer *writer)
{
    wi_profile_write_process(writer, &(struct wi_record_process){.id = 0, .pid = 10, .executable = "/bin/x"});
    wi_profile_write_thread(writer,
                            &(struct wi_record_thread){.id = 0, .process = 0, .tid = 10, .name = "x"});
    wi_profile_write_module(writer, &(struct wi_record_module){.id = 0, .path = "/bin/x", .is_main = true});
    wi_profile_write_source(writer, &(struct wi_record_source){.id = 0, .path = "/src/x.c", .sha256 = "00"});
    wi_profile_write_stack(writer, &(struct wi_record_stack){.id = 0, .parent = WI_NONE, .function = "main"});
    wi_profile_write_stack(writer,
                           &(struct wi_record_stack){.id = 1, .parent = 0, .function = "f", .line = 3});
    wi_profile_write_samples(
        writer,
        (struct wi_record_sample[]){{.time_ns = 5, .stack = 1},
                                    {.time_ns = 9, .stack = 0, .wait_ns = 7, .wait_kind = 2}},
        2);
    wi_profile_write_point(writer, &(struct wi_record_point){.id = 0, .name = "requests"});
    wi_profile_write_point(writer, &(struct wi_record_point){.id = 1, .name = "t", .kind = WI_POINT_LATENCY});
    wi_profile_write_unit(writer,
                          &(struct wi_record_unit){.id = 0, .name = "x.c:3", .kind = "line", .line = 3});
    uint32_t histogram[] = {5, 10, 511, UINT32_MAX};
    struct wi_point_count counts[] = {{.point = 0, .visits = 7},
                                      {.point = 1,
                                       .visits = 6,
                                       .begins = 8,
                                       .in_flight_ns = 1.25e9,
                                       .matched = 6,
                                       .matched_sum_ns = 3e8,
                                       .histogram = histogram,
                                       .n_histogram = 2}};
    wi_profile_write_experiment(writer, &(struct wi_record_experiment){.id = 3,
                                                                       .block = 1,
                                                                       .kind = WI_EXPERIMENT_PLACEBO,
                                                                       .speedup_percent = 12.5,
                                                                       .start_ns = 10,
                                                                       .end_ns = 20,
                                                                       .delay_ns = 3,
                                                                       .pauses = 4,
                                                                       .noise = 0.25,
                                                                       .valid = true,
                                                                       .points = counts,
                                                                       .n_points = 2});
    wi_profile_write_tally(
        writer, &(struct wi_record_tally){
                    .time_ns = 30, .samples = 4, .units = &(struct wi_unit_tally){0, 2, 4, 3}, .n_units = 1});
    wi_profile_write_notice(writer, &(struct wi_record_notice){.code = "too-short", .text = "It was short."});
    wi_profile_write_thread_end(writer, &(struct wi_record_thread_end){.thread = 0, .end_ns = 99});
    wi_profile_write_end(writer,
                         &(struct wi_record_end){.time_ns = 100, .reason = "exited", .exit_status = 3});
}

static char *whole_profile(size_t *length)
{
    struct wi_profile_writer *writer;
    ck_assert_int_eq(wi_profile_create(path, &header, &writer), 0);
    write_everything(writer);
    ck_assert_int_eq(wi_profile_close(writer), 0);
    return read_file(path, length);
}

#define HEADER "{\"type\":\"header\",\"format\":\"whatif-profile\",\"version\":1}\n"

/* ---- what is written comes back ------------------------------------------------------------------------------------ */

static void check_everything_was_seen(void)
{
    ck_assert_int_eq(seen.header, 1);
    ck_assert_int_eq(seen.process, 1);
    ck_assert_int_eq(seen.thread, 1);
    ck_assert_int_eq(seen.module, 1);
    ck_assert_int_eq(seen.source, 1);
    ck_assert_int_eq(seen.stack, 2);
    ck_assert_uint_eq(seen.samples, 2);
    ck_assert_int_eq(seen.point, 2);
    ck_assert_int_eq(seen.unit, 1);
    ck_assert_int_eq(seen.experiment, 1);
    ck_assert_int_eq(seen.tally, 1);
    ck_assert_int_eq(seen.notice, 1);
    ck_assert_int_eq(seen.thread_end, 1);
    ck_assert_int_eq(seen.end, 1);
}

START_TEST(what_is_written_comes_back)
{
    free(whole_profile(NULL));
    ck_assert_int_eq(read_profile(), 0);
    ck_assert_uint_eq(trouble.skipped, 0);
    ck_assert(!trouble.truncated);
    check_everything_was_seen();
    ck_assert_str_eq(seen.text, "./server|-p|sigtrap|{\"speedups\":[0,50]}");
    ck_assert_uint_eq(seen.seed, UINT64_MAX);
    ck_assert_uint_eq(seen.last_sample.wait_ns, 7);
    ck_assert_uint_eq(seen.last_sample.wait_kind, WI_WAIT_WORLD);
    ck_assert_int_eq(seen.last_experiment.kind, WI_EXPERIMENT_PLACEBO);
    ck_assert_double_eq(seen.last_experiment.speedup_percent, 12.5);
    ck_assert_double_eq(seen.last_experiment.noise, 0.25);
    ck_assert(seen.last_experiment.valid);
    ck_assert_uint_eq(seen.last_count.begins, 8);
    ck_assert_double_eq(seen.last_count.in_flight_ns, 1.25e9);
    ck_assert_uint_eq(seen.last_histogram[2], 511);
    ck_assert_uint_eq(seen.last_histogram[3], UINT32_MAX);
}
END_TEST

START_TEST(compressed_profiles_are_recognised)
{
    size_t length;
    char *bytes = whole_profile(&length);
    gzFile file = gzopen(path, "wb");
    ck_assert_int_eq(gzwrite(file, bytes, (unsigned)length), (int)length);
    ck_assert_int_eq(gzclose(file), Z_OK);
    ck_assert_int_eq(read_profile(), 0);
    ck_assert(!trouble.truncated);
    check_everything_was_seen();
    free(bytes);
}
END_TEST

START_TEST(batches_and_tallies_longer_than_a_line_are_cut_not_lost)
{
    struct wi_profile_writer *writer;
    ck_assert_int_eq(wi_profile_create(path, &header, &writer), 0);
    size_t n = 40000;
    struct wi_record_sample *samples = calloc(n, sizeof *samples);
    struct wi_unit_tally *units = calloc(n, sizeof *units);
    write_everything(writer);
    for (uint32_t i = 0; i < n; i++) {
        samples[i] = (struct wi_record_sample){.time_ns = UINT64_MAX, .cpu_ns = 1000000};
        units[i] = (struct wi_unit_tally){i, UINT64_MAX, UINT64_MAX, UINT64_MAX};
        if (i > 0)
            wi_profile_write_unit(writer, &(struct wi_record_unit){.id = i, .name = "n", .kind = "line"});
    }
    wi_profile_write_samples(writer, samples, n);
    wi_profile_write_tally(writer, &(struct wi_record_tally){.units = units, .n_units = n});
    ck_assert_int_eq(wi_profile_close(writer), 0);
    ck_assert_int_eq(read_profile(), 0);
    ck_assert_uint_eq(trouble.skipped, 0);
    ck_assert_uint_eq(seen.samples, n + 2);
    ck_assert_uint_eq(seen.tally_units, n + 1);
    free(samples);
    free(units);
}
END_TEST

START_TEST(writer_survives_what_json_cannot_hold)
{
    struct wi_profile_writer *writer;
    ck_assert_int_eq(wi_profile_create(path, &header, &writer), 0);
    wi_profile_write_point(writer, &(struct wi_record_point){.id = 0, .name = "bad\x80name\xed\xa0\x80"});
    wi_profile_write_unit(writer,
                          &(struct wi_record_unit){.id = 0, .name = "u", .kind = "line", .file = "\xff"});
    struct wi_point_count count = {.point = 0, .in_flight_ns = 0.0 / 0.0};
    wi_profile_write_experiment(writer, &(struct wi_record_experiment){.speedup_percent = 1.0 / 0.0,
                                                                       .end_ns = UINT64_MAX,
                                                                       .noise = -1,
                                                                       .points = &count,
                                                                       .n_points = 1});
    ck_assert_int_eq(wi_profile_close(writer), 0);
    ck_assert_int_eq(read_profile(), 0);
    ck_assert_uint_eq(trouble.skipped, 0);
    ck_assert_int_eq(seen.experiment, 1);
    ck_assert_uint_eq(seen.last_experiment.end_ns, INT64_MAX);
}
END_TEST

/* ---- damage ---------------------------------------------------------------------------------------------------------- */

START_TEST(every_cut_leaves_the_lines_before_it)
{
    size_t length;
    char *bytes = whole_profile(&length);
    size_t first = (size_t)(strchr(bytes, '\n') + 1 - bytes);
    for (size_t cut = 0; cut <= length; cut++) {
        write_bytes(path, bytes, cut);
        int result = read_profile();
        ck_assert_int_eq(result, cut < first - 1 ? -EBADMSG : 0);
        bool between = cut == length || bytes[cut] == '\n' || (cut > 0 && bytes[cut - 1] == '\n');
        if (result == 0)
            ck_assert_int_eq(trouble.truncated, !between);
        ck_assert_uint_eq(trouble.skipped, 0);
    }
    free(bytes);
}
END_TEST

START_TEST(cut_compressed_profile_is_truncated)
{
    size_t length;
    char *bytes = whole_profile(&length);
    gzFile file = gzopen(path, "wb");
    for (int i = 0; i < 2000; i++) /* definitions for the second time are skipped, but fill the file */
        gzwrite(file, bytes, (unsigned)length);
    gzclose(file);
    free(bytes);
    bytes = read_file(path, &length);
    write_bytes(path, bytes, length / 2);
    ck_assert_int_eq(read_profile(), 0);
    ck_assert(trouble.truncated);
    ck_assert_int_eq(seen.header, 1);
    bytes[length / 2] ^= 0x55;
    write_bytes(path, bytes, length);
    ck_assert_int_eq(read_profile(), 0);
    free(bytes);
}
END_TEST

START_TEST(foreign_files_are_refused_with_line_and_reason)
{
    const char *const foreign[] = {"",
                                   "\n",
                                   "hello\n",
                                   "{}\n",
                                   "[1]\n",
                                   "startup time=1\n",
                                   "{\"version\":1}\n",
                                   "{\"type\":\"header\",\"format\":\"whatif-profile\"}\n"};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        write_file(path, foreign[i]);
        ck_assert_int_eq(read_profile(), -EBADMSG);
        ck_assert_uint_eq(trouble.first_line, 1);
        ck_assert_str_ne(trouble.why, "");
        ck_assert_int_eq(seen.header, 0);
    }
    strcpy(path, "/nowhere/profile");
    ck_assert_int_eq(read_profile(), -ENOENT);
    strcpy(path, "/tmp");
    ck_assert_int_eq(read_profile(), -EISDIR);
    strcpy(path, "/dev/zero");
    ck_assert_int_eq(read_profile(), -EBADMSG);
}
END_TEST

START_TEST(later_version_is_refused_as_such)
{
    write_file(path, "{\"type\":\"header\",\"format\":\"whatif-profile\",\"version\":2}\n");
    ck_assert_int_eq(read_profile(), -EPROTONOSUPPORT);
}
END_TEST

START_TEST(unknown_records_and_fields_are_no_damage)
{
    write_file(path, HEADER "{\"type\":\"future\",\"x\":[{}]}\n"
                            "{\"type\":\"notice\",\"code\":\"c\",\"mood\":\"good\"}\n");
    ck_assert_int_eq(read_profile(), 0);
    ck_assert_uint_eq(trouble.skipped, 0);
    ck_assert_int_eq(seen.notice, 1);
}
END_TEST

static const char *const damaged_lines[] = {
    "",
    "{",
    "garbage",
    "[]",
    "42",
    "{\"type\":7}",
    "{\"type\":\"header\"}",
    "{\"type\":\"point\",\"name\":\"p\",\"kind\":\"throughput\"}",
    "{\"type\":\"point\",\"id\":-1,\"name\":\"p\",\"kind\":\"throughput\"}",
    "{\"type\":\"point\",\"id\":4294967295,\"name\":\"p\",\"kind\":\"throughput\"}",
    "{\"type\":\"point\",\"id\":99999999999999999999,\"name\":\"p\",\"kind\":\"throughput\"}",
    "{\"type\":\"point\",\"id\":1,\"name\":\"p\",\"kind\":\"speed\"}",
    "{\"type\":\"point\",\"id\":1,\"name\":\"\",\"kind\":\"latency\"}",
    "{\"type\":\"point\",\"id\":1,\"name\":\"a\\u0000b\",\"kind\":\"latency\"}",
    "{\"type\":\"point\",\"id\":1,\"name\":[],\"kind\":\"latency\"}",
    "{\"type\":\"point\",\"id\":0,\"name\":\"again\",\"kind\":\"latency\"}",
    "{\"type\":\"stack\",\"id\":0,\"parent\":0}",
    "{\"type\":\"stack\",\"id\":0,\"module\":7}",
    "{\"type\":\"experiment\",\"kind\":\"baseline\",\"end_ns\":1}",
    "{\"type\":\"experiment\",\"kind\":\"baseline\",\"unit\":5,\"end_ns\":1}",
    "{\"type\":\"experiment\",\"kind\":\"baseline\",\"unit\":0,\"start_ns\":2,\"end_ns\":1}",
    "{\"type\":\"experiment\",\"kind\":\"baseline\",\"unit\":0,\"end_ns\":-5}",
    "{\"type\":\"experiment\",\"kind\":\"baseline\",\"unit\":0,\"speedup_percent\":101}",
    "{\"type\":\"experiment\",\"kind\":\"baseline\",\"unit\":0,\"speedup_percent\":NaN}",
    "{\"type\":\"experiment\",\"kind\":\"baseline\",\"unit\":0,\"speedup_percent\":1e999}",
    "{\"type\":\"experiment\",\"kind\":\"baseline\",\"unit\":0,\"end_ns\":1.5}",
    "{\"type\":\"samples\"}",
    "{\"type\":\"samples\",\"time_ns\":[1],\"thread\":[],\"stack\":[0]}",
    "{\"type\":\"samples\",\"time_ns\":[1],\"thread\":[0],\"stack\":[0]}",
    "{\"type\":\"samples\",\"time_ns\":[-1],\"thread\":[0],\"stack\":[0]}",
};

START_TEST(damaged_line_is_skipped_counted_and_harms_no_other)
{
    static const char before[] =
        HEADER "{\"type\":\"point\",\"id\":0,\"name\":\"p\",\"kind\":\"throughput\"}\n"
               "{\"type\":\"unit\",\"id\":0,\"name\":\"u\",\"kind\":\"line\"}\n";
    char text[1024];
    snprintf(text, sizeof text, "%s%s\n{\"type\":\"notice\",\"code\":\"c\"}\n", before, damaged_lines[_i]);
    write_file(path, text);
    ck_assert_int_eq(read_profile(), 0);
    ck_assert_msg(trouble.skipped == 1, "accepted: %s", damaged_lines[_i]);
    ck_assert_uint_eq(trouble.first_line, 4);
    ck_assert_str_ne(trouble.why, "");
    ck_assert_int_eq(seen.notice, 1);
    ck_assert_int_eq(seen.point, 1);
    ck_assert_int_eq(seen.experiment, 0);
    ck_assert_uint_eq(seen.samples, 0);
}
END_TEST

START_TEST(bad_entries_of_a_list_leave_the_others)
{
    write_file(
        path, HEADER
        "{\"type\":\"point\",\"id\":0,\"name\":\"p\",\"kind\":\"throughput\"}\n"
        "{\"type\":\"unit\",\"id\":0,\"name\":\"u\",\"kind\":\"line\"}\n"
        "{\"type\":\"experiment\",\"kind\":\"baseline\",\"unit\":0,\"end_ns\":1,\"points\":["
        "{\"point\":9,\"visits\":1},{\"point\":0,\"visits\":2},{\"point\":0,\"histogram\":[512,1]},7]}\n"
        "{\"type\":\"tally\",\"time_ns\":1,\"units\":[[0,1,2,3],[1,1,1,1],[0,1],3,[0,-1,1,1]]}\n");
    ck_assert_int_eq(read_profile(), 0);
    ck_assert_uint_eq(trouble.skipped, 2);
    ck_assert_int_eq(seen.experiment, 1);
    ck_assert_uint_eq(seen.counts, 1);
    ck_assert_uint_eq(seen.last_count.visits, 2);
    ck_assert_uint_eq(seen.tally_units, 1);
}
END_TEST

/* ---- hostile sizes ---------------------------------------------------------------------------------------------------- */

static void append_line(FILE *file, const char *begin, char fill, size_t n, const char *end)
{
    fputs(begin, file);
    for (size_t i = 0; i < n; i++)
        putc(fill, file);
    fputs(end, file);
}

START_TEST(huge_lines_and_deep_nesting_cost_a_line_each)
{
    FILE *file = fopen(path, "w");
    fputs(HEADER, file);
    append_line(file, "{\"type\":\"notice\",\"code\":\"", 'x', WI_PROFILE_MAX_LINE * 3, "\"}\n");
    append_line(file, "{\"type\":\"notice\",\"code\":", '[', 1000000, "\n");
    append_line(file, "", '[', 1000000, "\n");
    fputs("{\"type\":\"notice\",\"code\":\"c\"}\n", file);
    fclose(file);
    ck_assert_int_eq(read_profile(), 0);
    ck_assert_uint_eq(trouble.skipped, 3);
    ck_assert_uint_eq(trouble.first_line, 2);
    ck_assert_str_eq(trouble.why, "is too long");
    ck_assert_int_eq(seen.notice, 1);
}
END_TEST

static uint64_t random_state;
static uint32_t random_below(uint32_t n)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

/* Flip, overwrite, delete or repeat a few bytes. */
static size_t mutate(char *bytes, size_t length)
{
    static const char spice[] = "{}[]\",:0123456789-+.eE\\u\n\0\xff";
    for (uint32_t n = 1 + random_below(6); n > 0 && length > 40; n--) {
        size_t at = random_below((uint32_t)length), run = 1 + random_below(16);
        run = at + run < length ? run : length - at;
        switch (random_below(4)) {
        case 0:
            bytes[at] ^= (char)(1 << random_below(8));
            break;
        case 1:
            bytes[at] = spice[random_below(sizeof spice)];
            break;
        case 2:
            memmove(bytes + at, bytes + at + run, length - at - run);
            length -= run;
            break;
        default:
            memmove(bytes + at, bytes + random_below((uint32_t)(length - run)), run);
        }
    }
    return length;
}

START_TEST(mutated_profiles_are_read_or_refused)
{
    size_t length;
    char *bytes = whole_profile(&length), *copy = malloc(length);
    random_state = 20150908;
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < 20000; i++) {
        memcpy(copy, bytes, length);
        write_bytes(path, copy, mutate(copy, length));
        int result = read_profile();
        ck_assert(result == 0 || result == -EBADMSG || result == -EPROTONOSUPPORT);
        ck_assert(seen.samples <= 2 && seen.counts <= 2 * (size_t)seen.experiment);
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (now.tv_sec - begin.tv_sec >= 3)
            break;
    }
    free(bytes);
    free(copy);
}
END_TEST

START_TEST(a_million_samples_take_no_more_memory_than_a_thousand)
{
    struct wi_profile_writer *writer;
    ck_assert_int_eq(wi_profile_create(path, &header, &writer), 0);
    write_everything(writer);
    enum { BATCH = 1000 };
    static struct wi_record_sample samples[BATCH];
    for (uint64_t i = 0; i < 1000000; i += BATCH) {
        for (uint64_t j = 0; j < BATCH; j++)
            samples[j] =
                (struct wi_record_sample){.time_ns = (i + j) * 1000000, .cpu_ns = 1000000, .stack = j % 2};
        wi_profile_write_samples(writer, samples, BATCH);
    }
    ck_assert_int_eq(wi_profile_close(writer), 0);
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    ck_assert_int_eq(read_profile(), 0);
    getrusage(RUSAGE_SELF, &after);
    ck_assert_uint_eq(seen.samples, 1000002);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed */
    ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 20000); /* KiB */
#endif
}
END_TEST

/* ---- latencies ----------------------------------------------------------------------------------------------------------- */

START_TEST(buckets_are_ordered_and_an_eighth_wide)
{
    for (uint32_t i = 0; i < 495; i++) {
        uint64_t low = wi_latency_bucket_low(i), next = wi_latency_bucket_low(i + 1);
        ck_assert_uint_lt(low, next);
        ck_assert_uint_le(next - low, low < 8 ? 1 : low / 8);
        ck_assert_uint_eq(wi_latency_bucket_of(low), i);
        ck_assert_uint_eq(wi_latency_bucket_of(next - 1), i);
    }
    ck_assert_uint_eq(wi_latency_bucket_of(UINT64_MAX), 495);
    ck_assert_uint_eq(wi_latency_bucket_low(496), UINT64_MAX);
    ck_assert_uint_eq(wi_latency_bucket_low(UINT32_MAX), UINT64_MAX);
}
END_TEST

START_TEST(quantiles_lie_in_their_bucket)
{
    static uint64_t counts[WI_LATENCY_BUCKETS];
    ck_assert_double_lt(wi_latency_quantile(counts, 0.5), 0);
    for (uint64_t latency = 1; latency <= 100000; latency++)
        counts[wi_latency_bucket_of(latency)]++;
    ck_assert_double_eq_tol(wi_latency_quantile(counts, 0.5), 50000, 500);
    ck_assert_double_eq_tol(wi_latency_quantile(counts, 0.99), 99000, 3000);
    ck_assert_double_le(wi_latency_quantile(counts, 1), 106496);
}
END_TEST

int main(void)
{
    TCase *tests = tcase_create("reader");
    tcase_set_timeout(tests, 30);
    tcase_add_test(tests, what_is_written_comes_back);
    tcase_add_test(tests, compressed_profiles_are_recognised);
    tcase_add_test(tests, batches_and_tallies_longer_than_a_line_are_cut_not_lost);
    tcase_add_test(tests, writer_survives_what_json_cannot_hold);
    tcase_add_test(tests, every_cut_leaves_the_lines_before_it);
    tcase_add_test(tests, cut_compressed_profile_is_truncated);
    tcase_add_test(tests, foreign_files_are_refused_with_line_and_reason);
    tcase_add_test(tests, later_version_is_refused_as_such);
    tcase_add_test(tests, unknown_records_and_fields_are_no_damage);
    tcase_add_loop_test(tests, damaged_line_is_skipped_counted_and_harms_no_other, 0,
                        (int)(sizeof damaged_lines / sizeof *damaged_lines));
    tcase_add_test(tests, bad_entries_of_a_list_leave_the_others);
    tcase_add_test(tests, huge_lines_and_deep_nesting_cost_a_line_each);
    tcase_add_test(tests, mutated_profiles_are_read_or_refused);
    tcase_add_test(tests, a_million_samples_take_no_more_memory_than_a_thousand);
    tcase_add_test(tests, buckets_are_ordered_and_an_eighth_wide);
    tcase_add_test(tests, quantiles_lie_in_their_bucket);
    return run_tests("profile reader", tests);
}

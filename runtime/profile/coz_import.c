/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Profiles of Coz as records of ours.
 *
 * A line is a word and fields: `experiment<TAB>selected=a.c:3<TAB>speedup=0.5...`, or a JSON object with the same
 * names ('_' and '-' alike). The counts of an experiment follow it on lines of their own, so an experiment is
 * delivered when the next one begins or the file ends.
 *
 * What Coz does not write, we do not invent: no stacks, no pauses, no placebos, no time inside a unit; so its
 * estimates have no bound and no correction for what pausing costs. Its durations are effective time already. It runs no
 * blocks: each unit's experiments are cut into blocks where a baseline comes and the block has both a baseline
 * and a treatment, so that neighbours in time are compared and every block is complete but perhaps the last.
 * `difference` of a latency point is the number in flight at the end; over many experiments its mean is what the
 * latency rests on, as in Coz's own viewer.
 */
#include "runtime/profile/coz_import.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/profile/map.h"

#define PERIOD_NS  1000000 /* Coz's, fixed */
#define MAX_POINTS 256     /* counts of one experiment */
#define MAX_NUMBER 9e18
#define NEGATIVE_NS                                                                                          \
    1.8e19 /* Coz took more delay off a duration than it had, and the difference wrapped around */

struct name {
    char *text;
    enum wi_point_kind kind; /* of points */
    uint64_t samples;        /* of units, as last told */
    uint32_t block;          /* of units: the one that is being filled */
    bool has_baseline, has_treatment;
};

struct names {
    struct name *all;
    uint32_t n;
    struct wi_map numbers;
};

struct wi_coz {
    const struct wi_profile_visitor *visitor;
    struct names units, points;
    uint32_t n_blocks, n_experiments;
    uint64_t now_ns;
    bool pending; /* an experiment whose counts are being gathered */
    struct wi_record_experiment experiment;
    struct wi_point_count counts[MAX_POINTS];
};

struct fields { /* of one line, whichever way it was written */
    json_t *object;
};

#define DELIVER(coz, callback, record)                                                                       \
    do {                                                                                                     \
        if ((coz)->visitor->callback != NULL)                                                                \
            (coz)->visitor->callback(record, (coz)->visitor->context);                                       \
    } while (0)

/* ---- lines into fields ------------------------------------------------------------------------------------------------- */

static void hyphenate(char *key)
{
    for (; *key != '\0'; key++)
        if (*key == '_')
            *key = '-';
}

static const char *const words[] = {"startup",    "shutdown",         "runtime",        "samples",
                                    "experiment", "throughput-point", "progress-point", "latency-point"};

static bool is_word(const char *text, size_t length)
{
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && memcmp(words[i], text, length) == 0)
            return true;
    return false;
}

/* Fields of a text line, as strings of an object; the first word as "type". Modifies the copy it is given. */
static json_t *split(char *line)
{
    json_t *object = json_object();
    char *rest = line, *field = strsep(&rest, "\t");
    json_object_set_new(object, "type", json_string(field));
    while ((field = strsep(&rest, "\t")) != NULL) {
        char *equals = strchr(field, '=');
        if (equals == NULL)
            continue;
        *equals = '\0';
        if (strcmp(field, "type") != 0) /* older files say "source" or the like here */
            json_object_set_new(object, field, json_string(equals + 1));
    }
    return object;
}

static json_t *with_hyphens(json_t *object)
{
    json_t *out = json_object();
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value)
    {
        char *copy = strdup(key);
        if (copy == NULL)
            continue;
        hyphenate(copy);
        json_object_set(out, copy, value);
        free(copy);
    }
    json_decref(object);
    return out;
}

static json_t *parse(const char *line, size_t length)
{
    if (length > 0 && line[length - 1] == '\r')
        length--;
    if (length > 0 && line[0] == '{') {
        json_t *object = json_loadb(line, length, JSON_REJECT_DUPLICATES, NULL);
        return json_is_object(object) ? with_hyphens(object) : (json_decref(object), NULL);
    }
    char *copy = strndup(line, length);
    json_t *object = copy != NULL ? split(copy) : NULL;
    free(copy);
    return object;
}

static const char *text_of(const struct fields *fields, const char *key)
{
    const char *text = json_string_value(json_object_get(fields->object, key));
    return text != NULL && text[0] != '\0' ? text : NULL;
}

/* NAN if it is missing or no number. */
static double number_of(const struct fields *fields, const char *key)
{
    json_t *value = json_object_get(fields->object, key);
    if (json_is_number(value))
        return json_number_value(value);
    const char *text = json_string_value(value);
    char *end;
    double number = text != NULL ? strtod(text, &end) : NAN;
    return text != NULL && end != text && *end == '\0' ? number : NAN;
}

/* Whether it is a number from 0 on that fits what we count with. */
static bool take_count(const struct fields *fields, const char *key, uint64_t *out)
{
    double number = number_of(fields, key);
    if (!(number >= 0 && number < MAX_NUMBER))
        return false;
    *out = (uint64_t)number;
    return true;
}

bool wi_coz_recognises(const char *line, size_t length)
{
    if (length > 0 && line[0] == '{') {
        json_t *object = parse(line, length);
        const char *type = json_string_value(json_object_get(object, "type"));
        char *copy = type != NULL ? strdup(type) : NULL;
        if (copy != NULL)
            hyphenate(copy);
        bool known = copy != NULL && is_word(copy, strlen(copy));
        free(copy);
        json_decref(object);
        return known;
    }
    const char *tab = memchr(line, '\t', length);
    return tab != NULL && is_word(line, (size_t)(tab - line));
}

/* ---- names ---------------------------------------------------------------------------------------------------------------- */

struct wanted {
    const struct names *names;
    const char *text;
    enum wi_point_kind kind;
};

static bool same(uint32_t value, const void *context)
{
    const struct wanted *wanted = context;
    const struct name *name = &wanted->names->all[value];
    return name->kind == wanted->kind && strcmp(name->text, wanted->text) == 0;
}

/* The number of a name; *is_new says that this is its first. WI_NONE if memory is out. */
static uint32_t number(struct wi_coz *coz, struct names *names, const char *text, enum wi_point_kind kind,
                       bool *is_new)
{
    struct wanted wanted = {names, text, kind};
    uint64_t hash = wi_map_hash_text(text, (uintptr_t)coz);
    uint32_t found = wi_map_find(&names->numbers, hash, same, &wanted);
    *is_new = found == WI_NONE;
    if (found != WI_NONE)
        return found;
    if ((names->n & (names->n - 1)) == 0) {
        size_t capacity = names->n == 0 ? 1 : (size_t)names->n * 2;
        struct name *grown = realloc(names->all, capacity * sizeof *grown);
        if (grown == NULL)
            return WI_NONE;
        names->all = grown;
    }
    char *copy = strdup(text);
    if (copy == NULL || wi_map_add(&names->numbers, hash, names->n) != 0) {
        free(copy);
        return WI_NONE;
    }
    names->all[names->n] = (struct name){.text = copy, .kind = kind, .block = WI_NONE};
    return names->n++;
}

/* "FILE:LINE", or the name of whatever else was selected. */
static void deliver_unit(struct wi_coz *coz, uint32_t id, const char *name)
{
    const char *colon = strrchr(name, ':');
    char *end = NULL;
    unsigned long line = colon != NULL && isdigit((unsigned char)colon[1]) ? strtoul(colon + 1, &end, 10) : 0;
    bool is_line = line > 0 && line < UINT32_MAX && *end == '\0' && colon != name;
    char *file = is_line ? strndup(name, (size_t)(colon - name)) : NULL;
    struct wi_record_unit record = {.id = id,
                                    .name = name,
                                    .kind = is_line ? "line" : "function",
                                    .file = file,
                                    .line = is_line ? (uint32_t)line : 0,
                                    .function = is_line ? NULL : name};
    DELIVER(coz, unit, &record);
    free(file);
}

static uint32_t unit_number(struct wi_coz *coz, const char *name)
{
    bool is_new;
    uint32_t id = number(coz, &coz->units, name, WI_POINT_THROUGHPUT, &is_new);
    if (id != WI_NONE && is_new)
        deliver_unit(coz, id, name);
    return id;
}

static uint32_t point_number(struct wi_coz *coz, const char *name, enum wi_point_kind kind)
{
    bool is_new;
    uint32_t id = number(coz, &coz->points, name, kind, &is_new);
    struct wi_record_point record = {id, name, kind};
    if (id != WI_NONE && is_new)
        DELIVER(coz, point, &record);
    return id;
}

/* ---- experiments ------------------------------------------------------------------------------------------------------------- */

static void deliver_experiment(struct wi_coz *coz)
{
    if (!coz->pending)
        return;
    coz->pending = false;
    DELIVER(coz, experiment, &coz->experiment);
}

static uint32_t block_of(struct wi_coz *coz, struct name *unit, bool is_baseline)
{
    if (unit->block == WI_NONE || (is_baseline && unit->has_baseline && unit->has_treatment)) {
        unit->block = coz->n_blocks++;
        unit->has_baseline = unit->has_treatment = false;
    }
    unit->has_baseline |= is_baseline;
    unit->has_treatment |= !is_baseline;
    return unit->block;
}

static const char *take_experiment(struct wi_coz *coz, const struct fields *fields)
{
    deliver_experiment(coz);
    const char *selected = text_of(fields, "selected");
    double speedup = number_of(fields, "speedup");
    uint64_t duration_ns = 0, hits = 0;
    bool negative = number_of(fields, "duration") > NEGATIVE_NS;
    if (selected == NULL || !(speedup >= 0 && speedup <= 1) ||
        (!negative && !take_count(fields, "duration", &duration_ns)) ||
        duration_ns > UINT64_MAX / 4 - coz->now_ns)
        return "is an experiment without unit, speedup or duration";
    take_count(fields, "selected-samples", &hits);
    uint32_t unit = unit_number(coz, selected);
    if (unit == WI_NONE)
        return "out of memory";
    coz->experiment = (struct wi_record_experiment){
        .id = coz->n_experiments++,
        .block = block_of(coz, &coz->units.all[unit], speedup == 0),
        .unit = unit,
        .kind = speedup == 0 ? WI_EXPERIMENT_BASELINE : WI_EXPERIMENT_TREATMENT,
        .speedup_percent = round(speedup * 1e4) / 100,
        .start_ns = coz->now_ns,
        .end_ns = coz->now_ns + duration_ns,
        .hits = hits,
        .noise = -1,
        .valid = duration_ns > 0,
        .invalid_because = duration_ns > 0 ? NULL
                           : negative      ? "more delay than time"
                                           : "cut short",
        .points = coz->counts,
    };
    coz->now_ns += duration_ns;
    coz->pending = true;
    return NULL;
}

static const char *take_count_line(struct wi_coz *coz, const struct fields *fields, enum wi_point_kind kind)
{
    const char *name = text_of(fields, "name");
    struct wi_point_count count = {0};
    double difference = 0;
    bool latency = kind == WI_POINT_LATENCY;
    bool complete = name != NULL && take_count(fields, latency ? "departures" : "delta", &count.visits);
    if (latency) {
        difference = number_of(fields, "difference");
        complete = complete && take_count(fields, "arrivals", &count.begins) && isfinite(difference);
    }
    if (!complete)
        return "is a progress point without name or counts";
    if (!coz->pending || coz->experiment.n_points == MAX_POINTS)
        return "is a progress point without an experiment";
    count.point = point_number(coz, name, kind);
    if (count.point == WI_NONE)
        return "out of memory";
    count.in_flight_ns = fmax(0, difference) * (double)(coz->experiment.end_ns - coz->experiment.start_ns);
    coz->counts[coz->experiment.n_points++] = count;
    return NULL;
}

static const char *take_samples(struct wi_coz *coz, const struct fields *fields)
{
    const char *location = text_of(fields, "location");
    uint64_t count;
    if (location == NULL || !take_count(fields, "count", &count))
        return "is a count of samples without location or number";
    uint32_t unit = unit_number(coz, location);
    if (unit == WI_NONE)
        return "out of memory";
    coz->units.all[unit].samples = count; /* running totals: the last one counts */
    return NULL;
}

const char *wi_coz_line(struct wi_coz *coz, const char *line, size_t length)
{
    if (length == 0 || (length == 1 && line[0] == '\r'))
        return NULL;
    struct fields fields = {.object = parse(line, length)};
    const char *type = json_string_value(json_object_get(fields.object, "type"));
    char *copy = type != NULL ? strdup(type) : NULL;
    const char *complaint = NULL;
    if (copy != NULL)
        hyphenate(copy);
    if (copy == NULL || !is_word(copy, strlen(copy)))
        complaint = "is no line of Coz's";
    else if (strcmp(copy, "experiment") == 0)
        complaint = take_experiment(coz, &fields);
    else if (strcmp(copy, "latency-point") == 0)
        complaint = take_count_line(coz, &fields, WI_POINT_LATENCY);
    else if (strcmp(copy, "throughput-point") == 0 || strcmp(copy, "progress-point") == 0)
        complaint = take_count_line(coz, &fields, WI_POINT_THROUGHPUT);
    else if (strcmp(copy, "samples") == 0)
        complaint = take_samples(coz, &fields);
    free(copy);
    json_decref(fields.object);
    return complaint;
}

/* ---- beginning and end -------------------------------------------------------------------------------------------------------- */

struct wi_coz *wi_coz_create(const struct wi_profile_visitor *visitor)
{
    static const char *const no_command[] = {"coz", NULL};
    struct wi_coz *coz = calloc(1, sizeof *coz);
    if (coz == NULL)
        return NULL;
    coz->visitor = visitor;
    struct wi_record_header header = {.command = no_command,
                                      .directory = "",
                                      .host = "",
                                      .cpu = "",
                                      .kernel = "",
                                      .sampler = "coz",
                                      .period_ns = PERIOD_NS,
                                      .whatif_version = ""};
    DELIVER(coz, header, &header);
    return coz;
}

static void deliver_tally(struct wi_coz *coz)
{
    struct wi_unit_tally *rows = calloc((size_t)coz->units.n + 1, sizeof *rows);
    struct wi_record_tally record = {.units = rows}; /* of no duration: the time inside is not known */
    for (uint32_t i = 0; i < coz->units.n && rows != NULL; i++) {
        uint64_t samples = coz->units.all[i].samples;
        if (samples == 0 || samples > UINT32_MAX)
            continue;
        rows[record.n_units++] = (struct wi_unit_tally){i, samples, samples * PERIOD_NS, 0};
        record.samples += samples;
    }
    record.samples_in_scope = record.samples;
    if (record.n_units > 0)
        DELIVER(coz, tally, &record);
    free(rows);
}

void wi_coz_finish(struct wi_coz *coz)
{
    static const struct wi_record_notice notice = {
        "coz-import",
        "This profile was made by Coz: nothing is corrected for what its pauses cost the program.", 1};
    deliver_experiment(coz);
    deliver_tally(coz);
    DELIVER(coz, notice, &notice);
    struct wi_record_end end = {.time_ns = coz->now_ns, .reason = "exited"};
    DELIVER(coz, end, &end);
}

static void names_fini(struct names *names)
{
    for (uint32_t i = 0; i < names->n; i++)
        free(names->all[i].text);
    free(names->all);
    wi_map_clear(&names->numbers);
}

void wi_coz_destroy(struct wi_coz *coz)
{
    if (coz == NULL)
        return;
    names_fini(&coz->units);
    names_fini(&coz->points);
    free(coz);
}

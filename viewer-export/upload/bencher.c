/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bencher: POST /v0/run with the results as one BMF document in a string.
 *
 * A document that Bencher cannot read is refused after the report was created, so everything that can be wrong is
 * checked here first, and each call has an idempotency key of its own: repeated by the retries of one call, never by
 * the next. The causal measures are created before, so that they have their units; a key that may not do that is no
 * error. Thresholds go on throughput and latency only: whether code that decides the speed is good or bad, nobody
 * can say in general.
 */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "runtime/profile/json.h"
#include "runtime/profile/model.h"
#include "viewer-export/upload/internal.h"

#define HOST        "https://api.bencher.dev"
#define CONSOLE     "https://bencher.dev"
#define MAX_BODY    ((size_t)4 * 1024 * 1024)
#define MAX_PROJECT 64
#define MAX_TESTBED 64
#define MAX_BRANCH  256
#define HASH_DIGITS 40
#define TRIES       6
#define T_TEST      0.99 /* one-sided, as in Bencher's own examples */
#define MAX_SAMPLES 64

struct upload {
    const struct wi_upload_options *options;
    const char *host, *key, *project, *testbed;
    char *branch, *hash; /* hash may be NULL */
    char *results;
    size_t results_length;
    int64_t start_ns, end_ns; /* since the epoch */
};

/* ---- what to say ------------------------------------------------------------------------------------------------------- */

static const char *first_of(const char *option, const char *variable, const char *otherwise)
{
    if (option != NULL)
        return option;
    const char *value = getenv(variable);
    return value != NULL && value[0] != '\0' ? value : otherwise;
}

/* The first line that git answers, to be freed; NULL without one. `command` is a constant. */
static char *ask_git(const char *command)
{
    char line[512];
    FILE *pipe = popen(command, "re");
    char *answer = pipe != NULL ? fgets(line, sizeof line, pipe) : NULL;
    bool ok = pipe != NULL && pclose(pipe) == 0 && answer != NULL;
    if (!ok)
        return NULL;
    line[strcspn(line, "\r\n")] = '\0';
    return line[0] != '\0' ? strdup(line) : NULL;
}

static char *branch_of(const struct wi_upload_options *options)
{
    const char *given = first_of(options->branch, "BENCHER_BRANCH", NULL);
    if (given != NULL)
        return strdup(given);
    char *branch = ask_git("git symbolic-ref --quiet --short HEAD 2>/dev/null");
    return branch != NULL ? branch : strdup("main");
}

static char *hash_of(const struct wi_upload_options *options)
{
    if (options->hash != NULL)
        return strdup(options->hash);
    char *hash = ask_git("git rev-parse --verify --quiet HEAD 2>/dev/null");
    if (hash != NULL && strlen(hash) == HASH_DIGITS && strspn(hash, "0123456789abcdef") == HASH_DIGITS)
        return hash;
    free(hash); /* a repository of another hash: Bencher knows none but this */
    return NULL;
}

static void on_header(const struct wi_record_header *record, void *context)
{
    *(int64_t *)context = record->start_epoch_ns;
}

static int write_results(struct upload *upload, const struct wi_model *model)
{
    FILE *memory = open_memstream(&upload->results, &upload->results_length);
    if (memory == NULL)
        return wi_upload_complain("bencher", strerror(errno));
    int status = wi_export_bencher(model, &upload->options->export, memory);
    if (fclose(memory) != 0 && status == 0)
        status = wi_upload_complain("bencher", strerror(errno));
    if (status == 0 && upload->results_length <= 3)
        status = wi_upload_complain(upload->options->paths[0],
                                    "holds no figures yet, so there is nothing to upload");
    return status;
}

static int read_profiles(struct upload *upload)
{
    const struct wi_upload_options *options = upload->options;
    struct wi_model *model = wi_model_create();
    int error = model != NULL ? 0 : -ENOMEM;
    size_t i = 0;
    for (; i < options->n_paths && error == 0; i++)
        error = wi_model_add(model, options->paths[i], NULL);
    struct wi_profile_visitor visitor = {.header = on_header, .context = &upload->start_ns};
    if (error == 0)
        error = wi_profile_read(options->paths[0], &visitor, NULL);
    int status = 0;
    if (error != 0)
        status = wi_upload_complain(options->paths[i > 0 ? i - 1 : 0],
                                    error == -EBADMSG ? "is no profile of whatif" : strerror(-error));
    else
        status = write_results(upload, model);
    if (status == 0) {
        int64_t duration_ns = (int64_t)(wi_model_duration_s(model) * 1e9);
        if (upload->start_ns <= 0) /* imported: it does not say when */
            upload->start_ns = (int64_t)time(NULL) * 1000000000 - duration_ns;
        upload->end_ns = upload->start_ns + duration_ns;
    }
    wi_model_destroy(model);
    return status;
}

/* ---- checks ------------------------------------------------------------------------------------------------------------------ */

static bool is_short_text(const char *text, size_t most)
{
    if (text[0] == '\0' || text[0] == ' ' || strlen(text) > most || text[strlen(text) - 1] == ' ')
        return false;
    for (const char *at = text; *at != '\0'; at++)
        if ((unsigned char)*at < 0x20 || *at == 0x7f)
            return false;
    return true;
}

static int check(const struct upload *upload)
{
    if (!wi_http_is_private(upload->host))
        return wi_upload_complain(upload->host, "is neither https nor this machine");
    if (upload->project == NULL)
        return wi_upload_complain("bencher", "which project? say --project or set BENCHER_PROJECT");
    if (!is_short_text(upload->project, MAX_PROJECT) ||
        strspn(upload->project, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(upload->project))
        return wi_upload_complain(upload->project,
                                  "is no name of a project: small letters, digits and hyphens");
    if (!is_short_text(upload->branch, MAX_BRANCH))
        return wi_upload_complain(upload->branch, "is no name of a branch");
    if (!is_short_text(upload->testbed, MAX_TESTBED))
        return wi_upload_complain(upload->testbed, "is no name of a testbed");
    if (upload->hash != NULL &&
        (strlen(upload->hash) != HASH_DIGITS || strspn(upload->hash, "0123456789abcdef") != HASH_DIGITS))
        return wi_upload_complain(upload->hash, "is no full hash of a commit");
    if (upload->key != NULL && !is_short_text(upload->key, 4096))
        return wi_upload_complain("bencher", "the key in the environment is none");
    return 0;
}

/* ---- the document ------------------------------------------------------------------------------------------------------------ */

static void set_time(json_t *object, const char *key, int64_t epoch_ns)
{
    char text[40];
    time_t seconds = (time_t)(epoch_ns / 1000000000);
    struct tm parts;
    if (gmtime_r(&seconds, &parts) != NULL && strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts) > 0)
        wi_json_set(object, key, json_string(text));
}

/* A random UUID, version 4. */
static json_t *new_key(void)
{
    unsigned char bytes[16];
    char text[37];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        return NULL;
    bytes[6] = (unsigned char)((bytes[6] & 0x0f) | 0x40);
    bytes[8] = (unsigned char)((bytes[8] & 0x3f) | 0x80);
    char *at = text;
    for (int i = 0; i < 16; i++)
        at += snprintf(at, 4, "%s%02x", i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", bytes[i]);
    return json_string(text);
}

static json_t *threshold(const char *boundary)
{
    json_t *model = json_object();
    wi_json_set(model, "test", json_string("t_test"));
    wi_json_set(model, "max_sample_size", json_integer(MAX_SAMPLES));
    wi_json_set(model, boundary, json_real(T_TEST));
    return model;
}

static json_t *thresholds(void)
{
    json_t *models = json_object(), *object = json_object();
    wi_json_set(models, "throughput", threshold("lower_boundary"));
    wi_json_set(models, "latency", threshold("upper_boundary"));
    wi_json_set(object, "models", models);
    return object;
}

static json_t *context_of(const struct upload *upload)
{
    json_t *context = json_object();
    wi_json_set(context, "bencher.dev/v0/testbed/os", json_string("Linux"));
    wi_json_set_string(context, "bencher.dev/v0/branch/ref/name", upload->branch);
    wi_json_set_string(context, "bencher.dev/v0/branch/hash", upload->hash);
    return context;
}

static json_t *document_of(const struct upload *upload)
{
    json_t *document = json_object(), *results = json_array(), *settings = json_object();
    json_array_append_new(results, json_stringn(upload->results, upload->results_length));
    wi_json_set(settings, "adapter", json_string("json"));
    wi_json_set_string(document, "project", upload->project);
    wi_json_set(document, "idempotency_key", new_key());
    wi_json_set_string(document, "branch", upload->branch);
    wi_json_set_string(document, "hash", upload->hash);
    wi_json_set_string(document, "testbed", upload->testbed);
    set_time(document, "start_time", upload->start_ns);
    set_time(document, "end_time", upload->end_ns);
    wi_json_set(document, "results", results);
    wi_json_set(document, "settings", settings);
    wi_json_set(document, "context", context_of(upload));
    if (upload->options->thresholds)
        wi_json_set(document, "thresholds", thresholds());
    return document;
}

/* ---- sending ------------------------------------------------------------------------------------------------------------------- */

static int send_json(const struct upload *upload, const char *path, const char *body, size_t length,
                     struct wi_http_reply *reply)
{
    static const char *const headers[] = {"Content-Type: application/json", "Accept: application/json", NULL};
    size_t host = strlen(upload->host);
    char *url;
    while (host > 0 && upload->host[host - 1] == '/')
        host--;
    if (asprintf(&url, "%.*s%s", (int)host, upload->host, path) < 0)
        return -1;
    struct wi_http_request request = {"POST", url, headers, upload->key, body, length, TRIES};
    int error = wi_http_send(&request, reply);
    free(url);
    return error;
}

static void create_measure(const struct upload *upload, const char *name, const char *slug)
{
    json_t *measure = json_pack("{s:s, s:s, s:s}", "name", name, "slug", slug, "units", "percentage (%)");
    char *body = json_dumps(measure, JSON_COMPACT), *path = NULL;
    struct wi_http_reply reply = {0};
    if (body != NULL && asprintf(&path, "/v0/projects/%s/measures", upload->project) >= 0) {
        int error = send_json(upload, path, body, strlen(body), &reply);
        bool there = error == 0 && (reply.status == 201 || reply.status == 409);
        if (!there && !upload->options->quiet)
            wi_upload_complain(slug, "could not be created with its unit; Bencher will make one without");
        wi_http_reply_fini(&reply);
        free(path);
    }
    free(body);
    json_decref(measure);
}

static void print_alerts(json_t *report)
{
    json_t *alert;
    size_t i;
    json_array_foreach(json_object_get(report, "alerts"), i, alert)
    {
        const char *name = json_string_value(json_object_get(json_object_get(alert, "benchmark"), "name"));
        const char *limit = json_string_value(json_object_get(alert, "limit"));
        char text[128];
        snprintf(text, sizeof text, "alert: beyond the %.20s limit", limit != NULL ? limit : "");
        wi_upload_complain(name != NULL ? name : "?", text);
    }
}

static int report_on(const struct upload *upload, const struct wi_http_reply *reply)
{
    json_t *report = json_loadb(reply->body, reply->length, 0, NULL);
    json_t *project = json_object_get(report, "project");
    const char *slug = json_string_value(json_object_get(project, "slug"));
    json_int_t alerts = json_integer_value(
        json_object_get(json_object_get(json_object_get(report, "counts"), "alerts"), "total"));
    bool cloud = strcmp(upload->host, HOST) == 0;
    if (slug == NULL || strspn(slug, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(slug))
        slug = upload->project;
    printf("%s/perf/%s\n", cloud ? CONSOLE : upload->host, slug);
    print_alerts(report);
    json_decref(report);
    if (alerts > 0 && !upload->options->quiet)
        fprintf(stderr, "whatif upload: %lld alerts\n", (long long)alerts);
    return alerts > 0 && upload->options->error_on_alert ? 1 : 0;
}

static int explain(const struct wi_http_reply *reply)
{
    char text[600];
    if (reply->status == 0)
        return wi_upload_complain("bencher", reply->error);
    json_t *object = json_loadb(reply->body, reply->length, 0, NULL);
    const char *message = json_string_value(json_object_get(object, "message"));
    snprintf(text, sizeof text, "the server answered %ld%s%.400s", reply->status, message != NULL ? ": " : "",
             message != NULL ? message : "");
    json_decref(object);
    return wi_upload_complain("bencher", text);
}

static int send_run(const struct upload *upload, const char *body)
{
    if (upload->key != NULL) {
        create_measure(upload, "Causal impact", "causal-impact");
        create_measure(upload, "Max program speedup", "max-program-speedup");
    }
    struct wi_http_reply reply = {0};
    int error = send_json(upload, "/v0/run", body, strlen(body), &reply);
    int status = error == 0 && (reply.status == 201 || reply.status == 200) ? report_on(upload, &reply)
                                                                            : explain(&reply);
    wi_http_reply_fini(&reply);
    return status;
}

static int upload_results(const struct upload *upload)
{
    json_t *document = document_of(upload);
    char *body = json_dumps(document, upload->options->dry_run ? JSON_INDENT(2) : JSON_COMPACT);
    json_decref(document);
    int status = 0;
    if (body == NULL)
        status = wi_upload_complain("bencher", "out of memory");
    else if (strlen(body) > MAX_BODY)
        status = wi_upload_complain("bencher",
                                    "the results are larger than the 4 MiB that the server takes: use --top");
    else if (upload->options->dry_run)
        puts(body);
    else
        status = send_run(upload, body);
    free(body);
    return status;
}

int wi_upload_to_bencher(const struct wi_upload_options *options)
{
    struct upload upload = {.options = options,
                            .host = first_of(options->server, "BENCHER_HOST", HOST),
                            .key =
                                first_of(NULL, "BENCHER_API_KEY", first_of(NULL, "BENCHER_API_TOKEN", NULL)),
                            .project = first_of(options->project, "BENCHER_PROJECT", NULL),
                            .testbed = first_of(options->testbed, "BENCHER_TESTBED", "localhost"),
                            .branch = branch_of(options),
                            .hash = hash_of(options)};
    int status = upload.branch != NULL ? check(&upload) : wi_upload_complain("bencher", "out of memory");
    if (status == 0)
        status = read_profiles(&upload);
    if (status == 0)
        status = upload_results(&upload);
    free(upload.branch);
    free(upload.hash);
    free(upload.results);
    return status;
}

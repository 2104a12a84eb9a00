/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Firefox Profiler's server: POST of a compressed profile to /compressed-store; the answer is a token (a JWT) whose
 * payload holds the name under which anybody who knows it can see the profile.
 *
 * That makes a profile public, so there is a question first. The token is the only way to delete the profile again:
 * it is kept in a file that only its owner can read, and is not printed.
 */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "viewer-export/export/gzip.h"
#include "viewer-export/upload/internal.h"

#define SERVER    "https://api.profiler.firefox.com"
#define VIEWER    "https://profiler.firefox.com/public/"
#define ACCEPT    "Accept: application/vnd.firefox-profiler+json;version=1.0"
#define MAX_SIZE  ((size_t)150 * 1024 * 1024) /* compressed; the server refuses more */
#define MAX_TOKEN 4096
#define TRIES     4

static const char *server_of(const struct wi_upload_options *options)
{
    return options->server != NULL ? options->server : SERVER;
}

static char *url_of(const struct wi_upload_options *options, const char *path)
{
    const char *server = server_of(options);
    size_t length = strlen(server);
    char *url;
    while (length > 0 && server[length - 1] == '/')
        length--;
    return asprintf(&url, "%.*s%s", (int)length, server, path) >= 0 ? url : NULL;
}

/* ---- tokens ---------------------------------------------------------------------------------------------------------- */

static int digit_of(char letter)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const char *at = letter != '\0' ? strchr(digits, letter) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

/* base64url, without padding. Returns the length, or 0. */
static size_t decode(const char *text, size_t length, char *out)
{
    size_t n = 0;
    unsigned bits = 0, value = 0;
    for (size_t i = 0; i < length; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0)
            return 0;
        value = value << 6 | (unsigned)digit;
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            out[n++] = (char)(value >> bits & 0xff);
        }
    }
    return n;
}

static bool is_plain(const char *text)
{
    return text[0] != '\0' &&
           strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == strlen(text);
}

/* The profile's name out of the middle part of the token, to be freed; NULL if there is none. */
static char *profile_of(const char *token)
{
    const char *first = strchr(token, '.'), *second = first != NULL ? strchr(first + 1, '.') : NULL;
    if (second == NULL || strlen(token) > MAX_TOKEN)
        return NULL;
    char payload[MAX_TOKEN];
    size_t length = decode(first + 1, (size_t)(second - first - 1), payload);
    json_t *object = json_loadb(payload, length, 0, NULL);
    const char *name = json_string_value(json_object_get(object, "profileToken"));
    char *copy = name != NULL && is_plain(name) ? strdup(name) : NULL;
    json_decref(object);
    return copy;
}

static int keep_token(const char *path, const char *token)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    size_t length = strlen(token);
    int error = write(fd, token, length) == (ssize_t)length && write(fd, "\n", 1) == 1 ? 0 : -EIO;
    return close(fd) == 0 ? error : -errno;
}

static char *read_token(const char *path)
{
    FILE *file = fopen(path, "re");
    char text[MAX_TOKEN + 2];
    char *line = file != NULL ? fgets(text, sizeof text, file) : NULL;
    if (file != NULL)
        fclose(file);
    if (line == NULL)
        return NULL;
    line[strcspn(line, "\r\n")] = '\0';
    for (const char *at = line; *at != '\0'; at++)
        if (*at != '.' && digit_of(*at) < 0)
            return NULL;
    return strdup(line);
}

/* ---- sending ------------------------------------------------------------------------------------------------------------ */

static bool is_consented(const struct wi_upload_options *options)
{
    if (options->yes)
        return true;
    if (!isatty(STDIN_FILENO)) {
        wi_upload_complain("firefox", "an uploaded profile can be seen by everybody; say --yes to that");
        return false;
    }
    fprintf(stderr,
            "The profile will be public at %s: command line, host, paths, names of functions%s.\nUpload it? "
            "[y/N] ",
            server_of(options), options->with_source ? ", and SOURCE CODE" : "");
    char answer[8];
    return fgets(answer, sizeof answer, stdin) != NULL && (answer[0] == 'y' || answer[0] == 'Y');
}

static int pack(const struct wi_upload_options *options, char **body, size_t *length)
{
    struct wi_export_options export = options->export;
    export.with_source = options->with_source;
    FILE *memory = open_memstream(body, length);
    FILE *out = memory != NULL ? wi_gzip_open(memory) : NULL;
    if (out == NULL) {
        if (memory != NULL)
            fclose(memory);
        return wi_upload_complain("firefox", "out of memory");
    }
    int status = wi_export_profiles("firefox", options->paths, options->n_paths, &export, out);
    if (fclose(out) != 0 && status == 0)
        status = wi_upload_complain("firefox", strerror(errno));
    if (fclose(memory) != 0 && status == 0)
        status = wi_upload_complain("firefox", strerror(errno));
    return status;
}

static int explain(const struct wi_http_reply *reply)
{
    char text[512];
    if (reply->status == 0)
        return wi_upload_complain("firefox", reply->error);
    snprintf(text, sizeof text, "the server answered %ld: %.400s", reply->status, reply->body);
    return wi_upload_complain("firefox", text);
}

/* Where the token goes unless told: beside the profile. */
static char *token_path(const struct wi_upload_options *options, const char *name)
{
    char *path;
    if (options->token_file != NULL)
        return strdup(options->token_file);
    return asprintf(&path, "%s.%.8s.token", options->paths[0], name) >= 0 ? path : NULL;
}

static int report(const struct wi_upload_options *options, const char *token)
{
    char *name = profile_of(token);
    if (name == NULL)
        return wi_upload_complain("firefox", "the server's answer holds no name of a profile");
    char *path = token_path(options, name);
    int error = path != NULL ? keep_token(path, token) : -ENOMEM;
    printf("%s%s\n", VIEWER, name);
    if (error != 0)
        wi_upload_complain(path != NULL ? path : "token", "the token for deleting could not be kept here");
    else if (!options->quiet)
        fprintf(stderr, "To delete it: whatif upload firefox --delete --token-file %s\n", path);
    free(path);
    free(name);
    return error != 0;
}

static int send_body(const struct wi_upload_options *options, const char *body, size_t length)
{
    static const char *const headers[] = {ACCEPT, "Content-Type:", NULL};
    if (length > MAX_SIZE)
        return wi_upload_complain("firefox", "the profile is larger than the 150 MiB that the server takes");
    char *url = url_of(options, "/compressed-store");
    struct wi_http_request request = {"POST", url, headers, NULL, body, length, TRIES};
    struct wi_http_reply reply = {0};
    int status =
        url != NULL && wi_http_send(&request, &reply) == 0 && reply.status == 200 ? 0 : explain(&reply);
    if (status == 0) {
        reply.body[strcspn(reply.body, "\r\n \"")] = '\0';
        status = report(options, reply.body);
    }
    wi_http_reply_fini(&reply);
    free(url);
    return status;
}

static int delete_profile(const struct wi_upload_options *options)
{
    static const char *const headers[] = {ACCEPT, NULL};
    char *token = options->token_file != NULL ? read_token(options->token_file) : NULL;
    char *name = token != NULL ? profile_of(token) : NULL;
    char *path = NULL, *url = NULL;
    int status = 0;
    if (name == NULL)
        status = wi_upload_complain(options->token_file != NULL ? options->token_file : "--token-file",
                                    "holds no token");
    else if (asprintf(&path, "/profile/%s", name) < 0 || (url = url_of(options, path)) == NULL)
        status = wi_upload_complain("firefox", "out of memory");
    struct wi_http_request request = {"DELETE", url, headers, token, NULL, 0, TRIES};
    struct wi_http_reply reply = {0};
    if (status == 0 && (wi_http_send(&request, &reply) != 0 || reply.status != 200))
        status = explain(&reply);
    if (status == 0 && !options->quiet)
        puts("deleted");
    wi_http_reply_fini(&reply);
    free(url);
    free(path);
    free(name);
    free(token);
    return status;
}

int wi_upload_to_firefox(const struct wi_upload_options *options)
{
    if (!wi_http_is_private(server_of(options)))
        return wi_upload_complain(server_of(options), "is neither https nor this machine");
    if (options->delete)
        return delete_profile(options);
    char *body = NULL;
    size_t length = 0;
    int status = pack(options, &body, &length);
    if (status == 0 && options->dry_run)
        printf("would send %zu bytes to %s\n", length, server_of(options));
    else if (status == 0)
        status = is_consented(options) ? send_body(options, body, length) : 1;
    free(body);
    return status;
}

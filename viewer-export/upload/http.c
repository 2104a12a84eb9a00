/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * One HTTP request, by libcurl, with patience.
 *
 * Redirects are not followed: a key must not travel to where its owner never sent it. Certificates are checked.
 */
#include <curl/curl.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include "viewer-export/upload/internal.h"

#define CONNECT_TIMEOUT_S 15L
#define STALL_S           60L /* less than a byte a second for so long ends a transfer */
#define FIRST_WAIT_MS     1000
#define LONGEST_WAIT_MS   30000

static size_t take(char *bytes, size_t size, size_t n, void *context)
{
    struct wi_http_reply *reply = context;
    size_t length = size * n;
    if (reply->length + length > WI_HTTP_MAX_REPLY)
        return 0;
    char *grown = realloc(reply->body, reply->length + length + 1);
    if (grown == NULL)
        return 0;
    memcpy(grown + reply->length, bytes, length);
    reply->body = grown;
    reply->length += length;
    grown[reply->length] = '\0';
    return length;
}

static struct curl_slist *add_header(struct curl_slist *list, const char *text)
{
    struct curl_slist *longer = curl_slist_append(list, text);
    return longer != NULL ? longer : list;
}

static struct curl_slist *headers_of(const struct wi_http_request *request)
{
    struct curl_slist *list = add_header(NULL, "Expect:"); /* no waiting for a "100 Continue" */
    for (const char *const *header = request->headers; header != NULL && *header != NULL; header++)
        list = add_header(list, *header);
    char *bearer = NULL;
    if (request->bearer != NULL && asprintf(&bearer, "Authorization: Bearer %s", request->bearer) >= 0)
        list = add_header(list, bearer);
    free(bearer);
    return list;
}

static void set_options(CURL *curl, const struct wi_http_request *request, struct wi_http_reply *reply,
                        struct curl_slist *headers)
{
    curl_easy_setopt(curl, CURLOPT_URL, request->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, request->method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "whatif");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, STALL_S);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, reply);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, reply->error);
    if (request->body == NULL)
        return;
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, request->body);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->length);
}

/* Whether another try could end better. A wrong certificate stays wrong. */
static bool is_passing(CURLcode code)
{
    switch (code) {
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_CONNECT:
    case CURLE_PARTIAL_FILE:
    case CURLE_OPERATION_TIMEDOUT:
    case CURLE_GOT_NOTHING:
    case CURLE_SEND_ERROR:
    case CURLE_RECV_ERROR:
        return true;
    default:
        return false;
    }
}

/* 1: again; 0: a reply that counts; -1: no reply, and none to be expected. */
static int try_once(const struct wi_http_request *request, struct wi_http_reply *reply)
{
    wi_http_reply_fini(reply);
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = headers_of(request);
    CURLcode code = CURLE_OUT_OF_MEMORY;
    if (curl != NULL) {
        set_options(curl, request, reply, headers);
        code = curl_easy_perform(curl);
        curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &reply->status);
    }
    curl_easy_cleanup(curl);
    curl_slist_free_all(headers);
    if (code != CURLE_OK) {
        if (reply->error[0] == '\0')
            snprintf(reply->error, sizeof reply->error, "%s", curl_easy_strerror(code));
        reply->status = 0;
        return is_passing(code) ? 1 : -1;
    }
    return reply->status == 429 || reply->status >= 500 ? 1 : 0;
}

static long first_wait_ms(void)
{
    const char *text = getenv("WHATIF_RETRY_MS");
    long wait = text != NULL ? strtol(text, NULL, 10) : FIRST_WAIT_MS;
    return wait >= 0 && wait <= LONGEST_WAIT_MS ? wait : FIRST_WAIT_MS;
}

int wi_http_send(const struct wi_http_request *request, struct wi_http_reply *reply)
{
    *reply = (struct wi_http_reply){0};
    long wait_ms = first_wait_ms();
    int status = -1;
    for (unsigned i = 0; i < request->tries; i++) {
        status = try_once(request, reply);
        if (status <= 0)
            break;
        if (i + 1 < request->tries)
            nanosleep(&(struct timespec){wait_ms / 1000, wait_ms % 1000 * 1000000}, NULL);
        wait_ms = wait_ms * 2 < LONGEST_WAIT_MS ? wait_ms * 2 : LONGEST_WAIT_MS;
    }
    if (reply->body == NULL)
        reply->body = calloc(1, 1);
    return reply->status != 0 && reply->body != NULL ? 0 : -1;
}

void wi_http_reply_fini(struct wi_http_reply *reply)
{
    free(reply->body);
    *reply = (struct wi_http_reply){0};
}

bool wi_http_is_private(const char *url)
{
    static const char *const local[] = {"http://localhost", "http://127.0.0.1", "http://[::1]"};
    if (strncasecmp(url, "https://", 8) == 0)
        return true;
    for (size_t i = 0; i < sizeof local / sizeof *local; i++) {
        size_t length = strlen(local[i]);
        if (strncasecmp(url, local[i], length) == 0 &&
            (url[length] == '\0' || strchr(":/", url[length]) != NULL))
            return strchr(url, '@') == NULL;
    }
    return false;
}

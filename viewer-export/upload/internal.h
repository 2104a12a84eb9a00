/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the destinations share: their options, one HTTP request, and how to complain.
 *
 * Secrets (keys, tokens) come from the environment or from files, never from the command line, and go into
 * headers only: no message holds them, and no profile.
 */
#ifndef WI_UPLOAD_INTERNAL_H
#define WI_UPLOAD_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "viewer-export/export/export.h"
#include "viewer-export/upload/upload.h"

struct wi_upload_options {
    const char *server; /* URL; NULL: the public one, or what the environment says */
    bool yes;           /* no question */
    bool with_source;
    bool dry_run; /* print what would be sent */
    bool quiet;
    /* bencher */
    const char *project, *branch, *testbed, *hash;
    bool error_on_alert;
    bool thresholds;
    struct wi_export_options export;
    /* firefox */
    const char *token_file; /* where the token for deletion goes, or is */
    bool delete;
    const char *const *paths;
    size_t n_paths;
};

/* Exit statuses. */
int wi_upload_to_bencher(const struct wi_upload_options *options);
int wi_upload_to_firefox(const struct wi_upload_options *options);

/* One line to stderr, cleaned of what a terminal could act on; returns 1. `text` may be NULL. */
int wi_upload_complain(const char *subject, const char *text);

/* ---- http.c ---- */

#define WI_HTTP_MAX_REPLY ((size_t)4 * 1024 * 1024)

struct wi_http_request {
    const char *method;
    const char *url;
    const char *const *headers; /* ends with NULL */
    const char *bearer;         /* or NULL */
    const void *body;
    size_t length;
    unsigned tries; /* at most; connection errors, 429 and 5xx are tried again, after 1 s, 2 s, 4 s ... */
};

struct wi_http_reply {
    long status; /* 0: none came */
    char *body;  /* ends with a NUL; cut at WI_HTTP_MAX_REPLY */
    size_t length;
    char error[256]; /* why none came */
};

/* 0 if a reply came, whatever it says; -1 if none did (reply->error says why). WHATIF_RETRY_MS in the environment sets the
 * first wait, for tests. */
int wi_http_send(const struct wi_http_request *request, struct wi_http_reply *reply);
void wi_http_reply_fini(struct wi_http_reply *reply);

/* Whether a key may be sent there: https, or http to this machine. */
bool wi_http_is_private(const char *url);

#endif

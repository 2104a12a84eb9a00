/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A source file's text, if it is still the text that the profile was made with.
 *
 * Profiles come from anywhere and name any path. What is read is hashed and handed out in one piece, so that the
 * content that was checked is the content that is embedded; and whoever wrote the profile must have known it.
 */
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "viewer-export/export/firefox.h"

#define MAX_TEXT    ((off_t)16 * 1024 * 1024)
#define SHA256_SIZE 32

static int open_regular(const char *path, off_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    struct stat status;
    if (fd < 0)
        return -1;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= MAX_TEXT) {
        *size = status.st_size;
        return fd;
    }
    close(fd);
    return -1;
}

static char *read_file(const char *path, size_t *length)
{
    off_t size = 0;
    int fd = open_regular(path, &size);
    if (fd < 0)
        return NULL;
    char *text = malloc((size_t)size + 1);
    ssize_t n = 1;
    *length = 0;
    while (text != NULL && n > 0 && *length < (size_t)size) {
        n = read(fd, text + *length, (size_t)size - *length);
        *length += n > 0 ? (size_t)n : 0;
    }
    close(fd);
    return text;
}

static bool has_hash(const char *text, size_t length, const char *sha256)
{
    unsigned char digest[SHA256_SIZE];
    char hex[2 * SHA256_SIZE + 1];
    if (EVP_Digest(text, length, digest, NULL, EVP_sha256(), NULL) != 1)
        return false;
    for (size_t i = 0; i < SHA256_SIZE; i++)
        snprintf(hex + 2 * i, 3, "%02x", digest[i]);
    return strcasecmp(hex, sha256) == 0;
}

char *wi_source_text(const char *directory, const char *path, const char *sha256, size_t *length)
{
    char *full = NULL;
    if (sha256[0] == '\0' ||
        asprintf(&full, "%s%s%s", path[0] == '/' ? "" : directory, path[0] == '/' ? "" : "/", path) < 0)
        return NULL;
    char *text = read_file(full, length);
    free(full);
    if (text != NULL && has_hash(text, *length, sha256))
        return text;
    free(text);
    return NULL;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Hashing source files with libcrypto. See hash_file.h. */
#include "runtime/control/hash_file.h"
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define LARGEST_SOURCE (16 << 20)

static int digest_of(int fd, unsigned char digest[EVP_MAX_MD_SIZE], unsigned *length)
{
    char buffer[16384];
    ssize_t n;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int good = context && EVP_DigestInit_ex(context, EVP_sha256(), NULL);
    while (good && (n = read(fd, buffer, sizeof buffer)) > 0)
        good = EVP_DigestUpdate(context, buffer, (size_t)n);
    good = good && EVP_DigestFinal_ex(context, digest, length);
    EVP_MD_CTX_free(context);
    return good;
}

void wi_hash_file(const char *path, char text[WI_HASH_TEXT])
{
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned length = 0;
    struct stat status;
    text[0] = '\0';
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size <= LARGEST_SOURCE &&
        digest_of(fd, digest, &length) && length == 32)
        for (unsigned i = 0; i < length; i++)
            snprintf(text + 2 * i, 3, "%02x", digest[i]);
    close(fd);
}

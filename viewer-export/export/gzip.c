/* SPDX-License-Identifier: BSD-2-Clause */
/* A compressing stream, so that no format needs to know whether it is being compressed. */
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#include "viewer-export/export/internal.h"

#define GZIP_WINDOW (15 + 16) /* deflateInit2: the largest window, in gzip's wrapping */
#define CHUNK_SIZE  (64 * 1024)

struct gzip {
    FILE *under;
    z_stream stream;
    unsigned char chunk[CHUNK_SIZE];
};

static int deflate_all(struct gzip *gzip, int flush)
{
    int status;
    do {
        gzip->stream.next_out = gzip->chunk;
        gzip->stream.avail_out = CHUNK_SIZE;
        status = deflate(&gzip->stream, flush);
        size_t n = CHUNK_SIZE - gzip->stream.avail_out;
        if (status == Z_STREAM_ERROR || fwrite(gzip->chunk, 1, n, gzip->under) != n) {
            errno = errno != 0 ? errno : EIO;
            return -1;
        }
    } while (gzip->stream.avail_out == 0);
    return 0;
}

static ssize_t gzip_write(void *cookie, const char *bytes, size_t length)
{
    struct gzip *gzip = cookie;
    gzip->stream.next_in = (unsigned char *)(uintptr_t)bytes;
    gzip->stream.avail_in = (unsigned)length; /* stdio's buffer is smaller than that */
    return deflate_all(gzip, Z_NO_FLUSH) == 0 ? (ssize_t)length : 0;
}

static int gzip_close(void *cookie)
{
    struct gzip *gzip = cookie;
    gzip->stream.avail_in = 0;
    int status = deflate_all(gzip, Z_FINISH);
    deflateEnd(&gzip->stream);
    free(gzip);
    return status;
}

FILE *wi_gzip_open(FILE *under)
{
    struct gzip *gzip = calloc(1, sizeof *gzip);
    if (gzip == NULL)
        return NULL;
    gzip->under = under;
    if (deflateInit2(&gzip->stream, 6, Z_DEFLATED, GZIP_WINDOW, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(gzip);
        return NULL;
    }
    FILE *out = fopencookie(gzip, "w", (cookie_io_functions_t){.write = gzip_write, .close = gzip_close});
    if (out == NULL) {
        deflateEnd(&gzip->stream);
        free(gzip);
        return NULL;
    }
    setvbuf(out, NULL, _IOFBF, CHUNK_SIZE);
    return out;
}

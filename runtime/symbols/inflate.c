/* SPDX-License-Identifier: BSD-2-Clause */
/* See inflate.h. Each codec is called once per section, with all of its input and all of its output in memory. */
#include "runtime/symbols/inflate.h"

#include <lzma.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <zlib.h>
#include <zstd.h>

/* zlib's lengths are 32 bits wide: feed it in pieces. */
#define ZLIB_PIECE (UINT32_C(1) << 30)
#define HUGE_PAGE  ((size_t)2 << 20)

static bool inflate_zlib(struct wi_bytes packed, uint8_t *out, uint64_t size)
{
    z_stream stream = {0};
    if (inflateInit(&stream) != Z_OK)
        return false;
    size_t in_left = packed.size, out_left = size;
    stream.next_in = (uint8_t *)packed.data;
    stream.next_out = out;
    int status = Z_OK;
    while (status == Z_OK) {
        if (stream.avail_in == 0 && in_left > 0) {
            stream.avail_in = in_left < ZLIB_PIECE ? in_left : ZLIB_PIECE;
            in_left -= stream.avail_in;
        }
        if (stream.avail_out == 0 && out_left > 0) {
            stream.avail_out = out_left < ZLIB_PIECE ? out_left : ZLIB_PIECE;
            out_left -= stream.avail_out;
        }
        status = inflate(&stream, Z_NO_FLUSH); /* Z_BUF_ERROR once either side is used up */
    }
    bool whole = status == Z_STREAM_END && stream.avail_out == 0 && out_left == 0;
    inflateEnd(&stream);
    return whole;
}

static bool inflate_zstd(struct wi_bytes packed, uint8_t *out, uint64_t size)
{
    size_t done = ZSTD_decompress(out, size, packed.data, packed.size);
    return !ZSTD_isError(done) && done == size;
}

/* Faults on small pages would cost as much as the decompression. */
static uint8_t *allocate(uint64_t size)
{
    void *out = NULL;
    if (size < 2 * HUGE_PAGE)
        return malloc(size);
    if (posix_memalign(&out, HUGE_PAGE, size) != 0)
        return NULL;
    madvise(out, size, MADV_HUGEPAGE);
    return out;
}

uint8_t *wi_inflate(enum wi_compression compression, struct wi_bytes packed, uint64_t size)
{
    if (size == 0 || size > WI_INFLATE_MAX)
        return NULL;
    uint8_t *out = allocate(size);
    if (!out)
        return NULL;
    bool whole = compression == WI_ZLIB ? inflate_zlib(packed, out, size) : inflate_zstd(packed, out, size);
    if (whole)
        return out;
    free(out);
    return NULL;
}

static size_t start_of_zlib(struct wi_bytes packed, uint8_t *out, size_t n)
{
    z_stream stream = {.next_in = (uint8_t *)packed.data, .next_out = out, .avail_out = (uInt)n};
    stream.avail_in = packed.size < ZLIB_PIECE ? (uInt)packed.size : ZLIB_PIECE;
    if (inflateInit(&stream) != Z_OK)
        return 0;
    inflate(&stream, Z_SYNC_FLUSH);
    inflateEnd(&stream);
    return n - stream.avail_out;
}

static size_t start_of_zstd(struct wi_bytes packed, uint8_t *out, size_t n)
{
    ZSTD_inBuffer input = {packed.data, packed.size, 0};
    ZSTD_outBuffer output = {out, n, 0};
    ZSTD_DStream *stream = ZSTD_createDStream();
    size_t status = 1;
    while (stream && output.pos < n && status != 0 && !ZSTD_isError(status) && input.pos < input.size)
        status = ZSTD_decompressStream(stream, &output, &input);
    ZSTD_freeDStream(stream);
    return output.pos;
}

size_t wi_inflate_start(enum wi_compression compression, struct wi_bytes packed, uint8_t *out, size_t n)
{
    return compression == WI_ZLIB ? start_of_zlib(packed, out, n) : start_of_zstd(packed, out, n);
}

uint8_t *wi_inflate_xz(struct wi_bytes packed, size_t *size)
{
    lzma_stream stream = LZMA_STREAM_INIT;
    if (lzma_stream_decoder(&stream, UINT64_C(256) << 20, 0) != LZMA_OK)
        return NULL;
    stream.next_in = packed.data;
    stream.avail_in = packed.size;
    uint8_t *out = NULL;
    size_t capacity = 0;
    lzma_ret status = LZMA_OK;
    while (status == LZMA_OK && capacity < WI_INFLATE_MAX) {
        size_t grown = capacity ? capacity * 2 : packed.size * 4 + 4096;
        uint8_t *more = realloc(out, grown);
        if (!more)
            break;
        out = more;
        stream.next_out = out + capacity;
        stream.avail_out = grown - capacity;
        capacity = grown;
        status = lzma_code(&stream, LZMA_FINISH);
    }
    *size = capacity - stream.avail_out;
    lzma_end(&stream);
    if (status == LZMA_STREAM_END)
        return out;
    free(out);
    return NULL;
}

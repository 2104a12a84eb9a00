/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Decompression: of ELF sections (zlib, zstd, and the older .zdebug form) and of .gnu_debugdata (xz).
 *
 * Sizes that a file claims are believed only as far as the compressed bytes bear them out: memory is bounded by
 * WI_INFLATE_MAX and by what really comes out.
 */
#ifndef WI_SYMBOLS_INFLATE_H
#define WI_SYMBOLS_INFLATE_H

#include "runtime/symbols/elf_file.h"

#ifdef __cplusplus
extern "C" {
#endif

#define WI_INFLATE_MAX (UINT64_C(8) << 30)

enum wi_compression {
    WI_ZLIB,
    WI_ZSTD,
};

/* Each returns malloc'ed bytes of exactly the size claimed, or NULL. */
uint8_t *wi_inflate(enum wi_compression compression, struct wi_bytes packed, uint64_t size);
/* Only the first `n` bytes; returns how many there are. */
size_t wi_inflate_start(enum wi_compression compression, struct wi_bytes packed, uint8_t *out, size_t n);
/* The size of an xz stream is not known beforehand: it is stored. */
uint8_t *wi_inflate_xz(struct wi_bytes packed, size_t *size);

#ifdef __cplusplus
}
#endif
#endif

/* SPDX-License-Identifier: BSD-2-Clause */
/* Protocol buffers, the writing half: see protobuf.h. */
#include "viewer-export/export/protobuf.h"

#include <stdlib.h>
#include <string.h>

#define TYPE_VARINT 0
#define TYPE_BYTES  2

static void put(struct wi_proto *message, const void *bytes, size_t length)
{
    if (message->failed || length == 0)
        return;
    if (length > message->capacity - message->length) {
        size_t capacity = (message->length + length) * 2;
        unsigned char *grown = realloc(message->bytes, capacity);
        if (grown == NULL) {
            message->failed = true;
            return;
        }
        message->bytes = grown;
        message->capacity = capacity;
    }
    memcpy(message->bytes + message->length, bytes, length);
    message->length += length;
}

void wi_proto_pack(struct wi_proto *packed, uint64_t value)
{
    unsigned char bytes[10];
    size_t n = 0;
    do {
        bytes[n++] = (unsigned char)((value & 0x7f) | (value > 0x7f ? 0x80 : 0));
        value >>= 7;
    } while (value != 0);
    put(packed, bytes, n);
}

void wi_proto_number(struct wi_proto *message, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    wi_proto_pack(message, (uint64_t)field << 3 | TYPE_VARINT);
    wi_proto_pack(message, value);
}

void wi_proto_element(struct wi_proto *message, unsigned field, const void *bytes, size_t length)
{
    wi_proto_pack(message, (uint64_t)field << 3 | TYPE_BYTES);
    wi_proto_pack(message, length);
    put(message, bytes, length);
}

void wi_proto_bytes(struct wi_proto *message, unsigned field, const void *bytes, size_t length)
{
    if (length > 0)
        wi_proto_element(message, field, bytes, length);
}

void wi_proto_message(struct wi_proto *message, unsigned field, const struct wi_proto *inner)
{
    wi_proto_element(message, field, inner->bytes, inner->length);
    message->failed |= inner->failed;
}

void wi_proto_clear(struct wi_proto *message)
{
    message->length = 0;
    message->failed = false;
}

void wi_proto_free(struct wi_proto *message)
{
    free(message->bytes);
    *message = (struct wi_proto){0};
}

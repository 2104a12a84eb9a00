/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Protocol buffers, the writing half: messages built in memory, field by field. Enough for formats that are a stream of
 * small messages. Fields that are zero or empty are left out, as proto3 does.
 */
#ifndef WI_EXPORT_PROTOBUF_H
#define WI_EXPORT_PROTOBUF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct wi_proto { /* all zero is an empty message */
    unsigned char *bytes;
    size_t length, capacity;
    bool failed; /* memory ran out: the message is not to be used */
};

void wi_proto_number(struct wi_proto *message, unsigned field, uint64_t value);
void wi_proto_bytes(struct wi_proto *message, unsigned field, const void *bytes, size_t length);
/* Unlike the others this one is written when empty, too: elements of a repeated field must all be there. */
void wi_proto_element(struct wi_proto *message, unsigned field, const void *bytes, size_t length);
void wi_proto_message(struct wi_proto *message, unsigned field, const struct wi_proto *inner);
/* One more element of a packed repeated field, to be put into the message by wi_proto_message. */
void wi_proto_pack(struct wi_proto *packed, uint64_t value);

void wi_proto_clear(struct wi_proto *message); /* keeps the memory */
void wi_proto_free(struct wi_proto *message);

#endif

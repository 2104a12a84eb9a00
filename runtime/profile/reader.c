/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A profile as a stream of lines.
 *
 * Whatever the file holds, memory stays bounded: one chunk, and one line of at most WI_PROFILE_MAX_LINE bytes; the
 * rest of a longer one is read over. zlib tells by the magic whether the file is compressed.
 *
 * The last line of a run that was killed has no end. It is parsed all the same (an object is complete with its
 * brace) and called truncated if that fails.
 */
#include "runtime/profile/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "runtime/profile/coz_import.h"
#include "runtime/profile/format.h"
#include "runtime/profile/parse.h"

#define CHUNK_SIZE (128 * 1024)

struct line { /* the one that is being gathered */
    char *bytes;
    size_t length;
    size_t capacity;
    bool too_long;
};

struct reading {
    struct wi_parser parser;
    struct wi_coz *coz; /* if the file is a profile of Coz's */
    struct wi_profile_trouble *trouble;
    struct line line;
    int error; /* ends the reading */
};

static void note_trouble(struct wi_profile_trouble *trouble, const char *why)
{
    if (trouble->first_line == 0) {
        trouble->first_line = trouble->lines;
        snprintf(trouble->why, sizeof trouble->why, "%s", why);
    }
}

static bool line_append(struct line *line, const char *bytes, size_t length)
{
    if (line->length + length > WI_PROFILE_MAX_LINE) {
        line->too_long = true;
        line->length = 0;
    }
    if (line->too_long || length == 0)
        return true;
    if (line->length + length > line->capacity) {
        size_t capacity = (line->length + length) * 2;
        char *grown = realloc(line->bytes, capacity);
        if (grown == NULL)
            return false;
        line->bytes = grown;
        line->capacity = capacity;
    }
    memcpy(line->bytes + line->length, bytes, length);
    line->length += length;
    return true;
}

static void take_header(struct reading *reading)
{
    bool newer = false;
    const char *complaint = "is too long";
    if (!reading->line.too_long)
        complaint = wi_parse_header(&reading->parser, reading->line.bytes, reading->line.length, &newer);
    if (complaint == NULL)
        return;
    note_trouble(reading->trouble, complaint);
    reading->error = newer ? -EPROTONOSUPPORT : -EBADMSG;
}

static bool begins_coz(struct reading *reading)
{
    if (reading->line.too_long || reading->line.length == 0 ||
        !wi_coz_recognises(reading->line.bytes, reading->line.length))
        return false;
    reading->coz = wi_coz_create(reading->parser.visitor);
    if (reading->coz == NULL)
        reading->error = -ENOMEM;
    return reading->coz != NULL;
}

static const char *parse_line(struct reading *reading)
{
    const struct line *line = &reading->line;
    if (line->too_long)
        return "is too long";
    return reading->coz != NULL ? wi_coz_line(reading->coz, line->bytes, line->length)
                                : wi_parse_line(&reading->parser, line->bytes, line->length);
}

static void take_line(struct reading *reading, bool has_end)
{
    struct wi_profile_trouble *trouble = reading->trouble;
    if (trouble->lines++ == 0 && !begins_coz(reading)) {
        if (reading->error == 0)
            take_header(reading);
        return;
    }
    const char *complaint = parse_line(reading);
    if (complaint == NULL)
        return;
    if (!has_end) {
        trouble->truncated = true;
        return;
    }
    trouble->skipped++;
    note_trouble(trouble, complaint);
}

static void next_line(struct line *line)
{
    line->length = 0;
    line->too_long = false;
}

static void take_chunk(struct reading *reading, const char *bytes, size_t length)
{
    while (length > 0 && reading->error == 0) {
        const char *end = memchr(bytes, '\n', length);
        size_t n = end != NULL ? (size_t)(end - bytes) : length;
        if (!line_append(&reading->line, bytes, n)) {
            reading->error = -ENOMEM;
            return;
        }
        if (end == NULL && !(reading->line.too_long && reading->trouble->lines == 0))
            return; /* else: no profile, and it may go on like this for ever */
        take_line(reading, true);
        next_line(&reading->line);
        if (end == NULL)
            return;
        bytes += n + 1;
        length -= n + 1;
    }
}

static void take_end(struct reading *reading, bool stream_broke)
{
    struct wi_profile_trouble *trouble = reading->trouble;
    if (reading->error == 0 && (reading->line.length > 0 || reading->line.too_long))
        take_line(reading, false);
    if (reading->error == 0 && trouble->lines == 0) {
        trouble->lines = 1; /* an empty file lacks its first line */
        note_trouble(trouble, "is missing: the file is empty");
        reading->error = -EBADMSG;
    }
    if (stream_broke)
        trouble->truncated = true;
    if (reading->error == 0 && reading->coz != NULL)
        wi_coz_finish(reading->coz);
}

static void read_stream(struct reading *reading, gzFile stream)
{
    char *chunk = malloc(CHUNK_SIZE);
    int n = chunk != NULL ? 0 : -1;
    if (chunk == NULL)
        reading->error = -ENOMEM;
    while (reading->error == 0 && (n = gzread(stream, chunk, CHUNK_SIZE)) > 0)
        take_chunk(reading, chunk, (size_t)n);
    int status = Z_OK;
    gzerror(stream, &status);
    if (reading->error == 0 && status == Z_ERRNO)
        reading->error = errno != 0 ? -errno : -EIO;
    take_end(reading, status == Z_BUF_ERROR || status == Z_DATA_ERROR);
    free(chunk);
}

static int open_stream(const char *path, gzFile *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0)
        return -errno;
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISDIR(status.st_mode)) {
        close(fd);
        return -EISDIR;
    }
    *out = gzdopen(fd, "rb");
    if (*out != NULL)
        return 0;
    close(fd);
    return -ENOMEM;
}

int wi_profile_read(const char *path, const struct wi_profile_visitor *visitor,
                    struct wi_profile_trouble *trouble)
{
    struct wi_profile_trouble ignored;
    struct reading reading = {.trouble = trouble != NULL ? trouble : &ignored};
    *reading.trouble = (struct wi_profile_trouble){0};
    gzFile stream = NULL;
    int error = open_stream(path, &stream);
    if (error != 0)
        return error;
    wi_parser_init(&reading.parser, visitor);
    gzbuffer(stream, CHUNK_SIZE);
    read_stream(&reading, stream);
    wi_parser_fini(&reading.parser);
    wi_coz_destroy(reading.coz);
    gzclose(stream);
    free(reading.line.bytes);
    return reading.error;
}

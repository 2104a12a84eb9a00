/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Appending lines to a file of our own.
 *
 * Creation must not be turned against the user: profiles are written in shared directories, sometimes by root.
 * The content goes into a fresh file of random name beside the wanted one, which is then renamed over it.
 * rename() replaces a name and never follows a link, so that a link planted between the look and the rename
 * loses its name and nothing more; and a profile that cannot be created leaves the previous one alone.
 *
 * While the run goes, lines gather in memory and go out whole. A write that stops half-way (a full disk) is cut
 * back to the last whole line: what was written before stays a valid profile.
 */
#include "runtime/profile/lines.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FLUSH_SIZE ((size_t)64 * 1024)

struct wi_lines {
    int fd;
    int error; /* the first one, negative */
    char *bytes;
    size_t length; /* gathered, the line being built included */
    size_t whole;  /* of these, in ended lines */
    size_t capacity;
    off_t written; /* whole lines that reached the file */
};

/* What stands at `path` must be ours to replace. */
static int check_replaceable(const char *path)
{
    struct stat status;
    if (lstat(path, &status) != 0)
        return errno == ENOENT ? 0 : -errno;
    if (S_ISLNK(status.st_mode))
        return -ELOOP;
    if (S_ISDIR(status.st_mode))
        return -EISDIR;
    if (!S_ISREG(status.st_mode))
        return -EEXIST;
    return status.st_uid == geteuid() ? 0 : -EPERM;
}

/* Returns the number of bytes written; fewer than asked means an error, in *error. */
static size_t write_all(int fd, const char *bytes, size_t length, int *error)
{
    size_t done = 0;
    while (done < length) {
        ssize_t n = write(fd, bytes + done, length - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            *error = n < 0 ? -errno : -EIO;
            break;
        }
        done += (size_t)n;
    }
    return done;
}

static int create_and_rename(const char *path, char *temporary, const char *first, size_t length)
{
    int fd = mkostemp(temporary, O_CLOEXEC | O_APPEND);
    if (fd < 0)
        return -errno;
    int error = 0;
    if (write_all(fd, first, length, &error) == length && rename(temporary, path) != 0)
        error = -errno;
    if (error == 0)
        return fd;
    unlink(temporary);
    close(fd);
    return error;
}

int wi_lines_create(const char *path, const char *first, size_t length, struct wi_lines **out)
{
    int error = check_replaceable(path);
    if (error != 0)
        return error;
    struct wi_lines *lines = calloc(1, sizeof *lines);
    char *temporary = NULL;
    if (lines == NULL || asprintf(&temporary, "%s.XXXXXX", path) < 0) {
        free(lines);
        return -ENOMEM;
    }
    lines->fd = create_and_rename(path, temporary, first, length);
    free(temporary);
    if (lines->fd < 0) {
        error = lines->fd;
        free(lines);
        return error;
    }
    lines->written = (off_t)length;
    *out = lines;
    return 0;
}

void wi_lines_fail(struct wi_lines *lines, int error)
{
    if (lines->error == 0)
        lines->error = error;
}

static bool reserve(struct wi_lines *lines, size_t more)
{
    if (more <= lines->capacity - lines->length)
        return true;
    size_t capacity = (lines->length + more) * 2;
    char *bytes = realloc(lines->bytes, capacity);
    if (bytes == NULL) {
        wi_lines_fail(lines, -ENOMEM);
        return false;
    }
    lines->bytes = bytes;
    lines->capacity = capacity;
    return true;
}

void wi_lines_put(struct wi_lines *lines, const char *bytes, size_t length)
{
    if (lines->error != 0 || !reserve(lines, length))
        return;
    memcpy(lines->bytes + lines->length, bytes, length);
    lines->length += length;
}

static void write_whole_lines(struct wi_lines *lines)
{
    if (lines->error != 0 || lines->whole == 0)
        return;
    int error = 0;
    size_t done = write_all(lines->fd, lines->bytes, lines->whole, &error);
    if (done < lines->whole) {
        wi_lines_fail(lines, error);
        const char *last = memrchr(lines->bytes, '\n', done);
        off_t keep = lines->written + (last != NULL ? last + 1 - lines->bytes : 0);
        if (ftruncate(lines->fd, keep) != 0) {
            /* Then a torn line ends the file, as after a crash: readers know that. */
        }
        return;
    }
    lines->written += (off_t)lines->whole;
    memmove(lines->bytes, lines->bytes + lines->whole, lines->length - lines->whole);
    lines->length -= lines->whole;
    lines->whole = 0;
}

void wi_lines_end(struct wi_lines *lines)
{
    wi_lines_put(lines, "\n", 1);
    if (lines->error != 0)
        return;
    lines->whole = lines->length;
    if (lines->whole >= FLUSH_SIZE)
        write_whole_lines(lines);
}

void wi_lines_drop(struct wi_lines *lines)
{
    lines->length = lines->whole;
}

int wi_lines_flush(struct wi_lines *lines)
{
    write_whole_lines(lines);
    return lines->error;
}

int wi_lines_close(struct wi_lines *lines)
{
    write_whole_lines(lines);
    if (fsync(lines->fd) != 0 && errno != EINVAL && errno != EROFS)
        wi_lines_fail(lines, -errno);
    if (close(lines->fd) != 0 && errno != EINTR)
        wi_lines_fail(lines, -errno);
    int error = lines->error;
    free(lines->bytes);
    free(lines);
    return error;
}

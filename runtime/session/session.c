/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session file: made by the launcher, mapped once by every process of the target.
 *
 * It is allocated, not sparse: a full tmpfs must fail here, in the launcher, and not as a SIGBUS in the program.
 * The mapping is longer than the file, by the arena; pages beyond the end come to life as the file grows.
 */
#include "runtime/session/session.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE 4096u

uint64_t wi_session_fixed_bytes(uint32_t n_rings)
{
    uint64_t bytes = sizeof(struct wi_session) + (uint64_t)n_rings * WI_RING_SLOTS * sizeof(struct wi_sample);
    return (bytes + PAGE - 1) / PAGE * PAGE;
}

int wi_session_attach(const char *path, struct wi_session **out)
{
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return -errno;
    struct stat status;
    struct wi_session *session = MAP_FAILED;
    uint64_t bytes = 0;
    if (fstat(fd, &status) == 0 && (uint64_t)status.st_size >= sizeof *session)
        session = mmap(NULL, sizeof *session, PROT_READ, MAP_SHARED, fd, 0);
    if (session == MAP_FAILED) {
        close(fd);
        return -EPROTO;
    }
    if (session->magic == WI_SESSION_MAGIC && session->version == WI_SESSION_VERSION &&
        session->struct_bytes == sizeof *session)
        bytes = session->mapped_bytes;
    munmap(session, sizeof *session);
    if (bytes == 0) {
        close(fd);
        return -EPROTO;
    }
    session = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
    int error = session == MAP_FAILED ? -errno : 0;
    close(fd);
    if (error)
        return error;
    *out = session;
    return 0;
}

int wi_session_create(const char *path, uint32_t n_rings, struct wi_session **out, int *fd_out)
{
    int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd < 0)
        return -errno;
    uint64_t fixed = wi_session_fixed_bytes(n_rings);
    int error = wi_session_grow(fd, fixed);
    struct wi_session *session = MAP_FAILED;
    if (error == 0) {
        session =
            mmap(NULL, fixed + WI_ARENA_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
        error = session == MAP_FAILED ? -errno : 0;
    }
    if (error) {
        close(fd);
        unlink(path);
        return error;
    }
    session->version = WI_SESSION_VERSION;
    session->struct_bytes = sizeof *session;
    session->rings_at = sizeof *session;
    session->arena_at = fixed;
    session->mapped_bytes = fixed + WI_ARENA_BYTES;
    session->n_rings = n_rings;
    for (uint32_t ring = 0; ring < n_rings; ring++)
        for (uint64_t i = 0; i < WI_RING_SLOTS; i++)
            atomic_init(&wi_session_ring_slots(session, ring)[i].sequence, i);
    session->magic = WI_SESSION_MAGIC;
    *out = session;
    *fd_out = fd;
    return 0;
}

int wi_session_grow(int fd, uint64_t bytes)
{
    return -posix_fallocate(fd, 0, (off_t)bytes);
}

uint64_t wi_session_count(struct wi_session *session, uint32_t word)
{
    uint64_t sum = 0;
    uint32_t high = atomic_load_explicit(&session->threads_high, memory_order_acquire);
    for (uint32_t i = 0; i < high; i++)
        sum += atomic_load_explicit(&session->threads[i].counters[word], memory_order_relaxed);
    return sum;
}

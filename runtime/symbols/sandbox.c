/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The process that a module is read in: see extract.h.
 *
 * The block comes back through a memory file; a page shared with the child says which reader and which unit it was
 * at. Whether the child succeeded is judged by the block alone, so that it does not matter who reaps the child.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "runtime/symbols/builder.h"
#include "runtime/symbols/extract.h"

#define SECONDS_TO_READ 60 /* then what has been read is all there is */
#define SECONDS_TO_KILL 90
#define MAX_ATTEMPTS    (WI_MAX_BAD_UNITS + 4)
#define MAX_MEMORY      (UINT64_C(24) << 30)

extern void __gcov_dump(void) __attribute__((weak));

/* ---- the child --------------------------------------------------------------------------------------- */

/* Not the handlers of the launcher, which would forward signals to the target a second time. */
static void forget_signals(void)
{
    for (int number = 1; number < NSIG; number++)
        signal(number, SIG_DFL);
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
}

static void limit_resources(void)
{
    setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    setrlimit(RLIMIT_CPU, &(struct rlimit){SECONDS_TO_KILL, SECONDS_TO_KILL});
#ifndef __SANITIZE_ADDRESS__ /* whose shadow is larger than any limit */
    setrlimit(RLIMIT_DATA, &(struct rlimit){MAX_MEMORY, MAX_MEMORY});
    int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0)
        dup2(null, STDERR_FILENO); /* an allocator's or an assertion's last words are not for the user */
#endif
}

static bool write_all(int fd, const void *data, size_t size)
{
    const char *at = data;
    while (size > 0) {
        ssize_t n = write(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= (size_t)n;
    }
    return true;
}

static void run_child(const struct wi_extract_request *request, const struct wi_extract_limits *limits,
                      struct wi_progress *progress, int result)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    forget_signals();
    limit_resources();
    struct wi_index_header *block = NULL;
    if (wi_extract_here(request, limits, progress, &block) == 0)
        write_all(result, block, block->size);
    if (__gcov_dump)
        __gcov_dump();
    _exit(0);
}

/* ---- the parent -------------------------------------------------------------------------------------- */

/* The child holds the only other end of the pipe: it hangs up when it exits. */
static void wait_for_exit(pid_t child, int alive)
{
    struct pollfd end = {.fd = alive, .events = 0};
    int n;
    do
        n = poll(&end, 1, SECONDS_TO_KILL * 1000);
    while (n < 0 && errno == EINTR);
    if (n <= 0)
        kill(child, SIGKILL);
    while (waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}

static pid_t fork_quietly(void)
{
    sigset_t all, before;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &before);
    pid_t child = fork();
    if (child != 0)
        sigprocmask(SIG_SETMASK, &before, NULL);
    return child;
}

static int attempt(const struct wi_extract_request *request, const struct wi_extract_limits *limits,
                   struct wi_progress *progress, int result)
{
    int alive[2];
    if (pipe2(alive, O_CLOEXEC) != 0)
        return -errno;
    pid_t child = fork_quietly();
    if (child == 0) {
        close(alive[0]);
        run_child(request, limits, progress, result);
    }
    close(alive[1]);
    int error = child < 0 ? -errno : 0;
    if (child > 0)
        wait_for_exit(child, alive[0]);
    close(alive[0]);
    return error;
}

static int map_result(int result, struct wi_index *out)
{
    struct stat status;
    if (fstat(result, &status) != 0 || status.st_size == 0)
        return -EBADMSG;
    void *block = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, result, 0);
    if (block == MAP_FAILED)
        return -errno;
    int error = wi_index_open(block, (size_t)status.st_size, out);
    if (error != 0)
        munmap(block, (size_t)status.st_size);
    return error;
}

/* What not to do again; once it is late, debug information at all. False: symbols alone are too much already. */
static bool learn(struct wi_extract_request *request, struct wi_extract_limits *limits,
                  const struct wi_progress *progress, bool late)
{
    uint32_t reader = atomic_load(&progress->reader);
    uint64_t unit = atomic_load(&progress->unit);
    if (reader == 0)
        return false;
    if (wi_readers[reader]) /* there is another one */
        limits->first_reader = reader;
    else if (unit != UINT64_MAX && limits->n_bad_units < WI_MAX_BAD_UNITS && !late)
        limits->bad_units[limits->n_bad_units++] = unit;
    else if (request->want_lines)
        request->want_lines = false;
    else
        return false;
    return true;
}

static int try_repeatedly(struct wi_extract_request request, struct wi_progress *progress,
                          struct wi_index *out)
{
    struct wi_extract_limits limits = {.seconds = SECONDS_TO_READ};
    struct timespec begin, now;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (int i = 0; i < MAX_ATTEMPTS; i++) {
        int result = memfd_create("whatif-index", MFD_CLOEXEC);
        if (result < 0)
            return -errno;
        atomic_store(&progress->reader, 0);
        atomic_store(&progress->unit, UINT64_MAX);
        int error = attempt(&request, &limits, progress, result);
        if (error == 0)
            error = map_result(result, out);
        close(result);
        if (error == 0)
            return 0;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (!learn(&request, &limits, progress, now.tv_sec - begin.tv_sec > SECONDS_TO_READ))
            return error;
    }
    return -EBADMSG;
}

int wi_extract(const struct wi_extract_request *request, struct wi_index *out)
{
    struct wi_progress *progress =
        mmap(NULL, sizeof *progress, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (progress == MAP_FAILED)
        return -errno;
    int error = try_repeatedly(*request, progress, out);
    munmap(progress, sizeof *progress);
    return error;
}

void wi_extract_release(struct wi_index *index)
{
    if (index->header)
        munmap((void *)index->header, index->header->size);
    memset(index, 0, sizeof *index);
}

/* SPDX-License-Identifier: BSD-2-Clause */
/* Starting the target. See start.h. */
#include "runtime/launcher/start.h"
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "runtime/session/session.h"

/* ---- the program ---------------------------------------------------------------------------------------- */

static bool is_program(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISREG(status.st_mode) && access(path, X_OK) == 0;
}

/* Search PATH. Returns 0, or the shell's status: 127 not found, 126 found but not executable. */
static int search(const char *name, char *path, size_t size)
{
    if (strchr(name, '/')) {
        struct stat status;
        snprintf(path, size, "%s", name);
        if (stat(path, &status) != 0)
            return 127;
        return is_program(path) ? 0 : 126;
    }
    const char *directories = getenv("PATH");
    int result = 127;
    for (const char *at = directories ? directories : "/usr/local/bin:/usr/bin:/bin"; *at;) {
        size_t length = strcspn(at, ":");
        snprintf(path, size, "%.*s/%s", length ? (int)length : 1, length ? at : ".", name);
        if (is_program(path))
            return 0;
        if (access(path, F_OK) == 0)
            result = 126;
        at += length + (at[length] == ':');
    }
    return result;
}

/* Why the loader would not take the agent, or NULL. Scripts and what cannot be read pass: the exec will tell. */
static const char *why_not_preloadable(const char *path)
{
    ElfW(Ehdr) header;
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    const char *why = NULL;
    if (read(fd, &header, sizeof header) == sizeof header && memcmp(header.e_ident, ELFMAG, SELFMAG) == 0) {
        bool dynamic = false;
        if (header.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32))
            why = "it is a program of another word size";
        for (unsigned i = 0; !why && i < header.e_phnum && i < 512; i++) {
            ElfW(Phdr) segment;
            off_t at = (off_t)(header.e_phoff + (ElfW(Off))i * header.e_phentsize);
            if (pread(fd, &segment, sizeof segment, at) == sizeof segment && segment.p_type == PT_INTERP)
                dynamic = true;
        }
        if (!why && !dynamic)
            why = "it is statically linked";
        if (fstat(fd, &status) == 0) {
            if (status.st_mode & S_ISUID && status.st_uid != geteuid())
                why = "it is set-user-ID";
            if (status.st_mode & S_ISGID && status.st_mode & S_IXGRP && status.st_gid != getegid())
                why = "it is set-group-ID";
            if (geteuid() != 0 && fgetxattr(fd, "security.capability", NULL, 0) > 0)
                why = "it has file capabilities";
        }
    }
    close(fd);
    return why;
}

int wi_start_find(const char *name, char *path, size_t size)
{
    int result = search(name, path, size);
    if (result != 0) {
        fprintf(stderr, "whatif: %s: %s\n", name,
                result == 127 ? "there is no such program" : "is not an executable file");
        return result;
    }
    const char *why = why_not_preloadable(path);
    if (!why)
        return 0;
    fprintf(stderr, "whatif: %s cannot be profiled: %s, so that no agent can be preloaded into it\n", path,
            why);
    return 1;
}

/* ---- the agent ------------------------------------------------------------------------------------------ */

int wi_start_find_agent(char *path, size_t size)
{
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    snprintf(path, size, "beside /proc/self/exe");
    if (n <= 0)
        return -errno;
    self[n] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(self, '/');
        if (!slash)
            return -ENOENT;
        *slash = '\0';
    }
    if ((size_t)snprintf(path, size, "%s/lib/whatif/libwhatif-agent.so", self) >= size)
        return -ENAMETOOLONG;
    return access(path, R_OK) == 0 ? 0 : -errno;
}

/* In front of what the user preloads already, which keeps its place. */
static int set_preload(const char *agent)
{
    const char *own = getenv("LD_PRELOAD");
    char *both;
    if (!own || !*own)
        return setenv("LD_PRELOAD", agent, 1);
    if (asprintf(&both, "%s:%s", agent, own) < 0)
        return -1;
    int result = setenv("LD_PRELOAD", both, 1);
    free(both);
    return result;
}

/* Signals that end a process whose writing fails: here it is to fail with an error. The program gets its own back. */
static struct {
    int number;
    bool already;
} ignored[] = {{SIGPIPE, false}, {SIGXFSZ, false}};

void wi_start_ignore_signals(void)
{
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        ignored[i].already = signal(ignored[i].number, SIG_IGN) == SIG_IGN;
}

__attribute__((noreturn)) static void become(const char *path, char *const *command, const char *agent,
                                             const char *session, const sigset_t *original, int report)
{
    for (size_t i = 0; i < sizeof ignored / sizeof *ignored; i++)
        if (!ignored[i].already)
            signal(ignored[i].number, SIG_DFL);
    sigprocmask(SIG_SETMASK, original, NULL);
    if (set_preload(agent) == 0 && setenv(WI_SESSION_ENV, session, 1) == 0)
        execv(path, command);
    int error = errno;
    if (write(report, &error, sizeof error) != sizeof error)
        _exit(126);
    _exit(error == ENOENT ? 127 : 126);
}

pid_t wi_start(const char *path, char *const *command, const char *agent, const char *session,
               const sigset_t *original, bool stdout_to_stderr)
{
    int report[2], error = 0;
    if (pipe2(report, O_CLOEXEC) != 0)
        return -errno;
    pid_t pid = fork();
    if (pid == 0 && stdout_to_stderr)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    if (pid == 0)
        become(path, command, agent, session, original, report[1]);
    if (pid < 0)
        error = errno;
    close(report[1]);
    if (pid > 0 && read(report[0], &error, sizeof error) != sizeof error)
        error = 0; /* the pipe closed at a successful exec */
    close(report[0]);
    return error ? -error : pid;
}

/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Looking up the functions behind the interposed ones.
 *
 * dlsym gives the default version of a symbol, except that for names with several versions some releases of glibc
 * gave the oldest to RTLD_NEXT: the condition variables, whose old version has another layout, are asked for by
 * version where the architecture had one.
 */
#include "runtime/agent/real.h"
#include <stddef.h>
#include <string.h>

/* glibc's own names: what a lock taken by somebody's allocator below our dlsym gets meanwhile. */
extern int libc_mutex_lock(pthread_mutex_t *);
extern int libc_mutex_trylock(pthread_mutex_t *);
extern int libc_mutex_unlock(pthread_mutex_t *);
extern int __sigaction(int, const struct sigaction *, struct sigaction *);
#if defined(__x86_64__)
#define LIBC_BASE_VERSION "GLIBC_2.2.5"
#elif defined(__aarch64__)
#define LIBC_BASE_VERSION "GLIBC_2.17"
#endif
__asm__(".symver libc_mutex_lock, __pthread_mutex_lock@" LIBC_BASE_VERSION);
__asm__(".symver libc_mutex_trylock, __pthread_mutex_trylock@" LIBC_BASE_VERSION);
__asm__(".symver libc_mutex_unlock, __pthread_mutex_unlock@" LIBC_BASE_VERSION);

struct wi_real wi_real_table;
bool wi_real_ready;

static void *look_up(const char *name)
{
#if defined(__x86_64__)
    if (strncmp(name, "pthread_cond_", 13) == 0 && strcmp(name, "pthread_cond_clockwait") != 0)
        return dlvsym(RTLD_NEXT, name, "GLIBC_2.3.2");
#endif
    return dlsym(RTLD_NEXT, name);
}

void wi_real_resolve(void)
{
    static _Thread_local bool inside __attribute__((tls_model("initial-exec")));
    if (inside)
        return;
    inside = true;
    if (!wi_real_table.pthread_mutex_lock) {
        wi_real_table.pthread_mutex_lock = libc_mutex_lock;
        wi_real_table.pthread_mutex_trylock = libc_mutex_trylock;
        wi_real_table.pthread_mutex_unlock = libc_mutex_unlock;
        wi_real_table.sigaction = __sigaction;
    }
#define RESOLVE(result, name, arguments)                                                                     \
    {                                                                                                        \
        void *found = look_up(#name);                                                                        \
        if (found)                                                                                           \
            memcpy(&wi_real_table.name, &found, sizeof found);                                               \
    }
    WI_REAL_FUNCTIONS(RESOLVE)
#undef RESOLVE
    wi_real_ready = true;
    inside = false;
}

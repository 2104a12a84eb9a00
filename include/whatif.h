/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * whatif.h: what a program tells its causal profiler.
 *
 * Include it and mark where useful work completes:
 *
 *     WHATIF_PROGRESS();                      named FILE:LINE
 *     WHATIF_PROGRESS_NAMED("requests");      throughput: one visit per piece of work done
 *     WHATIF_BEGIN("request");                latency by Little's law: begin and end may be on
 *     WHATIF_END("request");                  different threads, and need not be matched
 *     WHATIF_BEGIN_KEY("request", key);       latency of matched pairs, with percentiles; the key is any
 *     WHATIF_END_KEY("request", key);         pointer or integer that is unique while in flight
 *
 * Header only, no library to link. A program that is not being profiled pays one predictable branch per macro.
 * C99 and C++11. All macros may be used from any thread; none allocates, blocks (but to serve a pause that the
 * profiler ordered) or changes errno. The visiting macros may be used in signal handlers.
 *
 * Names are string literals, or strings that live as long as the program; at most 95 bytes count. At most 64 names
 * are kept in a run, each throughput name taking one and each latency name four of 128 counters; what does not fit
 * is not counted, and the report says so.
 *
 * Synchronisation that the profiler cannot see (spin locks of your own, futexes in inline assembly):
 *
 *     WHATIF_CATCH_UP();       before waking or releasing another thread: serve the pauses owed so far
 *     WHATIF_PRE_BLOCK();      before waiting for another thread
 *     WHATIF_POST_BLOCK(1);    after it; 1 if another thread of the program ended the wait, 0 if the world did
 *
 * whatif_start() and whatif_stop() bound the experiments: once a program has called either, experiments run only
 * between a start and the next stop. Calls do not nest.
 */
#ifndef WHATIF_H
#define WHATIF_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

/* The agent's side of the contract, found once per translation unit by this name. A later agent keeps what is
 * here and appends; `size` says how much there is. */
#define WHATIF_AGENT_SYMBOL "whatif_agent_v1"

enum whatif_kind { WHATIF_KIND_VISIT = 1, WHATIF_KIND_BEGIN = 2, WHATIF_KIND_END = 3 };

struct whatif_point {
    const char *name;
    void *handle; /* the agent's; NULL until the first visit */
    int kind;
    int keyed;
};

struct whatif_agent {
    size_t size;
    void (*visit)(struct whatif_point *point, uint64_t key);
    void (*catch_up)(void);
    void (*pre_block)(void);
    void (*post_block)(int woken_by_peer);
    void (*set_experiments)(int on);
};

#ifndef WHATIF_INTERFACE_ONLY /* the agent itself stops here */

/* Not <dlfcn.h>: its RTLD_DEFAULT needs feature macros that a strict C99 program has not set. */
extern void *dlsym(void *handle, const char *name)
#if defined(__cplusplus) && defined(__GLIBC__)
    noexcept(true)
#endif
    ;

/* "used" keeps the store below, and so keeps the call to dlsym from becoming a jump: dlsym looks at who called it. */
__attribute__((used)) static const struct whatif_agent *whatif_agent_of_this_file;

__attribute__((unused, constructor)) static void whatif_find_agent(void)
{
    whatif_agent_of_this_file = (const struct whatif_agent *)dlsym((void *)0, WHATIF_AGENT_SYMBOL);
}

#define WHATIF_IF_PROFILED(call)                                                                             \
    do {                                                                                                     \
        if (__builtin_expect(whatif_agent_of_this_file != 0, 0)) {                                           \
            call;                                                                                            \
        }                                                                                                    \
    } while (0)

#define WHATIF_VISIT_(name, kind, keyed, key)                                                               \
    do {                                                                                                    \
        if (__builtin_expect(whatif_agent_of_this_file != 0, 0)) {                                          \
            static struct whatif_point whatif_point_here = {name, 0, kind, keyed};                          \
            whatif_agent_of_this_file->visit(&whatif_point_here, key);                                      \
        }                                                                                                   \
    } while (0)

#define WHATIF_STRING2_(x) #x
#define WHATIF_STRING_(x)  WHATIF_STRING2_(x)

#define WHATIF_PROGRESS()           WHATIF_VISIT_(__FILE__ ":" WHATIF_STRING_(__LINE__), WHATIF_KIND_VISIT, 0, 0)
#define WHATIF_PROGRESS_NAMED(name) WHATIF_VISIT_(name, WHATIF_KIND_VISIT, 0, 0)
#define WHATIF_BEGIN(name)          WHATIF_VISIT_(name, WHATIF_KIND_BEGIN, 0, 0)
#define WHATIF_END(name)            WHATIF_VISIT_(name, WHATIF_KIND_END, 0, 0)
#define WHATIF_BEGIN_KEY(name, key) WHATIF_VISIT_(name, WHATIF_KIND_BEGIN, 1, (uint64_t)(uintptr_t)(key))
#define WHATIF_END_KEY(name, key)   WHATIF_VISIT_(name, WHATIF_KIND_END, 1, (uint64_t)(uintptr_t)(key))

#define WHATIF_CATCH_UP()                WHATIF_IF_PROFILED(whatif_agent_of_this_file->catch_up())
#define WHATIF_PRE_BLOCK()               WHATIF_IF_PROFILED(whatif_agent_of_this_file->pre_block())
#define WHATIF_POST_BLOCK(woken_by_peer) WHATIF_IF_PROFILED(whatif_agent_of_this_file->post_block(woken_by_peer))

__attribute__((unused)) static inline void whatif_start(void)
{
    WHATIF_IF_PROFILED(whatif_agent_of_this_file->set_experiments(1));
}

__attribute__((unused)) static inline void whatif_stop(void)
{
    WHATIF_IF_PROFILED(whatif_agent_of_this_file->set_experiments(0));
}

#endif /* WHATIF_INTERFACE_ONLY */

#if defined(__cplusplus)
}
#endif

#endif

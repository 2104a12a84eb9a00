/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The agent's start and end in a process.
 *
 * The launcher names the session in the environment. Without one, or with one of another version, or when the launcher
 * is gone, everything stays inert: the interposed calls then cost one test. The start runs in the constructor, or
 * earlier if a library's constructor makes a thread.
 */
#include "runtime/agent/agent.h"
#include "runtime/agent/guest.h"
#include "runtime/agent/modules.h"
#include "runtime/agent/points.h"
#include "runtime/agent/real.h"
#include "runtime/agent/signal/disposition.h"
#include "runtime/agent/signal/event.h"
#include "runtime/agent/signal/pause.h"
#include "runtime/agent/threads.h"
#include "runtime/session/session.h"
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

extern void *__libc_stack_end;

/* Slots are never given back: the free ones are those behind the last. */
static bool enter_process(uint32_t parent)
{
    uint32_t pid = (uint32_t)getpid();
    for (uint32_t i = atomic_load(&wi_session->processes_high); i < WI_MAX_PROCESSES; i++) {
        struct wi_process *process = &wi_session->processes[i];
        uint32_t unused = 0;
        if (!atomic_compare_exchange_strong(&process->pid, &unused, pid))
            continue;
        atomic_store(&process->parent, parent);
        atomic_store(&process->start_ns, wi_now_ns());
        wi_self.process_index = (uint16_t)i;
        uint32_t high = atomic_load(&wi_session->processes_high);
        while (high < i + 1 && !atomic_compare_exchange_weak(&wi_session->processes_high, &high, i + 1))
            ;
        return true;
    }
    atomic_fetch_add(&wi_session->overflow.processes, 1);
    return false;
}

static void choose_sampler(void)
{
    struct wi_process *process = &wi_session->processes[wi_self.process_index];
    int refused;
    enum wi_sampler sampler = wi_event_choose((enum wi_sampler)wi_session->sampler, &refused);
    if (sampler != WI_SAMPLER_NONE &&
        wi_disposition_take(sampler == WI_SAMPLER_SIGTRAP ? WI_SIGNAL_TRAP : WI_SIGNAL_PROF) != 0)
        sampler = WI_SAMPLER_NONE;
    atomic_store(&process->refused, refused);
    atomic_store(&process->sampler, sampler);
}

static void before_fork(void)
{
    wi_catch_up();
}

static void in_child(void)
{
    struct wi_session *session = wi_session;
    if (!session)
        return;
    struct wi_process *parent = &session->processes[wi_self.process_index];
    uint32_t sampler = atomic_load(&parent->sampler), main_module = atomic_load(&parent->main_module);
    if (!session->follow || !enter_process(atomic_load(&parent->pid))) {
        wi_event_forget(&wi_self);
        wi_self.slot = NULL;
        wi_session = NULL;
        return;
    }
    struct wi_process *own = &session->processes[wi_self.process_index];
    atomic_store(&own->sampler, sampler);
    atomic_store(&own->main_module, main_module);
    wi_threads_after_fork();
}

/* Valgrind runs the program on a processor of its own making: a sample would interrupt Valgrind instead, and end it. */
static bool is_emulated(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded && strstr(preloaded, "/vgpreload_") != NULL;
}

void wi_agent_start(void)
{
    static atomic_flag started = ATOMIC_FLAG_INIT;
    if (atomic_flag_test_and_set(&started))
        return;
    int saved = errno;
    wi_real();
    const char *path = getenv(WI_SESSION_ENV);
    struct wi_session *session;
    if (!path || is_emulated() || wi_session_attach(path, &session) != 0 || wi_session_is_dormant(session)) {
        errno = saved;
        return;
    }
    if (!session->follow && atomic_load(&session->processes_high) > 0) {
        errno = saved;
        return;
    }
    wi_session = session;
    if (!enter_process((uint32_t)getppid())) {
        wi_session = NULL;
        errno = saved;
        return;
    }
    wi_modules_refresh();
    wi_threads_init();
    choose_sampler();
    pthread_atfork(before_fork, NULL, in_child);
    /* A program starts with nothing owed: rule 6 has no creator here that could be read. */
    struct wi_heritage heritage = {atomic_load(&session->clock.global_delay), 0, false};
    wi_threads_enter(&heritage, (uintptr_t)__libc_stack_end + sizeof(void *), (uintptr_t)__libc_stack_end);
    wi_points_start();
    errno = saved;
}

__attribute__((constructor)) static void at_load(void)
{
    wi_agent_start();
}

/* Exit handlers of the program have run: what is left owed would shorten the run. */
__attribute__((destructor)) static void at_unload(void)
{
    if (wi_session)
        wi_catch_up();
}

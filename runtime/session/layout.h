/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The session: the one piece of memory that the launcher and every process of the target share.
 *
 * It is a file, mapped shared by all of them. Its fixed part is this structure; behind it lie the sample rings, and
 * behind those an arena of published tables (unwind tables, scopes) that the controller appends to. Agents map the
 * whole address range once; the file grows into it, and an offset is published only after its bytes are allocated.
 *
 * Every field names who writes it, who reads it, and the order. "once" means before the target starts. Totals only
 * grow. Where nothing is said, accesses are relaxed: a stale read makes somebody act a moment later, never wrongly.
 *
 * Layout changes come with a new WI_SESSION_VERSION; an agent that meets another version stays dormant.
 */
#ifndef WI_SESSION_LAYOUT_H
#define WI_SESSION_LAYOUT_H

#include <stdatomic.h>
#include <stdint.h>

#define WI_SESSION_MAGIC   0x3166697461687721ull /* "!whatif1" */
#define WI_SESSION_VERSION 1
#define WI_SESSION_ENV     "WHATIF_SESSION" /* path of the file, in the target's environment */

/* Capacities. What does not fit is counted in `overflow` and reaches the report. */
#define WI_MAX_THREADS    4096 /* live at once, over all processes */
#define WI_MAX_PROCESSES  1024
#define WI_MAX_MODULES    1024
#define WI_MAX_POINTS     64
#define WI_MAX_COUNTERS   128   /* words of a thread's visit counters, over all points */
#define WI_MAX_PAIRS      65536 /* keyed latencies in flight */
#define WI_RANGE_SETS     4     /* enough that a reader of an old set finishes before it is reused */
#define WI_RANGE_CAPACITY 16384
#define WI_STACK_FRAMES   57
#define WI_HISTOGRAM      512
#define WI_ARENA_BYTES    (256u << 20) /* address space, not memory */
#define WI_CACHE_LINE     64

/* ---- the virtual clock ------------------------------------------------------------------------------ */

/*
 * The running experiment, one word so that it is read whole:
 *   bits 63..32  epoch: changes with every experiment; a thread that sees a new one forgives its debt
 *   bits 31..16  speedup in 1/10000
 *   bits 15..8   index of the range set
 *   bits  7..0   flags
 */
#define WI_EXPERIMENT_CREDITING 1u /* samples in the selected code are credited */
#define WI_EXPERIMENT_SHAM      2u /* ... to everybody else only: nobody is spared */
#define WI_EXPERIMENT_GIVEN     4u /* code marked as given is credited at the given speedup, always */

static inline uint64_t wi_experiment_word(uint32_t epoch, uint32_t speedup, uint32_t set, uint32_t flags)
{
    return (uint64_t)epoch << 32 | (uint64_t)speedup << 16 | (uint64_t)set << 8 | flags;
}
static inline uint32_t wi_experiment_epoch(uint64_t word)
{
    return (uint32_t)(word >> 32);
}
static inline uint32_t wi_experiment_speedup(uint64_t word)
{
    return (uint32_t)(word >> 16) & 0xffff;
}
static inline uint32_t wi_experiment_set(uint64_t word)
{
    return (uint32_t)(word >> 8) & 0xff;
}

struct wi_clock {
    _Alignas(WI_CACHE_LINE) _Atomic uint64_t global_delay; /* D. Agents raise it (relaxed max), all read */
    _Atomic uint64_t experiment;     /* controller writes (release), agents read (acquire) */
    _Atomic uint64_t start_delay;    /* D when the experiment began; controller writes before `experiment` */
    _Atomic uint32_t dormant;        /* controller: 1 when the session has ended; agents never pause again */
    _Atomic uint32_t experiments_on; /* agents: 0 nobody asked, 1 whatif_start(), 2 whatif_stop() */
};

/* ---- who takes part --------------------------------------------------------------------------------- */

enum wi_thread_state {
    WI_THREAD_RUNNING,
    WI_THREAD_WAITING, /* in a known wait for a peer: owes nothing meanwhile */
    WI_THREAD_ASLEEP,  /* in a known wait for the world: what falls due meanwhile is settled afterwards */
};

/* A thread's account. Its owner writes, the controller reads; slots are reused, counters run on. */
struct wi_thread {
    _Alignas(
        WI_CACHE_LINE) _Atomic uint32_t tid; /* 0: free. Claimed by compare-and-swap, freed by the owner */
    _Atomic uint32_t process;                /* index into processes */
    _Atomic uint32_t generation;             /* grows with each owner */
    _Atomic uint32_t state;                  /* enum wi_thread_state */
    _Atomic uint64_t local_delay;            /* L, owner writes */
    _Atomic uint64_t experiment;             /* the experiment word that the owner has adopted */
    uint64_t overshoot_ns;                   /* owner only: slept beyond what was owed */
    uint64_t expected_overshoot_ns;          /* owner only: its running median */
    uint64_t period_ns;                      /* owner only: what one of its samples stands for */
    _Atomic uint64_t waiting_since;          /* 0, or when the current known wait began */
    /* totals, owner writes, controller reads at experiment boundaries */
    _Alignas(WI_CACHE_LINE) _Atomic uint64_t samples;
    _Atomic uint64_t hits;
    _Atomic uint64_t pauses;
    _Atomic uint64_t paused_ns;
    _Atomic uint64_t absorbed_ns; /* debt taken up by waits for peers */
    _Atomic uint64_t guessed_ns;  /* of that, by waits that were not a known call */
    _Atomic uint64_t waited_ns;   /* blocked in known calls */
    _Atomic uint64_t skipped;     /* samples that met a busy structure */
    uint64_t sham_delay;          /* owner only: where L would be if placebos spared */
    _Alignas(WI_CACHE_LINE) _Atomic uint64_t counters[WI_MAX_COUNTERS]; /* visits: see struct wi_point */
};

struct wi_process {
    _Atomic uint32_t pid; /* 0: free. Written by its agent */
    _Atomic uint32_t parent;
    _Atomic uint32_t main_module;
    _Atomic uint32_t sampler; /* enum wi_sampler in use; 0 if none could be had */
    _Atomic int32_t refused;  /* errno of the refusal that led to it, 0 if none */
    _Atomic uint64_t start_ns;
};

enum wi_sampler { WI_SAMPLER_NONE, WI_SAMPLER_SIGTRAP, WI_SAMPLER_RING, WI_SAMPLER_TIMER, WI_SAMPLER_AUTO };

/* ---- code -------------------------------------------------------------------------------------------- */

struct wi_session_module {
    _Atomic uint32_t state; /* 0 free, 1 being written, 2 valid (release). Agents write, once */
    uint32_t is_main;
    uint64_t device;
    uint64_t inode;
    uint8_t build_id[20];
    uint32_t build_id_length;
    uint32_t pid; /* of the process that saw it first: where to read it by /proc if the path fails */
    char path[420];
    _Atomic uint64_t unwind_at; /* offset of a struct wi_unwind_table, 0: none (yet). Controller, release */
    _Atomic uint64_t scope_at;  /* offset of a struct wi_scope_table, 0: unknown (yet). Controller, release */
};

/* Addresses of a module where a walk up the stack stops: code in scope. Sorted, disjoint, [low, high). */
struct wi_scope_table {
    uint32_t n;
    uint32_t reserved;
    struct {
        uint32_t low;
        uint32_t high;
    } ranges[];
};

#define WI_RANGE_SELECTED  1u /* code here is the unit */
#define WI_RANGE_IF_CALLED 2u /* code here is the unit when the next frame in scope is a caller */
#define WI_RANGE_CALLER    4u
#define WI_RANGE_GIVEN     8u /* code that --given speeds up in every experiment */

struct wi_session_range {
    uint32_t module;
    uint32_t flags; /* WI_RANGE_*; ranges of different flags may overlap only if merged into one */
    uint64_t low;
    uint64_t high;
};

/* The selected code of an experiment. The controller writes a set that no recent experiment names, then publishes
 * its index in the experiment word; readers check that word again after use. */
struct wi_range_set {
    uint32_t n;
    uint32_t unit; /* whose code it is, as the controller numbers units */
    struct wi_session_range ranges[WI_RANGE_CAPACITY];
};

/* ---- progress points ----------------------------------------------------------------------------------- */

/* Words of a thread's counters that a point owns, from `counter`. */
enum wi_point_words {
    WI_WORD_VISITS = 0,      /* throughput: visits; latency: ends */
    WI_WORD_BEGINS = 1,      /* latency only, from here on */
    WI_WORD_BEGIN_TIMES = 2, /* sum of virtual times of the begins */
    WI_WORD_END_TIMES = 3,
    WI_WORDS_THROUGHPUT = 1,
    WI_WORDS_LATENCY = 4,
};

struct wi_coz_counter { /* what code compiled against Coz's header counts in, inline */
    _Atomic uint64_t count;
    _Atomic uint64_t backoff;
};

struct wi_point {
    _Atomic uint32_t state; /* 0 free, 1 being written, 2 valid (release) */
    uint32_t latency;       /* 0 throughput, 1 latency */
    uint32_t counter;       /* first word in a thread's counters */
    uint32_t reserved;
    char name[96];
    struct wi_coz_counter coz[2];                     /* visits or begins, ends */
    _Alignas(WI_CACHE_LINE) _Atomic uint64_t matched; /* keyed pairs that met; any thread adds */
    _Atomic uint64_t matched_sum_ns;
    _Atomic uint32_t histogram[WI_HISTOGRAM]; /* of their latencies: see wi_latency_bucket */
};

struct wi_pair {
    _Atomic uint64_t tag; /* 0 free; else a hash of point and key */
    _Atomic uint64_t begin_ns;
};

/* ---- samples --------------------------------------------------------------------------------------------- */

/* A frame: module index in the upper 16 bits, the module's own virtual address below. */
#define WI_FRAME_MODULE_SHIFT 48
#define WI_FRAME_NO_MODULE    0xffffull

enum wi_sample_flags {
    WI_SAMPLE_HIT = 1,       /* inside the selected code */
    WI_SAMPLE_TRUNCATED = 2, /* deeper than WI_STACK_FRAMES */
    WI_SAMPLE_BROKEN = 4,    /* could not be walked to its end */
    WI_SAMPLE_EXIT = 8,      /* no sample: the thread has ended */
};

struct wi_sample {
    _Atomic uint64_t sequence; /* of the ring */
    uint64_t time_ns;          /* CLOCK_MONOTONIC */
    uint32_t tid;
    uint16_t slot;
    uint16_t process;
    uint32_t generation; /* of the slot: tells threads apart that used the same slot */
    uint8_t flags;
    uint8_t n_frames;
    uint16_t wait_kind; /* 0 none, 1 for a peer, 2 for the world, 3 unknown */
    uint64_t weight_ns; /* CPU time it stands for */
    uint32_t cpu_us;    /* CPU time since the thread's last sample */
    uint32_t wait_us;   /* blocked since then */
    uint32_t pause_us;  /* pauses of ours since then */
    uint32_t run_us;    /* running or ready to run since then: see wi_run_clock_advance */
    uint64_t frames[WI_STACK_FRAMES];
};
_Static_assert(sizeof(struct wi_sample) == 512, "eight cache lines");

/* Many producers (agents, in signal context), one consumer (controller). A full ring drops and counts. */
struct wi_ring {
    _Alignas(WI_CACHE_LINE) _Atomic uint64_t tail; /* producers */
    _Atomic uint64_t dropped;                      /* producers */
    _Alignas(WI_CACHE_LINE) uint64_t head;         /* consumer */
    uint64_t stuck_since;                          /* consumer: a claimed slot that is not written yet */
};
#define WI_MAX_RINGS  16
#define WI_RING_SLOTS 2048

/* ---- all of it --------------------------------------------------------------------------------------------- */

struct wi_session {
    uint64_t magic; /* launcher, once; the rest of this block, too */
    uint32_t version;
    uint32_t struct_bytes;
    uint64_t rings_at; /* offset of the slots of ring 0 */
    uint64_t arena_at;
    uint64_t mapped_bytes; /* address range that agents map */
    uint32_t n_rings;
    uint32_t sampler;  /* enum wi_sampler asked for */
    uint64_t start_ns; /* CLOCK_MONOTONIC */
    uint64_t period_ns;
    uint64_t expected_overshoot_ns; /* of a sleep, as the launcher measured it */
    uint32_t launcher_pid;
    uint32_t follow;        /* 1: children take part, too */
    uint32_t given_speedup; /* in 1/10000 */
    uint32_t reserved;

    /* The launcher holds this robust mutex while it lives; the kernel marks its first word when it dies. */
    _Alignas(WI_CACHE_LINE) union {
        _Atomic uint32_t word;
        unsigned char mutex[64];
    } launcher_alive;

    struct wi_clock clock;

    struct { /* agents add, the report tells */
        _Alignas(WI_CACHE_LINE) _Atomic uint64_t threads;
        _Atomic uint64_t processes;
        _Atomic uint64_t modules;
        _Atomic uint64_t points;
        _Atomic uint64_t pairs;
        _Atomic uint64_t discarded_samples; /* flagged asynchronous, or met a busy structure */
        _Atomic uint64_t events_refused;    /* threads that could not be sampled */
        _Atomic uint64_t unfollowed;        /* programs that were started without the agent */
    } overflow;

    _Atomic uint32_t threads_high; /* slots ever used: readers look no further */
    _Atomic uint32_t processes_high;
    _Atomic uint32_t modules_high;
    _Atomic uint32_t points_high;
    _Atomic uint32_t counters_used;

    struct wi_ring rings[WI_MAX_RINGS];
    struct wi_process processes[WI_MAX_PROCESSES];
    struct wi_session_module modules[WI_MAX_MODULES];
    struct wi_point points[WI_MAX_POINTS];
    struct wi_range_set sets[WI_RANGE_SETS];
    struct wi_pair pairs[WI_MAX_PAIRS];
    struct wi_thread threads[WI_MAX_THREADS];
};

/* FUTEX_OWNER_DIED: the kernel's mark in the first word of a robust futex. */
#define WI_OWNER_DIED 0x40000000u

#endif

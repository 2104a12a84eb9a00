// SPDX-License-Identifier: BSD-2-Clause
/*
 * The walker before its judge: stacks of a busy program, walked in its signal handlers, held against libunwind.
 *
 * Threads do what is hard to walk (deep recursion, libc calling back, exceptions, handlers on their own stacks and
 * on others, realigned frames) and are interrupted by timers wherever they are. The handler walks by tables
 * compiled beforehand, and keeps registers and a copy of the stack. When all is over, libunwind unwinds the
 * copies: in the handler it would deadlock (it locks what the loader locks).
 *
 * Prints TAP.
 */
extern "C" {
#define _Static_assert static_assert
#include "runtime/agent/signal/walk.h"
#include "runtime/symbols/unwind_compile.h"
}

#include <alloca.h>
#include <libunwind.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace
{

constexpr int n_threads = 4;
constexpr double run_s = 1.5;
constexpr long period_ns = 1000000;
constexpr size_t max_depth = 200;
constexpr size_t max_copy = 128 * 1024;
constexpr size_t arena_size = size_t{1} << 30; // reserved, not touched
constexpr size_t max_samples = 20000;

// ---- modules and their tables -----------------------------------------------------------------------------

struct Module {
    uintptr_t start, end, bias;
    wi_unwind_table *table;
    std::string name;
};

std::vector<Module> modules; // sorted, complete before the first signal
double compile_ms;

double now_s(clockid_t clock)
{
    timespec time;
    clock_gettime(clock, &time);
    return time.tv_sec + time.tv_nsec * 1e-9;
}

int add_module(dl_phdr_info *info, size_t, void *)
{
    Module module = {UINTPTR_MAX, 0, info->dlpi_addr, nullptr, info->dlpi_name};
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) &segment = info->dlpi_phdr[i];
        if (segment.p_type != PT_LOAD)
            continue;
        module.start = std::min<uintptr_t>(module.start, info->dlpi_addr + segment.p_vaddr);
        module.end = std::max<uintptr_t>(module.end, info->dlpi_addr + segment.p_vaddr + segment.p_memsz);
    }
    auto vdso = reinterpret_cast<const ElfW(Ehdr) *>(getauxval(AT_SYSINFO_EHDR));
    size_t size;
    int error;
    double start_s = now_s(CLOCK_THREAD_CPUTIME_ID);
    if (module.start == reinterpret_cast<uintptr_t>(vdso))
        error = wi_unwind_compile_image(vdso, vdso->e_shoff + size_t{vdso->e_shentsize} * vdso->e_shnum,
                                        &module.table, &size);
    else
        error = wi_unwind_compile(module.name.empty() ? "/proc/self/exe" : module.name.c_str(), &module.table,
                                  &size);
    compile_ms += (now_s(CLOCK_THREAD_CPUTIME_ID) - start_s) * 1e3;
    if (error)
        printf("# no table for %s: %s\n", module.name.c_str(), strerror(-error));
    modules.push_back(module);
    return 0;
}

const Module *find_module(uintptr_t address)
{
    size_t first = 0, end = modules.size();
    while (first < end) {
        size_t middle = (first + end) / 2;
        if (address >= modules[middle].end)
            first = middle + 1;
        else
            end = middle;
    }
    return first < modules.size() && address >= modules[first].start ? &modules[first] : nullptr;
}

// ---- the handler: walk, and keep what the judge needs -------------------------------------------------------

struct Copy {
    uintptr_t start;
    size_t size;
    const uint8_t *bytes;
};

struct Sample {
    ucontext_t context;
    Copy copies[2]; // the stack that was in use, and the one it was switched from
    uint32_t n_copies;
    uint32_t depth;
    wi_walk_result ended;
    double frame_ns; // 0 where it was not measured
    uintptr_t pcs[max_depth];
};

struct Stack {
    uintptr_t low, high;
    bool holds(uintptr_t sp) const
    {
        return sp >= low && sp < high;
    }
};

thread_local Stack thread_stack, alternate_stack;

uint8_t *arena;
std::atomic<size_t> arena_used;
Sample *samples;
std::atomic<size_t> n_samples;

void keep_stack(Sample &sample, uintptr_t sp, const Stack &stack)
{
    uintptr_t start = std::max(stack.low, sp - 128), end = std::min(stack.high, start + max_copy);
    size_t at = arena_used.fetch_add(end - start);
    if (at + (end - start) > arena_size || sample.n_copies == 2)
        return;
    memcpy(arena + at, reinterpret_cast<void *>(start), end - start);
    sample.copies[sample.n_copies++] = {start, end - start, arena + at};
}

void walk(Sample &sample, const ucontext_t *context, bool keep)
{
    wi_walk at;
    wi_walk_from_context(&at, context);
    const Stack *stack = nullptr;
    sample.depth = 0;
    sample.ended = WI_WALK_STEPPED;
    while (sample.ended == WI_WALK_STEPPED && sample.depth < max_depth) {
        const Stack *now_on = alternate_stack.holds(at.sp) ? &alternate_stack : &thread_stack;
        if (keep && now_on != stack && now_on->holds(at.sp))
            keep_stack(sample, at.sp, *now_on);
        stack = now_on;
        sample.pcs[sample.depth++] = at.pc;
        const Module *module = find_module(wi_walk_code_address(&at));
        sample.ended =
            module ? wi_walk_step(&at, module->table, module->bias, stack->low, stack->high) : WI_WALK_BROKEN;
    }
}

void time_walk(Sample &sample, const ucontext_t *context)
{
    timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (int i = 0; i < 10; i++)
        walk(sample, context, false);
    clock_gettime(CLOCK_MONOTONIC, &end);
    sample.frame_ns = ((end.tv_sec - start.tv_sec) * 1e9 + end.tv_nsec - start.tv_nsec) / (10 * sample.depth);
}

void take_sample(int, siginfo_t *, void *opaque)
{
    auto context = static_cast<const ucontext_t *>(opaque);
    size_t number = n_samples.fetch_add(1);
    if (number >= max_samples)
        return;
    Sample &sample = samples[number];
    sample.context = *context;
    sample.n_copies = 0;
    walk(sample, context, true);
    if (number % 8 == 0)
        time_walk(sample, context);
}

// ---- the work: what is hard to walk ---------------------------------------------------------------------------

#define ALONE __attribute__((noinline))

thread_local uint64_t state = 1;
thread_local volatile uint64_t sink;

ALONE uint64_t burn(unsigned steps)
{
    uint64_t value = state;
    for (unsigned i = 0; i < steps; i++)
        value = value * 6364136223846793005u + 1442695040888963407u;
    return state = value;
}

ALONE uint64_t recurse(unsigned depth)
{
    if (depth == 0)
        return burn(2000);
    return recurse(depth - 1) * 3 + burn(20);
}

ALONE uint64_t recurse_with_alloca(unsigned depth)
{
    size_t size = 16 + burn(5) % 300;
    auto space = static_cast<char *>(alloca(size));
    memset(space, static_cast<int>(depth), size);
    uint64_t below = depth ? recurse_with_alloca(depth - 1) : burn(1000);
    return below + static_cast<unsigned char>(space[size / 2]);
}

int compare(const void *left, const void *right)
{
    uint64_t a = *static_cast<const uint64_t *>(left), b = *static_cast<const uint64_t *>(right);
    burn(3);
    return (a > b) - (a < b);
}

ALONE void sort_by_libc()
{
    uint64_t numbers[300];
    for (uint64_t &number : numbers)
        number = burn(1);
    qsort(numbers, 300, sizeof *numbers, compare);
    std::sort(numbers, numbers + 300, [](uint64_t a, uint64_t b) { return (a ^ 77) * 31 < (b ^ 77) * 31; });
    sink = numbers[17];
}

ALONE void copy_and_format()
{
    static char source[40000];
    char target[40000], text[200];
    memcpy(target, source, sizeof target);
    memmove(target + 7, target, 30000);
    snprintf(text, sizeof text, "%f %s %llu %g", burn(1) * 1e-7, "some words", (unsigned long long)burn(1),
             1.0 / burn(1));
    sink = target[burn(1) % sizeof target] + strtod(text, nullptr) + strlen(text);
}

struct Guard { // its destructor is a landing pad on the way up
    unsigned steps;
    ~Guard()
    {
        burn(steps);
    }
};

ALONE uint64_t throw_from(unsigned depth)
{
    Guard guard{20};
    if (depth == 0)
        throw std::runtime_error("as planned " + std::to_string(burn(5) % 10));
    return throw_from(depth - 1) + burn(5);
}

ALONE void throw_and_catch()
{
    try {
        sink = throw_from(12);
    } catch (const std::exception &error) {
        sink = error.what()[0];
    }
}

ALONE void allocate_and_call()
{
    std::map<std::string, std::function<uint64_t(unsigned)>> calls;
    for (unsigned i = 0; i < 20; i++)
        calls["a name too long for the small string " + std::to_string(burn(1) % 50)] = [i](unsigned steps) {
            return burn(steps + i);
        };
    for (auto &call : calls)
        sink = call.second(30);
}

/* Arguments on the stack below an aligned frame: gcc keeps the old stack pointer in memory. */
ALONE void in_realigned_frames(unsigned depth, int a, int b, int c, int d, int e, int f, int g)
{
    alignas(64) uint64_t lanes[64];
    auto space = static_cast<char *>(alloca(16 + burn(1) % 100));
    space[0] = 1;
    for (unsigned i = 0; i < 64; i++)
        lanes[i] = burn(4) + space[0];
    if (depth)
        in_realigned_frames(depth - 1, b, c, d, e, f, g, a);
    sink = lanes[burn(1) % 64] + f + g;
}

void work_in_handler(int)
{
    recurse(5);
    sort_by_libc();
}

ALONE void raise_signals()
{
    raise(SIGUSR1); // on this stack
    raise(SIGUSR2); // on the alternate one
}

ALONE void ask_the_clock()
{
    timespec time;
    for (int i = 0; i < 30; i++)
        clock_gettime(CLOCK_MONOTONIC, &time);
    sink = time.tv_nsec;
}

ALONE void work_until(double end_s)
{
    while (now_s(CLOCK_MONOTONIC) < end_s) {
        switch (burn(10) >> 33 & 7) {
        case 0:
            sink = recurse(60);
            break;
        case 1:
            sink = recurse_with_alloca(40);
            break;
        case 2:
            sort_by_libc();
            break;
        case 3:
            copy_and_format();
            break;
        case 4:
            throw_and_catch();
            break;
        case 5:
            allocate_and_call();
            break;
        case 6:
            in_realigned_frames(6, 1, 2, 3, 4, 5, 6, 7);
            break;
        case 7:
            raise_signals();
            ask_the_clock();
            break;
        }
    }
}

// ---- threads, each with its timer and its alternate stack ------------------------------------------------------

void learn_stacks(void *alternate, size_t size)
{
    pthread_attr_t attributes;
    void *low;
    size_t length;
    pthread_getattr_np(pthread_self(), &attributes);
    pthread_attr_getstack(&attributes, &low, &length);
    pthread_attr_destroy(&attributes);
    thread_stack = {reinterpret_cast<uintptr_t>(low), reinterpret_cast<uintptr_t>(low) + length};
    alternate_stack = {reinterpret_cast<uintptr_t>(alternate), reinterpret_cast<uintptr_t>(alternate) + size};
}

void *thread_main(void *seed)
{
    constexpr size_t size = 65536;
    void *alternate = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    stack_t stack = {};
    stack.ss_sp = alternate;
    stack.ss_size = size;
    sigaltstack(&stack, nullptr);
    learn_stacks(alternate, size);
    state = reinterpret_cast<uintptr_t>(seed);
    sigevent event = {};
    event.sigev_notify = SIGEV_THREAD_ID;
    event.sigev_signo = SIGPROF;
    event._sigev_un._tid = gettid();
    timer_t timer;
    timer_create(CLOCK_MONOTONIC, &event, &timer);
    itimerspec period = {{0, period_ns}, {0, period_ns}};
    timer_settime(timer, 0, &period, nullptr);
    work_until(now_s(CLOCK_MONOTONIC) + run_s);
    timer_delete(timer);
    return nullptr;
}

void handle(int signal, void (*handler)(int), int flags)
{
    struct sigaction action = {};
    action.sa_handler = handler;
    action.sa_flags = flags | SA_RESTART;
    sigaction(signal, &action, nullptr);
}

void run_threads()
{
    struct sigaction action = {};
    action.sa_sigaction = take_sample;
    action.sa_flags = SA_SIGINFO | SA_RESTART | SA_ONSTACK;
    sigaction(SIGPROF, &action, nullptr);
    handle(SIGUSR1, work_in_handler, 0);
    handle(SIGUSR2, work_in_handler, SA_ONSTACK);
    pthread_t threads[n_threads];
    for (uintptr_t i = 0; i < n_threads; i++)
        pthread_create(&threads[i], nullptr, thread_main, reinterpret_cast<void *>(i + 1));
    for (pthread_t thread : threads)
        pthread_join(thread, nullptr);
    signal(SIGPROF, SIG_IGN);
}

// ---- the judge --------------------------------------------------------------------------------------------------

/* Stack words come from the copy, code and tables from the modules; nothing else may be read. */
int access_memory(unw_addr_space_t, unw_word_t address, unw_word_t *value, int write, void *opaque)
{
    auto sample = static_cast<const Sample *>(opaque);
    if (write)
        return -UNW_EINVAL;
    for (uint32_t i = 0; i < sample->n_copies; i++) {
        const Copy &copy = sample->copies[i];
        if (address < copy.start || address + sizeof *value > copy.start + copy.size)
            continue;
        memcpy(value, copy.bytes + (address - copy.start), sizeof *value);
        return 0;
    }
    iovec to = {value, sizeof *value}, from = {reinterpret_cast<void *>(address), sizeof *value};
    if (!find_module(address) || process_vm_readv(getpid(), &to, 1, &from, 1, 0) != sizeof *value)
        return -UNW_EINVAL;
    return 0;
}

int access_register(unw_addr_space_t, unw_regnum_t reg, unw_word_t *value, int write, void *opaque)
{
    static const int names[] = {REG_RAX, REG_RDX, REG_RCX, REG_RBX, REG_RSI, REG_RDI,
                                REG_RBP, REG_RSP, REG_R8,  REG_R9,  REG_R10, REG_R11,
                                REG_R12, REG_R13, REG_R14, REG_R15, REG_RIP};
    if (write || reg < 0 || reg > UNW_X86_64_RIP)
        return -UNW_EBADREG;
    *value =
        static_cast<unw_word_t>(static_cast<const Sample *>(opaque)->context.uc_mcontext.gregs[names[reg]]);
    return 0;
}

int find_proc_info(unw_addr_space_t, unw_word_t ip, unw_proc_info_t *info, int need, void *)
{
    return unw_get_accessors(unw_local_addr_space)
        ->find_proc_info(unw_local_addr_space, ip, info, need, nullptr);
}

unw_addr_space_t create_judge()
{
    unw_accessors_t accessors = *unw_get_accessors(unw_local_addr_space);
    accessors.access_mem = access_memory;
    accessors.access_reg = access_register;
    accessors.find_proc_info = find_proc_info;
    return unw_create_addr_space(&accessors, 0);
}

std::vector<uintptr_t> judge_stack(unw_addr_space_t judge, const Sample &sample)
{
    std::vector<uintptr_t> pcs;
    unw_cursor_t cursor;
    if (unw_init_remote(&cursor, judge, const_cast<Sample *>(&sample)) < 0)
        return pcs;
    do {
        unw_word_t pc;
        unw_get_reg(&cursor, UNW_REG_IP, &pc);
        if (pc)
            pcs.push_back(pc);
    } while (pcs.size() < max_depth && unw_step(&cursor) > 0);
    return pcs;
}

void print_pc(const char *whose, uintptr_t pc)
{
    const Module *module = find_module(pc);
    printf(" %s %s+%#lx", whose, module ? module->name.c_str() : "?", module ? pc - module->bias : pc);
}

void explain(const Sample &sample, const std::vector<uintptr_t> &judged)
{
    size_t same = 0;
    while (same < sample.depth && same < judged.size() && sample.pcs[same] == judged[same])
        same++;
    printf("# walked %u frames, judged %zu, agreed on %zu:", sample.depth, judged.size(), same);
    for (size_t i = same > 4 ? same - 4 : 0; i < same; i++)
        print_pc("", sample.pcs[i]);
    if (same < sample.depth)
        print_pc("walked on to", sample.pcs[same]);
    if (same < judged.size())
        print_pc("judged to be", judged[same]);
    puts("");
}

struct Verdict {
    size_t n_judged, n_agree, n_frames, n_complete;
    std::vector<double> frame_ns;
};

Verdict judge_all()
{
    Verdict verdict = {};
    unw_addr_space_t judge = create_judge();
    size_t n = std::min(n_samples.load(), max_samples), n_explained = 0;
    for (size_t i = 0; i < n; i++) {
        const Sample &sample = samples[i];
        if (sample.n_copies == 0 && sample.depth > 1)
            continue; // the arena was full
        std::vector<uintptr_t> judged = judge_stack(judge, sample);
        bool agree = std::equal(judged.begin(), judged.end(), sample.pcs, sample.pcs + sample.depth);
        verdict.n_judged++;
        verdict.n_agree += agree;
        verdict.n_frames += sample.depth;
        verdict.n_complete += sample.ended == WI_WALK_END;
        if (sample.frame_ns > 0)
            verdict.frame_ns.push_back(sample.frame_ns);
        if (!agree && n_explained++ < 20)
            explain(sample, judged);
    }
    unw_destroy_addr_space(judge);
    return verdict;
}

double median(std::vector<double> &values)
{
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}

void *reserve(size_t size)
{
    void *memory =
        mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED)
        return memory;
    puts("Bail out! no memory for the samples");
    exit(1);
}

void report(int number, bool good, const char *claim)
{
    printf("%s %d - %s\n", good ? "ok" : "not ok", number, claim);
}

} // namespace

int main()
{
    dl_iterate_phdr(add_module, nullptr);
    std::sort(modules.begin(), modules.end(),
              [](const Module &a, const Module &b) { return a.start < b.start; });
    arena = static_cast<uint8_t *>(reserve(arena_size));
    samples = static_cast<Sample *>(reserve(max_samples * sizeof *samples));
    run_threads();
    puts("1..3");
    Verdict verdict = judge_all();
    double n = std::max<size_t>(verdict.n_judged, 1);
    double share = 100 * verdict.n_agree / n, complete = 100 * verdict.n_complete / n;
    printf("# %zu stacks of %.1f frames: %.2f %% agree with libunwind, %.2f %% reach the outermost frame\n",
           verdict.n_judged, verdict.n_frames / n, share, complete);
    printf("# %.1f ns a frame (median), module look-up included; %zu tables compiled in %.1f ms\n",
           median(verdict.frame_ns), modules.size(), compile_ms);
    report(1, verdict.n_judged >= 500, "the threads were sampled");
    report(2, share > 99, "more than 99 % of the stacks agree with libunwind");
    report(3, complete > 99, "more than 99 % of the stacks are complete");
    return verdict.n_judged >= 500 && share > 99 && complete > 99 ? 0 : 1;
}

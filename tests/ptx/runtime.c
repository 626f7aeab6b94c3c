/* Runs one translated PTX kernel on the CPU.
 *
 * Every CUDA thread is a fiber, so bar.sync blocks as it does on a GPU; blocks run in parallel (OpenMP).  Every global
 * and shared access is checked against the buffers that were handed in.  Threads of a block run in forward, reverse or
 * random order between barriers.  With PREEMPT they also yield after loads, and TEAM blocks take turns in one thread of
 * the CPU, in an order that the seed alone decides: a missing barrier, a plain += where an atomic is needed or memory that
 * two blocks share then gives the same wrong answer in every run.  Not modelled: timing, memory weaker than sequential
 * consistency.
 *
 * The generated part defines SHARED_BYTES and `static void kernel(Block *c, Thread *t)`. Where it defines COUNTED as well,
 * WARP_STEPS are the instructions that warps issue (those of the thread of each warp that has most) and BYTES what
 * all threads read and write in global memory.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

static inline double as_double(uint64_t bits) { double x; memcpy(&x, &bits, 8); return x; }
static inline uint64_t as_bits(double x) { uint64_t bits; memcpy(&bits, &x, 8); return bits; }

typedef unsigned __int128 u128;
typedef __int128 s128;
enum { RUNNING, AT_BARRIER, DONE };
enum { TEAM = 4 }; /* blocks that take turns where threads yield */
enum { STACK_BYTES = 1 << 22 }; /* unoptimised, every register of the largest kernel has its place there */

typedef struct { ucontext_t context; int state; uint32_t tid, random; char *stack; uint64_t steps, bytes, accesses; } Thread;
typedef struct {
    ucontext_t scheduler; Thread *threads; int count, *order; char *shared; uint32_t ctaid, ntid, nctaid;
    const char *params;
} Block;
typedef struct { uint64_t low, high; } Range;

static Range *BUFFERS;
static int BUFFER_COUNT, PREEMPT_RATE, LOCK;
static long ERRORS;
static uint64_t MOST_ACCESSES; /* of one thread to global memory, after which it is taken for endless; 0: any number */
uint64_t WARP_STEPS, BYTES;
static char MESSAGE[300], NOWHERE[64];

static void fail(Thread *t, Block *c, const char *what, uint64_t address, int bytes, int line) {
    if (__atomic_fetch_add(&ERRORS, 1, __ATOMIC_RELAXED) == 0)
        snprintf(MESSAGE, sizeof MESSAGE, "%s: %d bytes at 0x%lx, PTX line %d, block %u thread %u", what, bytes,
                 (unsigned long)address, line, c->ctaid, t->tid);
}

static inline void *global_at(Thread *t, Block *c, uint64_t address, int bytes, int line) {
    if (++t->accesses == MOST_ACCESSES) {
        fail(t, c, "endless", address, bytes, line);
        t->state = DONE;
        setcontext(&c->scheduler);
    }
#ifdef COUNTED
    t->bytes += bytes;
#endif
    for (int i = 0; i < BUFFER_COUNT; i++)
        if (address >= BUFFERS[i].low && address + bytes <= BUFFERS[i].high) {
            if (address % bytes) fail(t, c, "misaligned global access", address, bytes, line);
            return (void *)address;
        }
    fail(t, c, "out-of-bounds global access", address, bytes, line);
    memset(NOWHERE, 0, sizeof NOWHERE);
    return NOWHERE;
}

static inline void *shared_at(Thread *t, Block *c, uint64_t address, int bytes, int line) {
    if (address + bytes > SHARED_BYTES || address % bytes) {
        fail(t, c, "bad shared access", address, bytes, line);
        return NOWHERE;
    }
    return c->shared + address;
}

static inline void lock(void) { while (__atomic_exchange_n(&LOCK, 1, __ATOMIC_ACQUIRE)); }
static inline void unlock(void) { __atomic_store_n(&LOCK, 0, __ATOMIC_RELEASE); }

#define BARRIER do { t->state = AT_BARRIER; swapcontext(&t->context, &c->scheduler); } while (0)
#define MAYBE_YIELD do { if (PREEMPT_RATE) { t->random = t->random * 1664525u + 1013904223u; \
    if ((t->random >> 8) % PREEMPT_RATE == 0) swapcontext(&t->context, &c->scheduler); } } while (0)

static void kernel(Block *c, Thread *t);

static void entry(unsigned t0, unsigned t1, unsigned c0, unsigned c1) {
    Thread *t = (Thread *)(((uint64_t)t1 << 32) | t0);
    Block *c = (Block *)(((uint64_t)c1 << 32) | c0);
    kernel(c, t);
    t->state = DONE;
    setcontext(&c->scheduler);
}

static void order_threads(int *order, int count, int how, uint32_t seed) {
    for (int i = 0; i < count; i++) order[i] = how == 1 ? count - 1 - i : i;
    for (int i = count - 1; how == 2 && i > 0; i--) {
        seed = seed * 1664525u + 1013904223u;
        int j = (seed >> 8) % (i + 1), x = order[i];
        order[i] = order[j];
        order[j] = x;
    }
}

static void start_threads(Block *c, uint32_t seed) {
    for (int i = 0; i < c->count; i++) {
        Thread *t = &c->threads[i];
        uint64_t a = (uint64_t)t, b = (uint64_t)c;
        t->tid = i;
        t->random = seed * 747796405u + c->ctaid * 2891336453u + i * 277803737u;
        t->state = RUNNING;
        t->steps = t->bytes = t->accesses = 0;
        getcontext(&t->context);
        t->context.uc_stack.ss_sp = t->stack;
        t->context.uc_stack.ss_size = STACK_BYTES;
        t->context.uc_link = 0;
        makecontext(&t->context, (void (*)())entry, 4, (unsigned)a, (unsigned)(a >> 32), (unsigned)b, (unsigned)(b >> 32));
    }
}

/* Lets every thread run to its next barrier or yield; true if the block has come to its end. */
static bool turn(Block *c) {
    int ran = 0, waiting = 0, done = 0;
    for (int k = 0; k < c->count; k++) {
        Thread *t = &c->threads[c->order[k]];
        if (t->state == RUNNING) { swapcontext(&c->scheduler, &t->context); ran++; }
    }
    for (int i = 0; i < c->count; i++) {
        waiting += c->threads[i].state == AT_BARRIER;
        done += c->threads[i].state == DONE;
    }
    if (done == c->count) return true;
    if (waiting && done) { fail(&c->threads[0], c, "barrier not reached by all threads", waiting, 0, 0); return true; }
    if (waiting == c->count)
        for (int i = 0; i < c->count; i++) c->threads[i].state = RUNNING;
    else if (!ran) { fail(&c->threads[0], c, "deadlock", waiting, 0, 0); return true; }
    return false;
}

static void run_team(Block *team, int blocks) {
    bool ended[TEAM] = {false};
    for (int open = blocks; open > 0;)
        for (int i = 0; i < blocks; i++)
            if (!ended[i] && turn(&team[i])) { ended[i] = true; open--; }
}

static void count(Block *c) {
    uint64_t steps = 0, bytes = 0;
    for (int first = 0; first < c->count; first += 32) {
        uint64_t most = 0;
        for (int i = first; i < c->count && i < first + 32; i++) {
            if (c->threads[i].steps > most) most = c->threads[i].steps;
            bytes += c->threads[i].bytes;
        }
        steps += most;
    }
    __atomic_fetch_add(&WARP_STEPS, steps, __ATOMIC_RELAXED);
    __atomic_fetch_add(&BYTES, bytes, __ATOMIC_RELAXED);
}

int launch(const char *params, uint32_t grid, uint32_t block, Range *buffers, int buffer_count, int how, uint32_t seed,
           int preempt, uint64_t most, int cpus, char *message, int room) {
    MOST_ACCESSES = most;
    BUFFERS = buffers; BUFFER_COUNT = buffer_count; PREEMPT_RATE = preempt; ERRORS = 0; MESSAGE[0] = 0;
    WARP_STEPS = BYTES = 0;
    uint32_t size = preempt ? TEAM : 1;
#pragma omp parallel num_threads(preempt ? 1 : cpus)
    {
        Block team[TEAM];
        for (uint32_t i = 0; i < size; i++) {
            team[i] = (Block){.count = block, .ntid = block, .nctaid = grid, .params = params};
            team[i].order = malloc(block * sizeof(int));
            team[i].threads = calloc(block, sizeof(Thread));
            team[i].shared = malloc(SHARED_BYTES + 16);
            for (uint32_t k = 0; k < block; k++) team[i].threads[k].stack = malloc(STACK_BYTES);
        }
#pragma omp for schedule(dynamic, 1)
        for (uint32_t first = 0; first < grid; first += size) {
            uint32_t blocks = grid - first < size ? grid - first : size;
            for (uint32_t i = 0; i < blocks; i++) {
                team[i].ctaid = first + i;
                memset(team[i].shared, 0xCD, SHARED_BYTES);
                order_threads(team[i].order, block, how, seed * 2654435761u + first + i);
                start_threads(&team[i], seed);
            }
            run_team(team, blocks);
            for (uint32_t i = 0; i < blocks; i++) count(&team[i]);
        }
        for (uint32_t i = 0; i < size; i++) {
            for (uint32_t k = 0; k < block; k++) free(team[i].threads[k].stack);
            free(team[i].threads); free(team[i].shared); free(team[i].order);
        }
    }
    snprintf(message, room, "%s", MESSAGE);
    return (int)ERRORS;
}

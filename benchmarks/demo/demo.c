/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A program to try whatif on: how well does source code compress, and which words is it made of?
 *
 *     demo [SECONDS [DIRECTORY]]        default: until killed, the headers in /usr/include
 *
 * A pipeline, as many real programs are one:
 *
 *     reader --> queue --> 2 packers --> queue --> indexer
 *     read_block           pack_block              count_words, checksum
 *
 * Where would you spend a week of optimising? An ordinary profiler says: in pack_block(), the hottest function. But
 * the packers share their work and wait for blocks part of their time. The indexer cannot be shared out, since there is
 * one table of words, and the checksum of a block goes on from that of the last one. Its stage takes longest, so it
 * decides how many blocks a second go through: make pack_block() faster, and next to nothing happens; make
 * count_words() faster, and the program is, until the packers are what the indexer waits for. `whatif run` finds that
 * out without any of it being made faster: see its report for the progress point "blocks".
 */
#define _GNU_SOURCE
#include <ftw.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "whatif.h"

enum {
    BLOCK_SIZE = 1024 * 1024,
    N_BLOCKS = 8,
    N_PACKERS = 2,
    MAX_FILES = 3000, /* read over and over */
};

struct block {
    size_t size;
    size_t packed_size;
    char text[BLOCK_SIZE];
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* ---- queues: bounded by the number of blocks, since the reader waits for an empty one ------------------ */

struct queue {
    pthread_mutex_t mutex;
    pthread_cond_t not_empty;
    struct block *blocks[N_BLOCKS];
    unsigned n, first;
};

static struct queue empty_blocks = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                                    .not_empty = PTHREAD_COND_INITIALIZER};
static struct queue read_blocks = {.mutex = PTHREAD_MUTEX_INITIALIZER, .not_empty = PTHREAD_COND_INITIALIZER};
static struct queue packed_blocks = {.mutex = PTHREAD_MUTEX_INITIALIZER,
                                     .not_empty = PTHREAD_COND_INITIALIZER};

static void queue_put(struct queue *queue, struct block *block)
{
    pthread_mutex_lock(&queue->mutex);
    queue->blocks[(queue->first + queue->n++) % N_BLOCKS] = block;
    pthread_cond_signal(&queue->not_empty);
    pthread_mutex_unlock(&queue->mutex);
}

static struct block *queue_take(struct queue *queue)
{
    pthread_mutex_lock(&queue->mutex);
    while (queue->n == 0)
        pthread_cond_wait(&queue->not_empty, &queue->mutex);
    struct block *block = queue->blocks[queue->first++ % N_BLOCKS];
    queue->n--;
    pthread_mutex_unlock(&queue->mutex);
    return block;
}

/* ---- reader ------------------------------------------------------------------------------------------ */

static char *files[MAX_FILES];
static size_t n_files;

static int remember_file(const char *path, const struct stat *status, int type, struct FTW *where)
{
    (void)where;
    if (type == FTW_F && status->st_size > 0 && access(path, R_OK) == 0)
        files[n_files++] = strdup(path);
    return n_files == MAX_FILES;
}

/* The next block of all files, one after the other, over and over. */
static void read_block(struct block *block)
{
    static FILE *file;
    static size_t next;

    for (block->size = 0; block->size < BLOCK_SIZE;) {
        if (!file && !(file = fopen(files[next++ % n_files], "r")))
            die(files[(next - 1) % n_files]);
        size_t got = fread(block->text + block->size, 1, BLOCK_SIZE - block->size, file);
        block->size += got;
        if (got == 0) {
            fclose(file);
            file = NULL;
        }
    }
}

static void *reader(void *unused)
{
    for (;;) {
        struct block *block = queue_take(&empty_blocks);
        read_block(block);
        queue_put(&read_blocks, block);
    }
    return unused;
}

/* ---- packers ----------------------------------------------------------------------------------------- */

/* How large the block would be if each stretch that was there before became a reference of three bytes: of the last
 * few places where the same four bytes stood, the one is taken from which the longest stretch goes on. */
static size_t pack_block(const struct block *block)
{
    enum { HASH_BITS = 13, N_PLACES = 2, MIN_MATCH = 4, MAX_MATCH = 24 };
    static _Thread_local struct {
        uint32_t at[N_PLACES], next;
    } seen[1 << HASH_BITS];
    const char *text = block->text;
    size_t packed = 0;

    memset(seen, 0, sizeof seen);
    for (size_t i = 0; i + MAX_MATCH < block->size;) {
        uint32_t next4;
        memcpy(&next4, text + i, sizeof next4);
        uint32_t hash = next4 * 2654435761u >> (32 - HASH_BITS);
        size_t longest = 0;
        for (int place = 0; place < N_PLACES; place++) {
            const char *before = text + seen[hash].at[place];
            size_t length = 0;
            while (before < text + i && length < MAX_MATCH && before[length] == text[i + length])
                length++;
            longest = length > longest ? length : longest;
        }
        seen[hash].at[seen[hash].next++ % N_PLACES] = (uint32_t)i;
        packed += longest < MIN_MATCH ? 1 : 3;
        i += longest < MIN_MATCH ? 1 : longest;
    }
    return packed;
}

static void *packer(void *unused)
{
    for (;;) {
        struct block *block = queue_take(&read_blocks);
        block->packed_size = pack_block(block);
        queue_put(&packed_blocks, block);
    }
    return unused;
}

/* ---- indexer ----------------------------------------------------------------------------------------- */

enum { TABLE_BITS = 18 };

static struct word {
    uint64_t hash;
    uint64_t count;
} words[1 << TABLE_BITS];
static size_t n_words, n_distinct;

static int is_letter(char c)
{
    return (unsigned)((c | 32) - 'a') < 26 || c == '_';
}

/* Words are told apart by their hashes. */
static void count_words(const struct block *block)
{
    for (size_t i = 0; i < block->size; i++) {
        uint64_t hash = 14695981039346656037u;
        size_t start = i;
        for (; i < block->size && is_letter(block->text[i]); i++)
            hash = (hash ^ ((unsigned char)block->text[i])) * 1099511628211u;
        if (i == start)
            continue;
        struct word *word = &words[hash >> (64 - TABLE_BITS)];
        while (word->hash != hash && word->hash != 0 && word < words + (1 << TABLE_BITS) - 1)
            word++;
        n_distinct += word->hash == 0;
        word->hash = hash;
        word->count++;
        n_words++;
    }
}

/* CRC-32 over everything so far, a byte at a time. */
static uint32_t checksum(uint32_t crc, const struct block *block)
{
    static uint32_t table[256];
    for (uint32_t byte = 0; byte < 256 && table[255] == 0; byte++) {
        table[byte] = byte;
        for (int bit = 0; bit < 8; bit++)
            table[byte] = table[byte] >> 1 ^ (0xedb88320u & -(table[byte] & 1));
    }
    for (size_t i = 0; i < block->size; i++)
        crc = crc >> 8 ^ table[(crc ^ (unsigned char)block->text[i]) & 255];
    return crc;
}

int main(int argc, char **argv)
{
    int seconds = argc > 1 ? atoi(argv[1]) : 0;
    const char *directory = argc > 2 ? argv[2] : "/usr/include";
    if (nftw(directory, remember_file, 16, FTW_PHYS) < 0)
        die(directory);
    if (n_files == 0) {
        fprintf(stderr, "demo: %s: no file to read\n", directory);
        return 1;
    }

    for (int i = 0; i < N_BLOCKS; i++)
        queue_put(&empty_blocks, malloc(sizeof(struct block)));
    pthread_t thread;
    pthread_create(&thread, NULL, reader, NULL);
    for (int i = 0; i < N_PACKERS; i++)
        pthread_create(&thread, NULL, packer, NULL);

    size_t n_blocks = 0, packed = 0;
    uint32_t crc = 0;
    time_t end = time(NULL) + seconds;
    while (seconds <= 0 || time(NULL) < end) {
        struct block *block = queue_take(&packed_blocks);
        count_words(block);
        crc = checksum(crc, block);
        packed += block->packed_size;
        n_blocks++;
        queue_put(&empty_blocks, block);
        WHATIF_PROGRESS_NAMED("blocks");
    }
    printf("%zu blocks of %d KiB, packed to %.0f %%; %zu words, %zu different; checksum %08x\n", n_blocks,
           BLOCK_SIZE / 1024, 100.0 * packed / n_blocks / BLOCK_SIZE, n_words, n_distinct, crc);
    return 0;
}

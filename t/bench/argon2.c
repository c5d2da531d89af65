/*
 * How many hashes of argon2id the machine makes in a second with so many
 * threads, each with one lane: what sign-ins can come to at the most.
 *
 *     argon2 THREADS SECONDS MEMORY ITERATIONS
 *
 * MEMORY in KiB.  Prints the rate.
 */

#include <argon2.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>


#define BENCH_THREADS  64
#define BENCH_SALT     16
#define BENCH_TAG      32


typedef struct {
    pthread_t    thread;
    uint32_t     memory;
    uint32_t     iterations;
    double       end;
    uint64_t     hashes;
} bench_thread_t;


static void *bench_run(void *data);
static double bench_now(void);
static void bench_fail(const char *what);


int
main(int argc, char **argv)
{
    int             i, n;
    double          begin;
    uint64_t        hashes;
    bench_thread_t  threads[BENCH_THREADS];

    if (argc != 5) {
        bench_fail("usage: argon2 THREADS SECONDS MEMORY ITERATIONS");
    }

    n = atoi(argv[1]);

    if (n < 1 || n > BENCH_THREADS) {
        bench_fail("1 to 64 threads");
    }

    begin = bench_now();
    hashes = 0;

    for (i = 0; i < n; i++) {
        threads[i].memory = (uint32_t) atoi(argv[3]);
        threads[i].iterations = (uint32_t) atoi(argv[4]);
        threads[i].end = begin + atof(argv[2]);
        threads[i].hashes = 0;

        if (pthread_create(&threads[i].thread, NULL, bench_run, &threads[i])) {
            bench_fail("pthread_create() failed");
        }
    }

    for (i = 0; i < n; i++) {
        pthread_join(threads[i].thread, NULL);
        hashes += threads[i].hashes;
    }

    printf("%.3f\n", (double) hashes / (bench_now() - begin));

    return 0;
}


static void *
bench_run(void *data)
{
    bench_thread_t  *t = data;

    char             password[] = "correct horse battery staple";
    unsigned char    salt[BENCH_SALT], tag[BENCH_TAG];

    memset(salt, 's', sizeof(salt));

    while (bench_now() < t->end) {

        if (argon2id_hash_raw(t->iterations, t->memory, 1, password,
                              sizeof(password) - 1, salt, sizeof(salt), tag,
                              sizeof(tag))
            != ARGON2_OK)
        {
            bench_fail("argon2id_hash_raw() failed");
        }

        t->hashes++;
    }

    return NULL;
}


static double
bench_now(void)
{
    struct timespec  ts;

    clock_gettime(CLOCK_MONOTONIC, &ts);

    return (double) ts.tv_sec + (double) ts.tv_nsec / 1e9;
}


static void
bench_fail(const char *what)
{
    fprintf(stderr, "argon2: %s\n", what);
    exit(1);
}

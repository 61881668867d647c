// SPDX-License-Identifier: MIT
/*
 * memcached_load.c - a client that keeps a memcached busy and checks it.
 *
 *     memcached_load HOST PORT NREQUESTS     prints requests a second
 *
 * Two threads with four connections each send batches of 32 requests, a set
 * for every three gets, and read all answers before the next batch. A value
 * follows from its key, so that every answer can be checked; a wrong one, or
 * none for ten seconds, ends the program with status 1. HOST is an IPv4
 * address. A server that does not listen yet is waited for, five seconds.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "bench.h"

#define NTHREADS 2
#define NCONNECTIONS 4
#define BATCH 32
#define NKEYS 10000
#define VALUE_SIZE 100

struct connection {
    int fd;
    size_t begin, end; /* what of in[] is not read yet */
    uint32_t keys[BATCH];
    uint8_t sets[BATCH];
    char in[16384];
};

struct client {
    pthread_t thread;
    size_t nbatches;
    uint64_t seed;
    struct connection connections[NCONNECTIONS];
};

static struct sockaddr_in server;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "memcached_load: %s\n", what);
    exit(1);
}

static int try_connect(void)
{
    struct timeval limit = { .tv_sec = 10 };
    int one = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        fail(strerror(errno));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
    if (!connect(fd, (struct sockaddr *)&server, sizeof(server)))
        return fd;
    close(fd);
    return -1;
}

static int connect_soon(void)
{
    const struct timespec pause = { .tv_nsec = 5000000 };

    for (int i = 0; i < 1000; i++) {
        int fd = try_connect();

        if (fd >= 0)
            return fd;
        nanosleep(&pause, NULL);
    }
    fail("the server does not listen");
}

static void send_all(int fd, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t n = send(fd, data, size, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            fail("cannot send");
        data += n;
        size -= (size_t)n;
    }
}

/* The next `size` bytes of the answer, valid until the next call. */
static const char *receive(struct connection *c, size_t size)
{
    if (c->begin + size > sizeof(c->in)) {
        memmove(c->in, c->in + c->begin, c->end - c->begin);
        c->end -= c->begin;
        c->begin = 0;
    }
    while (c->end - c->begin < size) {
        ssize_t n = recv(c->fd, c->in + c->end, sizeof(c->in) - c->end, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            fail(n ? strerror(errno) : "the server hung up");
        c->end += (size_t)n;
    }
    c->begin += size;
    return c->in + c->begin - size;
}

static void expect(struct connection *c, const char *text, size_t size)
{
    if (memcmp(receive(c, size), text, size))
        fail("a wrong answer");
}

/* Writes the value of a key and its line end; returns how much that is. */
static size_t print_value(char *to, uint32_t key)
{
    memset(to, 'a' + (int)(key % 26), VALUE_SIZE);
    memcpy(to + VALUE_SIZE, "\r\n", 2);
    return VALUE_SIZE + 2;
}

static size_t print_request(char *to, uint32_t key, int set)
{
    if (!set)
        return (size_t)sprintf(to, "get key%06u\r\n", key);
    size_t n = (size_t)sprintf(to, "set key%06u 0 0 %d\r\n", key, VALUE_SIZE);
    return n + print_value(to + n, key);
}

static void send_batch(struct connection *c)
{
    char out[BATCH * (VALUE_SIZE + 64)];
    size_t n = 0;

    for (int i = 0; i < BATCH; i++)
        n += print_request(out + n, c->keys[i], c->sets[i]);
    send_all(c->fd, out, n);
}

static void read_batch(struct connection *c)
{
    char text[VALUE_SIZE + 64];

    for (int i = 0; i < BATCH; i++) {
        if (c->sets[i]) {
            expect(c, "STORED\r\n", 8);
            continue;
        }
        size_t n = (size_t)sprintf(text, "VALUE key%06u 0 %d\r\n", c->keys[i],
                                   VALUE_SIZE);
        n += print_value(text + n, c->keys[i]);
        n += (size_t)sprintf(text + n, "END\r\n");
        expect(c, text, n);
    }
}

static void choose_batch(struct client *client, struct connection *c)
{
    for (int i = 0; i < BATCH; i++) {
        c->keys[i] = (uint32_t)(bench_random(&client->seed) % NKEYS);
        c->sets[i] = i % 4 == 0;
    }
}

static void *run_client(void *arg)
{
    struct client *client = arg;

    for (size_t done = 0; done < client->nbatches;) {
        size_t n = client->nbatches - done;

        n = n < NCONNECTIONS ? n : NCONNECTIONS;
        for (size_t i = 0; i < n; i++) {
            choose_batch(client, &client->connections[i]);
            send_batch(&client->connections[i]);
        }
        for (size_t i = 0; i < n; i++)
            read_batch(&client->connections[i]);
        done += n;
    }
    return NULL;
}

/* Every key exists before the first get. */
static void fill(struct connection *c)
{
    for (uint32_t key = 0; key < NKEYS;) {
        for (int i = 0; i < BATCH; i++) {
            c->keys[i] = key++ % NKEYS;
            c->sets[i] = 1;
        }
        send_batch(c);
        read_batch(c);
    }
}

int main(int argc, char **argv)
{
    static struct client clients[NTHREADS];

    if (argc != 4) {
        fprintf(stderr, "usage: memcached_load HOST PORT NREQUESTS\n");
        return 2;
    }
    server.sin_family = AF_INET;
    if (inet_pton(AF_INET, argv[1], &server.sin_addr) != 1)
        fail("not an IPv4 address");
    server.sin_port = htons((uint16_t)bench_number(argv[2], 1, 65535));
    size_t nbatches = bench_number(argv[3], 1, 1000000000) / BATCH + 1;
    for (int i = 0; i < NTHREADS; i++) {
        clients[i].nbatches = nbatches / NTHREADS + 1;
        clients[i].seed = (uint64_t)i + 1;
        for (int j = 0; j < NCONNECTIONS; j++)
            clients[i].connections[j].fd = connect_soon();
    }
    fill(&clients[0].connections[0]);
    uint64_t start_ns = bench_now_ns();
    for (int i = 0; i < NTHREADS; i++)
        bench_check(
            pthread_create(&clients[i].thread, NULL, run_client, &clients[i]),
            "thread");
    for (int i = 0; i < NTHREADS; i++)
        bench_check(pthread_join(clients[i].thread, NULL), "join");
    double seconds = (double)(bench_now_ns() - start_ns) / 1e9;
    size_t ndone = NTHREADS * clients[0].nbatches * BATCH;
    printf("%.0f requests/s\n", (double)ndone / seconds);
    return 0;
}

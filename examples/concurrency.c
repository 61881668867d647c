/* SPDX-License-Identifier: MIT
 *
 * concurrency.c - seven scenes, each printing the same figures every run.
 */
#include <inttypes.h>
#include <ord/account.h>
#include <ord/barrier.h>
#include <ord/buffer.h>
#include <ord/counter.h>
#include <ord/registry.h>
#include <ord/rwlock.h>
#include <ord/store.h>
#include <stdio.h>

enum { MOST_THREADS = 16 };

/* Runs n threads to their end; each gets its number. */
static void run(int n, void *(*routine)(void *))
{
    pthread_t t[MOST_THREADS];

    for (intptr_t i = 0; i < n; i++)
        pthread_create(&t[i], NULL, routine, (void *)i);
    for (int i = 0; i < n; i++)
        pthread_join(t[i], NULL);
}

static void lost_update(void)
{
    struct ord_counter_unsafe counter = ORD_COUNTER_UNSAFE_INIT;

    ord_counter_lose_update(&counter);
    printf("lost update: 2 increments applied, counter shows %" PRId64 "\n",
           ord_counter_unsafe_read(&counter));
}

static struct ord_counter_locked locked = ORD_COUNTER_LOCKED_INIT;

static void *increment(void *unused)
{
    for (int i = 0; i < 5000; i++)
        ord_counter_locked_add(&locked, 1);
    return unused;
}

static void one_lock(void)
{
    run(8, increment);
    printf("one lock: 8 threads x 5000 increments, expected 40000, got %" PRId64
           "\n",
           ord_counter_locked_read(&locked));
}

static struct ord_rwlock rwlock = ORD_RWLOCK_INIT;
static struct ord_barrier all_inside;
static int inside, shared_value;

static void *reader(void *unused)
{
    struct ord_rw_hold hold = ORD_RW_HOLD_INIT;
    struct ord_rw_counts counts;

    ord_rwlock_read(&rwlock, &hold);
    ord_barrier_wait(&all_inside); /* all five hold it now */
    ord_rwlock_counts(&rwlock, &counts);
    __atomic_store_n(&inside, (int)counts.readers, __ATOMIC_RELAXED);
    ord_barrier_wait(&all_inside);
    ord_rwlock_unlock(&rwlock, &hold);
    return unused;
}

static void *writer(void *unused)
{
    struct ord_rw_hold hold = ORD_RW_HOLD_INIT;

    ord_rwlock_write(&rwlock, &hold);
    shared_value++;
    ord_rwlock_unlock(&rwlock, &hold);
    return unused;
}

static void read_write_lock(void)
{
    ord_barrier_init(&all_inside, 5, NULL, NULL);
    run(5, reader);
    run(4, writer);
    printf("read-write lock: %d readers inside at once, value %d after 4 "
           "exclusive writers\n",
           inside, shared_value);
}

static void *slots[2];
static struct ord_buffer buffer = ORD_BUFFER_INIT(slots);
static int nthrough;

static void *move_items(void *is_consumer)
{
    void *item;

    for (intptr_t i = 0; i < 12; i++) {
        if (!is_consumer)
            ord_buffer_put(&buffer, (void *)i, ORD_NEVER);
        else if (ord_buffer_get(&buffer, &item, ORD_NEVER) == 0)
            nthrough++;
    }
    return NULL;
}

static void bounded_buffer(void)
{
    run(2, move_items);
    printf("bounded buffer of capacity 2: %d items through, %zu left\n",
           nthrough, ord_buffer_depth(&buffer));
}

static int ninstances;

static int make_instance(void *unused, void **instance)
{
    (void)unused;
    ninstances++;
    *instance = &ninstances;
    return 0;
}

static struct ord_registry registry = ORD_REGISTRY_INIT(make_instance, NULL);
static void *got[16];

static void *ask(void *number)
{
    ord_registry_get(&registry, &got[(intptr_t)number]);
    return NULL;
}

static void singleton(void)
{
    int ndistinct = 1;

    run(16, ask);
    for (int i = 1; i < 16; i++)
        ndistinct += got[i] != got[0];
    printf("singleton: 16 threads race, %d distinct instance, %" PRIu64
           " requests counted\n",
           ndistinct, ord_registry_nrequests(&registry));
}

static struct ord_store store;

static int plus_one(int64_t value, int64_t *next, void *unused)
{
    (void)unused;
    *next = value + 1;
    return 0;
}

static void *update(void *unused)
{
    for (int i = 0; i < 25; i++)
        ord_store_update(&store, "price", plus_one, NULL, 1000000, NULL);
    return unused;
}

static void optimistic(void)
{
    struct ord_versioned out = { 0, 0 };

    ord_store_init(&store, 4);
    ord_store_put(&store, "price", 0, NULL);
    run(4, update);
    ord_store_read(&store, "price", &out);
    printf("optimistic: 4 threads x 25 updates, value %" PRId64
           " at version %" PRIu64 "\n",
           out.value, out.version);
    ord_store_destroy(&store);
}

static struct ord_account left = ORD_ACCOUNT_INIT(1, 300);
static struct ord_account right = ORD_ACCOUNT_INIT(2, 300);

static void *transfer(void *number)
{
    int is_odd = (intptr_t)number % 2;

    for (int i = 0; i < 100; i++)
        ord_transfer(is_odd ? &left : &right, is_odd ? &right : &left, 1);
    return NULL;
}

static void lock_ordering(void)
{
    int64_t a = 0, b = 0;

    left.balance += 1000; /* enough for any order of the transfers */
    right.balance += 1000;
    run(8, transfer);
    ord_account_balance(&left, &a);
    ord_account_balance(&right, &b);
    a -= 1000;
    b -= 1000;
    printf("lock ordering: 8 workers both ways, balances %" PRId64
           " and %" PRId64 ", total %" PRId64 "\n",
           a, b, a + b);
}

int main(void)
{
    lost_update();
    one_lock();
    read_write_lock();
    bounded_buffer();
    singleton();
    optimistic();
    lock_ordering();
    return 0;
}

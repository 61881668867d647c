/* SPDX-License-Identifier: MIT
 *
 * seats.c - bookings with holds that expire.
 *
 * A customer holds a seat for two minutes while he pays. One lock guards the
 * plan; whether a hold still counts is decided when somebody looks, so that no
 * thread has to wake up and clear it. The clock is turned by hand, so that the
 * same text comes out every time.
 */
#include <errno.h>
#include <ord/base.h>
#include <stdio.h>

enum { NSEATS = 4, NOBODY = 0 };

static const ord_ns hold_time = 120 * ORD_SECOND;

struct seat {
    int customer; /* NOBODY: free */
    ord_ns until; /* of a hold; ORD_NEVER: sold */
};

struct plan {
    struct ord_mutex lock;
    struct ord_clock clock;
    struct seat seats[NSEATS]; /* under lock */
};

static int is_free(const struct seat *seat, ord_ns now)
{
    return seat->customer == NOBODY || seat->until <= now;
}

/* EBUSY: somebody else has it. */
static int hold(struct plan *plan, int n, int customer)
{
    struct seat *seat = &plan->seats[n];
    int rc = EBUSY;

    ord_mutex_lock(&plan->lock);
    ord_ns now = ord_clock_now(&plan->clock);
    if (is_free(seat, now)) {
        *seat = (struct seat){ customer, now + hold_time };
        rc = 0;
    }
    ord_mutex_unlock(&plan->lock);
    return rc;
}

/* ETIMEDOUT: the hold has expired, or was never there. */
static int buy(struct plan *plan, int n, int customer)
{
    struct seat *seat = &plan->seats[n];
    int rc = ETIMEDOUT;

    ord_mutex_lock(&plan->lock);
    if (seat->customer == customer &&
        !is_free(seat, ord_clock_now(&plan->clock))) {
        seat->until = ORD_NEVER;
        rc = 0;
    }
    ord_mutex_unlock(&plan->lock);
    return rc;
}

static ord_ns hand_time;

static ord_ns now_by_hand(void *unused)
{
    (void)unused;
    return __atomic_load_n(&hand_time, __ATOMIC_RELAXED);
}

static struct plan plan = { .lock = ORD_MUTEX_INIT,
                            .clock = { now_by_hand, NULL } };
static int got; /* how many of the crowd hold seat 3 */

static void *crowd(void *customer)
{
    if (hold(&plan, 3, *(int *)customer) == 0)
        __atomic_fetch_add(&got, 1, __ATOMIC_RELAXED);
    return NULL;
}

static const char *word(int rc)
{
    return rc == 0 ? "yes" : rc == EBUSY ? "taken" : "too late";
}

int main(void)
{
    pthread_t t[8];
    int customer[8];

    printf("1 holds seat 0: %s\n", word(hold(&plan, 0, 1)));
    printf("2 holds seat 0: %s\n", word(hold(&plan, 0, 2)));
    printf("1 buys seat 0: %s\n", word(buy(&plan, 0, 1)));
    printf("1 holds seat 1: %s\n", word(hold(&plan, 1, 1)));
    hand_time += hold_time;
    printf("two minutes later 1 buys seat 1: %s\n", word(buy(&plan, 1, 1)));
    printf("2 holds seat 1: %s\n", word(hold(&plan, 1, 2)));
    printf("2 holds seat 0: %s\n", word(hold(&plan, 0, 2)));
    for (int i = 0; i < 8; i++) {
        customer[i] = 10 + i;
        pthread_create(&t[i], NULL, crowd, &customer[i]);
    }
    for (int i = 0; i < 8; i++)
        pthread_join(t[i], NULL);
    printf("of 8 at once, %d holds seat 3\n", got);
    return 0;
}

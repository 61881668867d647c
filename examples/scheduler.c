/* SPDX-License-Identifier: MIT
 *
 * scheduler.c - delayed tasks, one thread, one condition variable.
 *
 * The thread waits until the earliest task is due or an earlier one comes in:
 * whoever adds a task that is now the first signals. There is no polling and no
 * sleep, and a task is run with no lock held. At the end what is still to come
 * is counted, not lost without a word.
 */
#include <ord/base.h>
#include <stdio.h>

enum { MOST_TASKS = 16 };

struct task {
    ord_ns due;
    const char *name;
};

static struct ord_mutex lock = ORD_MUTEX_INIT;
static struct ord_cond changed = ORD_COND_INIT;
static struct task tasks[MOST_TASKS]; /* by due; under lock, like the rest */
static int ntasks, is_closed, nrun;

static void add(const char *name, ord_ns due)
{
    int i;

    ord_mutex_lock(&lock);
    for (i = ntasks++; i > 0 && tasks[i - 1].due > due; i--)
        tasks[i] = tasks[i - 1];
    tasks[i] = (struct task){ due, name };
    if (i == 0)
        ord_cond_signal(&changed);
    ord_mutex_unlock(&lock);
}

static void run(struct task task)
{
    printf("%s\n", task.name);
}

/* Waits for the first task to be due, and takes it out; 0 at the end. */
static int next(struct task *task)
{
    while (!is_closed) {
        ord_ns due = ntasks ? tasks[0].due : ORD_NEVER;

        if (ntasks && due <= ord_now()) {
            *task = tasks[0];
            ntasks--;
            for (int i = 0; i < ntasks; i++)
                tasks[i] = tasks[i + 1];
            return 1;
        }
        ord_cond_pause(&changed, &lock, due);
    }
    return 0;
}

static void *runner(void *unused)
{
    struct task task;

    ord_mutex_lock(&lock);
    while (next(&task)) {
        ord_mutex_unlock(&lock);
        run(task);
        ord_mutex_lock(&lock);
        nrun++;
        ord_cond_broadcast(&changed);
    }
    ord_mutex_unlock(&lock);
    return unused;
}

static int has_run_three(void *unused)
{
    (void)unused;
    return nrun >= 3;
}

int main(void)
{
    pthread_t t;
    ord_ns start = ord_now();

    add("third", start + 30 * ORD_MS);
    add("second", start + 20 * ORD_MS);
    add("never", start + 3600 * ORD_SECOND);
    add("first", start + 10 * ORD_MS);
    pthread_create(&t, NULL, runner, NULL);
    ord_mutex_lock(&lock);
    ord_cond_wait(&changed, &lock, has_run_three, NULL);
    is_closed = 1;
    ord_cond_broadcast(&changed);
    ord_mutex_unlock(&lock);
    pthread_join(t, NULL);
    printf("%d run, %d left\n", nrun, ntasks);
    return 0;
}

/*
 * What:    Main forks while another thread reads M. The child then asks to write
 *          M. The child hangs; its guard ends it, and the parent goes on.
 * Verdict: ACTUAL-DEADLOCK M
 * Why:     In the child the reader was not copied, but its read was.
 * Group:   process
 */
#include <semaphore.h>

#include "truth.h"

static pthread_rwlock_t M = PTHREAD_RWLOCK_INITIALIZER;
static sem_t held, leave;

static void *holder(void *arg) {
  RD(M);
  MUST(sem_post(&held));
  MUST(sem_wait(&leave));
  RU(M);
  return arg;
}

int main(void) {
  pthread_t t;
  pid_t child;
  truth_begin();
  truth_lock("M", &M);
  MUST(sem_init(&held, 0, 0));
  MUST(sem_init(&leave, 0, 0));
  t = truth_go(holder, NULL);
  MUST(sem_wait(&held));
  child = fork();
  if (child == 0) {
    truth_begin_hang();
    WR(M);
    RU(M);
    _exit(0);
  }
  waitpid(child, NULL, 0);
  MUST(sem_post(&leave));
  MUST(pthread_join(t, NULL));
  return truth_end();
}

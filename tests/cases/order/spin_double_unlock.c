/*
 * What:    A spinlock is unlocked twice.
 * Verdict: MISUSE unlock-of-unlocked M
 * Why:     The second time it is free.
 * Group:   misuse
 */
#include "truth.h"

static pthread_spinlock_t M;

int main(void) {
  truth_begin();
  MUST(pthread_spin_init(&M, PTHREAD_PROCESS_PRIVATE));
  truth_lock("M", (void *)&M);
  MUST(pthread_spin_lock(&M));
  MUST(pthread_spin_unlock(&M));
  MUST(pthread_spin_unlock(&M));
  return truth_end();
}

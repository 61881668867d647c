/*
 * What:    A thread reads an rwlock and ends without letting go.
 * Verdict: MISUSE exit-while-holding M
 * Why:     Nobody can write it any more.
 * Group:   misuse
 */
#include "truth.h"

static pthread_rwlock_t M = PTHREAD_RWLOCK_INITIALIZER;

static void *reader(void *arg) {
  RD(M);
  return arg;
}

int main(void) {
  truth_begin();
  truth_lock("M", &M);
  MUST(pthread_join(truth_go(reader, NULL), NULL));
  return truth_end();
}

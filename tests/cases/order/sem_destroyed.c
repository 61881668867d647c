/*
 * What:    A semaphore is destroyed and then posted.
 * Verdict: MISUSE use-after-destroy M
 * Why:     Its memory may already be something else's.
 * Group:   misuse
 */
#include <semaphore.h>

#include "truth.h"

static sem_t M;

int main(void) {
  truth_begin();
  MUST(sem_init(&M, 0, 0));
  truth_lock("M", &M);
  MUST(sem_destroy(&M));
  MUST(sem_post(&M));
  return truth_end();
}

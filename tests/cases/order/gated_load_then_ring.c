/*
 * What:    Sixteen threads, one after the other, nest all pairs of twenty locks
 *          in both orders inside gate G. Then three live threads close a ring of
 *          three of the locks without the gate.
 * Verdict: DEADLOCK-POSSIBLE P0 P1 P2
 * Why:     The gate guards what was nested inside it only. A tool that tires
 *          itself out on the many rings that the gate makes harmless misses the
 *          one that counts.
 * Group:   gate
 */
#include "truth.h"

enum { N = 20, ROUNDS = 16 };
static pthread_mutex_t P[N];
static pthread_mutex_t G = PTHREAD_MUTEX_INITIALIZER;

static void *gated(void *arg) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      if (i == j)
        continue;
      L(G);
      truth_edge(&P[i], &P[j], -1, -1, 0);
      U(G);
    }
  }
  return arg;
}

static void *one(void *arg) {
  truth_edge(&P[0], &P[1], -1, 0, 3);
  return arg;
}
static void *two(void *arg) {
  truth_edge(&P[1], &P[2], 0, 1, 3);
  return arg;
}
static void *three(void *arg) {
  truth_edge(&P[2], &P[0], 1, 2, 3);
  return arg;
}

int main(void) {
  truth_begin();
  for (int i = 0; i < N; i++)
    MUST(pthread_mutex_init(&P[i], NULL));
  truth_lock("P0", &P[0]);
  truth_lock("P1", &P[1]);
  truth_lock("P2", &P[2]);
  for (int i = 0; i < ROUNDS; i++)
    MUST(pthread_join(truth_go(gated, NULL), NULL));
  truth_run3(one, two, three);
  return truth_end();
}

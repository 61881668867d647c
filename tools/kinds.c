/* SPDX-License-Identifier: MIT
 * kinds.c - the kinds of findings. */
#include "kinds.h"

#include <string.h>

const struct lh_kinds_row lh_kinds[] = {
    { "LH001", "PotentialDeadlock", "Threads request locks in contrary orders.",
      "Each thread of a ring holds a lock that the next one requests. Under "
      "another schedule all of them wait for each other and never go on. Take "
      "the locks in one order everywhere, or release the one before taking "
      "the other." },
    { "LH002", "Deadlock", "Threads wait for each other in a ring.",
      "Each thread of the ring waits for a lock that the next one holds: none "
      "of them will go on. Take the locks in one order everywhere, or release "
      "the one before taking the other." },
    { "LH003", "SelfDeadlock", "A thread waits for what it holds itself.",
      "Nobody else can give back what the thread waits for. Release the lock "
      "before, or split the function into one that takes the lock and one "
      "that expects it to be held." },
    { "LH004", "HolderHasEnded",
      "A thread waits for a lock whose holder has ended.",
      "The lock is never given back. Release it on every way out of the "
      "thread that takes it; a robust mutex would be handed on." },
    { "LH005", "NestedRead",
      "A thread reads again what it reads already, on a lock whose readers "
      "wait behind a writer.",
      "Once a writer asks in between, the second read waits for the writer, "
      "and the writer for the first read. Do not nest reads of one lock, or "
      "make it a lock that prefers readers." },
    { "LH010", "ReleaseOfFreeLock", "A lock is released that nobody holds.",
      "The release has no effect that is defined, and may give away the lock "
      "that another thread has just taken. Take the lock on every way to the "
      "release, or remove the release." },
    { "LH011", "ReleaseByOtherThread",
      "A lock is released by another thread than its holder.",
      "What the holder guards is unguarded from then on. Release the lock in "
      "the thread that took it; to hand something over use a semaphore or a "
      "condition variable." },
    { "LH012", "LockEndedWhileHeld",
      "A lock is destroyed, freed, unmapped or unloaded while it is held.",
      "The holder goes on to use memory that may be something else by then. "
      "Release the lock before, and join those that use it first." },
    { "LH013", "LockUsedAfterEnd", "A lock is used after its end.",
      "The memory of the lock may be something else by then. End the lock "
      "after its users were joined, or initialize it again." },
    { "LH014", "LockInitializedInUse",
      "A lock is initialized while it is in use.",
      "The holder is forgotten, so that two threads can be inside at once, "
      "and those that wait may never wake. Initialize a lock once, before any "
      "thread can use it." },
    { "LH015", "LockHeldForGood", "A thread has ended while it held a lock.",
      "Whoever asks for the lock next waits forever. Release it on every way "
      "out of the thread; against cancellation use pthread_cleanup_push." },
    { "LH016", "FailedAssertion", "An assertion of lockhound.h failed.",
      "The program says that a lock is held, or that it is not, and the "
      "opposite is so. Correct the ways to that place, or the assertion." },
    { "LH017", "ConditionWithoutItsLock",
      "A condition is waited on with a mutex that is not held, or with two "
      "mutexes.",
      "A signal may be lost, and the thread waits forever. Take the mutex "
      "that guards the condition before the wait, the same one everywhere." },
    { "LH020", "DeadlockAfterFork",
      "A forked child waits for a lock that another thread of its parent "
      "held.",
      "The thread that would release the lock is not in the child. Execute a "
      "program after fork and do nothing else, or hold the lock around the "
      "fork by pthread_atfork." },
};

const size_t lh_kinds_n = sizeof lh_kinds / sizeof *lh_kinds;

size_t lh_kinds_find(const char *id)
{
    size_t i = 0;
    while (i < lh_kinds_n && strcmp(lh_kinds[i].id, id) != 0)
        i++;
    return i;
}

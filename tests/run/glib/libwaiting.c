/* SPDX-License-Identifier: MIT
 * libwaiting.c - a library whose constructor waits for another thread, with
 * the loader's lock held. */
void host_wait(void);

__attribute__((constructor)) static void wait_for_it(void)
{
    host_wait();
}

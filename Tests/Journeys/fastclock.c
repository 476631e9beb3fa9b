// A clock of the day that runs CLOCK_SPEED times as fast from the first look on. Sleeping and monotonic clocks stay as they are: libfaketime would
// also shorten every wait. Preloaded by week.py.
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static long long start;

static long long now(void) {
    struct timespec real;
    syscall(SYS_clock_gettime, CLOCK_REALTIME, &real);
    long long time = real.tv_sec * 1000000000LL + real.tv_nsec;
    static long long speed;
    if (!speed) {
        const char *text = getenv("CLOCK_SPEED");
        speed = text ? atoll(text) : 1;
    }
    long long zero = 0;
    __atomic_compare_exchange_n(&start, &zero, time, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    return start + (time - start) * speed;
}

int clock_gettime(clockid_t clock, struct timespec *time) {
    if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) return (int)syscall(SYS_clock_gettime, clock, time);
    long long value = now();
    time->tv_sec = value / 1000000000;
    time->tv_nsec = value % 1000000000;
    return 0;
}

int gettimeofday(struct timeval *time, void *zone) {
    (void)zone;
    long long value = now();
    time->tv_sec = value / 1000000000;
    time->tv_usec = value % 1000000000 / 1000;
    return 0;
}

time_t time(time_t *place) {
    time_t value = now() / 1000000000;
    if (place) *place = value;
    return value;
}

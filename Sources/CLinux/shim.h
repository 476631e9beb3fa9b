// Functions of Linux that Swift cannot call because their number of arguments varies, a signal handler that calls only
// async-signal-safe functions, which Swift cannot guarantee, and the arguments of the process. The variables below exist once for each file
// that imports them: only one may install last words.
#ifndef VOLLEY_LINUX_H
#define VOLLEY_LINUX_H

#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Keeps the memory of this process out of core dumps, including those that go to a program (core_pattern), and away from other processes
/// of its account. Ends with the next exec, so that programs it starts are not affected. Source: PR_SET_DUMPABLE(2const).
static inline int volley_forbid_dumps(void) { return prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); }

/// A descriptor that is readable once a child has ended, even before it is waited for; -1 with errno if the kernel (before 5.3) or a
/// container's rules do not allow it. Exec closes it. Source: pidfd_open(2), which the C library has only since glibc 2.36.
static inline int volley_open_process(pid_t process) { return (int)syscall(SYS_pidfd_open, process, 0); }

/// A pipe, its reading end first, whose ends exec closes; -1 with errno if it cannot be made. Source: pipe2(2), which the C library
/// declares only for C.
static inline int volley_make_pipe(int ends[2]) { return (int)syscall(SYS_pipe2, ends, O_CLOEXEC); }

/// The next connection that waits on a socket, which does not block and which exec closes; -1 with errno if there is none. Source: accept4(2), which
/// the C library declares only for C. Its flags have the values of open(2)'s (net/socket.c): <sys/socket.h> here would hide Glibc's constants from
/// files that import Glibc alone.
static inline int volley_accept(int listener) { return (int)syscall(SYS_accept4, listener, 0, 0, O_NONBLOCK | O_CLOEXEC); }

/// Has this process ended by SIGTERM when the process that VOLLEY_SUPERVISOR names ends, however that comes about; 1 if it has ended already. Does
/// nothing where the variable is missing. What this process starts does not inherit the variable. Source: PR_SET_PDEATHSIG(2const).
static inline int volley_end_with_parent(void) {
    const char *name = getenv("VOLLEY_SUPERVISOR");
    if (!name) return 0;
    const long supervisor = strtol(name, 0, 10);
    unsetenv("VOLLEY_SUPERVISOR");
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    return getppid() != supervisor;
}

/// Limits the memory that threads leave behind. By default the C library makes up to eight heaps a core for the threads of a process, and a heap
/// keeps what its threads freed: a process that starts threads for each run grows to the most that each of its heaps ever held. An operator's own
/// settings of the C library stay. One heap a core, from two to eight, sends as fast (docs/performance.md). Call it before the first thread. Source:
/// mallopt(3).
static inline void volley_limit_heaps(void) {
    if (getenv("MALLOC_ARENA_MAX") || getenv("GLIBC_TUNABLES")) return;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    mallopt(M_ARENA_MAX, cores < 2 ? 2 : cores > 8 ? 8 : (int)cores);
}

/// Gives the system what all heaps hold and nothing uses. Takes milliseconds. Source: malloc_trim(3).
static inline void volley_return_memory(void) { malloc_trim(0); }

struct volley_arguments {
    int count;
    char **texts;
};

static inline struct volley_arguments *volley_kept_arguments(void) {
    static struct volley_arguments only;
    return &only;
}

static void volley_keep_arguments(int count, char **texts, char **environment) {
    (void)environment;
    *volley_kept_arguments() = (struct volley_arguments){count, texts};
}

/// The C library gives functions in this section what it gives `main`. It is part of a program only where `volley_program_arguments` is used.
__attribute__((section(".init_array"), used)) static void (*const volley_keeps_arguments)(int, char **, char **) = volley_keep_arguments;

/// What the process was started with, its name first. Swift's `CommandLine` reads /proc/self/cmdline: without /proc, every command would look
/// like one without arguments.
static inline struct volley_arguments volley_program_arguments(void) {
    const struct volley_arguments none = {0, 0};
    return volley_keeps_arguments ? *volley_kept_arguments() : none;
}

/// The message, and the exit code of the process, before `*mark` is set and after.
struct volley_last_words {
    const char *words[2];
    /* After SIGBUS: a file that is mapped into memory was cut short, or could not be read. */
    const char *of_file[2];
    int codes[2];
    const volatile int *mark;
};

/// The only instance.
static inline struct volley_last_words *volley_last_words(void) {
    static struct volley_last_words only;
    return &only;
}

static inline void volley_say_last_words(int number) {
    const struct volley_last_words *last = volley_last_words();
    const int index = *last->mark != 0;
    const char *words = number == SIGBUS ? last->of_file[index] : last->words[index];
    const ssize_t written = write(STDERR_FILENO, words, strlen(words));
    (void)written;
    _exit(last->codes[index]);
}

/// Ends the process in a defined way when a signal says that it cannot continue. The handler has its own stack: the main thread's may be
/// used up. Swift ends a process by such a signal if it gets no memory, or finds a mistake in itself; Swift code can catch neither.
static inline void volley_install_last_words(
    const char *before, const char *before_of_file, int code_before, const char *after, const char *after_of_file, int code_after,
    const int *mark, void *stack, size_t stack_size) {
    *volley_last_words() =
        (struct volley_last_words){{before, after}, {before_of_file, after_of_file}, {code_before, code_after}, mark};
    stack_t alternative = {.ss_sp = stack, .ss_size = stack_size};
    sigaltstack(&alternative, 0);
    struct sigaction action = {.sa_handler = volley_say_last_words, .sa_flags = SA_ONSTACK | SA_RESETHAND};
    const int numbers[] = {SIGILL, SIGTRAP, SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++) sigaction(numbers[i], &action, 0);
}

#endif

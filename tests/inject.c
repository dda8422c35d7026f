/* inject COMMAND...: runs a program under ptrace and lets single system calls of it fail, be interrupted or be cut short.
 *
 *   inject TEST                        the test says which, by the calls of inject.h
 *   inject -f FAULT -k K COMMAND...    the K-th call on a file of the folder in which the command starts; FAULT is a number. The
 *                                      file inject.log appears there when it struck
 *
 * The status is that of the command; 77 where there is no ptrace. Linux on x86-64 only: registers differ elsewhere. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "inject.h"

typedef enum { READS, WRITES, OPENS, SYNCS, RENAMES, LINKS, RANDOMS } kind;

static const struct {
    kind kind;
    int error; /* 0: only half of the bytes */
} faults[] = {
#define INJECT_X(name, kind, error) {kind, error},
    INJECT_FAULTS(INJECT_X)
#undef INJECT_X
};

static int kind_of(long long number)
{
    switch (number) {
    case SYS_read:
    case SYS_pread64:
    case SYS_readv:
        return READS;
    case SYS_write:
    case SYS_pwrite64:
    case SYS_writev:
        return WRITES;
    case SYS_open:
    case SYS_openat:
        return OPENS;
    case SYS_fsync:
    case SYS_fdatasync:
        return SYNCS;
    case SYS_rename:
    case SYS_renameat:
        return RENAMES;
    case SYS_link:
    case SYS_linkat:
        return LINKS;
    case SYS_getrandom:
        return RANDOMS;
    default:
        return -1;
    }
}

typedef struct tracer {
    pid_t child;
    const char *folder; /* NULL: the test arms the fault */
    long fault, wanted, seen;
    long counts[RANDOMS + 1]; /* calls of each kind since the fault was armed */
    int struck, detached;
    long long result; /* of the system call that is under way, to be set at its end */
    int replace;      /* 1: it is */
} tracer;

/* Whether the call is about a file in the folder: by its descriptor or, where it names a file, by the path. */
static int in_folder(const tracer *t, const struct user_regs_struct *r, int what)
{
    char link[64], path[4096] = "";
    if (!t->folder || what == RANDOMS)
        return 1;
    if (what == READS || what == WRITES || what == SYNCS) {
        snprintf(link, sizeof link, "/proc/%d/fd/%lld", (int)t->child, (long long)r->rdi);
        ssize_t length = readlink(link, path, sizeof path - 1);
        path[length > 0 ? length : 0] = '\0';
        return strncmp(path, t->folder, strlen(t->folder)) == 0;
    }
    if (what != OPENS)
        return 1;
    unsigned long long at = r->orig_rax == SYS_openat ? r->rsi : r->rdi;
    for (size_t i = 0; i + 8 < sizeof path; i += 8) {
        errno = 0;
        long word = ptrace(PTRACE_PEEKDATA, t->child, (void *)(uintptr_t)(at + i), NULL);
        if (errno)
            break;
        memcpy(path + i, &word, sizeof word);
        if (memchr(&word, 0, sizeof word))
            break;
    }
    return path[0] != '/' || strncmp(path, t->folder, strlen(t->folder)) == 0;
}

static void enter(tracer *t, struct user_regs_struct *r)
{
    int what = kind_of((long long)r->orig_rax);
    t->replace = 0;
    if (r->orig_rax == SYS_prctl && r->rdi == INJECT_PRCTL && !t->folder) {
        t->replace = 1;
        t->result = r->rsi == INJECT_DISARM ? t->struck : 1;
        if (r->rsi == INJECT_COUNT) {
            t->result = t->counts[faults[r->rdx].kind];
            return;
        }
        t->fault = r->rsi == INJECT_ARM ? (long)r->rdx : -1;
        t->wanted = (long)r->r10;
        t->seen = t->struck = 0;
        if (r->rsi == INJECT_ARM)
            memset(t->counts, 0, sizeof t->counts);
        return;
    }
    if (what >= 0 && t->fault >= 0)
        t->counts[what]++;
    if (t->fault < 0 || t->struck || what < 0 || what != (int)faults[t->fault].kind || !in_folder(t, r, what) ||
        ++t->seen != t->wanted)
        return;
    t->struck = 1;
    if (faults[t->fault].error == 0) { /* half of the bytes, at least one */
        if (r->rdx > 1 && (r->orig_rax == SYS_read || r->orig_rax == SYS_write))
            r->rdx /= 2;
    } else {
        r->orig_rax = (unsigned long long)-1; /* no call at all */
        t->result = -faults[t->fault].error;
        t->replace = 1;
    }
    ptrace(PTRACE_SETREGS, t->child, NULL, r);
}

static void leave(tracer *t, struct user_regs_struct *r)
{
    if (!t->replace)
        return;
    r->rax = (unsigned long long)t->result;
    ptrace(PTRACE_SETREGS, t->child, NULL, r);
    t->replace = 0;
}

static int follow(tracer *t)
{
    int status, inside = 0, sent = 0;
    for (;;) {
        if (!t->detached && ptrace(PTRACE_SYSCALL, t->child, NULL, (void *)(intptr_t)sent) != 0)
            return 1;
        if (waitpid(t->child, &status, 0) < 0)
            return 1;
        sent = 0;
        if (WIFEXITED(status))
            return WEXITSTATUS(status);
        if (WIFSIGNALED(status))
            return 128 + WTERMSIG(status);
        if (WSTOPSIG(status) == (SIGTRAP | 0x80)) {
            struct user_regs_struct r;
            ptrace(PTRACE_GETREGS, t->child, NULL, &r);
            inside = !inside;
            (inside ? enter : leave)(t, &r);
            if (t->folder && t->struck && !inside) { /* nothing more to do: the rest runs at full speed */
                ptrace(PTRACE_DETACH, t->child, NULL, NULL);
                t->detached = 1;
            }
        } else if (WSTOPSIG(status) != SIGTRAP) {
            sent = WSTOPSIG(status);
        }
    }
}

int main(int argc, char **argv)
{
    char here[4096];
    tracer t = {.fault = -1};
    int first = 1, status;
    if (argc > 5 && strcmp(argv[1], "-f") == 0 && strcmp(argv[3], "-k") == 0) {
        t.fault = strtol(argv[2], NULL, 10);
        t.wanted = strtol(argv[4], NULL, 10);
        t.folder = getcwd(here, sizeof here);
        first = 5;
        if (t.fault < 0 || t.fault >= INJECT_KINDS)
            return 2;
        unlink("inject.log");
    }
    t.child = fork();
    if (t.child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(77);
        raise(SIGSTOP);
        execvp(argv[first], argv + first);
        _exit(127);
    }
    if (t.child < 0 || waitpid(t.child, &status, 0) < 0 || !WIFSTOPPED(status))
        return 77;
    ptrace(PTRACE_SETOPTIONS, t.child, NULL, (void *)(intptr_t)(PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL));
    status = follow(&t);
    if (t.folder && t.struck)
        close(open("inject.log", O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
    return status;
}

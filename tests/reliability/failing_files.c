/* A file layer that fails on request. It is loaded with LD_PRELOAD and does nothing until `fault_arm` is called.
 *
 * Operations that change files below one folder are counted. The n-th of them fails, or ends the process. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

enum { COUNT, ONCE, EVER, SHORT, KILL, TORN };
/* What an operation is to do: go on, fail, or write half of its bytes. */
enum { PASS, FAIL, HALF };

static char folder[PATH_MAX];
static atomic_long counted;
static atomic_long fired;
static long chosen;
static int mode;
static int failure;

void fault_arm(const char *below, long n, int how, int error) {
  snprintf(folder, sizeof folder, "%s", below);
  atomic_store(&counted, 0);
  atomic_store(&fired, 0);
  chosen = n, mode = how, failure = error;
}
void fault_disarm(void) { folder[0] = 0; }
long fault_counted(void) { return atomic_load(&counted); }
long fault_fired(void) { return atomic_load(&fired); }

static int below(const char *path) {
  size_t length = strlen(folder);
  return length && path && !strncmp(path, folder, length) && (path[length] == '/' || !path[length]);
}

static int decide(int writes) {
  long n = atomic_fetch_add(&counted, 1) + 1;
  if (mode == COUNT || n < chosen) return PASS;
  if (n > chosen && (mode == ONCE || mode == KILL || mode == TORN)) return PASS;
  atomic_fetch_add(&fired, 1);
  if (mode == KILL || (mode == TORN && !writes)) kill(getpid(), SIGKILL);
  if (mode == TORN || (mode == SHORT && writes && n == chosen)) return HALF;
  return FAIL;
}

static int at_path(int dir, const char *path, int writes) {
  char full[2 * PATH_MAX], from[64];
  if (!folder[0] || !path) return PASS;
  if (path[0] == '/') return below(path) ? decide(writes) : PASS;
  if (dir == AT_FDCWD) {
    if (!getcwd(full, PATH_MAX)) return PASS;
  } else {
    snprintf(from, sizeof from, "/proc/self/fd/%d", dir);
    ssize_t length = readlink(from, full, PATH_MAX - 1);
    if (length < 0) return PASS;
    full[length] = 0;
  }
  size_t used = strlen(full);
  snprintf(full + used, sizeof full - used, "/%s", path);
  return below(full) ? decide(writes) : PASS;
}

static int at_handle(int handle, int writes) {
  char from[64], path[PATH_MAX];
  if (!folder[0]) return PASS;
  snprintf(from, sizeof from, "/proc/self/fd/%d", handle);
  ssize_t length = readlink(from, path, sizeof path - 1);
  if (length < 0) return PASS;
  path[length] = 0;
  return below(path) ? decide(writes) : PASS;
}

#define REAL(type, name, ...)                                  \
  static type (*real)(__VA_ARGS__);                            \
  if (!real) real = (type(*)(__VA_ARGS__))dlsym(RTLD_NEXT, name)
#define CHECKED(decision, call) return (decision) == FAIL ? (errno = failure, -1) : (call)
/* Writes half, and in the mode that tears writes ends the process there. */
#define HALVED(call)                                           \
  do {                                                         \
    ssize_t wrote = (call);                                    \
    if (mode == TORN) kill(getpid(), SIGKILL);                 \
    return wrote;                                              \
  } while (0)

ssize_t write(int handle, const void *data, size_t size) {
  REAL(ssize_t, "write", int, const void *, size_t);
  int how = at_handle(handle, 1);
  if (how == HALF) HALVED(real(handle, data, (size + 1) / 2));
  CHECKED(how, real(handle, data, size));
}
#define PWRITE(name, offset_type)                                                     \
  ssize_t name(int handle, const void *data, size_t size, offset_type at) {           \
    REAL(ssize_t, #name, int, const void *, size_t, offset_type);                     \
    int how = at_handle(handle, 1);                                                   \
    if (how == HALF) HALVED(real(handle, data, (size + 1) / 2, at));                  \
    CHECKED(how, real(handle, data, size, at));                                       \
  }
PWRITE(pwrite, off_t)
PWRITE(pwrite64, off64_t)
ssize_t writev(int handle, const struct iovec *parts, int count) {
  REAL(ssize_t, "writev", int, const struct iovec *, int);
  int how = at_handle(handle, 1);
  if (how == HALF) HALVED(real(handle, parts, (count + 1) / 2));
  CHECKED(how, real(handle, parts, count));
}
ssize_t sendfile(int to, int from, off_t *at, size_t size) {
  REAL(ssize_t, "sendfile", int, int, off_t *, size_t);
  int how = at_handle(to, 1);
  if (how == HALF) HALVED(real(to, from, at, (size + 1) / 2));
  CHECKED(how, real(to, from, at, size));
}
ssize_t sendfile64(int to, int from, off64_t *at, size_t size) {
  REAL(ssize_t, "sendfile64", int, int, off64_t *, size_t);
  int how = at_handle(to, 1);
  if (how == HALF) HALVED(real(to, from, at, (size + 1) / 2));
  CHECKED(how, real(to, from, at, size));
}
int fsync(int handle) {
  REAL(int, "fsync", int);
  CHECKED(at_handle(handle, 0), real(handle));
}
int fdatasync(int handle) {
  REAL(int, "fdatasync", int);
  CHECKED(at_handle(handle, 0), real(handle));
}
int ftruncate(int handle, off_t size) {
  REAL(int, "ftruncate", int, off_t);
  CHECKED(at_handle(handle, 0), real(handle, size));
}
int ftruncate64(int handle, off64_t size) {
  REAL(int, "ftruncate64", int, off64_t);
  CHECKED(at_handle(handle, 0), real(handle, size));
}
int rename(const char *from, const char *to) {
  REAL(int, "rename", const char *, const char *);
  CHECKED(at_path(AT_FDCWD, to, 0), real(from, to));
}
int renameat(int from_dir, const char *from, int to_dir, const char *to) {
  REAL(int, "renameat", int, const char *, int, const char *);
  CHECKED(at_path(to_dir, to, 0), real(from_dir, from, to_dir, to));
}
int link(const char *from, const char *to) {
  REAL(int, "link", const char *, const char *);
  CHECKED(at_path(AT_FDCWD, to, 0), real(from, to));
}
int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags) {
  REAL(int, "linkat", int, const char *, int, const char *, int);
  CHECKED(at_path(to_dir, to, 0), real(from_dir, from, to_dir, to, flags));
}
int unlink(const char *path) {
  REAL(int, "unlink", const char *);
  CHECKED(at_path(AT_FDCWD, path, 0), real(path));
}
int unlinkat(int dir, const char *path, int flags) {
  REAL(int, "unlinkat", int, const char *, int);
  CHECKED(at_path(dir, path, 0), real(dir, path, flags));
}
int mkdir(const char *path, mode_t rights) {
  REAL(int, "mkdir", const char *, mode_t);
  CHECKED(at_path(AT_FDCWD, path, 0), real(path, rights));
}

#define OPEN(name)                                                                            \
  int name(const char *path, int flags, ...) {                                                \
    REAL(int, #name, const char *, int, ...);                                                 \
    va_list rest;                                                                             \
    va_start(rest, flags);                                                                    \
    mode_t rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                 \
    va_end(rest);                                                                             \
    CHECKED(flags &O_CREAT ? at_path(AT_FDCWD, path, 0) : PASS, real(path, flags, rights));   \
  }
OPEN(open)
OPEN(open64)
#define OPENAT(name)                                                                          \
  int name(int dir, const char *path, int flags, ...) {                                       \
    REAL(int, #name, int, const char *, int, ...);                                            \
    va_list rest;                                                                             \
    va_start(rest, flags);                                                                    \
    mode_t rights = flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0;                 \
    va_end(rest);                                                                             \
    CHECKED(flags &O_CREAT ? at_path(dir, path, 0) : PASS, real(dir, path, flags, rights));   \
  }
OPENAT(openat)
OPENAT(openat64)

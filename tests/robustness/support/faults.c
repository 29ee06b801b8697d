/* Stands between a process and the disk (LD_PRELOAD): counts the calls that change something below one folder, and
   lets one of them go wrong. Whoever makes the calls, Python or a library, is seen; other folders are left alone.

   faults_arm(folder, fault, at): from now on, call number `at` (from 1) meets the fault.
     'k'  the process is killed; a write has written half by then
     'f'  the disk is full: half of a write fits; then everything that needs room fails, until a file is removed
     'e'  this one call fails with EIO
     'i'  SIGINT is sent to the process, and the call is made
     '-'  nothing; the calls are counted
   faults_count(): how many calls there were. Syncing is counted, but not done: a killed process leaves its writes. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

static char folder[PATH_MAX];
static atomic_char fault;
static atomic_long calls, fault_at;
static atomic_bool full;

void faults_arm(const char *below, char kind, long at) {
  fault = 0;
  full = false;
  calls = 0;
  fault_at = at;
  strncpy(folder, below, sizeof folder - 1);
  fault = kind;
}

long faults_count(void) { return calls; }

#define REAL(name)                                              \
  static __typeof__(&name) real;                                \
  if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static bool below(const char *path) {
  size_t length = strlen(folder);
  return strncmp(path, folder, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static bool descriptor_below(int fd) {
  char link[64], path[PATH_MAX];
  if (!fault || fd < 0) return false;
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length < 0) return false;
  path[length] = 0;
  return below(path);
}

static bool name_below(int at, const char *name) {
  if (!fault) return false;
  return name[0] != '/' && at != AT_FDCWD ? descriptor_below(at) : below(name);
}

enum { kGoOn, kHalf, kFail };

/* Counts a call; says whether it is to be made, made in half, or to fail with errno set. */
static int meet(bool needs_room) {
  long number = atomic_fetch_add(&calls, 1) + 1;
  if (full && needs_room) {
    errno = ENOSPC;
    return kFail;
  }
  if (number != fault_at) return kGoOn;
  switch (fault) {
    case 'k':
      return kHalf;
    case 'f':
      full = true;
      return needs_room ? kHalf : kGoOn;
    case 'e':
      errno = EIO;
      return kFail;
    case 'i':
      kill(getpid(), SIGINT);
      return kGoOn;
    default:
      return kGoOn;
  }
}

static int half_done(void) {
  if (fault == 'k') {
    kill(getpid(), SIGKILL);
    pause();
  }
  errno = ENOSPC;
  return -1;
}

/* A call that is made or not, but has no half. */
#define WHOLE(seen, needs_room, call)    \
  if (!(seen)) return (call);            \
  switch (meet(needs_room)) {            \
    case kFail: return -1;               \
    case kHalf: return half_done();      \
    default: return (call);              \
  }

/* A call that writes `size` bytes, of which half may fit. */
#define PART(seen, size, call, half_call)                          \
  if (!(seen)) return (call);                                      \
  switch (meet(true)) {                                            \
    case kFail: return -1;                                         \
    case kHalf: {                                                  \
      ssize_t done = (size) > 1 ? (half_call) : 0;                 \
      return fault == 'k' || done <= 0 ? half_done() : done;       \
    }                                                              \
    default: return (call);                                        \
  }

ssize_t write(int fd, const void *data, size_t size) {
  REAL(write);
  PART(descriptor_below(fd), size, real(fd, data, size), real(fd, data, size / 2))
}

static ssize_t write_half(int fd, const struct iovec *pieces, int count) {
  return count > 1 ? write(fd, pieces[0].iov_base, pieces[0].iov_len)
                   : write(fd, pieces[0].iov_base, pieces[0].iov_len / 2);
}

ssize_t writev(int fd, const struct iovec *pieces, int count) {
  REAL(writev);
  if (!descriptor_below(fd)) return real(fd, pieces, count);
  switch (meet(true)) {
    case kFail: return -1;
    case kHalf: {
      char kind = fault;
      fault = 0; /* the half goes through */
      ssize_t done = count > 0 && pieces[0].iov_len > 1 ? write_half(fd, pieces, count) : 0;
      fault = kind;
      return kind == 'k' || done <= 0 ? half_done() : done;
    }
    default: return real(fd, pieces, count);
  }
}

ssize_t pwrite(int fd, const void *data, size_t size, off_t offset) {
  REAL(pwrite);
  PART(descriptor_below(fd), size, real(fd, data, size, offset), real(fd, data, size / 2, offset))
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
  REAL(pwrite64);
  PART(descriptor_below(fd), size, real(fd, data, size, offset), real(fd, data, size / 2, offset))
}

ssize_t copy_file_range(int from, off64_t *from_at, int to, off64_t *to_at, size_t size, unsigned flags) {
  REAL(copy_file_range);
  PART(descriptor_below(to), size, real(from, from_at, to, to_at, size, flags),
       real(from, from_at, to, to_at, size / 2, flags))
}

ssize_t sendfile(int to, int from, off_t *at, size_t size) {
  REAL(sendfile);
  PART(descriptor_below(to), size, real(to, from, at, size), real(to, from, at, size / 2))
}

static bool is_new(int at, const char *name) { return faccessat(at, name, F_OK, AT_SYMLINK_NOFOLLOW) != 0; }

#define CHANGES(flags) ((flags) & (O_CREAT | O_TRUNC))
#define MODE(flags)                                        \
  mode_t mode = 0;                                         \
  if ((flags) & (O_CREAT | O_TMPFILE)) {                   \
    va_list more;                                          \
    va_start(more, flags);                                 \
    mode = va_arg(more, mode_t);                           \
    va_end(more);                                          \
  }

int open(const char *name, int flags, ...) {
  REAL(open);
  MODE(flags)
  WHOLE(CHANGES(flags) && name_below(AT_FDCWD, name), is_new(AT_FDCWD, name), real(name, flags, mode))
}

int open64(const char *name, int flags, ...) {
  REAL(open64);
  MODE(flags)
  WHOLE(CHANGES(flags) && name_below(AT_FDCWD, name), is_new(AT_FDCWD, name), real(name, flags, mode))
}

int openat(int at, const char *name, int flags, ...) {
  REAL(openat);
  MODE(flags)
  WHOLE(CHANGES(flags) && name_below(at, name), is_new(at, name), real(at, name, flags, mode))
}

int openat64(int at, const char *name, int flags, ...) {
  REAL(openat64);
  MODE(flags)
  WHOLE(CHANGES(flags) && name_below(at, name), is_new(at, name), real(at, name, flags, mode))
}

int rename(const char *from, const char *to) {
  REAL(rename);
  WHOLE(name_below(AT_FDCWD, to) || name_below(AT_FDCWD, from), false, real(from, to))
}

int renameat(int from_at, const char *from, int to_at, const char *to) {
  REAL(renameat);
  WHOLE(name_below(to_at, to) || name_below(from_at, from), false, real(from_at, from, to_at, to))
}

int renameat2(int from_at, const char *from, int to_at, const char *to, unsigned flags) {
  REAL(renameat2);
  WHOLE(name_below(to_at, to) || name_below(from_at, from), false, real(from_at, from, to_at, to, flags))
}

int link(const char *from, const char *to) {
  REAL(link);
  WHOLE(name_below(AT_FDCWD, to), true, real(from, to))
}

int linkat(int from_at, const char *from, int to_at, const char *to, int flags) {
  REAL(linkat);
  WHOLE(name_below(to_at, to), true, real(from_at, from, to_at, to, flags))
}

int symlink(const char *from, const char *to) {
  REAL(symlink);
  WHOLE(name_below(AT_FDCWD, to), true, real(from, to))
}

/* What is removed makes room. */
static int freed(int result) {
  if (result == 0) full = false;
  return result;
}

int unlink(const char *name) {
  REAL(unlink);
  WHOLE(name_below(AT_FDCWD, name), false, freed(real(name)))
}

int unlinkat(int at, const char *name, int flags) {
  REAL(unlinkat);
  WHOLE(name_below(at, name), false, freed(real(at, name, flags)))
}

int mkdir(const char *name, mode_t mode) {
  REAL(mkdir);
  WHOLE(name_below(AT_FDCWD, name), is_new(AT_FDCWD, name), real(name, mode))
}

int mkdirat(int at, const char *name, mode_t mode) {
  REAL(mkdirat);
  WHOLE(name_below(at, name), is_new(at, name), real(at, name, mode))
}

int rmdir(const char *name) {
  REAL(rmdir);
  WHOLE(name_below(AT_FDCWD, name), false, real(name))
}

int truncate(const char *name, off_t size) {
  REAL(truncate);
  WHOLE(name_below(AT_FDCWD, name), false, real(name, size))
}

int ftruncate(int fd, off_t size) {
  REAL(ftruncate);
  WHOLE(descriptor_below(fd), false, real(fd, size))
}

int ftruncate64(int fd, off64_t size) {
  REAL(ftruncate64);
  WHOLE(descriptor_below(fd), false, real(fd, size))
}

int fsync(int fd) { WHOLE(descriptor_below(fd), false, 0) }

int fdatasync(int fd) { WHOLE(descriptor_below(fd), false, 0) }

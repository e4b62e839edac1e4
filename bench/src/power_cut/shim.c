/*
 * Records the changes of a process in one directory. Loaded with LD_PRELOAD by `bench power-cut`.
 *
 * GATEHOUSE_TRACE_DIR names the directory, GATEHOUSE_TRACE_FILE the file that records are appended to.
 * Each change is made and recorded under one lock, so that the records are in the order of the changes. A
 * sync has two records, one before and one after it. Calls that bypass the C library are not recorded. The
 * reader detects them, because it compares the recorded state with the real one.
 *
 * A record contains: kind (u32), bytes of the path (u32), inode (u64), a number (u64), bytes of data (u64),
 * the path, the data. Numbers are in the machine's byte order.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CREATE = 1, WRITE, TRUNCATE, RENAME, UNLINK, MKDIR, SYNC_BEGIN, SYNC_END, LINK, UNKNOWN };

#define FDS 65536

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int trace = -1;
static char dir[PATH_MAX];
static size_t dir_len;
static uint64_t syncs;
/* The state of a file descriptor: 0 unknown, 1 not below the directory, 2 below the directory. */
static unsigned char known[FDS];
static uint64_t inode[FDS];

static int (*real_openat)(int, const char *, int, ...);
static ssize_t (*real_write)(int, const void *, size_t);
static ssize_t (*real_writev)(int, const struct iovec *, int);
static ssize_t (*real_pwrite)(int, const void *, size_t, off_t);
static int (*real_ftruncate)(int, off_t);
static int (*real_fsync)(int);
static int (*real_fdatasync)(int);
static int (*real_close)(int);
static int (*real_renameat)(int, const char *, int, const char *);
static int (*real_unlinkat)(int, const char *, int);
static int (*real_mkdirat)(int, const char *, mode_t);
static int (*real_linkat)(int, const char *, int, const char *, int);
static int (*real_fallocate)(int, off_t, off_t);

static void start(void) {
  real_openat = dlsym(RTLD_NEXT, "openat");
  real_write = dlsym(RTLD_NEXT, "write");
  real_writev = dlsym(RTLD_NEXT, "writev");
  real_pwrite = dlsym(RTLD_NEXT, "pwrite64");
  real_ftruncate = dlsym(RTLD_NEXT, "ftruncate64");
  real_fsync = dlsym(RTLD_NEXT, "fsync");
  real_fdatasync = dlsym(RTLD_NEXT, "fdatasync");
  real_close = dlsym(RTLD_NEXT, "close");
  real_renameat = dlsym(RTLD_NEXT, "renameat");
  real_unlinkat = dlsym(RTLD_NEXT, "unlinkat");
  real_mkdirat = dlsym(RTLD_NEXT, "mkdirat");
  real_linkat = dlsym(RTLD_NEXT, "linkat");
  real_fallocate = dlsym(RTLD_NEXT, "posix_fallocate64");
  const char *of = getenv("GATEHOUSE_TRACE_DIR");
  const char *to = getenv("GATEHOUSE_TRACE_FILE");
  if (!of || !to || strlen(of) >= sizeof dir) return;
  strcpy(dir, of);
  dir_len = strlen(dir);
  trace = real_openat(AT_FDCWD, to, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
}

static int begin(void) {
  pthread_once(&once, start);
  return trace >= 0;
}

/* Appends a record. The caller holds the lock. */
static void note(uint32_t kind, const char *path, size_t path_len, uint64_t ino, uint64_t number,
                 const void *data, uint64_t len) {
  struct { uint32_t kind, path_len; uint64_t ino, number, len; } head = {
      kind, (uint32_t)path_len, ino, number, len};
  struct iovec parts[3] = {
      {&head, sizeof head}, {(void *)path, path_len}, {(void *)data, len}};
  size_t whole = sizeof head + path_len + len;
  if (real_writev(trace, parts, 3) != (ssize_t)whole) {
    static const char why[] = "power-cut: the trace cannot be written\n";
    real_write(2, why, sizeof why - 1);
    _exit(70);
  }
}

/* Returns the path below the directory; NULL for other paths. Writes the absolute path to `at`. */
static const char *ours(int base, const char *path, char *at) {
  if (path[0] == '/') {
    snprintf(at, PATH_MAX, "%s", path);
  } else if (base == AT_FDCWD) {
    char here[PATH_MAX];
    if (!getcwd(here, sizeof here)) return NULL;
    snprintf(at, PATH_MAX, "%.2000s/%.2000s", here, path);
  } else {
    char link[64], here[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", base);
    ssize_t len = readlink(link, here, sizeof here - 1);
    if (len < 0) return NULL;
    here[len] = 0;
    snprintf(at, PATH_MAX, "%.2000s/%.2000s", here, path);
  }
  if (strncmp(at, dir, dir_len) || (at[dir_len] != '/' && at[dir_len])) return NULL;
  const char *below = at + dir_len;
  while (*below == '/') below++;
  return below;
}

/* Returns whether a descriptor belongs to a file below the directory. Sets the inode of the file. */
static int is_ours(int fd, uint64_t *ino) {
  if (!begin() || fd < 0 || fd >= FDS) return 0;
  if (!known[fd]) {
    char link[64], path[PATH_MAX], at[PATH_MAX];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path - 1);
    struct stat64 stat;
    int found = len > 0 && fstat64(fd, &stat) == 0;
    if (found) {
      path[len] = 0;
      found = (S_ISREG(stat.st_mode) || S_ISDIR(stat.st_mode)) && ours(AT_FDCWD, path, at) != NULL;
      inode[fd] = stat.st_ino;
    }
    known[fd] = found ? 2 : 1;
  }
  *ino = inode[fd];
  return known[fd] == 2;
}

static int open_any(int base, const char *path, int flags, mode_t mode) {
  if (!begin()) return real_openat(base, path, flags, mode);
  char at[PATH_MAX];
  const char *below = ours(base, path, at);
  if (!below) {
    int fd = real_openat(base, path, flags, mode);
    if (fd >= 0 && fd < FDS) known[fd] = 0;
    return fd;
  }
  pthread_mutex_lock(&lock);
  struct stat64 stat;
  int was_there = stat64(at, &stat) == 0;
  int fd = real_openat(base, path, flags, mode);
  int error = errno;
  if (fd >= 0 && fd < FDS && fstat64(fd, &stat) == 0) {
    known[fd] = 2;
    inode[fd] = stat.st_ino;
    if (!was_there) note(CREATE, below, strlen(below), stat.st_ino, 0, NULL, 0);
    else if (flags & O_TRUNC) note(TRUNCATE, NULL, 0, stat.st_ino, 0, NULL, 0);
  }
  pthread_mutex_unlock(&lock);
  errno = error;
  return fd;
}

#define MODE(last)                                                  \
  mode_t mode = 0;                                                  \
  if (flags & (O_CREAT | O_TMPFILE)) {                              \
    va_list rest;                                                   \
    va_start(rest, last);                                           \
    mode = va_arg(rest, mode_t);                                    \
    va_end(rest);                                                   \
  }

int open(const char *path, int flags, ...) { MODE(flags) return open_any(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE(flags) return open_any(AT_FDCWD, path, flags, mode); }
int openat(int base, const char *path, int flags, ...) { MODE(flags) return open_any(base, path, flags, mode); }
int openat64(int base, const char *path, int flags, ...) { MODE(flags) return open_any(base, path, flags, mode); }
int creat(const char *path, mode_t mode) { return open_any(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

int close(int fd) {
  begin();
  if (fd >= 0 && fd < FDS) known[fd] = 0;
  return real_close(fd);
}

ssize_t write(int fd, const void *data, size_t len) {
  uint64_t ino;
  if (!is_ours(fd, &ino)) return real_write(fd, data, len);
  pthread_mutex_lock(&lock);
  ssize_t done = real_write(fd, data, len);
  int error = errno;
  if (done > 0) note(WRITE, NULL, 0, ino, lseek64(fd, 0, SEEK_CUR) - done, data, done);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
  uint64_t ino;
  if (!is_ours(fd, &ino)) return real_writev(fd, parts, count);
  ssize_t sum = 0;
  for (int i = 0; i < count; i++) {
    ssize_t done = write(fd, parts[i].iov_base, parts[i].iov_len);
    if (done < 0) return sum ? sum : done;
    sum += done;
    if ((size_t)done < parts[i].iov_len) break;
  }
  return sum;
}

ssize_t pwrite64(int fd, const void *data, size_t len, off64_t offset) {
  uint64_t ino;
  if (!is_ours(fd, &ino)) return real_pwrite(fd, data, len, offset);
  pthread_mutex_lock(&lock);
  ssize_t done = real_pwrite(fd, data, len, offset);
  int error = errno;
  if (done > 0) note(WRITE, NULL, 0, ino, offset, data, done);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}
ssize_t pwrite(int fd, const void *data, size_t len, off_t offset) { return pwrite64(fd, data, len, offset); }

int ftruncate64(int fd, off64_t size) {
  uint64_t ino;
  if (!is_ours(fd, &ino)) return real_ftruncate(fd, size);
  pthread_mutex_lock(&lock);
  int done = real_ftruncate(fd, size);
  int error = errno;
  if (done == 0) note(TRUNCATE, NULL, 0, ino, size, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}
int ftruncate(int fd, off_t size) { return ftruncate64(fd, size); }

int posix_fallocate64(int fd, off64_t offset, off64_t len) {
  uint64_t ino;
  if (!is_ours(fd, &ino)) return real_fallocate(fd, offset, len);
  pthread_mutex_lock(&lock);
  int done = real_fallocate(fd, offset, len);
  struct stat64 stat;
  if (done == 0 && fstat64(fd, &stat) == 0) note(TRUNCATE, NULL, 0, ino, stat.st_size, NULL, 0);
  pthread_mutex_unlock(&lock);
  return done;
}
int posix_fallocate(int fd, off_t offset, off_t len) { return posix_fallocate64(fd, offset, len); }

static int sync_any(int fd, int (*real)(int)) {
  uint64_t ino;
  if (!is_ours(fd, &ino)) return real(fd);
  pthread_mutex_lock(&lock);
  uint64_t number = ++syncs;
  note(SYNC_BEGIN, NULL, 0, ino, number, NULL, 0);
  pthread_mutex_unlock(&lock);
  int done = real(fd);
  int error = errno;
  if (done == 0) {
    pthread_mutex_lock(&lock);
    note(SYNC_END, NULL, 0, ino, number, NULL, 0);
    pthread_mutex_unlock(&lock);
  }
  errno = error;
  return done;
}
int fsync(int fd) { begin(); return sync_any(fd, real_fsync); }
int fdatasync(int fd) { begin(); return sync_any(fd, real_fdatasync); }

/* Records a change of two names: the first name, a zero byte, and the second name. */
static void note_two(uint32_t kind, const char *from, const char *to) {
  char both[2 * PATH_MAX + 2];
  size_t a = strlen(from), b = strlen(to);
  memcpy(both, from, a + 1);
  memcpy(both + a + 1, to, b);
  note(kind, both, a + 1 + b, 0, 0, NULL, 0);
}

static int rename_any(int a, const char *from, int b, const char *to) {
  char at_from[PATH_MAX], at_to[PATH_MAX];
  const char *old = begin() ? ours(a, from, at_from) : NULL;
  const char *new = trace >= 0 ? ours(b, to, at_to) : NULL;
  if (!old && !new) return real_renameat(a, from, b, to);
  pthread_mutex_lock(&lock);
  int done = real_renameat(a, from, b, to);
  int error = errno;
  if (done == 0 && old && new) note_two(RENAME, old, new);
  else if (done == 0) note(UNKNOWN, from, strlen(from), 0, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}
int rename(const char *from, const char *to) { return rename_any(AT_FDCWD, from, AT_FDCWD, to); }
int renameat(int a, const char *from, int b, const char *to) { return rename_any(a, from, b, to); }

static int unlink_any(int base, const char *path, int flags) {
  char at[PATH_MAX];
  const char *below = begin() ? ours(base, path, at) : NULL;
  if (!below) return real_unlinkat(base, path, flags);
  pthread_mutex_lock(&lock);
  int done = real_unlinkat(base, path, flags);
  int error = errno;
  if (done == 0) note(UNLINK, below, strlen(below), 0, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}
int unlink(const char *path) { return unlink_any(AT_FDCWD, path, 0); }
int unlinkat(int base, const char *path, int flags) { return unlink_any(base, path, flags); }
int rmdir(const char *path) { return unlink_any(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) {
  int done = unlink(path);
  return done < 0 && errno == EISDIR ? rmdir(path) : done;
}

static int mkdir_any(int base, const char *path, mode_t mode) {
  char at[PATH_MAX];
  const char *below = begin() ? ours(base, path, at) : NULL;
  if (!below) return real_mkdirat(base, path, mode);
  pthread_mutex_lock(&lock);
  int done = real_mkdirat(base, path, mode);
  int error = errno;
  struct stat64 stat;
  if (done == 0 && stat64(at, &stat) == 0) note(MKDIR, below, strlen(below), stat.st_ino, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}
int mkdir(const char *path, mode_t mode) { return mkdir_any(AT_FDCWD, path, mode); }
int mkdirat(int base, const char *path, mode_t mode) { return mkdir_any(base, path, mode); }

static int link_any(int a, const char *from, int b, const char *to, int flags) {
  char at_from[PATH_MAX], at_to[PATH_MAX];
  const char *old = begin() ? ours(a, from, at_from) : NULL;
  const char *new = trace >= 0 ? ours(b, to, at_to) : NULL;
  if (!new) return real_linkat(a, from, b, to, flags);
  pthread_mutex_lock(&lock);
  int done = real_linkat(a, from, b, to, flags);
  int error = errno;
  if (done == 0 && old) note_two(LINK, old, new);
  else if (done == 0) note(UNKNOWN, to, strlen(to), 0, 0, NULL, 0);
  pthread_mutex_unlock(&lock);
  errno = error;
  return done;
}
int link(const char *from, const char *to) { return link_any(AT_FDCWD, from, AT_FDCWD, to, 0); }
int linkat(int a, const char *from, int b, const char *to, int flags) { return link_any(a, from, b, to, flags); }

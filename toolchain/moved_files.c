// Debian's Node and Wine find some of their files by a path that is compiled in, COMPILED_IN. In a private toolchain they
// lie below ROOT, so these programs are linked with this file, whose functions come before the C library's.
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_BYTES 4096

static const char* moved(const char* path, char* buffer) {
  if (strncmp(path, COMPILED_IN, sizeof COMPILED_IN - 1) != 0 || strlen(path) + sizeof ROOT > PATH_BYTES) return path;
  return strcat(strcpy(buffer, ROOT), path);
}

static int mode_of(int flags, va_list arguments) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, int) : 0; }

#define DEFINE_OPEN(name)                                                              \
  int name(const char* path, int flags, ...) {                                         \
    char buffer[PATH_BYTES];                                                           \
    va_list arguments;                                                                 \
    va_start(arguments, flags);                                                        \
    const int mode = mode_of(flags, arguments);                                        \
    va_end(arguments);                                                                 \
    return openat(AT_FDCWD, moved(path, buffer), flags, mode);                         \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

#define DEFINE_STAT(name, type, flags)                                                 \
  int name(const char* path, struct type* status) {                                    \
    char buffer[PATH_BYTES];                                                           \
    return fstatat(AT_FDCWD, moved(path, buffer), (struct stat*)status, flags);        \
  }
DEFINE_STAT(stat, stat, 0)
DEFINE_STAT(stat64, stat64, 0)
DEFINE_STAT(lstat, stat, AT_SYMLINK_NOFOLLOW)
DEFINE_STAT(lstat64, stat64, AT_SYMLINK_NOFOLLOW)

int access(const char* path, int mode) {
  char buffer[PATH_BYTES];
  return faccessat(AT_FDCWD, moved(path, buffer), mode, 0);
}

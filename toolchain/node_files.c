// Debian's Node reads some of its built-in modules from /usr/share/nodejs, a path that is compiled in. In a private
// toolchain they lie below ROOT, so its Node is linked with this file, whose open() comes before the C library's.
#include <fcntl.h>
#include <stdarg.h>
#include <string.h>

static const char kCompiledIn[] = "/usr/share/nodejs/";

static int open_below_root(const char* path, int flags, int mode) {
  char moved[4096] = ROOT;
  if (strncmp(path, kCompiledIn, sizeof kCompiledIn - 1) == 0 && strlen(path) + sizeof ROOT <= sizeof moved) {
    path = strcat(moved, path);
  }
  return openat(AT_FDCWD, path, flags, mode);
}

static int mode_of(int flags, va_list arguments) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(arguments, int) : 0; }

#define DEFINE_OPEN(name)                                                              \
  int name(const char* path, int flags, ...) {                                         \
    va_list arguments;                                                                 \
    va_start(arguments, flags);                                                        \
    const int mode = mode_of(flags, arguments);                                        \
    va_end(arguments);                                                                 \
    return open_below_root(path, flags, mode);                                         \
  }
DEFINE_OPEN(open)
DEFINE_OPEN(open64)

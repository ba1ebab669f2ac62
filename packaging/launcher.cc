// bin/tern of the archive that runs on any Linux: starts the real program with the archive's own loader and libraries.
//
// A program's loader must be an absolute path, but this archive may be unpacked anywhere. So this program needs no
// loader: it is static, uses no library, finds its own folder (through any symbolic links) and executes
//   TOP/libexec/tern --argv0 ARGV0 --library-path TOP/lib[:$LD_LIBRARY_PATH] TOP/libexec/tern-program ARGUMENTS...
// where libexec/tern is a link to the loader in lib/, and the name that ps and top show. For the program,
// /proc/self/exe is then the loader. It is one folder below TOP, like bin/tern, so ../share is right for both. System
// drivers are searched with the same path: libraries that are in TOP/lib are taken from there.
#include <linux/fcntl.h>
#include <linux/limits.h>
#include <sys/syscall.h>

namespace {

constexpr long kLibraryPathMax = PATH_MAX + 131072;  // the kernel allows 128 KiB for one variable
constexpr long kArgumentsMax = 65536;

char top[PATH_MAX];
char loader[PATH_MAX + 32];
char program[PATH_MAX + 32];
char library_path[kLibraryPathMax];
char* arguments[kArgumentsMax + 8];

#ifdef __aarch64__
long call(long number, long a, long b, long c, long d = 0) {
  register long x8 asm("x8") = number;
  register long x0 asm("x0") = a;
  register long x1 asm("x1") = b;
  register long x2 asm("x2") = c;
  register long x3 asm("x3") = d;
  asm volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3) : "memory");
  return x0;
}
#else
long call(long number, long a, long b, long c, long d = 0) {
  long result;
  register long r10 asm("r10") = d;
  asm volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10) : "rcx", "r11", "memory");
  return result;
}
#endif

long address(const void* pointer) { return reinterpret_cast<long>(pointer); }

long length(const char* text) {
  long n = 0;
  while (text[n] != '\0') ++n;
  return n;
}

// Appends to the text that ends at `end`, and returns its new end. The buffers above are large enough for any text.
char* append(char* end, const char* text) {
  while (*text != '\0') *end++ = *text++;
  *end = '\0';
  return end;
}

[[noreturn]] void leave(int status) {
  while (true) call(SYS_exit_group, status, 0, 0);
}

[[noreturn]] void stop(const char* message) {
  call(SYS_write, 2, address(message), length(message));
  leave(1);
}

const char* variable(char** environment, const char* name) {
  const long n = length(name);
  for (; *environment != nullptr; ++environment) {
    long same = 0;
    while (same < n && (*environment)[same] == name[same]) ++same;
    if (same == n && (*environment)[n] == '=') return *environment + n + 1;
  }
  return "";
}

// Sets `top` to the parent of the folder that this program is in.
void find_top() {
  const long size = call(SYS_readlinkat, AT_FDCWD, address("/proc/self/exe"), address(top), sizeof top - 1);
  if (size <= 0) stop("tern: /proc/self/exe cannot be read, so Tern does not know where it lies; is /proc mounted?\n");
  long end = size;
  for (int parents = 0; parents < 2; ++parents) {
    while (end > 0 && top[end - 1] != '/') --end;
    if (end > 0) --end;
  }
  top[end] = '\0';
}

}  // namespace

extern "C" [[noreturn]] void launch(long* stack) {
  const long n_arguments = stack[0];
  char** given = reinterpret_cast<char**>(stack + 1);
  char** environment = given + n_arguments + 1;
  if (n_arguments > kArgumentsMax) stop("tern: too many arguments\n");
  find_top();
  append(append(loader, top), "/libexec/tern");
  append(append(program, top), "/libexec/tern-program");
  char* end = append(append(library_path, top), "/lib");
  if (const char* more = variable(environment, "LD_LIBRARY_PATH"); *more != '\0') append(append(end, ":"), more);

  char** next = arguments;
  *next++ = loader;
  *next++ = const_cast<char*>("--argv0");
  *next++ = n_arguments > 0 ? given[0] : const_cast<char*>("tern");
  *next++ = const_cast<char*>("--library-path");
  *next++ = library_path;
  *next++ = program;
  for (long i = 1; i < n_arguments; ++i) *next++ = given[i];
  *next = nullptr;
  call(SYS_execve, address(loader), address(arguments), address(environment));
  stop("tern: libexec/tern beside bin/ cannot be started; unpack the whole archive again\n");
}

// Passes the kernel's initial stack on: the number of arguments, the arguments, the environment.
#ifdef __aarch64__
asm(".globl _start\n_start:\n  mov x29, #0\n  mov x30, #0\n  mov x0, sp\n  b launch\n");
#else
asm(".globl _start\n_start:\n  xor %ebp, %ebp\n  mov %rsp, %rdi\n  and $-16, %rsp\n  call launch\n");
#endif

#include "cli/support/run_quietly.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>

#include "base/result.h"

extern char** environ;  // macOS declares it nowhere

namespace tern::cli {

Result<double> run_quietly(const std::string& program, const std::vector<std::string>& arguments) {
  std::vector<char*> pointers;
  for (const std::string& argument : arguments) pointers.push_back(const_cast<char*>(argument.c_str()));
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  for (const int output : {STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&files, output, "/dev/null", O_WRONLY, 0);
  }
  const auto start = std::chrono::steady_clock::now();
  pid_t child = 0;
  const int error = posix_spawn(&child, program.c_str(), &files, nullptr, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&files);
  if (error != 0) return fail(ErrorCode::kIo, "{}: cannot be started: {}", program, std::strerror(error));
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return fail(ErrorCode::kIo, "{}: cannot be waited for: {}", program, std::strerror(errno));
  }
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return fail(ErrorCode::kIo, "{}: it failed", program);
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Result<double> run_self_quietly(const std::vector<std::string>& arguments) {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string command_line{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> words = command_before_arguments(command_line);
  words.insert(words.end(), arguments.begin(), arguments.end());
  return run_quietly("/proc/self/exe", words);
}

}  // namespace tern::cli

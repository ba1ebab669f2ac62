#include "base/platform/sandbox.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>

#include "base/files/draft_file.h"

namespace fs = std::filesystem;

namespace tern::platform {
namespace {

class SandboxTest : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(folder_ / "read");
    fs::create_directories(folder_ / "write");
    for (const char* name : {"read/model", "write/old", "secret"}) std::ofstream(folder_ / name) << name;
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const char* name) const { return (folder_ / name).string(); }

  // Runs in a process of its own, where the sandbox stays.
  void inside(const SandboxRules& rules, const std::function<bool()>& holds) const {
    EXPECT_EXIT(
        {
          const auto entered = enter_sandbox(rules);
          if (!entered || !entered->in_force.contains("seccomp")) std::_Exit(77);
          if (needs_landlock_ && !entered->in_force.contains("Landlock")) std::_Exit(77);
          std::_Exit(holds() ? 0 : 1);
        },
        [](int status) { return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77); }, "");
  }

  static int error_of(int result) { return result < 0 ? errno : 0; }

  const fs::path folder_ = fs::path(testing::TempDir()) / ("sandbox_" + std::to_string(::getpid()));
  bool needs_landlock_ = false;
};

TEST_F(SandboxTest, FilesThatAreNotNamedCannotBeOpened) {
  needs_landlock_ = true;
  const SandboxRules rules{
      .reads = {path("read"), "/proc", "/nowhere"}, .writes = {path("write")}, .devices = {"/dev/null"}};
  inside(rules, [&] {
    return error_of(::open(path("read/model").c_str(), O_RDONLY)) == 0 &&
           error_of(::open(path("read/model").c_str(), O_RDWR)) == EACCES &&
           error_of(::open(path("read/new").c_str(), O_WRONLY | O_CREAT, 0600)) == EACCES &&
           error_of(::open(path("secret").c_str(), O_RDONLY)) == EACCES &&
           error_of(::unlink(path("secret").c_str())) == EACCES && error_of(::open("/dev/null", O_RDWR)) == 0;
  });
}

TEST_F(SandboxTest, DraftsAreWrittenWhereWritingIsAllowed) {
  needs_landlock_ = true;
  for (const bool is_named : {false, true}) {
    inside({.reads = {"/proc"}, .writes = {path("write")}}, [&] {
      auto draft = DraftFile::create(path("write/old"), {.is_named = is_named});
      return draft && draft->file().write(std::as_bytes(std::span("new", 3))) && draft->keep() &&
             fs::file_size(path("write/old")) == 3;
    });
  }
}

TEST_F(SandboxTest, ProgramsAndOtherProcessesAreOutOfReach) {
  inside({.reads = {"/"}}, [] {
    char* const words[] = {nullptr};
    return error_of(::execve("/bin/true", words, words)) == EPERM &&
           error_of(static_cast<int>(::ptrace(PTRACE_ATTACH, ::getppid(), nullptr, nullptr))) == EPERM;
  });
}

TEST_F(SandboxTest, TheNetworkIsThereOnlyForThoseThatWantIt) {
  inside({.reads = {"/"}}, [] {
    return error_of(::socket(AF_INET, SOCK_STREAM, 0)) == EACCES &&
           error_of(::socket(AF_INET6, SOCK_DGRAM, 0)) == EACCES && error_of(::socket(AF_UNIX, SOCK_STREAM, 0)) == 0 &&
           error_of(::socket(AF_PACKET, SOCK_RAW, 0)) == EACCES;
  });
  needs_landlock_ = true;
  inside({.reads = {"/"}, .may_listen = true, .port = 18099}, [] {
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in at = {
        .sin_family = AF_INET, .sin_port = htons(18098), .sin_addr = {htonl(INADDR_LOOPBACK)}, .sin_zero = {}};
    const auto* address = reinterpret_cast<const sockaddr*>(&at);
    const bool refuses =
        error_of(::bind(fd, address, sizeof(at))) == EACCES && error_of(::connect(fd, address, sizeof(at))) == EACCES;
    at.sin_port = htons(18099);
    return refuses && error_of(::bind(fd, address, sizeof(at))) != EACCES;
  });
}

}  // namespace
}  // namespace tern::platform

// The main function of every test program. Tests get an empty temporary folder of their process, which is removed at
// the end. CTest runs each test in its own process, in parallel, and no two may write the same file.

#include <gtest/gtest.h>
#include <stdlib.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

namespace {

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "tern_test_XXXXXX").string();
    if (!::mkdtemp(name.data())) {
      std::perror(name.c_str());
      std::exit(1);
    }
    path_ = name;
    for (const char* variable : {"TMPDIR", "TEST_TMPDIR"}) ::setenv(variable, name.c_str(), 1);
  }
  ~TemporaryFolder() {
    if (::getpid() != owner_) return;
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

 private:
  std::filesystem::path path_;
  const pid_t owner_ = ::getpid();
};

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  // CTest asks for the list of tests; that writes no files.
  if (GTEST_FLAG_GET(list_tests)) return RUN_ALL_TESTS();
  const TemporaryFolder folder;
  return RUN_ALL_TESTS();
}

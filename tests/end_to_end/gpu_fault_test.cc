// GPU problems from the outside: no driver, wrong names, edited kernels.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> write_story(const std::vector<std::string>& more = {}) {
  std::vector<std::string> arguments = {"run", "-m",        default_model(), "-b", "webgpu", "--temp", "0", "-n", "12",
                                        "-p",  kClearStart, "--gpu-validate"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

class GpuFault : public testing::Test {
 protected:
  void SetUp() override {
    if (run_tern({"devices"}).out.find("shader-f16") == std::string::npos) GTEST_SKIP() << "there is no GPU";
  }
  // Path of a kernel's file in a folder of kernels, by the start of its name.
  static std::string kernel_file(const std::string& folder, const std::string& name) {
    for (const auto& entry : fs::directory_iterator(folder)) {
      if (entry.path().filename().string().starts_with(name + "-")) return entry.path();
    }
    ADD_FAILURE() << "no kernel " << name << " in " << folder;
    return {};
  }
  static void replace_in(const std::string& path, const std::string& from, const std::string& to) {
    std::string text = read_file(path);
    const size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from << " is not in " << path;
    text.replace(at, from.size(), to);
    std::ofstream(path, std::ios::binary) << text;
  }
};

// The Vulkan loader prints messages of its own; Tern's is the last line.
TEST(GpuMissing, SaysWhatToInstallInOneLine) {
  const std::vector<std::pair<std::string, std::string>> nowhere = {{"VK_DRIVER_FILES", "/nowhere.json"},
                                                                    {"VK_ICD_FILENAMES", "/nowhere.json"}};
  const RunResult run = run_tern(write_story(), {.variables = nowhere});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.out, "");
  const size_t last = run.err.find("tern: ");
  ASSERT_NE(last, std::string::npos) << run.err;
  EXPECT_EQ(std::ranges::count(run.err.substr(last), '\n'), 1) << run.err;
  for (const char* words : {"no GPU", "install the Vulkan driver", "mesa-vulkan-drivers"}) {
    EXPECT_NE(run.err.find(words, last), std::string::npos) << run.err;
  }
  const RunResult devices = run_tern({"devices"}, {.variables = nowhere});
  EXPECT_EQ(devices.exit_code, 0);
  EXPECT_NE(devices.out.find("mesa-vulkan-drivers"), std::string::npos) << devices.out;
}

TEST_F(GpuFault, AnUnknownGpuIsAnsweredWithTheList) {
  EXPECT_TRUE(
      failed_with(run_tern(write_story({"--gpu", "voodoo"})), 1, {"no GPU is called 'voodoo'", "there are: 0 ("}));
  EXPECT_TRUE(failed_with(run_tern(write_story({"--gpu", "99"})), 1, {"'99'"}));
}

TEST_F(GpuFault, EveryFeatureCanBeLeftOut) {
  const RunResult all = run_tern(write_story());
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_FALSE(all.out.empty());
  for (const char* without : {"f16", "subgroups", "subgroup-matrix", "dot4", "timestamps", "limits", "serial",
                              "f16,subgroups,subgroup-matrix,dot4,timestamps,limits"}) {
    const RunResult result = run_tern(write_story({"--gpu-without", without}));
    EXPECT_EQ(result.exit_code, 0) << without << result.err;
    EXPECT_EQ(result.out, all.out) << without;
  }
  EXPECT_EQ(run_tern(write_story({"--no-fuse"})).out, all.out);
}

TEST_F(GpuFault, EditedKernelsAreUsed) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path("wgsl");
  const RunResult plain = run_tern(write_story());
  EXPECT_EQ(run_tern(write_story({"--wgsl-dir", folder})).out, plain.out);
  const std::string select = kernel_file(folder, "argmax_next");
  const std::string original = read_file(select);

  replace_in(select, "@compute", "// a comment\n@compute");
  EXPECT_EQ(run_tern(write_story({"--wgsl-dir", folder})).out, plain.out) << "a comment changes nothing";
  EXPECT_NE(read_file(select).find("// a comment"), std::string::npos) << "the edited file must stay as it is";

  // Every token is the same, but only if the edited kernels run. On GPUs other kernels choose and embed the token.
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("argmax_next-")) replace_in(entry.path(), "tokens[wg.y] = token", "tokens[wg.y] = 300u");
    if (name.starts_with("argmax_embed-")) replace_in(entry.path(), "let token = ", "let token = 300u + 0u * ");
  }
  const RunResult edited = run_tern(write_story({"--wgsl-dir", folder}));
  EXPECT_EQ(edited.exit_code, 0) << edited.err;
  EXPECT_NE(edited.out, plain.out);

  fs::remove(select);
  EXPECT_EQ(run_tern(write_story({"--wgsl-dir", folder})).out, plain.out);
  EXPECT_EQ(read_file(select), original) << "a removed file is written again";
}

TEST_F(GpuFault, ASyntaxErrorIsShownWithFileAndLine) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path("wgsl");
  ASSERT_EQ(run_tern(write_story({"--wgsl-dir", folder})).exit_code, 0);
  const std::string embed = kernel_file(folder, "embed");
  replace_in(embed, "@compute", "let oops = ;\n@compute");
  const std::string text = read_file(embed);
  const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(text.find("oops")), '\n');
  const RunResult result = run_tern(write_story({"--wgsl-dir", folder}));
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.err.find(embed), std::string::npos) << result.err;
  EXPECT_NE(result.err.find(std::to_string(line)), std::string::npos) << result.err;
}

// Whatever the file contains, the answer is one line. Nothing crashes, with or without --gpu-validate.
TEST_F(GpuFault, ABrokenKernelFileIsAnError) {
  const ScratchFolder scratch;
  const std::string folder = scratch.path("wgsl");
  std::vector<std::string> arguments = write_story({"--wgsl-dir", folder, "--gpu", "0"});  // named: no warning
  std::erase(arguments, "--gpu-validate");
  ASSERT_EQ(run_tern(arguments).exit_code, 0);
  const std::string embed = kernel_file(folder, "embed");
  const std::string original = read_file(embed);
  const auto fails_with = [&](const std::string& text, const char* words) {
    std::ofstream(embed, std::ios::binary | std::ios::trunc) << text;
    EXPECT_TRUE(failed_with(run_tern(arguments), 1, {embed, words}));
  };
  fails_with("", "empty");
  fails_with("// no entry point\n", "kernel embed");
  std::string other_group = original;
  other_group.replace(other_group.find("@group(0)"), 9, "@group(1)");
  fails_with(other_group, "kernel embed");
  fs::remove(embed);
  fs::create_directory(embed);
  EXPECT_TRUE(failed_with(run_tern(arguments), 1, {embed, "not a file"}));
}

TEST_F(GpuFault, AFolderThatCannotBeWrittenIsAnError) {
  const ScratchFolder scratch;
  const std::string file = scratch.write("file", "not a folder");
  const RunResult result = run_tern(write_story({"--wgsl-dir", file + "/wgsl"}));
  EXPECT_EQ(result.exit_code, 1) << result.err;
  EXPECT_NE(result.err.find("cannot write the kernel"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace tern::test

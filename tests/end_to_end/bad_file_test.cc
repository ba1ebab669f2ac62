// Every file that is not a complete model is refused with one line that names the file and says what is wrong with it.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <functional>

#include "end_to_end/corrupt_gguf.h"
#include "end_to_end/run_program.h"

namespace tern::test {
namespace {

const std::string& good_bytes() {
  static const std::string bytes = read_file(default_model());
  return bytes;
}

RunResult run_model(const std::string& path) {
  return run_tern({"run", "-m", path, "-p", "Hello", "-n", "1", "--temp", "0"});
}

struct Case {
  const char* name;
  std::function<std::string(const GgufImage& model)> make;
  std::vector<std::string> words;  // that the message must contain, besides the path
};

// A copy of the model with `change` applied.
std::function<std::string(const GgufImage&)> changed(std::function<void(GgufImage&)> change) {
  return [change = std::move(change)](const GgufImage& model) {
    GgufImage copy = model;
    change(copy);
    return copy.bytes();
  };
}

// The model's bytes with `patch` written at `at`.
std::function<std::string(const GgufImage&)> overwritten(size_t at, std::string patch) {
  return [at, patch = std::move(patch)](const GgufImage&) { return patched(good_bytes(), at, patch); };
}

// Offsets of GGUF's header: magic, version, number of tensors, number of keys, first key's length.
constexpr size_t kMagic = 0, kVersion = 4, kTensorCount = 8, kKeyCount = 16, kFirstKey = 24;

const Case kCases[] = {
    {"magic_flipped", overwritten(kMagic, "FUGG"), {"GGUF"}},
    {"version_1", overwritten(kVersion, le<uint32_t>(1)), {"version"}},
    {"version_4", overwritten(kVersion, le<uint32_t>(4)), {"version"}},
    {"version_big_endian", overwritten(kVersion, std::string("\0\0\0\3", 4)), {"endian"}},
    {"tensor_count_2_to_60", overwritten(kTensorCount, le<uint64_t>(1ull << 60)), {"tensors"}},
    {"key_count_2_to_60", overwritten(kKeyCount, le<uint64_t>(1ull << 60)), {}},
    {"string_of_2_to_63_bytes", overwritten(kFirstKey, le<uint64_t>(1ull << 63)), {}},
    {"overlapping_tensors",
     changed([](GgufImage& m) { m.tensor("blk.0.attn_k.weight").offset = m.tensor("blk.0.attn_q.weight").offset; }),
     {"blk.0.attn_"}},
    {"offset_past_the_end",
     changed([](GgufImage& m) { m.tensor("blk.9.ffn_down.weight").offset = 1ull << 40; }),
     {"blk.9.ffn_down.weight"}},
    {"offset_overflows",
     changed([](GgufImage& m) { m.tensor("blk.9.ffn_down.weight").offset = UINT64_MAX - 31; }),
     {"blk.9.ffn_down.weight"}},
    {"offset_not_aligned",
     changed([](GgufImage& m) { m.tensor("blk.9.ffn_down.weight").offset += 1; }),
     {"blk.9.ffn_down.weight"}},
    {"tensor_missing",
     changed([](GgufImage& m) { m.remove_tensor("blk.3.attn_sub_norm.weight"); }),
     {"blk.3.attn_sub_norm.weight"}},
    {"tensor_twice",
     changed([](GgufImage& m) { m.tensor("blk.3.attn_sub_norm.weight").name = "blk.3.attn_norm.weight"; }),
     {"blk.3.attn_norm.weight"}},
    {"shape_turned",
     changed([](GgufImage& m) { m.tensor("blk.0.ffn_down.weight").dims = {512, 1536}; }),
     {"blk.0.ffn_down.weight"}},
    {"shape_of_zero",
     changed([](GgufImage& m) { m.tensor("blk.0.ffn_down.weight").dims = {1536, 0}; }),
     {"blk.0.ffn_down.weight"}},
    {"shape_overflows",
     changed([](GgufImage& m) { m.tensor("blk.0.ffn_down.weight").dims = {1ull << 62, 8}; }),
     {"blk.0.ffn_down.weight"}},
    {"width_not_a_multiple_of_128",
     changed([](GgufImage& m) { m.tensor("blk.0.attn_q.weight").dims = {500, 512}; }),
     {"blk.0.attn_q.weight"}},
    {"type_wrong", changed([](GgufImage& m) { m.tensor("token_embd.weight").type = 36; }), {"token_embd.weight"}},
    {"type_unknown",
     changed([](GgufImage& m) { m.tensor("blk.0.attn_q.weight").type = 99; }),
     {"blk.0.attn_q.weight", "99"}},
    {"architecture_unknown", changed([](GgufImage& m) { m.set_string("general.architecture", "gpt-j"); }), {"gpt-j"}},
    {"architecture_missing",
     changed([](GgufImage& m) { m.remove_keys("general.architecture"); }),
     {"general.architecture"}},
    {"key_missing", changed([](GgufImage& m) { m.remove_keys("bitnet-b1.58.block_count"); }), {"block_count"}},
    {"key_of_another_type",
     changed([](GgufImage& m) { m.set_string("bitnet-b1.58.block_count", "ten"); }),
     {"block_count"}},
    {"heads_do_not_divide",
     changed([](GgufImage& m) { m.set_u32("bitnet-b1.58.attention.head_count", 7); }),
     {"head_count"}},
    {"heads_of_zero", changed([](GgufImage& m) { m.set_u32("bitnet-b1.58.attention.head_count", 0); }), {"head_count"}},
    {"block_count_absurd",
     changed([](GgufImage& m) { m.set_u32("bitnet-b1.58.block_count", 0xFFFFFFFF); }),
     {"block_count"}},
    {"key_with_line_breaks",
     changed([](GgufImage& m) { m.set_string("general.architecture", "two\nlines\x1b[2J"); }),
     {"two"}},
};

class BadFile : public testing::TestWithParam<Case> {};

TEST_P(BadFile, IsRefusedInOneLine) {
  const ScratchFolder folder;
  const std::string path = folder.write("model.gguf", GetParam().make(GgufImage::parse(good_bytes())));
  std::vector<std::string> words = GetParam().words;
  words.push_back(path);
  EXPECT_TRUE(failed_with(run_model(path), 1, words));
}

INSTANTIATE_TEST_SUITE_P(All, BadFile, testing::ValuesIn(kCases),
                         [](const auto& test) { return std::string(test.param.name); });

TEST(BadFile, EditorLeavesAGoodFileGood) {
  EXPECT_TRUE(GgufImage::parse(good_bytes()).bytes() == good_bytes());
  const ScratchFolder folder;
  const RunResult result = run_model(folder.write("model.gguf", GgufImage::parse(good_bytes()).bytes()));
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.err, "");
}

TEST(BadFile, CutOffAnywhere) {
  const ScratchFolder folder;
  for (size_t sixteenth = 0; sixteenth < 16; ++sixteenth) {
    const std::string path = folder.write("cut.gguf", good_bytes().substr(0, good_bytes().size() * sixteenth / 16));
    EXPECT_TRUE(failed_with(run_model(path), 1, {path})) << sixteenth << "/16";
    EXPECT_TRUE(failed_with(run_tern({"inspect", path}), 1, {path})) << sixteenth << "/16";
  }
}

TEST(BadFile, CutOffInTheHeader) {
  const ScratchFolder folder;
  for (const size_t length : {1, 3, 4, 7, 8, 15, 16, 23, 24, 31, 32, 100, 1000, 100000, 276800}) {
    const std::string path = folder.write("cut.gguf", good_bytes().substr(0, length));
    EXPECT_TRUE(failed_with(run_model(path), 1, {path})) << length << " bytes";
  }
}

TEST(BadFile, CutOffByOneByte) {
  const ScratchFolder folder;
  const std::string path = folder.write("cut.gguf", good_bytes().substr(0, good_bytes().size() - 1));
  EXPECT_TRUE(failed_with(run_model(path), 1, {path, "blk.9.ffn_down.weight"}));
}

TEST(BadFile, IsNoFileAtAll) {
  const ScratchFolder folder;
  EXPECT_TRUE(failed_with(run_model(folder.path("absent.gguf")), 1, {folder.path("absent.gguf")}));
  EXPECT_TRUE(failed_with(run_model(folder.path("")), 1, {folder.path(""), "directory"}));
}

TEST(BadFile, CannotBeOpened) {
  const ScratchFolder folder;
  const std::string path = folder.path("socket");
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  std::memcpy(address.sun_path, path.data(), path.size());
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_TRUE(failed_with(run_model(path), 1, {path}));
  ::close(socket);
}

TEST(BadFile, MayNotBeRead) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may read everything";
  const ScratchFolder folder;
  const std::string path = folder.write("secret.gguf", good_bytes());
  ::chmod(path.c_str(), 0);
  EXPECT_TRUE(failed_with(run_model(path), 1, {path, "Permission denied"}));
}

TEST(BadFile, IsSomethingElse) {
  const ScratchFolder folder;
  const std::string text = folder.write("readme.txt", "This is no model.\n");
  for (const char* command : {"run", "bench", "chat", "validate"}) {
    std::vector<std::string> arguments = {command, "-m", text};
    if (std::string(command) == "run") arguments.insert(arguments.end(), {"-p", "x"});
    EXPECT_TRUE(failed_with(run_tern(arguments), 1, {text})) << command;
  }
  EXPECT_TRUE(failed_with(run_tern({"tokenize", "-m", text, "x"}), 1, {text}));
  EXPECT_TRUE(failed_with(run_tern({"inspect", text}), 1, {text}));
}

TEST(MissingTokenizer, TextIsRefusedAndIdsWork) {
  GgufImage model = GgufImage::parse(good_bytes());
  model.remove_keys("tokenizer.");
  const ScratchFolder folder;
  const std::string path = folder.write("model.gguf", model.bytes());
  EXPECT_TRUE(failed_with(run_model(path), 1, {path, "tokenizer"}));
  EXPECT_TRUE(failed_with(run_tern({"tokenize", "-m", path, "x"}), 1, {path, "tokenizer"}));
  EXPECT_TRUE(failed_with(run_tern({"chat", "-m", path}), 1, {path, "tokenizer"}));
  const RunResult logits = run_tern({"logits", "-m", path, "--tokens", "1,2,3", "-o", folder.path("logits.npy")});
  EXPECT_EQ(logits.exit_code, 0) << logits.err;
  EXPECT_EQ(read_file(folder.path("logits.npy")).substr(0, 6), "\x93NUMPY");
}

}  // namespace
}  // namespace tern::test

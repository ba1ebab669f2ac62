#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "hub/pull_test_support.h"

namespace tern::hub {
namespace {

namespace fs = std::filesystem;

TEST_F(PullTest, BuildsTheCacheOfHuggingFaceHub) {
  const auto path = pull();
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(*path, repo("snapshots/" + hub_.commit + "/model-i2_s.gguf"));
  EXPECT_EQ(fs::read_symlink(*path), "../../blobs/" + hub_.digest("model-i2_s.gguf"));
  EXPECT_TRUE(file_bytes(*path) == hub_.files["model-i2_s.gguf"].bytes);
  EXPECT_EQ(file_bytes(repo("refs/main")), hub_.commit);
  EXPECT_TRUE(fs::exists(folder_.path("hub/.locks/models--owner--model/" + hub_.digest("model-i2_s.gguf") + ".lock")));
  EXPECT_EQ(partial_files(), 0u);
}

TEST_F(PullTest, FetchesALargeFileInParts) {
  hub_.files["model-i2_s.gguf"].bytes = test_bytes(9'000'000);
  const auto path = pull();
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_TRUE(file_bytes(*path) == hub_.files["model-i2_s.gguf"].bytes);
  EXPECT_EQ(hub_.server().count("GET", "/resolve/"), 2u);
}

TEST_F(PullTest, ChecksSmallFilesByTheirGitDigest) {
  const auto path = pull("owner/model:README.md");
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(file_bytes(*path), "# A model\n");
  EXPECT_EQ(fs::read_symlink(*path).filename().string().size(), 40u);
  fs::remove_all(folder_.path("hub"));
  hub_.files["README.md"].announced_digest = std::string(40, 'a');
  EXPECT_NE(failure("owner/model:README.md").find("the checksum is not the one that the hub announced"),
            std::string::npos);
}

TEST_F(PullTest, AsksForTheListingOnlyWhenAllIsThere) {
  ASSERT_TRUE(pull());
  const size_t before = requests();
  ASSERT_TRUE(pull());
  EXPECT_EQ(requests() - before, 1u);
  options_.prefer_cached = true;
  ASSERT_TRUE(pull());
  ASSERT_TRUE(pull("owner/model:i2_s"));
  EXPECT_EQ(requests() - before, 1u);
}

TEST_F(PullTest, TakesWhatHuggingFaceHubDownloaded) {
  const std::string blob(64, 'e');  // not checked again: it is trusted like any file of the user
  fs::create_directories(repo("snapshots/" + hub_.commit));
  folder_.write("hub/models--owner--model/blobs/" + blob, "GGUF");
  folder_.write("hub/models--owner--model/refs/main", hub_.commit);
  fs::create_symlink("../../blobs/" + blob, repo("snapshots/" + hub_.commit + "/x.gguf"));
  options_.offline = true;
  const auto path = pull();
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(file_bytes(*path), "GGUF");
  EXPECT_EQ(requests(), 0u);
}

TEST_F(PullTest, BringsANewerVersionAndKeepsWhatDidNotChange) {
  ASSERT_TRUE(pull());
  const std::string old_commit = hub_.commit;
  hub_.commit = std::string(40, 'b');
  hub_.files["model-i2_s.gguf"].bytes = test_bytes(1000, 7);
  options_.prefer_cached = true;
  EXPECT_TRUE(pull().value().contains(old_commit));
  options_.prefer_cached = false;
  const auto path = pull();
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(file_bytes(*path).size(), 1000u);
  EXPECT_EQ(file_bytes(repo("refs/main")), hub_.commit);
  hub_.commit = std::string(40, 'c');
  const size_t before = hub_.server().count("GET", "/resolve/");
  ASSERT_TRUE(pull());  // another commit with the same file
  EXPECT_EQ(hub_.server().count("GET", "/resolve/"), before);
}

TEST_F(PullTest, KeepsTheOldVersionWhereTheNewOneFails) {
  const std::string old_path = pull().value();
  hub_.commit = std::string(40, 'b');
  hub_.files["model-i2_s.gguf"] = {.bytes = test_bytes(1000, 7), .announced_digest = std::string(64, '0')};
  EXPECT_FALSE(pull());
  options_.offline = true;
  EXPECT_EQ(pull(), old_path);
}

TEST_F(PullTest, DeletesWhatHasTheWrongChecksum) {
  hub_.files["model-i2_s.gguf"].announced_digest = std::string(64, '0');
  const auto path = pull();
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code, ErrorCode::kCorruption);
  EXPECT_NE(path.error().message.find("model-i2_s.gguf: the checksum is not the one that the hub announced"),
            std::string::npos);
  EXPECT_EQ(partial_files(), 0u);
  EXPECT_TRUE(fs::is_empty(repo("blobs")));
  EXPECT_FALSE(fs::exists(repo("snapshots")));
}

TEST_F(PullTest, DeletesWhatHasTheWrongSize) {
  hub_.files["model-i2_s.gguf"].announced_size = 299'999;
  const auto path = pull();
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code, ErrorCode::kCorruption);
  EXPECT_NE(path.error().message.find("sends 300000 bytes, and its listing says 299999"), std::string::npos);
  EXPECT_EQ(partial_files(), 0u);
}

TEST_F(PullTest, FetchesAnewWhatAnEarlierRunLeftDamaged) {
  const std::string stem = "hub/models--owner--model/blobs/" + hub_.digest("model-i2_s.gguf") + ".tern";
  folder_.write(stem + ".incomplete", std::string(300'000, '?'));
  folder_.write(stem + ".state", "tern-download 300000 8388608\n0 300000\n");
  std::string notes;
  options_.on_note = [&](std::string_view note) { notes += std::string(note) + "\n"; };
  const auto path = pull();
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_TRUE(file_bytes(*path) == hub_.files["model-i2_s.gguf"].bytes);
  EXPECT_NE(notes.find("damaged"), std::string::npos) << notes;
}

TEST_F(PullTest, FetchesAnewWhatIsTooShortInTheCache) {
  const auto path = pull();
  ASSERT_TRUE(path);
  fs::resize_file(repo("blobs/" + hub_.digest("model-i2_s.gguf")), 10);
  ASSERT_EQ(pull(), *path);
  EXPECT_TRUE(file_bytes(*path) == hub_.files["model-i2_s.gguf"].bytes);
}

TEST_F(PullTest, AsksEachFileWhereTheListingHasNamesOnly) {
  hub_.tells_blobs = false;
  hub_.cdn = "http://127.0.0.1:1";  // HEAD must not go there
  hub_.after = [&](const TestRequest& request, TestReply& reply) {
    if (request.method == "GET" && reply.status == 302) {
      reply = {.headers = {}, .body = hub_.files["model-i2_s.gguf"].bytes};
    }
  };
  const auto path = pull();
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(fs::read_symlink(*path).filename(), hub_.digest("model-i2_s.gguf"));
  EXPECT_EQ(hub_.server().count("HEAD", "/resolve/"), 1u);
}

TEST_F(PullTest, GivesAFolderWhereThereIsNoGguf) {
  hub_.files = {{"config.json", {.bytes = "{}", .is_large = false}},
                {"tokenizer.json", {.bytes = "{} ", .is_large = false}},
                {"model.safetensors", {.bytes = test_bytes(5000)}},
                {"pytorch_model.bin", {.bytes = test_bytes(5000)}}};
  const auto path = pull();
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(*path, repo("snapshots/" + hub_.commit));
  EXPECT_TRUE(fs::exists(*path + "/model.safetensors"));
  EXPECT_FALSE(fs::exists(*path + "/pytorch_model.bin"));
  options_.offline = true;
  EXPECT_EQ(pull(), *path);
  fs::remove(*path + "/model.safetensors");
  EXPECT_NE(failure().find("nothing to load"), std::string::npos) << failure();
}

TEST_F(PullTest, DoesNotTakePartOfAModelForAllOfIt) {
  hub_.files = {{"config.json", {.bytes = "{}", .is_large = false}},
                {"model.safetensors.index.json",
                 {.bytes = R"({"weight_map": {"a": "model-00001-of-00002.safetensors",
                                             "b": "model-00002-of-00002.safetensors"}})",
                  .is_large = false}},
                {"model-00001-of-00002.safetensors", {.bytes = test_bytes(100, 1)}},
                {"model-00002-of-00002.safetensors", {.bytes = test_bytes(100, 2)}}};
  const std::string path = pull().value();
  fs::remove(path + "/model-00002-of-00002.safetensors");
  options_.prefer_cached = true;
  EXPECT_EQ(pull(), path);
  EXPECT_EQ(file_bytes(path + "/model-00002-of-00002.safetensors"), test_bytes(100, 2));
  fs::remove(path + "/model-00002-of-00002.safetensors");
  options_.offline = true;
  EXPECT_NE(failure().find("only some of its files are in the cache"), std::string::npos) << failure();
}

TEST_F(PullTest, BringsAllPartsOfASplitFile) {
  hub_.files = {{"q/m-00001-of-00002.gguf", {.bytes = test_bytes(100, 1)}},
                {"q/m-00002-of-00002.gguf", {.bytes = test_bytes(100, 2)}}};
  const auto path = pull();
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_TRUE(path->ends_with("/q/m-00001-of-00002.gguf"));
  EXPECT_EQ(fs::read_symlink(*path), "../../../blobs/" + hub_.digest("q/m-00001-of-00002.gguf"));
  EXPECT_EQ(file_bytes(fs::path(*path).parent_path() / "m-00002-of-00002.gguf"), test_bytes(100, 2));
}

TEST_F(PullTest, SendsTheTokenAndExplainsWhereItIsMissing) {
  hub_.token = "hf_secret";
  EXPECT_NE(failure().find("no such repository"), std::string::npos);
  EXPECT_NE(failure().find("set HF_TOKEN"), std::string::npos);
  options_.token = "hf_wrong";
  EXPECT_NE(failure().find("token in use (HF_TOKEN) is not valid"), std::string::npos) << failure();
  options_.token = "hf_secret";
  EXPECT_TRUE(pull());
}

TEST_F(PullTest, ExplainsAGatedRepository) {
  hub_.before = [](const TestRequest& request) -> TestReply {
    if (!request.path.contains("/resolve/")) return {.status = 0};
    return {.status = 401, .headers = {{"X-Error-Code", "GatedRepo"}}};
  };
  EXPECT_NE(failure().find("accept the terms at " + hub_.url() + "/owner/model, then set HF_TOKEN"), std::string::npos)
      << failure();
  EXPECT_EQ(partial_files(), 0u);
}

TEST_F(PullTest, SaysWhatDoesNotExist) {
  EXPECT_NE(failure("owner/other").find("owner/other: there is no such repository at " + hub_.url()),
            std::string::npos);
  EXPECT_NE(failure("owner/model@dev").find("no branch, tag or commit 'dev'"), std::string::npos)
      << failure("owner/model@dev");
  EXPECT_NE(failure("owner/model:Q9").find("there are model-i2_s.gguf (300 kB"), std::string::npos)
      << failure("owner/model:Q9");
}

TEST_F(PullTest, UsesTheCacheWithAWarningWhereTheNetworkIsGone) {
  const std::string path = pull().value();
  hub_.before = [](const TestRequest&) -> TestReply { return {.status = 503, .headers = {{"Retry-After", "999999"}}}; };
  EXPECT_EQ(pull(), path);
  EXPECT_NE(warned.find("status 503 and asks to wait 278 hours; using what the cache has"), std::string::npos)
      << warned;
  EXPECT_NE(failure("owner/model:README.md").find("status 503"), std::string::npos);
}

TEST_F(PullTest, SaysHowLongAHostWantsToBeLeftAlone) {
  hub_.before = [](const TestRequest&) -> TestReply { return {.status = 429, .headers = {{"Retry-After", "3600"}}}; };
  EXPECT_EQ(failure(), hub_.url() + " answered with status 429 (too many requests) and asks to wait 60 minutes");
}

TEST_F(PullTest, NeedsNoNetworkOffline) {
  options_.offline = true;
  EXPECT_NE(failure().find("not in the cache"), std::string::npos);
  options_.offline = false;
  const std::string path = pull().value();
  const size_t before = requests();
  ::setenv("HF_HUB_OFFLINE", "1", 1);
  EXPECT_EQ(pull(), path);
  EXPECT_NE(failure("owner/model:Q2_0").find("HF_HUB_OFFLINE"), std::string::npos) << failure("owner/model:Q2_0");
  EXPECT_EQ(hub_list("owner/model", options_)->size(), 1u);
  EXPECT_EQ(requests(), before);
}

TEST_F(PullTest, RefusesAListingThatLeavesTheCache) {
  hub_.files["../../../outside.gguf"].bytes = "x";
  const auto path = pull();
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code, ErrorCode::kCorruption);
  EXPECT_FALSE(fs::exists(folder_.path("hub")));
}

TEST_F(PullTest, RefusesAFileThatTheDiskHasNoRoomFor) {
  hub_.files["model-i2_s.gguf"].announced_size = int64_t{1} << 47;
  const auto path = pull();
  ASSERT_FALSE(path);
  EXPECT_EQ(path.error().code, ErrorCode::kIo);
  EXPECT_NE(path.error().message.find("141 TB are needed and"), std::string::npos) << path.error().message;
  EXPECT_EQ(hub_.server().count("GET", "/resolve/"), 0u);
}

TEST_F(PullTest, RefusesSizesThatNoFileHas) {
  hub_.files["model-i2_s.gguf"].announced_size = std::numeric_limits<int64_t>::max();
  const auto large = pull();
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().code, ErrorCode::kCorruption);
  EXPECT_NE(large.error().message.find("which no file has"), std::string::npos) << large.error().message;
  hub_.files["model-i2_s.gguf"] = {.bytes = ""};
  const auto empty = pull();
  ASSERT_FALSE(empty);
  EXPECT_EQ(empty.error().code, ErrorCode::kCorruption);
  EXPECT_NE(empty.error().message.find("'model-i2_s.gguf' is empty there"), std::string::npos) << empty.error().message;
  EXPECT_EQ(hub_.server().count("GET", "/resolve/"), 0u);
}

TEST_F(PullTest, MayHappenTwiceAtOnce) {
  hub_.files["model-i2_s.gguf"].bytes = test_bytes(4'000'000);
  hub_.after = [](const TestRequest&, TestReply& reply) { reply.pause_ms = 2; };
  std::vector<Result<std::string>> paths(4, Result<std::string>(""));
  {
    std::vector<std::jthread> threads;
    for (auto& path : paths) threads.emplace_back([&] { path = pull(); });
  }
  for (const auto& path : paths) {
    ASSERT_TRUE(path) << path.error().message;
    EXPECT_EQ(*path, *paths[0]);
  }
  EXPECT_TRUE(file_bytes(*paths[0]) == hub_.files["model-i2_s.gguf"].bytes);
  EXPECT_EQ(hub_.server().count("GET", "/resolve/"), 1u);
  EXPECT_EQ(partial_files(), 0u);
}

TEST_F(PullTest, TellsHowFarItIs) {
  Progress last;
  uint64_t most = 0;
  options_.on_progress = [&](const Progress& progress) {
    last = progress;
    if (progress.what.starts_with("downloading")) most = std::max(most, progress.done);
  };
  ASSERT_TRUE(pull());
  EXPECT_EQ(most, 300'000u);
  EXPECT_EQ(last.what, "checking model-i2_s.gguf");
  EXPECT_EQ(last.done, last.total);
}

TEST_F(PullTest, TakesAnEmptyFile) {
  hub_.files["empty.txt"] = {.bytes = "", .is_large = false};
  const auto path = pull("owner/model:empty.txt");
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(fs::file_size(*path), 0u);
}

TEST_F(PullTest, ListsWhatThereIs) {
  const auto files = hub_list("owner/model", options_);
  ASSERT_TRUE(files) << files.error().message;
  ASSERT_EQ(files->size(), 2u);
  EXPECT_EQ(files->at(0).path, "README.md");
  EXPECT_EQ(files->at(1).bytes, 300'000u);
}

}  // namespace
}  // namespace tern::hub

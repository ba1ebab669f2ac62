// Saving, restoring and erasing conversations as clients of llama.cpp's server do.
#include "server/api/service/slots.h"

#include <filesystem>
#include <fstream>

#include "server/api/api_test_support.h"

namespace tern::server::test {
namespace {

using Tokens = std::vector<TokenId>;

Tokens of(const Slots& slots, int slot) { return {slots.tokens(slot).begin(), slots.tokens(slot).end()}; }

TEST(Slots, AConversationKeepsItsSlot) {
  Slots slots(3);
  slots.note(-1, {1, 2, 3});
  slots.note(-1, {9, 2, 3});
  slots.note(-1, {1, 2, 3, 4, 5});  // continues the first
  EXPECT_EQ(of(slots, 0), Tokens({1, 2, 3, 4, 5}));
  EXPECT_EQ(of(slots, 1), Tokens({9, 2, 3}));
  slots.note(-1, {1, 2, 7, 8});  // another conversation that begins alike
  EXPECT_EQ(of(slots, 2), Tokens({1, 2, 7, 8}));
  slots.note(-1, {5});  // replaces the least recently used slot
  EXPECT_EQ(of(slots, 1), Tokens({5}));
  slots.note(2, {1, 2, 3, 4, 5, 6});  // the requested slot
  EXPECT_EQ(of(slots, 2), Tokens({1, 2, 3, 4, 5, 6}));
}

class SlotFiles : public testing::Test {
 protected:
  SlotFiles() { std::filesystem::remove_all(folder_); }
  ~SlotFiles() override { std::filesystem::remove_all(folder_); }

  ApiOptions options(int64_t kept = int64_t{64} << 20) const {
    return {.scheduler = {.max_replies = 4, .max_kept_bytes = kept}, .slot_folder = folder_};
  }
  static RunningServer::Answer act(const RunningServer& server, const std::string& slot, const std::string& action,
                                   const Json& body = {{"filename", "a b.bin"}}) {
    return server.post("/slots/" + slot + "?action=" + action, body);
  }
  static Json question(int slot = -1) {
    std::string prompt = "Once upon a time";
    for (int i = 0; i < 30; ++i) prompt += " there was a big red dog";
    Json body = completion(prompt, 30);
    body["ignore_eos"] = true;
    body["id_slot"] = slot;
    return body;
  }
  static int cached(const Json& answer) { return answer["usage"]["prompt_tokens_details"]["cached_tokens"]; }
  // The folder contains only the slot's file, and no temporary one.
  std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) names.push_back(entry.path().filename());
    return names;
  }

  const std::string folder_ = testing::TempDir() + "/slots";
};

TEST_F(SlotFiles, GoThroughAFileToAnotherServer) {
  std::string text;
  int n_saved = 0;
  const Engine engine = load_stories();
  {
    const RunningServer server(options(), engine);
    const Json answer = server.post(kText, question(2)).json;
    text = answer["choices"][0]["text"];
    EXPECT_EQ(cached(answer), 0);
    const auto saved = act(server, "2", "save");
    ASSERT_EQ(saved.status, 200) << saved.text;
    EXPECT_EQ(saved.json["id_slot"], 2);
    EXPECT_EQ(saved.json["filename"], "a b.bin");
    n_saved = saved.json["n_saved"];
    const int n_all = answer["usage"]["total_tokens"];
    EXPECT_EQ(n_saved % 64, 0);
    EXPECT_GT(n_saved, n_all - 65);
    EXPECT_EQ(saved.json["n_written"], std::filesystem::file_size(folder_ + "/a b.bin"));
    EXPECT_GE(saved.json["timings"]["save_ms"], 0);
    EXPECT_EQ(act(server, "2", "save").json["n_saved"], n_saved);  // overwrites the file
    EXPECT_EQ(act(server, "2", "erase").json, Json({{"id_slot", 2}, {"n_erased", n_saved}}));
    EXPECT_EQ(server.post("/slots/2?action=erase", std::string()).json["n_erased"], 0);
    EXPECT_EQ(cached(server.post(kText, question()).json), 0);
  }
  const Engine other = load_stories();
  const RunningServer server(options(), other);
  const auto restored = act(server, "0", "restore");
  ASSERT_EQ(restored.status, 200) << restored.text;
  EXPECT_EQ(restored.json["n_restored"], n_saved);
  EXPECT_EQ(restored.json["n_read"], std::filesystem::file_size(folder_ + "/a b.bin"));
  EXPECT_GE(restored.json["timings"]["restore_ms"], 0);
  const Json again = server.post(kText, question()).json;
  EXPECT_EQ(again["choices"][0]["text"], text);
  EXPECT_GT(cached(again), again["usage"]["prompt_tokens"].get<int>() - 65);
  EXPECT_EQ(act(server, "0", "save").json["n_saved"], n_saved);  // the conversation still has its slot
  EXPECT_EQ(files(), std::vector<std::string>{"a b.bin"});
}

TEST_F(SlotFiles, WhatIsWrongIsRefusedAndChangesNothing) {
  const RunningServer server(options());
  const auto refused = [&](const std::string& slot, const std::string& action, const Json& body, int status,
                           const std::string& words) {
    const auto answer = act(server, slot, action, body);
    EXPECT_EQ(answer.status, status) << answer.text;
    EXPECT_TRUE(answer.text.contains(words)) << answer.text;
    EXPECT_FALSE(answer.text.contains(folder_) || answer.text.contains("made anew")) << answer.text;
  };
  const Json file = {{"filename", "x"}};
  for (const char* slot : {"4", "-1", "x", "99999999999999999999", "1.5"}) refused(slot, "save", file, 400, "0 to 3");
  refused("0", "", file, 400, "save, restore or erase");
  refused("0", "load", file, 400, "save, restore or erase");
  for (const char* action : {"save", "restore"}) {
    refused("0", action, Json::object(), 400, "filename: is missing");
    refused("0", action, {{"filename", 7}}, 400, "filename: must be");
    for (const std::string& name :
         {std::string("a/b"), std::string(".."), std::string("../x"), std::string(".x"), std::string("a\\b"),
          std::string("a\0b", 3), std::string("a\nb"), std::string(201, 'a')}) {
      refused("0", action, {{"filename", name}}, 400, "filename: must be a name");
    }
  }
  refused("0", "save", file, 400, "slot 0 has nothing");
  refused("0", "restore", file, 404, "no such file");
  server.post(kText, question(1));
  ASSERT_EQ(act(server, "1", "save").status, 200);
  std::string bytes(std::filesystem::file_size(folder_ + "/a b.bin"), '\0');
  std::ifstream(folder_ + "/a b.bin", std::ios::binary).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const auto put = [&](const std::string& content) { std::ofstream(folder_ + "/x", std::ios::binary) << content; };
  put(bytes.substr(0, bytes.size() / 2));
  refused("2", "restore", file, 400, "damaged");
  put("GGUF");
  refused("2", "restore", file, 400, "no prompt cache");
  ++bytes[24];  // identifies the model
  put(bytes);
  refused("2", "restore", file, 400, "another model");
  std::filesystem::create_symlink("/dev/full", folder_ + "/full");
  refused("1", "save", {{"filename", "full"}}, 507, "No space left");
  std::filesystem::create_directory(folder_ + "/folder");
  refused("1", "save", {{"filename", "folder"}}, 507, "folder");
  refused("2", "restore", {{"filename", "folder"}}, 404, "no such file");
  refused("2", "save", file, 400, "slot 2 has nothing");
  EXPECT_EQ(act(server, "1", "save").status, 200);  // the old content is intact
  EXPECT_EQ(server.post(kText, question(4)).status, 400);
}

TEST_F(SlotFiles, WhereNothingMayBeKeptNothingIsRestored) {
  {
    const RunningServer server(options());
    server.post(kText, question(0));
    ASSERT_EQ(act(server, "0", "save").status, 200);
  }
  const Engine engine = load_stories();
  const RunningServer server(options(0), engine);
  const auto answer = act(server, "0", "restore");
  EXPECT_EQ(answer.status, 400);
  EXPECT_TRUE(answer.text.contains("--cache-ram")) << answer.text;
}

TEST_F(SlotFiles, NeedTheirFolder) {
  const RunningServer server;
  const auto answer = act(server, "0", "save");
  EXPECT_EQ(answer.status, 501);
  EXPECT_EQ(answer.json["error"]["type"], "not_supported_error");
  EXPECT_TRUE(answer.text.contains("--slot-save-path")) << answer.text;
}

}  // namespace
}  // namespace tern::server::test

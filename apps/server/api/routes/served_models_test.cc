// Several models in one server: the default model under several names.
#include "server/api/routes/served_models.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <mutex>

#include "base/result.h"
#include "server/api/api_test_support.h"

namespace tern::server::test {
namespace {

// Counts the loads, and delays them for as long as the test wants.
struct Loader {
  std::atomic<int> n_loads = 0;
  std::atomic<bool> is_held = false;
  ModelEntry entry(std::vector<std::string> names, int n_ctx = 128) {
    ModelEntry entry;
    entry.served.names = std::move(names);
    entry.served.service.scheduler = {.n_ctx = n_ctx, .max_replies = 4};
    entry.load = [this]() -> Result<Engine> {
      ++n_loads;
      while (is_held) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      return load_stories();
    };
    return entry;
  }
};

ModelEntry broken(const std::string& name) {
  ModelEntry entry{.served = {.names = {name}}};
  entry.load = []() -> Result<Engine> { return fail(ErrorCode::kCorruption, "x.gguf: is broken"); };
  return entry;
}

bool always() { return true; }

class Models : public testing::Test {
 protected:
  // Opens "a", "b" and "c", each with its own loader.
  void open(int most_loaded, const std::string& pinned = "") {
    std::vector<ModelEntry> entries;
    for (int i = 0; i < 3; ++i) {
      entries.push_back(loaders_[i].entry({std::string(1, static_cast<char>('a' + i))}));
      entries.back().pinned = entries.back().served.names.front() == pinned;
    }
    models_ = ServedModels::open(std::move(entries), {.most_loaded = most_loaded}).value();
    models_->start();
  }
  void use(const std::string& name) {
    const auto lease = models_->get_named(name, always);
    ASSERT_TRUE(lease) << lease.error().message;
    EXPECT_EQ((*lease)->profile().name, name);
  }
  std::string loaded() const {
    std::string names;
    for (const auto& about : models_->about()) {
      if (about.status == "loaded") names += about.name;
    }
    return names;
  }

  Loader loaders_[3];
  std::unique_ptr<ServedModels> models_;
};

TEST_F(Models, TheLeastRecentlyUsedOneLeaves) {
  open(2);
  EXPECT_EQ(loaded(), "");
  use("a");
  use("b");
  EXPECT_EQ(loaded(), "ab");
  use("a");
  use("c");
  EXPECT_EQ(loaded(), "ac");
  use("b");
  EXPECT_EQ(loaded(), "bc");
  EXPECT_EQ(loaders_[0].n_loads, 1);
  EXPECT_EQ(loaders_[1].n_loads, 2);
}

TEST_F(Models, OneThatIsPinnedStays) {
  open(2, "b");
  EXPECT_TRUE(soon([&] { return loaded() == "b"; }, std::chrono::seconds(100)));
  use("a");
  use("c");
  use("a");
  EXPECT_EQ(loaded(), "ab");
  EXPECT_EQ(loaders_[1].n_loads, 1);
}

TEST_F(Models, OneThatIsUsedIsNotUnloaded) {
  open(1);
  auto lease = models_->get_named("a", always).value();
  EXPECT_EQ(models_->get_named("b", [] { return false; }).error().status, 499);  // "a" is leaving from now on
  std::atomic<bool> has_b = false, has_a = false;
  std::jthread other([&] {
    use("b");
    has_b = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_FALSE(has_b);
  EXPECT_EQ(lease->profile().engine.info().n_vocab, 8192);  // it is still there
  // New requests for "a" wait their turn; otherwise "b" would never get its own.
  std::jthread again([&] {
    use("a");
    has_a = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(has_a);
  lease.reset();
  EXPECT_TRUE(soon([&] { return has_b && has_a; }, std::chrono::seconds(100)));
  EXPECT_EQ(loaders_[1].n_loads, 1);
  EXPECT_EQ(loaders_[0].n_loads, 2);
}

TEST_F(Models, ManyWhoAskAtOnceLoadItOnce) {
  open(0);
  loaders_[0].is_held = true;
  std::atomic<int> n_there = 0;
  std::vector<std::jthread> askers;
  for (int i = 0; i < 8; ++i) {
    askers.emplace_back([&] {
      use("a");
      ++n_there;
    });
  }
  use("b");  // other models do not wait for it
  EXPECT_EQ(n_there, 0);
  loaders_[0].is_held = false;
  EXPECT_TRUE(soon([&] { return n_there == 8; }, std::chrono::seconds(100)));
  EXPECT_EQ(loaders_[0].n_loads, 1);
}

// With room for one model, every request gets its turn and none is lost.
TEST_F(Models, RequestsToAllOfThemInTurn) {
  open(1);
  std::atomic<int> n_done = 0;
  {
    std::vector<std::jthread> askers;
    for (int i = 0; i < 6; ++i) {
      askers.emplace_back([&, i] {
        const std::string name(1, static_cast<char>('a' + i % 3));
        for (int turn = 0; turn < 3; ++turn) {
          const auto lease = models_->get_named(name, always);
          ASSERT_TRUE(lease) << lease.error().message;
          const auto answer = (*lease)->answer(kText, completion("Once upon a time", 8), always);
          ASSERT_TRUE(answer) << answer.error().message;
          EXPECT_EQ((*answer)["usage"]["completion_tokens"], 8);
          ++n_done;
        }
      });
    }
  }
  EXPECT_EQ(n_done, 18);
}

// Two models that must be downloaded, and one that is here.
class FetchedModels : public testing::Test {
 protected:
  FetchedModels() {
    std::vector<ModelEntry> entries = {loader_.entry({"here"}), loader_.entry({"a"}), loader_.entry({"b"})};
    for (size_t i = 1; i < 3; ++i) {
      entries[i].fetch = [this](const std::stop_token& stop) -> Result<void> {
        ++n_fetches_;
        most_at_once_ = std::max<int>(most_at_once_, ++n_at_once_);
        while (is_held_ && !stop.stop_requested()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        --n_at_once_;
        if (stop.stop_requested()) return fail(ErrorCode::kInterrupted, "stopped");
        if (fails_) return fail(ErrorCode::kIo, "the network is down");
        return {};
      };
    }
    const auto say = [this](const std::string& line) {
      const std::scoped_lock lock(mutex_);
      events_ += line + "\n";
    };
    models_ = ServedModels::open(std::move(entries), {.most_loaded = 1, .on_event = say}).value();
    models_->start();
  }
  ApiResult<ServedModels::Lease> get(const std::string& name) { return models_->get_named(name, always); }
  std::string status(const std::string& name) const { return models_->about(name)->status; }

  Loader loader_;
  std::atomic<int> n_fetches_ = 0, n_at_once_ = 0, most_at_once_ = 0;
  std::atomic<bool> is_held_ = false, fails_ = false;
  std::mutex mutex_;
  std::string events_;
  std::unique_ptr<ServedModels> models_;
};

TEST_F(FetchedModels, ComeAtTheirFirstRequestOneAtATime) {
  ASSERT_TRUE(get("here"));
  EXPECT_EQ(n_fetches_, 0);
  is_held_ = true;
  std::vector<std::jthread> askers;
  for (const char* name : {"a", "b", "a"}) askers.emplace_back([&, name] { EXPECT_TRUE(get(name)); });
  EXPECT_TRUE(soon([&] { return status("a") == "downloading" && status("b") == "downloading"; }));
  EXPECT_TRUE(get("here"));  // it is not unloaded before the wanted models are here
  EXPECT_EQ(loader_.n_loads, 1);
  is_held_ = false;
  askers.clear();
  EXPECT_EQ(most_at_once_, 1);
  EXPECT_EQ(n_fetches_, 2);
  EXPECT_TRUE(get("a"));
  EXPECT_TRUE(get("b"));
  EXPECT_EQ(n_fetches_, 2);
}

TEST_F(FetchedModels, AreTriedAgainAtTheNextRequest) {
  fails_ = true;
  for (int times = 1; times < 3; ++times) {
    const ApiError error = get("a").error();
    EXPECT_EQ(error.status, 503);
    EXPECT_EQ(error.message, "model: a cannot be downloaded: the network is down");
    EXPECT_EQ(n_fetches_, times);
  }
  EXPECT_EQ(models_->about("a")->error, "the network is down");
  fails_ = false;
  EXPECT_TRUE(get("a"));
  EXPECT_FALSE(models_->about("a")->error);
  EXPECT_EQ(status("b"), "unloaded");
  EXPECT_EQ(events_.substr(0, events_.find('\n')), "a cannot be downloaded: the network is down");
}

TEST_F(FetchedModels, StopComingWhenTheServerEnds) {
  is_held_ = true;
  std::vector<std::jthread> askers;
  for (const char* name : {"a", "b"}) askers.emplace_back([&, name] { EXPECT_EQ(get(name).error().status, 503); });
  EXPECT_TRUE(soon([&] { return n_at_once_ == 1 && status("a") == status("b"); }));
  models_->drain(std::chrono::milliseconds(0));
  askers.clear();
  EXPECT_TRUE(soon([&] { return status("a") == "unloaded" && status("b") == "unloaded"; }));
  EXPECT_EQ(events_, "");
}

TEST_F(Models, InTheBackgroundNobodyIsPushedOut) {
  open(1);
  const auto lease = models_->get_named("a", always).value();
  int n_looks = 0;
  const auto got = models_->get_named("b", [&] { return ++n_looks < 3; }, /*in_background=*/true);
  EXPECT_EQ(got.error().status, 499);
  use("a");  // it is not leaving
}

TEST(ModelLists, WhatIsWrongIsRefused) {
  Loader loader;
  const auto refusal = [&](std::vector<ModelEntry> entries, int most) {
    const auto opened = ServedModels::open(std::move(entries), {.most_loaded = most});
    return opened ? "opened" : opened.error().message;
  };
  EXPECT_EQ(refusal({}, 0), "there is no model to serve");
  EXPECT_EQ(refusal({loader.entry({"a", "x"}), loader.entry({"x"})}, 0), "two models are called 'x'");
  ModelEntry pinned = loader.entry({"a"});
  pinned.pinned = true;
  EXPECT_TRUE(refusal({pinned, loader.entry({"b"})}, 1).contains("1 models are pinned"));
  EXPECT_EQ(refusal({pinned}, 1), "opened");
}

class SeveralModels : public testing::Test {
 protected:
  static std::vector<ModelEntry> entries(Loader& first, Loader& second) {
    std::vector<ModelEntry> list = {first.entry({"one", "uno"}), second.entry({"two"}, 64), broken("broken")};
    return list;
  }
};

TEST_F(SeveralModels, EachRequestHasTheModelThatItNames) {
  Loader first, second;
  const RunningServer server({.metrics = true, .slots = true}, entries(first, second));
  const auto model_of = [&](const Json& name) {
    Json body = completion("Once", 2);
    body["model"] = name;
    const auto answer = server.post(kText, body);
    return answer.status == 200 ? answer.json["model"] : answer.json["error"]["message"];
  };
  EXPECT_EQ(server.get("/v1/models").json["data"][1]["status"], "unloaded");
  EXPECT_EQ(model_of(nullptr), "one");
  EXPECT_EQ(model_of("uno"), "one");
  EXPECT_EQ(model_of("two"), "two");
  EXPECT_EQ(model_of("three"), "model: there is no 'three' here; there are 'one', 'two', 'broken'");
  EXPECT_EQ(model_of("broken"), "model: broken cannot be loaded: x.gguf: is broken");
  EXPECT_EQ(server.post(kChat, Json{{"model", 5}}).status, 400);
  EXPECT_EQ(server.post("/tokenize", Json{{"model", "two"}, {"content", "a"}}).status, 200);
  EXPECT_EQ(server.post("/tokenize", Json{{"model", "three"}, {"content", "a"}}).status, 404);
  const Json list = server.get("/v1/models").json["data"];
  EXPECT_EQ(list.size(), 3u);
  EXPECT_EQ(list[1]["status"], "loaded");
  EXPECT_EQ(list[1]["meta"]["n_ctx"], 64);
  EXPECT_EQ(list[2]["status"], "unloaded");
  EXPECT_EQ(list[2]["error"], "x.gguf: is broken");
  EXPECT_EQ(server.get("/v1/models/uno").json["id"], "one");
  EXPECT_EQ(server.get("/v1/models/three").status, 404);
  EXPECT_EQ(server.get("/props").json["model_alias"], "one");
  EXPECT_EQ(server.get("/props?model=two").json["default_generation_settings"]["n_ctx"], 64);
  EXPECT_EQ(server.get("/props?model=broken").status, 500);
  EXPECT_EQ(server.get("/slots").json.size(), 8u);
  EXPECT_EQ(server.get("/slots?model=two").json[0]["model"], "two");
  const std::string metrics = server.get("/metrics").text;
  for (const char* line : {"tern_generated_tokens_total{model=\"one\"} 4\n", "tern_model_loaded{model=\"two\"} 1\n",
                           "tern_model_loaded{model=\"broken\"} 0\n", "tern_model_loads_total{model=\"one\"} 1\n",
                           "tern_replies_ended_total{model=\"two\",reason=\"max_tokens\"} 1\n"}) {
    EXPECT_TRUE(metrics.contains(line)) << line << metrics;
  }
  EXPECT_EQ(metrics.find("# TYPE tern_replies_running"), metrics.rfind("# TYPE tern_replies_running"));
  EXPECT_EQ(server.get("/ready").status, 200);
}

// A stream is sent to its end although another model needs the place.
TEST_F(SeveralModels, AReplyIsWrittenToItsEndBeforeItsModelLeaves) {
  Loader first, second;
  const RunningServer server({.most_models = 1}, entries(first, second));
  Json body = completion("Once upon a time", 100);
  body["ignore_eos"] = true;
  std::atomic<int> n_two = 0;
  std::vector<std::jthread> others;
  std::string text;
  const auto client = server.client();
  httplib::Request request;
  request.method = "POST";
  request.path = kText;
  body["stream"] = true;
  request.body = body.dump();
  request.set_header("Content-Type", "application/json");
  request.content_receiver = [&](const char* data, size_t n, size_t, size_t) {
    if (text.empty()) {
      others.emplace_back([&] {
        Json other = completion("Once", 2);
        other["model"] = "two";
        n_two += server.post(kText, other).status == 200 ? 1 : 0;
      });
    }
    text.append(data, n);
    return true;
  };
  httplib::Response response;
  httplib::Error error = httplib::Error::Success;
  ASSERT_TRUE(client->send(request, response, error)) << httplib::to_string(error);
  others.clear();
  EXPECT_TRUE(text.ends_with("data: [DONE]\n\n"));
  size_t n_events = 0;
  for (size_t at = text.find("data: {"); at != text.npos; at = text.find("data: {", at + 1)) ++n_events;
  EXPECT_GE(n_events, 100u);
  EXPECT_EQ(n_two, 1);
  EXPECT_EQ(server.get("/v1/models").json["data"][0]["status"], "unloaded");
}

TEST_F(SeveralModels, ABatchAsksEachOfThem) {
  Loader first, second;
  const std::string folder = (std::filesystem::temp_directory_path() / "kept").string();
  const RunningServer server({.most_models = 1, .files_folder = folder}, entries(first, second));
  std::string lines;
  for (int i = 0; i < 6; ++i) {
    Json body = completion("Once", 2);
    body["model"] = i % 2 == 0 ? "one" : "two";
    lines += Json{{"custom_id", std::to_string(i)}, {"url", kText}, {"body", body}}.dump() + "\n";
  }
  const auto file = server.post_form("/v1/files", form({{"purpose", "batch"}, {"file", lines, "in"}}));
  const Json asked = {{"input_file_id", file.json["id"]}, {"endpoint", kText}, {"completion_window", "24h"}};
  const std::string id = server.post("/v1/batches", asked).json["id"];
  ASSERT_TRUE(
      soon([&] { return server.get("/v1/batches/" + id).json["status"] == "completed"; }, std::chrono::seconds(100)))
      << server.get("/v1/batches/" + id).text;
  EXPECT_EQ(server.get("/v1/batches/" + id).json["request_counts"]["completed"], 6);
}

}  // namespace
}  // namespace tern::server::test

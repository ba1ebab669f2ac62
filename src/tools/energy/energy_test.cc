// Tests energy readers on folders like the kernel's, and the benchmark with a fake reader.
#include "tools/energy/energy.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "tools/energy/energy_meter.h"
#include "tools/tools_test_support.h"

namespace tern {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class CounterFolder : public TemporaryPath {
 public:
  CounterFolder() : TemporaryPath("-folder") { fs::create_directories(str()); }
  ~CounterFolder() {
    std::error_code ignored;
    fs::remove_all(str(), ignored);
  }
  void write(const std::string& path, const std::string& text) const {
    const fs::path at = fs::path(str()) / path;
    fs::create_directories(at.parent_path());
    std::ofstream(at) << text;
  }
  void make_folder(const std::string& path) const { fs::create_directories(fs::path(str()) / path); }
  void remove(const std::string& path) const { fs::remove_all(fs::path(str()) / path); }
};

class Powercap : public testing::Test {
 protected:
  void add(const std::string& domain, const std::string& name, const std::string& energy_uj,
           const std::string& range = "262143328850\n") const {
    folder_.write(domain + "/name", name + "\n");
    folder_.write(domain + "/energy_uj", energy_uj);
    folder_.write(domain + "/max_energy_range_uj", range);
  }
  auto open() const { return open_powercap(folder_.str()); }

  CounterFolder folder_;
};

TEST_F(Powercap, AddsPackagesAndTheirMemoryAndNothingElse) {
  add("intel-rapl:0", "package-0", "1000000\n");
  add("intel-rapl:0:0", "core", "500\n");
  add("intel-rapl:0:1", "dram", "2000000\n");
  add("intel-rapl:1", "package-1", "3000000\n");
  add("intel-rapl:2", "psys", "4\n");
  add("intel-rapl-mmio:0", "package-0", "5\n");
  const auto reader = open();
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader)->source(), "powercap (package-0, dram, package-1)");
  EXPECT_DOUBLE_EQ((*reader)->joules().value(), 0);
  folder_.write("intel-rapl:0/energy_uj", "1500000\n");
  folder_.write("intel-rapl:0:0/energy_uj", "999999999\n");
  folder_.write("intel-rapl:0:1/energy_uj", "2250000\n");
  folder_.write("intel-rapl:1/energy_uj", "4000000\n");
  folder_.write("intel-rapl:2/energy_uj", "999999999\n");
  folder_.write("intel-rapl-mmio:0/energy_uj", "999999999\n");
  EXPECT_DOUBLE_EQ((*reader)->joules().value(), 0.5 + 0.25 + 1);
}

TEST_F(Powercap, GoesOnWhereTheCounterBeginsAgain) {
  add("intel-rapl:0", "package-0", "9000000\n", "10000000\n");
  const auto reader = open();
  ASSERT_TRUE(reader) << reader.error().message;
  folder_.write("intel-rapl:0/energy_uj", "500000\n");
  EXPECT_DOUBLE_EQ((*reader)->joules().value(), 1.5);
  folder_.write("intel-rapl:0/energy_uj", "600000\n");
  EXPECT_DOUBLE_EQ((*reader)->joules().value(), 1.6);
  folder_.write("intel-rapl:0/energy_uj", "100000\n");
  EXPECT_DOUBLE_EQ((*reader)->joules().value(), 1.6 + 9.5);
}

TEST_F(Powercap, ACounterThatGoesBackWithoutARangeIsAnError) {
  add("intel-rapl:0", "package-0", "9000000\n", "0\n");
  const auto reader = open();
  ASSERT_TRUE(reader) << reader.error().message;
  folder_.write("intel-rapl:0/energy_uj", "500000\n");
  const auto joules = (*reader)->joules();
  ASSERT_FALSE(joules);
  EXPECT_EQ(joules.error().code, ErrorCode::kCorruption);
  EXPECT_NE(joules.error().message.find("went back"), std::string::npos) << joules.error().message;
}

TEST_F(Powercap, HostileContentIsAnErrorThatNamesTheFile) {
  for (const std::string& content :
       {std::string("abc"), std::string(), std::string("\n"), std::string("-5"), std::string("12 34"),
        std::string("0x10"), std::string("1e6"), std::string("99999999999999999999999999"), std::string(100000, '7'),
        std::string("12\0", 3), std::string("\x1b[2J")}) {
    add("intel-rapl:0", "package-0", content);
    const auto reader = open();
    ASSERT_FALSE(reader) << content;
    EXPECT_EQ(reader.error().code, ErrorCode::kCorruption) << content;
    EXPECT_NE(reader.error().message.find("intel-rapl:0/energy_uj"), std::string::npos) << reader.error().message;
    EXPECT_LT(reader.error().message.size(), 600u);
    EXPECT_EQ(reader.error().message.find('\x1b'), std::string::npos);
  }
  add("intel-rapl:0", "package-0", "18446744073709551615");  // the largest that fits
  EXPECT_TRUE(open());
}

TEST_F(Powercap, FilesThatCannotBeRead) {
  add("intel-rapl:0", "package-0", "1\n");
  const auto reader = open();
  ASSERT_TRUE(reader);
  folder_.remove("intel-rapl:0/energy_uj");
  EXPECT_EQ((*reader)->joules().error().code, ErrorCode::kNotFound);
  folder_.make_folder("intel-rapl:0/energy_uj");
  EXPECT_EQ((*reader)->joules().error().code, ErrorCode::kIo);
  EXPECT_EQ(open().error().code, ErrorCode::kIo);
}

TEST_F(Powercap, WithoutRootTheErrorSaysWhatToDo) {
  if (geteuid() == 0) GTEST_SKIP() << "root may read everything";
  add("intel-rapl:0", "package-0", "1\n");
  fs::permissions(folder_.str() + "/intel-rapl:0/energy_uj", fs::perms::none);
  const auto reader = open();
  ASSERT_FALSE(reader);
  EXPECT_NE(reader.error().message.find("run as root"), std::string::npos) << reader.error().message;
}

TEST_F(Powercap, NoDomains) {
  EXPECT_EQ(open().error().code, ErrorCode::kNotFound);
  EXPECT_EQ(open_powercap(folder_.str() + "/none").error().code, ErrorCode::kNotFound);
  add("intel-rapl:0", "psys", "1\n");
  EXPECT_EQ(open().error().code, ErrorCode::kNotFound);
}

// Counters are pipes: each reading takes the next value that a test wrote.
class Perf : public testing::Test {
 protected:
  void SetUp() override {
    folder_.write("type", "23\n");
    folder_.write("cpumask", "0,18\n");
    folder_.write("events/energy-pkg", "event=0x02\n");
    folder_.write("events/energy-pkg.scale", "2.5e-1\n");
    folder_.write("events/energy-pkg.unit", "Joules\n");
  }
  void TearDown() override {
    for (const int fd : in_) ::close(fd);
  }
  auto open() {
    return open_perf(folder_.str(), [this](const PerfEvent& event) {
      events_.push_back(event);
      int ends[2];
      EXPECT_EQ(::pipe(ends), 0);
      in_.push_back(ends[1]);
      return ends[0];
    });
  }
  void put(size_t counter, uint64_t value) const {
    EXPECT_EQ(::write(in_[counter], &value, sizeof(value)), static_cast<ssize_t>(sizeof(value)));
  }

  CounterFolder folder_;
  std::vector<PerfEvent> events_;
  std::vector<int> in_;
};

TEST_F(Perf, ScalesAndAddsTheCountersOfAllPackages) {
  folder_.write("events/energy-ram", "event=0x3");
  folder_.write("events/energy-ram.scale", "0.5");
  folder_.write("events/energy-ram.unit", "Joules");
  const auto reader = open();
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_EQ((*reader)->source(), "perf (energy-pkg, energy-ram)");
  ASSERT_EQ(events_.size(), 4u);
  EXPECT_EQ(events_[0].type, 23u);
  EXPECT_EQ(events_[0].config, 2u);
  EXPECT_EQ(events_[0].cpu, 0);
  EXPECT_EQ(events_[1].cpu, 18);
  EXPECT_EQ(events_[3].config, 3u);
  put(0, 4), put(1, 8), put(2, 2), put(3, 0);
  EXPECT_DOUBLE_EQ((*reader)->joules().value(), 1 + 2 + 1);
}

TEST_F(Perf, ListsOfCpus) {
  folder_.write("cpumask", "0-2,5");
  ASSERT_TRUE(open());
  ASSERT_EQ(events_.size(), 4u);
  EXPECT_EQ(events_[2].cpu, 2);
  EXPECT_EQ(events_[3].cpu, 5);
}

TEST_F(Perf, HostileContentIsAnErrorThatNamesTheFile) {
  const std::vector<std::pair<std::string, std::string>> files = {{"type", "abc"},
                                                                  {"cpumask", ""},
                                                                  {"cpumask", "1-"},
                                                                  {"cpumask", "3-1"},
                                                                  {"cpumask", "0-99999999"},
                                                                  {"cpumask", "0,,1"},
                                                                  {"cpumask", "-1"},
                                                                  {"events/energy-pkg", "umask=1"},
                                                                  {"events/energy-pkg", "event=0x"},
                                                                  {"events/energy-pkg", "event=0x2,umask=1"},
                                                                  {"events/energy-pkg.scale", "nan"},
                                                                  {"events/energy-pkg.scale", "-1"},
                                                                  {"events/energy-pkg.scale", ""},
                                                                  {"events/energy-pkg.unit", "Watts"}};
  for (const auto& [path, content] : files) {
    SetUp();
    folder_.write(path, content);
    const auto reader = open();
    ASSERT_FALSE(reader) << path << " " << content;
    EXPECT_EQ(reader.error().code, ErrorCode::kCorruption) << path;
    EXPECT_NE(reader.error().message.find(path.substr(0, path.find(".unit"))), std::string::npos)
        << reader.error().message;
  }
}

TEST_F(Perf, RefusalsSayWhatToDo) {
  const auto refused = [&](int error) {
    const auto reader = open_perf(folder_.str(), [&](const PerfEvent&) {
      errno = error;
      return -1;
    });
    return reader.error().message;
  };
  EXPECT_NE(refused(EACCES).find("perf_event_paranoid"), std::string::npos);
  EXPECT_NE(refused(ENODEV).find("energy-pkg"), std::string::npos);
  EXPECT_EQ(open_perf(folder_.str() + "/none").error().code, ErrorCode::kNotFound);
}

TEST_F(Perf, ACounterThatEndsIsAnError) {
  const auto reader = open();
  ASSERT_TRUE(reader);
  for (const int fd : in_) ::close(fd);
  in_.clear();
  EXPECT_EQ((*reader)->joules().error().code, ErrorCode::kIo);
}

TEST(OpenEnergyReader, SaysOfEachSourceWhyNot) {
  const auto reader = open_energy_reader();
  if (reader) GTEST_SKIP() << "this machine has " << (*reader)->source();
  EXPECT_NE(reader.error().message.find("powercap"), std::string::npos) << reader.error().message;
  EXPECT_NE(reader.error().message.find("perf"), std::string::npos) << reader.error().message;
}

// Uses 1 J between two readings.
class OneJouleAReading final : public EnergyReader {
 public:
  explicit OneJouleAReading(int readings_until_it_fails = 1'000'000) : left_(readings_until_it_fails) {}
  Result<double> joules() override {
    if (left_-- == 0) return fail(ErrorCode::kIo, "it is gone");
    return ++n_;
  }
  std::string source() const override { return "a double"; }
  int n() const { return n_; }

 private:
  int left_;
  int n_ = 0;
};

TEST(EnergyMeter, DividesByTokensAndBySeconds) {
  OneJouleAReading reader;
  EnergyMeter meter(&reader);
  const auto start = std::chrono::steady_clock::now();
  for (int run = 0; run < 2; ++run) {
    meter.begin();
    std::this_thread::sleep_for(20ms);
    meter.end_prefill(4);
    meter.end_decode(0);
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const BenchEnergy energy = meter.result();
  EXPECT_EQ(energy.source, "a double");
  ASSERT_TRUE(energy.prefill);
  EXPECT_DOUBLE_EQ(energy.prefill->joules_per_token, 2.0 / 8);
  EXPECT_LE(energy.prefill->watts, 2 / 0.04);
  EXPECT_GE(energy.prefill->watts, 2 / seconds);
  EXPECT_GE(energy.prefill->seconds_of_a_run, 0.02);
  EXPECT_LE(energy.prefill->seconds_of_a_run, seconds / 2);
  EXPECT_FALSE(energy.decode);  // no token, so no figure
}

class BenchWithEnergy : public testing::Test {
 protected:
  SynthModel file_;
  Engine engine_ = Engine::load({.model_path = file_.str(), .backend = BackendKind::kCpu, .n_threads = 1}).value();
};

// Each run takes three readings, the warm-up none. The fake reader's joules go to the two parts and nowhere else.
TEST_F(BenchWithEnergy, ReadsAroundPrefillAndDecode) {
  OneJouleAReading reader;
  const auto result = bench_with(engine_, {.n_prompt = 10, .n_generate = 5, .repeats = 3}, &reader);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(reader.n(), 3 * 3);
  ASSERT_TRUE(result->energy && result->energy->prefill && result->energy->decode);
  EXPECT_DOUBLE_EQ(result->energy->prefill->joules_per_token, 3.0 / 30);
  EXPECT_DOUBLE_EQ(result->energy->decode->joules_per_token, 3.0 / 15);
  EXPECT_NEAR(result->energy->prefill->watts * result->energy->prefill->seconds_of_a_run, 1, 1e-9);
  // Same time as in the rates.
  EXPECT_NEAR(result->energy->decode->seconds_of_a_run, 5 / result->decode.median,
              5 / result->decode.min - 5 / result->decode.max + 0.01);
}

TEST_F(BenchWithEnergy, APartThatIsLeftOutHasNoFigures) {
  OneJouleAReading reader;
  const auto decode = bench_with(engine_, {.n_prompt = 0, .n_generate = 4, .repeats = 1}, &reader);
  EXPECT_FALSE(decode->energy->prefill);
  EXPECT_TRUE(decode->energy->decode);
  const auto prefill = bench_with(engine_, {.n_prompt = 8, .n_generate = 0, .repeats = 1}, &reader);
  EXPECT_TRUE(prefill->energy->prefill);
  EXPECT_FALSE(prefill->energy->decode);
}

TEST_F(BenchWithEnergy, AReadingThatFailsEndsOnlyTheEnergy) {
  OneJouleAReading reader(4);
  const auto result = bench_with(engine_, {.n_prompt = 10, .n_generate = 5, .repeats = 3}, &reader);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_GT(result->decode.median, 0);
  ASSERT_TRUE(result->energy);
  EXPECT_EQ(result->energy->source, "");
  EXPECT_EQ(result->energy->reason, "it is gone");
  EXPECT_FALSE(result->energy->prefill);
}

TEST_F(BenchWithEnergy, OnlyWhereItIsAskedFor) {
  EXPECT_FALSE(bench(engine_, {.n_prompt = 4, .n_generate = 2, .repeats = 1})->energy);
  const auto result = bench(engine_, {.n_prompt = 4, .n_generate = 2, .repeats = 1, .energy = true});
  ASSERT_TRUE(result && result->energy);
  EXPECT_NE(result->energy->source.empty(), result->energy->reason.empty());
}

}  // namespace
}  // namespace tern

// perf's events of the power unit, "energy-pkg" and "energy-ram", counted once per package on the CPUs of `cpumask`.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "base/files/file.h"
#include "base/files/mapped_file.h"
#include "base/text/quoted.h"
#include "tools/energy/energy.h"

#ifdef __linux__
#include <linux/perf_event.h>
#include <sys/syscall.h>
#endif

namespace tern {
namespace {

struct Counter {
  int fd = -1;
  double joules_per_count = 0;
};

class PerfReader final : public EnergyReader {
 public:
  PerfReader() = default;
  PerfReader(const PerfReader&) = delete;
  PerfReader& operator=(const PerfReader&) = delete;
  ~PerfReader() override {
    for (const Counter& counter : counters_) ::close(counter.fd);
  }

  void add_name(const std::string& name) { names_ += (names_.empty() ? "" : ", ") + name; }
  void add(Counter counter) { counters_.push_back(counter); }

  Result<double> joules() override {
    double sum = 0;
    for (const Counter& counter : counters_) {
      uint64_t count = 0;
      if (::read(counter.fd, &count, sizeof(count)) != sizeof(count))
        return fail(ErrorCode::kIo, "perf's energy counter cannot be read: {}", std::strerror(errno));
      sum += static_cast<double>(count) * counter.joules_per_count;
    }
    return sum;
  }

  std::string source() const override { return format_text("perf ({})", names_); }

 private:
  std::vector<Counter> counters_;
  std::string names_;
};

// Parses "event=0x02".
Result<uint64_t> read_event(const std::string& path) {
  TRY(const std::string text, read_text_file(path));
  constexpr std::string_view kPrefix = "event=0x";
  uint64_t event = 0;
  if (text.starts_with(kPrefix)) {
    const auto [end, error] = std::from_chars(text.data() + kPrefix.size(), text.data() + text.size(), event, 16);
    const bool is_all = end == text.data() + text.size() || *end == '\n';
    if (error == std::errc() && is_all) return event;
  }
  return fail(ErrorCode::kCorruption, "{} says {}, not event=0x…", path, tern::quoted(text));
}

// Parses "2.3283064365386962890625e-10", in joules.
Result<double> read_scale(const std::string& path) {
  TRY(const std::string text, read_text_file(path + ".scale"));
  TRY(const std::string unit, read_text_file(path + ".unit"));
  double scale = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), scale);
  if (error != std::errc() || !std::isfinite(scale) || scale <= 0 || !unit.starts_with("Joules"))
    return fail(ErrorCode::kCorruption, "{}.scale says {} {}, not a number of joules", path, tern::quoted(text),
                tern::quoted(unit));
  return scale;
}

// Parses "0,18" or "0-1": one CPU of each package.
Result<std::vector<int>> read_cpus(const std::string& path) {
  constexpr int kMostCpu = 1 << 16;
  TRY(const std::string text, read_text_file(path));
  std::vector<int> cpus;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (bool more = true; more;) {
    int first = 0, last = 0;
    auto parsed = std::from_chars(at, end, first);
    bool is_number = parsed.ec == std::errc();
    last = first;
    if (is_number && parsed.ptr != end && *parsed.ptr == '-') {
      parsed = std::from_chars(parsed.ptr + 1, end, last);
      is_number = parsed.ec == std::errc();
    }
    at = parsed.ptr;
    more = at != end && *at == ',';
    if (more) ++at;
    const bool is_over = more || at == end || *at == '\n';
    if (!is_number || !is_over || first < 0 || last < first || last > kMostCpu)
      return fail(ErrorCode::kCorruption, "{} says {}, which is not a list of CPUs", path, tern::quoted(text));
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

Result<void> add_event(PerfReader& reader, const std::string& root, const std::string& name,
                       const OpenPerfEvent& open_event) {
  const std::string event_path = root + "/events/" + name;
  TRY(const std::string type_text, read_text_file(root + "/type"));
  TRY(const uint64_t type, parse_counter(type_text, root + "/type"));
  TRY(const uint64_t config, read_event(event_path));
  TRY(const double scale, read_scale(event_path));
  TRY(const std::vector<int> cpus, read_cpus(root + "/cpumask"));
  for (const int cpu : cpus) {
    const int fd = open_event({.type = static_cast<uint32_t>(type), .config = config, .cpu = cpu});
    if (fd < 0) {
      if (errno == EACCES || errno == EPERM) {
        return fail(ErrorCode::kIo,
                    "perf may count energy only for root: run as root, or set kernel.perf_event_paranoid to 0");
      }
      return fail(ErrorCode::kIo, "perf does not count {}: {}", name, std::strerror(errno));
    }
    reader.add({fd, scale});
  }
  reader.add_name(name);
  return {};
}

}  // namespace

int open_perf_event([[maybe_unused]] const PerfEvent& event) {
#ifdef __linux__
  perf_event_attr attributes = {};
  attributes.size = sizeof(attributes);
  attributes.type = event.type;
  attributes.config = event.config;
  return static_cast<int>(
      ::syscall(SYS_perf_event_open, &attributes, /*pid=*/-1, event.cpu, /*group=*/-1, PERF_FLAG_FD_CLOEXEC));
#else
  errno = ENOSYS;
  return -1;
#endif
}

Result<std::unique_ptr<EnergyReader>> open_perf(const std::string& root, const OpenPerfEvent& open_event) {
  if (!is_file(root + "/events/energy-pkg")) return fail(ErrorCode::kNotFound, "perf has no power unit ({})", root);
  auto reader = std::make_unique<PerfReader>();
  TRY_STATUS(add_event(*reader, root, "energy-pkg", open_event));
  if (is_file(root + "/events/energy-ram")) TRY_STATUS(add_event(*reader, root, "energy-ram", open_event));
  return reader;
}

}  // namespace tern

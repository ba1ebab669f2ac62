// The kernel's powercap folder has a folder per domain: "intel-rapl:0" for the first package (also on AMD processors)
// and "intel-rapl:0:2" for a part of it. Each has files `name`, `energy_uj` and `max_energy_range_uj`.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "base/files/file.h"
#include "base/files/mapped_file.h"
#include "base/text/quoted.h"
#include "tools/energy/energy.h"

namespace tern {
namespace {

struct Domain {
  std::string name;
  std::string path;    // of its energy_uj file
  uint64_t range = 0;  // µJ at which the counter wraps around
  uint64_t last = 0;   // µJ
  double joules = 0;   // since the reader was opened
};

Result<uint64_t> read_counter(const std::string& path) {
  if (::access(path.c_str(), R_OK) != 0 && errno == EACCES)
    return fail(ErrorCode::kIo, "{} may be read by root alone: run as root, or chmod a+r it", path);
  TRY(const std::string text, read_text_file(path));
  return parse_counter(text, path);
}

class PowercapReader final : public EnergyReader {
 public:
  explicit PowercapReader(std::vector<Domain> domains) : domains_(std::move(domains)) {}

  Result<double> joules() override {
    double sum = 0;
    for (Domain& domain : domains_) {
      TRY(const uint64_t now, read_counter(domain.path));
      TRY(const uint64_t used, used_since_last(domain, now));
      domain.joules += static_cast<double>(used) * 1e-6;
      domain.last = now;
      sum += domain.joules;
    }
    return sum;
  }

  std::string source() const override {
    std::string names;
    for (const Domain& domain : domains_) names += (names.empty() ? "" : ", ") + domain.name;
    return format_text("powercap ({})", names);
  }

 private:
  // Energy in µJ since the last reading.
  static Result<uint64_t> used_since_last(const Domain& domain, uint64_t now) {
    if (now >= domain.last) return now - domain.last;
    if (domain.range < domain.last)
      return fail(ErrorCode::kCorruption, "{} went back from {} to {} µJ, and its range is {}", domain.path,
                  domain.last, now, domain.range);
    return domain.range - domain.last + now;
  }

  std::vector<Domain> domains_;
};

Result<Domain> open_domain(const std::string& folder, std::string name) {
  Domain domain{.name = std::move(name), .path = folder + "/energy_uj"};
  TRY(domain.last, read_counter(domain.path));
  TRY(domain.range, read_counter(folder + "/max_energy_range_uj"));
  return domain;
}

// Counts packages and their memory. Cores and graphics are part of their package, "psys" contains it, and
// "intel-rapl-mmio:0" is the same package again.
bool is_wanted(std::string_view name) { return name.starts_with("package") || name == "dram"; }

}  // namespace

Result<std::unique_ptr<EnergyReader>> open_powercap(const std::string& root) {
  std::vector<std::string> folders = list_directory(root);
  std::ranges::sort(folders);
  std::vector<Domain> domains;
  for (const std::string& folder : folders) {
    if (!folder.starts_with("intel-rapl:")) continue;
    const std::string path = root + "/" + folder;
    auto name = read_text_file(path + "/name");
    if (!name) continue;
    while (!name->empty() && name->back() == '\n') name->pop_back();
    if (!is_wanted(*name)) continue;
    TRY(auto domain, open_domain(path, name->size() <= 40 ? *name : tern::quoted(*name)));
    domains.push_back(std::move(domain));
  }
  if (domains.empty()) return fail(ErrorCode::kNotFound, "{} has no intel-rapl package", root);
  return std::make_unique<PowercapReader>(std::move(domains));
}

}  // namespace tern

// Cost curves as files, and the folder that holds them.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tern/routing.h"

namespace tern {

// Returns JSON. `version` is that of the measuring program: kernels differ between versions.
std::string curve_text(const CostCurve& curve, std::string_view version);

// kCorruption: not such JSON, another version's, or a curve that check_curve() rejects; `path` is for messages.
Result<CostCurve> parse_curve(std::string_view text, std::string_view version, std::string_view path);

// A folder with one file per curve, named by a hash of device and model.
class CurveFolder {
 public:
  CurveFolder(std::string folder, std::string version) : folder_(std::move(folder)), version_(std::move(version)) {}

  // None if the file does not exist, cannot be read, or is for another device, model or version.
  std::optional<CostCurve> find(std::string_view device, std::string_view model) const;

  // True if curves have been kept there. The check is very cheap.
  bool exists() const;

  // Writes atomically: other processes see the whole file or none. kIo.
  Result<void> keep(const CostCurve& curve) const;

  std::string path_of(std::string_view device, std::string_view model) const;

 private:
  std::string folder_;
  std::string version_;
};

// The default folder: in the user's cache folder; empty: none.
std::string default_curve_folder();

}  // namespace tern

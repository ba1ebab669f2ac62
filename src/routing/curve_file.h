// A cost curve as a file, and where such files are kept.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "tern/routing.h"

namespace tern {

// JSON. `version` is that of the program that measured it: kernels differ from version to version.
std::string curve_text(const CostCurve& curve, std::string_view version);

// kCorruption: no such JSON, another version's, or a curve that check_curve() refuses; `path` is for messages.
Result<CostCurve> parse_curve(std::string_view text, std::string_view version, std::string_view path);

// A folder of curves, a file each, named by a hash of device and model.
class CurveFolder {
 public:
  CurveFolder(std::string folder, std::string version) : folder_(std::move(folder)), version_(std::move(version)) {}

  // None where there is no file, or one that cannot be read, or that is of another device, model or version.
  std::optional<CostCurve> find(std::string_view device, std::string_view model) const;

  // Whether anything has been kept there. Looking costs next to nothing.
  bool exists() const;

  // Other processes see all of the file or nothing. kIo.
  Result<void> keep(const CostCurve& curve) const;

  std::string path_of(std::string_view device, std::string_view model) const;

 private:
  std::string folder_;
  std::string version_;
};

// Where curves are kept unless somebody says otherwise: in the user's cache folder; empty: nowhere.
std::string default_curve_folder();

}  // namespace tern

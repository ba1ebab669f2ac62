#include "cli/bench/bench_kernels.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "base/result.h"
#include "cli/terminal/layout.h"
#include "cli/terminal/output.h"
#include "cli/terminal/progress_bar.h"

namespace tern::cli {
namespace {

struct Shape {
  int64_t rows, cols;
};

Result<Shape> parse_shape(const std::string& text) {
  Shape shape{};
  const char* const end = text.data() + text.size();
  const auto [x, rows_error] = std::from_chars(text.data(), end, shape.rows);
  if (rows_error == std::errc() && x != end && *x == 'x') {
    const auto [rest, cols_error] = std::from_chars(x + 1, end, shape.cols);
    if (cols_error == std::errc() && rest == end) return shape;
  }
  return fail(ErrorCode::kInvalidArgument, "--shape '{}': give rows and columns of the matrix, such as 4096x4096",
              shorten(text, 40));
}

// The cells after a kernel's name.
std::string cells(std::string_view packing, std::string_view activations, std::string_view bytes, std::string_view bits,
                  std::string_view ms, std::string_view rate, std::string_view share, std::string_view error,
                  std::string_view target) {
  return pad(packing, 9) + pad(activations, 6) + pad_left(bytes, 10) + pad_left(bits, 13) + pad_left(ms, 9) +
         pad_left(rate, 8) + pad_left(share, 8) + pad_left(error, 11) + "  " + std::string(target);
}

std::string row(const KernelBench& k) {
  return cells(k.packing, k.activations, human_bytes(k.bytes), format_text("{:.3f}", k.bits_per_weight),
               human_number(k.ms.median), format_text("{:.1f}", k.gb_per_s), format_text("{:.0f} %", 100 * k.share),
               format_text("{:.1e}", k.max_error), k.target);
}

// Says what was measured and what the columns mean.
std::string footer(const KernelBenchOptions& options, const KernelBenchResult& result) {
  const auto threads = format_text("{} thread{}", result.n_threads, result.n_threads == 1 ? "" : "s");
  std::string text = format_text("  {} × {} weights, {}; ms is the median and includes preparing the activations\n",
                                 options.rows, options.cols, threads);
  if (options.cached) {
    text += "  the same copy of the matrix each time: what fits is read from the caches\n";
  } else {
    uint64_t least = UINT64_MAX;
    for (const KernelBench& k : result.kernels) least = std::min(least, k.bytes * static_cast<uint64_t>(k.copies));
    const std::string cache = result.cache_bytes > 0 ? "the last-level cache holds " + human_bytes(result.cache_bytes)
                                                     : "the system does not say how large the last-level cache is";
    text += format_text(
        "  copies of the matrix are used in turn, {} or more in all, so that they are read from memory ({})\n",
        human_bytes(least), cache);
  }
  text += format_text("  share: of the speed at which {} just read{} the same bytes, in alternation with the kernel\n",
                      threads, result.n_threads == 1 ? "s" : "");
  text += format_text(
      "  max error: against sums in double precision; results are about {:.1f}. int8 kernels round the\n"
      "  activations and are otherwise checked to the bit\n",
      result.result_rms);
  return text;
}

}  // namespace

std::string bench_kernels_table(const KernelBenchOptions& options, const KernelBenchResult& result,
                                const Style& style) {
  size_t name_width = 6;
  for (const KernelBench& k : result.kernels) name_width = std::max(name_width, display_width(k.name));
  const auto line = [&](std::string_view name, const std::string& rest) {
    return "  " + pad(name, name_width) + "  " + rest;
  };
  const std::string header =
      cells("packing", "x", "bytes", "bits/weight", "ms", "GB/s", "share", "max error", "target");
  std::string text = style.dim(line("kernel", header)) + "\n";
  for (const KernelBench& k : result.kernels) text += line(k.name, row(k)) + "\n";
  text += "\n";
  for (const KernelBench& k : result.kernels) text += style.dim(line(k.name, k.what)) + "\n";
  return text + "\n" + footer(options, result);
}

std::string bench_kernels_json(const KernelBenchOptions& options, const KernelBenchResult& result) {
  using Json = nlohmann::ordered_json;
  Json kernels = Json::array();
  for (const KernelBench& k : result.kernels) {
    kernels.push_back({{"kernel", k.name},
                       {"what", k.what},
                       {"packing", k.packing},
                       {"activations", k.activations},
                       {"target", k.target},
                       {"bytes", k.bytes},
                       {"bits_per_weight", k.bits_per_weight},
                       {"ms", {{"median", k.ms.median}, {"min", k.ms.min}, {"max", k.ms.max}}},
                       {"runs", k.runs},
                       {"copies", k.copies},
                       {"gb_per_s", k.gb_per_s},
                       {"read_gb_per_s", k.read_gb_per_s},
                       {"share", k.share},
                       {"max_error", k.max_error}});
  }
  const Json json = {{"tern", version()},
                     {"rows", options.rows},
                     {"cols", options.cols},
                     {"threads", result.n_threads},
                     {"cached", options.cached},
                     {"cache_bytes", result.cache_bytes > 0 ? Json(result.cache_bytes) : Json(nullptr)},
                     {"result_rms", result.result_rms},
                     {"kernels", std::move(kernels)}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

void KernelsCommand::add(CLI::App& app) {
  shape_option_ = app.add_option("--shape", shape_, "Rows and columns of the matrix (default 4096x4096)")
                      ->type_name("RxC")
                      ->group("Kernels");
  cached_option_ = app.add_flag("--cached", cached_, "Multiply by a single copy of the matrix, read from the caches")
                       ->group("Kernels");
}

Result<void> KernelsCommand::check_unused() const {
  for (const CLI::Option* option : {shape_option_, cached_option_}) {
    if (option->count() > 0) {
      return fail(ErrorCode::kInvalidArgument, "{} is for 'tern bench kernels' only", option->get_name());
    }
  }
  return {};
}

Result<ExitCode> KernelsCommand::run(const CLI::App& app, int n_threads, int repeats, const std::string& format) const {
  static const std::vector<std::string> kMeant = {"what",      "--shape",  "--cached", "--threads",
                                                  "--repeats", "--output", "--json"};
  for (const CLI::Option* option : app.get_options()) {
    if (option->count() > 0 && !std::ranges::contains(kMeant, option->get_name()) && option != app.get_help_ptr()) {
      return fail(ErrorCode::kInvalidArgument, "bench kernels loads no model and does not use {}: leave it out",
                  option->get_name());
    }
  }
  TRY(const Shape shape, parse_shape(shape_));
  ProgressBar bar;
  const KernelBenchOptions options{.rows = shape.rows,
                                   .cols = shape.cols,
                                   .n_threads = n_threads,
                                   .repeats = repeats,
                                   .cached = cached_,
                                   .on_progress = bar.callback()};
  TRY(const KernelBenchResult result, bench_kernels(options));
  bar.wipe();
  TRY_STATUS(print(format == "json" ? bench_kernels_json(options, result)
                                    : bench_kernels_table(options, result, Style::of(STDOUT_FILENO))));
  return ExitCode::kDone;
}

}  // namespace tern::cli

#include "cli/bench/bench_ops.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "cli/support/common.h"
#include "cli/terminal/layout.h"

namespace tern::cli {
namespace {

// The cells after an operation's name and kernel.
std::string cells(int dispatches, double us, double us_alone, uint64_t bytes, double share) {
  const double rate = us > 0 ? static_cast<double>(bytes) / us / 1e3 : 0;
  return format_text("{:>6}{:>10.2f}{:>10.1f}{:>10.1f}{:>10}{:>9.1f}{:>7.1f} %", dispatches,
                     dispatches > 0 ? us / dispatches : 0, us, us_alone, human_bytes(bytes), rate, 100 * share);
}

}  // namespace

std::string bench_ops_table(const ModelInfo& info, const OpBenchOptions& options, const OpBenchResult& result,
                            const Style& style) {
  size_t name_width = 9, kernel_width = 6;
  double alone = 0;
  for (const OpBench& op : result.ops) {
    name_width = std::max(name_width, display_width(op.name));
    kernel_width = std::max(kernel_width, display_width(op.kernel));
    alone += op.us_alone;
  }
  const auto row = [&](std::string_view name, std::string_view kernel, const std::string& rest) {
    return format_text("  {}  {}  {}", pad(name, name_width), pad(kernel, kernel_width), rest);
  };
  std::string text = style.bold(describe(info)) + "\n\n";
  text +=
      style.dim(row("operation", "kernel", "     n   µs each        µs     alone     bytes     GB/s   share")) + "\n";
  for (const OpBench& op : result.ops) {
    text += row(op.name, op.kernel, cells(op.dispatches, op.us, op.us_alone, op.bytes, op.share)) + "\n";
  }
  text += row("all", "", cells(result.dispatches, result.sum_us, alone, result.bytes, 1)) + "\n\n";
  text += format_text("  {} takes {:.1f} µs while tokens are generated; its operations add up to {:.0f} % of that\n",
                      options.n_parallel > 1 ? format_text("a step of {} tokens", options.n_parallel) : "a token",
                      result.token_us, result.token_us > 0 ? 100 * result.sum_us / result.token_us : 0);
  text += format_text("  position {}, KV cache in {}, medians of {} runs\n", options.pos, kv_name(options.kv_type),
                      options.repeats);
  return text;
}

std::string bench_ops_json(const ModelInfo& info, const OpBenchOptions& options, const OpBenchResult& result) {
  using Json = nlohmann::ordered_json;
  Json ops = Json::array();
  for (const OpBench& op : result.ops) {
    ops.push_back({{"operation", op.name},
                   {"kernel", op.kernel},
                   {"dispatches", op.dispatches},
                   {"us", op.us},
                   {"us_alone", op.us_alone},
                   {"bytes", op.bytes},
                   {"gb_per_s", op.gb_per_s},
                   {"share", op.share}});
  }
  const Json json = {{"tern", version()},
                     {"model", info.path},
                     {"name", info.name},
                     {"backend", info.backend},
                     {"position", options.pos},
                     {"kv", kv_name(options.kv_type)},
                     {"parallel", options.n_parallel},
                     {"repeats", options.repeats},
                     {"ops", std::move(ops)},
                     {"dispatches", result.dispatches},
                     {"bytes", result.bytes},
                     {"sum_us", result.sum_us},
                     {"token_us", result.token_us}};
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tern::cli

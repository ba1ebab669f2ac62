#include "cli/support/batch_rank.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>

#include "base/platform/process.h"
#include "cli/terminal/layout.h"

namespace tern::cli {
namespace {

struct Names {
  const char *rank, *n_ranks;
};

std::optional<int> number(const char* text) {
  if (!text) return std::nullopt;
  const std::string_view all(text);
  int value = 0;
  const auto [end, error] = std::from_chars(all.data(), all.data() + all.size(), value);
  if (error != std::errc() || end != all.data() + all.size() || value < 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<BatchRank> rank_in_environment(const std::function<const char*(const char*)>& variable) {
  constexpr std::array<Names, 3> kMpi = {
      {{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMI_RANK", "PMI_SIZE"}, {"SLURM_PROCID", "SLURM_NTASKS"}}};
  const std::optional<int> task = number(variable("SLURM_ARRAY_TASK_ID"));
  std::optional<BatchRank> found;
  for (const Names& names : kMpi) {
    const std::optional<int> rank = number(variable(names.rank));
    if (!rank) continue;
    const int n = number(variable(names.n_ranks)).value_or(0);
    found = {.worker = format_text("rank-{}", *rank), .rank = *rank, .n_ranks = *rank < n ? n : 0};
    break;
  }
  if (!task) return found;
  // Tasks of an array start at different times, so their starting point in the queue does not matter.
  const std::string name = format_text("task-{}", *task);
  return BatchRank{.worker = found ? format_text("{}-{}", name, found->worker) : name};
}

std::string worker_of_process() {
  std::string name = platform::host_name();
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
  std::ranges::replace_if(name, [&](char c) { return !kPlain.contains(c); }, '-');
  return format_text("{}-{}", name, platform::process_id());
}

}  // namespace tern::cli

// The rank of this process among the processes that answer one batch together.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace tern::cli {

struct BatchRank {
  std::string worker;         // stays the same when the same rank is restarted
  int rank = 0, n_ranks = 0;  // n_ranks 0: unknown
};

// Reads the rank from the variables of Open MPI, MPICH and Slurm: the task of a Slurm array and the rank in it. Returns
// nullopt where none is set.
std::optional<BatchRank> rank_in_environment(const std::function<const char*(const char*)>& variable);

// Names a process without a rank: the machine and the process id.
std::string worker_of_process();

}  // namespace tern::cli

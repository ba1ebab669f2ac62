// Which of several programs that answer one batch this one is.
#pragma once

#include <functional>
#include <optional>
#include <string>

namespace tern::cli {

struct BatchRank {
  std::string worker;         // the same when the same rank is started again
  int rank = 0, n_ranks = 0;  // 0 ranks: nobody says how many
};

// As Open MPI, MPICH and Slurm tell it in the environment: the task of a Slurm array, and the rank in it. None where
// they do not.
std::optional<BatchRank> rank_in_environment(const std::function<const char*(const char*)>& variable);

// Of a program that nobody has given a rank: the machine and the process.
std::string worker_of_process();

}  // namespace tern::cli

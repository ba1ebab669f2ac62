#include "cli/support/batch_rank.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <map>
#include <string>

namespace tern::cli {
namespace {

std::optional<BatchRank> rank_where(const std::map<std::string, std::string>& environment) {
  return rank_in_environment([&](const char* name) -> const char* {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
  });
}

std::string worker_where(const std::map<std::string, std::string>& environment) {
  return rank_where(environment).value_or(BatchRank{.worker = "none"}).worker;
}

TEST(BatchRank, IsWhatMpiAndSlurmSay) {
  EXPECT_EQ(worker_where({}), "none");
  EXPECT_EQ(worker_where({{"OMPI_COMM_WORLD_RANK", "3"}}), "rank-3");
  EXPECT_EQ(worker_where({{"PMI_RANK", "2"}}), "rank-2");
  EXPECT_EQ(worker_where({{"SLURM_PROCID", "1"}}), "rank-1");
  EXPECT_EQ(worker_where({{"SLURM_PROCID", "0"}, {"OMPI_COMM_WORLD_RANK", "5"}}), "rank-5");  // mpirun in a job
  EXPECT_EQ(worker_where({{"SLURM_ARRAY_TASK_ID", "4"}}), "task-4");
  EXPECT_EQ(worker_where({{"SLURM_ARRAY_TASK_ID", "4"}, {"SLURM_PROCID", "1"}}), "task-4-rank-1");
  EXPECT_EQ(worker_where({{"PMI_RANK", "../x"}}), "none");
  EXPECT_EQ(worker_where({{"PMI_RANK", "-1"}}), "none");
  EXPECT_EQ(worker_where({{"PMI_RANK", ""}}), "none");
}

TEST(BatchRank, KnowsHowManyThereAre) {
  EXPECT_EQ(rank_where({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}})->n_ranks, 4);
  EXPECT_EQ(rank_where({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "4"}})->rank, 3);
  EXPECT_EQ(rank_where({{"OMPI_COMM_WORLD_RANK", "3"}, {"OMPI_COMM_WORLD_SIZE", "2"}})->n_ranks, 0);
  EXPECT_EQ(rank_where({{"SLURM_ARRAY_TASK_ID", "4"}, {"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "2"}})->n_ranks, 0);
}

TEST(BatchRank, AProcessHasANameThatAFileCanHave) {
  EXPECT_TRUE(worker_of_process().ends_with(std::to_string(getpid())));
  EXPECT_EQ(worker_of_process().find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-"),
            std::string::npos);
}

}  // namespace
}  // namespace tern::cli

#!/usr/bin/env python3
"""`tern batch --share`: one batch answered by several processes, some of which are killed.

usage: batch_share_test.py TERN processes
       batch_share_test.py TERN mpi [MPIRUN]
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest

SKIPPED = 77  # what CTest takes for a test that was not run
TERN = sys.argv[1]
MODEL = pathlib.Path(__file__).resolve().parents[2] / "models" / "tern-stories.gguf"
MPIRUN = (sys.argv[3:] + [""])[0]
ENVIRONMENT = {name: value for name, value in os.environ.items()
               if not name.startswith(("TERN_", "OMPI_", "PMI", "SLURM_"))}


class Batch(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="tern_test_")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.processes = []
        self.addCleanup(self.end_all)

    def end_all(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stderr.close()

    def write_requests(self, n, max_tokens=40):
        body = {"prompt": "Once upon a time", "max_tokens": max_tokens, "temperature": 0, "ignore_eos": True}
        lines = [json.dumps({"custom_id": f"r{i}", "method": "POST", "url": "/v1/completions", "body": body})
                 for i in range(n)]
        (self.folder / "in.jsonl").write_text("\n".join(lines) + "\n")

    def command(self, *options):
        return [TERN, "batch", "in.jsonl", "out.jsonl", "--share", "share", "-m", MODEL, "-b", "cpu",
                "--threads", "1", "--parallel", "4", *map(str, options)]

    def start(self, *options, **environment):
        process = subprocess.Popen(self.command(*options), stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   cwd=self.folder, env={**ENVIRONMENT, **environment})
        self.processes.append(process)
        return process

    def lines_of(self, worker):
        part = self.folder / "share" / f"part-{worker}.jsonl"
        return part.read_text().count("\n") if part.exists() else 0

    def wait_until(self, is_so):
        for _ in range(3000):
            if is_so():
                return
            time.sleep(0.01)
        self.fail("it does not come to pass")

    def assert_complete(self, n):
        ids = collections.Counter()
        for line in (self.folder / "out.jsonl").read_text().splitlines():
            answer = json.loads(line)
            self.assertEqual(answer["response"]["status_code"], 200)
            ids[answer["custom_id"]] += 1
        self.assertEqual(ids, {f"r{i}": 1 for i in range(n)})

    def assert_all_end_well(self, processes):
        for process in processes:
            said = process.communicate(timeout=120)[1]
            self.assertEqual(process.returncode, 0, said)


class Processes(Batch):
    def test_all_take_part_and_each_request_is_answered_once(self):
        self.write_requests(120)
        self.assert_all_end_well([self.start("--rank", i, "--of", 4) for i in range(4)])
        self.assert_complete(120)
        self.assertGreater(sum(self.lines_of(f"rank-{i}") > 0 for i in range(4)), 1)
        self.assertEqual(sum(self.lines_of(f"rank-{i}") for i in range(4)), 120)  # nothing was done twice
        before = (self.folder / "out.jsonl").read_text()
        self.assert_all_end_well([self.start("--rank", 7)])  # there is nothing left to do
        self.assertEqual((self.folder / "out.jsonl").read_text(), before)
        self.assertEqual(self.lines_of("rank-7"), 0)

    def test_one_that_is_killed_goes_on_when_it_is_started_again(self):
        self.write_requests(120)
        # Nobody else is to take what it had: only its own name gives it back.
        victim = self.start("--rank", 3, "--of", 4, "--lease", 1000)
        self.wait_until(lambda: self.lines_of("rank-3") >= 2)
        others = [self.start("--rank", i, "--of", 4, "--lease", 1000) for i in range(3)]
        victim.kill()
        victim.communicate()
        n = self.lines_of("rank-3")
        with open(self.folder / "share" / "part-rank-3.jsonl", "a") as part:
            part.write('{"custom_id": "r5", "resp')  # as if it had been killed while it wrote
        again = self.start("--rank", 3, "--of", 4, "--lease", 1000)
        self.assert_all_end_well([*others, again])
        self.assert_complete(120)
        self.assertGreater(self.lines_of("rank-3"), n)

    def test_what_a_dead_one_had_is_done_by_others(self):
        self.write_requests(120)
        victim = self.start("--lease", 1)  # without a rank: by its process id
        mine = lambda: list((self.folder / "share").glob(f"part-*-{victim.pid}.jsonl"))
        self.wait_until(lambda: mine() and mine()[0].read_text().count("\n") >= 2)
        others = [self.start("--lease", 1) for _ in range(3)]
        victim.kill()
        self.assert_all_end_well(others)
        self.assert_complete(120)
        self.assertTrue(list((self.folder / "share" / "ranges").glob("*.1")))

    def test_all_are_killed_and_fewer_go_on(self):
        self.write_requests(120)
        # Slurm's tasks of an array are named by its variables.
        everyone = [self.start("--lease", 1, SLURM_ARRAY_TASK_ID=str(i), SLURM_PROCID="0") for i in range(4)]
        self.wait_until(lambda: sum(self.lines_of(f"task-{i}-rank-0") for i in range(4)) >= 20)
        for process in everyone:
            process.kill()
            process.communicate()
        self.assertFalse((self.folder / "out.jsonl").exists())
        merge = self.start("--merge")
        said = merge.communicate(timeout=60)[1]
        self.assertEqual(merge.returncode, 1)
        self.assertIn("of 120 requests have no answer yet", said)
        self.assert_all_end_well([self.start("--lease", 1, SLURM_ARRAY_TASK_ID=str(i), SLURM_PROCID="0") for i in (1, 2)])
        self.assert_complete(120)

    def test_what_ends_at_a_signal_leaves_its_share_at_once(self):
        self.write_requests(60, max_tokens=100)
        first = self.start("--rank", 0, "--lease", 1000)
        self.wait_until(lambda: self.lines_of("rank-0") >= 2)
        first.terminate()
        first.communicate(timeout=60)
        self.assertEqual(first.returncode, 130)
        self.assert_all_end_well([self.start("--rank", 1, "--lease", 1000)])
        self.assert_complete(60)
        (self.folder / "out.jsonl").unlink()
        self.assert_all_end_well([self.start("--merge")])
        self.assert_complete(60)

    def test_what_cannot_be_shared_is_refused(self):
        self.write_requests(3)
        self.assert_all_end_well([self.start("--rank", 0)])

        def refused(words, *options, code=2):
            process = self.start(*options)
            said = process.communicate(timeout=60)[1]
            self.assertEqual((process.returncode, said.count("\n")), (code, 1), said)
            self.assertIn(words, said)

        refused("with --of 2 the last is 1", "--rank", 2, "--of", 2)
        self.write_requests(2)
        refused("answers to requests that are not in the batch", "--rank", 0)
        (self.folder / "out.jsonl").unlink()
        refused("belongs to other requests; name another folder", "--rank", 1)
        (self.folder / "out.jsonl").write_text("my notes")
        refused("is no file of answers", "--rank", 1)
        self.assertEqual((self.folder / "out.jsonl").read_text(), "my notes")


class Mpi(Batch):
    def mpi(self, *options):
        process = subprocess.Popen([MPIRUN, "--allow-run-as-root", "--oversubscribe", "-n", "4", *self.command(*options)],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                   cwd=self.folder, env=ENVIRONMENT)
        self.processes.append(process)
        return process

    def test_ranks_share_a_batch_and_go_on_where_they_were_killed(self):
        self.write_requests(120)
        ranks = self.mpi()
        self.wait_until(lambda: sum(self.lines_of(f"rank-{i}") for i in range(4)) >= 8)
        # mpirun ends all where one is killed.
        found = subprocess.run(["pgrep", "-P", str(ranks.pid)], capture_output=True, text=True).stdout.split()
        self.assertEqual(len(found), 4)
        os.kill(int(found[2]), 9)
        ranks.communicate(timeout=60)
        self.assertNotEqual(ranks.returncode, 0)
        self.assertFalse((self.folder / "out.jsonl").exists())
        self.assert_all_end_well([self.mpi()])
        self.assert_complete(120)


if __name__ == "__main__":
    kind = {"processes": Processes, "mpi": Mpi}[sys.argv[2]]
    if kind is Mpi and not MPIRUN:
        print("SKIPPED: there is no mpirun; Debian has it in openmpi-bin")
        sys.exit(SKIPPED)
    suite = unittest.defaultTestLoader.loadTestsFromTestCase(kind)
    sys.exit(not unittest.TextTestRunner(verbosity=2).run(suite).wasSuccessful())

#!/usr/bin/env python3
"""Breaks a random place of the sources, builds and runs the tests of its folder, and counts how often they notice.

A mutant changes an operator, a number, a condition, a result or leaves out a call. It is put into a copy of the tree. One
takes about ten seconds, so this is no part of ./check. What is not noticed is printed with its line: either a test is
missing, or the change makes no difference.

Usage: source.py WORKTREE BUILD [--n N] [--seed S] [--only PART_OF_PATH] [--log FILE]
WORKTREE is a checkout that may be written to (git worktree add), BUILD its configured build directory, best with
-DTERN_UNITY=OFF -DCMAKE_CXX_FLAGS_DEBUG=-O1. The same seed gives the same mutants.
Exit 0: at least nine of ten are noticed.
"""

import argparse
import pathlib
import random
import re
import subprocess
import sys
import time

# Folders of the sources, and the programs that test them, the fastest first.
PROGRAMS = {
    "src/base": ["base_test"],
    "src/file": ["file_test"],
    "src/grammar": ["grammar_test"],
    "src/hub": ["hub_test"],
    "src/plan": ["plan_test"],
    "src/quant": ["quant_test"],
    "src/routing": ["routing_test"],
    "src/sample": ["sample_test"],
    "src/text": ["text_test", "chat_tools_test"],
}

# What is found, and what it becomes.
CHANGES = [
    (r" < (?!<)", " <= "), (r" <= ", " < "), (r" > (?!>)", " >= "), (r" >= ", " > "), (r" == ", " != "), (r" != ", " == "),
    (r" && ", " || "), (r" \|\| ", " && "), (r" \+ ", " - "), (r" - ", " + "), (r" / ", " * "), (r" % ", " / "),
    (r" \+= ", " -= "), (r"\+\+(?=\w)", "--"), (r"\breturn true;", "return false;"), (r"\breturn false;", "return true;"),
    (r"\bif \(!", "if ("), (r"\bif \((?=[\w.]+\))", "if (!"), (r"\bcontinue;", "break;"), (r"(?<![\w.'])(\d+)(?![\w.'])", None),
    (r"^ +[a-z_][\w.>:-]*\([^;{}]*\);$", " ;"),
]
# Lines in which such places are something else: declarations, templates, macros, texts, tables of numbers.
NOT_CODE = re.compile(r'^\s*(//|#|using |template|static_assert|TRY|CHECK|case )|operator|"|\'|concept |requires |^[\s\d,{}xu-]+$')


def places(path):
    """(line number, start, end, replacement) of every place that can change."""
    found = []
    for number, line in enumerate(path.read_text().split("\n")):
        code = line.split("  //")[0]
        if NOT_CODE.search(code) or code.count("(") != code.count(")"):
            continue
        for pattern, becomes in CHANGES:
            if becomes in (" <= ", " >= ") and re.search(r"\w<\w|>\(|> [a-z_]+[;(={]", code):
                continue
            for match in re.finditer(pattern, code):
                found.append((number, match.start(), match.end(), becomes or str(int(match[0]) + 1)))
    return found


def sources(tree, only):
    """The files that tests cover, with their places."""
    files = {}
    for folder in PROGRAMS:
        for path in sorted((tree / folder).rglob("*.cc")):
            name = str(path.relative_to(tree))
            if re.search(r"_test|test_support|/web/|/windows/|/apple/|golden", name) or only not in name:
                continue
            if some := places(path):
                files[name] = some
    return files


def run(command, limit, folder):
    """The exit status; None after `limit` seconds."""
    try:
        return subprocess.run(command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False, timeout=limit).returncode
    except subprocess.TimeoutExpired:
        return None


class Judge:
    def __init__(self, tree, build):
        self.tree, self.build, self.limits = tree, build, {}

    def test(self, program, limit):
        return run([str(self.build / "bin" / program), "--gtest_fail_fast", "--gtest_brief=1"], limit, self.build)

    def limit(self, program):
        """Ten times what the program takes as it is. It must pass."""
        if program not in self.limits:
            start = time.monotonic()
            if run(["cmake", "--build", str(self.build), "--target", program], 3600, self.tree) != 0 or self.test(program, 600) != 0:
                sys.exit(f"{program} fails without any mutant")
            self.limits[program] = 20 + 10 * (time.monotonic() - start)
        return self.limits[program]

    def judge(self, name, change):
        """'noticed', 'missed', or 'no' where it does not compile."""
        number, start, end, becomes = change
        programs = next(programs for folder, programs in PROGRAMS.items() if name.startswith(folder + "/"))
        limits = [self.limit(program) for program in programs]
        path = self.tree / name
        before = path.read_text()
        lines = before.split("\n")
        lines[number] = lines[number][:start] + becomes + lines[number][end:]
        try:
            path.write_text("\n".join(lines))
            for program, limit in zip(programs, limits):
                if run(["cmake", "--build", str(self.build), "--target", program], 900, self.tree) != 0:
                    return "no", lines[number]
                if self.test(program, limit) != 0:
                    return "noticed", lines[number]
            return "missed", lines[number]
        finally:
            path.write_text(before)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("tree", type=pathlib.Path)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--log", type=pathlib.Path)
    arguments = parser.parse_args()
    files = sources(arguments.tree, arguments.only)
    all_places = [(name, place) for name, some in files.items() for place in some]
    random.Random(arguments.seed).shuffle(all_places)
    judge, counts = Judge(arguments.tree.resolve(), arguments.build.resolve()), {"noticed": 0, "missed": 0, "no": 0}
    for name, place in all_places:
        if counts["noticed"] + counts["missed"] == arguments.n:
            break
        result, line = judge.judge(name, place)
        counts[result] += 1
        text = f"{result:8}{name}:{place[0] + 1}: {line.strip()}"
        if result == "missed":
            print(text, flush=True)
        if arguments.log:
            with arguments.log.open("a") as log:
                log.write(text + "\n")
    total = counts["noticed"] + counts["missed"]
    print(f"{counts['noticed']} of {total} mutants noticed; {counts['no']} more do not compile")
    return 0 if counts["noticed"] >= 0.9 * total else 1


if __name__ == "__main__":
    sys.exit(main())

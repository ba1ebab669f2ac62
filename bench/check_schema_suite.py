#!/usr/bin/env python3
"""Holds replies to the schemas of JSON-Schema-Test-Suite, and looks at them with python3-jsonschema.

usage: check_schema_suite.py WALK FOLDER [DOCUMENTS] [SEED]

WALK: the program grammar_walk. FOLDER: the suite's tests/draft2020-12. Prints each group that is refused or has an invalid
document, and the counts. The exit code is 1 if a document is invalid.
"""

import collections
import decimal
import json
import pathlib
import subprocess
import sys

import jsonschema

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "tests" / "grammar"))
from check_documents import pattern  # noqa: E402

ENOUGH = 3
decimal.getcontext().prec = 1000


def exact_json(text):
    """Without binary fractions: 1.63 is a multiple of 0.0001."""

    def number(digits):
        value = decimal.Decimal(digits)
        return int(value) if value == value.to_integral_value() else value

    return json.loads(text, parse_float=number)


Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": pattern})


def main():
    walk, folder, *numbers = sys.argv[1:]
    n_documents, seed = numbers + ["10", "1"][len(numbers):]
    groups = [(f"{path.stem}: {group['description']}", group["schema"])
              for path in sorted(pathlib.Path(folder).glob("*.json")) for group in json.loads(path.read_text())]
    lines = "\n".join(json.dumps({"schema": schema, "valid": []}) for _, schema in groups)
    ran = subprocess.run([walk, n_documents, seed], input=lines + "\n", capture_output=True, check=True, text=True)
    n_refused, per_group, n_bad = 0, collections.Counter(), 0
    for (name, schema), line in zip(groups, ran.stdout.split("\n")[:-1], strict=True):
        result = json.loads(line)
        if "error" in result:
            n_refused += 1
            print(f"{name}: {result['error']}")
            continue
        per_group[len(result["documents"])] += 1
        if len(result["documents"]) < ENOUGH:
            print(f"{name}: {len(result['documents'])} documents ended")
        validator = Validator(exact_json(json.dumps(schema)))
        for document in result["documents"]:
            error = next(validator.iter_errors(exact_json(document)), None)
            if error:
                n_bad += 1
                print(f"{name}: INVALID: {document}: {error.message}")
    n_written = sum(n * count for n, count in per_group.items())
    print(f"{len(groups)} groups: {n_refused} refused, {len(groups) - n_refused} accepted, "
          f"{sum(count for n, count in per_group.items() if n < ENOUGH)} of them with fewer than {ENOUGH} documents; "
          f"{n_written} documents, {n_bad} invalid")
    sys.exit(n_bad > 0)


if __name__ == "__main__":
    main()

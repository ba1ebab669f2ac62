#!/usr/bin/env python3
"""Holds replies to schemas and looks at them with a validator that knows nothing of Tern (python3-jsonschema).

usage: check_documents.py WALK [SCHEMAS] [DOCUMENTS] [SEED]

WALK is the program of walk.cc. Every document that it writes must be valid by its schema, and every document that is
known to be valid must be possible.
"""
import datetime
import ipaddress
import json
import re
import subprocess
import sys
import uuid
from pathlib import Path

import jsonschema


def pattern(validator, wanted, instance, schema):
    # As JavaScript has them: \d and \w are ASCII's.
    if validator.is_type(instance, "string") and not re.search(wanted, instance, re.ASCII):
        yield jsonschema.ValidationError(f"{instance!r} does not match {wanted!r}")


LABEL = r"[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
FORMATS = {
    "date": datetime.date.fromisoformat,
    "time": lambda text: datetime.datetime.fromisoformat("2000-01-01T" + text).tzinfo.utcoffset(None),
    "date-time": lambda text: datetime.datetime.fromisoformat(text).tzinfo.utcoffset(None),
    "duration": re.compile(r"P(?!$)(\d+W|(\d+Y)?(\d+M)?(\d+D)?(T(?=\d)(\d+H)?(\d+M)?(\d+S)?)?)").fullmatch,
    "email": re.compile(r"[\w+-]+(\.[\w+-]+)*@" + LABEL + r"(\." + LABEL + ")+", re.ASCII).fullmatch,
    "hostname": lambda text: len(text) <= 253 and re.fullmatch(LABEL + r"(\." + LABEL + ")*", text),
    "ipv4": ipaddress.IPv4Address,
    "ipv6": ipaddress.IPv6Address,
    "uri": re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:[!#-;=?-Z_a-z~%]*", re.ASCII).fullmatch,
    "json-pointer": re.compile(r"(/([^/~]|~[01])*)*").fullmatch,
    "uuid": lambda text: len(text) == 36 and uuid.UUID(text),
}


def has_format(validator, name, instance, schema):
    if not validator.is_type(instance, "string"):
        return
    try:
        good = FORMATS[name](instance)
    except ValueError:
        good = False
    if not good and good != datetime.timedelta(0):
        yield jsonschema.ValidationError(f"{instance!r} has not the format {name}")


Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"pattern": pattern, "format": has_format})


def main():
    walk = sys.argv[1]
    n_schemas, n_documents, seed = ([int(x) for x in sys.argv[2:]] + [320, 10, 1][len(sys.argv) - 2:])
    make = Path(__file__).parent / "make_schemas.py"
    schemas = subprocess.run([sys.executable, make, str(n_schemas), str(seed)], capture_output=True, check=True).stdout
    lines = subprocess.run([walk, str(n_documents), str(seed)], input=schemas, capture_output=True, check=True).stdout
    n_valid = n_unfinished = n_refused_schemas = n_bad = 0

    def complain(*what):
        nonlocal n_bad
        n_bad += 1
        print(*what, sep="\n  ")
    for text, result in zip(schemas.decode().split("\n")[:-1], lines.decode().split("\n")[:-1], strict=True):
        line, result = json.loads(text), json.loads(result)
        schema, validator = line["schema"], Validator(line["schema"])
        Validator.check_schema(schema)
        for document in line["valid"]:
            if not validator.is_valid(document):
                complain("make_schemas.py thinks that this is valid:", json.dumps(document), text)
        if "error" in result:
            n_refused_schemas += 1
            if line.get("may_be_refused"):
                continue
            complain("refused: " + result["error"], text)
            continue
        n_unfinished += result["unfinished"]
        if result["wrong_masks"]:
            complain(f"{result['wrong_masks']} masks say something else than the matcher", text)
        for document in result["refused"]:
            complain("valid, and not possible: " + document, text)
        for document in result["documents"]:
            try:
                error = next(validator.iter_errors(json.loads(document)), None)
            except (ValueError, jsonschema.ValidationError) as why:
                error = why
            if error:
                complain(f"not valid: {document!r}: {error}", text)
            n_valid += 0 if error else 1
    print(f"{n_valid} documents of {n_schemas} schemas are valid, {n_unfinished} did not end, {n_refused_schemas} "
          f"schemas are refused; {n_bad} complaints")
    n_documents = n_documents * (n_schemas - n_refused_schemas) // n_schemas
    most_unfinished = n_schemas * n_documents // 10
    return 1 if n_bad or n_unfinished > most_unfinished or n_valid < n_schemas * n_documents // 2 else 0


if __name__ == "__main__":
    sys.exit(main())

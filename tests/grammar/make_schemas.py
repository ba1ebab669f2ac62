#!/usr/bin/env python3
"""Writes schemas to hold replies to, one a line: {"schema": …, "valid": [documents that are valid and usual]}.

usage: make_schemas.py [COUNT] [SEED]

Some are like those that people write, the others are put together by chance. The same numbers give the same schemas.
"""
import json
import random
import string
import sys

PATTERNS = {  # with a text that matches
    r"^[a-z]{2,5}$": "abc", r"^\d{3}-\d{4}$": "555-0199", r"[A-Z]": "xYz", r"^(red|green|blue)$": "green",
    r"^[A-Z][a-z]+( [A-Z][a-z]+)*$": "Ada Lovelace", r"^#[0-9a-fA-F]{6}$": "#00ff7F", r"^$|^x+$": "xxx",
    r"\.(jpe?g|png)$": "a b.png", r"^[^\s@]+@[^\s@]+$": "a@b", r"^\S+$": "é\"\\", r"^\w+\W\w+$": "a-b",
    r"^.{3}$": "añ€", r"^[\u0400-\u04FF]+$": "привет", r"^a?b*c+?$": "bbc", r"^-?\d+(\.\d+)?$": "-1.25",
}
FORMATS = {"date": "2024-02-29", "time": "12:00:00Z", "date-time": "2024-01-31T23:59:59+01:00", "duration": "P1DT2H",
           "email": "a.b@example.org", "hostname": "www.example.org", "ipv4": "192.168.0.1", "ipv6": "fe80::1",
           "uuid": "123e4567-e89b-12d3-a456-426614174000", "uri": "https://a.example/b?c#d", "json-pointer": "/a/~0"}
NAMES = ["id", "name", "a", "b", "value", "items", "next", "größe", "with space", "quote\"d", "back\\slash", "ab", "abc",
         "", "new\nline", "type", "children", "x1", "x2", "x3"]


class Maker:
    """Methods return a schema and a function that makes documents for it."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, p):
        return self.random.random() < p

    def schema(self, depth):
        kinds = [self.string, self.number, self.integer, self.values, self.plain]
        if depth > 0:
            kinds += [self.object, self.object, self.array, self.tuple, self.any_of, self.one_of, self.all_of]
        schema, make = self.random.choice(kinds)(depth)
        if self.chance(0.1) and isinstance(schema, dict):
            schema = {"description": "some words", "title": "T", **schema, "examples": [1], "$comment": "no"}
        return schema, make

    def plain(self, _depth):
        return self.random.choice([
            ({"type": "null"}, lambda: None), ({"type": "boolean"}, lambda: self.chance(0.5)),
            ({"type": "string"}, self.text), (True, lambda: [1, {"a": None}]), ({}, lambda: "any"),
            ({"type": "object"}, lambda: {"k": [1.5, "v"]}), ({"type": ["integer", "null"]}, lambda: None)])

    def text(self, low=0, high=9):
        return "".join(self.random.choice(string.ascii_letters + " é€😀\"\\\n/") for _ in range(self.random.randint(low, high)))

    def string(self, _depth):
        kind = self.random.randrange(4)
        if kind == 0:
            pattern = self.random.choice(list(PATTERNS))
            schema = {"type": "string", "pattern": pattern}
            if self.chance(0.3):
                schema["minLength"] = len(PATTERNS[pattern]) - (1 if self.chance(0.5) else 0)
            if self.chance(0.3):
                schema["maxLength"] = len(PATTERNS[pattern]) + self.random.randint(0, 3)
            return schema, lambda: PATTERNS[pattern]
        if kind == 1:
            name = self.random.choice(list(FORMATS))
            return {"type": "string", "format": name}, lambda: FORMATS[name]
        low, high = self.random.randint(0, 4), self.random.randint(4, 12)
        schema = {"type": "string"}
        if self.chance(0.6):
            schema["minLength"] = low
        if self.chance(0.6):
            schema["maxLength"] = high
        return schema, lambda: self.text(low, high)

    def bounds(self, schema, low, high):
        if self.chance(0.7):
            schema["minimum" if self.chance(0.5) else "exclusiveMinimum"] = low
        if self.chance(0.7):
            schema["maximum" if self.chance(0.5) else "exclusiveMaximum"] = high

    def integer(self, _depth):
        low = self.random.choice([-1000, -17, -1, 0, 1, 5, 99, 12345])
        high = low + self.random.choice([2, 9, 50, 12345])
        schema = {"type": "integer"}
        self.bounds(schema, low, high)
        multiple = 1
        if self.chance(0.2) and high - low > 40:
            multiple = schema["multipleOf"] = self.random.randint(2, 12)
        return schema, lambda: self.random.choice([n for n in range(low + 1, min(high, low + 40)) if n % multiple == 0] or [low + 1])

    def number(self, _depth):
        low = self.random.choice([-100.5, -1, -0.25, 0, 0.001, 1.5, 99.99])
        high = low + self.random.choice([0.5, 1, 12.25, 1000])
        schema = {"type": "number"}
        self.bounds(schema, low, high)
        return schema, lambda: round((low + high) / 2, 6)

    def values(self, _depth):
        values = self.random.sample([1, 2.5, "a", "ab", "x\"y", None, True, False, [1, 2], {"a": 1, "b": [2]}, "", -3, "é"], 4)
        if self.chance(0.3):
            return {"const": values[0]}, lambda: values[0]
        return {"enum": values}, lambda: self.random.choice(values)

    def object(self, depth):
        names = self.random.sample(NAMES, self.random.randint(0, 5))
        parts = {name: self.schema(depth - 1) for name in names}
        required = [name for name in names if self.chance(0.5)]
        schema = {"type": "object", "properties": {name: part[0] for name, part in parts.items()}}
        if required or self.chance(0.2):
            schema["required"] = required[::-1]
        extra = None
        if self.chance(0.3):
            extra = self.schema(0)
            schema["additionalProperties"] = extra[0]
        elif self.chance(0.5):
            schema["additionalProperties"] = False

        def make():
            document = {name: parts[name][1]() for name in names if name in required or self.chance(0.5)}
            for name in ("other", "abcd", "qu\"ote"):
                if extra and self.chance(0.4):
                    document[name] = extra[1]()
            return document
        if self.chance(0.15) and names:
            schema["minProperties"] = len(required)
            schema["maxProperties"] = len(names) + 3
        return schema, make

    def array(self, depth):
        items, make = self.schema(depth - 1)
        low, high = self.random.randint(0, 2), self.random.randint(2, 5)
        schema = {"type": "array", "items": items}
        if self.chance(0.5):
            schema["minItems"] = low
        if self.chance(0.5):
            schema["maxItems"] = high
        return schema, lambda: [make() for _ in range(self.random.randint(low, high))]

    def tuple(self, depth):
        parts = [self.schema(depth - 1) for _ in range(self.random.randint(1, 3))]
        schema = {"type": "array", "prefixItems": [part[0] for part in parts]}
        if self.chance(0.6):
            schema["items"] = False
        if self.chance(0.5):
            schema["minItems"] = len(parts)
        return schema, lambda: [part[1]() for part in parts]

    def any_of(self, depth):
        branches = [self.schema(depth - 1) for _ in range(self.random.randint(1, 3))]
        return {"anyOf": [branch[0] for branch in branches]}, lambda: self.random.choice(branches)[1]()

    def one_of(self, depth):
        inner, make = self.object(depth - 1) if depth > 1 else self.object(0)
        branches = []
        for i in range(self.random.randint(2, 3)):
            branches.append({"type": "object", "properties": {"kind": {"const": f"k{i}"}, **inner["properties"]},
                             "required": ["kind"] + inner.get("required", [])})
        names = list(inner["properties"])
        return {"oneOf": branches}, lambda: {"kind": "k1", **{n: v for n, v in make().items() if n in names}}

    def all_of(self, depth):
        first, make_first = self.object(depth - 1)
        second, make_second = self.object(depth - 1)
        for schema in (first, second):
            for keyword in ("additionalProperties", "minProperties", "maxProperties"):
                schema.pop(keyword, None)
        shared = set(first["properties"]) & set(second["properties"])
        for name in shared:
            del second["properties"][name]
        second["required"] = [name for name in second.get("required", []) if name not in shared]
        known = list(first["properties"]) + list(second["properties"])
        if not known:
            return first, lambda: {}

        def make():
            both = {**{n: v for n, v in make_second().items() if n not in shared}, **make_first()}
            return {name: both[name] for name in known if name in both}
        return {"allOf": [first, second]}, make


    # Schemas that combine anything with anything. Few are useful, and some are refused: what they allow must be valid.

    def loose(self, depth):
        small = [{"type": "integer", "minimum": self.random.randint(0, 3)}, {"maximum": 2.5}, {"const": "a"}, {"enum": [1, "b", None]},
                 {"type": "string", "maxLength": 2}, {"pattern": "^[ab]+$"}, {"multipleOf": 0.5}, {"type": ["null", "boolean"]}, True,
                 {"type": "string", "format": "ipv4"}, {"type": "number"}]
        if depth <= 0 or self.chance(0.2):
            return self.random.choice(small)

        def inner():
            return self.loose(depth - 1)

        def names():
            return self.random.sample(["a", "b", "ab", "kind"], self.random.randint(1, 2))
        makers = {
            "not": inner, "if": inner, "then": inner, "else": inner, "items": inner, "contains": inner,
            "anyOf": lambda: [inner(), inner()], "oneOf": lambda: [inner() for _ in range(self.random.randint(2, 3))],
            "allOf": lambda: [inner(), inner()], "properties": lambda: {name: inner() for name in names()},
            "patternProperties": lambda: {self.random.choice(["^a", "b$", "[k-n]"]): inner()}, "required": names,
            "additionalProperties": lambda: self.random.choice([False, inner()]), "propertyNames": inner,
            "unevaluatedProperties": lambda: self.random.choice([False, inner()]), "unevaluatedItems": lambda: False,
            "dependentRequired": lambda: {name: names() for name in names()}, "maxProperties": lambda: self.random.randint(0, 3),
            "dependentSchemas": lambda: {name: inner() for name in names()}, "minProperties": lambda: self.random.randint(0, 2),
            "prefixItems": lambda: [inner(), inner()], "maxItems": lambda: self.random.randint(0, 3), "minItems": lambda: 1,
            "maxContains": lambda: 2, "minContains": lambda: self.random.randint(0, 2), "uniqueItems": lambda: True}
        chosen = self.random.sample(list(makers), self.random.randint(1, 4))
        schema = {keyword: makers[keyword]() for keyword in chosen}
        if self.chance(0.5):
            schema["type"] = self.random.choice(["object", "object", "array", ["object", "string"], ["array", "integer"]])
        return schema


def usual():
    """Schemas as people write them, with documents."""
    address = {"type": "object", "properties": {"street": {"type": "string"}, "zip": {"type": "string", "pattern": "^[0-9]{5}$"}},
               "required": ["street", "zip"], "additionalProperties": False}
    yield ({"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": "person", "type": "object", "title": "Person",
            "properties": {"name": {"type": "string", "minLength": 1}, "age": {"type": "integer", "minimum": 0, "maximum": 150},
                           "email": {"type": "string", "format": "email"}, "address": {"$ref": "#/$defs/address"}},
            "required": ["name", "age"], "additionalProperties": False, "$defs": {"address": address}},
           [{"name": "Ada", "age": 36}, {"name": "Ada", "age": 36, "email": "a@b.org", "address": {"street": "x", "zip": "12345"}}])
    yield ({"type": "object", "properties": {"steps": {"type": "array", "items": {"type": "object", "properties": {
        "explanation": {"type": "string"}, "output": {"type": "string"}}, "required": ["explanation", "output"],
        "additionalProperties": False}}, "final_answer": {"type": "string"}}, "required": ["steps", "final_answer"],
        "additionalProperties": False},
        [{"steps": [], "final_answer": "x"}, {"steps": [{"explanation": "8x = 7", "output": "x = 7/8"}], "final_answer": "7/8"}])
    tree = {"$ref": "#/$defs/node", "$defs": {"node": {"type": "object", "properties": {
        "value": {"type": "number"}, "children": {"type": "array", "items": {"$ref": "#/$defs/node"}}},
        "required": ["value", "children"], "additionalProperties": False}}}
    yield tree, [{"value": 1, "children": []}, {"value": 1.5, "children": [{"value": -2, "children": []}]}]
    yield ({"type": "object", "properties": {"linked_list": {"$ref": "#/$defs/n"}}, "required": ["linked_list"], "$defs": {
        "n": {"anyOf": [{"type": "object", "properties": {"v": {"type": "integer"}, "next": {"$ref": "#/$defs/n"}},
                         "required": ["v", "next"]}, {"type": "null"}]}}},
        [{"linked_list": None}, {"linked_list": {"v": 1, "next": {"v": 2, "next": None}}}])
    yield ({"type": "object", "properties": {"tool": {"const": "search"}, "arguments": {"type": "object", "properties": {
        "query": {"type": "string", "maxLength": 40}, "limit": {"type": ["integer", "null"], "minimum": 1, "maximum": 50}},
        "required": ["query", "limit"]}}, "required": ["tool", "arguments"]},
        [{"tool": "search", "arguments": {"query": "a \"b\"", "limit": None}}, {"tool": "search", "arguments": {"query": "", "limit": 50}}])
    yield ({"type": "array", "items": {"$ref": "#"}}, [[], [[], [[]]]])
    yield ({"definitions": {"c": {"enum": ["r", "g"]}}, "type": "array", "items": {"$ref": "#/definitions/c"}, "minItems": 1}, [["r", "g"]])
    yield ({"type": "object", "additionalProperties": {"type": "integer"}}, [{}, {"a": 1, "b": 2}])
    yield ({"oneOf": [{"type": "string", "format": "date"}, {"type": "integer", "exclusiveMinimum": 0}]}, ["2000-02-29", 7])
    yield ({"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
            "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}, [{"a": 1}, {"b": 1}, {"a": 1, "b": 2}])
    yield ({"type": "string", "minLength": 200, "maxLength": 210}, ["é" * 205])
    yield ({"type": "object", "properties": {f"p{i}": {"type": "boolean"} for i in range(40)}}, [{"p3": True, "p39": False}, {}])
    yield ({"enum": [f"value {i}" for i in range(3000)]}, ["value 0", "value 2999"])


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    lines = [{"schema": schema, "valid": valid} for schema, valid in usual()]
    maker = Maker(seed)
    while len(lines) < count:
        schema, make = maker.schema(maker.random.randint(0, 3))
        lines.append({"schema": schema, "valid": [make() for _ in range(4)]})
        lines.append({"schema": maker.loose(3), "valid": [], "may_be_refused": True})
    for line in lines:
        print(json.dumps(line, ensure_ascii=False))


if __name__ == "__main__":
    main()

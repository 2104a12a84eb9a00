# SPDX-License-Identifier: BSD-2-Clause
"""Decodes a pprof profile and holds it against the rules of profile.proto: check_pprof.py FILE

Prints what is wrong on standard error (exit status 1), else one line for each sample type: TYPE UNIT SUM.
"""
import gzip
import sys


def fields(data):
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        else:
            assert key & 7 == 2, f"wire type {key & 7}"
            length = varint()
            assert at + length <= len(data), "a field longer than the message"
            yield key >> 3, data[at:at + length]
            at += length


def numbers(data):
    out, value, shift = [], 0, 0
    for byte in data:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(value)
            value = shift = 0
    assert shift == 0, "a number without an end"
    return out


def one(data):
    return dict(fields(data))


profile = {}
for field, value in fields(gzip.decompress(open(sys.argv[1], "rb").read())):
    profile.setdefault(field, []).append(value)
strings = [text.decode("utf-8", "strict") for text in profile[6]]
assert strings[0] == "", "the first string is not empty"


def text(message, field):
    index = message.get(field, 0)
    assert index < len(strings), f"string {index} of {len(strings)}"
    return strings[index]


types = [(text(one(data), 1), text(one(data), 2)) for data in profile[1]]
ids = {}
for field, name in ((3, "mapping"), (4, "location"), (5, "function")):
    ids[name] = [one(data).get(1, 0) for data in profile.get(field, [])]
    assert all(ids[name]) and len(set(ids[name])) == len(ids[name]), f"numbers of {name}s"
    ids[name] = set(ids[name])
for data in profile.get(5, []):
    text(one(data), 2), text(one(data), 4)
for data in profile.get(4, []):
    assert one(data).get(2, 0) in ids["mapping"] | {0}, "mapping of a location"
    lines = [one(value) for field, value in fields(data) if field == 4]
    assert lines and all(line[1] in ids["function"] for line in lines), "function of a location"
sums = [0] * len(types)
for data in profile.get(2, []):
    sample = one(data)
    values = numbers(sample[2])
    assert len(values) == len(types), "values of a sample"
    assert all(location in ids["location"] for location in numbers(sample[1])), "location of a sample"
    for i, value in enumerate(values):
        sums[i] += value
    for field, value in fields(data):
        if field == 3:
            assert text(one(value), 1) == "unit", "label"
for (name, unit), total in zip(types, sums):
    print(name.replace("\n", "?"), unit, total)

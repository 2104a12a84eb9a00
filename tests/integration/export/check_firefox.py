# SPDX-License-Identifier: BSD-2-Clause
"""A strict checker of Firefox Profiler's processed profile format, version 66: check_firefox.py FILE

The front end's own loader notices next to nothing. Prints one line for each thing found wrong; nothing if all is well.
"""
import gzip
import json
import sys

COLUMNS = {
    "sources": ["id", "filename", "startLine", "startColumn", "sourceMapURL", "content"],
    "sourceLocationTable": ["source", "line", "column"],
    "resourceTable": ["lib", "name", "host", "type"],
    "nativeSymbols": ["libIndex", "address", "name", "functionSize"],
    "funcTable": ["name", "isJS", "relevantForJS", "resource", "source", "lineNumber", "columnNumber",
                  "originalLocation"],
    "frameTable": ["address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID", "line",
                   "column", "originalLocation"],
    "stackTable": ["frame", "prefixOffset"],
}
COLORS = "transparent purple green orange yellow lightblue blue brown magenta red lightred darkgrey grey".split()
GRAPH_COLORS = "blue green grey ink magenta orange purple red teal yellow".split()
FORMATS = ("string sanitized-string url file-path unique-string flow-id terminating-flow-id duration time seconds "
           "milliseconds microseconds nanoseconds bytes percentage integer decimal hexadecimal pid tid list").split()
DISPLAYS = "marker-chart marker-table timeline-overview timeline-memory timeline-ipc timeline-fileio".split()

found = 0


def wrong(text):
    global found
    found += 1
    if found <= 40:
        print(text)


def expect(condition, text):
    if not condition:
        wrong(text)
    return condition


def is_number(value):
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def index(value, limit, text, none=()):
    if value in none and not isinstance(value, bool) or value is None and None in none:
        return
    expect(isinstance(value, int) and not isinstance(value, bool) and 0 <= value < limit, f"{text}: {value!r} of {limit}")


def no_duplicates(pairs):
    keys = [key for key, _ in pairs]
    for key in set(keys):
        if keys.count(key) > 1:
            wrong(f"key {key} twice in one object")
    return dict(pairs)


def read(path):
    data = open(path, "rb").read()
    if data[:2] == b"\x1f\x8b":
        data = gzip.decompress(data)
    return json.loads(data.decode("utf-8", "strict"), object_pairs_hook=no_duplicates,
                      parse_constant=lambda name: wrong(f"{name} is no JSON"))


def table(table_, name, columns, optional=()):
    length = table_.get("length")
    if not expect(isinstance(length, int), f"{name} has no length"):
        return 0
    for column in columns:
        if expect(column in table_, f"{name} lacks {column}"):
            expect(len(table_[column]) == length, f"{name}.{column} has {len(table_[column])} of {length}")
    for key in table_:
        expect(key in columns or key == "length" or key in optional, f"{name} has an unknown column {key}")
    return length


def shared(profile):
    s = profile["shared"]
    strings = s["stringArray"]
    n = {"strings": len(strings)}
    expect(len(set(strings)) == len(strings), "a string is there twice")
    expect(all(isinstance(text, str) for text in strings), "stringArray has something else")
    for name, columns in COLUMNS.items():
        n[name] = table(s[name], name, columns)
    for i in range(n["sources"]):
        index(s["sources"]["filename"][i], len(strings), "sources.filename")
        content = s["sources"]["content"][i]
        expect(content is None or isinstance(content, str), "sources.content")
    for i in range(n["resourceTable"]):
        index(s["resourceTable"]["lib"][i], len(profile["libs"]), "resourceTable.lib")
        index(s["resourceTable"]["name"][i], len(strings), "resourceTable.name")
        expect(s["resourceTable"]["type"][i] == 1, "resourceTable.type")
    for i in range(n["funcTable"]):
        index(s["funcTable"]["name"][i], len(strings), "funcTable.name")
        index(s["funcTable"]["resource"][i], n["resourceTable"], "funcTable.resource", (-1,))
        index(s["funcTable"]["source"][i], n["sources"], "funcTable.source", (None,))
    categories = profile["meta"]["categories"]
    for i in range(n["frameTable"]):
        index(s["frameTable"]["func"][i], n["funcTable"], "frameTable.func")
        index(s["frameTable"]["category"][i], len(categories), "frameTable.category", (None,))
        index(s["frameTable"]["nativeSymbol"][i], n["nativeSymbols"], "frameTable.nativeSymbol", (None,))
        address = s["frameTable"]["address"][i]
        expect(isinstance(address, int) and -1 <= address < 2 ** 53, "frameTable.address")
        line = s["frameTable"]["line"][i]
        expect(line is None or isinstance(line, int) and line > 0, "frameTable.line")
    for i in range(n["stackTable"]):
        index(s["stackTable"]["frame"][i], n["frameTable"], "stackTable.frame")
        index(s["stackTable"]["prefixOffset"][i], i + 1, "stackTable.prefixOffset")
    return n


def meta(profile, n_threads):
    m = profile["meta"]
    expect(m.get("preprocessedProfileVersion") == 66, "not version 66")
    for key in ("interval", "startTime", "version", "processType", "stackwalk"):
        expect(key in m and is_number(m[key]), f"meta.{key}")
    expect(is_number(m.get("logicalCPUs", 1)), "meta.logicalCPUs")
    for key in ("product", "importedFrom", "arguments", "oscpu"):
        expect(isinstance(m.get(key), str), f"meta.{key}")
    expect(m.get("symbolicated") is True, "meta.symbolicated")
    expect(sum(category["color"] == "grey" for category in m["categories"]) == 1, "one grey category")
    for category in m["categories"]:
        expect(category["color"] in COLORS, f"colour {category['color']}")
        expect(category["subcategories"][0] == "Other", "subcategories")
    for key in ("initialVisibleThreads", "initialSelectedThreads"):
        expect(m[key], f"no {key}")
        expect(len(set(m[key])) == len(m[key]), f"{key} has doubles")
        for thread in m[key]:
            index(thread, n_threads, f"meta.{key}")
    for section in m["extra"]:
        for entry in section["entries"]:
            expect(entry["format"] in FORMATS and isinstance(entry["label"], str), "meta.extra")


def schemas(profile):
    result = {}
    for schema in profile["meta"]["markerSchema"]:
        expect(schema["name"] not in result, f"schema {schema['name']} twice")
        result[schema["name"]] = schema
        expect(all(place in DISPLAYS for place in schema["display"]), f"{schema['name']}.display")
        keys = [field["key"] for field in schema["fields"]]
        expect(len(set(keys)) == len(keys), f"{schema['name']} has a field twice")
        for field in schema["fields"]:
            format_ = field["format"]
            expect(format_ in FORMATS if isinstance(format_, str) else format_["type"] == "table" and format_["columns"],
                   f"{schema['name']}.{field['key']} has the format {format_}")
            expect("label" in field or field.get("hidden"), f"{schema['name']}.{field['key']} has no label")
        for label in ("chartLabel", "tableLabel", "tooltipLabel"):
            for part in schema.get(label, "").split("{marker.data.")[1:]:
                expect(part.split("}")[0] in keys, f"{schema['name']}.{label} names {part}")
        for graph in schema.get("graphs", []):
            expect(graph["key"] in keys and graph["type"] in ("bar", "line", "line-filled") and
                   graph["color"] in GRAPH_COLORS, f"{schema['name']}.graphs")
        expect(schema.get("colorField", keys[:1] and keys[0]) in keys + [None, []], f"{schema['name']}.colorField")
    return result


def marker_field(data, field, n_strings, name):
    value, format_ = data[field["key"]], field["format"]
    if isinstance(format_, dict):
        for row in value:
            expect(len(row) == len(format_["columns"]), f"{name}: a row of {len(row)}")
    elif format_ == "unique-string":
        index(value, n_strings, name)
    elif format_ == "string":
        expect(isinstance(value, str), f"{name} is no string")
    else:
        expect(is_number(value), f"{name} is no number: {value!r}")


def markers(table_, known, n, n_categories):
    length = table(table_, "markers", ["data", "name", "startTime", "endTime", "phase", "category"])
    last = -1
    for i in range(length):
        start, end, data = table_["startTime"][i], table_["endTime"][i], table_["data"][i]
        expect(is_number(start) and start >= last, f"markers out of order at {i}")
        expect(table_["phase"][i] == 1 and is_number(end) and end >= start, f"marker {i} ends before it begins")
        last = start
        index(table_["name"][i], n["strings"], "markers.name")
        index(table_["category"][i], n_categories, "markers.category")
        if not expect(data and data.get("type") in known, f"marker {i} has no schema"):
            continue
        schema = known[data["type"]]
        fields = {field["key"]: field for field in schema["fields"]}
        for key in data:
            expect(key in fields or key in ("type", "cause"), f"{data['type']}.{key} is in no schema")
            if key in fields:
                marker_field(data, fields[key], n["strings"], f"{data['type']}.{key}")
        if "cause" in data:
            index(data["cause"]["stack"], n["stackTable"], "cause.stack")
        if schema.get("colorField"):
            expect(data[schema["colorField"]] in GRAPH_COLORS, "marker colour")


def samples(table_, n):
    length = table(table_, "samples", ["stack", "time"], ("weight", "weightType", "threadCPUDelta"))
    last = -1
    for i in range(length):
        index(table_["stack"][i], n["stackTable"], "samples.stack")
        expect(is_number(table_["time"][i]) and table_["time"][i] >= last, f"samples out of order at {i}")
        last = table_["time"][i]
    for column in ("weight", "threadCPUDelta"):
        if table_.get(column) is not None:
            expect(len(table_[column]) == length and all(is_number(value) for value in table_[column]), column)
    expect(table_["weightType"] == "samples", "weightType")


def threads(profile, n, known):
    mains, tids = {}, set()
    for thread in profile["threads"]:
        for key in ("name", "pid", "processType", "processName"):
            expect(isinstance(thread[key], str), f"thread.{key}")
        for key in ("tid", "registerTime", "processStartupTime"):
            expect(is_number(thread[key]), f"thread.{key}")
        for key in ("unregisterTime", "processShutdownTime"):
            expect(thread[key] is None or is_number(thread[key]), f"thread.{key}")
        expect(thread["pausedRanges"] == [] and thread["showMarkersInTimeline"] is True, "thread")
        mains[thread["pid"]] = mains.get(thread["pid"], 0) + thread["isMainThread"]
        samples(thread["samples"], n)
        markers(thread["markers"], known, n, len(profile["meta"]["categories"]))
    for pid, count in mains.items():
        expect(count == 1, f"process {pid} has {count} main threads")
    return mains


def counters(profile, pids):
    for counter in profile["counters"]:
        expect(counter["pid"] in pids, "counter.pid")
        index(counter["mainThreadIndex"], len(profile["threads"]), "counter.mainThreadIndex")
        length = table(counter["samples"], "counter", ["time", "count"])
        times = counter["samples"]["time"]
        expect(all(times[i] <= times[i + 1] for i in range(length - 1)), "counter out of order")
        expect(all(is_number(value) for value in counter["samples"]["count"]), "counter.count")
        expect(counter["display"]["graphType"] in ("line-rate", "line-accumulated"), "graphType")


def main():
    profile = read(sys.argv[1])
    expect(set(profile) == {"meta", "libs", "shared", "threads", "counters"}, f"has {sorted(profile)}")
    expect(profile["threads"], "no threads")
    for lib in profile["libs"]:
        expect(len(lib["breakpadId"]) == 33 and lib["breakpadId"].isalnum(), f"breakpadId {lib['breakpadId']}")
        expect(set(lib) == set("arch name path debugName debugPath breakpadId codeId".split()), "libs")
    n = shared(profile)
    meta(profile, len(profile["threads"]))
    pids = threads(profile, n, schemas(profile))
    counters(profile, pids)
    if found > 40:
        print(f"... and {found - 40} more")


main()

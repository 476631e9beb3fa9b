#!/usr/bin/env python3
"""The selection of a campaign by DuckDB or Polars: distinct tokens of the devices that carry one of two tags.

    selection.py duckdb|polars FILE THREADS

Prints one line of JSON: rows selected (distinct), and the seconds of the query alone, without starting Python or loading the library.
"""
import json
import os
import sys
import time

engine, path, threads = sys.argv[1], sys.argv[2], int(sys.argv[3])
os.environ["POLARS_MAX_THREADS"] = str(threads)
is_json = ".jsonl" in path


def by_duckdb():
    import duckdb

    connection = duckdb.connect(config={"threads": threads})
    if is_json:
        source = f"read_json('{path}', format='newline_delimited', columns={{device_token: 'VARCHAR', tags: 'VARCHAR[]'}})"
        tags = "tags"
    else:
        source = f"read_csv('{path}', header=true, all_varchar=true)"
        tags = "string_split(tags, ';')"
    query = f"SELECT count(DISTINCT device_token) FROM {source} WHERE list_has_any({tags}, ['discount', 'daily'])"
    start = time.perf_counter()
    count = connection.execute(query).fetchone()[0]
    return count, time.perf_counter() - start


def by_polars():
    import polars

    start = time.perf_counter()
    if is_json:
        frame = polars.scan_ndjson(path, schema={"device_token": polars.String, "tags": polars.List(polars.String)})
        chosen = polars.col("tags").list.set_intersection(["discount", "daily"]).list.len() > 0
    else:
        frame = polars.scan_csv(path, infer_schema=False)
        chosen = polars.col("tags").str.contains(r"(^|;)(discount|daily)(;|$)")
    count = frame.filter(chosen).select(polars.col("device_token").n_unique()).collect(engine="streaming").item()
    return count, time.perf_counter() - start


selected, seconds = by_duckdb() if engine == "duckdb" else by_polars()
print(json.dumps({"selected": selected, "seconds": seconds}))

#!/usr/bin/env python3
"""The selection of a campaign with DuckDB or Polars: the devices whose newest row has one of two tags. (In the generated
exports no two rows of a device are equally new.)

    selection.py duckdb|polars FILE THREADS

Prints one line of JSON: the number of devices selected, and the seconds for the query alone, without starting Python or
loading the library.
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
        source = f"read_json('{path}', format='newline_delimited', columns={{device_token: 'VARCHAR', tags: 'VARCHAR[]', last_active: 'VARCHAR'}})"
        tags = "tags"
    else:
        source = f"read_csv('{path}', header=true, all_varchar=true)"
        tags = "string_split(tags, ';')"
    chosen = f"coalesce(list_has_any({tags}, ['discount', 'daily']), false)"
    newest = f"SELECT arg_max({chosen}, last_active) AS chosen FROM {source} GROUP BY device_token"
    query = f"SELECT count(*) FROM ({newest}) WHERE chosen"
    start = time.perf_counter()
    count = connection.execute(query).fetchone()[0]
    return count, time.perf_counter() - start


def by_polars():
    import polars

    start = time.perf_counter()
    if is_json:
        frame = polars.scan_ndjson(path, schema={"device_token": polars.String, "tags": polars.List(polars.String), "last_active": polars.String})
        chosen = polars.col("tags").list.set_intersection(["discount", "daily"]).list.len() > 0
    else:
        frame = polars.scan_csv(path, infer_schema=False)
        chosen = polars.col("tags").str.contains(r"(^|;)(discount|daily)(;|$)")
    rows = frame.select("device_token", "last_active", chosen=chosen)
    newest = rows.group_by("device_token").agg(polars.col("chosen").sort_by("last_active").last())
    count = newest.select(polars.col("chosen").sum()).collect(engine="streaming").item()
    return count, time.perf_counter() - start


selected, seconds = by_duckdb() if engine == "duckdb" else by_polars()
print(json.dumps({"selected": selected, "seconds": seconds}))

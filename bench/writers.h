/* writers.h: simple ways to store every event, for comparison with a recording: a line of JSON
 * through stdio, and a row of a SQLite table with a prepared insert in one transaction. Each
 * event has a number and a time. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct json_writer {
    FILE *file;
    uint64_t seq;
};
bool json_writer_open(struct json_writer *writer, const char *path);
bool json_writer_write(void *writer, uint64_t id, uint64_t bytes, bool is_free);
bool json_writer_close(struct json_writer *writer);

struct sqlite_writer {
    struct sqlite3 *db;
    struct sqlite3_stmt *insert;
    uint64_t seq;
};
bool sqlite_writer_open(struct sqlite_writer *writer, const char *path);
bool sqlite_writer_write(void *writer, uint64_t id, uint64_t bytes, bool is_free);
bool sqlite_writer_close(struct sqlite_writer *writer);

/* The contents of a closed file. */
struct written {
    uint64_t events, allocations, allocated_bytes, file_bytes;
};
bool json_read(const char *path, struct written *out);
bool sqlite_read(const char *path, struct written *out);

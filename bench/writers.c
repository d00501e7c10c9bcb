#include "writers.h"

#include "base/number.h"

#include <inttypes.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

static uint64_t size_of(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

/* --- JSON lines ------------------------------------------------------------------------- */

bool json_writer_open(struct json_writer *writer, const char *path)
{
    *writer = (struct json_writer){.file = fopen(path, "wb")};
    return writer->file != NULL;
}

bool json_writer_write(void *ctx, uint64_t id, uint64_t bytes, bool is_free)
{
    struct json_writer *writer = ctx;
    return fprintf(writer->file,
                   "{\"seq\":%" PRIu64 ",\"time_ns\":%" PRIu64
                   ",\"kind\":\"%s\",\"device\":0,\"pool\":\"DRAM\",\"id\":%" PRIu64
                   ",\"size\":%" PRIu64 "}\n",
                   ++writer->seq, now_ns(), is_free ? "free" : "alloc", id, bytes) > 0;
}

bool json_writer_close(struct json_writer *writer)
{
    return fclose(writer->file) == 0;
}

bool json_read(const char *path, struct written *out)
{
    char line[256];
    FILE *file = fopen(path, "rb");
    *out = (struct written){.file_bytes = size_of(path)};
    while (file && fgets(line, sizeof line, file)) {
        const char *size = strstr(line, "\"size\":"), *end = strrchr(line, '}');
        uint64_t bytes;
        out->events++;
        if (!strstr(line, "\"alloc\""))
            continue;
        if (!size || !end ||
            tts_number_parse(size + 7, (size_t)(end - size) - 7, &bytes) != TTS_OK)
            break;
        out->allocations++;
        out->allocated_bytes += bytes;
    }
    bool ok = file && feof(file);
    if (file)
        fclose(file);
    return ok;
}

/* --- SQLite ----------------------------------------------------------------------------- */

bool sqlite_writer_open(struct sqlite_writer *writer, const char *path)
{
    *writer = (struct sqlite_writer){0};
    static const char make[] =
        "create table events (seq integer primary key, time_ns integer, kind integer, "
        "device integer, pool integer, id integer, size integer); begin";
    static const char insert[] = "insert into events values (?, ?, ?, 0, 0, ?, ?)";
    return sqlite3_open(path, &writer->db) == SQLITE_OK &&
           sqlite3_exec(writer->db, make, NULL, NULL, NULL) == SQLITE_OK &&
           sqlite3_prepare_v2(writer->db, insert, -1, &writer->insert, NULL) == SQLITE_OK;
}

bool sqlite_writer_write(void *ctx, uint64_t id, uint64_t bytes, bool is_free)
{
    struct sqlite_writer *writer = ctx;
    sqlite3_stmt *insert = writer->insert;
    sqlite3_bind_int64(insert, 1, (sqlite3_int64)++writer->seq);
    sqlite3_bind_int64(insert, 2, (sqlite3_int64)now_ns());
    sqlite3_bind_int(insert, 3, is_free);
    sqlite3_bind_int64(insert, 4, (sqlite3_int64)id);
    sqlite3_bind_int64(insert, 5, (sqlite3_int64)bytes);
    bool ok = sqlite3_step(insert) == SQLITE_DONE;
    sqlite3_reset(insert);
    return ok;
}

bool sqlite_writer_close(struct sqlite_writer *writer)
{
    bool ok = sqlite3_exec(writer->db, "commit", NULL, NULL, NULL) == SQLITE_OK;
    sqlite3_finalize(writer->insert);
    return sqlite3_close(writer->db) == SQLITE_OK && ok;
}

bool sqlite_read(const char *path, struct written *out)
{
    static const char ask[] = "select count(*), sum(kind = 0), sum((kind = 0) * size) "
                              "from events";
    sqlite3 *db = NULL;
    sqlite3_stmt *rows = NULL;
    bool ok = sqlite3_open(path, &db) == SQLITE_OK &&
              sqlite3_prepare_v2(db, ask, -1, &rows, NULL) == SQLITE_OK &&
              sqlite3_step(rows) == SQLITE_ROW;
    if (ok)
        *out = (struct written){.events = (uint64_t)sqlite3_column_int64(rows, 0),
                                .allocations = (uint64_t)sqlite3_column_int64(rows, 1),
                                .allocated_bytes = (uint64_t)sqlite3_column_int64(rows, 2),
                                .file_bytes = size_of(path)};
    sqlite3_finalize(rows);
    sqlite3_close(db);
    return ok;
}

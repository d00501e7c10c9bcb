/* resultfile_inside.h: what the files of the result reader share. Failures of `pull` and of
 * what is built on it are those of json_pull.h. */
#pragma once

#include "sources/json_pull.h"
#include "sources/runs_inside.h"

#include <string.h>

enum { TTS_RESULT_KEY_MAX = 40, TTS_RESULT_WORD_MAX = 64 };

/* The run that is being read. */
struct tts_result_draft {
    struct tts_runs_room *room;
    struct tts_runs_entry *entry; /* of the room, or `spare` where there is no place */
    struct tts_runs_entry spare;
    bool takes_captures;
    bool has_log;                      /* what it is called by */
    bool is_assumed;                   /* device_memory_bytes */
    struct tts_amount parameter_bytes; /* of one chip */
    bool has_optimizer_source;
    bool is_whole; /* of `analyze`: the peak is that of all iterations */
    char optimizer[TTS_RUN_WORD_MAX];
};

struct tts_result_reader {
    struct tts_jsonpull *json;
    struct tts_error *err;
    struct tts_runs_room runs, top; /* of "runs", and of the document itself */
    char schema[TTS_RESULT_WORD_MAX];
    bool has_version; /* or it says none */
    uint64_t version;
};

/* ---- values; null is nothing, what is of another kind is noted and nothing too ---- */

/* The next one, whatever it is; of one that opens only its begin. */
TTS_NODISCARD enum tts_status tts_result_pull(struct tts_result_reader *r,
                                              struct tts_jsonpull_token *token);
TTS_NODISCARD enum tts_status tts_result_amount(struct tts_result_reader *r,
                                                struct tts_result_draft *draft, const char *key,
                                                struct tts_amount *out);
TTS_NODISCARD enum tts_status tts_result_number(struct tts_result_reader *r,
                                                struct tts_result_draft *draft, const char *key,
                                                bool *is_there, uint64_t *out);
TTS_NODISCARD enum tts_status tts_result_text(struct tts_result_reader *r,
                                              struct tts_result_draft *draft, const char *key,
                                              char *out, size_t capacity);
TTS_NODISCARD enum tts_status tts_result_flag(struct tts_result_reader *r,
                                              struct tts_result_draft *draft, const char *key,
                                              bool *out);
/* Like tts_result_flag(). Sets *is_there to false for a null and for a value of another type.
 */
TTS_NODISCARD enum tts_status tts_result_answer(struct tts_result_reader *r,
                                                struct tts_result_draft *draft, const char *key,
                                                bool *is_there, bool *out);
/* Goes into an object or a list; *is_in false: it is none. */
TTS_NODISCARD enum tts_status tts_result_enter(struct tts_result_reader *r,
                                               struct tts_result_draft *draft, const char *key,
                                               enum tts_jsonpull_kind kind, bool *is_in);
/* A list of objects: `read_one` is called behind the begin of each. */
typedef enum tts_status (*tts_result_one_fn)(struct tts_result_reader *r,
                                             struct tts_result_draft *draft);
TTS_NODISCARD enum tts_status tts_result_list(struct tts_result_reader *r,
                                              struct tts_result_draft *draft, const char *key,
                                              tts_result_one_fn read_one);
/* The next key of the object that is open; "" at its end, "?" where it can be none of ours. */
TTS_NODISCARD enum tts_status tts_result_key(struct tts_result_reader *r,
                                             char key[TTS_RESULT_KEY_MAX]);

static inline bool tts_result_is_key(const char *key, const char *name)
{
    return strcmp(key, name) == 0;
}

/* ---- runs ---- */

/* Behind the begin of a phase: reads and keeps it. */
TTS_NODISCARD enum tts_status tts_result_phase(struct tts_result_reader *r,
                                               struct tts_result_draft *draft);
TTS_NODISCARD enum tts_status tts_result_run_begin(struct tts_result_reader *r,
                                                   struct tts_runs_room *room,
                                                   struct tts_result_draft *draft);
TTS_NODISCARD enum tts_status tts_result_run_field(struct tts_result_reader *r,
                                                   struct tts_result_draft *draft,
                                                   const char *key);
void tts_result_run_end(const struct tts_result_reader *r, struct tts_result_draft *draft);
/* Behind the begin of one of "runs". */
TTS_NODISCARD enum tts_status tts_result_run(struct tts_result_reader *r,
                                             struct tts_result_draft *document);

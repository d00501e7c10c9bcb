/* failview.h: explained failures as text, JSON and a picture.
 *
 * The views borrow everything and allocate nothing. One thread for each stream. */
#pragma once

#include "analysis/failure/failadvice.h"
#include "analysis/failure/failholders.h"
#include "analysis/failure/faillog.h"
#include "analysis/failure/failverdict.h"
#include "model/failmsg.h"
#include "views/json.h"

#include <stdint.h>
#include <stdio.h>

/* A failure with its meaning. */
struct tts_failview {
    const struct tts_failmsg *msg;
    const struct tts_failverdict *verdict;
    const struct tts_failadvice *advice;
    uint64_t count, last_line; /* how often the message is in the text, and where last */
    const char *path;          /* of the text; NULL: the text is from the command line */
    bool is_first;             /* `ttscope explain` of the text needs no --line */
    /* The buffers that held the memory, and the file that they are from; NULL: not asked. */
    const struct tts_failholders *holders;
    const char *with_path;
};

/* A failure of a log with its meaning and the advice. `view` refers to the other members, so
 * the struct must not move. */
struct tts_explained {
    struct tts_failverdict verdict;
    struct tts_failadvice advice;
    struct tts_failview view;
};
void tts_explained_make(struct tts_explained *out, const struct tts_failentry *entry,
                        const char *path);
/* Adds the buffers that held the memory, from the file `with_path`. All are borrowed. The
 * verdict and the advice are made again, because the file may have numbers that the message
 * lacks. */
void tts_explained_add_holders(struct tts_explained *explained,
                               const struct tts_failholders *holders, const char *with_path);

enum { TTS_FAILVIEW_LINE_MAX = 512, TTS_FAILVIEW_COMMAND_MAX = 320 };

/* Writes the answer in one sentence without a full stop. Returns `out`. */
const char *tts_failview_headline(char out[TTS_FAILVIEW_LINE_MAX],
                                  const struct tts_failview *view);
/* Joins amounts with their units ("4.69 MiB") for tts_say(), so that no line ends between them.
 */
void tts_failview_glue(char *text);
/* Writes an advice as a sentence. Returns `out`. */
const char *tts_failview_advice_text(char out[TTS_FAILVIEW_LINE_MAX],
                                     const struct tts_failview *view, size_t idx);
/* Writes the command that checks an advice. Returns `out`, or NULL if there is none. */
const char *tts_failview_advice_command(char out[TTS_FAILVIEW_COMMAND_MAX],
                                        const struct tts_failview *view, size_t idx);

/* Writes the whole explanation, about one screen: the headline, then the details. */
void tts_failview_text(const struct tts_failview *view, FILE *out);
void tts_failview_text_headline(const struct tts_failview *view, FILE *out);
void tts_failview_text_details(const struct tts_failview *view, FILE *out);
/* Writes the short answer about the log at `path` ("-": standard input): the headline, and the
 * command that explains the failure. */
void tts_failview_ending(const struct tts_failending *ending, const char *path, FILE *out);
/* Returns whether a shell takes the path as it is, and the path names a file. */
bool tts_failview_path_is_plain(const char *path);
/* Writes the command that explains the failure, without options for the terminal. Returns
 * `out`, or NULL if the log has no path that a shell takes as it is. */
const char *tts_failview_command(char out[TTS_FAILVIEW_COMMAND_MAX],
                                 const struct tts_failending *ending, const char *path);

/* Writes the failure as an object, as docs/design/explain-json.md describes it. */
void tts_failview_json(const struct tts_failview *view, struct tts_json *json);
/* Write the buffers that held the memory: a part of the two functions above. The text is empty
 * and the JSON null without buffers. */
void tts_failview_holders_text(const struct tts_failview *view, FILE *out);
void tts_failview_holders_json(const struct tts_failview *view, struct tts_json *json);
/* Writes the member "failures": all failures of the log at `path`. */
void tts_faillog_json(const struct tts_faillog *log, const char *path, struct tts_json *json);
/* Draws the bank or the L1 of a core to scale. Returns false if the message has too few numbers
 * for a picture. */
bool tts_failview_svg(const struct tts_failview *view, FILE *out);

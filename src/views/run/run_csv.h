/* run_csv.h: runs as CSV, one row each. docs/design/analyze-json.md has the columns. */
#pragma once

#include "analysis/run/named_run.h"
#include "views/rowout.h"

/* Writes the names of the columns. */
void tts_run_csv_begin(struct tts_rowout *rows);
void tts_run_csv_row(struct tts_rowout *rows, const struct tts_named_run *run);

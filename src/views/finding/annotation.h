/* annotation.h: writes findings as workflow commands, which a build server shows beside the
 * files. */
#pragma once

#include "model/finding.h"

#include <stdio.h>

/* Writes "::error file=run.log,line=12,title=dram-peak::TinyLlama: message (budget.yaml:7)".
 * The title is the label, or the rule if there is no label. Findings without a problem are
 * skipped. Bytes that a build server would interpret are escaped. */
void tts_annotation_put(FILE *out, const struct tts_finding *finding);

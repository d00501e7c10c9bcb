/* fit_inference.h: `ttscope fit --inference CONFIG`: what serving a model takes. */
#pragma once

/* argv as that of the command, with --inference in it. Returns the exit code. */
int tts_fit_inference(int argc, char **argv);

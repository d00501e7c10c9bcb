/* export.h: the command of the program ttscope-export. */
#pragma once

/* argv[0] is skipped; argv ends with NULL. Returns an exit code. */
int tts_cmd_export(char **argv);

/* commands.h: the built-in commands, one file each. */
#pragma once

int tts_cmd_analyze(int argc, char **argv);
int tts_cmd_check(int argc, char **argv);
int tts_cmd_devices(int argc, char **argv);
int tts_cmd_diff(int argc, char **argv);
int tts_cmd_fit(int argc, char **argv);
int tts_cmd_help(int argc, char **argv);
int tts_cmd_pack(int argc, char **argv);
int tts_cmd_replay(int argc, char **argv);
int tts_cmd_show(int argc, char **argv);
int tts_cmd_version(int argc, char **argv);

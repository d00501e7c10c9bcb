/* commands.h: the built-in commands. Each has its own file. */
#pragma once

struct tts_command;

extern const struct tts_command tts_analyze_command, tts_check_command, tts_clean_command,
    tts_devices_command, tts_diff_command, tts_doctor_command, tts_explain_command,
    tts_fit_command, tts_help_command, tts_pack_command, tts_replay_command, tts_show_command,
    tts_serve_command, tts_top_command, tts_version_command;

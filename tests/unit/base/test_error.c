#include "base/error.h"
#include "harness/t.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static const struct tts_error dirty = {
    .status = TTS_E_BUSY, .sys_errno = 77, .offset = 77, .line = 77, .text = "old"};

T_TEST(set_fills_the_text_and_clears_the_rest)
{
    struct tts_error err = dirty;
    T_EQ(tts_error_set(&err, TTS_E_SYNTAX, "expected %s, got '%c'", "a number", 'x'),
         TTS_E_SYNTAX);
    T_STR_EQ(err.text, "expected a number, got 'x'");
    T_EQ(err.status, TTS_E_SYNTAX);
    T_TRUE(err.sys_errno == 0 && err.offset == 0 && err.line == 0);
}

T_TEST(no_error_wanted_still_returns_the_status)
{
    T_EQ(tts_error_set(NULL, TTS_E_RANGE, "too large"), TTS_E_RANGE);
    T_EQ(tts_error_set_errno(NULL, TTS_E_IO, ENOENT, "cannot read"), TTS_E_IO);
}

T_TEST(a_long_text_is_cut_and_terminated)
{
    char word[400];
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    struct tts_error err = dirty;
    tts_error_set(&err, TTS_E_INVALID, "%s", word);
    T_EQ(strlen(err.text), sizeof err.text - 1);
}

T_TEST(set_errno_says_what_the_system_said_in_lower_case)
{
    struct tts_error err = dirty;
    T_EQ(tts_error_set_errno(&err, TTS_E_IO, ENOENT, "cannot read '%s'", "x.log"), TTS_E_IO);
    T_STR_EQ(err.text, "cannot read 'x.log': no such file or directory");
    T_EQ(err.sys_errno, ENOENT);
    T_TRUE(err.status == TTS_E_IO && err.line == 0 && err.offset == 0);
    tts_error_set_errno(&err, TTS_E_IO, 99999, "cannot read");
    T_STR_EQ(err.text, "cannot read: unknown error 99999");
    tts_error_set_errno(&err, TTS_E_IO, ELIBBAD, "cannot read");
    T_STR_EQ(err.text, "cannot read: accessing a corrupted shared library");
    tts_error_set_errno(&err, TTS_E_IO, EXFULL, "cannot read");
    T_STR_EQ(err.text, "cannot read: exchange full");
    tts_error_set_errno(&err, TTS_E_IO, EADV, "x");
    T_STR_EQ(err.text, "x: advertise error");
    tts_error_set_errno(&err, TTS_E_IO, EDOTDOT, "x");
    T_STR_EQ(err.text, "x: RFS specific error");
}

T_TEST(a_long_path_never_pushes_the_reason_out)
{
    char path[400];
    memset(path, 'p', sizeof path);
    for (size_t len = 100; len < 200; len++) {
        struct tts_error err = dirty;
        tts_error_set_errno(&err, TTS_E_IO, ENOENT, "cannot read '%.*s'", (int)len, path);
        const char *reason = strstr(err.text, ": no such file or directory");
        T_TRUE(reason && strlen(reason) == strlen(": no such file or directory"));
        bool whole = reason[-1] == '\'';
        T_EQ(whole, len <= 159 - strlen("cannot read '': no such file or directory"));
        T_TRUE(whole || strncmp(reason - 3, "...", 3) == 0);
    }
}

// t.hpp: the harness for tests in C++.
#pragma once

#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

extern "C" {
#include "harness/t.h"
}
#undef fail // cmocka defines a macro of this name, and streams have a member of this name

#define T_TEXT_EQ(a, b) assert_string_equal(std::string(a).c_str(), std::string(b).c_str())

// Returns the text of the exception of type E, or of a derived type, that `work` throws.
// Returns "(nothing)" if `work` throws no exception.
template <class E, class Work> std::string thrown(Work work)
{
    try {
        work();
    } catch (const E &error) {
        return error.what();
    }
    return "(nothing)";
}

inline std::string text_of(const std::string &path)
{
    std::ifstream file(path);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Returns the text that `work` writes to standard output.
template <class Work> std::string printed(Work work)
{
    const std::string path = t_scratch("stdout");
    std::fflush(stdout);
    int saved = dup(STDOUT_FILENO);
    T_TRUE(std::freopen(path.c_str(), "w", stdout) != nullptr);
    work();
    std::fflush(stdout);
    T_TRUE(dup2(saved, STDOUT_FILENO) == STDOUT_FILENO);
    close(saved);
    return text_of(path);
}

// Returns the text that `work` writes to standard error. Runs in a child process, so that
// messages that are printed only once per process appear.
template <class Work> std::string said(Work work)
{
    const std::string path = t_scratch("stderr");
    std::fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        if (!std::freopen(path.c_str(), "w", stderr))
            _exit(2);
        work();
        std::fflush(stderr);
        _exit(0);
    }
    int status = 1;
    T_TRUE(child > 0 && waitpid(child, &status, 0) == child);
    T_EQ(status, 0);
    return text_of(path);
}

/* budgetfile_rig.h: parses texts as budgets. */
#pragma once

#include "harness/t.h"
#include "sources/config/budgetfile.h"

#include <stdio.h>
#include <string.h>

static struct tts_budget budget;

static inline void load(const char *text)
{
    struct tts_error err = {0};
    memset(&budget, 0xee, sizeof budget);
    enum tts_status status = tts_budgetfile_parse(text, strlen(text), &budget, &err);
    T_STR_EQ(err.text, "");
    T_EQ(status, TTS_OK);
    T_TRUE(budget.limit_count > 0);
}

static inline void refused_bytes(const char *text, size_t len, enum tts_status status,
                                 uint32_t line, const char *words)
{
    static struct tts_budget before;
    struct tts_error err = {0};
    memset(&budget, 0x55, sizeof budget);
    memset(&before, 0x55, sizeof before);
    T_EQ(tts_budgetfile_parse(text, len, &budget, &err), status);
    T_STR_EQ(err.text, words);
    T_EQ(err.line, line);
    T_EQ(err.status, status);
    T_MEM_EQ(&budget, &before, sizeof budget);
    T_EQ(tts_budgetfile_parse(text, len, &budget, NULL), status);
}

static inline void refused(const char *text, enum tts_status status, uint32_t line,
                           const char *words)
{
    refused_bytes(text, strlen(text), status, line, words);
}

static inline void expect_limit(size_t idx, enum tts_budget_rule rule,
                                enum tts_budget_unit unit, uint64_t amount, uint32_t line)
{
    T_TRUE(idx < budget.limit_count);
    T_EQ(budget.limits[idx].rule, rule);
    T_EQ(budget.limits[idx].unit, unit);
    T_EQ(budget.limits[idx].amount, amount);
    T_EQ(budget.limits[idx].line, line);
}

#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)

/* check_plan.c: the budget, and the device and the baseline that it or an option names. */
#include "base/bytesize.h"
#include "base/error.h"
#include "base/share.h"
#include "cli/check_parts.h"
#include "cli/command.h"
#include "cli/message.h"
#include "sources/config/budgetfile.h"

#include <inttypes.h>
#include <string.h>

static const char command[] = TTS_CHECK_COMMAND;

/* A path that a budget names is seen from the budget. False, said: too long. */
static bool beside_budget(const struct tts_check_options *options, const char *name,
                          char out[TTS_PATH_MAX])
{
    const char *slash = strrchr(options->budget_path, '/');
    size_t dir = slash && name[0] != '/' ? (size_t)(slash - options->budget_path) + 1 : 0;
    int need = snprintf(out, TTS_PATH_MAX, "%.*s%s", (int)dir, options->budget_path, name);
    if (need > 0 && need < TTS_PATH_MAX)
        return true;
    tts_message(command, "%s: the path of '%.40s' is too long",
                tts_message_path(options->budget_path), name);
    return false;
}

static int refuse_budget(const struct tts_check_options *options, uint32_t line,
                         const char *text)
{
    tts_message(command, "%s:%" PRIu32 ": %s", tts_message_path(options->budget_path), line,
                text);
    return TTS_EXIT_INPUT;
}

/* ---- the baseline ---- */

static int plan_baseline(const struct tts_check_options *options, struct tts_check_plan *plan)
{
    const struct tts_budget *budget = &plan->budget;
    size_t first = tts_budget_first_growth(budget);
    plan->needs_baseline = first < budget->limit_count;
    if (options->baseline_path) {
        plan->baseline = options->baseline_path;
        if (!plan->needs_baseline)
            tts_message(command,
                        "note: no limit of '%s' is against a baseline, '%s' is not read",
                        tts_message_path(options->budget_path), plan->baseline);
        return TTS_EXIT_DONE;
    }
    if (budget->baseline[0] == '\0')
        return plan->needs_baseline
                   ? refuse_budget(options, budget->limits[first].line,
                                   "growth is against a baseline: give 'baseline: FILE' in "
                                   "the budget, or '--baseline FILE'")
                   : TTS_EXIT_DONE;
    if (!beside_budget(options, budget->baseline, plan->baseline_path))
        return TTS_EXIT_INPUT;
    plan->baseline = plan->baseline_path;
    return tts_check_is_apart(options, plan->baseline) ? TTS_EXIT_DONE : TTS_EXIT_USAGE;
}

/* ---- the device ---- */

/* Of the option, else of the budget. */
static int name_device(struct tts_check_options *options, struct tts_check_plan *plan)
{
    struct tts_device_arg *arg = &options->device;
    struct tts_error err = {0};
    struct tts_chip chip;
    if (arg->name || plan->budget.device[0] == '\0') {
        if (arg->name || arg->set_count == 0)
            return TTS_EXIT_DONE;
        tts_message(command, "'--set' changes a device: give '--device NAME' too");
        return TTS_EXIT_USAGE;
    }
    plan->is_budget_device = true;
    arg->name = plan->budget.device;
    if (!tts_device_arg_is_file(arg)) {
        if (tts_chip_preset(arg->name, &chip, &err) == TTS_OK)
            return TTS_EXIT_DONE;
        return refuse_budget(options, plan->budget.device_line, err.text);
    }
    if (!beside_budget(options, plan->budget.device, plan->device_path))
        return TTS_EXIT_INPUT;
    arg->name = plan->device_path;
    return tts_check_is_apart(options, arg->name) ? TTS_EXIT_DONE : TTS_EXIT_USAGE;
}

/* What a chip has of a pool in a bank, or in all; not known where it is not. */
static struct tts_amount pool_bytes(const struct tts_chip *chip, enum tts_pool pool,
                                    bool of_all)
{
    struct tts_pool_layout layout;
    uint64_t bytes;
    if (tts_chip_pool(chip, pool, &layout, NULL) != TTS_OK ||
        __builtin_mul_overflow(of_all ? layout.banks : 1, layout.bank_bytes, &bytes) ||
        bytes == 0 || bytes > TTS_BYTESIZE_MAX)
        return (struct tts_amount){0};
    return tts_amount_of((int64_t)bytes);
}

/* The chip: what a core has, and DRAM unless a number of bytes was given. */
static int take_chip(struct tts_check_options *options, struct tts_check_plan *plan)
{
    struct tts_chip chip;
    int code = tts_device_arg_resolve(&options->device, command, &chip);
    if (code != TTS_EXIT_DONE)
        return code;
    plan->device = options->device.name;
    plan->core_bytes = pool_bytes(&chip, TTS_POOL_L1, false);
    if (options->device_memory.is_known)
        return TTS_EXIT_DONE;
    plan->mem.device_memory = pool_bytes(&chip, TTS_POOL_DRAM, true);
    plan->mem.device_memory_source = TTS_TRAIN_FROM_DEVICE;
    snprintf(plan->mem.device, sizeof plan->mem.device, "%s", chip.name);
    if (plan->mem.device_memory.is_known)
        return TTS_EXIT_DONE;
    tts_message(command, "the DRAM of device '%s' is not known, give '--device_memory'",
                plan->device);
    return plan->is_budget_device ? TTS_EXIT_INPUT : TTS_EXIT_USAGE;
}

static int plan_device(struct tts_check_options *options, struct tts_check_plan *plan)
{
    int code = name_device(options, plan);
    if (code != TTS_EXIT_DONE)
        return code;
    if (options->device_memory.is_known) {
        plan->mem.device_memory = options->device_memory;
        plan->mem.device_memory_source = TTS_TRAIN_FROM_OPTION;
    }
    if (options->device.name) {
        code = take_chip(options, plan);
    } else if (!options->device_memory.is_known && plan->budget.device_memory.is_known) {
        plan->mem.device_memory = plan->budget.device_memory;
        plan->mem.device_memory_source = TTS_TRAIN_FROM_OPTION;
        plan->is_budget_device = true;
    }
    if (options->device_memory.is_known)
        plan->is_budget_device = false;
    return code;
}

/* ---- what is easily meant otherwise ---- */

static bool is_share_for_growth(const struct tts_budget_limit *limit)
{
    enum { SMALL = 5 * 100 };
    return limit->unit == TTS_BUDGET_SHARE && limit->rule != TTS_BUDGET_DRAM_HEADROOM &&
           limit->amount > 0 && limit->amount < SMALL;
}

static bool is_few_bytes(const struct tts_budget_limit *limit)
{
    enum { SMALL = 1 << 20 };
    return limit->is_bare && !tts_budget_is_l1(limit->rule) && limit->amount > 0 &&
           limit->amount < SMALL;
}

static void note_limits(const struct tts_check_options *options,
                        const struct tts_check_plan *plan)
{
    const char *path = tts_message_path(options->budget_path);
    for (size_t i = 0; i < plan->budget.limit_count; i++) {
        const struct tts_budget_limit *limit = &plan->budget.limits[i];
        char share[TTS_CHECK_NUMBER_MAX];
        if (plan->baseline && is_share_for_growth(limit))
            tts_message(command,
                        "note: %s:%" PRIu32 ": %s%% is a share of the device; growth is +%s%%",
                        path, limit->line, tts_share_format(share, limit->amount), share);
        else if (is_few_bytes(limit))
            tts_message(command, "note: %s:%" PRIu32 ": %s%" PRIu64 " is bytes", path,
                        limit->line, limit->unit == TTS_BUDGET_BYTES ? "" : "+", limit->amount);
    }
}

int tts_check_plan_make(struct tts_check_options *options, struct tts_check_plan *out)
{
    struct tts_error err = {0};
    if (tts_budgetfile_load(options->budget_path, NULL, &out->budget, &err) != TTS_OK) {
        if (err.status == TTS_E_IO)
            tts_message(command, "budget: %s", err.text);
        else
            tts_message_error(command, options->budget_path, &err);
        return TTS_EXIT_INPUT;
    }
    int code = plan_baseline(options, out);
    if (code == TTS_EXIT_DONE)
        note_limits(options, out);
    return code == TTS_EXIT_DONE ? plan_device(options, out) : code;
}

#include "analysis/run/trainmem.h"

#include "base/span.h"
#include "ttscope/chip.h"

#include <assert.h>
#include <string.h>
#include <strings.h>

const char *tts_train_dtype_name(enum tts_train_dtype dtype)
{
    static const char *const names[] = {
#define X(name, text, bytes) text,
        TTS_TRAIN_DTYPE_MAP(X)
#undef X
    };
    assert(dtype < TTS_TRAIN_DTYPES);
    return names[dtype];
}

static const char *const optimizer_names[] = {
    [TTS_TRAIN_ADAMW] = "AdamW",
    [TTS_TRAIN_MOREH_ADAMW] = "MorehAdamW",
    [TTS_TRAIN_ADAMW_COMPOSITE] = "AdamWComposite",
    [TTS_TRAIN_ADAMW_KAHAN] = "AdamWKahan",
    [TTS_TRAIN_ADAMW_FULL_PRECISION] = "AdamWFullPrecision",
    [TTS_TRAIN_SGD] = "SGD",
    [TTS_TRAIN_SGD_MOMENTUM] = "SGDMomentum",
    [TTS_TRAIN_SGD_COMPOSITE] = "SGDComposite",
    [TTS_TRAIN_MUON] = "MuonComposite",
    [TTS_TRAIN_NO_OP] = "NoOp",
};

const char *tts_train_optimizer_name(enum tts_train_optimizer optimizer)
{
    assert(optimizer < TTS_TRAIN_OPTIMIZERS);
    return optimizer_names[optimizer];
}

static char lower_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Compares names without regard to case, dashes and underscores. */
static bool is_same_optimizer(const char *a, const char *b)
{
    for (;; a++, b++) {
        while (*a == '-' || *a == '_')
            a++;
        while (*b == '-' || *b == '_')
            b++;
        if (lower_letter(*a) != lower_letter(*b))
            return false;
        if (*a == '\0')
            return true;
    }
}

bool tts_train_optimizer_find(const char *text, enum tts_train_optimizer *out)
{
    for (int i = 0; i < TTS_TRAIN_OPTIMIZERS; i++) {
        if (!is_same_optimizer(text, optimizer_names[i]))
            continue;
        *out = (enum tts_train_optimizer)i;
        return true;
    }
    return false;
}

/* Returns the length of the name without a suffix that consists of `mark` and digits. */
static size_t length_without_suffix(const char *name, size_t len, const char *mark)
{
    size_t digits = 0, mark_len = strlen(mark);
    while (digits < len && tts_is_digit(name[len - digits - 1]))
        digits++;
    size_t rest = len - digits;
    if (digits == 0 || rest <= mark_len || memcmp(name + rest - mark_len, mark, mark_len) != 0)
        return len;
    return rest - mark_len;
}

enum tts_run_part tts_train_part_of(const char *phase_name)
{
    static const struct {
        const char *name;
        enum tts_run_part part;
    } parts[] = {
        {"MODEL_CREATION", TTS_RUN_PART_MODEL},
        {"OPTIMIZER_CREATION", TTS_RUN_PART_OPTIMIZER},
        {"FORWARD_PASS", TTS_RUN_PART_ACTIVATIONS},
        {"BACKWARD_PASS", TTS_RUN_PART_GRADIENTS},
    };
    size_t len = strlen(phase_name), before;
    do {
        before = len;
        len = length_without_suffix(phase_name, len, "__");
        len = length_without_suffix(phase_name, len, "_micro_");
    } while (len < before);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (strlen(parts[i].name) == len && memcmp(parts[i].name, phase_name, len) == 0)
            return parts[i].part;
    return TTS_RUN_PART_OTHER;
}

/* Returns the DRAM of one chip of a preset, or 0 if it is unknown. */
static uint64_t dram_of_preset(const char *name)
{
    struct tts_chip chip;
    struct tts_pool_layout dram;
    if (tts_chip_preset(name, &chip, NULL) != TTS_OK ||
        tts_chip_pool(&chip, TTS_POOL_DRAM, &dram, NULL) != TTS_OK)
        return 0;
    return dram.bank_bytes * dram.banks;
}

/* Returns true if a log that names `word` can be about a chip of this architecture. */
static bool names_arch(const char *word, enum tts_arch arch)
{
    const char *name = tts_arch_name(arch);
    return word[0] == '\0' || strncasecmp(word, name, strlen(name)) == 0;
}

/* Returns the DRAM of the board that a log names ("n150", in any case), or 0 if the word is not
 * a board. An architecture ("blackhole") is not a board: its boards have different memory. */
static uint64_t dram_of_board(const char *word)
{
    char name[TTS_RUN_WORD_MAX] = "";
    const struct tts_preset *preset;
    for (size_t i = 0; (preset = tts_preset_at(i)); i++)
        if (names_arch(word, preset->arch))
            return 0;
    for (size_t i = 0; word[i] && i + 1 < sizeof name; i++)
        name[i] = lower_letter(word[i]);
    return dram_of_preset(name);
}

enum { DEVICES_MAX = 64 };

/* Returns the difference between `total` and the memory of `devices` devices with `each`
 * bytes. */
static uint64_t distance_of_devices(uint64_t total, uint64_t each, uint32_t devices)
{
    uint64_t all = each * devices;
    return all > total ? all - total : total - all;
}

struct found {
    uint32_t devices; /* number of devices; 0 if no chip matches */
    uint64_t each;    /* memory of one device in the catalogue */
};

/* Compares `total` with 1, 2, 4, 8, ... times the memory of one chip, because hosts have such
 * numbers of devices. */
static void try_chip_multiples(uint64_t total, uint64_t each, uint64_t *nearest,
                               struct found *found)
{
    for (uint32_t devices = 1; each > 0 && devices <= DEVICES_MAX; devices *= 2) {
        uint64_t away = distance_of_devices(total, each, devices);
        if (away >= *nearest)
            continue;
        *nearest = away;
        *found = (struct found){devices, each};
    }
}

/* Finds the chip of whose memory `total` is a multiple. A difference of 1 % is allowed, because
 * a trace region may take a little. If the log names a board, only that board is tried. */
static struct found find_chip_of_total(uint64_t total, const char *word)
{
    struct found found = {0};
    uint64_t nearest = total / 100, board = dram_of_board(word);
    const struct tts_preset *preset;
    if (board > 0)
        try_chip_multiples(total, board, &nearest, &found);
    for (size_t i = 0; board == 0 && (preset = tts_preset_at(i)); i++)
        if (names_arch(word, preset->arch))
            try_chip_multiples(total, dram_of_preset(preset->name), &nearest, &found);
    return found;
}

/* Returns the memory of one device. If the log names the chip and the printed memory is at most
 * 1 MB smaller than the memory in the catalogue, returns the memory in the catalogue: programs
 * print whole MB, or the size of the banks before anything is reserved. Otherwise returns the
 * printed memory, which is smaller because of a trace region. */
static int64_t memory_of_device(const struct tts_run *run, uint64_t each, int64_t printed)
{
    enum { MB = 1 << 20 };
    bool is_it =
        run->chip[0] != '\0' && each > 0 && each <= INT64_MAX && printed > (int64_t)each - MB;
    return is_it ? (int64_t)each : printed;
}

/* Sets the memory of one device and the number of devices from the log. A log prints the sum of
 * all devices of its host. If the sum is a multiple of the memory of a chip, the factor is the
 * number of devices. Otherwise the number of devices is the size of the mesh that the log
 * names. If the log names the chip or the board, the memory of one device comes from the
 * catalogue. Returns false, with *mem unchanged, if the log states no memory. */
static bool size_device_by_log(const struct tts_run *run, struct tts_trainmem *mem)
{
    int64_t total = run->device_memory.bytes;
    uint64_t board = dram_of_board(run->chip);
    struct found found = {.devices = 1};
    if (!run->device_memory.is_known || total <= 0) {
        if (board == 0 || board > INT64_MAX)
            return false;
        mem->device_memory = tts_amount_of((int64_t)board);
        mem->log_devices = 1;
        return true;
    }
    if (!run->device_memory_is_one)
        found = find_chip_of_total((uint64_t)total, run->chip);
    if (found.devices == 0)
        found.devices = run->mesh_devices > 0 ? run->mesh_devices : 1;
    mem->device_memory =
        tts_amount_of(memory_of_device(run, found.each, total / found.devices));
    mem->log_devices = found.devices;
    return true;
}

/* Uses the peak over all iterations if the run states this peak and it agrees with the
 * phases. */
static void take_whole_peak(const struct tts_run *run, struct tts_trainmem *mem)
{
    struct tts_amount whole = run->whole.peak;
    if (!whole.is_known || whole.bytes < 0 ||
        (mem->peak.is_known && whole.bytes < mem->peak.bytes))
        return;
    mem->peak_is_later = mem->peak.is_known && whole.bytes > mem->peak.bytes;
    mem->peak_is_whole = true;
    mem->peak = whole;
}

/* Finds the peak: the printed peak, or the peak of a phase if it is larger. A negative peak
 * counts as unknown. */
static void find_run_peak(const struct tts_run *run, struct tts_trainmem *mem)
{
    struct tts_amount most = {0};
    bool misses_last = run->phase_count == 0;
    for (size_t i = 0; i < run->phase_count; i++) {
        struct tts_amount peak = run->phases[i].figures[TTS_RUN_CUMULATIVE_PEAK];
        misses_last = !peak.is_known;
        if (peak.is_known && (!most.is_known || peak.bytes > most.bytes))
            most = peak;
    }
    mem->peak = run->overall_peak;
    mem->peak_at_least =
        run->is_cut || run->is_at_least || (!mem->peak.is_known && misses_last);
    if (most.is_known && (!mem->peak.is_known || most.bytes > mem->peak.bytes))
        mem->peak = most;
    if (mem->peak.bytes < 0)
        mem->peak = (struct tts_amount){0};
    take_whole_peak(run, mem);
}

static void find_run_final(const struct tts_run *run, struct tts_trainmem *mem)
{
    mem->final = run->final;
    if (!mem->final.is_known && !run->is_cut && run->phase_count > 0)
        mem->final = run->phases[run->phase_count - 1].figures[TTS_RUN_CUMULATIVE_CURRENT];
}

/* Finds the first phase whose cumulative peak is the peak. Returns false if an earlier phase
 * without a figure could be that phase. */
static bool find_peak_phase(const struct tts_run *run, int64_t peak_bytes, size_t *out)
{
    for (size_t i = 0; i < run->phase_count; i++) {
        struct tts_amount peak = run->phases[i].figures[TTS_RUN_CUMULATIVE_PEAK];
        if (!peak.is_known)
            return false;
        if (peak.bytes < peak_bytes)
            continue;
        *out = i;
        return true;
    }
    return false;
}

/* Handles phases of the part "other" that freed more than they allocated: subtracts the
 * difference from the gradients, because a step of the optimizer frees gradients, then from the
 * activations. */
static void free_from_other_parts(struct tts_amount *parts)
{
    static const enum tts_run_part order[] = {TTS_RUN_PART_GRADIENTS, TTS_RUN_PART_ACTIVATIONS};
    struct tts_amount *other = &parts[TTS_RUN_PART_OTHER];
    for (size_t i = 0; i < sizeof order / sizeof order[0]; i++) {
        struct tts_amount *part = &parts[order[i]];
        if (!part->is_known || part->bytes <= 0 || other->bytes >= 0)
            continue;
        /* The sum does not overflow, because one value is positive and the other is
         * negative. */
        int64_t rest = part->bytes + other->bytes;
        part->bytes = rest > 0 ? rest : 0;
        other->bytes = rest < 0 ? rest : 0;
    }
    if (other->bytes < 0)
        other->bytes = 0;
}

/* Adds the memory that the phases before `end` left in use, by part. Returns false if a figure
 * is unknown. */
static bool add_parts_before(const struct tts_run *run, size_t end, struct tts_amount *parts)
{
    for (int part = 0; part < TTS_RUN_PARTS; part++)
        parts[part] = tts_amount_of(0);
    for (size_t i = 0; i < end; i++) {
        enum tts_run_part part = tts_train_part_of(run->phases[i].name);
        parts[part] = tts_amount_add(parts[part], run->phases[i].figures[TTS_RUN_CHANGE]);
        if (part == TTS_RUN_PART_OTHER)
            free_from_other_parts(parts);
        if (part != TTS_RUN_PART_GRADIENTS)
            continue;
        /* A backward pass frees the activations. The memory that a backward pass leaves in use
         * counts as gradients. */
        parts[part] = tts_amount_add(parts[part], parts[TTS_RUN_PART_ACTIVATIONS]);
        parts[TTS_RUN_PART_ACTIVATIONS] = tts_amount_of(0);
    }
    for (int part = 0; part < TTS_RUN_PARTS; part++)
        if (!parts[part].is_known)
            return false;
    return true;
}

static bool has_phase_before(const struct tts_run *run, size_t end, enum tts_run_part part)
{
    for (size_t i = 0; i < end; i++)
        if (tts_train_part_of(run->phases[i].name) == part)
            return true;
    return false;
}

/* Replaces measured sizes by expected sizes. Returns the reason if this is not possible,
 * otherwise TTS_TRAIN_FORCE_NONE. */
static enum tts_train_force put_expected_parts(const struct tts_run *run,
                                               const struct tts_trainmem *mem,
                                               struct tts_amount *parts)
{
    static const enum tts_run_part which[] = {TTS_RUN_PART_MODEL, TTS_RUN_PART_OPTIMIZER};
    const struct tts_train_size *const sizes[] = {&mem->model, &mem->optimizer};
    enum tts_run_part of_peak = tts_train_part_of(run->phases[mem->peak_phase].name);
    for (size_t i = 0; i < 2; i++) {
        if (of_peak == which[i])
            return TTS_TRAIN_FORCE_MAKING;
        if (!has_phase_before(run, mem->peak_phase, which[i]))
            continue;
        if (!sizes[i]->expected.is_known)
            return TTS_TRAIN_FORCE_UNKNOWN;
        parts[which[i]] = sizes[i]->expected;
    }
    return TTS_TRAIN_FORCE_NONE;
}

/* Returns the largest possible rounding error of the parts: each printed figure is exact to
 * 0.005 MB. */
static int64_t rounding_of_parts(const struct tts_trainmem *mem)
{
    return (int64_t)(mem->peak_phase + 4) * TTS_RUN_HALF_STEP_BYTES;
}

/* Makes the sum of the parts equal to the peak. A negative part becomes 0. If the sum is too
 * small, the difference becomes the part "other". If the sum is too large, the excess is
 * subtracted, first from the part that the phase of the peak changes. Returns the excess. */
static int64_t fit_parts_to_peak(const struct tts_trainmem *mem, enum tts_run_part of_peak,
                                 const struct tts_amount *parts, int64_t *out)
{
    int64_t room = mem->peak.bytes, over = 0;
    for (int part = 0; part < TTS_RUN_PARTS; part++)
        out[part] = part == TTS_RUN_PART_OTHER || parts[part].bytes < 0 ? 0 : parts[part].bytes;
    for (int i = TTS_RUN_PARTS; i >= 0; i--) {
        /* `of_peak`, the part that the phase of the peak changes, comes last and gets the
         * rest. */
        int part = i == 0 ? (int)of_peak : i - 1;
        if ((i > 0 && part == (int)of_peak) || part == TTS_RUN_PART_OTHER)
            continue;
        if (out[part] > room) {
            if (__builtin_add_overflow(over, out[part] - room, &over))
                over = INT64_MAX;
            out[part] = room;
        }
        room -= out[part];
    }
    out[TTS_RUN_PART_OTHER] = room;
    return over;
}

static void split_peak(const struct tts_run *run, bool use_actual, struct tts_trainmem *mem)
{
    struct tts_amount actual[TTS_RUN_PARTS], expected[TTS_RUN_PARTS];
    const struct tts_run_phase *phase = &run->phases[mem->peak_phase];
    enum tts_run_part of_peak = tts_train_part_of(phase->name);
    if (!add_parts_before(run, mem->peak_phase, actual))
        return;
    actual[of_peak] = tts_amount_add(actual[of_peak], phase->figures[TTS_RUN_SEGMENT_PEAK]);
    if (!actual[of_peak].is_known)
        return;
    memcpy(expected, actual, sizeof expected);
    enum tts_train_force force = TTS_TRAIN_FORCE_NONE;
    if (!use_actual)
        force = put_expected_parts(run, mem, expected);
    if (!use_actual && !force &&
        fit_parts_to_peak(mem, of_peak, expected, mem->parts) > rounding_of_parts(mem))
        force = TTS_TRAIN_FORCE_TOO_MUCH;
    if (use_actual || force)
        fit_parts_to_peak(mem, of_peak, actual, mem->parts);
    mem->has_parts = true;
    mem->parts_are_actual = use_actual || force;
    mem->parts_forced = force;
}

/* Uses the parts that the run states if they add up to the peak within their rounding. */
static bool take_stated_parts(const struct tts_run *run, struct tts_trainmem *mem)
{
    const int64_t most_off = (TTS_RUN_PARTS + 4) * TTS_RUN_HALF_STEP_BYTES;
    int64_t room = mem->peak.bytes;
    if (!mem->peak_is_whole || !run->whole.has_parts)
        return false;
    for (int part = 0; part < TTS_RUN_PARTS; part++) {
        int64_t bytes = run->whole.parts[part];
        if (bytes < 0 || bytes - most_off > room)
            return false;
        mem->parts[part] = bytes < room ? bytes : room;
        room -= mem->parts[part];
    }
    if (room > most_off)
        return false;
    mem->parts[TTS_RUN_PART_OTHER] += room;
    mem->has_parts = mem->parts_are_stated = mem->parts_are_actual = true;
    return true;
}

/* Fills in the peak, its phase and its parts. Needs the expected sizes. */
static void measure_run_peak(const struct tts_run *run,
                             const struct tts_trainmem_options *options,
                             struct tts_trainmem *mem)
{
    find_run_peak(run, mem);
    find_run_final(run, mem);
    if (!mem->peak.is_known)
        return;
    mem->has_peak_phase = find_peak_phase(run, mem->peak.bytes, &mem->peak_phase);
    if (!take_stated_parts(run, mem) && mem->has_peak_phase)
        split_peak(run, options->use_actual_sizes, mem);
}

/* The memory of a device if nothing else is known: 12 GiB, as the published script assumes. */
static const int64_t assumed_device_bytes = 12LL << 30;

/* ---- measured sizes ---- */

/* Returns the sum of the changes of all phases that change `part`. The sum is unknown if there
 * is no such phase. */
static struct tts_amount change_of_part(const struct tts_run *run, enum tts_run_part part,
                                        uint32_t *count)
{
    struct tts_amount sum = {.is_known = true};
    *count = 0;
    for (size_t i = 0; i < run->phase_count; i++) {
        if (tts_train_part_of(run->phases[i].name) != part)
            continue;
        sum = tts_amount_add(sum, run->phases[i].figures[TTS_RUN_CHANGE]);
        ++*count;
    }
    return *count > 0 ? sum : (struct tts_amount){0};
}

/* Returns the largest size of the activations at one time. A backward pass frees all earlier
 * activations. */
static struct tts_amount most_activations(const struct tts_run *run)
{
    struct tts_amount most = {0}, now = {.is_known = true};
    for (size_t i = 0; i < run->phase_count; i++) {
        enum tts_run_part part = tts_train_part_of(run->phases[i].name);
        if (part == TTS_RUN_PART_GRADIENTS)
            now = tts_amount_of(0);
        if (part != TTS_RUN_PART_ACTIVATIONS)
            continue;
        now = tts_amount_add(now, run->phases[i].figures[TTS_RUN_CHANGE]);
        if (!now.is_known)
            return now;
        if (!most.is_known || now.bytes > most.bytes)
            most = now;
    }
    return most;
}

/* Returns the size of the gradients: the memory after the last backward pass, minus the memory
 * after the creation of the optimizer, minus the memory that phases of the part "other" between
 * the two left in use. If these phases freed more than they allocated, they count as 0. */
static struct tts_amount gradients_left(const struct tts_run *run)
{
    size_t after = run->phase_count, last = run->phase_count;
    for (size_t i = 0; i < run->phase_count; i++) {
        enum tts_run_part part = tts_train_part_of(run->phases[i].name);
        if (part == TTS_RUN_PART_MODEL || part == TTS_RUN_PART_OPTIMIZER)
            after = i;
        if (part == TTS_RUN_PART_GRADIENTS)
            last = i;
    }
    if (after >= last || last == run->phase_count)
        return (struct tts_amount){0};
    struct tts_amount others = tts_amount_of(0);
    for (size_t i = after + 1; i < last; i++) {
        if (tts_train_part_of(run->phases[i].name) == TTS_RUN_PART_OTHER)
            others = tts_amount_add(others, run->phases[i].figures[TTS_RUN_CHANGE]);
        if (others.bytes < 0)
            others.bytes = 0;
    }
    struct tts_amount left =
        tts_amount_subtract(run->phases[last].figures[TTS_RUN_CUMULATIVE_CURRENT],
                            run->phases[after].figures[TTS_RUN_CUMULATIVE_CURRENT]);
    return tts_amount_subtract(left, others);
}

static void measure_parts(const struct tts_run *run, struct tts_trainmem *mem)
{
    uint32_t count;
    mem->model.actual = change_of_part(run, TTS_RUN_PART_MODEL, &count);
    mem->optimizer.actual = change_of_part(run, TTS_RUN_PART_OPTIMIZER, &count);
    mem->activations_sum = change_of_part(run, TTS_RUN_PART_ACTIVATIONS, &mem->forward_passes);
    mem->activations = most_activations(run);
    (void)change_of_part(run, TTS_RUN_PART_GRADIENTS, &mem->backward_passes);
    if (!run->is_overwritten)
        mem->gradients.actual = gradients_left(run);
}

/* ---- expected sizes ---- */

static int64_t dtype_bytes(enum tts_train_dtype dtype)
{
    static const int64_t bytes[] = {
#define X(name, text, size) size,
        TTS_TRAIN_DTYPE_MAP(X)
#undef X
    };
    assert(dtype < TTS_TRAIN_DTYPES);
    return bytes[dtype];
}

/* Returns amount * factor. The result is unknown if it does not fit into 64 bits. */
static struct tts_amount times_amount(struct tts_amount amount, int64_t factor)
{
    int64_t product;
    if (!amount.is_known || __builtin_mul_overflow(amount.bytes, factor, &product))
        return (struct tts_amount){0};
    return tts_amount_of(product);
}

static void expect_model(const struct tts_run *run, const struct tts_trainmem_options *options,
                         struct tts_trainmem *mem)
{
    mem->dtype = options->has_dtype ? options->dtype : TTS_TRAIN_DTYPE_BF16;
    mem->dtype_source = options->has_dtype ? TTS_TRAIN_FROM_OPTION : TTS_TRAIN_ASSUMED;
    if (options->model.is_known) {
        mem->model.expected = options->model;
        mem->model.source = TTS_TRAIN_FROM_OPTION;
    } else if (run->has_parameters && run->parameters <= INT64_MAX) {
        struct tts_amount parameters = tts_amount_of((int64_t)run->parameters);
        mem->model.expected = times_amount(parameters, dtype_bytes(mem->dtype));
        mem->model.source =
            mem->model.expected.is_known ? TTS_TRAIN_FROM_LOG : TTS_TRAIN_FROM_NOWHERE;
    }
}

/* Chooses the optimizer. Returns false if the size of the optimizer's state is unknown. */
static bool choose_run_optimizer(const struct tts_run *run,
                                 const struct tts_trainmem_options *options,
                                 struct tts_trainmem *mem)
{
    mem->optimizer_kind = options->has_optimizer ? options->optimizer_kind : TTS_TRAIN_ADAMW;
    mem->optimizer_source = options->has_optimizer ? TTS_TRAIN_FROM_OPTION : TTS_TRAIN_ASSUMED;
    if (options->has_optimizer)
        return true;
    if (run->optimizer[0] != '\0') {
        mem->optimizer_source = TTS_TRAIN_FROM_LOG;
        if (!tts_train_optimizer_find(run->optimizer, &mem->optimizer_kind)) {
            mem->optimizer_source = TTS_TRAIN_FROM_NOWHERE;
            return false;
        }
    }
    if (run->has_kahan && run->is_kahan) {
        mem->optimizer_kind = TTS_TRAIN_ADAMW_KAHAN;
        mem->optimizer_source = TTS_TRAIN_FROM_LOG;
    }
    /* The size is unknown for SGD: a log does not say whether SGD has momentum, and only with
     * momentum SGD has a state. */
    return mem->optimizer_kind != TTS_TRAIN_SGD;
}

/* Returns the size of the optimizer's state for a model of the size `model`. */
static struct tts_amount optimizer_state(struct tts_amount model, enum tts_train_dtype dtype,
                                         enum tts_train_optimizer optimizer)
{
    static const int64_t copies[TTS_TRAIN_OPTIMIZERS] = {
        [TTS_TRAIN_ADAMW] = 2,
        [TTS_TRAIN_MOREH_ADAMW] = 2,
        [TTS_TRAIN_ADAMW_COMPOSITE] = 2,
        [TTS_TRAIN_ADAMW_KAHAN] = 3,
        [TTS_TRAIN_SGD_MOMENTUM] = 1,
        [TTS_TRAIN_SGD_COMPOSITE] = 1,
        [TTS_TRAIN_MUON] = 1,
    };
    if (optimizer != TTS_TRAIN_ADAMW_FULL_PRECISION)
        return times_amount(model, copies[optimizer]);
    struct tts_amount parameters = model;
    parameters.bytes /= dtype_bytes(dtype);
    return times_amount(parameters, 3 * dtype_bytes(TTS_TRAIN_DTYPE_FP32));
}

static void expect_sizes(const struct tts_run *run, const struct tts_trainmem_options *options,
                         struct tts_trainmem *mem)
{
    expect_model(run, options, mem);
    bool is_known = choose_run_optimizer(run, options, mem);
    if (options->optimizer.is_known) {
        mem->optimizer.expected = options->optimizer;
        mem->optimizer.source = TTS_TRAIN_FROM_OPTION;
    } else if (is_known) {
        mem->optimizer.expected =
            optimizer_state(mem->model.expected, mem->dtype, mem->optimizer_kind);
        if (mem->optimizer.expected.is_known)
            mem->optimizer.source = mem->optimizer_source;
    }
    if (options->gradients.is_known) {
        mem->gradients.expected = options->gradients;
        mem->gradients.source = TTS_TRAIN_FROM_OPTION;
    } else if (mem->model.expected.is_known) {
        mem->gradients.expected = mem->model.expected;
        mem->gradients.source = TTS_TRAIN_ASSUMED;
    }
}

/* ---- later iterations ---- */

/* Returns true if zero_grad() of the optimizer fills the gradients with zeros but does not free
 * them. Then later iterations need more memory than the first one, which starts without
 * gradients. */
static bool leaves_gradients(enum tts_train_optimizer optimizer)
{
    return optimizer == TTS_TRAIN_SGD || optimizer == TTS_TRAIN_SGD_MOMENTUM ||
           optimizer == TTS_TRAIN_ADAMW_FULL_PRECISION || optimizer == TTS_TRAIN_NO_OP;
}

/* Returns true if a forward pass follows the end of an iteration ("ITERATION_COMPLETE" or
 * "FIRST_ITERATION_COMPLETE"). */
static bool has_later_iteration(const struct tts_run *run)
{
    bool is_later = false;
    for (size_t i = 0; i < run->phase_count; i++) {
        if (strstr(run->phases[i].name, "ITERATION_COMPLETE"))
            is_later = true;
        else if (is_later && tts_train_part_of(run->phases[i].name) == TTS_RUN_PART_ACTIVATIONS)
            return true;
    }
    return false;
}

/* Sets an upper bound for the additional memory of later iterations: two sets of gradients. The
 * first set are the gradients that zero_grad() keeps; the second set are the sums that replace
 * them one by one. In `ttscope fit`, models need up to 1.57 sets more than in their first
 * iteration. */
static void bound_later_peak(const struct tts_run *run, struct tts_trainmem *mem)
{
    bool is_named = mem->optimizer_source == TTS_TRAIN_FROM_LOG ||
                    mem->optimizer_source == TTS_TRAIN_FROM_OPTION;
    mem->covers_first = is_named && !mem->peak_is_whole && mem->backward_passes > 0 &&
                        leaves_gradients(mem->optimizer_kind) && !has_later_iteration(run);
    if (!mem->covers_first)
        return;
    struct tts_amount set = mem->gradients.actual;
    if (!set.is_known || set.bytes <= 0)
        set = mem->gradients.expected.is_known ? mem->gradients.expected : mem->model.actual;
    if (set.is_known && set.bytes > 0)
        mem->later_more = tts_amount_add(set, set);
}

static void size_device(const struct tts_run *run, const struct tts_trainmem_options *options,
                        struct tts_trainmem *mem)
{
    mem->device_memory = tts_amount_of(assumed_device_bytes);
    mem->device_memory_source = TTS_TRAIN_ASSUMED;
    if (options->device_memory.is_known) {
        mem->device_memory = options->device_memory;
        mem->device_memory_source = options->device_memory_source;
    } else if (size_device_by_log(run, mem)) {
        mem->device_memory_source = TTS_TRAIN_FROM_LOG;
    }
}

/* Returns true if the run states whether it fits the device that is judged here. The memory
 * must be the same, except for the rounding in a log. If both names are known, they must be the
 * same too, because boards with the same memory have different numbers of chips. The statement
 * of the run is more important than the peak, because fragmented memory can be too small for a
 * peak that would fit. */
static bool states_fits(const struct tts_run *run, const struct tts_trainmem_options *options,
                        const struct tts_trainmem *mem)
{
    const struct tts_run_whole *whole = &run->whole;
    struct tts_amount off = tts_amount_subtract(mem->device_memory, run->device_memory);
    if (!mem->peak_is_whole || !whole->has_fits)
        return false;
    if (whole->never_runs)
        return true;
    if (options->device[0] != '\0' && whole->device[0] != '\0' &&
        strcmp(options->device, whole->device) != 0)
        return false;
    return off.is_known && off.bytes <= TTS_RUN_HALF_STEP_BYTES &&
           off.bytes >= -TTS_RUN_HALF_STEP_BYTES;
}

bool tts_trainmem_may_exceed(const struct tts_trainmem *mem, int64_t bytes)
{
    struct tts_amount most = tts_amount_add(mem->peak, mem->later_more);
    return mem->covers_first && (!most.is_known || most.bytes > bytes);
}

static void judge_device_fit(const struct tts_run *run,
                             const struct tts_trainmem_options *options,
                             struct tts_trainmem *mem)
{
    if (!mem->peak.is_known)
        return;
    bool is_stated = states_fits(run, options, mem);
    /* The difference does not overflow, because neither size is negative. */
    int64_t over = mem->peak.bytes - mem->device_memory.bytes;
    mem->fits = over <= (is_stated ? TTS_RUN_HALF_STEP_BYTES : 0);
    mem->is_refused = is_stated && mem->fits && !run->whole.fits;
    mem->fits &= !mem->is_refused;
    bool may_be_more =
        mem->peak_at_least || tts_trainmem_may_exceed(mem, mem->device_memory.bytes);
    mem->has_verdict = !mem->fits || !may_be_more;
}

void tts_trainmem_of(const struct tts_run *run, const struct tts_trainmem_options *options,
                     struct tts_trainmem *out)
{
    *out = (struct tts_trainmem){0};
    measure_parts(run, out);
    expect_sizes(run, options, out);
    size_device(run, options, out);
    measure_run_peak(run, options, out);
    bound_later_peak(run, out);
    judge_device_fit(run, options, out);
}

bool tts_train_difference(const struct tts_train_size *size, int64_t *out)
{
    if (!size->actual.is_known || !size->expected.is_known)
        return false;
    double expected = size->expected.bytes == 0 ? 1 : (double)size->expected.bytes;
    double share = ((double)size->actual.bytes - expected) / expected * 10000;
    share = share > 9e15 ? 9e15 : share < -9e15 ? -9e15 : share;
    *out = size->expected.bytes == 0 ? 0 : (int64_t)(share < 0 ? share - 0.5 : share + 0.5);
    return true;
}

const char *tts_train_source_name(enum tts_train_source source)
{
    switch (source) {
    case TTS_TRAIN_FROM_OPTION:
        return "option";
    case TTS_TRAIN_FROM_DEVICE:
        return "device";
    case TTS_TRAIN_FROM_LOG:
        return "log";
    case TTS_TRAIN_ASSUMED:
        return "assumed";
    case TTS_TRAIN_FROM_NOWHERE:
        break;
    }
    return NULL;
}

const char *tts_train_sizes_name(const struct tts_trainmem *mem)
{
    if (mem->parts_are_stated)
        return "predicted";
    return mem->parts_are_actual ? "actual" : "expected";
}

#include "analysis/questions/livequestions.h"

#include "analysis/questions/leak.h"
#include "analysis/questions/tracephase.h"
#include "base/hashtable.h"
#include "base/heap.h"
#include "base/seed.h"

#include <string.h>

enum { KINDS_MAX = 64, NO_KIND = 0xff };
static const uint32_t pool_bits = (1u << TTS_POOLS) - 1;

/* The identity of a device: its unique id, or its number in the programs. */
struct device_key {
    bool is_unique;
    enum tts_livesource source; /* of a number */
    uint64_t id;
};

/* The identity of a process on a device. A number that is used again has another start. */
struct subject_key {
    struct device_key device;
    uint32_t pid, container_pid;
    uint64_t start_ticks; /* not the time, which changes when the clock is set */
};

/* A process that publishes: its buffers by kind, which is a pool and a size class, and its
 * phases. */
struct kind_history {
    bool is_used;
    uint8_t kinds[TTS_POOLS][TTS_SIZECLASSES]; /* key in the history, or NO_KIND */
    uint32_t counts[TTS_POOLS][TTS_SIZECLASSES];
    uint64_t due_ns, allocs, frees;
    struct tts_leak leak;
    struct tts_tracephases phases;
    uint8_t pool_of[KINDS_MAX], class_of[KINDS_MAX];
};

struct subject {
    struct subject_key key;
    bool is_used;
    bool is_seen, is_asked; /* in the present frame */
    struct tts_growth growths[TTS_POOLS];
    struct kind_history *history; /* NULL: the process does not publish, or there is no room */
};

struct device_phases {
    struct device_key key;
    uint32_t owner; /* several programs can have a device with the same number */
    bool is_used, is_seen;
    struct tts_tracephases phases;
};

struct tts_livequestions {
    const struct tts_alloc *alloc;
    struct tts_growth_rule rule;
    uint64_t seed;
    struct subject *subjects;         /* TTS_LIVEQUESTIONS_SUBJECTS */
    struct kind_history *histories;   /* TTS_LIVEQUESTIONS_HISTORIES */
    struct device_phases *devices;    /* TTS_LIVEQUESTIONS_DEVICES */
    struct tts_hashtable by_key;      /* of subjects */
    size_t subject_high, device_high; /* no entry at or above is used */
};

/* ---- creation ---- */

static enum tts_status allocate_questions(struct tts_livequestions *questions)
{
    const struct tts_alloc *alloc = questions->alloc;
    size_t subjects = TTS_LIVEQUESTIONS_SUBJECTS * sizeof *questions->subjects;
    size_t histories = TTS_LIVEQUESTIONS_HISTORIES * sizeof *questions->histories;
    size_t devices = TTS_LIVEQUESTIONS_DEVICES * sizeof *questions->devices;
    questions->histories = alloc->alloc(alloc->ctx, histories);
    if (!questions->histories)
        return TTS_E_NOMEM;
    memset(questions->histories, 0, histories);
    questions->subjects = alloc->alloc(alloc->ctx, subjects);
    questions->devices = alloc->alloc(alloc->ctx, devices);
    if (!questions->subjects || !questions->devices)
        return TTS_E_NOMEM;
    for (size_t i = 0; i < TTS_LIVEQUESTIONS_HISTORIES; i++) {
        enum tts_status status = tts_leak_init(&questions->histories[i].leak, KINDS_MAX, alloc);
        if (status != TTS_OK)
            return status;
    }
    questions->by_key.alloc = alloc;
    return tts_hashtable_reserve(&questions->by_key, TTS_LIVEQUESTIONS_SUBJECTS);
}

enum tts_status tts_livequestions_new(const struct tts_growth_rule *rule,
                                      const struct tts_alloc *alloc,
                                      struct tts_livequestions **out)
{
    alloc = alloc ? alloc : tts_alloc_libc();
    struct tts_livequestions *questions = alloc->alloc(alloc->ctx, sizeof *questions);
    if (!questions)
        return TTS_E_NOMEM;
    *questions = (struct tts_livequestions){.alloc = alloc, .rule = *rule, .seed = tts_seed()};
    enum tts_status status = allocate_questions(questions);
    if (status != TTS_OK) {
        tts_livequestions_free(questions);
        return status;
    }
    *out = questions;
    return TTS_OK;
}

void tts_livequestions_free(struct tts_livequestions *questions)
{
    if (!questions)
        return;
    const struct tts_alloc *alloc = questions->alloc;
    for (size_t i = 0; questions->histories && i < TTS_LIVEQUESTIONS_HISTORIES; i++)
        tts_leak_release(&questions->histories[i].leak);
    if (questions->histories)
        alloc->free(alloc->ctx, questions->histories,
                    TTS_LIVEQUESTIONS_HISTORIES * sizeof *questions->histories);
    if (questions->subjects)
        alloc->free(alloc->ctx, questions->subjects,
                    TTS_LIVEQUESTIONS_SUBJECTS * sizeof *questions->subjects);
    if (questions->devices)
        alloc->free(alloc->ctx, questions->devices,
                    TTS_LIVEQUESTIONS_DEVICES * sizeof *questions->devices);
    tts_hashtable_release(&questions->by_key);
    alloc->free(alloc->ctx, questions, sizeof *questions);
}

/* ---- identities ---- */

static struct device_key device_key_of(const struct tts_livedevice *device)
{
    if (device->unique_id_known)
        return (struct device_key){.is_unique = true, .id = device->unique_id};
    /* A device without any number is known by its place. */
    return (struct device_key){.source = device->source,
                               .id = device->logical_id_known
                                         ? device->logical_id
                                         : UINT64_C(1) << 32 | device->index};
}

static bool is_same_device_key(const struct device_key *a, const struct device_key *b)
{
    return a->is_unique == b->is_unique && a->source == b->source && a->id == b->id;
}

static struct subject_key subject_key_of(const struct tts_livedevice *device,
                                         const struct tts_liveprocess *process)
{
    return (struct subject_key){.device = device_key_of(device),
                                .pid = process->pid_known ? process->pid : 0,
                                .container_pid =
                                    process->container_pid_known ? process->container_pid : 0,
                                .start_ticks = process->start_ticks};
}

static uint32_t hash_subject_key(const struct tts_livequestions *questions,
                                 const struct subject_key *key)
{
    return tts_hashtable_mix(questions->seed, key->device.id,
                             (uint64_t)key->pid << 32 ^ key->container_pid ^ key->start_ticks);
}

static bool is_same_subject(const void *ctx, uint32_t place, const void *key)
{
    const struct subject_key *a = &((const struct subject *)ctx)[place].key, *b = key;
    return is_same_device_key(&a->device, &b->device) && a->pid == b->pid &&
           a->container_pid == b->container_pid && a->start_ticks == b->start_ticks;
}

/* Returns the subject, or NULL. */
static struct subject *find_subject(const struct tts_livequestions *questions,
                                    const struct subject_key *key)
{
    uint32_t hash = hash_subject_key(questions, key);
    uint32_t place =
        tts_hashtable_find(&questions->by_key, hash, is_same_subject, questions->subjects, key);
    return place == TTS_HASHTABLE_NONE ? NULL : &questions->subjects[place];
}

/* Returns NULL if there is no room. */
static struct subject *add_subject(struct tts_livequestions *questions,
                                   const struct subject_key *key)
{
    uint32_t place = 0;
    while (place < questions->subject_high && questions->subjects[place].is_used)
        place++;
    if (place == TTS_LIVEQUESTIONS_SUBJECTS ||
        tts_hashtable_add(&questions->by_key, hash_subject_key(questions, key), place) !=
            TTS_OK)
        return NULL;
    questions->subject_high += place == questions->subject_high;
    questions->subjects[place] = (struct subject){.key = *key, .is_used = true};
    return &questions->subjects[place];
}

/* Returns the process that tells devices with the same number apart: 0 for a device with a
 * unique id, else the smallest number among its processes. */
static uint32_t device_owner(const struct tts_livedevice *device)
{
    uint32_t owner = 0;
    for (size_t i = 0; i < device->process_count && !device->unique_id_known; i++) {
        const struct tts_liveprocess *process = &device->processes[i];
        uint32_t pid = process->pid_known ? process->pid : process->container_pid;
        owner = owner == 0 || pid < owner ? pid : owner;
    }
    return owner;
}

static struct device_phases *find_device_phases(struct tts_livequestions *questions,
                                                const struct tts_livedevice *device)
{
    struct device_key key = device_key_of(device);
    uint32_t owner = device_owner(device);
    size_t place = TTS_LIVEQUESTIONS_DEVICES;
    for (size_t i = 0; i < questions->device_high; i++) {
        if (!questions->devices[i].is_used)
            place = i;
        else if (questions->devices[i].owner == owner &&
                 is_same_device_key(&questions->devices[i].key, &key))
            return &questions->devices[i];
    }
    if (place == TTS_LIVEQUESTIONS_DEVICES) {
        if (questions->device_high == TTS_LIVEQUESTIONS_DEVICES)
            return NULL;
        place = questions->device_high++;
    }
    questions->devices[place] =
        (struct device_phases){.key = key, .owner = owner, .is_used = true};
    return &questions->devices[place];
}

static void forget_history(struct subject *subject)
{
    if (subject->history)
        subject->history->is_used = false;
    subject->history = NULL;
}

static void forget_subject(struct tts_livequestions *questions, struct subject *subject)
{
    tts_hashtable_remove(&questions->by_key, hash_subject_key(questions, &subject->key),
                         (uint32_t)(subject - questions->subjects));
    forget_history(subject);
    subject->is_used = false;
}

/* Forgets the processes that the frame does not have, so that there is room for new ones. */
static void forget_gone_subjects(struct tts_livequestions *questions,
                                 const struct tts_liveframe *frame)
{
    for (size_t i = 0; i < questions->subject_high; i++)
        questions->subjects[i].is_seen = questions->subjects[i].is_asked = false;
    for (size_t i = 0; i < frame->device_count; i++)
        for (size_t j = 0; j < frame->devices[i].process_count; j++) {
            struct subject_key key =
                subject_key_of(&frame->devices[i], &frame->devices[i].processes[j]);
            struct subject *subject = find_subject(questions, &key);
            if (subject)
                subject->is_seen = true;
        }
    for (size_t i = 0; i < questions->subject_high; i++)
        if (questions->subjects[i].is_used && !questions->subjects[i].is_seen)
            forget_subject(questions, &questions->subjects[i]);
}

static void forget_gone_devices(struct tts_livequestions *questions)
{
    for (size_t i = 0; i < questions->device_high; i++) {
        questions->devices[i].is_used &= questions->devices[i].is_seen;
        questions->devices[i].is_seen = false;
    }
}

/* ---- growing ---- */

static void ask_growing(const struct tts_livequestions *questions, struct subject *subject,
                        struct tts_livedevice *device, const struct tts_liveprocess *process,
                        uint64_t time_ns)
{
    struct tts_liveanswers *answers = &device->answers;
    for (size_t i = 0; i < TTS_POOLS; i++) {
        struct tts_growth *growth = &subject->growths[i];
        const struct tts_livepool *pool = &device->pools[i];
        if (!(process->counters.known >> i & 1))
            *growth = (struct tts_growth){0};
        else
            (void)tts_growth_feed(growth, &questions->rule, time_ns,
                                  process->counters.bytes[i]);
        if (!growth->is_growing)
            continue;
        if (answers->growing_count == TTS_LIVEGROWING_MAX) {
            answers->growing_unlisted++;
            continue;
        }
        struct tts_livegrowing *found = &answers->growing[answers->growing_count++];
        *found =
            (struct tts_livegrowing){.pool = (enum tts_pool)i,
                                     .since_ns = growth->from_ns,
                                     .grown_bytes = growth->last_bytes - growth->from_bytes,
                                     .bytes_per_second = tts_growth_slope(growth)};
        tts_liveowner_set(&found->owner, process);
        found->full_known =
            pool->free_known && tts_growth_full(growth, pool->free_bytes, &found->full_seconds);
    }
}

/* ---- leaks ---- */

/* Forgets the counts. Keeps the memory and the phases. */
static void clear_history(struct kind_history *history)
{
    struct tts_leak leak = history->leak;
    struct tts_tracephases phases = history->phases;
    tts_leak_reset(&leak);
    *history = (struct kind_history){.is_used = true, .leak = leak, .phases = phases};
    memset(history->kinds, NO_KIND, sizeof history->kinds);
}

static struct kind_history *take_history(struct tts_livequestions *questions)
{
    for (size_t i = 0; i < TTS_LIVEQUESTIONS_HISTORIES; i++) {
        struct kind_history *history = &questions->histories[i];
        if (history->is_used)
            continue;
        history->phases = (struct tts_tracephases){0};
        clear_history(history);
        return history;
    }
    return NULL;
}

static uint64_t sum_pool_counts(const uint64_t counts[TTS_POOLS])
{
    uint64_t sum = 0;
    for (size_t i = 0; i < TTS_POOLS; i++)
        sum += counts[i];
    return sum;
}

/* Returns whether the region lists every live buffer, so that the counts by size are whole. */
static bool has_whole_counts(const struct tts_liveprocess *process)
{
    const struct tts_seenclient *client = process->client;
    return process->view && process->view->classes_known && process->view->counted_known &&
           (!client || (client->unlisted == 0 && client->dropped == 0));
}

/* Gives the history the number of live buffers of each kind. */
static void feed_kind_counts(struct kind_history *history, const struct tts_seenview *view)
{
    for (size_t pool = 0; pool < TTS_POOLS; pool++)
        for (size_t class = 0; class < TTS_SIZECLASSES; class ++) {
            uint32_t now = view->class_buffers[pool][class];
            uint32_t before = history->counts[pool][class], key = history->kinds[pool][class];
            history->counts[pool][class] = now;
            if (key != NO_KIND) {
                tts_leak_set(&history->leak, key, now, before > now ? before - now : 0);
            } else if (now > 0 && tts_leak_add(&history->leak, now, &key) == TTS_OK) {
                history->kinds[pool][class] = (uint8_t)key;
                history->pool_of[key] = (uint8_t)pool;
                history->class_of[key] = (uint8_t) class;
            }
        }
}

/* Feeds the history. A tick is one interval in which buffers were freed. */
static void feed_history(const struct tts_livequestions *questions,
                         struct kind_history *history, const struct tts_seenview *view,
                         uint64_t time_ns)
{
    uint64_t allocs = sum_pool_counts(view->allocs), frees = sum_pool_counts(view->frees);
    bool is_back = allocs < history->allocs || frees < history->frees ||
                   (history->leak.has_begun && time_ns < history->leak.now.time_ns);
    if (is_back)
        clear_history(history); /* the counters began again */
    if (history->leak.has_begun && frees == history->frees)
        return;
    feed_kind_counts(history, view);
    if (time_ns < history->due_ns)
        return;
    tts_leak_tick(&history->leak, time_ns, allocs, frees);
    history->allocs = allocs;
    history->frees = frees;
    history->due_ns = time_ns + questions->rule.interval_ns - questions->rule.interval_ns / 32;
}

/* Returns the leak of a pool among the answers, and adds the leak if there is none. Returns
 * NULL if there is no room. */
static struct tts_liveleak *find_pool_leak(struct tts_liveanswers *answers, size_t first,
                                           enum tts_pool pool)
{
    for (size_t i = first; i < answers->leak_count; i++)
        if (answers->leaks[i].pool == pool)
            return &answers->leaks[i];
    if (answers->leak_count == TTS_LIVELEAKS_MAX) {
        answers->leaks_unlisted++;
        return NULL;
    }
    struct tts_liveleak *leak = &answers->leaks[answers->leak_count++];
    *leak = (struct tts_liveleak){.pool = pool};
    return leak;
}

/* Adds the bytes of `count` buffers of the smallest size of a class. A sum that does not fit is
 * the largest number. */
static uint64_t add_class_bytes(uint64_t sum, uint32_t count, uint8_t class)
{
    uint64_t bytes;
    bool is_large = __builtin_mul_overflow((uint64_t)count, UINT64_C(1) << class, &bytes);
    is_large |= __builtin_add_overflow(sum, bytes, &sum);
    return is_large ? UINT64_MAX : sum;
}

static void add_live_leaks(struct tts_liveanswers *answers, const struct kind_history *history,
                           const struct tts_leakfound *found,
                           const struct tts_liveprocess *process)
{
    size_t first = answers->leak_count;
    for (size_t i = 0; i < found->growth_count; i++) {
        const struct tts_leakgrowth *growth = &found->growths[i];
        uint8_t class = history->class_of[growth->key];
        struct tts_liveleak *leak =
            find_pool_leak(answers, first, (enum tts_pool)history->pool_of[growth->key]);
        if (!leak)
            continue;
        tts_liveowner_set(&leak->owner, process);
        leak->since_ns = found->since_ns;
        leak->classes |= UINT64_C(1) << class;
        leak->buffers += growth->gained;
        leak->bytes_at_least = add_class_bytes(leak->bytes_at_least, growth->gained, class);
        leak->periods = found->windows;
        leak->period_ns = (found->until_ns - found->since_ns) / found->windows;
        leak->is_after_steady = found->is_after_steady;
    }
}

static void ask_leaks(const struct tts_livequestions *questions, struct kind_history *history,
                      struct tts_livedevice *device, const struct tts_liveprocess *process,
                      uint64_t time_ns)
{
    struct tts_leakfound found;
    if (!has_whole_counts(process)) {
        if (history->leak.key_count > 0)
            clear_history(history);
        return;
    }
    device->answers.leaks_known = true;
    feed_history(questions, history, process->view, time_ns);
    if (tts_leak_judge(&history->leak, false, &found))
        add_live_leaks(&device->answers, history, &found, process);
}

/* ---- phases ---- */

static uint64_t counter_bytes(const struct tts_counters *counters, enum tts_counter counter)
{
    return counters->known >> counter & 1 ? counters->bytes[counter] : 0;
}

static struct tts_tracesample counters_sample(const struct tts_counters *counters,
                                              uint64_t time_ns)
{
    return (struct tts_tracesample){.time_ns = time_ns,
                                    .code_known = counters->known >> TTS_COUNTER_KERNEL & 1,
                                    .trace_bytes = counter_bytes(counters, TTS_COUNTER_TRACE),
                                    .data_bytes = counter_bytes(counters, TTS_COUNTER_L1),
                                    .code_bytes = counter_bytes(counters, TTS_COUNTER_KERNEL),
                                    .other_bytes =
                                        counter_bytes(counters, TTS_COUNTER_DRAM) +
                                        counter_bytes(counters, TTS_COUNTER_L1_SMALL)};
}

/* Adds what the program says about its traces. */
static void add_trace_facts(struct tts_tracesample *sample, const struct tts_seenview *view)
{
    if (!view || !view->trace_known)
        return;
    sample->trace_known = true;
    sample->depth = view->trace_depth;
    sample->traces = view->traces;
    sample->large_known = view->classes_known;
    for (int c = TTS_TRACEPHASE_LARGE_CLASS; view->classes_known && c < TTS_SIZECLASSES; c++)
        sample->large_buffers += view->class_buffers[TTS_POOL_L1][c];
    if (view->counted_known)
        sample->changes = sum_pool_counts(view->allocs) + sum_pool_counts(view->frees);
}

static void ask_process_phase(struct kind_history *history, struct tts_liveprocess *process,
                              uint64_t time_ns)
{
    struct tts_tracesample sample = counters_sample(&process->counters, time_ns);
    if (process->counters.known == 0)
        return;
    add_trace_facts(&sample, process->view);
    (void)tts_tracephases_feed(&history->phases, &sample);
    process->phase = tts_livephases_now(&history->phases.answer);
}

/* The phase of a device is that of its only live process that has memory; with several, it is
 * judged by the counters of the device. */
static void ask_device_phase(struct tts_livequestions *questions, struct tts_livedevice *device,
                             uint64_t time_ns)
{
    struct device_phases *phases = find_device_phases(questions, device);
    const struct tts_liveprocess *only = NULL;
    struct tts_counters sum = {.known = 0};
    size_t count = 0;
    if (!phases || phases->is_seen)
        return;
    for (size_t i = 0; i < device->process_count; i++) {
        const struct tts_liveprocess *process = &device->processes[i];
        if (process->counters.known == 0 || process->state == TTS_LIVEPROCESS_DEAD)
            continue;
        sum.known |= process->counters.known & 1u << TTS_COUNTER_KERNEL;
        sum.bytes[TTS_COUNTER_KERNEL] += counter_bytes(&process->counters, TTS_COUNTER_KERNEL);
        only = process;
        count++;
    }
    bool is_known = false;
    for (size_t i = 0; i < TTS_POOLS; i++) {
        is_known |= device->pools[i].allocated_known;
        sum.known |= (uint32_t)device->pools[i].allocated_known << i;
        sum.bytes[i] = device->pools[i].allocated_bytes;
    }
    phases->is_seen = true;
    if (!is_known)
        return;
    struct tts_tracesample sample = counters_sample(&sum, time_ns);
    if (count == 1)
        add_trace_facts(&sample, only->view);
    (void)tts_tracephases_feed(&phases->phases, &sample);
    device->answers.phases = phases->phases.answer;
}

/* ---- a frame ---- */

static void ask_process(struct tts_livequestions *questions, struct tts_livedevice *device,
                        struct tts_liveprocess *process, uint64_t time_ns)
{
    struct subject_key key = subject_key_of(device, process);
    if (process->state == TTS_LIVEPROCESS_DEAD)
        return;
    struct subject *subject = find_subject(questions, &key);
    if (!subject)
        subject = add_subject(questions, &key);
    if (!subject || subject->is_asked)
        return; /* there is no room, or a second entry has the same identity */
    subject->is_asked = true;
    device->answers.growing_known |= (process->counters.known & pool_bits) != 0;
    ask_growing(questions, subject, device, process, time_ns);
    if (!process->view)
        forget_history(subject);
    else if (!subject->history)
        subject->history = take_history(questions);
    if (!subject->history)
        return; /* the process does not publish, or there is no room */
    ask_leaks(questions, subject->history, device, process, time_ns);
    ask_process_phase(subject->history, process, time_ns);
}

void tts_livequestions_feed(struct tts_livequestions *questions, struct tts_liveframe *frame,
                            const struct tts_pressuretable *table)
{
    forget_gone_subjects(questions, frame);
    for (size_t i = 0; i < frame->device_count; i++) {
        struct tts_livedevice *device = &frame->devices[i];
        device->answers = (struct tts_liveanswers){.is_asked = true, .time_ns = frame->time_ns};
        for (size_t j = 0; j < device->process_count; j++)
            ask_process(questions, device, &device->processes[j], frame->time_ns);
        tts_pressure_judge(device, table);
        ask_device_phase(questions, device, frame->time_ns);
    }
    forget_gone_devices(questions);
}

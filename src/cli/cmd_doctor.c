/* cmd_doctor.c: the command `doctor`, which checks whether the memory of the devices of this
 * host can be watched, and says what to change. */
#include "analysis/live/hostcheck.h"
#include "analysis/live/liveowners.h"
#include "cli/commands.h"
#include "cli/job.h"
#include "cli/livehost_arg.h"
#include "sources/live/livenodes.h"
#include "views/live/hostcheck_view.h"

struct doctor_options {
    bool json;
};

static const struct tts_option doctor_table[] = {
    {"json", 'j', TTS_OPTION_FLAG, offsetof(struct doctor_options, json), .help = "write JSON"},
    {0},
};

/* Reads the host and makes the checks. */
static enum tts_status check_host(struct tts_livehost *host, struct tts_hostchecks *checks,
                                  struct tts_error *err)
{
    struct tts_hostview view;
    struct tts_liveframe frame;
    tts_hostview_init(&view, NULL);
    tts_liveframe_init(&frame, NULL);
    enum tts_status status = tts_livehost_read(host, &view, err);
    if (status == TTS_OK)
        status = tts_livenodes_read(tts_livehost_root(), &view, err);
    if (status == TTS_OK)
        status = tts_liveowners_judge(&view, &frame, err);
    if (status == TTS_OK)
        tts_hostcheck_all(&view, &frame, checks);
    tts_liveframe_release(&frame);
    tts_hostview_release(&view);
    return status;
}

static void write_checks_json(const struct tts_hostchecks *checks, FILE *out)
{
    struct tts_json json;
    tts_json_init(&json, out);
    tts_json_object(&json, NULL);
    tts_json_object(&json, "schema");
    tts_json_text(&json, "name", "ttscope.doctor");
    tts_json_number(&json, "version", 1);
    tts_json_object_end(&json);
    tts_hostcheck_json(checks, &json);
    tts_json_object_end(&json);
}

static int exit_code_of(const struct tts_hostchecks *checks)
{
    if (!checks->has_device && !checks->has_source)
        return TTS_EXIT_DEVICE;
    return tts_hostcheck_worst(checks) >= TTS_SEVERITY_WARNING ? TTS_EXIT_BAD_NEWS
                                                               : TTS_EXIT_DONE;
}

static int run_doctor(struct tts_job *job, void *values)
{
    const struct doctor_options *options = values;
    struct tts_livehost *host;
    struct tts_hostchecks checks;
    struct tts_error err = {0};
    int code = tts_livehost_arg_open(job->command, &host);
    if (code != TTS_EXIT_DONE)
        return code;
    tts_livehost_defer_users(host);
    enum tts_status status = check_host(host, &checks, &err);
    tts_livehost_close(host);
    if (status != TTS_OK)
        return tts_job_fail(job, NULL, &err);
    FILE *out = tts_job_open(job, "-");
    if (!out)
        return TTS_EXIT_INPUT;
    if (options->json)
        write_checks_json(&checks, out);
    else
        tts_hostcheck_text(&checks, out);
    return tts_job_commit(job, exit_code_of(&checks));
}

const struct tts_command tts_doctor_command = {
    .name = "doctor",
    .operands = "",
    .summary = "check what top can see on this host, and what to change",
    .work = run_doctor,
    .options = doctor_table,
    .values_bytes = sizeof(struct doctor_options),
};

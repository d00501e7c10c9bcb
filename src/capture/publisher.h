/* publisher.h: publishes the events of a tracker in a client region (wire/clientregion.h). Only
 * for the capture room. publish.h has the functions for programs.
 *
 * While a publisher is the `publisher` of its tracker, it belongs to the thread that folds. The
 * functions fold an event and then write its effect: the table, the counters of the device, the
 * ring. They take no lock, allocate nothing and make no system call. The publisher keeps its
 * own index of the live buffers and never reads the region. */
#pragma once

#include "model/fold.h"
#include "ttscope/publish.h"

struct tts_publisher;
struct tts_attached;

/* Returns the publisher, or NULL if this process is the child of a fork. Then the publisher has
 * left the tracker, or, if it was started by the environment, has made a file for the child. */
struct tts_publisher *tts_publisher_ready(struct tts_publisher *publisher);

/* Like tts_fold_event(), and publishes the event. */
enum tts_fold_outcome tts_publisher_fold(struct tts_publisher *publisher,
                                         const struct tts_event *event, uint64_t op_hash);
/* Like tts_fold_alloc() and tts_fold_free_buffer() for DRAM outside any operation, and publish
 * the event. */
enum tts_fold_outcome tts_publisher_alloc(struct tts_publisher *publisher, uint32_t device,
                                          uint64_t id, uint64_t size_bytes,
                                          uint64_t bytes_per_bank);
enum tts_fold_outcome tts_publisher_free(struct tts_publisher *publisher, uint32_t device,
                                         uint64_t id, uint64_t size_bytes);

/* Counts events that were dropped before they were folded. */
void tts_publisher_miss(struct tts_publisher *publisher, uint64_t count);
/* Publishes that `chip` became a chip of `mesh`. */
void tts_publisher_chip(struct tts_publisher *publisher, uint32_t chip, uint32_t mesh);

/* Publishes the facts of an attached device that never change. Call it between
 * tts_tracker_enter() and tts_tracker_leave(), if the tracker may have a publisher. */
void tts_publisher_attached(struct tts_tracker *tracker, const struct tts_attached *at);
/* Publishes the state of a pool of an attached device. The caller is the thread that uses the
 * device and is not between tts_tracker_enter() and tts_tracker_leave(). */
void tts_publisher_show_pool(struct tts_tracker *tracker, const struct tts_attached *at,
                             enum tts_pool pool);

/* Begins to publish the tracker of the process if the environment asks for it. A failure is
 * printed to stderr in one line. */
void tts_publisher_begin_by_environment(struct tts_tracker *tracker);
/* Ends the publisher of the tracker at the exit of the process. Waits a short time only,
 * because a thread that folds may have ended. */
void tts_publisher_end_at_exit(struct tts_tracker *tracker);

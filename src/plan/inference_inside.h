/* inference_inside.h: what serving allocates, as a list of tensors; for the files of inference
 * alone. */
#pragma once

#include "plan/inference.h"
#include "ttscope/device.h"

/* When a tensor is made: the placement goes through these in their order. */
enum tts_tensor_stage {
    TTS_STAGE_BEFORE, /* embedding */
    TTS_STAGE_LAYER,  /* the weights of every layer */
    TTS_STAGE_AFTER,  /* final norm, head, rope */
    TTS_STAGE_CACHE,  /* k and v of every layer */
    TTS_STAGE_RUN,    /* activations */
    TTS_STAGES,
};

/* Interleaved in DRAM. */
struct tts_inference_tensor {
    enum tts_inference_part part;
    enum tts_tensor_stage stage;
    uint64_t page_bytes, pages; /* both > 0; pages x page_bytes < 2^63 */
};

enum { TTS_INFERENCE_TENSORS_MAX = 48 };

struct tts_inference_list {
    struct tts_inference_tensor tensors[TTS_INFERENCE_TENSORS_MAX];
    size_t count;
    bool overflows; /* sizes come to 2^63 or more: the list is of no use */
};

/* Everything but the trace region. The configuration passes the check, but for overflows. */
void tts_inference_list_fill(struct tts_inference_list *list,
                             const struct tts_inference_config *config);

/* How many of a stage's tensors there are, each. */
uint64_t tts_inference_repeats(const struct tts_inference_config *config,
                               enum tts_tensor_stage stage);

/* Adds the bytes of every part to part_bytes. False: 2^63 or more, all together. */
bool tts_inference_sum(const struct tts_inference_list *list,
                       const struct tts_inference_config *config,
                       uint64_t part_bytes[TTS_INFERENCE_PARTS]);

/* Elements of all parameters. False: 2^63 or more. */
bool tts_inference_parameters(const struct tts_inference_model *model, uint64_t *out);

struct tts_request tts_inference_request(const struct tts_inference_tensor *tensor);

/* Would all of it find a place in `dram`? Nothing is freed while it is placed, so blocks lie
 * one behind the other, and their sum is the answer. */
bool tts_inference_would_fit(const struct tts_inference_config *config,
                             const struct tts_pool_layout *dram);

/* The largest value of *field (of the configuration's own) from 1 to limit with which it would
 * fit; 0: none. Leaves *field as it was. */
uint64_t tts_inference_largest(struct tts_inference_config *config, uint64_t *field,
                               uint64_t limit, const struct tts_pool_layout *dram);

/* Tensor by tensor, on a device of the chip: fits, first failure, banks. */
TTS_NODISCARD enum tts_status tts_inference_place(const struct tts_inference_config *config,
                                                  const struct tts_chip *chip,
                                                  const struct tts_alloc *alloc,
                                                  struct tts_inference *out,
                                                  struct tts_error *err);

#include "sources/trainfile_keys.h"

#include <assert.h>

#define KEPT(keyword, section, name, type)                                                     \
    {name, TTS_SECTION_##section, TTS_ACT_VALUE, TTS_TYPE_##type,                              \
     offsetof(struct tts_trainfile, keyword)},
#define ENTER(section, name, inner)                                                            \
    {                                                                                          \
        name, TTS_SECTION_##section, TTS_ACT_ENTER, TTS_SECTION_##inner, 0                     \
    }
#define OF(section, name, action)                                                              \
    {                                                                                          \
        name, TTS_SECTION_##section, TTS_ACT_##action, 0, 0                                    \
    }

/* Those of the parsers and of the files that come with tt-train, January and August 2026. */
const struct tts_train_known tts_train_known[] = {
    ENTER(TOP, "training_config", TRAINING),
    ENTER(TOP, "device_config", DEVICE),
    ENTER(TOP, "multihost_config", MULTIHOST),
    ENTER(TOP, "transformer_config", MODEL),
    ENTER(TOP, "eval_config", EVAL),
    ENTER(TOP, "scheduler_config", SCHEDULER),
    OF(TOP, "mlp_config", MLP),
    OF(TOP, "remote_rollout_config", PASS),
    OF(TOP, "lora_config", LORA),
    OF(TOP, "lora", LORA),
    OF(TOP, "pipeline_parallel_config", PIPELINE),

    ENTER(TRAINING, "optimizer", OPTIMIZER),
    OF(TRAINING, "project_name", PASS),
    OF(TRAINING, "seed", PASS),
    OF(TRAINING, "model_save_interval", PASS),
    OF(TRAINING, "num_epochs", PASS),
    OF(TRAINING, "max_steps", PASS),
    OF(TRAINING, "total_steps", PASS),
    OF(TRAINING, "learning_rate", PASS),
    OF(TRAINING, "lr", PASS),
    OF(TRAINING, "weight_decay", PASS),
    OF(TRAINING, "momentum", PASS), /* of the MNIST example alone */
    OF(TRAINING, "beta1", PASS),
    OF(TRAINING, "beta2", PASS),
    OF(TRAINING, "eps", PASS),
    OF(TRAINING, "clip_grad_norm_max_norm", PASS),
    OF(TRAINING, "scheduler_type", PASS),
    OF(TRAINING, "warmup_steps", PASS),
    OF(TRAINING, "warmup_ratio", PASS),
    OF(TRAINING, "min_lr_ratio", PASS),
    OF(TRAINING, "lr_schedule_steps", PASS),
    OF(TRAINING, "tokenizer_path", PASS),
    OF(TRAINING, "model_path", PASS),
    OF(TRAINING, "model_type", PASS), /* no parser asks for it there */
    OF(TRAINING, "model_id", PASS),
    OF(TRAINING, "checkpoint_dir", PASS),
    OF(TRAINING, "eval_every", PASS),
    OF(TRAINING, "is_eval", PASS),
    OF(TRAINING, "lazy_parameter_init", PASS),
    OF(TRAINING, "logging_interval", PASS),
    OF(TRAINING, "validation_batch_size", PASS),
    OF(TRAINING, "weight_sync_every", PASS),
    OF(TRAINING, "grpo_config", GRPO),
    OF(TRAINING, "multihost_config", PIPELINE), /* the path of a file that has one */
    OF(TRAINING, "lora_config", LORA),
    OF(TRAINING, "lora", LORA),
    OF(TRAINING, "use_lora", LORA),

    OF(OPTIMIZER, "lr", PASS),
    OF(OPTIMIZER, "beta1", PASS),
    OF(OPTIMIZER, "beta2", PASS),
    OF(OPTIMIZER, "epsilon", PASS),
    OF(OPTIMIZER, "weight_decay", PASS),
    OF(OPTIMIZER, "weight_decay_skip_1d", PASS),
    OF(OPTIMIZER, "stochastic_rounding", PASS),
    OF(OPTIMIZER, "dampening", PASS),
    OF(OPTIMIZER, "nesterov", PASS),
    OF(OPTIMIZER, "ns_steps", PASS),
    OF(OPTIMIZER, "muon", PASS),
    OF(OPTIMIZER, "adamw", PASS),
    OF(OPTIMIZER, "adamw_modules", PASS),

    OF(DEVICE, "mesh_shape", MESH),
    OF(DEVICE, "device_ids", PASS),
    OF(DEVICE, "lazy_parameter_init", PASS),
    OF(DEVICE, "moe_axis", EXPERT_AXIS),

    OF(MULTIHOST, "num_workers", PASS),
    OF(MULTIHOST, "socket_type", PASS),
    OF(MULTIHOST, "pipeline_parallel_config", PIPELINE),

    ENTER(MODEL, "experimental", EXPERIMENTAL),
    ENTER(MODEL, "rope_scaling", ROPE),
    OF(MODEL, "theta", PASS),
    OF(MODEL, "model_path", PASS),
    OF(MODEL, "attention_bias", PASS), /* of Qwen3; from here to the experts, of DeepSeek */
    OF(MODEL, "inter_dim", PASS),
    OF(MODEL, "n_dense_layers", PASS),
    OF(MODEL, "q_lora_rank", PASS), /* a way of attention, no adapter */
    OF(MODEL, "kv_lora_rank", PASS),
    OF(MODEL, "qk_nope_head_dim", PASS),
    OF(MODEL, "qk_rope_head_dim", PASS),
    OF(MODEL, "v_head_dim", PASS),
    OF(MODEL, "moe_type", EXPERTS),
    OF(MODEL, "moe_hyperparam", EXPERTS),
    OF(MODEL, "moe_inter_dim", EXPERTS),
    OF(MODEL, "n_routed_experts", EXPERTS),
    OF(MODEL, "n_shared_experts", EXPERTS),
    OF(MODEL, "n_activated_experts", EXPERTS),
    OF(MODEL, "n_expert_groups", EXPERTS),
    OF(MODEL, "n_limited_groups", EXPERTS),
    OF(MODEL, "score_func", EXPERTS),
    OF(MODEL, "route_scale", EXPERTS),
    OF(MODEL, "lora_config", LORA),
    OF(MODEL, "lora", LORA),
    OF(MODEL, "use_lora", LORA),

    OF(EVAL, "repetition_penalty", PASS),
    OF(EVAL, "temperature", PASS),
    OF(EVAL, "top_k", PASS),
    OF(EVAL, "top_p", PASS),

    OF(SCHEDULER, "max_lr", PASS),
    OF(SCHEDULER, "min_lr", PASS),
    OF(SCHEDULER, "warmup_steps", PASS),
    OF(SCHEDULER, "hold_steps", PASS),
    OF(SCHEDULER, "beta1_start", PASS),
    OF(SCHEDULER, "beta1_end", PASS),
    OF(SCHEDULER, "beta1_warmup_steps", PASS),

    OF(ROPE, "scaling_factor", PASS),
    OF(ROPE, "high_freq_factor", PASS),
    OF(ROPE, "low_freq_factor", PASS),
    OF(ROPE, "original_context_length", PASS),

    TTS_TRAINFILE_KEYS(KEPT)};

const size_t tts_train_known_count = sizeof tts_train_known / sizeof tts_train_known[0];
static_assert(sizeof tts_train_known / sizeof tts_train_known[0] <= TTS_TRAINFILE_KNOWN_MAX,
              "readers keep a line of each");

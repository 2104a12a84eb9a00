/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the model's own files share: memory, the current profile.
 */
#ifndef WI_PROFILE_MODEL_INTERNAL_H
#define WI_PROFILE_MODEL_INTERNAL_H

#include "runtime/profile/model.h"

/* Memory is out: keep that, once. */
void wi_model_run_out(struct wi_model *model);
/* A copy of a text, "" for NULL; NULL if memory is out. */
char *wi_model_copy(struct wi_model *model, const char *text);
/* Room for one more entry of `size` bytes in an array that doubles; `array` is the address of its pointer, of
 * whatever type. Returns the zeroed entry or NULL. */
void *wi_model_append(struct wi_model *model, void *array, uint32_t *n, size_t size);
void wi_model_map(struct wi_model *model, struct wi_map *map, uint64_t hash, uint32_t value);

/* The profile that records belong to; those that come without a header have one all the same. NULL if memory is
 * out. */
struct wi_model_profile *wi_model_current(struct wi_model *model);
void wi_model_mention_time(struct wi_model *model, uint64_t time_ns);

#endif

/* Names of prefixes: two blocks have one name if, but for chance in 2^128, all tokens up to their ends are equal and the
 * domain is. Part of kvledger.h. */
#ifndef KVLEDGER_IDENTITY_H
#define KVLEDGER_IDENTITY_H

#include "answer.h"
#include "sized.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kvl_identity {
  uint64_t low;
  uint64_t high;
} kvl_identity;

/* The secret of a server: who knows it can find two prompts with one name. */
typedef struct kvl_identity_key {
  uint64_t words[2];
} kvl_identity_key;

/* What must be equal for two prompts to share blocks, besides their tokens. */
typedef struct kvl_domain {
  size_t size;       /* KVL_SIZED */
  uint32_t group;    /* trust group */
  uint32_t reserved; /* 0 */
  uint64_t adapter;  /* LoRA and its kin; 0 is the model alone */
  uint64_t modality; /* or any other variant whose keys and values differ */
  const void *salt;  /* what a tenant gives to share with the same salt only; may be NULL */
  size_t salt_bytes;
} kvl_domain;

/* All of these may be called from any thread; a pointer that is NULL and must not be is KVL_INVALID,
 * KVL_ARGUMENT_POINTER. Cost: O(bytes named), about 100 ns for 16 tokens. */

/* 128 bits from a source of randomness. */
kvl_status kvl_identity_key_new(uint64_t low, uint64_t high, kvl_identity_key *key, kvl_refusal *refusal);
/* The name of the beginning of a prompt. KVL_INVALID: KVL_ARGUMENT_SALT for a salt of 2^32 bytes or more. */
kvl_status kvl_identity_key_root(const kvl_identity_key *key, const kvl_domain *domain, kvl_identity *root,
                                 kvl_refusal *refusal);
/* The name of a block, from that of the block before it. `media` names what its placeholder tokens stand for; NULL if it
 * has none. KVL_INVALID: KVL_ARGUMENT_TOKENS for none, or 2^32 or more. */
kvl_status kvl_identity_key_block(const kvl_identity_key *key, const kvl_identity *parent, const uint32_t *tokens,
                                  size_t count, const kvl_identity *media, kvl_identity *name, kvl_refusal *refusal);
/* The names of all full blocks of a prompt without placeholders: `blocks` of them. KVL_INVALID:
 * KVL_ARGUMENT_BLOCK_TOKENS for 0, KVL_ARGUMENT_OUTPUT if `names_max` is less. */
kvl_status kvl_identity_key_chain(const kvl_identity_key *key, const kvl_identity *root, const uint32_t *tokens,
                                  size_t count, uint32_t block_tokens, kvl_identity *names, size_t names_max,
                                  size_t *blocks, kvl_refusal *refusal);

#ifdef __cplusplus
}
#endif
#endif
